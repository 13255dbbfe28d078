"""exec, eval and compile, with file names that need care in a text and in JSON."""

source = """
def inner(n):
    total = 0
    for i in range(n):
        total += i
    return total
result = inner(5)
"""

for name in ("<string>", "tab\there.py", "new\nline.py", "back\\slash.py", "quote\".py", "snow\u2603man.py",
             "face\U0001f600.py", "sur\udc80rogate.py", "carriage\rreturn.py", "bell\a.py", "", "/" * 300 + "long.py"):
    namespace = {}
    exec(compile(source, name, "exec"), namespace)
    print(ascii(name)[:40], namespace["result"])

print(eval("[x for x in range(4)]"), eval("(lambda y: y + 1)(2)"), eval(compile("1 +\\\n 2", "<two lines>", "eval")))
exec("import sys as _s\nclass Made:\n    def go(self): return 'made'\nprint(Made().go())")


def renamed():
    return "renamed"


renamed.__code__ = renamed.__code__.replace(co_name="odd\tname", co_qualname="odd\tname\n\\<locals>.\u00fc\udcff")
print(renamed())
print([eval("a + b", {"a": i}, {"b": 1}) for i in range(3)])
