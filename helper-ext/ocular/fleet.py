# SPDX-License-Identifier: MIT
"""`ocular fleet`: many recordings in one store of Parquet files, and questions of them (docs/fleet.md)."""

import argparse
import os
import shlex
import subprocess
import sys

from . import fleet_add, fleet_compact, fleet_events, fleet_output, fleet_questions, fleet_spark, stderr, tools
from .fleet_store import Refused, Store, duckdb

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """Its errors are one line, as those of the other commands."""

    def error(self, message: str) -> "NoReturn":
        """End with 2."""
        stderr.say("ocular: %s (see: ocular fleet --help)" % stderr.printable(message))
        sys.exit(2)


def output(answer: "fleet_questions.Answer", options: argparse.Namespace) -> None:
    """As it was asked for. What is asked in SQL has the names and units of the tables."""
    fleet_output.show(*answer, options.format, "ocular fleet " + options.asked, options.question != "sql")


def add(options: argparse.Namespace) -> int:
    """Every recording that can be added is; 1 if one could not."""
    duckdb()
    if options.events:
        fleet_events.arrow()
    given = fleet_add.labels(options.label)
    partition = None if options.partition is None else fleet_add.label_names(options.partition)
    if not any(map(os.path.exists, options.what)):
        raise Refused("no recording '%s'" % options.what[0])
    store = Store.made(options.store, partition)
    refused = 0
    names: set[str] = set()
    for number, recording in enumerate(options.what, 1):
        try:
            added = fleet_add.add(store, recording, given, options.events, "%d of %d" % (number, len(options.what)))
            names.update(row["recording"] for row in added)
            for said in ["%s  %s%s" % (row["recording"], recording, fleet_add.lacks(row)) for row in added] or ["%s  is in the store already" % recording]:
                stderr.show(stderr.printable(said), sys.stdout)
        except Refused as e:
            stderr.say("ocular: " + stderr.printable(str(e)))
            refused = 1
    fleet_compact.together(store, names)
    return refused


def spark(options: argparse.Namespace) -> int:
    """The same by Spark's executors, from any Hadoop file system."""
    if not options.what:
        Parser().error("spark: name recordings, or folders that have some")
    if options.events:
        Parser().error("spark adds totals only: --events is for add")
    partition = None if options.partition is None else fleet_add.label_names(options.partition)
    fleet_add.labels(options.label)
    fleet_spark.modules()
    return fleet_spark.run(Store.made(options.store, partition), options.what, options)


def sql(options: argparse.Namespace) -> int:
    """The user's own question."""
    output(fleet_questions.ask(Store(options.store), one(options, "a SELECT")), options)
    return 0


def top(options: argparse.Namespace) -> int:
    """The hottest functions."""
    none(options)
    output(fleet_questions.top(Store(options.store), options.rows), options)
    return 0


def show(options: argparse.Namespace) -> int:
    """One function, by recording."""
    output(fleet_questions.show(Store(options.store), one(options, "a function"), options.rows), options)
    return 0


def durations(options: argparse.Namespace) -> int:
    """How long one function's calls took, by label."""
    output(fleet_questions.durations(Store(options.store), one(options, "a function"), options.by), options)
    return 0


def callers(options: argparse.Namespace) -> int:
    """Who called one function."""
    output(fleet_questions.callers(Store(options.store), one(options, "a function"), options.rows), options)
    return 0


def slower(options: argparse.Namespace) -> int:
    """What got slower from one group of recordings to another."""
    if not options.by or len(options.what) != 2:
        Parser().error("slower: --by LABEL and two of its values, as: ocular fleet slower STORE --by release 1.3 1.4")
    a, b = options.what
    answer = fleet_questions.slower(Store(options.store), options.by, a, b, options.share, options.all, options.each)
    if answer[1] or options.format != "table":
        output(answer, options)
    else:
        stderr.show("nothing is slower beyond the noise between recordings (--all shows what was compared)", sys.stdout)
    return 0


def trace(options: argparse.Namespace) -> int:
    """Opens the one recording, if it is still what was added."""
    store = Store(options.store)
    name, path = fleet_questions.recording_at(store, one(options, "the id of a recording"))
    with store.here(path) as here:
        if not os.path.exists(here):
            raise Refused("recording %s was added from '%s', where it is not any more (or not on this machine)" % (name, path))
        with tools.unpacked(here) as folder:
            found = [fleet_add.content_id(part) for part in fleet_add.parts(folder)]
        if name not in found:
            raise Refused("'%s' has another recording now than %s" % (path, name))
        sys.stdout.flush()
        command = [tools.front_end(), "view", "--perfetto", *(["--no-browser"] if options.no_browser else []), here]
        if here != path:
            return subprocess.call(command)
        os.execv(command[0], command)


def compact(options: argparse.Namespace) -> int:
    """Few files instead of many."""
    none(options)
    stderr.show("%d recordings are in packs now that were in files of their own" % fleet_compact.compact(Store(options.store)), sys.stdout)
    return 0


COMMANDS: "dict[str, Callable[[argparse.Namespace], int]]" = {
    "add": add, "spark": spark, "sql": sql, "top": top, "show": show, "durations": durations, "callers": callers, "slower": slower, "trace": trace, "compact": compact}


def one(options: argparse.Namespace, what: str) -> str:
    """The only further word."""
    if len(options.what) != 1:
        Parser().error("%s: %s, please" % (options.question, what))
    return str(options.what[0])


def none(options: argparse.Namespace) -> None:
    """No further word."""
    if options.what:
        Parser().error("%s takes no '%s'" % (options.question, options.what[0]))


def main(arguments: list[str]) -> int:
    """As scripts/commands/fleet.sh says."""
    parser = Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("question", choices=COMMANDS, metavar="COMMAND")
    parser.add_argument("store", metavar="STORE")
    parser.add_argument("what", nargs="*")
    parser.add_argument("--label", action="append", default=[])
    parser.add_argument("--partition")
    parser.add_argument("--master")
    parser.add_argument("--conf", action="append", default=[])
    parser.add_argument("--by")
    parser.add_argument("--each")
    parser.add_argument("--format", choices=fleet_output.FORMATS, default="table")
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--rows", type=int, default=20)
    for flag in ("--all", "--events", "--no-browser"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_intermixed_args(arguments)
    options.asked = shlex.join(arguments)
    if options.question == "add" and not options.what:
        parser.error("add: name a recording")
    try:
        return COMMANDS[options.question](options)
    except Refused as e:
        stderr.say("ocular: " + stderr.printable(str(e)))
    except RuntimeError as e:  # of tools
        stderr.say(str(e))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    except KeyboardInterrupt:
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
