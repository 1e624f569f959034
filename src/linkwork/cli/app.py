"""The commands put together, and one place where every error becomes a sentence and a code."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from dataclasses import MISSING, fields
from importlib import import_module
from typing import Annotated, Any, get_type_hints

import typer
import typer.core

import linkwork
from linkwork.cli import arguments
from linkwork.errors import DescriptionError, LinkworkError
from linkwork.legible import legible

WRONG_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141

# Older typers raise the errors of click, newer ones those of a copy inside typer. Both export
# BadParameter, which is one of their usage errors.
USAGE_ERROR: Any = typer.BadParameter.__base__


class Commands(typer.core.TyperGroup):
    """The group of all commands; it turns errors into one sentence and an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the arguments (default: those of this process) and exit.

        A shell that completes a command line asks through a variable of the environment.
        """
        self._main_shell_completion(extra, "linkwork", complete_var)
        sys.exit(self._exit_code(list(sys.argv[1:] if args is None else args), extra))

    def _exit_code(self, args: list[str], extra: dict[str, Any]) -> int:
        code = 0
        try:
            try:
                with self.make_context("linkwork", args, **extra) as context:
                    self.invoke(context)
            except typer.Exit as done:
                code = int(done.exit_code)
            sys.stdout.flush()
        except (KeyboardInterrupt, typer.Abort):
            _say("linkwork: stopped")
            return INTERRUPTED
        except BrokenPipeError:
            return BROKEN_PIPE
        except Exception as error:
            text = sentence_of(error)
            if text is None:
                raise
            _say(text)
            return WRONG_INPUT
        return code


def sentence_of(error: Exception) -> str | None:
    """The sentence for an error of the input or the system; None for a fault of ours."""
    if isinstance(error, USAGE_ERROR):
        # for example: linkwork fk: no such option: --fame (see linkwork fk --help)
        usage: Any = error
        text = str(usage.format_message()).strip().rstrip(".")
        context = getattr(usage, "ctx", None)
        path = context.command_path if context is not None else "linkwork"
        return f"{path}: {text[:1].lower()}{text[1:]} (see {path} --help)"
    if isinstance(error, DescriptionError):
        return str(error)  # a line for each problem, with file and line in front
    if isinstance(error, LinkworkError):
        return f"linkwork: {error}"
    if isinstance(error, OSError):
        named = f"{error.filename}: " if error.filename else ""
        return f"linkwork: {named}{error.strerror or error}"
    if isinstance(error, MemoryError):
        return f"linkwork: there is not enough memory: {error}"
    return None


def _say(text: str) -> None:
    sys.stderr.write(legible(text.rstrip(), lines=True) + "\n")


app = typer.Typer(
    cls=Commands,
    name="linkwork",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Examples:\n\nlinkwork demo\n\nlinkwork info ur5e",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"linkwork {linkwork.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version."
        ),
    ] = False,
) -> None:
    """Robot mechanisms: load a description, compute with it, solve inverse kinematics."""
    if context.invoked_subcommand is None:
        if text := context.get_help():  # empty where typer has printed it by itself
            typer.echo(text)


class ProgramCommand(typer.core.TyperCommand):
    """A command whose last arguments are a program's command line, left as they are."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Cut the program off before the options are looked for."""
        return super().parse_args(ctx, program_apart(args))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words behind the command's name in the line of its usage."""
        return ["[OPTIONS]", "SCRIPT|-m MODULE|-c CODE", "[ARGUMENTS]..."]


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


def _add(name: str, kind: type[Any], **how: Any) -> None:
    """Add a command with the parameters of a class; its module is loaded when it is called."""

    def call(**values: Any) -> None:
        import_module(f"linkwork.cli.{name}").run(kind(**values))

    hints = get_type_hints(kind)
    parameters = [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=Annotated[hints[each.name], each.metadata["typer"]],
        )
        for each in fields(kind)
    ]
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    vars(call)["__signature__"] = inspect.Signature(parameters)
    epilog = "\n\n".join(["Examples:", *kind.examples])
    app.command(name, help=inspect.cleandoc(kind.__doc__ or ""), epilog=epilog, **how)(call)


COMMANDS: dict[str, type[Any]] = {
    "demo": arguments.DemoArguments,
    "models": arguments.ModelsArguments,
    "info": arguments.InfoArguments,
    "show": arguments.ShowArguments,
    "fk": arguments.FkArguments,
    "jacobian": arguments.JacobianArguments,
    "ik": arguments.IkArguments,
    "assemble": arguments.AssembleArguments,
    "check": arguments.CheckArguments,
    "diff": arguments.DiffArguments,
    "convert": arguments.ConvertArguments,
    "simulate": arguments.SimulateArguments,
    "collide": arguments.CollideArguments,
    "plan": arguments.PlanArguments,
    "run": arguments.RunArguments,
}
"""The commands in the order of the help, each with what it takes."""

for _name, _kind in COMMANDS.items():
    _add(_name, _kind, cls=ProgramCommand if _name == "run" else None)


def run(args: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    try:
        app(list(args))
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 1
    return 0
