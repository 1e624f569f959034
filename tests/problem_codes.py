"""Every code that the sources give a problem, found in their text.

A code is what a function or class is handed for its parameter or field ``code: str``, or what a
variable named ``code`` is set to. What stands in a table instead is named in `OF_TABLES`.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from linkwork.formats.mjcf.flatten import LEFT_OUT, LEFT_OUT_OF
from linkwork.mechanism.check_meshes import REASONS

SOURCE = Path(__file__).resolve().parents[1] / "src" / "linkwork"
LEVELS = ("error", "warning", "note")
CODE = re.compile(r"[a-z]+(-[a-z]+)*")

TELLING = re.compile(r"\bFindings?\b|BadText|code: str|\.wrong\(")

_UNREAD = {"stiffness": "warning", "damping": "warning", "effort": "note", "angle": "note"}
# What the source holds in place of a code, and the codes that this is, with their levels.
OF_TABLES: dict[tuple[str, str], dict[str, set[str]]] = {
    ("formats/mjcf/flatten.py", "f'no-{tag}'"): {
        f"no-{t}": {lv} for t, (lv, _) in LEFT_OUT.items()
    },
    ("formats/mjcf/flatten.py", "f'no-{section}'"): {
        f"no-{section}": {lv} for section, (lv, _) in LEFT_OUT_OF.items()
    },
    ("formats/mjcf/read.py", "f'no-{code}'"): {f"no-{word}": {lv} for word, lv in _UNREAD.items()},
    ("mechanism/check_meshes.py", "f'{use.element}-{why}'"): {
        f"{element}-{why}": {"warning"} for element in ("mesh", "texture") for _, why in REASONS
    },
    ("faces/urdfpy/robot.py", "f'duplicate-{element}'"): {
        f"duplicate-{element}": {"error"} for element in ("material", "transmission")
    },
}


class Found(NamedTuple):
    """A code, the levels that its call names, and where it stands."""

    code: str
    levels: frozenset[str]
    place: str


class Maker(NamedTuple):
    """Which argument of a function is the code, and the levels that it gives by itself."""

    position: int
    levels: frozenset[str] = frozenset()


class _Module:
    """The makers that one file defines, and where its other names come from."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.functions: dict[str, Maker | None] = {}
        self.methods: dict[str, set[Maker]] = defaultdict(set)
        self.imported: dict[str, str] = {}  # name -> file
        self.aliases: dict[str, list[ast.expr]] = defaultdict(list)  # name -> what it was set to
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                self._of_class(node)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("linkwork."):
                file = f"{(node.module or '').removeprefix('linkwork.').replace('.', '/')}.py"
                self.imported.update({n.asname or n.name: file for n in node.names})
        methods = {f for c in ast.walk(tree) if isinstance(c, ast.ClassDef) for f in c.body}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node not in methods:
                maker = _maker(node, 0)
                # a name may be defined in several functions: those that take a code count
                self.functions[node.name] = maker or self.functions.get(node.name)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.aliases[target.id].append(node.value)

    def _of_class(self, node: ast.ClassDef) -> None:
        fields = [
            (part.target.id, ast.unparse(part.annotation))
            for part in node.body
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
        ]
        if ("code", "str") in fields:
            self.functions[node.name] = Maker(fields.index(("code", "str")))
        for part in node.body:
            if isinstance(part, ast.FunctionDef):
                maker = _maker(part, 1)
                if part.name == "__init__":
                    self.functions.setdefault(node.name, maker)
                elif maker is not None:
                    self.methods[part.name].add(maker)


def _maker(node: ast.FunctionDef, skip: int) -> Maker | None:
    arguments = [*node.args.posonlyargs, *node.args.args][skip:]
    for position, argument in enumerate(arguments):
        kind = "" if argument.annotation is None else ast.unparse(argument.annotation)
        if argument.arg == "code" and kind == "str":
            return Maker(position, _own_levels(node))
    return None


def _own_levels(node: ast.FunctionDef) -> frozenset[str]:
    """The level in calls that hand on ``code``."""
    levels: set[str] = set()
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            names = {value.id for value in call.args if isinstance(value, ast.Name)}
            levels |= _levels(call) if "code" in names else set()
    return frozenset(levels)


