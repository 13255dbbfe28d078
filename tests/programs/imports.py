"""Imports: a package of this folder's, a failing one, a lazy one, __getattr__ of a module."""

import importlib
import sys

sys.dont_write_bytecode = True
import package
from package import helper
from package.helper import *

print(package.NAME, helper.double(4), triple(5), package.lazy)
try:
    import package.broken
except ZeroDivisionError:
    print("broken", "package.broken" in sys.modules)
try:
    import no_such_module_anywhere
except ImportError as error:
    print(error.name)
importlib.reload(helper)
print(helper.double(8))
