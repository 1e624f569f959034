"""The commands put together, and one place where every error becomes a sentence and a code."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, fields
from importlib import import_module
from typing import Any, get_args, get_origin, get_type_hints

import click
from click.shell_completion import CompletionItem

import linkwork
from linkwork import settings
from linkwork.cli import arguments, completion
from linkwork.cli.arguments import Info
from linkwork.errors import DescriptionError, LinkworkError
from linkwork.legible import legible

WRONG_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141

_WIDEST_HELP = 100


class _Formatter(click.HelpFormatter):
    """The layout of a help text: headings and names stand out."""

    def write_heading(self, heading: str) -> None:
        """Write the heading of a part."""
        super().write_heading(click.style(heading, bold=True))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write names with what they mean beside them."""
        styled = [(click.style(name, fg="cyan"), text) for name, text in rows]
        super().write_dl(styled, col_max, col_spacing)


class _Context(click.Context):
    formatter_class = _Formatter


class _Help:
    """A command's help: its text, its parameters by panel, and its examples as they are typed."""

    context_class = _Context
    panels: dict[str, str]
    examples: Sequence[str]

    def format_options(self: Any, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the parameters, each panel under its name."""
        listed: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                listed.setdefault(self.panels.get(param.name, "Options"), []).append(record)
        first = ("Arguments", "Options")
        for panel, records in sorted(listed.items(), key=lambda item: item[0] not in first):
            with formatter.section(panel):
                formatter.write_dl(records)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, however long."""
        with formatter.section("Examples"):
            for line in self.examples:
                formatter.write(f"  {line}\n")


class Command(_Help, click.Command):
    """A command with the parameters of a class of `arguments`."""

    def __init__(self, name: str, kind: type[Any]) -> None:
        self.examples, self.panels = kind.examples, {}
        hints, params = get_type_hints(kind), list[click.Parameter]()
        for each in fields(kind):
            self.panels[each.name] = each.metadata["info"].panel
            params.append(_parameter(each, hints[each.name]))

        def call(**values: Any) -> None:  # the module is loaded when its command is called
            import_module(f"linkwork.cli.{name}").run(kind(**values))

        text = inspect.cleandoc(kind.__doc__ or "")
        first = text.split("\n\n")[0]
        super().__init__(name, callback=call, params=params, help=text, short_help=first)


class _Argument(click.Argument):
    """An argument that the help explains."""

    def __init__(self, name: str, text: str, **how: Any) -> None:
        super().__init__([name], **how)
        self._text = text

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """The argument as the help lists it."""
        return (self.make_metavar(ctx), self._text)


def _parameter(each: Field[Any], hint: Any) -> click.Parameter:
    info: Info = each.metadata["info"]
    kinds = [hint] if get_origin(hint) in (None, list) else get_args(hint)  # of X | None: X
    kind, many = kinds[0], get_origin(kinds[0]) is list
    how: dict[str, Any] = {"type": str if many else kind, "metavar": info.metavar}
    if info.least is not None or info.most is not None:
        how["type"] = click.IntRange(info.least, info.most)
    if info.complete is not None:
        how["shell_complete"] = _completing(info.complete)
    if many:
        how["callback"] = _as_list
    elif each.default is not MISSING:
        how["default"] = each.default
    if not info.names:
        needed = each.default is MISSING
        return _Argument(each.name, info.help, nargs=-1 if many else 1, required=needed, **how)
    if kind is bool:
        return click.Option([each.name, *info.names], help=info.help, is_flag=True, **how)
    shown = not many and each.default is not None
    return click.Option(
        [each.name, *info.names], help=info.help, multiple=many, show_default=shown, **how
    )


def _as_list(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> Any:
    return list(values) or None


def _completing(complete: Callable[[str], list[str]]) -> Callable[..., list[CompletionItem[Any]]]:
    def offered(ctx: Any, param: Any, word: str) -> list[CompletionItem[Any]]:
        found = complete(word)
        return [CompletionItem(x) for x in found] or [CompletionItem(word, type="file")]

    return offered


class ProgramCommand(Command):
    """A command whose last arguments are a program's command line, left as they are."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Cut the program off before the options are looked for."""
        return super().parse_args(ctx, program_apart(args))

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
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


class Commands(_Help, click.Group):
    """The group of all commands; it turns errors into one sentence and an exit code."""

    examples, panels = ("linkwork demo", "linkwork info ur5e"), dict[str, str]()

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the help."""
        return list(self.commands)

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
        extra.setdefault("color", settings.styled(sys.stdout))
        try:
            try:
                with self.make_context("linkwork", args, **extra) as context:
                    self.invoke(context)
            except click.exceptions.Exit as done:
                code = int(done.exit_code)
            sys.stdout.flush()
        except (KeyboardInterrupt, click.Abort):
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
    if isinstance(error, click.UsageError):
        # for example: linkwork fk: no such option: --fame (see linkwork fk --help)
        text = error.format_message().strip().rstrip(".")
        path = "linkwork" if error.ctx is None else error.ctx.command_path
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


@click.pass_context
def _top(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), color=context.color)


app = Commands(
    "linkwork",
    callback=_top,
    invoke_without_command=True,
    help="Robot mechanisms: load a description, compute with it, solve inverse kinematics.",
    commands={
        name: (ProgramCommand if name == "run" else Command)(name, kind)
        for name, kind in COMMANDS.items()
    },
    params=completion.options(),
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": _WIDEST_HELP,
    },
)
click.version_option(
    linkwork.__version__, message="linkwork %(version)s", help="Print the version."
)(app)


def run(args: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    try:
        app(list(args))
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 1
    return 0
