"""What the commands for descriptions take: check, diff, convert. See `arguments`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from linkwork.cli.arguments import Json, text_option, value_option

_SHOWN = "What is printed: error, warning (and errors), or note (everything)."
_ALLOW = (
    "A folder that meshes may lie in besides the description's package. May be given several times."
)
_IGNORE = "A code to leave out, such as material-unused. May be given several times."
_XACRO = "A value for an argument of a xacro file. May be given several times."


@dataclass(frozen=True, kw_only=True)
class CheckArguments:
    """List everything that is wrong or odd with descriptions, with lines, as compilers do.

    Errors are what no robot follows from; warnings and notes are findings, with which the
    description can be used. The exit code is 0 when there is no error (with --strict: no error
    and no warning), 1 otherwise, 2 when the command line is wrong.
    """

    examples: ClassVar[tuple[str, ...]] = (
        "linkwork check robot.urdf",
        "linkwork check *.urdf --strict --ignore material-unused",
        "linkwork check robot.urdf.xacro --allow ../meshes --json",
    )

    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="URDF, xacro or MJCF files.", show_default=False),
    ]
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail as well.")] = False
    level: Annotated[str, value_option("--level", "LEVEL", _SHOWN)] = "note"
    meshes: Annotated[
        bool, typer.Option("--meshes/--no-meshes", help="Open meshes and textures.")
    ] = True
    allow: Annotated[list[str] | None, text_option("--allow", metavar="FOLDER", text=_ALLOW)] = None
    ignore: Annotated[list[str] | None, text_option("--ignore", metavar="CODE", text=_IGNORE)] = (
        None
    )
    arg: Annotated[list[str] | None, text_option("--arg", metavar="NAME:=VALUE", text=_XACRO)] = (
        None
    )
    json: Json = False


@dataclass(frozen=True, kw_only=True)
class DiffArguments:
    """Show how two descriptions differ, element by element, whatever their text looks like.

    The exit code is 0 when they say the same, 1 when they differ, 2 when one cannot be read.
    """

    examples: ClassVar[tuple[str, ...]] = (
        "linkwork diff old.urdf new.urdf",
        "linkwork diff old.urdf new.urdf --tolerance 1e-9",
    )

    before: Annotated[str, typer.Argument(metavar="A", help="The one file.", show_default=False)]
    after: Annotated[str, typer.Argument(metavar="B", help="The other file.", show_default=False)]
    tolerance: Annotated[
        float, value_option("--tolerance", "X", "Numbers that differ by no more count as the same.")
    ] = 0.0
    json: Json = False


_ENV = (
    "A value for $(env NAME) in a xacro file; the environment itself is not read. "
    "May be given several times."
)
_MESHES = (
    "readable (URDF's default): files that the new place cannot reach are copied beside it. "
    "reference: names are rewritten. copy: all files go to meshes/. keep: names stay."
)


@dataclass(frozen=True, kw_only=True)
class ConvertArguments:
    """Write a description in another format, or a picture of its tree.

    The name of the target says the format: .urdf, .xml or .mjcf (MJCF, by MuJoCo), .yaml
    (loops alone), .json (the mechanism), .svg, .mmd or .md (Mermaid), .dot. What is odd, and what
    is lost, is told on standard error. The exit code is 0 when the target is written, 2 otherwise;
    a file is written whole or not at all.
    """

    examples: ClassVar[tuple[str, ...]] = (
        "linkwork convert robot.urdf.xacro robot.urdf --arg prefix:=left_",
        "linkwork convert panda panda.svg",
        "linkwork convert ur5e - --to mermaid",
    )

    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A URDF or xacro file, or the name of a bundled model.",
            show_default=False,
        ),
    ]
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="The file to write; - is standard output.", show_default=False
        ),
    ]
    to: Annotated[
        str | None,
        text_option(
            "--to",
            metavar="FORMAT",
            text="What to write: urdf, mjcf, loops, json, svg, mermaid or dot.",
        ),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False
    strict: Annotated[
        bool, typer.Option("--strict", help="Write nothing where there are warnings.")
    ] = False
    meshes: Annotated[str | None, text_option("--meshes", metavar="HOW", text=_MESHES)] = None
    allow: Annotated[list[str] | None, text_option("--allow", metavar="FOLDER", text=_ALLOW)] = None
    arg: Annotated[list[str] | None, text_option("--arg", metavar="NAME:=VALUE", text=_XACRO)] = (
        None
    )
    env: Annotated[list[str] | None, text_option("--env", metavar="NAME=VALUE", text=_ENV)] = None
