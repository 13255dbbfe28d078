# preload: subprocess
"""Children started by subprocess: -c, stdin, isolated, another exit code, a shell between."""

import os
import subprocess
import sys


def run(*args, **kw):
    result = subprocess.run([sys.executable, *args], capture_output=True, text=True, **kw)
    print(args[:1], result.returncode, result.stdout.strip(), result.stderr.strip()[-40:])


CODE = "import sys; print(sum(i for i in range(10)), sys.argv); sys.exit(3)"
run("-c", CODE, "arg")
run("-", "x", input=CODE)
run("-I", "-c", CODE)
run("-c", "raise KeyError('child')")
shell = subprocess.run(["sh", "-c", f'"{sys.executable}" -c "print(6 * 7)"; exit 4'], capture_output=True, text=True)
print(shell.returncode, shell.stdout.strip())
print(os.system("exit 5") >> 8)
