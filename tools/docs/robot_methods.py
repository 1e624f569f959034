"""Write the methods of `Robot` and of its compiled functions that compute, from the registry.

    python tools/docs/robot_methods.py           writes robot_methods.py and array_methods.py
    python tools/docs/robot_methods.py --check   exits with 1 where one is out of date

Name, inputs, keywords, the result's shape and the docstring's text stand in
`linkwork/algorithms/registry.py`, once; here they become signatures that editors, type checkers and
`help` read.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))  # the registry of this checkout, whatever is installed
SOURCE = ROOT / "src" / "linkwork"
HEAD = '''"""The methods of `Robot` that compute.

Written by tools/docs/robot_methods.py: change the registry, and run it.
"""

# ruff: noqa: PLR0913  the keywords that all of dynamics has
# fmt: off

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwork.algorithms.registry import ALGORITHMS

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from linkwork.algorithms.jacobian import Reference
    from linkwork.algorithms.registry import ForwardDerivatives, InverseDerivatives
    from linkwork.compile.kernel import OnBad
    from linkwork.mechanism.parameters import External

    Floats = NDArray[np.float64]


class RobotMethods:
    """One method for each algorithm of the registry; `Robot` says what their keywords mean."""

    __slots__ = tuple(f"_{entry.name}" for entry in ALGORITHMS.values() if entry.is_method)
    """The functions that `compile.native_method` calls."""

    if TYPE_CHECKING:
        _compute: Callable[..., Any]
'''
ARRAYS_HEAD = '''"""The methods of compiled functions in JAX and PyTorch, from the registry.

Written by tools/docs/robot_methods.py: change the registry, and run it.
"""

# fmt: off

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from linkwork.algorithms.jacobian import Reference

Arrays: TypeAlias = Mapping[str, Any] | None
"""Arrays by name."""


class ArrayMethods(ABC):
    """One method for each algorithm of the registry, on arrays of another library.

    A method takes what the method of `Robot` takes, but for ``out``, ``threads`` and ``on_bad``,
    and gives what it gives. ``parameters`` maps names of numbers of the mechanism to arrays.
    """

    @abstractmethod
    def compute(self, algorithm: str, **bound: Any) -> Any:
        """The result of a method for its arguments by name."""
'''
WIDTH = 100
"""Characters of a line."""
KEYWORDS = {
    "external": "External | None = None",
    "gravity": "ArrayLike | None = None",
    "losses": "bool = False",
    "armature": "ArrayLike | None = None",
}
STATIC = {"frame": "str | None = None", "reference": 'Reference = "world-aligned"', "base": "str"}
CALL = ("out: Floats | None = None", "threads: int | None = None", 'on_bad: OnBad = "raise"')


def filled(start: str, items: list[str], end: str, indent: int) -> Iterator[str]:
    """A list that starts and ends with these texts: in one line, or in lines as full as may be."""
    line = f"{start}{', '.join(items)}{end}"
    if len(line) <= WIDTH:
        yield line
        return
    yield start
    line = ""
    for item in items:
        longer = f"{line} {item}," if line else f"{' ' * indent}{item},"
        if len(longer) > WIDTH:
            yield line
            longer = f"{' ' * indent}{item},"
        line = longer
    yield line
    yield f"{' ' * (indent - 4)}{end}"


def statics(entry) -> list[str]:
    """The arguments that are fixed when an algorithm is traced, and the star behind them."""
    kinds = STATIC | ({"frame": "str"} if "base" in entry.static else {})
    given = [f"{name}: {kinds[name]}" for name in entry.static if name != "reference"]
    behind = [f"reference: {STATIC['reference']}"] if "reference" in entry.static else []
    return [*given, "*", *behind]


def signature(entry) -> Iterator[str]:
    """The lines of the head of a method of `Robot`."""
    arguments = [f"{name}: ArrayLike" for name, _ in entry.inputs] + statics(entry)
    arguments += [f"{name}: {KEYWORDS[name]}" for name in entry.keywords]
    arguments += CALL if entry.result is None else CALL[1:]
    result = "Floats" if entry.result is None else entry.result.__annotations__["return"]
    return filled(f"    def {entry.name}(", ["self", *arguments], f") -> {result}:", 8)


def docstring(entry) -> Iterator[str]:
    """The lines of a method's docstring."""
    own = entry.shape if entry.result is None else entry.shape[1:]
    shape = f"({', '.join(['...', *map(str, own)])})"
    lines = inspect.cleandoc(entry.doc).replace("{shape}", shape).split("\n")
    if len(lines) == 1:
        yield f'        """{lines[0]}"""'
        return
    yield f'        """{lines[0]}'
    yield from (f"        {line}".rstrip() for line in lines[1:])
    yield '        """'


def body(entry) -> Iterator[str]:
    """The lines of the body of a method of `Robot`."""
    arrays = ", ".join(name for name, _ in entry.inputs)
    packed = f"({arrays})" if len(entry.inputs) > 1 else f"({arrays},)"
    static = f"({', '.join(entry.static)}{',' if len(entry.static) == 1 else ''})"
    out = "out" if entry.result is None else "None"
    given = [f'"{entry.name}"', packed, static, out, "threads", "on_bad"]
    given += [f"{name}={name}" for name in entry.keywords]
    return filled("        return self._compute(", given, ")", 12)


def text() -> str:
    """The whole of robot_methods.py."""
    from linkwork.algorithms.registry import ALGORITHMS  # noqa: PLC0415  after the path is set

    entries = [entry for entry in ALGORITHMS.values() if entry.has_method]
    methods = ["\n".join([*signature(entry), *docstring(entry), *body(entry)]) for entry in entries]
    return HEAD + "\n" + "\n\n".join(methods) + "\n"


def array_method(entry) -> Iterator[str]:
    """The lines of a method on arrays of another library."""
    names = [name for name, _ in entry.inputs]
    arguments = [f"{name}: Any" for name in names] + statics(entry)
    for name in entry.keywords:
        kind = {"losses": "bool = False", "external": "Arrays = None"}.get(name, "Any = None")
        arguments.append(f"{name}: {kind}")
    arguments = ["self", *arguments, "parameters: Arrays = None"]
    yield from filled(f"    def {entry.name}(", arguments, ") -> Any:", 8)
    yield from docstring(entry)
    every = [*names, *entry.static, *entry.keywords, "parameters"]
    given = [f'"{entry.name}"', *(f"{name}={name}" for name in every)]
    yield from filled("        return self.compute(", given, ")", 12)


def arrays_text() -> str:
    """The whole of array_methods.py."""
    from linkwork.algorithms.registry import ALGORITHMS  # noqa: PLC0415  after the path is set

    methods = ["\n".join(array_method(entry)) for entry in ALGORITHMS.values()]
    return ARRAYS_HEAD + "\n" + "\n\n".join(methods) + "\n"


def main() -> int:
    """Write or check the files; the exit code."""
    parser = argparse.ArgumentParser(description="write the computing methods of Robot")
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    check, code = parser.parse_args().check, 0
    for name, wanted in (("robot_methods.py", text()), ("array_methods.py", arrays_text())):
        file = SOURCE / name
        if not check:
            file.write_text(wanted, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != wanted:
            print(f"src/linkwork/{name} is out of date: run python tools/docs/robot_methods.py")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
