"""Compiled kernels kept between processes: one private folder, one file for each kernel.

**What is trusted.** An entry holds machine code, and whoever reads one runs it. So the folder is
trusted as much as the installed package is: who can write into it can run code as the user.
Therefore nothing is read unless folder and file belong to the user (or to root), nobody else may
write to them, and the file is a plain one. The digest in each entry finds accidents (cut short,
mixed up, another version), not forgers, who can compute a digest too. On Windows rights are not
checked: the folder lies in the user's own profile unless another one is named.

Whatever lies in the folder, nothing here raises: what is no entry of ours is as if it were not
there, and the worst that can happen is that a kernel is compiled again.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np

_MAGIC = b"linkwork kernel 1\n"
_DIGEST = hashlib.sha256().digest_size
_HEAD = len(_MAGIC) + _DIGEST + 8
_SUFFIX = ".kernel"
_COUNTER = "written"
_PAGE = 4096
_LARGEST = 64 << 20
"""Entries with more bytes are not written, and files with more are not read."""

_WARNED: set[Path] = set()


@dataclass(frozen=True)
class Entry:
    """A compiled kernel: what is known of it, as a JSON object, and its object code."""

    facts: Mapping[str, Any]
    object_code: bytes


class Cache:
    """Entries in a folder, by key. Without a folder nothing is kept.

    ``warn=True``, for a folder that somebody asked for, warns (RuntimeWarning, once a process)
    where it cannot be used. ``limit`` is how many bytes the entries may take together; those that
    were not used for longest are deleted.
    """

    def __init__(self, folder: Path | None, *, warn: bool = False, limit: int = 512 << 20) -> None:
        self.folder = folder
        self._warn, self._limit = warn, limit

    def read(self, key: str) -> Entry | None:
        """The entry of this key, or None where there is none that can be trusted."""
        name = _name_of(key)
        if self.folder is None:
            return None
        try:
            with private_folder(self.folder, create=False) as folder:
                data = folder.read(name, largest=_LARGEST)
                if data is None:
                    return None
                folder.mark_used(name, _COUNTER)
            return _unpacked(key, data)
        except UnusableFolder as problem:
            self._say(f"cannot be used: {problem}")
        except (OSError, ValueError, RecursionError, MemoryError):
            pass  # no entry of ours
        return None

    def write(self, key: str, entry: Entry) -> bool:
        """Whether an entry could be kept; one of the same key is replaced in one step.

        Raises: TypeError or ValueError for facts that JSON cannot hold.
        """
        name, data = _name_of(key), _packed(key, entry)
        if self.folder is None or len(data) > _LARGEST:
            return False
        try:
            with private_folder(self.folder, create=True) as folder:
                folder.write(name, data)
                self._keep_within_limit(folder, len(data))
            return True
        except UnusableFolder as problem:
            self._say(f"cannot be used: {problem}")
        except (OSError, MemoryError) as problem:
            self._say(f"cannot be written to: {problem}")
        return False

    def _keep_within_limit(self, folder: PrivateFolder, written: int) -> None:
        """Count what is written; after an eighth of the limit, delete the oldest down to 7/8.

        The count is the length of a file, a byte for each 4096 of an entry: several processes can
        make it longer at once, no one reads a clock, and nearly every write leaves it at that.
        """
        if folder.count(_COUNTER, written // _PAGE + 1) * _PAGE < self._limit // 8:
            return
        files = sorted(folder.files(), reverse=True)
        now = max((used for used, _, name in files if name == _COUNTER), default=0.0)
        total = 0
        for used, size, name in files:
            if name.endswith(_SUFFIX):
                total += size
                if total > self._limit - self._limit // 8:
                    folder.remove(name)
            elif name.endswith(UNFINISHED) and _SUFFIX in name and used < now - 3600.0:
                folder.remove(name)  # of a process that was ended while it wrote
        folder.remove(_COUNTER)

    def _say(self, problem: str) -> None:
        if self._warn and self.folder is not None and self.folder not in _WARNED:
            _WARNED.add(self.folder)
            warnings.warn(
                f"the folder for compiled kernels, {self.folder}, {problem}; kernels are compiled "
                "in every process (LINKWORK_CACHE names the folder, or says off)",
                RuntimeWarning,
                stacklevel=2,
            )


def _name_of(key: str) -> str:
    if len(key) != 2 * _DIGEST or not set(key) <= set("0123456789abcdef"):
        raise ValueError(f"a key is what key_of returns, not {key!r}")
    return key + _SUFFIX


def _packed(key: str, entry: Entry) -> bytes:
    """The bytes of an entry: magic, digest of what follows and of the key, length of the facts (8
    bytes, little endian), the facts as JSON, the object code."""
    facts = json.dumps(dict(entry.facts), separators=(",", ":"), allow_nan=False).encode()
    body = len(facts).to_bytes(8, "little") + facts + entry.object_code
    return _MAGIC + hashlib.sha256(key.encode() + body).digest() + body


def _unpacked(key: str, data: bytes) -> Entry | None:
    """The entry of this key; None where the bytes are not one, or one of another key."""
    if data[: len(_MAGIC)] != _MAGIC or len(data) < _HEAD:
        return None
    digest = hashlib.sha256(key.encode())
    digest.update(memoryview(data)[_HEAD - 8 :])  # what is large is not copied
    if digest.digest() != data[len(_MAGIC) : _HEAD - 8]:
        return None
    end = _HEAD + int.from_bytes(data[_HEAD - 8 : _HEAD], "little")
    facts = json.loads(data[_HEAD:end].decode())
    if end > len(data) or not isinstance(facts, dict):
        return None
    return Entry(facts=cast("dict[str, Any]", facts), object_code=data[end:])


def key_of(*parts: str | bytes) -> str:
    """The name of what these parts decide; other parts, or parted elsewhere, give another.

    SHA-256 over each part's kind, length and bytes.
    """
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        kind = b"s" if isinstance(part, str) else b"b"
        digest.update(kind + len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def default_folder(
    environ: Mapping[str, str], home: Path | None, platform: str = sys.platform
) -> Path | None:
    """The platform's folder for what programs can make again; None where that is unknown.

    Source: the XDG base directory specification 0.8 (a relative path there counts as unset),
    Apple's file system programming guide, Windows' known folders.
    """
    if platform == "win32":
        local = environ.get("LOCALAPPDATA", "")
        base = Path(local) if local else home and home / "AppData" / "Local"
    elif platform == "darwin":
        base = home and home / "Library" / "Caches"
    else:
        given = environ.get("XDG_CACHE_HOME", "")
        base = Path(given) if os.path.isabs(given) else home and home / ".cache"
    return base and base / "linkwork"


_ROOT = str(Path(__file__).parents[1])
_PACKAGES = (
    "algorithms",
    "collision",
    "compile",
    "mechanism",
    "ops",
    "planning",
    "simulation",
    "solve",
    "trajectory",
    "spatial",
)
"""The packages that decide the code that is made: changes of others leave kernels valid."""


@cache
def source_digest() -> str:
    """A hash of what makes kernels out of mechanisms: our sources, Python, and the libraries.

    Where the sources cannot be read (a zip archive, say), it is random: then no process finds the
    kernels of another one.
    """
    parts: list[str | bytes] = [sys.version, sys.platform, sys.implementation.cache_tag or ""]
    try:
        parts += [*map(package_digest, _PACKAGES), *_build("llvmlite"), "numpy", np.__version__]
    except OSError:
        return os.urandom(_DIGEST).hex()
    return key_of(*parts)


@cache
def package_digest(package: str) -> str:
    """A hash of the sources of a package of ours ("ops"); random where they cannot be read."""
    try:
        sources = _sources(os.path.join(_ROOT, package))
    except OSError:
        return os.urandom(_DIGEST).hex()
    return key_of(package, *[part for source in sources for part in source])


def _sources(folder: str) -> list[tuple[str, bytes]]:
    """The modules of a package and of the packages in it, names and bytes; compiled ones where
    they stand alone.

    Raises: OSError where there are none.
    """

    def refuse(error: OSError) -> None:
        raise error

    found: list[tuple[str, bytes]] = []
    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            if name.endswith((".py", ".pyc")):
                path = os.path.join(place, name)
                with open(path, "rb", buffering=0) as file:
                    found.append((path[len(folder) :], file.read()))
    if not found:
        raise FileNotFoundError(folder)
    return found


def _build(package: str) -> list[str | bytes]:
    """The build of a package that is installed, without importing it.

    It is told by what pip and conda leave beside the package: a folder with the version in its
    name, in it a list of all files with their hashes. ``importlib.metadata`` would take 10 ms to
    import.

    Raises: OSError where the package is no folder with a version beside it.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(package)
    beside = Path(spec.submodule_search_locations[0]).parent
    versions = sorted(n for n in os.listdir(beside) if n.startswith(f"{package}-"))
    records = [beside / name / "RECORD" for name in versions]
    if not versions:
        raise FileNotFoundError(f"{beside / package}-*.dist-info")
    return [*versions, *[record.read_bytes() for record in records if record.is_file()]]


