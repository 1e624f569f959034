"""``linkwork --install-completion``: shells complete command lines by the tab key."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import get_completion_class

from linkwork import atomic, settings
from linkwork.errors import InputError

SHELLS = ("bash", "zsh", "fish", "powershell")
_BEGINS_WITH = {"bash": "~/.bashrc", "zsh": "~/.zshrc"}
"""The file that a shell reads when it begins."""
_OWN = "auto"


def options() -> list[click.Parameter]:
    """The two options of completion."""
    about = {
        "--install-completion": ("Teach a shell to complete commands by the tab key.", _install),
        "--show-completion": ("Print what would be installed.", _show),
    }
    return [
        click.Option(
            [name], metavar="[SHELL]", is_flag=False, flag_value=_OWN, expose_value=False,
            is_eager=True, callback=callback,
            help=f"{text} Shells: {', '.join(SHELLS)}; by default your own.",
        )
        for name, (text, callback) in about.items()
    ]  # fmt: skip


def _script(ctx: click.Context, shell: str) -> tuple[str, str]:
    """The name of a shell, and what it must run to complete."""
    name = settings.login_shell() if shell == _OWN else shell
    kind = get_completion_class(name) if name in SHELLS else None
    if kind is None:
        told = f"there is none for {name!r}" if name else "which shell is yours is not known"
        raise InputError(f"completion: {told}; name one of {', '.join(SHELLS)}")
    return name, kind(ctx.command, {}, "linkwork", "_LINKWORK_COMPLETE").source().strip() + "\n"


def _show(ctx: click.Context, param: click.Parameter, shell: str | None) -> None:
    if shell is not None:
        click.echo(_script(ctx, shell)[1], nl=False)
        ctx.exit()


def _install(ctx: click.Context, param: click.Parameter, shell: str | None) -> None:
    if shell is None:
        return
    name, script = _script(ctx, shell)
    if name == "powershell":
        raise InputError(
            "completion: powershell's profile is not changed; add the output of "
            "linkwork --show-completion powershell to it"
        )
    if name == "fish":  # it reads all that lies in this folder
        target = Path("~/.config/fish/completions/linkwork.fish").expanduser()
    else:
        target = Path(f"~/.config/linkwork/complete.{name}").expanduser()
        begins = Path(_BEGINS_WITH[name]).expanduser()
        line = f"source '{target}'\n"
        before = begins.read_text(encoding="utf-8") if begins.exists() else ""
        if line not in before:
            gap = "" if before.endswith("\n") or not before else "\n"
            atomic.write_bytes(begins.resolve(), (before + gap + line).encode())
    target.parent.mkdir(parents=True, exist_ok=True)
    atomic.write_bytes(target, script.encode())
    click.echo(f"{name} completes commands of linkwork from the next shell on: {target}")
    ctx.exit()
