"""The command line: commands over the public interface, without numerics of their own."""

from __future__ import annotations

import contextlib
import io
import os
import sys


def main() -> None:
    """Run the command line with the arguments of this process, and exit with its code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w"))
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding lacks is written as an escape instead of failing.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    code = 130
    with contextlib.suppress(KeyboardInterrupt):
        from linkwork.cli.app import run  # noqa: PLC0415 - click is loaded when it is needed

        code = run(sys.argv[1:])
    sys.exit(code)
