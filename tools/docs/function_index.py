"""Write docs/functions.md, the index of everything public, from the docstrings.

    python tools/docs/function_index.py           writes the page
    python tools/docs/function_index.py --check   exits with 1 where the page is out of date

One line for each name: how it is called, what it gives (its first docstring line, and what follows
``Shapes:``), and where it comes from (``Source:``). A part of the package that cannot be imported
is left out, with a word on standard error.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))  # the index of this checkout, whatever is installed
PAGE = ROOT / "docs" / "functions.md"
HEAD = """# Functions

Everything public, each name once. Written by `tools/docs/function_index.py` from the docstrings:
change those, and run it again. The conventions behind the shapes are in
[conventions.md](conventions.md).
"""
LONG = 8  # a class with more fields is listed without them
LABEL = re.compile(r"^(Shapes?|Source|Raises|Frame|Units|Returns|Frame/units):\s*", re.IGNORECASE)


class Entry(NamedTuple):
    """One line of the index."""

    name: str
    call: str
    summary: str
    source: str
    file: str


class Section(NamedTuple):
    """A heading, a sentence below it, and its lines."""

    title: str
    text: str
    entries: list[Entry]


def load(name: str) -> Any:
    """A module, or None with a word on standard error."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"left out: {name} ({error})", file=sys.stderr)
        return None


# --- docstrings and signatures -------------------------------------------------------------------


def docstring_fields(text: str | None) -> dict[str, str]:
    """The first paragraph as "summary", and each labelled paragraph by its lower-case label."""
    fields: dict[str, list[str]] = {"summary": []}
    current: str | None = "summary"
    for line in inspect.cleandoc(text or "").splitlines():
        label = LABEL.match(line)
        if label:
            current = label[1].lower().replace("shapes", "shape")
            fields.setdefault(current, []).append(line[label.end() :])
        elif not line.strip():
            current = None
        elif current:
            fields[current].append(line.strip())
    return {name: " ".join(lines).strip() for name, lines in fields.items()}


def call_of(name: str, thing: Any, drop: int = 0) -> str:
    """The call as it is written: names of the arguments and their defaults, no types."""
    if inspect.isclass(thing) and issubclass(thing, BaseException | Enum):
        return name
    try:
        parameters = list(inspect.signature(thing).parameters.values())[drop:]
    except (TypeError, ValueError):
        return name
    if inspect.isclass(thing) and len(parameters) > LONG:
        return f"{name}(...)"
    bare = [p.replace(annotation=p.empty, default=_shown(p.default)) for p in parameters]
    return name + str(inspect.Signature(bare))


