# SPDX-License-Identifier: MIT
"""What `ocular agent` puts into a fleet store: each file of a flight recording as a recording of its own, within a day's bytes.

STORE/agent/HOST/ is the agent's own folder; of a store in a bucket only the packed recordings are there, and all else in a folder of this
machine's (fleet_files.py, `state`). Nothing else says what it has done, so that one that was killed goes on where it was:

  spool/KEY/           a file of a recording and its code tables, on their way into the store
  day=DAY/KEY.json     what was added on that day, and where it is
  day=DAY/KEY.ocular   the same recording, packed
  gone                 the keys of what was taken out again, which is not to be added once more
  attached/            recordings of the processes that the agent is attached to

KEY is a hash of the file. Each step can be repeated: a file is taken unless its key is known, adding is idempotent, and what is in
the spool goes from there when its note (KEY.json) is written.
"""

import contextlib
import datetime
import fcntl
import glob
import hashlib
import json
import os
import shutil
import subprocess
import urllib.parse

from . import fleet_add, fleet_files, tools
from . import fleet_tables as tables
from .fleet_store import Refused, Store

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

FOLDER = "agent"  # in the store
ABOUT = ".ocular.about"  # in the spool; ocular pack leaves such names out
KEY_LENGTH = 32
GONE_MOST = 100_000  # keys: what was recorded that long ago is in no recorder's folder any more
DATA = "perf.data"
BASELINE = "baseline"  # not a trigger of its own: what was before the first one


