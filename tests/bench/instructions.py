"""Counts the instructions of a straight path through machine code, as objdump shows it.

Conditional jumps are assumed to fall through: the compiler moves unlikely code elsewhere. Jumps and calls
are followed; where a jump through a pointer leads, the caller says.
"""
import re
import subprocess

LINE = re.compile(r"\s*([0-9a-f]+):\t(\S+)\s*([0-9a-f]*)")
SYMBOL = re.compile(r"([0-9a-f]+) .* F (\S+)\s+[0-9a-f]+(?: \.hidden)? (\S+)$")
FAR = 1000  # a path without an end


class Code:
    def __init__(self, path):
        self.path = str(path)
        self.symbols = {m[3]: (m[2], int(m[1], 16)) for m in map(SYMBOL.match, self._objdump("-t")) if m}

    def _objdump(self, *arguments):
        done = subprocess.run(["objdump", *arguments, self.path], stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout.splitlines()

    def _from(self, section, address):
        """(operation, first operand) of each instruction from there on. Jumps skip what is not code."""
        lines = self._objdump("-d", "--no-show-raw-insn", "-j", section, "--start-address=%d" % address,
                              "--stop-address=%d" % (address + 8 * FAR))
        return [(m[2], m[3]) for m in map(LINE.match, lines) if m]

    def _walk(self, section, address, way=None):
        count = 0
        path = iter(self._from(section, address))
        while count < FAR:
            operation, operand = next(path)
            count += 1
            if operation.startswith("ret"):
                return count
            if operation == "jmp":
                path = iter(self._from(section, int(operand, 16)) if operand else self._from(*self.symbols[way]))
            elif operation == "call":
                count += self._walk(section, int(operand, 16))
        raise ValueError("no end to the path at %x of %s" % (address, self.path))

    def count(self, name, way=None):
        return self._walk(*self.symbols[name], way)
