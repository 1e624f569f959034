"""Cores, clock and environment, which are read here and nowhere else."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from linkwork.errors import InputError

if TYPE_CHECKING:  # `linkwork --help` looks here for the terminal, and needs no compiler
    from linkwork.compile.cache import Cache
    from linkwork.compile.compiler import Compiler, Listener


@cache
def most_threads() -> int:
    """The threads that a long batch takes by itself: LINKWORK_THREADS, or the usable cores.

    Raises: InputError where LINKWORK_THREADS is not a positive whole number.
    """
    given = os.environ.get("LINKWORK_THREADS", "")
    if given:
        if not given.isdecimal() or int(given) < 1:
            raise InputError(f"LINKWORK_THREADS must be a positive whole number, not {given!r}")
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def ros_paths() -> tuple[Path, ...]:
    """The folders that ROS looks for packages in: ROS_PACKAGE_PATH, then AMENT_PREFIX_PATH."""
    plain = [Path(p) for p in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if p]
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return (*plain, *[Path(p) / "share" for p in prefixes if p])


def ros_version() -> str:
    """The release of ROS that this shell was set up for: ROS_VERSION, "1", "2" or ""."""
    return os.environ.get("ROS_VERSION", "")


def ros_master() -> str:
    """The address of the parameter server of ROS 1: ROS_MASTER_URI, or ""."""
    return os.environ.get("ROS_MASTER_URI", "")


def ros_namespace() -> str:
    """The namespace of ROS names that do not begin with a slash: ROS_NAMESPACE, or /."""
    return os.environ.get("ROS_NAMESPACE", "") or "/"


def skrobot_folder() -> Path:
    """The folder where scikit-robot's programs keep files: SKROBOT_CACHE_DIR, or ~/.skrobot."""
    return Path(os.environ.get("SKROBOT_CACHE_DIR") or "~/.skrobot").expanduser()


def allowed_folders() -> tuple[Path, ...]:
    """The folders that files named by descriptions may lie in besides: LINKWORK_ALLOW."""
    given = os.environ.get("LINKWORK_ALLOW", "").split(os.pathsep)
    return tuple(Path(folder).expanduser() for folder in given if folder)


def load_meshes_at_once() -> bool:
    """Whether faces read meshes with the description, as the originals do: LINKWORK_LOAD_MESHES.

    Raises: InputError where it is neither 0 nor 1.
    """
    given = os.environ.get("LINKWORK_LOAD_MESHES", "") or "0"
    if given not in ("0", "1"):
        raise InputError(f"LINKWORK_LOAD_MESHES must be 0 or 1, not {given!r}")
    return given == "1"


def hand_on_mesh_options(allow: Sequence[str], *, load_meshes: bool) -> None:
    """Let `allowed_folders` and `load_meshes_at_once` give these too, here and in new processes."""
    if allow:
        before = [os.environ["LINKWORK_ALLOW"]] if os.environ.get("LINKWORK_ALLOW") else []
        folders = [os.path.abspath(os.path.expanduser(folder)) for folder in allow]
        os.environ["LINKWORK_ALLOW"] = os.pathsep.join([*folders, *before])
    if load_meshes:
        os.environ["LINKWORK_LOAD_MESHES"] = "1"


def over_ssh() -> bool:
    """Whether this process was started from another machine's terminal."""
    return bool(os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"))


def has_desktop() -> bool:
    """Whether a browser that is opened here is seen by whoever runs this.

    Not over SSH, and on Linux only where there is a display; LINKWORK_BROWSER=1 or 0 says it.

    Raises: InputError where it is neither 0 nor 1.
    """
    given = os.environ.get("LINKWORK_BROWSER", "")
    if given not in ("", "0", "1"):
        raise InputError(f"LINKWORK_BROWSER must be 0 or 1, not {given!r}")
    if given:
        return given == "1"
    if over_ssh():
        return False
    if os.name == "nt" or sys.platform == "darwin":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def render_browser() -> str:
    """The browser that draws pictures, by its name or path: LINKWORK_RENDER_BROWSER; "" is any."""
    return os.environ.get("LINKWORK_RENDER_BROWSER", "")


def program_folders() -> tuple[Path, ...]:
    """The folders that Windows has programs in."""
    names = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
    return tuple(Path(os.environ[name]) for name in names if os.environ.get(name))


def on_terminal(stream: TextIO | None) -> bool:
    """Whether a person reads what is written to a stream."""
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):  # no file, or a closed one
        return False


def styled(stream: TextIO | None) -> bool:
    """Whether colours are shown there: on terminals that have them, unless NO_COLOR is set.

    FORCE_COLOR shows them anywhere.
    """
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or on_terminal(stream)


def login_shell() -> str:
    """The name of the shell that whoever runs this logs in to, such as bash; "" if none is told."""
    return Path(os.environ.get("SHELL", "")).name


def surroundings(**changed: str) -> dict[str, str]:
    """The environment of a program that is started from here, with some variables changed."""
    return {**os.environ, **changed}


def home() -> Path | None:
    """The home folder of whoever runs this, where there is one."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def clock() -> float:
    """Seconds from some fixed moment on, for measuring durations."""
    return time.perf_counter()


def wait(seconds: float) -> None:
    """Let this time go by; none where it is not above zero."""
    time.sleep(max(0.0, seconds))


def kernel_cache() -> Cache:
    """The cache of compiled code: LINKWORK_CACHE, or the platform's folder for caches.

    Nothing is kept where LINKWORK_CACHE is "off", or where the platform names no folder. A folder
    that was named and cannot be used is warned of.
    """
    from linkwork.compile.cache import Cache, default_folder  # noqa: PLC0415  see above

    given = os.environ.get("LINKWORK_CACHE", "")
    if given.lower() == "off":
        return Cache(None)
    if given:
        return Cache(Path(given).expanduser().absolute(), warn=True)
    return Cache(default_folder(os.environ, home()))


def compile_line() -> Listener | None:
    """The listener that tells on standard error of compilations over a second, or None.

    By itself it speaks on terminals alone, with LINKWORK_PROGRESS=1 in files and pipes as well;
    with LINKWORK_PROGRESS=0 there is none.
    Raises: InputError for any other value.
    """
    given = os.environ.get("LINKWORK_PROGRESS", "")
    if given not in ("", "0", "1"):
        raise InputError(
            "LINKWORK_PROGRESS must be 0 (say nothing of compilations), 1 (say it also where "
            f"standard error is no terminal) or unset, not {given!r}"
        )
    if given == "0":
        return None
    from linkwork.compile_line import CompileLine  # noqa: PLC0415  above this layer

    return CompileLine(clock, anywhere=given == "1")


@cache
def compiler() -> Compiler:
    """The compiler of this process: for LINKWORK_TARGET or this processor, with the cache.

    Raises: UnknownNameError where LINKWORK_TARGET names no level; InputError for one that this
    processor lacks, and for LINKWORK_PROGRESS as `compile_line`.
    """
    from linkwork.compile.compiler import Compiler  # noqa: PLC0415  see above
    from linkwork.compile.target import host, named  # noqa: PLC0415

    level = os.environ.get("LINKWORK_TARGET", "")
    target = named(level) if level else host()
    return Compiler(target, kernel_cache(), clock, compile_line())
