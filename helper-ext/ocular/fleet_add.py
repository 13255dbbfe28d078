# SPDX-License-Identifier: MIT
"""`ocular fleet add`: the rows of recordings, from their summaries, into a store."""

import datetime
import glob
import hashlib
import json
import os
import re
import struct
import subprocess
import tempfile

from . import fleet_events, fleet_files, progress, tools
from . import fleet_tables as tables
from .fleet_store import NO_DAY, Refused, Store, made_of

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

HEADER_MOST = 16 << 20  # of the first line of a code table
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
VALUE = re.compile(r"\w[\w.+:@ -]{0,199}", re.ASCII)
HOSTNAME = 3  # perf's number of that feature


class NotAdded(Refused):
    """Because of the recording: it will be no better next time."""


def labels(words: "Sequence[str]") -> dict[str, str]:
    """Of K=V. Refused if one is not a name and a value that are safe anywhere, also as the name of a folder."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not NAME.fullmatch(name):
            raise Refused("label '%s' is not NAME=VALUE with a NAME of small letters, digits and _" % word)
        if not VALUE.fullmatch(value) or ".." in value:
            raise Refused("the value of label '%s' may have letters, digits, blanks and . _ + : @ - only, and no '..'" % word)
        if found.setdefault(name, value) != value:
            raise Refused("label '%s' has two values, '%s' and '%s'" % (name, found[name], value))
    return found


def label_names(words: str) -> list[str]:
    """Of A,B. Refused if one is not a label's name."""
    names = words.split(",")
    for name in names:
        if not NAME.fullmatch(name) or names.count(name) > 1:
            raise Refused("--partition is LABEL,... with different names of labels, not '%s'" % words)
    return names


def _glob(folder: str, pattern: str) -> list[str]:
    return sorted(path for path in glob.glob(os.path.join(glob.escape(folder), pattern)) if os.path.isfile(path))


def parts(recording: str) -> list[str]:
    """Itself, or the files of --switch-output, oldest first: each of them is a recording of its own."""
    older = _glob(recording, "perf.data.[0-9]*")
    return older + _glob(recording, "perf.data") if older else [recording]


def _recorded(recording: str) -> list[str]:
    """What the recorder wrote. Refused if that is nothing."""
    folder = recording if os.path.isdir(recording) else os.path.dirname(recording) or "."
    data = os.path.join(folder, "perf.data") if folder == recording else recording
    if not os.path.isfile(data):
        raise NotAdded("'%s' is not a recording: it has no perf.data" % recording)
    return [*_glob(folder, "codes-*.jsonl"), data]


def _versions(recording: str) -> "list[tuple[str, int, int, int]]":
    """Other ones if a file was changed."""
    found = [(path, os.stat(path)) for path in _recorded(recording)]
    return [(path, each.st_ino, each.st_size, each.st_mtime_ns) for path, each in found]


def content_id(recording: str) -> str:
    """The same for the same content, wherever it is: of what the recorder wrote, because all else was made of it. Refused if there is none."""
    digest = hashlib.sha256()
    for path in _recorded(recording):
        try:
            with open(path, "rb") as file:
                inner = hashlib.file_digest(file, "sha256").digest()
        except OSError as e:
            raise Refused("cannot read '%s': %s" % (path, e.strerror)) from None
        digest.update(os.fsencode(os.path.basename(path)) + b"\0" + inner)
    return digest.hexdigest()[:32]


PROGRESS = re.compile(rb"(\r[^\r\n]*?\033\[K)")  # as filter/progress.c writes it


def _report(command: list[str], which: str) -> tuple[int, bytes, bytes]:
    """Exit status, what it writes, and what it says; its progress, as that of `which`, goes to our terminal meanwhile."""
    line = progress.Line()
    if not line.on:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
        return done.returncode, done.stdout, done.stderr
    said = b""
    with tempfile.TemporaryFile() as file:
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE, env={**os.environ, "OCULAR_PROGRESS_OF": which}) as process:
            assert process.stderr
            while more := os.read(process.stderr.fileno(), 1 << 16):
                *pieces, rest = PROGRESS.split(said + more)
                line.write(b"".join(pieces[1::2]))
                said = b"".join(pieces[::2]) + rest
        file.seek(0)
        return process.returncode, file.read(), said


