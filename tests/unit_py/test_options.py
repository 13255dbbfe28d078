# SPDX-License-Identifier: MIT
"""The list of options of recording agrees with those who do what it says: modes, triggers, ocular-record's own table."""

import os
import re
import subprocess
import sys

import rec
from rec import equal

sys.path.insert(0, os.path.join(rec.BUILD, "python"))
from ocular import attach, backends, modes, options, triggers  # noqa: E402


def test_modes_and_backends():
    """PEP 669 and docs/marker.md say what a mode's events are; a name that no interpreter has is a slip of the pen."""
    calls = ["PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD", "PY_UNWIND", "PY_THROW"]
    equal({name: set(events) - set(calls) for name, events in modes.MODES.items() if name not in ("opcodes", "full")},
          {"calls": set(), "adaptive": {"JUMP"}, "lines": {"LINE"}, "precise": {"INSTRUCTION"}})
    equal(modes.MODES["full"], [])
    for events in modes.MODES.values():
        assert set(events) <= {*vars(sys.monitoring.events), "BRANCH_LEFT", "BRANCH_RIGHT"}, events
    equal(set(backends.NAMES), {"auto", "qemu", *backends.NUMBERS})
    assert modes.DEFAULT in modes.MODES


def test_what_is_handed_to_the_recorder():
    for row in options.rows():
        equal("r" in row.takers, row.variable in ("recorder^", "flight", "recording", "quiet!"), row.names)
    said = subprocess.run([rec.RECORDER, "--help"], capture_output=True, text=True, check=True).stdout
    assert options.show("r") in said, said
    for row in options.rows("r"):
        for name in row.names:
            done = subprocess.run([rec.RECORDER, name, "?", "--help"], capture_output=True, text=True)
            assert "unrecognized" not in done.stderr and "invalid option" not in done.stderr, done.stderr


def test_triggers():
    equal(triggers.KINDS, ("call", "exception", "task", "lag"))
    for kind in triggers.KINDS:
        assert hasattr(triggers.Triggers, "_add_" + kind)


def test_attach_takes_the_rows_that_say_so():
    said = attach.arguments().format_help()
    for row in options.rows():
        if row.variable == "recorder^":
            continue  # attach passes on what it does not know
        equal(any(name in re.findall(r"--?[\w-]+", said) for name in row.names), "a" in row.takers, row.names)


def test_every_door_lists_the_same():
    ocular = os.path.join(rec.ROOT, "scripts", "ocular")
    env = dict(os.environ, OCULAR_BUILD=os.path.abspath(rec.BUILD))
    for command, taker in ("record", ""), ("attach", "a"):
        for what, wanted in (("words", {n for row in options.rows(taker) for n in row.names}),
                             ("help", {row.names[-1] for row in options.rows(taker)})):
            words = [ocular, "words", "x", command] if what == "words" else [ocular, "help", command]
            said = subprocess.run(words, capture_output=True, text=True, env=env, check=True).stdout
            assert wanted <= set(re.findall(r"(?<!\S)--?[\w-]+", said)), (command, what)
    assert all(row.names[0] in options.show("m") for row in options.rows("m"))


if __name__ == "__main__":
    rec.run(globals())
