"""while, while/else, do-while by break, and loops that never run."""


def collatz(n):
    steps = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    else:
        steps += 1000
    return steps


def digits(n):
    out = []
    while True:
        out.append(n % 10)
        n //= 10
        if not n:
            break
    else:
        out = None
    return out


def never():
    while False:
        pass
    while []:
        print("no")
    else:
        return "else"


print([collatz(n) for n in range(1, 12)], digits(90125), never())
