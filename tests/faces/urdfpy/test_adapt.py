"""Positions as programs give them, to configurations of the core and to motions."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.faces.urdfpy import Joint, JointLimit, JointMimic
from linkwork.faces.urdfpy.adapt import Follower, Slot, Slots, is_valid, motion, position, positions
from linkwork.faces.urdfpy.values import ForeignError, WrongTypeError
from robots import about, origin
from seeds import rng


def joint(name: str, kind: str = "continuous", **options) -> Joint:
    return Joint(name, kind, "a", f"to {name}", axis=[0, 0, 1], **options)


def slots() -> tuple[Slots, dict[str, Joint]]:
    """Joints of every kind, a chain of two followers and a fixed joint."""
    made = {
        "turn": joint("turn"),
        "plane": joint("plane", "planar"),
        "free": joint("free", "floating"),
        "slide": joint("slide", "prismatic", limit=JointLimit(1, 1)),
        "second": joint("second", mimic=JointMimic("first", -2.0, 0.25)),
        "first": joint("first", mimic=JointMimic("turn", 3.0, 0.5)),
        "held": joint("held", "fixed"),
    }
    actuated = [made[name] for name in ("turn", "plane", "free", "slide")]
    return Slots(actuated, [made[name] for name in ("second", "first", "held")]), made


def test_where_everything_stands():
    table, of = slots()
    assert (table.n_q, table.single) == (1 + 3 + 7 + 1, False)
    assert table.place("turn") == table.place(of["turn"]) == 0
    assert table.place("plane") == Slot(1, of["plane"])
    assert table.place("free") == Slot(4, of["free"])
    assert table.place("slide") == 11
    assert table.place("held") is table.place(of["held"]) is None
    # second = -2 first + 0.25 and first = 3 turn + 0.5
    assert table.place("second") == Follower(0, -6.0, -0.75, "second", "turn")
    with pytest.raises(UnknownNameError, match="turn"):
        table.place("turm")
    with pytest.raises(ForeignError, match=r"no joint of this robot; .*joint_map\['turn'\]"):
        table.place(joint("turn"))  # another robot's
    for wrong in (3, None, [1]):
        with pytest.raises(WrongTypeError):
            table.place(wrong)


def test_at_rest_everything_is_zero_and_quaternions_are_one():
    table, _ = slots()
    q = table.configuration(None)
    assert q.tolist() == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
    assert table.configuration({}).tolist() == q.tolist()
    with pytest.raises(ValueError, match="read-only"):
        q[0] = 1.0


def test_every_form_of_a_configuration():
    table, of = slots()
    T = origin([4, 5, 6], [0.3, -0.2, 0.1])
    by_name = {"turn": 0.1, "plane": [1, 2], "free": [4, 5, 6, 0.3, -0.2, 0.1], "slide": 0.2}
    q = table.configuration(by_name)
    assert q[:7].tolist() == [0.1, 1, 2, 0, 4, 5, 6]
    assert q[11] == 0.2
    w, x, y, z = q[7:11]
    assert np.isclose(w * w + x * x + y * y + z * z, 1.0)
    turned = [2 * (w * z + x * y), 1 - 2 * (y * y + z * z)]
    assert np.allclose(turned, [T[1, 0], T[0, 0]])
    same = [
        {of[name]: value for name, value in by_name.items()},
        list(by_name.values()),
        {**by_name, "free": T},
        {**by_name, "turn": np.array([0.1]), "held": 7, "first": 0.8, "second": -1.35},
    ]
    for form in same:
        assert np.allclose(table.configuration(form), q, atol=1e-15)
    for wrong, error in (
        ([1, 2, 3], ShapeError),
        ({"plane": [1, 2, 3]}, ShapeError),
        ({"plane": 1.0}, ShapeError),
        ({"free": [1, 2]}, ShapeError),
        ({"free": 1.0}, WrongTypeError),
        ({"turn": [1, 2]}, ShapeError),
        ({"turn": None}, InputError),
        (7, WrongTypeError),
        ("turn", WrongTypeError),
    ):
        with pytest.raises(error):
            table.configuration(wrong)


def test_a_leader_decides():
    table, _ = slots()
    with pytest.warns(UserWarning, match="'first' .follows 'turn'."):
        assert not table.configuration({"first": 0.9})[:7].any()  # at 0 it is put at 0.5
    with pytest.warns(UserWarning, match="'first' .follows 'turn'."):
        assert not table.batch({"turn": [0.0, 0.0], "first": [0.5, 0.6]})[:, :7].any()
    for wrong in ({"first": np.nan}, {"first": "x"}):
        with pytest.raises(InputError):
            table.configuration(wrong)


def test_a_batch_by_rows_and_by_columns():
    table, _ = slots()
    random = rng("columns")
    rows = [
        {"turn": random.normal(), "plane": random.normal(size=2), "free": random.normal(size=6)}
        for _ in range(4)
    ]
    expected = np.array([table.configuration(row) for row in rows])
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    assert np.array_equal(table.batch(rows), expected)
    assert np.array_equal(table.batch(columns), expected)
    one_for_all = table.batch({"turn": [1, 2, 3], "slide": 0.5})
    assert one_for_all[:, 0].tolist() == [1, 2, 3]
    assert one_for_all[:, 11].tolist() == [0.5] * 3
    assert table.batch({"turn": [[1], [2]]})[:, 0].tolist() == [1, 2]
    assert table.batch([]).shape == (0, 12)
    assert table.batch({}).shape == table.batch(None).shape == (1, 12)
    for wrong, error in (
        ({"turn": [1, 2], "slide": [1, 2, 3]}, ShapeError),
        ({"turn": np.zeros((2, 2))}, ShapeError),
        ({"plane": 1.0}, WrongTypeError),
        (7, WrongTypeError),
    ):
        with pytest.raises(error):
            table.batch(wrong)


def test_rows_of_another_length():
    table = Slots([joint("one"), joint("two")], [])
    for wrong in (np.zeros(4), np.zeros((4, 3)), [[1, 2, 3]], np.zeros((2, 2, 2))):
        said = rf"\(n, 2\), for 2 actuated joints, not \({len(wrong)},"
        with pytest.raises(ShapeError, match=said):
            table.batch(wrong)
    with pytest.raises(InputError, match="must be numbers"):
        table.batch([[1, 2], [3]])


def test_a_vector_has_one_number_for_each_joint():
    one, two = joint("one"), joint("two", "prismatic", limit=JointLimit(1, 1))
    table = Slots([one, two], [])
    assert table.vector({two: 3}).tolist() == [0, 3]
    own = table.vector(None)
    own[0] = 1.0  # the caller's
    assert table.vector(None).tolist() == [0, 0]
    with pytest.raises(InputError, match="'plane'"):
        slots()[0].vector(None)


def test_a_follower_of_what_has_no_single_position():
    plane = joint("plane", "planar")
    with pytest.raises(InputError, match="'late' follows 'plane'"):
        Slots([plane], [joint("late", mimic=JointMimic("plane"))])


@pytest.mark.row("S2-154", "S2-155", "S2-156", "S2-157", "S2-158")
def test_what_a_joint_does_to_its_child():
    shift = np.eye(4)
    shift[2, 3] = 0.7
    assert np.array_equal(motion(joint("j", "prismatic", limit=JointLimit(1, 1)), 0.7), shift)
    for kind in ("revolute", "continuous"):
        turned = motion(joint("j", kind, limit=JointLimit(1, 1)), 0.7)
        assert np.abs(turned[:3, :3] - about([0, 0, 1], 0.7)).max() < 1e-15
        assert np.array_equal(turned[:, 3], [0, 0, 0, 1])
    assert motion(joint("j", "planar"), (1, 2))[:3, 3].tolist() == [1, 2, 0]
    T = origin([1, 2, 3], [0.1, 0.2, 0.3])
    given = motion(joint("j", "floating"), T)
    assert np.array_equal(given, T)
    assert given is not T
    assert np.abs(motion(joint("j", "floating"), [1, 2, 3, 0.1, 0.2, 0.3]) - T).max() < 1e-15


@pytest.mark.row("S2-159")
def test_valid_positions_lie_within_the_limits():
    made = joint("j", "revolute", limit=JointLimit(1, 1, lower=-1, upper=None))
    assert [is_valid(made, x) for x in (-2, -1, 99, [0], [0, 0], "x", None)] == [
        False, True, True, True, False, False, False,
    ]  # fmt: skip
    assert is_valid(joint("j", "fixed"), "anything")


def test_one_number_and_several():
    assert position("j", np.array([[2]])) == 2.0
    with pytest.raises(ShapeError, match="'j'"):
        position("j", [])
    assert positions(joint("j", "planar"), [1, 2]).tolist() == [1, 2, 0]
    assert positions(joint("j", "floating"), np.eye(4)).tolist() == [0, 0, 0, 1, 0, 0, 0]