def _levels(call: ast.Call) -> set[str]:
    given = [value.value for value in call.args if isinstance(value, ast.Constant)]
    return {value for value in given if value in LEVELS}


def modules() -> dict[str, _Module]:
    """Every file of the library that speaks of findings, by its path."""
    files = {path.relative_to(SOURCE).as_posix(): path for path in SOURCE.rglob("*.py")}
    texts = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    return of_texts({name: text for name, text in texts.items() if TELLING.search(text)})


def of_texts(texts: dict[str, str]) -> dict[str, _Module]:
    """Files that are not there, for trying the search."""
    return {name: _Module(ast.parse(text)) for name, text in texts.items()}


def found(of: dict[str, _Module] | None = None) -> Iterator[Found]:
    """Every code in the sources, or in these modules."""
    every = of or modules()
    methods: dict[str, set[Maker]] = defaultdict(set)
    for module in every.values():
        for name, makers in module.methods.items():
            methods[name] |= makers
    for file, module in every.items():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call):
                for maker in _makers(node.func, file, every, methods):
                    yield from _of_call(node, maker, file)
            elif isinstance(node, ast.Assign):
                yield from _of_pair(node.targets[0], node.value, file)
            elif isinstance(node, ast.For | ast.comprehension):
                rows = node.iter.elts if isinstance(node.iter, ast.Tuple | ast.List) else []
                for row in rows:
                    yield from _of_pair(node.target, row, file)


def _makers(
    function: ast.expr, file: str, every: dict[str, _Module], methods: dict[str, set[Maker]]
) -> set[Maker]:
    """What is called, by its name: an import, a function of the file, a method or an alias."""
    own = every[file]
    if isinstance(function, ast.Attribute):
        return own.methods.get(function.attr) or methods.get(function.attr, set())
    if isinstance(function, ast.IfExp):
        parts = (function.body, function.orelse)
        return set().union(*(_makers(part, file, every, methods) for part in parts))
    if not isinstance(function, ast.Name):
        return set()
    name = function.id
    if name in own.functions:
        maker = own.functions[name]
    elif name in own.imported:
        other = every.get(own.imported[name])
        maker = other.functions.get(name) if other else None
    else:
        values = [v for v in own.aliases.get(name, ()) if isinstance(v, ast.Attribute | ast.IfExp)]
        return set().union(*(_makers(value, file, every, methods) for value in values))
    return set() if maker is None else {maker}


def _of_call(node: ast.Call, maker: Maker, file: str) -> Iterator[Found]:
    given = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
    if len(node.args) > max(maker.position, 1):  # a set's add takes one
        given.append(node.args[maker.position])
    levels = frozenset(_levels(node) | maker.levels)
    for value in given:
        yield from _of_value(value, levels, f"{file}:{node.lineno}")


def _of_pair(target: ast.expr, value: ast.expr, file: str) -> Iterator[Found]:
    """``code = "x"``, and ``code, message = "x", "..."`` at the place of ``code``."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, of_it in zip(target.elts, value.elts, strict=False):
            yield from _of_pair(one, of_it, file)
    elif isinstance(target, ast.Name) and target.id == "code":
        yield from _of_value(value, frozenset(), f"{file}:{value.lineno}")


def _of_value(value: ast.expr, levels: frozenset[str], place: str) -> Iterator[Found]:
    file = place.partition(":")[0]
    if isinstance(value, ast.IfExp):
        yield from _of_value(value.body, levels, place)
        yield from _of_value(value.orelse, levels, place)
    elif isinstance(value, ast.Constant):
        if isinstance(value.value, str) and CODE.fullmatch(value.value):
            yield Found(value.value, levels, place)
    elif (file, ast.unparse(value)) in OF_TABLES:
        for code, own in OF_TABLES[file, ast.unparse(value)].items():
            yield Found(code, frozenset(own), place)
    elif isinstance(value, ast.JoinedStr) and _begins_as_a_code(value):
        yield Found(ast.unparse(value), levels, place)  # in no table: whoever looks stumbles on it


def _begins_as_a_code(value: ast.JoinedStr) -> bool:
    head = value.values[0]
    return isinstance(head, ast.Constant) and re.fullmatch(r"[a-z]+-", str(head.value)) is not None
