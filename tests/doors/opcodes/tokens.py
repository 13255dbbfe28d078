"""The tokenizer, and a tiny calculator on it."""
import io
import tokenize


def value(text):
    words = [t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.string.strip()]

    def take(*kinds):
        if words and words[0] in kinds:
            return words.pop(0)

    def number():
        if take("("):
            result = total()
            take(")")
            return result
        return -number() if take("-") else int(words.pop(0))

    def product():
        result = number()
        while op := take("*", "//"):
            other = number()
            result = result * other if op == "*" else result // other
        return result

    def total():
        result = product()
        while op := take("+", "-"):
            other = product()
            result = result + other if op == "+" else result - other
        return result

    return total()


print([value(text) for text in ("1+2*3", "(4-6)*-(7+1)//3", "2*(3+(4-1)*5)-6")] * 3)
