"""A browser of this machine that works for us without a window, and ends with its work.

Chromium, Chrome or Edge, in a new and empty profile of its own, which is removed at the end.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from linkwork import settings
from linkwork.errors import ProgramError

VARIABLE = "LINKWORK_RENDER_BROWSER"
_NAMES = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "msedge"),
)
_ON_MACOS = tuple(
    f"Applications/{name}.app/Contents/MacOS/{name}"
    for name in ("Google Chrome", "Chromium", "Microsoft Edge")
)
_ON_WINDOWS = (
    *("Google/Chrome/Application/chrome.exe", "Chromium/Application/chrome.exe"),
    "Microsoft/Edge/Application/msedge.exe",
)
_ARGUMENTS = (
    *("--headless=new", "--enable-unsafe-swiftshader", "--enable-logging=stderr"),
    # it has one page to load and nothing to ask of anyone
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-default-apps", "--disable-extensions", "--no-first-run", "--no-proxy-server"),
    *("--no-default-browser-check", "--disable-breakpad", "--disable-crash-reporter"),
    *("--password-store=basic", "--use-mock-keychain", "--mute-audio"),
    # pages that nobody sees are not slowed down; colours are those of the file
    *("--disable-background-timer-throttling", "--disable-renderer-backgrounding"),
    *("--disable-backgrounding-occluded-windows", "--force-color-profile=srgb"),
    *("--disable-dev-shm-usage", "--disable-features=Translate,MediaRouter,OptimizationHints"),
)
_SECONDS_TO_LEAVE = 3.0
_TOLD = 12  # lines of what it said that an error shows


def found() -> Path:
    """The browser that pictures are drawn by: LINKWORK_RENDER_BROWSER, or one of this machine.

    Raises: ProgramError where there is none, with what works without.
    """
    given = settings.render_browser()
    if given:
        program = shutil.which(given)
        if program is None:
            raise ProgramError(
                f"{VARIABLE} is '{given}', which is no program of this machine: let it name "
                "Chromium, Chrome or Edge, or unset it"
            )
        return Path(program)
    for name in _NAMES:
        program = shutil.which(name)
        if program is not None:
            return Path(program)
    for place in _usual_places():
        if place.is_file():
            return place
    raise ProgramError(
        "shaded pictures and films are drawn by a browser, and there is none here: install "
        f"Chromium, Chrome or Edge, or name one by the variable {VARIABLE}. Without a browser, "
        "robot.plot().save('arm.png') makes a drawing"
    )


def _usual_places() -> Iterator[Path]:
    if sys.platform == "darwin":
        for folder in (Path("/"), settings.home()):
            yield from (folder / each for each in _ON_MACOS if folder is not None)
    for folder in settings.program_folders():
        yield from (folder / each for each in _ON_WINDOWS)


_LONGEST = 36
"""Bytes of a folder's path in which a browser may put its own folder and a socket in it: Linux
takes 107 for a socket."""


def _temporary() -> str:
    """The folder for temporary files, or a shorter one where its path is too long for sockets."""
    usual = tempfile.gettempdir()
    too_long = sys.platform == "linux" and len(os.fsencode(usual)) > _LONGEST
    return "/tmp" if too_long and os.access("/tmp", os.W_OK) else usual


class Browser:
    """A browser that has one page open, until the ``with`` block ends."""

    def __init__(self, program: Path, url: str, *, dark: bool = False) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="linkwork-browser-", dir=_temporary()))
        self._log = self._folder / "said"
        arguments = [
            *(str(program), *_ARGUMENTS, *_for_this_machine()),
            f"--user-data-dir={self._folder}",
            # a page's style, whatever the desktop of this machine prefers
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            url,
        ]
        try:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    # what it writes is removed with its folder, however it ends; elsewhere
                    # temporary files have other names, or paths too long for its socket
                    env=settings.surroundings(TMPDIR=str(self._folder))
                    if sys.platform == "linux"
                    else None,
                    start_new_session=os.name == "posix",
                )
        except OSError as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise ProgramError(f"{program} cannot be started: {error.strerror or error}") from None
        self.name = program.name

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def has_ended(self) -> int | None:
        """The exit status, once it has ended by itself."""
        return self._process.poll()

    @property
    def said(self) -> str:
        """The last lines of what it has said on its standard error."""
        with contextlib.suppress(OSError):
            lines = self._log.read_text("utf-8", errors="replace").splitlines()
            told = [line for line in lines if line.strip() and "dbus" not in line]
            return "\n".join(told[-_TOLD:])
        return ""

    def end(self) -> None:
        """End it with all of its processes, and remove what it has written."""
        if os.name == "posix":
            self._end_group()
        else:
            tree = ["taskkill", "/F", "/T", "/PID", str(self._process.pid)]
            subprocess.run(tree, capture_output=True, check=False)
        self._process.wait()
        until = settings.clock() + _SECONDS_TO_LEAVE
        while self._folder.exists() and settings.clock() < until:
            shutil.rmtree(self._folder, ignore_errors=True)
            settings.wait(0.02 if self._folder.exists() else 0.0)  # one was still writing

    def _end_group(self) -> None:
        """Its processes are a group: end all of them at once."""
        if sys.platform != "linux":  # there it leaves nothing behind that is not in its folder
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_SECONDS_TO_LEAVE)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _for_this_machine() -> list[str]:
    """The options that depend on the user and the machine."""
    given: list[str] = []
    if os.name == "posix" and os.geteuid() == 0:
        given.append("--no-sandbox")  # root has none: the browser refuses to start otherwise
    if sys.platform == "linux" and not any(Path("/dev/dri").glob("renderD*")):
        given.append("--use-angle=swiftshader")  # no GPU: at once in software, without a search
    return given
