# SPDX-License-Identifier: MIT
"""Where the files of a fleet store are: in a folder, below a bucket's address, or in HDFS (docs/fleet.md, "In a bucket").

All have the same names, with slashes, and the same rule: a file has its name when it is whole. What goes wrong is an OSError.
fsspec knows the addresses, and is imported only for one.
"""

import concurrent.futures
import contextlib
import datetime
import fcntl
import importlib
import io
import os
import re
import secrets
import signal
import sys
import tempfile

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without importing typing into traced programs
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Sizes = dict[str, tuple[int, float]]  # bytes, and when it was written (s since 1970)

ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
LOCAL = re.compile("(file|local)://", re.IGNORECASE)
NO_LIBRARY = """a store at '%%s://' needs %%s, which %s does not have: pip install "ocular-trace[%%s]\"""" % (sys.executable or "Python")
TREE = "hdfs"  # all others are buckets
# What fsspec reads it by, and which extra of ours brings that. Of each it was tried what others rely on: a file that comes whole or not at
# all, and only where there is none. So no other address is taken.
LIBRARIES = {"s3": ("s3fs", "fleet-s3"), "s3a": ("s3fs", "fleet-s3"), "gs": ("gcsfs", "fleet-gs"), "gcs": ("gcsfs", "fleet-gs"),
             "abfs": ("adlfs", "fleet-abfs"), "abfss": ("adlfs", "fleet-abfs"), "az": ("adlfs", "fleet-abfs"), TREE: ("hdfs_native", "fleet-hdfs")}
SMALL = 1 << 20  # bytes: read as a whole. Of larger ones DuckDB needs some columns
HELD = 256 << 20  # bytes of small files that are read before DuckDB asks, many at a time
BLOCK = 1 << 20  # bytes of a larger one that are read at a time
AT_ONCE = 16  # requests
ABANDONED = 24 * 60 * 60  # s: whoever has a lock for so long was killed


class Unknown(Exception):
    """No such kind of address, or no library for it: a line for the user."""


def reason(error: OSError) -> str:
    """In a line."""
    return error.strerror or (str(error).strip() or type(error).__name__).splitlines()[0]


def at(place: str) -> "Folder | Bucket":
    """What the user called it. Unknown."""
    address = ADDRESS.match(place)
    if LOCAL.match(place) or not address:
        return Folder(LOCAL.sub("", place))
    scheme = address[1].lower()
    if scheme not in LIBRARIES:
        raise Unknown("a store may be in a folder, or at %s, but not at '%s'" % (", ".join(each + "://" for each in sorted(LIBRARIES)), place))
    return Tree(place) if scheme == TREE else Bucket(place)


