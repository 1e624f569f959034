"""Every wrong kind of argument at the compiled functions, in processes of their own.

LINKWORK_FUZZ_SECONDS makes it longer; LINKWORK_TEST_SEED chooses other arguments;
LINKWORK_DEBUG_PYTHON names a debug build of this Python (by default, python3.Xd on the path).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.compile.numpy_abi import array_abi

SCRIPT = Path(__file__).parents[1] / "call_fuzz.py"
SECONDS = float(os.environ.get("LINKWORK_FUZZ_SECONDS", "3"))
SEED = int(os.environ.get("LINKWORK_TEST_SEED", "0"))


def fuzz(seconds: float, *flags: str, python: str = sys.executable, **environment: str) -> str:
    """What the fuzzing process says; it is shown with its seed where it fails."""
    where = [str(Path(lw.__file__).parents[1]), str(SCRIPT.parent)]
    where += [str(Path(np.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [python, "-X", "faulthandler", str(SCRIPT), str(seconds), str(SEED), *flags],
        capture_output=True, text=True, timeout=120 + 40 * seconds, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, where)), **environment},
    )  # fmt: skip
    print(done.stdout)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stderr[-4000:]}"
    assert done.stdout.endswith("done\n")
    return done.stdout


@pytest.mark.slow
def test_no_argument_crashes_or_misleads_the_compiled_functions():
    said = fuzz(SECONDS, PYTHONMALLOC="debug")
    assert f"HAS_ABI={array_abi() is not None}" in said


@pytest.mark.slow
def test_plain_python_stands_in():
    assert "HAS_ABI=False" in fuzz(SECONDS / 2, "general")


def test_a_debug_build_of_python_finds_nothing():
    minor = f"{sys.version_info.major}.{sys.version_info.minor}"
    named = os.environ.get("LINKWORK_DEBUG_PYTHON") or shutil.which(f"python{minor}d")
    if named is None:
        pytest.skip(f"no debug build of Python {minor} here: python{minor}d is not on the path")
    fuzz(SECONDS / 2, python=named)


class Reshaping:
    """Changes another argument's shape while it is converted itself."""

    def __init__(self, victim: np.ndarray) -> None:
        self.victim = victim

    def __array__(self, dtype=None, copy=None):
        self.victim.shape = self.victim.shape[::-1]
        return np.zeros(6)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # NumPy 2.5: of setting a shape
def test_an_array_that_changes_shape_while_another_is_converted_is_not_read_past_its_end():
    integrate = lw.load("ur5e").function("integrate")
    q = np.zeros((3, 6))
    with pytest.raises(lw.LinkworkError, match="q must have shape"):
        integrate(q, Reshaping(q))