def _summary(recording: str, which: str) -> "dict[str, Any]":
    status, written, errors = _report([tools.front_end(), "report", "--quiet", "--summary", "-", "--for-fleet", recording], which)
    if status:
        why = NotAdded if 0 < status < 126 else Refused  # else it was ended from outside, as the shell tells it or the kernel
        raise why("'%s' was not added: %s" % (recording, tools.reason(errors, status)))
    made = json.loads(written.decode("utf-8", "replace"))
    if not isinstance(made, dict) or made.get("schema") != 1:
        raise NotAdded("'%s' was not added: its summary has another schema" % recording)
    return made


def _header(recording: str, summary: "dict[str, Any]") -> "dict[str, Any]":
    """The first line of the first process's code table; empty: not known."""
    folder = recording if os.path.isdir(recording) else os.path.dirname(recording) or "."
    for process in summary.get("processes", ())[:1]:
        try:
            with open(os.path.join(folder, "codes-%d.jsonl" % process["pid"]), "rb") as file:
                found = json.loads(file.readline(HEADER_MOST).decode("utf-8", "replace"))
            if isinstance(found, dict) and found.get("kind") == "header":
                return found
        except (OSError, ValueError):
            pass
    return {}


def host_of(path: str) -> str | None:
    """What a perf.data says of where it was recorded: perf's feature HOSTNAME. None: it does not."""
    try:
        with open(path, "rb") as file:
            head = file.read(104)
            if head[:8] != b"PERFILE2" or len(head) < 104:
                return None
            at, size = struct.unpack_from("<QQ", head, 40)
            bits = int.from_bytes(head[72:104], "little")
            if not bits >> HOSTNAME & 1:
                return None
            file.seek(at + size + 16 * (bits & (1 << HOSTNAME) - 1).bit_count())
            where, length = struct.unpack("<QQ", file.read(16))
            file.seek(where)
            text = file.read(min(length, 4096))[4:].split(b"\0")[0].decode("utf-8", "replace")
            return text if text.isprintable() and text else None
    except (OSError, struct.error, OverflowError):
        return None


def start_of(header: "dict[str, Any]", first_ns: "int | None" = None) -> "datetime.datetime | None":
    """When the process began, in UTC; with the time of the first event in the recording, when that was. None: not known."""
    clock = header.get("clock")
    clock = clock if isinstance(clock, dict) else {}
    ns, then = clock.get("realtime_ns"), clock.get("monotonic_ns")
    if isinstance(ns, int) and isinstance(then, int) and first_ns is not None and header.get("backend") == "software":
        ns += max(first_ns - then, 0)
    if not isinstance(ns, int) or not 0 < ns < 1 << 62:
        return None
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=ns // 1000)


def commit_of(folder: "str | None", host: "str | None", start: "datetime.datetime | None") -> "str | None":
    """Which commit the repository of a folder was at then, by its reflog. None: not known, or it is another machine's."""
    if not folder or not start or host != os.uname().nodename or not os.path.isdir(folder):
        return None
    try:
        done = subprocess.run(["git", "-C", folder, "rev-parse", "--verify", "--end-of-options", "HEAD@{%s +0000}" % start.isoformat(" ", "seconds")],
                              stdin=subprocess.DEVNULL, capture_output=True, env={**os.environ, "LC_ALL": "C"})
    except OSError:  # there is no git
        return None
    said = done.stdout.decode(errors="replace").strip()
    return said if not done.returncode and not done.stderr and said.isalnum() else None


def _same_labels(connection: "Any", store: Store, at: tuple[str, str], recording: str, given: dict[str, str], shown: str) -> None:
    """Refused if the store has it with others."""
    row = (store.rows(connection, "SELECT * FROM read_parquet(?, hive_partitioning = false) WHERE recording = ?", store.path(tables.RECORDING, *at), recording) or [{}])[0]
    had = {name[len(tables.LABEL):]: value for name, value in row.items() if name.startswith(tables.LABEL) and value is not None}
    if had != given:
        raise NotAdded("'%s' is in the store already, with other labels: %s" % (
            shown, ", ".join("%s=%s" % each for each in sorted(had.items())) or "none"))


def there(connection: "Any", store: Store, recording: str, given: dict[str, str], shown: str) -> "tuple[str, str] | None":
    """Where the store has it; None: it has not. Refused if it has it with other labels."""
    at = store.has(connection, recording)
    if at:
        _same_labels(connection, store, at, recording, given, shown)
    return at


