"""The commands put together, and one place where every error becomes a sentence and a code."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from importlib import import_module
from typing import Annotated, Any, get_type_hints

import typer
import typer.core

import linkwork
from linkwork.cli import (
    arguments,
    closed_arguments,
    document_arguments,
    program_arguments,
    simulation_arguments,
)
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
        try:
            code = self._run(args, extra)
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

    def _run(self, args: list[str], extra: dict[str, Any]) -> int:
        try:
            with self.make_context("linkwork", args, **extra) as context:
                self.invoke(context)
        except typer.Exit as done:
            return int(done.exit_code)
        return 0


def sentence_of(error: Exception) -> str | None:
    """What to tell about an error of the input or the system; None for a fault of ours."""
    if isinstance(error, USAGE_ERROR):
        return _usage_sentence(error)
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


def _usage_sentence(error: Any) -> str:
    """For example: linkwork fk: no such option: --fame (see linkwork fk --help)."""
    text = str(error.format_message()).strip().rstrip(".")
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "linkwork"
    return f"{path}: {text[:1].lower()}{text[1:]} (see {path} --help)"


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


def _call_of(name: str, kind: type[Any]) -> Callable[..., None]:
    """A function with the parameters of the class, as typer wants it.

    It loads the command's module, and what that needs, when it is called.
    """

    def call(**values: Any) -> None:
        import_module(f"linkwork.cli.{name}").run(kind(**values))

    hints = get_type_hints(kind, include_extras=True)
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    vars(call)["__signature__"] = inspect.Signature(parameters)
    return call


def _add(name: str, kind: type[Any], **how: Any) -> None:
    epilog = "\n\n".join(["Examples:", *kind.examples])
    register = app.command(name, help=inspect.cleandoc(kind.__doc__ or ""), epilog=epilog, **how)
    register(_call_of(name, kind))


_add("demo", arguments.DemoArguments)
_add("models", arguments.ModelsArguments)
_add("info", arguments.InfoArguments)
_add("fk", arguments.FkArguments)
_add("jacobian", arguments.JacobianArguments)
_add("ik", arguments.IkArguments)
_add("assemble", closed_arguments.AssembleArguments)
_add("check", document_arguments.CheckArguments)
_add("diff", document_arguments.DiffArguments)
_add("convert", document_arguments.ConvertArguments)
_add("simulate", simulation_arguments.SimulateArguments)
_add("run", program_arguments.RunArguments, cls=program_arguments.ProgramCommand)


def run(args: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    try:
        app(list(args))
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 1
    return 0
