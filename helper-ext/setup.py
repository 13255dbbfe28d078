# SPDX-License-Identifier: MIT
"""pip install ./helper-ext: the package, its extension, and ocular-record if libipt can be linked.

perf's plugin is not a part of it: `make` builds that, `make install` puts it where perf looks.
"""

import glob
import os
import platform
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-fvisibility=hidden", "-O2"]
# A folder of ext/arch/; the other one is plain C.
ARCH = "x86_64" if platform.machine() == "x86_64" else "generic"
RECORDER = [p for p in glob.glob("record/*.c") if not p.endswith("main_fsck.c")]


class BuildExt(build_ext):
    def build_extensions(self):
        super().build_extensions()
        try:
            self.build_recorder()
        except Exception as e:  # the compiler's messages are above
            print("ocular-record is left out (is libipt-dev installed?): %s" % e, file=sys.stderr)

    def build_recorder(self):
        folder = os.path.join("ocular" if self.inplace else os.path.join(self.build_lib, "ocular"), "bin")
        generated = os.path.join(self.build_temp, "gen")
        self.mkpath(generated)
        with open(os.path.join(generated, "record_options.h"), "w", encoding="utf-8") as header:
            subprocess.run([sys.executable, "-I", "ocular/options.py", header.name], stdout=header, check=True)
        objects = self.compiler.compile(RECORDER, output_dir=self.build_temp, include_dirs=[".", generated],
                                        extra_preargs=FLAGS,
                                        macros=[("OCULAR_VERSION", '"%s"' % self.distribution.get_version())])
        self.compiler.link_executable(objects, "ocular-record", output_dir=folder, libraries=["ipt"])


class BuildPy(build_py):
    """The hook is beside the package in the tree, and inside it when installed."""

    def run(self):
        super().run()
        if not self.editable_mode:
            folder = os.path.join(self.build_lib, "ocular", "hook")
            self.mkpath(folder)
            self.copy_file("hook/sitecustomize.py", folder)


setup(
    packages=["ocular"],
    package_data={"ocular": ["py.typed", "*.pyi"]},
    ext_modules=[Extension("ocular._core", sorted(glob.glob("ext/*.c") + glob.glob("ext/arch/%s/*.c" % ARCH)), include_dirs=["."],
                           depends=glob.glob("ext/**/*.h", recursive=True) + glob.glob("shared/*.h"),
                           define_macros=[("NDEBUG", None)], extra_compile_args=FLAGS)],
    cmdclass={"build_ext": BuildExt, "build_py": BuildPy},
)