def digest(path: str) -> str:
    """The key of a file. OSError."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:KEY_LENGTH]


def _line(text: bytes) -> "dict[str, Any]":
    try:
        found = json.loads(text.decode("utf-8", "replace"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


RECORDERS = tuple(b'{"kind":"%s"' % kind for kind in (b"snapshot", b"piece", b"switch"))  # as ocular-record writes them


class Table:
    """A code table as far as one file of the recording needs it: not what other files hold, nor what came after it was closed."""

    def __init__(self, path: str, name: str) -> None:
        self.lines: list[bytes] = []
        self.triggers: list[str] = []
        self.closed = False
        with open(path, "rb") as file:
            lines = file.read().splitlines(keepends=True)
        self.empty = _line(b"".join(lines[:1])).get("flight") is True
        self._read(lines, name)
        self.empty &= not self.triggers

    def _read(self, lines: list[bytes], name: str) -> None:
        snapshots: list[bytes] = []
        ours = False
        for text in lines:
            if not text.endswith(b"\n"):  # it is being written
                break
            kind, line = "", {}
            if text.startswith(RECORDERS):
                line = _line(text)
                kind = line.get("kind", "")
            if kind == "snapshot":
                snapshots.append(text)
            elif kind == "piece":
                ours = line.get("file") == name
                if ours:
                    self._keep(snapshots)
                    self.lines.append(text.replace(b'"file":"%s"' % os.fsencode(name), b'"file":"%s"' % os.fsencode(DATA)))
            else:
                self.lines.append(text)
            if kind == "switch":
                snapshots = []
                if ours:
                    self.closed = True
                    return
        if not ours:
            self._keep(snapshots)

    def _keep(self, snapshots: list[bytes]) -> None:
        self.lines += snapshots
        self.triggers = [str(_line(text).get("trigger")) for text in snapshots]


class Kept:
    """The agent's folder in a store. Refused if another agent has it."""

    def __init__(self, store: Store, host: str, budget: int, packs: bool) -> None:
        self.store, self.host, self.budget, self.packs = store, host, budget, packs
        self.own = "%s/%s" % (FOLDER, urllib.parse.quote(host, safe=""))  # in the store
        self.folder = os.path.join(store.at.state(), self.own)
        self.spool, self.attached = os.path.join(self.folder, "spool"), os.path.join(self.folder, "attached")
        try:
            os.makedirs(self.spool, exist_ok=True)
            os.makedirs(self.attached, mode=0o700, exist_ok=True)
            self._lock = open(os.path.join(self.folder, "lock"), "w", encoding="utf-8")  # noqa: SIM115 # held until the end
        except OSError as e:
            raise Refused("cannot write '%s': %s" % (e.filename, e.strerror)) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refused("another ocular agent of host '%s' is at work on '%s'" % (host, store.shown)) from None
        self._finish()

    def _finish(self) -> None:
        """What an agent that was killed had begun."""
        for left in glob.glob(os.path.join(glob.escape(self.spool), ".*")):
            shutil.rmtree(left, ignore_errors=True)
        for pattern in ("*.tmp", ".*.tmp"):
            for left in glob.glob(os.path.join(glob.escape(self.folder), "day=*", pattern)):
                os.unlink(left)
        self.gone = self._read_gone()
        notes = list(self.notes())
        for note in notes:
            if note["key"] in self.gone:
                self._take_out(note, self._there([note]))
        for day in {note["day"] for note in notes}:
            self.trim(day)

    def _read_gone(self) -> set[str]:
        path = os.path.join(self.folder, "gone")
        with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii", errors="replace") as file:
            keys = [line.strip() for line in file if len(line) == KEY_LENGTH + 1]
            if len(keys) <= GONE_MOST:
                return set(keys)
            keys = keys[-GONE_MOST // 2:]
            _write(path, "".join(key + "\n" for key in keys))
            return set(keys)
        return set()

    def _forget(self, key: str) -> None:
        """It does not come back."""
        with open(os.path.join(self.folder, "gone"), "a", encoding="ascii") as file:
            file.write(key + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.gone.add(key)

    def notes(self, day: str = "*") -> "Iterator[dict[str, Any]]":
        """Of what was added, on one day or ever."""
        for path in glob.glob(os.path.join(glob.escape(self.folder), "day=" + day, "*.json")):
            with contextlib.suppress(OSError), open(path, "rb") as file:
                found = _line(file.read())
                if {"key", "recording", "day", "place", "closed_ns", "labels"} <= found.keys():
                    yield found

    def knows(self, key: str) -> bool:
        """Was it taken?"""
        return key in self.gone or os.path.exists(os.path.join(self.spool, key)) or bool(
            glob.glob(os.path.join(glob.escape(self.folder), "day=*", key + ".json")))

    # --- from a recorder's folder into the spool

    def take(self, labels: dict[str, str], path: str, ended: bool, ours: bool) -> bool:
        """A file that a recorder has closed is in the spool now, or was taken before. False: it is not closed yet. `ended`: so has the recorder.
        `ours`: the agent's own recorder, so that the file is not needed where it is. OSError.
        """
        key, name = digest(path), os.path.basename(path)
        if self.knows(key):
            return True
        found = {os.path.basename(each): Table(each, name) for each in glob.glob(os.path.join(glob.escape(os.path.dirname(path)), "codes-*.jsonl"))}
        if not found or not ended and not any(table.closed for table in found.values()):
            return False
        if all(table.empty for table in found.values()):  # the last file, when there was no further snapshot
            return True
        made = os.path.join(self.spool, "." + key)
        shutil.rmtree(made, ignore_errors=True)
        os.mkdir(made)
        (_link if ours else shutil.copy2)(path, os.path.join(made, DATA))  # a report repairs what was cut off: not in somebody else's folder
        for table, content in found.items():
            with open(os.path.join(made, table), "wb") as file:
                file.writelines(content.lines)
        triggers = {each for table in found.values() for each in table.triggers}
        labels = {**labels, "host": self.host, "trigger": "+".join(sorted(triggers - {BASELINE} or triggers)) or "none"}
        about = {"closed_ns": os.stat(path).st_mtime_ns, "labels": labels}
        _write(os.path.join(made, ABOUT), json.dumps(about))
        os.rename(made, os.path.join(self.spool, key))
        return True

    def waiting(self) -> "list[tuple[str, dict[str, Any]]]":
        """Keys of the spool, and what is known of them, oldest first."""
        found = []
        for key in os.listdir(self.spool):
            with contextlib.suppress(OSError), open(os.path.join(self.spool, key, ABOUT), "rb") as file:
                found.append((key, _line(file.read())))
        return sorted(found, key=lambda each: (each[1].get("closed_ns", 0), each[0]))

    # --- from the spool into the store

    def add(self, key: str, about: "dict[str, Any]") -> "dict[str, Any] | None":
        """The note of what is in the store now; None: it was there before. Refused: it cannot be added now, or (NotAdded) never."""
        folder = os.path.join(self.spool, key)
        day = datetime.datetime.fromtimestamp(about["closed_ns"] // 10**9, datetime.timezone.utc).date().isoformat()
        packed = "%s/day=%s/%s%s" % (self.own, day, key, tools.PACKED)
        try:
            added = fleet_add.add(self.store, folder, about["labels"], shown=lambda part: self.store.at.path(packed) if self.packs else part)
            recording = fleet_add.content_id(folder)
        except fleet_add.NotAdded:
            self._drop(key)
            raise
        if not added and any(note["recording"] == recording for note in self.notes()):  # by another key: its file was repaired
            self._drop(key)
            return None
        place = self.store.has(self.store.connect(), recording)
        note = {"key": key, "recording": recording, "day": day, "place": place and place[0], **about}
        path = self._note(note)
        try:
            if self.packs:
                self.store.at.put(packed, lambda path: _pack(folder, path))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            _write(path, json.dumps(note))
        except OSError as e:
            raise Refused("cannot write '%s': %s" % (e.filename or self.store.at.path(packed), fleet_files.reason(e))) from None
        self._clear(key)
        return note

    def _note(self, note: "dict[str, Any]") -> str:
        return os.path.join(self.folder, "day=" + note["day"], note["key"] + ".json")

    def _drop(self, key: str) -> None:
        self._forget(key)
        self._clear(key)

    def _clear(self, key: str) -> None:
        """It goes from the spool at once, whenever the agent is killed."""
        hidden = os.path.join(self.spool, "." + key)
        os.rename(os.path.join(self.spool, key), hidden)
        shutil.rmtree(hidden, ignore_errors=True)

    # --- out of the store

    def _folders(self, notes: "list[dict[str, Any]]") -> set[str]:
        """Of the store, that have their files."""
        ours = {"%s/day=%s" % (self.own, note["day"]) for note in notes}
        return ours | {self.store.name(table, note["place"], "").rpartition("/")[0] for note in notes if note["place"] for table in tables.all_tables()}

    def names(self, note: "dict[str, Any]", there: "fleet_files.Sizes") -> list[str]:
        """Its files in the store, in the order in which they go: without the first one no question sees the recording."""
        of_store = [self.store.name(table, note["place"], note["recording"]) for table in reversed(tables.all_tables())] if note["place"] else []
        own = "%s/day=%s/%s." % (self.own, note["day"], note["key"])
        return [name for name in of_store if name in there] + sorted(name for name in there if name.startswith(own))  # ocular view writes beside it

    def trim(self, day: str) -> "tuple[list[dict[str, Any]], dict[str, int]]":
        """Takes out the oldest of a day until the rest is within the budget: what is larger than that alone, else what was added first. What went,
        and the bytes in the store, by key, of all that were there."""
        notes = sorted(self.notes(day), key=lambda note: (note["closed_ns"], note["key"]))
        there = self._there(notes)
        sizes = {note["key"]: sum(there[name][0] for name in self.names(note, there)) for note in notes}
        over, out = sum(sizes.values()) - self.budget, []
        for note in sorted(notes, key=lambda note: sizes[note["key"]] <= self.budget):
            if over > 0:
                self._forget(note["key"])
                self._take_out(note, there)
                over -= sizes[note["key"]]
                out.append(note)
        return out, sizes

    def _there(self, notes: "list[dict[str, Any]]") -> "fleet_files.Sizes":
        try:
            return self.store.at.sizes(self._folders(notes))
        except OSError as e:
            raise Refused("cannot read the store '%s': %s" % (self.store.shown, fleet_files.reason(e))) from None

    def _take_out(self, note: "dict[str, Any]", there: "fleet_files.Sizes") -> None:
        """Its note goes last: it says what is left to do."""
        path = self._note(note)
        try:
            self.store.at.remove(name for name in self.names(note, there) if self.store.at.path(name) != path)
        except OSError as e:
            raise Refused("cannot take recording %s out of '%s': %s" % (note["recording"], self.store.shown, fleet_files.reason(e))) from None
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _write(path: str, text: str) -> None:
    """Whole, or not at all."""
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".tmp", path)


def _link(path: str, to: str) -> None:
    try:
        os.link(path, to)
    except OSError:  # another file system, or one without links
        shutil.copy2(path, to)


def _pack(folder: str, path: str) -> None:
    done = subprocess.run([tools.front_end(), "pack", "-q", "--force", folder, "-o", path], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        raise Refused("cannot pack '%s': %s" % (folder, tools.reason(done.stderr, done.returncode)))
