"""Imports point downward, and what only one module may do is done by that module alone."""

from __future__ import annotations

import ast
import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"

# A module may import what has a smaller number, and its own package. The numbers follow the
# layers of the design; spatial stands above ops because its functions are written in them.
RANK = {
    "legible": -2,
    "terminal_text": -1.5,
    "errors": -1,
    "conventions": -1,
    "checks": -0.5,
    "atomic": -0.5,
    "extras": -0.5,
    "json_values": -0.5,
    "npz": -0.4,
    "renamed": -0.5,
    "ops": 0,
    "spatial": 0.5,
    "formats": 1,
    "geometry": 1,
    "models": 1,
    "mechanism": 2,
    "algorithms": 3,
    "compile": 4,
    "collision": 4.5,
    "planning": 5.5,
    "solve": 5,
    "simulation": 6,
    # Lower layers are given clock, cores and environment as values.
    "settings": 6.5,
    "programs": 6.9,
    "terminal": 7,
    "compile_line": 7,
    "robot": 7,
    "loading": 7,
    "poses": 7,
    "locating": 6.6,
    "appearance": 7,
    "array_methods": 6.95,
    "robot_methods": 7,
    "robot_ik": 7,
    "robot_view": 7,
    "robot_collision": 7,
    "robot_planning": 7,
    "simulating": 7,
    "robot_structure": 7,
    "ik": 7,
    "saving": 7,
    "urdf": 7,
    "compiled_methods": 7,
    "jax": 7,
    "torch": 7,
    "scene": 7.2,
    "trajectory": 7.5,
    "view": 8,
    "plots": 8.2,
    "faces": 9,
    "cli": 9.5,
    "__main__": 9.8,
}
# robot, loading and their neighbours are one layer whose modules may import each other.
NEIGHBOURS = {
    *("robot", "robot_methods", "simulating", "loading", "appearance", "robot_ik"),
    *(
        "robot_structure",
        "robot_view",
        "robot_collision",
        "robot_planning",
        "saving",
        "urdf",
        "compiled_methods",
        "jax",
        "torch",
    ),
}
# Upward imports inside a function, each with what it is for: (file, package imported).
UPWARD_IN_A_FUNCTION: dict[tuple[str, str], str] = {
    ("linkwork/settings.py", "compile_line"): "the compiler's listener, who speaks to people",
    ("linkwork/robot_view.py", "view"): "what people see of a robot",
    ("linkwork/solve/result.py", "terminal"): "a result that is printed for people",
    ("linkwork/solve/result.py", "view"): "what a notebook shows of a result",
    ("linkwork/simulation/result.py", "view"): "what a notebook shows of a run",
    ("linkwork/trajectory/piecewise.py", "view"): "what a notebook shows of a motion",
    ("linkwork/simulation/result.py", "robot"): "the robot that a simulation shows",
}

# Clock, cores and environment are read in settings.py alone.
READS = {
    "os": {
        *("environ", "getenv", "cpu_count", "process_cpu_count", "sched_getaffinity"),
        *("getloadavg", "times"),
    },
    "multiprocessing": {"cpu_count"},
    "datetime": {"datetime", "date"},
}


@cache
def modules() -> list[tuple[Path, list[ast.AST]]]:
    """Every file of the package, and all nodes of its text."""
    paths = sorted((SOURCE / "linkwork").rglob("*.py"))
    gc.disable()  # it takes more time than the rest, and there is nothing to collect
    try:
        return [
            (path.relative_to(SOURCE), nodes(path.read_text(encoding="utf-8"))) for path in paths
        ]
    finally:
        gc.enable()


def nodes(text: str) -> list[ast.AST]:
    """The imports and names of a text."""
    kept = (ast.Import, ast.ImportFrom, ast.Attribute, ast.Name)
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, kept)]


def package_of(path: Path) -> str:
    """The layer's name of a file: linkwork/ops/numpy.py is ops, linkwork/robot.py is robot."""
    return path.parts[1].removesuffix(".py")


def imported(path: Path, tree: list[ast.AST]) -> Iterator[tuple[ast.stmt, str]]:
    """Every import of a module of this package, absolute: the statement and the dotted name."""
    for node in tree:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "linkwork":
                    yield node, alias.name
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                parts = list(path.with_suffix("").parts[: -node.level])
                base = ".".join([*parts, *(node.module or "").split(".")]).strip(".")
            else:
                base = node.module or ""
            if base == "linkwork":  # from linkwork import robot
                yield from ((node, f"linkwork.{alias.name}") for alias in node.names)
            elif base.startswith("linkwork."):
                yield node, base


