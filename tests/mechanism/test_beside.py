"""What locking and subchains leave of loops and couplings."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError
from linkwork.mechanism.edit import actuate, close, couple, lock, subchain, with_frame


@pytest.fixture
def panda():
    return lw.load("panda").mechanism


def test_a_new_frame_keeps_all(panda):
    m = actuate(couple(close(panda, "tool0", "link1"), "joint1", "joint7"), "joint2")
    n = with_frame(m, "pen", "tool0", np.eye(4))
    assert (n.loops, n.couplings, n.actuated) == (m.loops, m.couplings, m.actuated)


def test_locking_keeps_what_still_moves(panda):
    m = actuate(close(panda, "tool0", "link1", "xy", name="far"), ["joint1", "joint3"])
    n = lock(m, "joint3", 0.2)
    assert n.loops == m.loops and n.actuated == ("joint1",)


def test_locking_drops_a_closed_loop_and_refuses_an_open_one(panda):
    robot = lw.Robot(panda)
    q = robot.neutral() - 0.05
    apart = float(np.linalg.norm((robot.fk(q, "link5") - robot.fk(q, "link3"))[:3, 3]))
    m = close(panda, "link3", "link5", "distance", distance=apart, name="rod")
    between = ["joint4", "joint5"]
    at = {name: float(q[panda.joint(name)]) for name in between}
    assert lock(m, between, at).loops == ()
    with pytest.raises(InputError, match="loop 'rod' any more, and it is open by"):
        lock(m, between, {**at, "joint4": -2.0})


def test_locking_leaders(panda):
    m = couple(panda, "joint1", ("joint2", "joint3"), lambda a, b: a * b + 0.1)
    one = lock(m, "joint2", 0.5)
    assert one.couplings[0].leaders == ("joint3",)
    whole = lock(m, ["joint2", "joint3"], [0.5, 0.4])
    assert whole.couplings == () and "joint1" not in whole.joint_names
    q, free = np.zeros(4), lw.Robot(panda)
    expected = free.fk([0.3, 0.5, 0.4, *q], "tool0")
    np.testing.assert_allclose(lw.Robot(whole).fk(q, "tool0"), expected, atol=1e-12)
    assert lock(m, ["joint1", "joint2", "joint3"], [0.3, 0.5, 0.4]).couplings == ()
    with pytest.raises(InputError, match=r"puts it at 0\.3; it cannot be locked at 0\.7"):
        lock(m, ["joint1", "joint2", "joint3"], [0.7, 0.5, 0.4])
    with pytest.raises(InputError, match="cannot be locked by itself; lock 'joint2', 'joint3'"):
        lock(m, "joint1", 0.2)


def test_a_subchain_keeps_what_lies_in_it(panda):
    m = close(close(panda, "link3", "link6", name="in"), "link1", "link4", name="out")
    m = couple(couple(m, "joint4", "joint5"), "joint4", "joint1")
    m = actuate(m, ["joint5", "joint1"])
    n = subchain(m, "link3", "tool0")
    assert [loop.name for loop in n.loops] == ["in"]
    assert [c.leaders for c in n.couplings] == [("joint5",)]
    assert n.actuated == ("joint5",)
    back = subchain(m, "tool0", "link3")
    assert [loop.name for loop in back.loops] == ["in"]
