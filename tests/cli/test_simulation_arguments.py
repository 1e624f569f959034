"""What `linkwork simulate` takes: its examples run, and its help loads no NumPy."""

from __future__ import annotations

import subprocess
import sys

from linkwork.cli.simulation_arguments import SimulateArguments
from linkwork.simulation.inputs import Options


def test_defaults_are_those_of_the_library():
    given, known = SimulateArguments(source="ur5e"), Options(duration=1.0)
    for name in ("duration", "method", "dt", "tolerance", "record", "losses"):
        assert getattr(given, name) == getattr(known, name), name


def test_the_arguments_load_neither_numpy_nor_a_compiler():
    code = (
        "import sys; import linkwork.cli.simulation_arguments; "
        "assert not {'numpy', 'casadi', 'llvmlite'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_examples_name_the_command():
    assert all(text.startswith("linkwork simulate ") for text in SimulateArguments.examples)