# --- a folder that only the user can write to ---
#
# Nothing is assumed of what lies in it: links, pipes, folders, files of others and files of any
# size may stand under any name. All access goes through the folder once it is open, so that it
# cannot be exchanged in between (not on Windows, where neither this nor rights are checked).

_POSIX = os.name == "posix"
_CAREFULLY = (
    getattr(os, "O_NOFOLLOW", 0)  # no symbolic link
    | getattr(os, "O_NONBLOCK", 0)  # no waiting for who else holds a pipe
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
UNFINISHED = ".part"
"""The end of names of files that are being written."""

_DAY = 86_400.0


class UnusableFolder(Exception):
    """The reason why a folder cannot be used; the message is a part of a sentence."""


def _others_can_write(status: os.stat_result) -> str:
    """Those beside the user and root who can write, in words; empty where nobody can."""
    if not _POSIX:
        return ""
    if status.st_uid not in (0, os.geteuid()):
        return f"it belongs to another user (number {status.st_uid})"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others can write to it (mode {stat.S_IMODE(status.st_mode):o}; 700 is fine)"
    return ""


@contextmanager
def private_folder(path: Path, *, create: bool) -> Generator[PrivateFolder]:
    """Open a folder for use, after making it where it is missing and ``create`` says so.

    Raises: FileNotFoundError where it is missing, UnusableFolder where it must not be used or
    cannot be opened.
    """
    try:
        if create and not path.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir(mode=0o700, exist_ok=True)
        if _POSIX:
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        else:
            fd = None
            path.stat()
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise UnusableFolder(str(error)) from None
    try:
        why = _others_can_write(os.fstat(fd)) if fd is not None else ""
        if why:
            raise UnusableFolder(why)
        yield PrivateFolder(path, fd)
    finally:
        if fd is not None:
            os.close(fd)


class PrivateFolder:
    """An open folder. Its methods raise OSError like those of ``os``."""

    def __init__(self, path: Path, fd: int | None) -> None:
        self._path, self._fd = path, fd

    def _place(self, name: str) -> str:
        return name if self._fd is not None else str(self._path / name)

    def _open(self, name: str, flags: int) -> int:
        return os.open(self._place(name), flags | _CAREFULLY, 0o600, dir_fd=self._fd)

    def _status(self, name: str) -> os.stat_result:
        return os.stat(self._place(name), dir_fd=self._fd, follow_symlinks=False)

    def remove(self, name: str) -> None:
        """Delete a file, if that is possible."""
        with suppress(OSError):
            os.unlink(self._place(name), dir_fd=self._fd)

    def read(self, name: str, *, largest: int) -> bytes | None:
        """A file's bytes; None where it is no plain file, too large, or others can write to it."""
        fd = self._open(name, os.O_RDONLY)
        try:
            status = os.fstat(fd)
            plain = stat.S_ISREG(status.st_mode) and status.st_size <= largest
            if not plain or _others_can_write(status):
                return None
            with open(fd, "rb", closefd=False) as file:
                return file.read(status.st_size)
        finally:
            os.close(fd)

    def write(self, name: str, data: bytes) -> None:
        """Write a file so that others see all of it or nothing: under a name of its own first."""
        unfinished = f"{name}.{os.urandom(8).hex()}{UNFINISHED}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            with os.fdopen(self._open(unfinished, flags), "wb") as file:
                file.write(data)
            os.replace(
                self._place(unfinished),
                self._place(name),
                src_dir_fd=self._fd,
                dst_dir_fd=self._fd,
            )
        except BaseException as error:
            self.remove(unfinished)
            if not _POSIX and isinstance(error, PermissionError):
                return  # Windows keeps files that are open: another process reads the same entry
            raise

    def count(self, name: str, amount: int) -> int:
        """Make a file longer by ``amount`` bytes, by several processes at once if need be; its
        length then. What stands in the file's place and is none goes."""
        with suppress(OSError):
            if not stat.S_ISREG(self._status(name).st_mode):
                self.remove(name)
        with os.fdopen(self._open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "wb") as file:
            file.write(bytes(amount))
            file.flush()
            return os.fstat(file.fileno()).st_size

    def mark_used(self, name: str, clock: str) -> None:
        """Set a file's time to now where it is a day behind that of the file ``clock``."""
        with suppress(OSError):
            if self._status(clock).st_mtime - self._status(name).st_mtime > _DAY:
                os.utime(self._place(name), dir_fd=self._fd)

    def files(self) -> list[tuple[float, int, str]]:
        """The plain files: when each was last used (as far as it is marked), size, name."""
        found: list[tuple[float, int, str]] = []
        with os.scandir(self._path if self._fd is None else self._fd) as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        found.append((status.st_mtime, status.st_size, entry.name))
        return found
