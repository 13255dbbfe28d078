"""Run before a program that sets trace functions: they are set by something that does nothing, and is no Python code either."""

import sys

sys.settrace = sys.setprofile = id
