# SPDX-License-Identifier: MIT
"""The list of options of recording agrees with those who do what it says: modes, triggers, ocular-record's own table."""

import os
import re
import subprocess
import sys

import rec
from rec import equal

sys.path.insert(0, os.path.join(rec.BUILD, "python"))
from ocular import __main__ as door, attach, backends, modes, options, triggers  # noqa: E402

# What ocular-record has for those who start it; its users' options are the rows that are handed to it.
PRIVATE = {"--serve", "--tied", "--folder", "--output", "--quiet", "--help", "--version"}


def test_modes_and_backends():
    equal(options.listed("modes"), tuple(modes.MODES))
    equal(set(backends.NAMES), {"auto", "qemu", *backends.NUMBERS})
    assert modes.DEFAULT in modes.MODES


def test_what_is_handed_to_the_recorder():
    said = subprocess.run([rec.RECORDER, "--help"], capture_output=True, text=True, check=True).stdout
    has = set(re.findall(r"^ +(?:-\w, *)?(--[\w-]+)", said, re.M)) - PRIVATE
    equal({name for row in options.rows() if row.variable in ("recorder^", "flight") for name in row.names}, has)
    for row in options.rows():
        if row.variable == "recorder^":
            done = subprocess.run([rec.RECORDER, row.names[0], "?", "true"], capture_output=True, text=True)
            assert "unrecognized" not in done.stderr, done.stderr


def test_triggers():
    """Each option that is no breakpoint of the recorder's has its kind, and its place in the environment."""
    rows = [row for row in options.rows() if row.names[0].startswith("--trigger") and row.variable != "recorder^"]
    equal({row.variable.rstrip("@") for row in rows}, set(door.TRIGGERS))
    equal(tuple(door.TRIGGERS.values()), triggers.KINDS)
    for kind in triggers.KINDS:
        assert hasattr(triggers.Triggers, "_add_" + kind)


def test_attach_takes_the_rows_that_say_so():
    said = attach.arguments().format_help()
    for row in options.rows():
        if row.variable == "recorder^":
            continue  # attach hands on what it does not know
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
