"""What imports.py imports."""

NAME = "package"


def __getattr__(name):
    if name == "lazy":
        return "lazily found"
    raise AttributeError(name)
