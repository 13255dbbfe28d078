# SPDX-License-Identifier: MIT
"""Inside a program that somebody attached to: carry out the order and answer (attach.py is the other side)."""

import os

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from typing import Any


def obey(order: "dict[str, Any]") -> str | None:
    """{"do": "start", ...arguments of monitor.start} or {"do": "stop"}; None, or one line that says why not."""
    try:
        from . import monitor
        if order.pop("do") == "start":
            monitor.start(**order, guest=True)
        else:
            monitor.stop()
    except Exception as e:
        text = " ".join(str(e).split())
        return text if text.startswith("ocular: ") else "%s: %s" % (type(e).__name__, text)
    return None


def answer(order: "dict[str, Any]", path: str) -> None:
    """obey(), and write the answer into a file, which appears complete."""
    text = obey(order)
    with open(path + ".part", "w") as f:
        f.write(text or "ok")
    os.rename(path + ".part", path)