def _sync(path: str) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _name_once(beside: str, path: str) -> None:
    """Gives a file its name, unless another writer was the first."""
    try:
        os.link(beside, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        os.rename(beside, path)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(beside)


class Folder:
    """Of a local or mounted file system."""

    def __init__(self, place: str) -> None:
        self.top: str = os.path.abspath(place)

    def path(self, name: str) -> str:
        """As DuckDB reads it, and the user sees it."""
        return os.path.join(self.top, name)

    def state(self) -> str:
        """A folder for what is on its way into the store."""
        return self.top

    def read(self, name: str) -> bytes:
        """What is in it."""
        with open(self.path(name), "rb") as file:
            return file.read()

    def is_there(self, name: str) -> bool:
        """A file."""
        return os.path.exists(self.path(name))

    def names(self) -> list[str]:
        """Of files and folders at the top; the folder is made if there is none."""
        os.makedirs(self.top, exist_ok=True)
        return os.listdir(self.top)

    def below(self, folder: str) -> "Iterator[str]":
        """Names of all files in a folder, and in those in it; it may be missing."""
        top = self.path(folder)
        for at, _, names in os.walk(top, onerror=_raise, followlinks=True) if os.path.isdir(top) else ():
            for name in names:
                yield os.path.join(at, name)[len(self.top) + 1:]

    def sizes(self, folders: "Iterable[str]") -> "Sizes":
        """Of the files in these folders, and in those in them."""
        found = {}
        for folder in folders:
            for name in self.below(folder):
                with contextlib.suppress(FileNotFoundError):  # it was replaced meanwhile
                    status = os.stat(self.path(name))
                    found[name] = status.st_size, status.st_mtime
        return found

    def create(self, name: str, content: bytes) -> None:
        """A file, unless there is one."""
        beside = self.path(".%s.%s" % (name, secrets.token_hex(8)))
        with open(beside, "wb") as file:
            file.write(content)
        _name_once(beside, self.path(name))

    def put(self, name: str, write: "Callable[[str], object]") -> None:
        """What `write` writes at the path that it is given; instead of what is there."""
        folder, name = os.path.split(self.path(name))
        beside = os.path.join(folder, ".%s.%s.tmp" % (name, secrets.token_hex(8)))
        try:
            os.makedirs(folder, exist_ok=True)
            write(beside)
            _sync(beside)
            os.rename(beside, os.path.join(folder, name))
            _sync(folder)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(beside)

    def remove(self, names: "Iterable[str]") -> None:
        """In this order. They may be missing."""
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path(name))

    @contextlib.contextmanager
    def locked(self, name: str) -> "Iterator[None]":
        """BlockingIOError, whose reason is by whom: somebody else has it."""
        with open(self.path(name), "w", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise BlockingIOError(0, "by somebody else") from None
            yield

    def shown_to(self, connection: "Any") -> None:
        """DuckDB can read it."""

    def ahead(self, paths: "Iterable[str]") -> None:
        """These will be read."""

    def trouble(self) -> "OSError | None":
        """What the last reading of DuckDB's failed by, where DuckDB does not know."""
        return None


def _raise(error: OSError) -> None:
    raise error


# --- buckets


@contextlib.contextmanager
def _told() -> "Iterator[None]":
    """Libraries have their own errors beside OSError."""
    try:
        yield
    except OSError:
        raise
    except Exception as e:
        raise OSError(0, (str(e).strip() or type(e).__name__).splitlines()[0]) from e


def _no_bucket(error: BaseException) -> bool:
    """S3's answer."""
    answer = getattr(error.__cause__, "response", None)
    return isinstance(answer, dict) and answer.get("Error", {}).get("Code") == "NoSuchBucket"


def _file_system(address: str, scheme: str, options: "dict[str, Any]") -> "Any":
    """Of fsspec. Its threads get no signals: those are for who waits for one."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    library, extra = LIBRARIES.get(scheme, ("fsspec", "fleet-s3"))
    try:
        importlib.import_module(library)
        return importlib.import_module("fsspec").url_to_fs(address, **options)
    except ImportError:
        raise Unknown(NO_LIBRARY % (scheme, library, extra)) from None
    except Exception as e:
        raise Unknown("cannot use '%s': %s" % (address, (str(e).strip() or type(e).__name__).splitlines()[0])) from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Bucket:
    """S3's, Google's or Azure's, where a file comes whole or not at all."""

    OPTIONS: "dict[str, Any]" = {"use_listings_cache": False}  # others write, too
    OPENED: "dict[str, Any]" = {"block_size": BLOCK}

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self.scheme = ADDRESS.match(address)[1].lower()  # type: ignore[index]
        self.fs, self.top = _file_system(self.address, self.scheme, self.OPTIONS)
        self.known: "Sizes" = {}  # by path, of what was listed
        self.held: dict[str, bytes] = {}  # path: content, of small files that DuckDB will ask for
        self.failed: OSError | None = None

    def path(self, name: str) -> str:
        """As DuckDB reads it, and the user sees it."""
        return self.address + "/" + name

    def _inner(self, name: str) -> str:
        """As fsspec's file system names it."""
        return "%s/%s" % (self.top.rstrip("/"), name)

    def state(self) -> str:
        """A folder of this machine's for what is on its way into the store."""
        home = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
        return os.path.join(home, "ocular", re.sub(r"[^\w.-]", "_", self.address))

    def read(self, name: str) -> bytes:
        """What is in it."""
        with _told():
            try:
                return bytes(self.fs.cat_file(self._inner(name)))
            except FileNotFoundError as e:
                if _no_bucket(e):
                    raise OSError(0, str(e)) from None
                raise

    def is_there(self, name: str) -> bool:
        """A file."""
        with _told():
            return bool(self.fs.exists(self._inner(name)))

    def names(self) -> list[str]:
        """At the top. A bucket is not made."""
        with _told():
            try:
                found = self.fs.ls(self.top, detail=False)
            except FileNotFoundError as e:
                if _no_bucket(e):
                    raise OSError(0, str(e)) from None
                return []
            return [name for each in found if (name := each[len(self.top):].strip("/"))]

    def below(self, folder: str) -> "Iterator[str]":
        """Names of all files below a name."""
        yield from self.sizes([folder])

    def sizes(self, folders: "Iterable[str]") -> "Sizes":
        """Of all files below these names."""
        found = {}
        with _told():
            for folder in folders:
                for path, about in self.fs.find(self._inner(folder), detail=True).items():
                    name = path[len(self.top):].lstrip("/")
                    self.known[self.path(name)] = found[name] = about["size"], _written(about)
        return found

    def create(self, name: str, content: bytes) -> None:
        """A file, unless there is one."""
        with _told(), contextlib.suppress(FileExistsError):
            try:
                self._create(name, content)
            except FileNotFoundError:
                raise OSError(0, "there is no bucket '%s'" % self.top.partition("/")[0]) from None

    def _create(self, name: str, content: bytes) -> None:
        """FileExistsError: there is one."""
        self.fs.pipe_file(self._inner(name), content, mode="create")

    def put(self, name: str, write: "Callable[[str], object]") -> None:
        """What `write` writes at the path that it is given, which is one of this machine's; instead of what is there."""
        with tempfile.TemporaryDirectory(prefix="ocular.", dir=os.environ.get("TMPDIR") or "/var/tmp") as made:
            path = os.path.join(made, name.rpartition("/")[2])
            write(path)
            with _told():
                self._put(path, name)

    def _put(self, path: str, name: str) -> None:
        """A file of this machine's."""
        self.fs.put_file(path, self._inner(name))

    def remove(self, names: "Iterable[str]") -> None:
        """The first one, then the others, many at a time: a bucket is far away. They may be missing."""
        first, *others = list(names) or [""]
        if first:
            self._remove(first)
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(self._remove, others))

    def _remove(self, name: str) -> None:
        with _told(), contextlib.suppress(FileNotFoundError):
            self.fs.rm_file(self._inner(name))

    @contextlib.contextmanager
    def locked(self, name: str) -> "Iterator[None]":
        """BlockingIOError, whose reason is by whom: somebody else has it. It is a file, which whoever was killed leaves for a day."""
        inner = self._inner(name)
        ours = "by process %d of %s since %s" % (os.getpid(), os.uname().nodename, datetime.datetime.now(datetime.timezone.utc).isoformat(" ", "seconds"))
        with _told():
            if self.fs.exists(inner) and datetime.datetime.now().timestamp() - _written(self.fs.info(inner)) > ABANDONED:
                self.remove([name])
            try:
                self._create(name, ours.encode())
            except FileExistsError:
                said = self.fs.cat_file(inner).decode(errors="replace")
                raise BlockingIOError(0, "%s; if that was killed, remove '%s', or wait a day" % (said, self.path(name))) from None
        try:
            yield
        finally:
            self.remove([name])

    # --- what DuckDB reads

    def shown_to(self, connection: "Any") -> None:
        """DuckDB can read it."""
        if self.scheme not in connection.list_filesystems():
            connection.register_filesystem(_reading(self))

    def about(self, path: str) -> tuple[int, float]:
        """Its bytes, and when it was written."""
        if path not in self.known:
            found = self.noted(self.fs.info, self._inner(path[len(self.address) + 1:]))
            self.known[path] = found["size"], _written(found)
        return self.known[path]

    def _size(self, path: str) -> int:
        return self.known[path][0] if path in self.known else SMALL + 1

    def ahead(self, paths: "Iterable[str]") -> None:
        """These will be read: what is small is fetched at once, many at a time. What cannot be is not there when DuckDB asks."""
        wanted, room = [], HELD
        for path in paths:
            if self._size(path) <= min(SMALL, room):
                room -= self._size(path)
                wanted.append(path)
        self.held = {}
        if wanted:
            with _told():
                inner = {self._inner(path[len(self.address) + 1:]): path for path in wanted}
                found = self.fs.cat(list(inner), on_error="omit")
                self.held = {inner[name]: bytes(content) for name, content in found.items() if name in inner}

    def open(self, path: str) -> "Any":
        """For DuckDB, which has no words for other errors than its own."""
        self.failed = None
        if path in self.held:
            return io.BytesIO(self.held[path])
        inner = self._inner(path[len(self.address) + 1:])
        if self._size(path) <= SMALL:
            return io.BytesIO(self.noted(self.fs.cat_file, inner))
        return Ranges(self, self.noted(self.fs.open, inner, "rb", **self.OPENED))

    def noted(self, call: "Callable[..., Any]", *values: object, **more: object) -> "Any":
        """Its result; why it failed is in `trouble`."""
        try:
            with _told():
                return call(*values, **more)
        except OSError as e:
            self.failed = e
            raise

    def trouble(self) -> "OSError | None":
        """What the last reading of DuckDB's failed by, where DuckDB does not know."""
        return self.failed


