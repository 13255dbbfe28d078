"""Jumps farther than 127, 255 and 32767 code units, forward and backward."""


def make(body, name):
    lines = [f"def {name}(n):", "    total = 0", "    for i in range(n):", "        if i % 2:"]
    lines += ["            " + "total = i; " * body]
    lines += ["        else:"]
    lines += ["            " + "total = total; " * body]
    lines += ["    while n > 0:", "        n -= 1", "        if n == 1:", "            continue"]
    lines += ["        " + "total = n; " * body]
    lines += ["    return total"]
    namespace = {}
    exec(compile("\n".join(lines), f"{name}.py", "exec"), namespace)
    return namespace[name]


for body, times in ((20, 9), (62, 9), (64, 9), (130, 9), (600, 5), (9000, 2)):
    function = make(body, f"jumps_{body}")
    assert len(function.__code__.co_code) // 2 > body
    print(body, function(times))
