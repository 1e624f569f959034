from __future__ import annotations

from typing import Any

import pytest

from kdl_small import arm, array
from linkwork.faces import pykdl
from linkwork.faces.pykdl import Chain, Jacobian, SolverI


@pytest.mark.row("S3-120")
def test_codes_in_words():
    solver = SolverI(arm())
    assert solver.getError() == 0
    assert solver.strError(0) == "No error"
    assert solver.strError(-4) == "The size of the input does not match the internal state"
    assert solver.strError(-5) == "The maximum number of iterations is exceeded"
    assert solver.strError(77) == "UNKNOWN ERROR"
    singular = pykdl.ChainIkSolverVel_pinv(arm()).strError(100)
    assert singular.endswith("is singular.")


@pytest.mark.row("S3-120")
def test_a_chain_that_has_grown():
    chain = arm()
    solver = pykdl.ChainJntToJacSolver(chain)
    chain.addChain(arm())
    q, J = array(0, 0, 0, 0), Jacobian(4)
    assert solver.JntToJac(q, J) == solver.getError() == -3
    solver.updateInternalDataStructures()
    assert solver.JntToJac(q, J) == solver.getError() == 0


def test_the_words_are_those_of_pykdl():
    kdl: Any = pytest.importorskip("PyKDL", reason="PyKDL (python3-pykdl) is not installed")
    names = [
        "ChainFkSolverPos_recursive", "ChainJntToJacDotSolver", "ChainIkSolverVel_pinv",
        "ChainIkSolverVel_wdls", "ChainIkSolverPos_LMA",
    ]  # fmt: skip
    for name in names:
        ours, theirs = getattr(pykdl, name)(arm()), getattr(kdl, name)(kdl.Chain())
        for code in range(-110, 110):
            assert ours.strError(code) == theirs.strError(code), (name, code)


@pytest.mark.parametrize("chain", [3, None, [Chain()]])
def test_a_solver_is_of_a_chain(chain: Any):
    with pytest.raises(TypeError, match="takes a Chain first"):
        SolverI(chain)
