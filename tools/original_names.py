"""Print the public names of an installed library, as the ``[names]`` of a face's parity.toml.

    python tools/original_names.py trip_kinematics trip_robots

Run it where the original is installed; it needs nothing of Linkwork. It imports each module and
asks ``dir()`` and ``inspect.signature``, and opens no source. Listed are

- of each module: its classes, functions and constants, those it has from another module of the same
  library as well, and its submodules; what it imports from other libraries is left out;
- of each class, under the module that defines it: its methods and attributes, with the operators it
  defines itself, without what it has from classes of other libraries.

Names that begin with an underscore are left out, and what instances only get when they are made.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import inspect
import pkgutil
import sys
from types import ModuleType

CONSTANTS = (bool, int, float, str, tuple, list, dict, frozenset, set, type(None))
NO_OPERATORS = set(
    """
    __abstractmethods__ __annotations__ __class__ __copy__ __dataclass_fields__ __deepcopy__ __del__
    __delattr__ __dict__ __dir__ __doc__ __firstlineno__ __format__ __getattr__ __getattribute__
    __getnewargs__ __getstate__ __hash__ __init__ __init_subclass__ __match_args__ __module__
    __new__ __orig_bases__ __parameters__ __qualname__ __reduce__ __reduce_ex__ __repr__ __setattr__
    __setstate__ __signature__ __sizeof__ __slots__ __static_attributes__ __str__ __subclasshook__
    __weakref__ __wrapped__
    """.split()
)


def modules_of(root: str) -> list[ModuleType]:
    """A module and all below it; one that cannot be imported is told."""
    try:
        found = [importlib.import_module(root)]
    except ImportError as error:
        sys.exit(f"{root}: {error}")
    below = sorted(
        m.name for m in pkgutil.walk_packages(getattr(found[0], "__path__", []), f"{root}.")
    )
    for name in below:
        try:
            found.append(importlib.import_module(name))
        except Exception as error:  # whatever it does when it is imported
            print(f"# {name} cannot be imported here: {error}")
    return found


def names_of(module: ModuleType, roots: list[str]) -> list[str]:
    """The public names of a module that are the library's own."""
    own = []
    for name in sorted(dir(module)):
        thing = getattr(module, name)
        if name.startswith("_") and name != "__version__":
            continue
        home = thing.__name__ if inspect.ismodule(thing) else getattr(thing, "__module__", None)
        if isinstance(thing, CONSTANTS) or _inside(home, roots) or _is_builtin_of(thing, module):
            own.append(_written(name, thing))
    return own


def members_of(kind: type, roots: list[str]) -> list[str]:
    """The public names of a class, from it and from its parents in the same library."""
    family = [k for k in kind.__mro__ if _inside(k.__module__, roots)]
    found = {name for k in family for name in vars(k)}
    public = [n for n in found if not n.startswith("_") or _is_operator(n)]
    return [_written(name, getattr(kind, name)) for name in sorted(public)]


def _inside(home: object, roots: list[str]) -> bool:
    return isinstance(home, str) and any(home == r or home.startswith(f"{r}.") for r in roots)


def _is_builtin_of(thing: object, module: ModuleType) -> bool:
    return inspect.isbuiltin(thing) and thing.__self__ is module


def _is_operator(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in NO_OPERATORS


def _written(name: str, thing: object) -> str:
    """A name with its parameters, where it has a signature without ``*`` in it."""
    if _is_operator(name) or inspect.ismodule(thing) or not callable(thing):
        return name
    try:
        taken = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return name
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    if any(p.kind not in plain for p in taken):
        return name
    words = [p.name + ("" if p.default is p.empty else "=") for p in taken if p.name != "self"]
    return f"{name}({', '.join(words)})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="public names of installed libraries, as TOML")
    parser.add_argument("module", nargs="+", help="a module that programs import, as urdfpy")
    roots: list[str] = parser.parse_args().module
    table: dict[str, list[str]] = {}
    with contextlib.redirect_stdout(sys.stderr):  # what programs print when they are imported
        modules = [module for root in roots for module in modules_of(root)]
    for module in modules:
        table[module.__name__] = names_of(module, roots)
        for name, kind in sorted(vars(module).items()):
            public = inspect.isclass(kind) and not name.startswith("_")
            if public and kind.__module__ == module.__name__ and name == kind.__name__:
                table[f"{module.__name__}.{name}"] = members_of(kind, roots)
    print("[names]")
    for owner, names in table.items():
        print(f'"{owner}" = [\n{listed(names)}\n]')


def listed(names: list[str], width: int = 100) -> str:
    """Names in quotes, as many on a line as fit."""
    lines = ["   "]
    for name in names:
        item = f' "{name}",'
        if len(lines[-1]) + len(item) > width and lines[-1].strip():
            lines.append("   ")
        lines[-1] += item
    return "\n".join(lines)


if __name__ == "__main__":
    main()
