# SPDX-License-Identifier: MIT
"""pip install .: the package, its extension, and in ocular/lib/ all that the command ocular needs.

The Makefile builds everything, here as for `make install`: this file only says where it goes. What the build lacks is
one line, before anything is compiled.
"""

import os
import re
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import SetupError
from distutils.command.build_scripts import build_scripts  # setuptools' own, which has no other name


# Of a virtual environment, whose path may have blanks in it, the Python behind it: make cannot have blanks in a name.
PYTHON = getattr(sys, "_base_executable", sys.executable)


def run(command, **options):
    """Its output; SetupError with its first error if it fails."""
    try:
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    except FileNotFoundError as e:
        raise SetupError("ocular cannot be built here: there is no %s" % e.filename) from None
    if done.returncode:
        sys.stderr.write(done.stdout)
        lines = [line for line in done.stdout.splitlines() if re.search(r"error: |: \*\*\* |^find-pythons: ", line)]
        raise SetupError("ocular cannot be built here: " + (lines or [done.stdout.strip()])[0])
    return done.stdout


def check_requirements():
    """scripts/setup has the table of them; here it only says what it would install."""
    command = run(["scripts/setup", "--for", "wheel", "--dry-run"], env=dict(os.environ, PYTHON=PYTHON)).strip()
    if command:
        raise SetupError("ocular cannot be built here: packages are missing. Install them with: " + command)


class BuildExt(build_ext):
    """The Makefile's build instead of setuptools' own."""

    def build_extension(self, ext):
        check_requirements()
        build = os.path.relpath(os.path.join(self.build_temp, "ocular"))
        extension = os.path.abspath(self.get_ext_fullpath(ext.name))
        lib = os.path.join(os.path.dirname(extension), "lib")
        run(["make", "-j%d" % (os.cpu_count() or 1), "RELEASE=1", "B=" + build, "PYTHON=" + PYTHON,
             "LDFLAGS=-s " + os.environ.get("LDFLAGS", ""), "LIB=" + lib, "all", "parts"])
        self.mkpath(os.path.dirname(extension))
        self.copy_file(os.path.join(build, "python", "ocular", os.path.basename(extension)), extension)


class BuildPy(build_py):
    """The hook is beside the package in the tree, and inside it when installed."""

    def run(self):
        super().run()
        if not self.editable_mode:
            folder = os.path.join(self.build_lib, "ocular", "hook")
            self.mkpath(folder)
            self.copy_file("helper-ext/hook/sitecustomize.py", folder)


class BuildScripts(build_scripts):
    """The command, for the interpreter that it is installed for."""

    def run(self):
        self.mkpath(self.build_dir)
        path = os.path.join(self.build_dir, "ocular")
        with open("scripts/ocular-pip") as source, open(path, "w") as script:
            script.write(source.read().replace("python3.x", "python%d.%d%s" % (
                *sys.version_info[:2], getattr(sys, "abiflags", ""))))
        os.chmod(path, 0o755)


setup(
    ext_modules=[Extension("ocular._core", [])],
    scripts=["scripts/ocular"],
    cmdclass={"build_ext": BuildExt, "build_py": BuildPy, "build_scripts": BuildScripts},
)
