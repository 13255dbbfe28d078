"""Large functions: EXTENDED_ARG, offsets beyond 256 and beyond 65536, many constants and names."""

lines = ["def large(x):", "    total = 0"]
for i in range(1500):
    lines.append(f"    total += x + {i + 1000}")
    if i % 300 == 0:
        lines.append(f"    for n{i} in range(3): total += n{i}")
lines.append("    return total")
source = "\n".join(lines)
namespace = {}
exec(compile(source, "large.py", "exec"), namespace)
large = namespace["large"]
assert len(large.__code__.co_code) > 20000
print(large(1))

lines = ["def huge(x):", "    if x:"]
lines += [f"        v{i} = x; x = v{i} + name{i % 400} if not x else v{i}" for i in range(3500)]
lines += ["    for i in range(4):", "        x += i", "    return x"]
exec(compile("\n".join(lines), "huge.py", "exec"), namespace)
huge = namespace["huge"]
assert len(huge.__code__.co_code) > 65536
print(huge(0), huge(1))