def add(store: Store, recording: str, given: dict[str, str], events: bool = False, which: str = "1 of 1",
        shown: "Callable[[str], str] | None" = None, share: slice = slice(None)) -> "list[dict[str, Any]]":
    """One recording, packed or not, `which` of several: the rows of what was not there already, one for each of its parts, or of some of
    these. shown: where a part is for users, if not here."""
    if not os.path.exists(recording):
        raise Refused("no recording '%s'" % recording)
    with tools.unpacked(recording) as folder:
        names = {part: shown(part) if shown else (part if folder == recording else recording) for part in parts(folder)[share]}
        return [row for row in (_add(store, part, given, name, events, which) for part, name in names.items()) if row]


def lacks(row: "dict[str, Any]") -> str:
    """What a recording that was added says of its losses; empty: it has none."""
    return "; %d of its events are missing" % row["lost"] if row["lost"] else ""


def _add(store: Store, recording: str, given: dict[str, str], shown: str, events: bool, which: str) -> "dict[str, Any] | None":
    """One part, which the user knows by another name if it was packed. None: it is there already."""
    connection = store.connect()
    versions, name = _versions(recording), content_id(recording)
    at = there(connection, store, name, given, shown)
    if at and not (events and _lacks_events(store, at[0], name)):
        return None
    summary = _summary(recording, which)
    if versions != _versions(recording):  # the report repairs what was cut off
        name = content_id(recording)
    at = there(connection, store, name, given, shown)
    row = write(connection, store, Known(recording, name, summary), tables.with_waiting(summary), given, shown, at, recording if events else None)
    return row if not at or events else None


class Known:
    """Of a recording beside its summary: its id, the header of its first process, and its host."""

    def __init__(self, recording: str, name: str, summary: "dict[str, Any]") -> None:
        self.name, self.header = name, _header(recording, summary)
        self.host = host_of(os.path.join(recording, "perf.data") if os.path.isdir(recording) else recording)


def write(connection: "Any", store: Store, known: Known, summary: "dict[str, Any]", given: dict[str, str], shown: str,
          at: "tuple[str, str] | None" = None, events_of: "str | None" = None) -> "dict[str, Any]":
    """All rows of a recording, or, if it is there already, `at`, none of them; then the events of events_of, if they are not there. Its row."""
    start = start_of(known.header, summary["trace"].get("start_ns"))
    day = at[0] if at else store.place(start.date().isoformat() if start else NO_DAY, given)
    names = tables.Names(known.header)
    if not at:
        _write_tables(connection, store, (day, known.name), summary, names)
    if events_of and _lacks_events(store, day, known.name):
        fleet_events.add(store, events_of, (day, known.name), names)
    row = _recording_row(known, summary, given, shown)
    if not at:
        store.write(connection, made_of(connection, _recording_columns(given), tables.as_json([row])), tables.RECORDING, day, known.name)
    return row


def _lacks_events(store: Store, day: str, name: str) -> bool:
    return not store.has_file(tables.EVENTS, day, name)


def _write_tables(connection: "Any", store: Store, at: tuple[str, str], summary: "dict[str, Any]", names: tables.Names) -> None:
    """What comes from the summary, but for the row of the recording."""
    for table in tables.TABLES:
        rows = list(tables.rows(table, at[1], summary, names))
        if rows:
            store.write(connection, made_of(connection, tables.columns(table), tables.as_json(rows)), table, *at)


def _recording_columns(given: dict[str, str]) -> list[tuple[str, str]]:
    return tables.columns(tables.RECORDING) + [(tables.LABEL + label, "VARCHAR") for label in given]


def _recording_row(known: Known, summary: "dict[str, Any]", given: dict[str, str], shown: str) -> "dict[str, Any]":
    header = known.header
    script, start = tables.program(header), start_of(header, summary["trace"].get("start_ns"))
    row = tables.recording_row(summary, recording=known.name, program=script and os.path.basename(script), host=known.host,
                               start=start and start.isoformat(" "), path=shown if fleet_files.ADDRESS.match(shown) else os.path.abspath(shown),
                               commit=commit_of(tables.Names(header).folders[-1], known.host, start_of(header)))
    row.update({tables.LABEL + label: value for label, value in given.items()})
    return row