class Tree(Bucket):
    """HDFS, where a file is seen while it is written. So it is written under another name, and gets its own at once."""

    OPTIONS: "dict[str, Any]" = {}
    OPENED: "dict[str, Any]" = {}

    def _create(self, name: str, content: bytes) -> None:
        """FileExistsError: there is one."""
        self._named(name, lambda beside: self.fs.pipe_file(beside, content), False)

    def _put(self, path: str, name: str) -> None:
        """A file of this machine's."""
        self._named(name, lambda beside: self.fs.put_file(path, beside), True)

    def _named(self, name: str, write: "Callable[[str], object]", replaces: bool) -> None:
        folder, _, last = self._inner(name).rpartition("/")
        beside = "%s/.%s.%s.tmp" % (folder, last, secrets.token_hex(8))
        self.fs.makedirs(folder, exist_ok=True)
        write(beside)
        try:
            self.fs.mv(beside, self._inner(name), overwrite=replaces)
        except FileExistsError:
            self.fs.rm_file(beside)
            raise


class Ranges:
    """A large file that DuckDB reads some of."""

    def __init__(self, bucket: Bucket, file: "Any") -> None:
        self.bucket, self.file = bucket, file
        self.seek, self.tell, self.close = file.seek, file.tell, file.close

    def read(self, size: int = -1) -> bytes:
        """From where it is."""
        return bytes(self.bucket.noted(self.file.read, size))


