# SPDX-License-Identifier: MIT
"""pip install .: the package, its extension, and in ocular/lib/ all that the command ocular needs.

pyproject.toml names this module as what builds for pip, and its classes for setuptools' commands. The Makefile builds
everything, here as for `make install`: this file only says where it goes. What the build lacks is
one line, before anything is compiled. For `make wheels`, scripts/wheels has built it, perhaps for another CPython than
the one that runs this.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import sysconfig

from setuptools.build_meta import *  # noqa: F403 # what pip calls is setuptools' own
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info
from setuptools.errors import SetupError
from distutils.command.build_scripts import build_scripts  # setuptools' own, which has no other name


# Of a virtual environment, whose path may have blanks in it, the Python behind it: make cannot have blanks in a name.
PYTHON = getattr(sys, "_base_executable", sys.executable)
NAME = "python%d.%d%s" % (*sys.version_info[:2], getattr(sys, "abiflags", ""))
# In the words of MANIFEST.in, which would have to be beside pyproject.toml.
SOURCES = (
    "include Makefile .clang-format .ci/run",
    *("graft " + folder for folder in ("filter", "helper-ext", "scripts", "docs", "tests")),
    "prune helper-ext/ocular/lib",
    "prune tests/viewers/node_modules",
    "global-exclude *.pyc *.so",
)
# Of scripts/wheels: a folder with _core.ABI.so and lib/, and the tag of the wheel.
PREBUILT, TAG = os.environ.get("OCULAR_PREBUILT"), os.environ.get("OCULAR_TAG", "")
if PREBUILT:
    version = re.search(r"-cp3(\d+t?)-", TAG)[1]
    NAME, ABI = "python3." + version, "cpython-3%s-x86_64-linux-gnu" % version


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
    if (sysconfig.get_config_var("SOABI") or "").endswith("musl"):
        raise SetupError("ocular cannot be built here: it needs glibc, and this Python is one for musl")
    command = run(["scripts/setup", "--for", "wheel", "--dry-run"], env=dict(os.environ, PYTHON=PYTHON)).strip()
    if command:
        raise SetupError("ocular cannot be built here: packages are missing. Install them with: " + command)


class BuildExt(build_ext):
    """The Makefile's build instead of setuptools' own."""

    def build_extension(self, ext):
        package = os.path.abspath(os.path.dirname(self.get_ext_fullpath(ext.name)))
        self.mkpath(package)
        if not PREBUILT:
            check_requirements()
            make(os.path.join(self.build_temp, "ocular"), self.get_ext_filename("_core"), package)
        else:
            extension, = glob.glob(os.path.join(PREBUILT, "_core.%s.so" % ABI))
            self.copy_file(extension, package)
            self.copy_tree(os.path.join(PREBUILT, "lib"), os.path.join(package, "lib"))


def make(build, extension, package):
    """Everything, and where it goes."""
    run(["make", "-j%d" % (os.cpu_count() or 1), "RELEASE=1", "B=" + os.path.relpath(build), "PYTHON=" + PYTHON,
         "LDFLAGS=-s " + os.environ.get("LDFLAGS", ""), "LIB=" + os.path.join(package, "lib"), "all", "parts"])
    shutil.copy(os.path.join(build, "python", "ocular", extension), package)


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
            script.write(source.read().replace("python3.x", NAME))
        os.chmod(path, 0o755)


class EggInfo(egg_info):
    """What belongs to the sources; and in a wheel the licences of what scripts/wheels linked into it."""

    def find_sources(self):
        super().find_sources()
        for line in SOURCES:
            self.filelist.process_template_line(line)

    def run(self):
        if PREBUILT:
            metadata = self.distribution.metadata
            metadata.license_expression = os.environ["OCULAR_LICENCE"]
            metadata.license_files = [*metadata.license_files, *sorted(glob.glob("licences/*"))]
        super().run()


class BdistWheel(bdist_wheel):
    """A wheel for the CPython of OCULAR_TAG, which need not be the one that runs this."""

    def get_tag(self):
        return tuple(TAG.split("-")) if PREBUILT else super().get_tag()
