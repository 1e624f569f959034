"""What the commands take agrees with the library and is explained."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import linkwork as lw
from fresh_python import python
from linkwork.cli import arguments
from linkwork.cli.app import COMMANDS
from linkwork.simulation.inputs import Options
from linkwork.solve.tasks import TOLERANCES


def info_of(kind: type[Any]) -> dict[str, Any]:
    """The info of each argument, by its name."""
    return {each.name: each.metadata["info"] for each in dataclasses.fields(kind)}


def test_ik_leaves_the_defaults_to_the_library_and_says_them():
    # Numbers of ours would take the place of those of the tasks.
    given = arguments.IkArguments(source="panda")
    options, robot = lw.ik.Options(), lw.load("panda")
    plain = robot.solver().problem
    lower = robot.solver(tasks=[lw.ik.Pose("tool0"), lw.ik.Posture(priority=1)]).problem
    said = {
        "position_tolerance": f"default: {TOLERANCES['m']:g}.",
        "rotation_tolerance": f"default: {TOLERANCES['rad']:g}.",
        "steps": f"default: {options.steps_for(plain)}, with lower priorities "
        f"{options.steps_for(lower)}.",
        "tries": f"default: {options.tries_for(plain)}, with lower priorities "
        f"{options.tries_for(lower)}.",
    }
    infos = info_of(arguments.IkArguments)
    for name, words in said.items():
        assert getattr(given, name) is None
        assert words in infos[name].help
    assert given.seed == options.seed


def test_defaults_of_a_simulation_are_those_of_the_library():
    given, known = arguments.SimulateArguments(source="ur5e"), Options(duration=1.0)
    for name in ("duration", "method", "dt", "tolerance", "record", "losses"):
        assert getattr(given, name) == getattr(known, name), name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_in_the_help_with_a_sentence(cli: Callable[..., Any], name: str):
    text = " ".join(cli(name, "--help", env={"COLUMNS": "250"}).stdout.split())
    for info in info_of(COMMANDS[name]).values():
        assert info.help.endswith(".") and info.help in text
        for option in info.names:
            assert option.split("/")[0] in text
    assert "None" not in text
    assert all(line.startswith(f"linkwork {name}") for line in COMMANDS[name].examples)


def test_the_common_options_are_the_same_everywhere():
    common = {field.name for field in dataclasses.fields(arguments.RobotArguments)}
    assert common == {"source", "lock", "base_frame", "floating", "deg"}
    for name in ("info", "fk", "jacobian", "ik", "assemble", "simulate"):
        assert issubclass(COMMANDS[name], arguments.RobotArguments)


def test_the_arguments_load_neither_numpy_nor_a_compiler():
    code = (
        "import sys; import linkwork.cli.arguments; "
        "assert not {'numpy', 'casadi', 'llvmlite', 'yaml'} & set(sys.modules)"
    )
    python(code)
