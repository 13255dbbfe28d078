# SPDX-License-Identifier: MIT
"""What an interpreter is, by itself: run it as `PYTHON -ES probe.py [--to-build]`.

Two lines of words: its implementation, version and suffix of extensions ("old" before 3.12); with --to-build then either
"builds", the name of its binary interface and its path, or "unfit" and why. Any Python that ever was must be able to run this.

It is a file because of what `python -c` does: that imports from the current folder (since 3.13 even before it comes
to the code), which may be somebody else's. A script imports from its own folder, and there is no module here.
"""
import sys


def suffix():
    if sys.version_info < (3, 12):
        return "old"
    return __import__("_imp").extension_suffixes()[0]


def unfit(name):
    if sys.version_info < (3, 12) or name != "cpython":
        return "ocular needs CPython 3.12 or newer; this is Python " + sys.version.split()[0]
    if sys.version_info >= (3, 16):
        return "this Ocular does not know the internals of Python " + sys.version.split()[0] + ": use a newer Ocular"
    import os
    import sysconfig
    if (sysconfig.get_config_var("SOABI") or "").endswith("musl"):
        return "ocular needs glibc; this Python is one for musl"
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        return "its headers are not installed"
    print("builds %s %s" % (sysconfig.get_config_var("SOABI"), sys.executable))


name = getattr(sys, "implementation", sys).__dict__.get("name", "cpython")
print("%s %d.%d.%d %s" % ((name,) + sys.version_info[:3] + (suffix(),)))
if "--to-build" in sys.argv:
    why = unfit(name)
    if why:
        print("unfit " + why)