class _Verbatim(str):
    """A default written as it stands."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _shown(default: Any) -> Any:
    if default is inspect.Parameter.empty:
        return default
    text = repr(default).replace("'", '"')
    return _Verbatim("..." if " at 0x" in text or len(text) > 40 else text)


def entry(name: str, thing: Any, *, call: str | None = None, drop: int = 0) -> Entry:
    """The line of one name."""
    inner = thing.fget if isinstance(thing, property) else getattr(thing, "func", thing)
    fields = docstring_fields(getattr(inner, "__doc__", None))
    summary = fields["summary"]
    if fields.get("shape"):
        summary += f" Shapes: {fields['shape'].split('. ')[0].rstrip('.')}."
    try:
        file = Path(inspect.getsourcefile(inspect.unwrap(inner)) or "").resolve()
        where = file.relative_to(ROOT).as_posix()
    except (TypeError, ValueError):
        where = ""
    return Entry(name, call or call_of(name, inner, drop), summary, fields.get("source", ""), where)


# --- the sections --------------------------------------------------------------------------------


def public_names(module: Any) -> list[str]:
    """The names that a package offers, without those in underscores."""
    return sorted(name for name in module.__all__ if not name.startswith("_"))


def package_section() -> Section | None:
    """What ``import linkwork`` offers."""
    module = load("linkwork")
    if module is None:
        return None
    entries = [entry(name, getattr(module, name)) for name in public_names(module)]
    return Section("Package", "`import linkwork as lw`", entries)


def robot_section() -> Section | None:
    """The methods and properties of Robot."""
    module = load("linkwork.robot")
    if module is None:
        return None
    algorithms = getattr(load("linkwork.algorithms.registry"), "ALGORITHMS", {})
    entries = []
    for name in sorted(n for n in dir(module.Robot) if not n.startswith("_")):
        raw = inspect.getattr_static(module.Robot, name)
        is_value = isinstance(raw, property) or hasattr(raw, "func")
        thing = raw if is_value else getattr(module.Robot, name)
        drop = 0 if isinstance(raw, staticmethod | classmethod) else 1
        full = f"Robot.{name}"
        line = entry(full, thing, call=full if is_value else None, drop=drop)
        if name in algorithms and not line.source:
            source = docstring_fields(algorithms[name].function.__doc__).get("source", "")
            line = line._replace(source=source)
        entries.append(line)
    return Section("Robot", "What `lw.load` returns.", entries)


def ik_section() -> Section | None:
    """What `linkwork.ik` offers."""
    module = load("linkwork.ik")
    if module is None:
        return None
    entries = [entry(f"ik.{name}", getattr(module, name)) for name in public_names(module)]
    text = "`lw.ik`: tasks, limits, objectives and options; see inverse_kinematics.md."
    return Section("Inverse kinematics", text, entries)


def own_members(class_: type[Any]) -> dict[str, Any]:
    """What a class and its bases in the package define, by name."""
    bases = [base for base in class_.__mro__ if base.__module__.startswith("linkwork.")]
    return {name: thing for base in reversed(bases) for name, thing in vars(base).items()}


def collision_section() -> Section | None:
    """What a collision model and its pairs answer."""
    model, pairs = load("linkwork.collision.model"), load("linkwork.collision.pairs")
    if model is None or pairs is None:
        return None
    classes = {"model": model.CollisionModel, "model.pairs": pairs.PairTable}
    entries = [
        entry(f"{held}.{name}", thing, drop=1)
        for held, class_ in classes.items()
        for name, thing in sorted(own_members(class_).items())
        if not name.startswith("_") and callable(thing)
    ]
    text = "What `Robot.collision` gives, and its table of pairs; see collision.md."
    return Section("Collision models", text, entries)


def poses_section() -> Section | None:
    """What `linkwork.poses` offers."""
    module = load("linkwork.poses")
    if module is None:
        return None
    entries = [entry(f"lw.poses.{name}", getattr(module, name)) for name in public_names(module)]
    return Section("Poses", "`lw.poses`: arithmetic of poses, one or many.", entries)


def urdf_section() -> Section | None:
    """What `linkwork.urdf` offers."""
    module = load("linkwork.urdf")
    if module is None:
        return None
    names = [name for name in public_names(module) if name != "records"]
    entries = [entry(f"urdf.{name}", getattr(module, name)) for name in names]
    text = "`lw.urdf`: documents, and what is done with them; `urdf.records` has their classes."
    return Section("URDF documents", text, entries)


def faces_section() -> Section | None:
    """What `linkwork.faces` offers."""
    module = load("linkwork.faces")
    if module is None:
        return None
    entries = [entry(f"faces.{name}", getattr(module, name)) for name in public_names(module)]
    return Section("Faces", "`lw.faces`: other libraries' names; see faces.md.", entries)


def algorithms_section() -> Section | None:
    """The registry: what can be traced and compiled."""
    module = load("linkwork.algorithms.registry")
    if module is None:
        return None
    entries = []
    for name, algorithm in sorted(module.ALGORITHMS.items()):
        function: Callable[..., Any] = algorithm.function
        entries.append(entry(name, function, call=call_of(name, function)))
    text = "Written once in `linkwork.algorithms`, for every back end; `ALGORITHMS` holds them."
    return Section("Algorithms", text, entries)


def spatial_section() -> Section | None:
    """The functions and classes of each module of linkwork.spatial."""
    package = load("linkwork.spatial")
    if package is None:
        return None
    entries = []
    for info in pkgutil.iter_modules(package.__path__):
        module = load(f"linkwork.spatial.{info.name}")
        for name, thing in sorted(vars(module).items()) if module else ():
            own = getattr(thing, "__module__", None) == f"linkwork.spatial.{info.name}"
            if own and not name.startswith("_") and callable(thing):
                entries.append(entry(f"{info.name}.{name}", thing))
    text = "`from linkwork.spatial import so3, se3, ...`; the back end `o` comes first."
    return Section("Rotations, poses and twists", text, entries)


def cli_section() -> Section | None:
    """The commands of the command line."""
    module = load("linkwork.cli.app")
    command = getattr(module, "app", None)
    if command is None:
        return None
    entries = []
    for name, sub in sorted(getattr(command, "commands", {}).items()):
        arguments = [p.metavar or p.name.upper() for p in sub.params if not p.opts[0][:1] == "-"]
        call = " ".join(["linkwork", name, *arguments, "[options]"])
        summary = docstring_fields(sub.help)["summary"]
        file = f"src/linkwork/cli/{name}.py"
        entries.append(Entry(call, call, summary, "", file if (ROOT / file).exists() else ""))
    return Section("Command line", "`linkwork COMMAND --help` explains the options.", entries)


def sections() -> Iterator[Section]:
    """Every section that the package has."""
    makers = (
        package_section, robot_section, ik_section, collision_section, poses_section, urdf_section,
        faces_section, algorithms_section, spatial_section, cli_section,
    )  # fmt: skip
    for make in makers:
        section = make()
        if section and section.entries:
            yield section


# --- the page ------------------------------------------------------------------------------------


def page() -> str:
    """The whole page as Markdown."""
    parts = [HEAD]
    for section in sections():
        rows = [_row(item) for item in section.entries]
        table = "\n".join(["| call | what it gives | source |", "|---|---|---|", *rows])
        parts.append(f"## {section.title}\n\n{section.text}\n\n{table}\n")
    return "\n".join(parts)


def _row(item: Entry) -> str:
    call = f"`{item.call}`"
    linked = f"[{call}](../{item.file})" if item.file else call
    cells = [linked, item.summary, item.source]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main() -> int:
    """Write or check the page; the exit code."""
    parser = argparse.ArgumentParser(description="write docs/functions.md from the docstrings")
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    check = parser.parse_args().check
    wanted = page()
    if not check:
        PAGE.write_text(wanted, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == wanted:
        return 0
    print("docs/functions.md is out of date: run python tools/docs/function_index.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
