"""Starts the witness (../tracer.py) in every interpreter whose PYTHONPATH names this folder.

Ocular's own hook comes first and imports this one as the user's sitecustomize. $TRUTH_PRELOAD names modules
to import before the witness begins: their import is not what a test is about, and long in `full` mode.
"""

import os
import sys

if hasattr(sys, "monitoring") and "TRUTH_DIR" in os.environ:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    import tracer
    del sys.path[0]
    tracer.start(os.environ["TRUTH_MODE"], os.environ["TRUTH_DIR"], os.environ.get("TRUTH_PRELOAD", "").split())
