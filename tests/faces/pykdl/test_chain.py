from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from kdl_small import arm
from linkwork.faces.pykdl import Chain, RigidBodyInertia


@pytest.mark.row("S3-113")
def test_segments_and_joints_are_counted():
    chain = arm(fixed=True)
    assert (chain.getNrOfJoints(), chain.getNrOfSegments()) == (2, 3)
    assert chain.getSegment(2).getName() == "tool"
    chain.addChain(arm())
    assert (chain.getNrOfJoints(), chain.getNrOfSegments()) == (4, 5)
    assert repr(Chain()) == "[]"
    assert repr(chain).startswith("[upper:[upper joint:[RotZ, axis: [")


@pytest.mark.row("S3-113")
def test_a_chain_has_its_own_segments():
    chain = arm()
    other = Chain(chain)
    chain.getSegment(0).setInertia(RigidBodyInertia(99.0))
    assert chain.getSegment(0).getInertia().getMass() == 2.0
    other.addChain(chain)
    assert chain.getNrOfSegments() == 2
    chain.addChain(chain)
    assert chain.getNrOfSegments() == 4


def test_copies_share_what_computes_until_one_grows():
    chain = arm()
    core = chain.core
    other = copy.deepcopy(chain)
    assert other.core is core
    other.addChain(chain)
    assert other.core is not core
    assert repr(pickle.loads(pickle.dumps(chain))) == repr(chain)


@pytest.mark.parametrize(
    "call",
    [lambda: Chain(3), lambda: Chain().addSegment(3), lambda: Chain().addChain(3)],
)
def test_wrong_arguments(call: Any):
    with pytest.raises(TypeError, match="takes"):
        call()


@pytest.mark.parametrize("k", [2, -1])
def test_no_such_segment(k: int):
    with pytest.raises(IndexError, match="0 to 1"):
        arm().getSegment(k)
