"""Starts the witness (../tracer.py) in every interpreter whose PYTHONPATH names this folder.

Ocular's own hook comes first and imports this one as the user's sitecustomize. $TRUTH_PRELOAD names modules
to import before the witness begins: their import is not what a test is about, and takes long in `full` mode. With
$TRUTH_COUNT, files and folders parted by ':', it is the counting witness (../counter.py) that starts.
"""

import os
import sys

if hasattr(sys, "monitoring") and "TRUTH_DIR" in os.environ:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if "TRUTH_COUNT" in os.environ:
        import counter
        counter.start(os.environ["TRUTH_MODE"], os.environ["TRUTH_DIR"], os.environ["TRUTH_COUNT"].split(":"))
    else:
        import tracer
        tracer.start(os.environ["TRUTH_MODE"], os.environ["TRUTH_DIR"], os.environ.get("TRUTH_PRELOAD", "").split())
    del sys.path[0]