def violations(path: Path, tree: list[ast.AST]) -> list[str]:
    """The imports of one file that do not point downward."""
    here, found = package_of(path), []
    if here == "__init__":
        return []  # the public list, above everything
    rank = RANK.get(here, 0)
    for node, name in imported(path, tree):
        there = name.split(".")[1] if "." in name else "__init__"
        place = f"{path}:{node.lineno}: {here} imports {name}"
        if there not in RANK and there != "__init__":
            # `from linkwork import load` names a function, which comes from the public list.
            there = "__init__"
        if there == here or {here, there} <= NEIGHBOURS:
            continue
        in_a_function = node.col_offset > 0
        if in_a_function and (path.as_posix(), there) in UPWARD_IN_A_FUNCTION:
            continue
        if there == "__init__":
            if rank < RANK["view"]:
                found.append(f"{place}: only view, cli and faces use the public list")
        elif RANK[there] >= rank:
            found.append(f"{place}: layer {rank:g} may not import layer {RANK[there]:g}")
    return found


def test_every_module_has_a_layer():
    unknown = {package_of(path) for path, _ in modules()} - {"__init__", *RANK}
    assert not unknown, f"give these a layer in RANK: {sorted(unknown)}"


def test_imports_point_downward():
    found = [line for path, tree in modules() for line in violations(path, tree)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("linkwork/ops/numpy.py", "from linkwork.spatial import so3"),
        ("linkwork/ops/numpy.py", "from ..spatial.so3 import exp"),
        ("linkwork/spatial/so3.py", "import linkwork.mechanism.model"),
        ("linkwork/formats/urdf/read.py", "from linkwork.geometry import meshes"),
        ("linkwork/formats/urdf/read.py", "def f():\n    import linkwork.robot"),
        ("linkwork/compile/kernel.py", "from linkwork import settings"),
        ("linkwork/solve/ik.py", "import linkwork as lw"),
        ("linkwork/errors.py", "from linkwork.conventions import X"),
        ("linkwork/robot.py", "from linkwork.cli import app"),
    ],
)
def test_the_check_sees_an_upward_import(file: str, text: str):
    assert violations(Path(file), nodes(text))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("linkwork/ops/numpy.py", "from linkwork.ops.protocol import Ops"),
        ("linkwork/ops/numpy.py", "from .protocol import Ops"),
        ("linkwork/spatial/so3.py", "from linkwork.ops import NUMPY"),
        ("linkwork/robot.py", "from linkwork import settings"),
        ("linkwork/cli/app.py", "import linkwork as lw"),
        ("linkwork/compile/trace.py", "import numpy as np, casadi"),
    ],
)
def test_the_check_lets_a_downward_import_pass(file: str, text: str):
    assert not violations(Path(file), nodes(text))


CASADI = {"linkwork/compile/symbolic.py", "linkwork/faces/trip_kinematics/values.py"}


def test_casadi_is_for_functions_of_it_and_for_programs_of_trip_alone():
    importing: set[str] = set()
    asking: set[str] = set()
    for path, tree in modules():
        for node in tree:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            from_ = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if "casadi" in {name.split(".")[0] for name in [*names, *from_]}:
                importing.add(path.as_posix())
            if isinstance(node, ast.Attribute) and ast.unparse(node) == "extras.casadi":
                asking.add(path.as_posix())
    assert importing == {"linkwork/extras.py"}
    assert asking == CASADI


def reads(path: Path, tree: list[ast.AST]) -> list[str]:
    """Where a file reads the clock, the number of cores or the environment."""
    found = []
    for node in tree:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            bad = "time" in names
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            bad = node.module == "time" or bool(READS.get(node.module or "", set()) & set(names))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            bad = node.attr in READS.get(node.value.id, set())
        else:
            continue
        if bad:
            found.append(f"{path}:{node.lineno}: {ast.unparse(node)}")
    return found


def test_settings_alone_reads_clock_cores_and_environment():
    found = [
        line
        for path, tree in modules()
        if path.as_posix() != "linkwork/settings.py"
        for line in reads(path, tree)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "import time",
        "from time import perf_counter",
        "import os\nos.environ.get('HOME')",
        "from os import environ",
        "import os\nos.cpu_count()",
        "import os\nlen(os.sched_getaffinity(0))",
        "from datetime import datetime",
    ],
)
def test_the_check_sees_a_read(text: str):
    assert reads(Path("x.py"), nodes(text))


def test_nothing_below_robot_prints():
    found = [
        f"{path}:{node.lineno}"
        for path, tree in modules()
        if RANK.get(package_of(path), 10) < RANK["robot"]
        for node in tree
        if (isinstance(node, ast.Name) and node.id == "print")
        or (
            isinstance(node, ast.Attribute)
            and node.attr in ("stdout", "stderr")
            and ast.unparse(node.value) == "sys"
        )
    ]
    assert not found, "\n".join(found)


def run_python(code: str, cache: Path) -> str:
    """What a new process prints, with byte code kept in a folder of ours."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(cache)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_linkwork_is_quick(tmp_path: Path):
    # Processor time, so that other work on the machine does not count; the first run writes the
    # byte code, and the best of the others is the one that was disturbed least.
    code = (
        "import numpy, time; start = time.process_time(); import linkwork; "
        "print(time.process_time() - start)"
    )
    seconds = [float(run_python(code, tmp_path)) for _ in range(5)]
    assert min(seconds[1:]) < 0.2, seconds