def _written(about: "dict[str, Any]") -> float:
    """When, in s since 1970; 0: not known."""
    for name in ("LastModified", "mtime", "last_modified", "created"):  # S3, Google's, Azure's, memory
        if isinstance(about.get(name), datetime.datetime):
            return float(about[name].timestamp())
    return float(about.get("modification_time", 0)) / 1000  # HDFS


def _reading(bucket: Bucket) -> "Any":
    """A file system of fsspec's that DuckDB reads through: it has looked at what there is, and fetched some of it."""
    fsspec = importlib.import_module("fsspec")

    class Reading(fsspec.AbstractFileSystem):  # type: ignore[misc,name-defined]
        """Only what DuckDB calls."""

        protocol = bucket.scheme
        cachable = False

        def glob(self, path: str, **more: "Any") -> "list[str]":
            """Names with their scheme."""
            if path in bucket.known:
                return [path]
            return [bucket.address + each[len(bucket.top):] for each in bucket.noted(bucket.fs.glob, path)]

        def exists(self, path: str, **more: "Any") -> bool:
            """A file."""
            return path in bucket.known or bool(bucket.noted(bucket.fs.exists, path))

        def size(self, path: str) -> int:
            """In bytes."""
            return bucket.about(path)[0]

        def modified(self, path: str) -> datetime.datetime:
            """When it was written."""
            return datetime.datetime.fromtimestamp(bucket.about(path)[1], datetime.timezone.utc)

        def open(self, path: str, mode: str = "rb", **more: "Any") -> "Any":
            """To read it."""
            return bucket.open(path)

    return Reading()
