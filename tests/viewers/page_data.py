"""What is in a page for its script: numbers are packed (html_packed() in filter/report/html.c)."""

import json
import re

DIGITS = {digit: i for i, digit in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")}
UNSIGNED = {"parents", "functions", "wall", "waiting", "preempted", "calls", "cycles", "blocks", "counts", "running", "ready", "awaiting"}
SIGNED = {"paths", "of"}


def numbers(packed):
    """Five bits a character, the lowest first; more follow where the sixth is set."""
    found, n, shift = [], 0, 0
    for digit in packed:
        n |= (DIGITS[digit] & 31) << shift
        shift += 5
        if DIGITS[digit] < 32:
            found.append(n)
            n = shift = 0
    return found


def signed(packed):
    return [-(n + 1) // 2 if n % 2 else n // 2 for n in numbers(packed)]


def unpacked(data):
    """All of it, with lists for what is packed."""
    if isinstance(data, list):
        return [unpacked(each) for each in data]
    if not isinstance(data, dict):
        return data
    return {key: numbers(value) if isinstance(value, str) and key in UNSIGNED else
            signed(value) if isinstance(value, str) and key in SIGNED else unpacked(value) for key, value in data.items()}


def page_data(text, of):
    """That of the flame graph or the timeline, of a page's text."""
    found = re.search(rf"id={of}-data>\n(.*?)</script>", text, re.DOTALL)
    return unpacked(json.loads(found[1]))
