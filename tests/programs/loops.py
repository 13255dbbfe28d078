"""Loops in loops, broken out of, continued, with else."""


def nested(n):
    hits = 0
    for i in range(n):
        for j in range(n):
            if j == i:
                continue
            if j > 6:
                break
            k = 0
            while k < 3:
                k += 1
                hits += k
        else:
            hits += 100
    return hits


def find(haystack, needle):
    for position, item in enumerate(haystack):
        if item == needle:
            break
    else:
        position = -1
    return position


def early_return(rows):
    for row in rows:
        for cell in row:
            if cell < 0:
                return cell


print(nested(10), find("ocular", "l"), find("ocular", "z"), early_return([[1, 2], [3, -4], [5]]))
