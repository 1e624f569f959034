"""A folder that only the user can write to, and files in it that are trusted for that reason.

Nothing is assumed of what lies in the folder: links, pipes, folders, files of others and files of
any size may stand under any name. All access goes through the folder once it is open, so that it
cannot be exchanged in between (not on Windows, where neither this nor rights are checked).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

_POSIX = os.name == "posix"
_CAREFULLY = (
    getattr(os, "O_NOFOLLOW", 0)  # no symbolic link
    | getattr(os, "O_NONBLOCK", 0)  # no waiting for who else holds a pipe
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
UNFINISHED = ".part"
"""How the names of files end that are being written."""

_DAY = 86_400.0


class UnusableFolder(Exception):
    """Why a folder cannot be used; the message is a part of a sentence."""


def _others_can_write(status: os.stat_result) -> str:
    """Who else than the user and root can write, in words; empty where nobody can."""
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
