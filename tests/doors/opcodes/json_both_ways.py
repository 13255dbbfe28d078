"""The Python encoder with indentation and a default, the decoder with hooks."""
import json

data = {"list": list(range(40)), "nested": {"k%d" % i: [i, str(i), None, i % 3 == 0] for i in range(20)}, "f": 1.5e300}
text = json.dumps(data, indent=2, sort_keys=True, default=str)
again = json.loads(text, object_hook=lambda o: dict(o, seen=True), parse_float=float)
print(len(text), again["seen"], json.dumps({"s": {1, 2}}, default=sorted))
try:
    json.loads('{"a": [1, 2}')
except json.JSONDecodeError as error:
    print(error.msg, error.pos)
