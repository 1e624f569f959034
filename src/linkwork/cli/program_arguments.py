"""What ``linkwork run`` takes: options of ours, then a program's command line. See `arguments`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import typer
import typer.core

from linkwork.cli.arguments import text_option

_FACES = (
    "Put Linkwork in the place of this library. May be given several times; by default of all "
    "that it has a face for."
)
_ALLOW = (
    "Let descriptions have meshes and images in this folder too, wherever it is. May be given "
    "several times; LINKWORK_ALLOW has the same meaning."
)
_LOAD_MESHES = (
    "Read meshes when a description is loaded, so that a missing one is an error then. "
    "LINKWORK_LOAD_MESHES=1 has the same meaning."
)


def program_apart(words: Sequence[str]) -> list[str]:
    """The words with "--" where the options of ``linkwork run`` end, as those of ``python`` do.

    That is before the script, and after what -m or -c name: all that follows is the program's.
    """
    at = 0
    while at < len(words):
        word = words[at]
        if word in ("--as", "--allow"):
            at += 2
        elif word.startswith(("--as=", "--allow=")) or word == "--load-meshes":
            at += 1
        elif word in ("-m", "-c") and at + 1 < len(words):
            return [*words[: at + 2], "--", *words[at + 2 :]]
        elif word[:2] in ("-m", "-c") and len(word) > 2:
            return [*words[:at], word[:2], word[2:], "--", *words[at + 1 :]]
        elif word == "-" or not word.startswith("-"):
            return [*words[:at], "--", *words[at:]]
        else:
            break
    return list(words)


class ProgramCommand(typer.core.TyperCommand):
    """A command whose last arguments are a program's command line, left as they are."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Cut the program off before the options are looked for."""
        return super().parse_args(ctx, program_apart(args))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What stands behind the command's name in the line of its usage."""
        return ["[OPTIONS]", "SCRIPT|-m MODULE|-c CODE", "[ARGUMENTS]..."]


@dataclass(frozen=True, kw_only=True)
class RunArguments:
    """Run a Python program with Linkwork in the place of an older library.

    Where the program imports the library, it gets Linkwork's face of it. All
    else is as python does it: arguments, exit code, errors. What follows the
    program's name is its own.
    """

    examples: ClassVar[tuple[str, ...]] = (
        'linkwork run --as urdfpy -c "import urdfpy; print(urdfpy.URDF)"',
        "linkwork run --as urdfpy -m pydoc urdfpy.URDF.link_fk",
    )

    faces: Annotated[list[str] | None, text_option("--as", metavar="LIBRARY", text=_FACES)] = None
    allow: Annotated[list[str] | None, text_option("--allow", metavar="DIR", text=_ALLOW)] = None
    load_meshes: Annotated[bool, typer.Option("--load-meshes", help=_LOAD_MESHES)] = False
    module: Annotated[
        str | None, text_option("-m", metavar="MODULE", text="Run a module, as python -m does.")
    ] = None
    code: Annotated[
        str | None, text_option("-c", metavar="CODE", text="Run this text, as python -c does.")
    ] = None
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCRIPT [ARGUMENTS]",
            help="A script, and the arguments that it gets.",
            show_default=False,
        ),
    ] = None
