"""Rows S0-060 to S0-099 and S0-200 to S0-210: frames, alone and hanging on each other."""

from __future__ import annotations

import copy
import itertools
import pickle
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from linkwork import poses
from linkwork.errors import InputError, LinkworkError, UnsupportedFeatureError
from linkwork.faces.skrobot.coordinates import (
    CascadedCoords,
    Coordinates,
    Transform,
    make_cascoords,
    make_coords,
)
from linkwork.faces.skrobot.coordinates import base as frames
from linkwork.faces.skrobot.coordinates.math import rotation_matrix, rpy_matrix
from seeds import random_pose, rng

pi = np.pi
Floats = NDArray[np.float64]


def assert_close(a: Any, b: Any, *, rtol: float = 1e-9, atol: float = 1e-12) -> None:
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


def family() -> tuple[Coordinates, CascadedCoords, CascadedCoords, Coordinates]:
    """A plain frame, a parent, its child, and another plain frame."""
    plain = make_coords(pos=[1, 2, 3]).rotate(0.5, "y")
    parent = make_cascoords(pos=[1, 0, 0], name="parent").rotate(0.3, "z")
    child = make_cascoords(parent=parent, pos=[1, 1, 0], name="child").rotate(0.4, "x")
    return plain, parent, child, make_coords(pos=[0, 0, 1]).rotate(0.7, "x")


def local(R: Floats, p: Any) -> Floats:
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = R, p
    return made


def same(a: Coordinates | Floats, b: Coordinates | Floats, atol: float = 1e-12) -> None:
    first, second = (x.worldcoords().T() if isinstance(x, Coordinates) else x for x in (a, b))
    assert_close(first, second, atol=atol)


# --- making -------------------------------------------------------------------------------------


@pytest.mark.row("S0-060")
@pytest.mark.parametrize("make", [make_coords, Coordinates, make_cascoords])
@pytest.mark.parametrize(
    ("options", "R"),
    [
        ({}, np.eye(3)),
        ({"rot": rotation_matrix(0.3, "x")}, rotation_matrix(0.3, "x")),
        ({"rot": rotation_matrix(0.3, "x").tolist()}, rotation_matrix(0.3, "x")),
        ({"rot": [0.1, 0.2, 0.3]}, rpy_matrix(0.1, 0.2, 0.3)),
        ({"rot": (0.8, 0.6, 0, 0)}, rotation_matrix(2 * np.arctan2(0.6, 0.8), "x")),
        (
            {"rot": [0.6, 0, 0, 0.8], "input_quaternion_order": "xyzw"},
            rotation_matrix(2 * np.arctan2(0.6, 0.8), "x"),
        ),
    ],
)
def test_s0_060_a_frame_of_position_and_rotation(
    make: Callable[..., Coordinates], options: dict[str, Any], R: Floats
):
    for pos in ([1, 2, 3], (1, 2, 3), np.array([1, 2, 3]), [[1], [2], [3]]):
        frame = make(pos=pos, name="a", **options)
        assert_close(frame.T(), local(R, [1, 2, 3]), atol=1e-15)
        assert frame.T().dtype == np.float64
        assert frame.name == "a"
    assert_close(make(**options).T(), local(R, np.zeros(3)), atol=1e-15)
    T = local(rotation_matrix(0.2, "z"), [4, 5, 6])
    assert_array_equal(make(pos=T).T(), T)
    assert_array_equal(make(pos=T.tolist(), rot=[1, 2, 3]).T(), T)


@pytest.mark.row("S0-060")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pos": [1, 2]}, "shape"),
        ({"pos": "abc"}, "real numbers"),
        ({"pos": [1, np.nan, 0]}, "finite"),
        ({"pos": [1, 2, 3, 4]}, "shape"),
        ({"rot": np.eye(3) * 2}, "Illegal rotation"),
        ({"rot": -np.eye(3)}, "Illegal rotation"),
        ({"rot": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "Illegal rotation"),
        ({"rot": np.full((3, 3), np.nan)}, "Illegal rotation"),
        ({"rot": np.eye(4)}, "3x3"),
        ({"rot": [1, 2]}, "3x3"),
        ({"rot": [1, 1, 0, 0]}, "norm 1"),
        ({"rot": [1.002, 0, 0, 0]}, "norm 1"),
        ({"rot": [1, 0, 0, 0], "input_quaternion_order": "zyx"}, "order"),
    ],
)
def test_s0_060_what_is_no_frame(options: dict[str, Any], said: str):
    for make in (make_coords, make_cascoords):
        with pytest.raises(ValueError, match=said):
            make(**options)


@pytest.mark.row("S0-060")
def test_s0_060_nearly_rotations_are_made_exact():
    R = rpy_matrix(0.3, 0.4, 0.5)
    made = make_coords(rot=R.astype(np.float32)).rotation
    assert_close(made, R, atol=1e-6)
    assert_close(made.T @ made, np.eye(3), atol=1e-14)
    rounded = make_coords(rot=np.round(R, 3)).rotation  # as people type them
    assert_close(rounded, R, atol=2e-3)
    assert_close(rounded.T @ rounded, np.eye(3), atol=1e-14)
    with pytest.raises(ValueError, match="Illegal"):
        make_coords(rot=R + 1e-2)
    assert_array_equal(make_coords(rot=2 * R, check_validity=False).rotation, 2 * R)
    assert_close(make_coords(rot=[1.0005, 0, 0, 0]).rotation, np.eye(3), atol=1e-15)


@pytest.mark.row("S0-061")
def test_s0_061_matrix_relative_to_the_parent():
    _, parent, child, _ = family()
    assert_close(child.T(), local(rotation_matrix(0.4, "x"), [1, 1, 0]), atol=1e-15)
    assert_close(parent.T() @ child.T(), child.worldcoords().T(), atol=1e-15)
    child.T()[:] = 0
    assert child.T()[3, 3] == 1


@pytest.mark.row("S0-062")
def test_s0_062_rotation_and_translation_are_read_and_set():
    plain, parent, child, _ = family()
    for frame in (plain, child):
        for rotation in (rpy_matrix(0.1, 0.2, 0.3), [0.1, 0.2, 0.3]):
            frame.rotation = rotation
            assert_close(frame.rotation, rpy_matrix(0.1, 0.2, 0.3), atol=1e-15)
            frame.rotation_matrix = [1, 0, 0, 0]
            assert_array_equal(frame.rotation_matrix, np.eye(3))
        frame.translation = [3, 4, 5]
        assert_array_equal(frame.translation_vector, [3, 4, 5])
        frame.translation_vector = (1, 1, 1)
        assert_array_equal(frame.translation, [1, 1, 1])
        before = frame.T()
        for wrong in ([1, 2], np.eye(4), [np.inf, 0, 0]):
            with pytest.raises(ValueError):
                frame.translation = wrong
        for wrong in (np.eye(4), 2 * np.eye(3), [2, 0, 0, 0]):
            with pytest.raises(ValueError):
                frame.rotation = wrong
        assert_array_equal(frame.T(), before)
    # what hangs on the frame follows
    parent.translation = [9, 9, 9]
    parent.rotation = np.eye(3)
    assert_close(child.worldpos(), [10, 10, 10])


@pytest.mark.row("S0-063", "S0-210")
def test_s0_063_quaternions_as_documented():
    frame = make_coords()
    assert_array_equal(frame.quaternion_wxyz, [1, 0, 0, 0])
    frame.rotate(pi / 3, "y").rotate(pi / 5, "z")
    wxyz = [0.8236391, 0.1545085, 0.47552826, 0.26761657]
    assert_close(frame.quaternion, wxyz, atol=1e-8)
    assert_close(frame.quaternion_wxyz, wxyz, atol=1e-8)
    assert_close(frame.quaternion_xyzw, [*wxyz[1:], wxyz[0]], atol=1e-8)
    child = make_cascoords(parent=make_cascoords().rotate(1, "x")).rotate(0.4, "z")
    assert_close(child.quaternion, [np.cos(0.2), 0, 0, np.sin(0.2)])


@pytest.mark.row("S0-064")
def test_s0_064_axes_are_columns_of_the_local_rotation():
    for frame in family():
        axes = np.stack([frame.x_axis, frame.y_axis, frame.z_axis], axis=1)
        assert_array_equal(axes, frame.rotation)
        assert axes.dtype == np.float64


@pytest.mark.row("S0-065")
def test_s0_065_dimension():
    assert make_coords().dimension == make_cascoords().dimension == 3


@pytest.mark.row("S0-066")
def test_s0_066_names_parents_and_descendants():
    _, parent, child, plain = family()
    child.name = "other"
    assert child.name == "other"
    assert make_coords().name == ""
    with pytest.raises(TypeError, match="string"):
        child.name = 3  # pyright: ignore
    assert child.parent is parent
    assert parent.descendants == [child]
    parent.descendants.clear()  # a list of its own
    assert parent.descendants == [child]
    for wrong in (3, "parent", np.eye(4)):
        with pytest.raises(ValueError, match="parent"):
            child.parent = wrong  # pyright: ignore
        with pytest.raises(ValueError, match="parent"):
            make_cascoords(parent=wrong)
    T = child.T()
    other = make_cascoords(pos=[0, 0, 7])
    child.parent = other
    assert (parent.descendants, other.descendants) == ([], [child])
    assert_array_equal(child.T(), T)
    assert_close(child.worldpos(), [1, 1, 7])
    child.parent = None
    assert other.descendants == []
    assert_array_equal(child.worldcoords().T(), T)
    child.parent = plain  # a plain frame may have children too, and they follow it
    plain.newcoords(np.eye(3), [0, 0, 5])
    assert_close(child.worldpos(), [1, 1, 5])
    assert "other" in repr(child)


@pytest.mark.row("S0-067")
def test_s0_067_world_poses_follow_and_are_copies():
    _, parent, child, _ = family()
    for _ in range(2):
        W = parent.T() @ child.T()
        assert_close(child.worldpos(), W[:3, 3])
        assert_close(child.worldrot(), W[:3, :3])
        assert_close(child.worldcoords().T(), W)
        child.worldpos()[:] = 9
        child.worldrot()[:] = 9
        child.worldcoords().translate([1, 0, 0])
        assert_close(child.worldcoords().T(), W)
        parent.translate([1, 2, 3]).rotate(1, "y")
    plain = make_coords()
    assert plain.worldcoords() is plain


@pytest.mark.row("S0-068")
def test_s0_068_world_quaternions():
    frame = make_coords(pos=[1, 2, 3])
    for (p, q), expected in (
        (frame.world_position_quaternion_wxyz(), [1, 0, 0, 0]),
        (frame.world_position_quaternion_xyzw(), [0, 0, 0, 1]),
    ):
        assert_array_equal(p, [1, 2, 3])
        assert_array_equal(q, expected)
    _, parent, child, _ = family()
    turned = make_coords(rot=parent.rotation @ child.rotation)
    assert_close(child.world_quaternion_wxyz(), turned.quaternion_wxyz)
    assert_close(child.world_quaternion_xyzw(), turned.quaternion_xyzw)
    assert_close(child.world_position_quaternion_wxyz()[0], child.worldpos())


@pytest.mark.row("S0-069")
@pytest.mark.parametrize("method", ["coords", "copy", "copy_coords", "copy_worldcoords"])
def test_s0_069_copies_are_plain_and_in_the_world(method: str):
    _, _, child, plain = family()
    for frame in (child, plain):
        W = frame.worldcoords().T()
        made = getattr(frame, method)()
        assert type(made) is Coordinates
        assert (made.name, made.parent) == ("", None)
        assert_close(made.T(), W)
        made.translate([1, 0, 0]).rotate(1, "x")
        assert_close(frame.worldcoords().T(), W)


@pytest.mark.row("S0-069")
def test_s0_069_deep_copies_keep_the_tree():
    _, parent, child, _ = family()
    W = child.worldcoords().T()
    made = copy.deepcopy(child)
    assert made.parent is not parent
    assert isinstance(made.parent, CascadedCoords)
    assert made.parent.name == "parent"
    assert made.parent.descendants == [made]
    parent.translate([1, 1, 1])
    assert_close(made.worldcoords().T(), W)
    again = pickle.loads(pickle.dumps(made))
    assert_close(again.worldcoords().T(), W)
    again.parent.translate([1, 0, 0])
    assert np.abs(again.worldpos() - W[:3, 3]).max() > 0.5
    shallow = copy.copy(child)
    assert shallow.parent is parent
    assert parent.descendants == [child, shallow]
    assert copy.deepcopy([parent, child])[1].parent.name == "parent"


@pytest.mark.row("S0-070")
def test_s0_070_transforms():
    random = rng("skrobot transforms")
    A, B = random_pose(random), random_pose(random)
    a, b = make_coords(A).get_transform(), make_coords(B).get_transform()
    v = random.normal(size=(5, 3))
    assert isinstance(a, Transform)
    assert_close(a.transform_vector(v), v @ A[:3, :3].T + A[:3, 3])
    assert_close(a.transform_vector(v[0].tolist()), A[:3, :3] @ v[0] + A[:3, 3])
    assert_close(a.rotate_vector(v), v @ A[:3, :3].T)
    assert_close(a.rotate_vector(v[0]), A[:3, :3] @ v[0])
    second_after_first = b.transform_vector(a.transform_vector(v))
    assert_close((a * b).transform_vector(v), second_after_first)
    assert_close((a * b).rotation, B[:3, :3] @ A[:3, :3])
    assert_close(a.inverse_transformation().transform_vector(a.transform_vector(v)), v)
    _, _, child, _ = family()
    assert_close(child.get_transform().translation, child.worldpos())
    with pytest.raises(TypeError):
        a * 3
    with pytest.raises(ValueError):
        Transform([1, 2], np.eye(3))


# --- moving -------------------------------------------------------------------------------------


@pytest.mark.row("S0-071", "S0-206")
def test_s0_071_newcoords_as_documented():
    parent, child = make_cascoords(pos=[10, 0, 0]), make_cascoords(pos=[0, 5, 0])
    parent.assoc(child)
    target = make_cascoords(pos=[15, 15, 15])
    assert child.newcoords(target, relative_coords="world") is child
    assert_close(child.worldpos(), [15, 15, 15])
    assert_close(child.translation, [5, 15, 15])
    child.newcoords(make_cascoords(pos=[2, 2, 2]), relative_coords="local")
    assert_close(child.translation, [2, 2, 2])
    assert_close(child.worldpos(), [12, 2, 2])
    target = make_cascoords(pos=[20, 20, 20])
    child.newcoords(parent.worldcoords().inverse_transformation() * target)
    assert_close(child.worldpos(), [20, 20, 20])
    frame = make_coords(pos=[1, 0, 0]).rotate(pi / 2, "z")
    frame.newcoords(make_coords(pos=[3, 3, 3]), relative_coords="world")
    assert_close(frame.worldpos(), [3, 3, 3])
    above = make_coords(pos=[5, 5, 5]).rotate(pi / 4, "z")
    below = make_coords()
    below.parent = above
    below.newcoords(above.inverse_transformation() * make_coords(pos=[10, 10, 10]))
    assert_close((above * below).worldpos(), [10, 10, 10])


@pytest.mark.row("S0-071")
@pytest.mark.parametrize("which", [0, 2])
def test_s0_071_newcoords_in_every_frame(which: int):
    target = make_coords(pos=[3, 1, 2]).rotate(0.4, "y")
    for relative in ("local", "parent", None):
        frame = family()[which].newcoords(target, relative_coords=relative)
        assert_close(frame.T(), target.T())
    for given in ((target,), (target.rotation, [3, 1, 2]), ([0, 0.4, 0], [3, 1, 2])):
        same(family()[which].newcoords(*given, relative_coords="world"), target)
        plain, parent, child, other = members = family()
        for reference in members:
            R = reference.worldcoords().T()
            members[which].newcoords(*given, relative_coords=reference)
            assert_close(members[which].worldcoords().T(), R @ target.T())
        assert (plain, parent, child, other) == members
    members = family()
    W = members[2].worldcoords().T()
    same(make_cascoords().newcoords(members[2], relative_coords="world"), W)
    assert_close(make_cascoords().newcoords(members[2]).T(), members[2].T())


@pytest.mark.row("S0-071")
@pytest.mark.parametrize("which", [0, 2])
def test_s0_071_newcoords_refuses(which: int):
    frame = family()[which]
    before = frame.T()
    target = make_coords(pos=[1, 1, 1])
    with pytest.raises(ValueError, match="relative_coords"):
        frame.newcoords(target, relative_coords="there")
    for wrong in (3, np.eye(4)):
        with pytest.raises(TypeError, match="relative_coords"):
            frame.newcoords(target, relative_coords=wrong)
        with pytest.raises(TypeError, match="Coordinates"):
            frame.newcoords(wrong)
    with pytest.raises(ValueError, match="Illegal"):
        frame.newcoords(2 * np.eye(3), [1, 2, 3])
    assert_array_equal(frame.T(), before)
    frame.newcoords(2 * np.eye(3), [1, 2, 3], check_validity=False)
    assert_array_equal(frame.rotation, 2 * np.eye(3))


@pytest.mark.row("S0-072", "S0-202")
@pytest.mark.parametrize("relative", [(), (None,), ("world",)])
def test_s0_072_assoc_keeps_the_world_pose(relative: tuple[Any, ...]):
    parent, child = CascadedCoords(pos=[1, 0, 0]), CascadedCoords(pos=[1, 1, 0])
    assert parent.assoc(child, *relative) is child
    assert_close(child.worldpos(), [1, 1, 0])
    assert_close(child.translation, [0, 1, 0])
    parent.translate([0, 0, 1])
    assert_close(child.worldpos(), [1, 1, 1])


@pytest.mark.row("S0-072", "S0-202")
def test_s0_072_assoc_with_a_pose_in_the_parent():
    parent, child = CascadedCoords(pos=[1, 0, 0]), CascadedCoords(pos=[1, 1, 0])
    parent.assoc(child, relative_coords="local")
    assert_close(child.worldpos(), [2, 1, 0])
    assert_close(child.translation, [1, 1, 0])
    other = CascadedCoords(pos=[0, 0, 1])
    parent.assoc(other, make_coords(pos=[5, 5, 5]))
    assert_close(other.worldpos(), [6, 5, 5])


@pytest.mark.row("S0-072")
def test_s0_072_assoc_refuses_and_forces():
    _, parent, child, plain = family()
    other = make_cascoords(pos=[0, 0, 3])
    with pytest.raises(ValueError, match="itself"):
        parent.assoc(parent)
    with pytest.raises(RuntimeError, match=r"'parent'.*force=True"):
        other.assoc(child)
    with pytest.raises(RuntimeError, match="force=True"):
        parent.assoc(child)
    for wrong in (3, "there", np.eye(4)):
        with pytest.raises(TypeError, match="relative_coords"):
            other.assoc(make_cascoords(), wrong)
        with pytest.raises(TypeError, match="Coordinates"):
            other.assoc(wrong)
    with pytest.raises(ValueError, match="above itself"):
        child.assoc(parent)
    grandchild = make_cascoords(parent=child)
    with pytest.raises(ValueError, match="above itself"):
        grandchild.assoc(parent)
    with pytest.raises(ValueError, match="above itself"):
        parent.parent = grandchild
    assert parent.parent is None
    W = child.worldcoords().T()
    assert other.assoc(child, force=True) is child
    same(child, W)
    assert (parent.descendants, other.descendants) == ([], [child])
    assert plain.parent is None


@pytest.mark.row("S0-073")
def test_s0_073_dissoc_keeps_the_world_pose():
    _, parent, child, _ = family()
    W = child.worldcoords().T()
    stranger = make_cascoords(parent=make_cascoords(pos=[1, 0, 0]))
    for other in (stranger, make_coords(), 3):
        assert parent.dissoc(other) is None
    assert stranger.parent is not None
    assert parent.dissoc(child) is None
    assert (child.parent, parent.descendants) == (None, [])
    assert_close(child.T(), W)
    parent.translate([1, 1, 1])
    assert_close(child.worldcoords().T(), W)


@pytest.mark.row("S0-074")
def test_s0_074_parentcoords():
    _, parent, child, _ = family()
    assert_close(child.parentcoords().T(), parent.T())
    world = parent.parentcoords()
    assert_array_equal(world.worldcoords().T(), np.eye(4))
    world.translate([1, 0, 0])
    assert_array_equal(parent.parentcoords().worldcoords().T(), np.eye(4))


@pytest.mark.row("S0-075", "S0-076")
def test_s0_075_update_and_changed():
    plain, parent, child, _ = family()
    W = child.worldcoords().T()
    for frame in (parent, child):
        assert frame.update() is None
        assert frame.update(force=True) is None
        with pytest.raises(TypeError):
            frame.update(True, True)  # pyright: ignore
        assert frame.changed() is False
    assert plain.changed() is False
    assert_close(child.worldcoords().T(), W)


@pytest.mark.row("S0-076")
def test_s0_076_moves_are_seen_by_all_below():
    random = rng("skrobot changed")
    chain = [make_cascoords(pos=random_pose(random)) for _ in range(6)]
    for above, below in itertools.pairwise(chain):
        above.assoc(below, "local")
    for k in (3, 0, 5, 2, 2, 1):
        chain[int(random.integers(6))].worldpos()  # some are computed in between
        chain[k].translate(random.normal(size=3)).rotate(1.0, "x")
        W = np.eye(4)
        for frame in chain:
            W = W @ frame.T()
        assert_close(chain[-1].worldcoords().T(), W, atol=1e-12)


@pytest.mark.row("S0-077")
def test_s0_077_hooks():
    calls: list[int] = []
    hook = lambda: calls.append(1)
    frame = Coordinates(pos=[1, 2, 3], hook=hook)
    assert_array_equal(frame.rotation @ frame.translation, [1, 2, 3])
    assert len(calls) == 2
    assert frame.disable_hook() == (True, hook)
    assert frame.translation.shape == (3,)
    assert len(calls) == 2
    assert frame.disable_hook() == (False, None)


@pytest.mark.row("S0-078", "S0-209")
def test_s0_078_translate_as_documented():
    frame = make_coords()
    assert frame.translate([0.1, 0.2, 0.3]) is frame
    assert_close(frame.translation, [0.1, 0.2, 0.3])
    frame = make_coords()
    frame.copy_worldcoords().translate([0.1, 0.2, 0.3])
    assert_array_equal(frame.translation, np.zeros(3))
    frame = make_coords().rotate(pi / 2.0, "y").translate([0.1, 0.2, 0.3])
    assert_close(frame.translation, [0.3, 0.2, -0.1])
    frame = make_coords().rotate(pi / 2.0, "y").translate([0.1, 0.2, 0.3], "world")
    assert_close(frame.translation, [0.1, 0.2, 0.3])


@pytest.mark.row("S0-078")
@pytest.mark.parametrize("which", [0, 2])
def test_s0_078_translate_along_the_axes_of_any_frame(which: int):
    v = np.array([0.3, -0.2, 0.5])
    for frame, reference in in_every_frame(which):
        W, axes = frame.worldcoords().T(), world_axes(frame, reference)
        frame.translate(v, reference)
        assert_close(frame.worldpos(), W[:3, 3] + axes @ v, atol=1e-12)
        assert_close(frame.worldrot(), W[:3, :3], atol=1e-12)


def in_every_frame(
    which: int, names: tuple[str, ...] = ("local", "parent", "world")
) -> Iterator[tuple[Coordinates, Any]]:
    """A frame of a new family with each reference: names, and the frames of the family."""
    for reference in (*names, *range(4)):
        members = family()
        yield members[which], members[reference] if isinstance(reference, int) else reference


def world_axes(frame: Coordinates, wrt: Any) -> Floats:
    """The axes in the world that a reference means to a frame."""
    if isinstance(wrt, Coordinates):
        return wrt.worldrot()
    if wrt == "parent" and isinstance(frame.parent, Coordinates):
        return frame.parent.worldrot()
    return frame.worldrot() if wrt == "local" else np.eye(3)


@pytest.mark.row("S0-079", "S0-080", "S0-200")
@pytest.mark.parametrize("which", [0, 2])
@pytest.mark.parametrize("axis", ["x", "-z", [1, 2, 0], (0, 3, 4), np.array([0.0, 0, 2])])
def test_s0_079_rotate_in_place_about_axes_of_any_frame(which: int, axis: Any):
    Q = rotation_matrix(0.3, axis)
    for given in ((0.3, axis), (Q, None), (Q.tolist(), None), "matrix"):
        for frame, reference in in_every_frame(which):
            W, axes = frame.worldcoords().T(), world_axes(frame, reference)
            if isinstance(given, str):
                assert frame.rotate_with_matrix(Q, reference) is frame
            else:
                assert frame.rotate(*given, reference) is frame
            assert_close(frame.worldrot(), axes @ Q @ axes.T @ W[:3, :3], atol=1e-12)
            assert_close(frame.worldpos(), W[:3, 3], atol=1e-12)


@pytest.mark.row("S0-079")
def test_s0_079_rotate_refuses_and_normalises():
    for frame in family():
        before = frame.T()
        for axis in ("+x", "X", "w"):
            with pytest.raises(NotImplementedError, match="axis"):
                frame.rotate(0.2, axis)
        for axis in ([0, 0, 0], [1, 2], np.nan, True):
            with pytest.raises(ValueError):
                frame.rotate(0.2, axis)
        with pytest.raises(ValueError, match="theta"):
            frame.rotate(np.nan, "x")
        for wrt in ("there", 3):
            with pytest.raises(ValueError, match="not supported"):
                frame.rotate(0.2, "x", wrt)
            with pytest.raises(ValueError, match="not supported"):
                frame.rotate_with_matrix(np.eye(3), wrt)
            with pytest.raises(ValueError, match="not supported"):
                frame.translate([1, 0, 0], wrt)
        for wrong in (1, [1, 2], [[1, 2, 3]], "abc", [1, np.inf, 0]):
            with pytest.raises(ValueError):
                frame.translate(wrong)
        assert_array_equal(frame.T(), before)
        frame.rotate(0.2, [0, 0, 2], skip_normalization=True)
        assert_close(frame.rotation, before[:3, :3] @ rotation_matrix(0.2, "z"), atol=1e-15)


@pytest.mark.row("S0-200")
def test_s0_200_matrix_as_documented():
    frame = make_coords()
    assert_array_equal(frame.T(), np.eye(4))
    frame.translate([0.1, 0.2, 0.3])
    frame.rotate(pi / 2.0, "y")
    assert_close(
        frame.T(), [[0, 0, 1, 0.1], [0, 1, 0, 0.2], [-1, 0, 0, 0.3], [0, 0, 0, 1]], atol=1e-15
    )


@pytest.mark.row("S0-080")
def test_s0_080_rotate_with_matrix_takes_the_forms_of_a_rotation():
    for rotation in (rpy_matrix(0.1, 0.2, 0.3), [0.1, 0.2, 0.3]):
        frame = make_cascoords().rotate(0.5, "x")
        R = frame.rotation
        frame.rotate_with_matrix(rotation, "local")
        assert_close(frame.rotation, R @ rpy_matrix(0.1, 0.2, 0.3), atol=1e-15)


@pytest.mark.row("S0-081")
@pytest.mark.parametrize("which", [0, 2])
def test_s0_081_orient_with_matrix_sets_the_rotation(which: int):
    Q = rpy_matrix(0.1, 0.2, 0.3)
    for frame, reference in in_every_frame(which):
        p, axes = frame.worldpos(), world_axes(frame, reference)
        assert frame.orient_with_matrix(Q, reference) is frame
        assert_close(frame.worldrot(), axes @ Q, atol=1e-12)
        assert_close(frame.worldpos(), p, atol=1e-12)
    frame = family()[which]
    assert_close(frame.orient_with_matrix(Q).worldrot(), Q, atol=1e-12)
    for wrt in ("there", 3):
        with pytest.raises(TypeError, match="not supported"):
            frame.orient_with_matrix(Q, wrt)
    with pytest.raises(ValueError, match="Illegal"):
        frame.orient_with_matrix(2 * Q)


@pytest.mark.row("S0-082", "S0-201")
def test_s0_082_align_axis_as_documented():
    frame = make_coords()
    assert frame.align_axis_to_direction([1, 0, 0]) is frame
    assert_close(frame.z_axis, [1, 0, 0], atol=1e-15)
    frame = make_coords().align_axis_to_direction([0, 1, 0], axis="x")
    assert_close(frame.x_axis, [0, 1, 0], atol=1e-15)
    frame = make_coords().rotate(pi / 2, "z").align_axis_to_direction([1, 0, 0], wrt="local")
    assert_close(frame.z_axis, [0, 1, 0], atol=1e-15)


@pytest.mark.row("S0-082")
def test_s0_082_align_axis_exactly_and_by_the_smallest_rotation():
    random = rng("skrobot align")
    for which in (0, 2):
        for axis in ("x", "-y", "z", [1, 1, 0]):
            for frame, reference in in_every_frame(which, ("local", "world")):
                direction = random.normal(size=3)
                goal = world_axes(frame, reference) @ direction
                goal /= np.linalg.norm(goal)
                before, start = frame.worldrot(), frame.axis(axis)
                start /= np.linalg.norm(start)
                frame.align_axis_to_direction(direction, axis, reference)
                made = frame.axis(axis)
                assert_close(made / np.linalg.norm(made), goal, atol=1e-12)
                turn = np.arccos(np.clip((np.trace(frame.worldrot() @ before.T) - 1) / 2, -1, 1))
                assert_close(turn, np.arccos(start @ goal), atol=1e-7)


@pytest.mark.row("S0-082")
@pytest.mark.parametrize("axis", ["x", "y", "z", [1, 1, 1], [1, 1e-9, 0]])
def test_s0_082_align_axis_that_points_there_or_the_other_way(axis: Any):
    for eps in (0.005, 1.0, None):
        for offset in (0.0, 1e-13, 1e-9, 1e-3):
            for sign in (1, -1):
                frame = make_coords(rot=rpy_matrix(0.3, 0.2, 0.1))
                direction = sign * frame.axis(axis) + offset * np.array([1.0, -2.0, 3.0])
                frame.align_axis_to_direction(direction, axis, eps=eps)
                made, goal = frame.axis(axis), direction / np.linalg.norm(direction)
                assert_close(made / np.linalg.norm(made), goal, atol=1e-12)
                R = frame.rotation
                assert_close(R.T @ R, np.eye(3), atol=1e-14)
                assert np.linalg.det(R) > 0


@pytest.mark.row("S0-082")
def test_s0_082_align_axis_to_no_direction_and_refusals():
    frame = family()[2]
    assert_close(frame.align_axis_to_direction([0, 0, 0]).axis("z"), [0, 0, 1], atol=1e-15)
    before = frame.T()
    for wrt in ("there", "parent", 3, None):
        with pytest.raises(ValueError, match="not supported"):
            frame.align_axis_to_direction([1, 0, 0], wrt=wrt)
    with pytest.raises(NotImplementedError):
        frame.align_axis_to_direction([1, 0, 0], axis="w")
    with pytest.raises(ValueError):
        frame.align_axis_to_direction([1, 0, 0], axis=[0, 0, 0])
    assert_array_equal(frame.T(), before)


# --- vectors and differences ----------------------------------------------------------------------


@pytest.mark.row("S0-083", "S0-084", "S0-207")
def test_s0_083_vectors_in_the_world_and_back():
    turned = make_coords().rotate(pi, "z")
    assert_close(turned.rotate_vector([1, 2, 3]), [-1, -2, 3], atol=1e-15)
    v = rng("skrobot vectors").normal(size=(4, 3))
    for frame in family():
        R, p = frame.worldrot(), frame.worldpos()
        for vectors in (v, v[0], v[0].tolist(), tuple(v[0])):
            w = np.asarray(vectors)
            assert_close(frame.rotate_vector(vectors), w @ R.T)
            assert_close(frame.inverse_rotate_vector(vectors), w @ R)
            assert_close(frame.transform_vector(vectors), w @ R.T + p)
            assert_close(frame.inverse_transform_vector(vectors), (w - p) @ R)
        assert frame.rotate_vector([1, 2, 3]).shape == (3,)
        for method in ("rotate_vector", "inverse_rotate_vector"):
            with pytest.raises(ValueError, match="shape"):
                getattr(frame, method)([1, 2])


@pytest.mark.row("S0-085")
def test_s0_085_inverse_transformation_of_the_local_pose():
    for frame in family():
        made = frame.inverse_transformation()
        assert_close(made.T(), np.linalg.inv(frame.T()), atol=1e-15)
        dest = make_cascoords()
        assert frame.inverse_transformation(dest=dest) is dest
        assert_close(dest.T(), made.T())
    with pytest.raises(TypeError, match="dest"):
        frame.inverse_transformation(dest=[])  # pyright: ignore


@pytest.mark.row("S0-086")
def test_s0_086_transformation_between_world_poses():
    for a in family():
        for b in family():
            W1, W2 = a.worldcoords().T(), b.worldcoords().T()
            way = W2 @ np.linalg.inv(W1)
            same(a.transformation(b), np.linalg.inv(W1) @ W2)
            same(a.transformation(b, a), np.linalg.inv(W1) @ W2)
            same(a.transformation(b, "parent"), way)
            same(a.transformation(b, "world"), way)
            for x in family():
                X = x.worldcoords().T()
                same(a.transformation(b, x), np.linalg.inv(X) @ way @ X)
    with pytest.raises(ValueError, match="not supported"):
        a.transformation(b, "there")


@pytest.mark.row("S0-087")
@pytest.mark.parametrize("which", [0, 2])
def test_s0_087_transform_in_every_frame(which: int):
    c = make_coords(pos=[0.1, 0.2, 0.3]).rotate(0.4, "y")
    for into in (False, True):
        for frame, reference in in_every_frame(which):
            M, W = frame.T(), frame.worldcoords().T()
            P = W @ np.linalg.inv(M)
            if reference == "local":
                expected = M @ c.T()
            elif reference == "parent":
                expected = c.T() @ M
            else:
                named = isinstance(reference, str)
                X = np.eye(4) if named else reference.worldcoords().T()
                expected = np.linalg.inv(P) @ X @ c.T() @ np.linalg.inv(X) @ W
            out = make_cascoords()
            if into:
                assert frame.transform(c, reference, out=out) is out
                assert_close(out.T(), expected, atol=1e-12)
                assert_array_equal(frame.T(), M)
            else:
                assert frame.transform(c, reference) is frame
                assert_close(frame.T(), expected, atol=1e-12)


@pytest.mark.row("S0-087")
def test_s0_087_transform_as_documented_and_refusals():
    parent = CascadedCoords(pos=[1.0, 0.0, 0.0])
    child = CascadedCoords(pos=[0.0, 0.5, 0.0])
    parent.assoc(child, relative_coords="local")
    parent.rotate(pi / 2.0, "z")
    c = Coordinates(pos=[0.2, 0.3, 0.4])
    moved = c.transform(Coordinates(pos=[0.1, 0, 0]), wrt=child)
    assert_close(moved.worldpos(), [0.2, 0.4, 0.4])
    for wrt in ("there", 3):
        with pytest.raises(ValueError, match="not supported"):
            c.transform(c, wrt)
    with pytest.raises(TypeError):
        c.transform(3)  # pyright: ignore


@pytest.mark.row("S0-088")
def test_s0_088_move_coords():
    body, hand = CascadedCoords(pos=[0.3, 0.0, 0.0]), CascadedCoords(pos=[0.0, 0.0, 0.5])
    body.assoc(hand, relative_coords="local")
    made = body.move_coords(Coordinates(pos=[1.0, 2.0, 3.0]), hand)
    assert_close(hand.worldpos(), [1, 2, 3])
    assert_close(body.worldpos(), [1, 2, 2.5])
    assert_close(made.T(), body.worldcoords().T())
    plain, parent, child, goal = family()
    for frame, held in ((parent, child), (child, parent), (plain, child), (child, child)):
        gap = np.linalg.inv(held.worldcoords().T()) @ frame.worldcoords().T()
        frame.move_coords(goal, held)
        same(frame, goal.worldcoords().T() @ gap)


@pytest.mark.row("S0-089")
def test_s0_089_parent_orientation():
    for frame in family():
        v = np.array([1.0, 2, 3])
        assert_close(frame.parent_orientation(v, "local"), frame.rotation @ v)
        assert_close(frame.parent_orientation([1, 2, 3], frame), frame.rotation @ v)
        assert_array_equal(frame.parent_orientation(v, "parent"), v)
        assert_array_equal(frame.parent_orientation(v, "world"), v)
        other = family()[2]
        assert_close(frame.parent_orientation(v, other), other.worldrot() @ v)
        with pytest.raises(ValueError, match="not supported"):
            frame.parent_orientation(v, "there")


@pytest.mark.row("S0-090")
def test_s0_090_own_axes_in_the_world():
    for frame in family():
        R = frame.worldrot()
        assert_close(frame.axis("x"), R[:, 0])
        assert_close(frame.axis("-y"), -R[:, 1])
        assert_close(frame.axis("xz"), R[:, 0] + R[:, 2])
        assert_close(frame.axis([1, 2, 3]), R @ [1, 2, 3])
        assert_close(frame.axis((0, 0, 1)), R[:, 2])
        with pytest.raises(NotImplementedError):
            frame.axis("w")


@pytest.mark.row("S0-091", "S0-208")
def test_s0_091_rpy_angles_as_documented():
    frame = make_coords().rotate(pi / 2.0, "x").rotate(pi / 3.0, "z")
    with pytest.warns(DeprecationWarning, match="order"):
        first, second = frame.rpy_angle()
    assert_close(first, [3.84592537e-16, -1.04719755, 1.57079633], atol=1e-8)
    assert_close(second, [3.14159265, -2.0943951, -1.57079633], atol=1e-8)
    random = rng("skrobot rpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(20):
            turned = make_coords(random_pose(random))
            for ypr in turned.rpy_angle():
                assert_close(rpy_matrix(*ypr), turned.rotation, atol=1e-12)
        locked = make_coords(rot=rpy_matrix(0.3, pi / 2, 0.2)).rpy_angle()[0]
    assert_close(locked, [0, pi / 2, -0.1], atol=1e-12)


@pytest.mark.row("S0-092", "S0-203")
def test_s0_092_difference_position_as_documented():
    c1 = Coordinates().translate([0.1, 0.2, 0.3]).rotate(pi / 3.0, "x")
    c2 = Coordinates().translate([0.3, -0.3, 0.1]).rotate(pi / 2.0, "y")
    assert_close(c1.difference_position(c2), [0.2, -0.42320508, 0.3330127], atol=1e-8)
    c1 = Coordinates().translate([0.1, 0.2, 0.3]).rotate(0, "x")
    c2 = Coordinates().translate([0.3, -0.3, 0.1]).rotate(pi / 3.0, "x")
    assert_close(c1.difference_position(c2), [0.2, -0.5, -0.2])
    assert_close(c1.difference_position(c2, position_mask="z"), [0, 0, -0.2])
    with pytest.raises(ValueError, match="mask"):
        c1.difference_position(c2, position_mask="w")
    for a in family():
        for b in family():
            gap = np.linalg.inv(a.worldcoords().T()) @ b.worldcoords().T()
            assert_close(a.difference_position(b), gap[:3, 3], atol=1e-12)


@pytest.mark.row("S0-093", "S0-204")
def test_s0_093_difference_rotation_as_documented():
    c1 = Coordinates()
    c2 = Coordinates(rot=rpy_matrix(pi / 2.0, pi / 3.0, pi / 5.0))
    d = [-0.32855112, 1.17434985, 1.05738936]
    assert_close(c1.difference_rotation(c2), d, atol=1e-8)
    assert_array_equal(c1.difference_rotation(c2, rotation_mask=False), np.zeros(3))
    assert_close(c1.difference_rotation(c2, rotation_mask="yz"), [0, *d[1:]], atol=1e-8)
    c2 = Coordinates().rotate(pi, "x")
    mirrored = c1.difference_rotation(c2, rotation_mask=True, rotation_mirror="x")
    assert_close(mirrored, np.zeros(3), atol=1e-12)
    with pytest.raises(ValueError, match="Mask"):
        c1.difference_rotation(c2, rotation_mask=[1, 0])
    with pytest.raises(NotImplementedError):
        c1.difference_rotation(c2, rotation_mirror="w")
    parent = make_cascoords(rot=rpy_matrix(0.3, -0.4, 1.2))
    a, b = (make_cascoords(rot=rpy_matrix(k, 0.2, -0.3)) for k in (0.5, 0.9))
    apart = a.difference_rotation(b)
    for frame in (a, b):
        parent.assoc(frame, relative_coords="local")
    assert_close(a.difference_rotation(b), apart, atol=1e-12)  # in the world, both
    assert_close(a.difference_rotation(Coordinates(rot=b.worldrot())), apart, atol=1e-12)


@pytest.mark.row("S0-093")
@pytest.mark.parametrize("angle", [1e-12, 1e-8, 1e-3, 1.0, 3.0, pi - 1e-3, pi - 1e-9])
def test_s0_093_difference_rotation_keeps_digits_near_none_and_half_a_turn(angle: float):
    random = rng("skrobot rotation differences")
    for _ in range(5):
        axis = random.normal(size=3)
        axis /= np.linalg.norm(axis)
        a = make_cascoords(pos=random_pose(random))
        b = a.copy_worldcoords().rotate(angle, axis)
        made = a.difference_rotation(b)
        assert_close(np.linalg.norm(made), angle, rtol=1e-10, atol=1e-15)
        assert_close(made / np.linalg.norm(made), axis, atol=max(1e-7, 1e-15 / angle))
        for mirror in "xyz":
            free = a.difference_rotation(b, True, mirror)
            flipped = a.difference_rotation(b.copy().rotate(pi, mirror))
            nearer = min(np.linalg.norm(made), np.linalg.norm(flipped))
            assert_close(np.linalg.norm(free), nearer, atol=1e-9)


@pytest.mark.row("S0-094")
def test_s0_094_masks():
    a, b = make_coords(), make_coords(pos=[1, 2, 3])
    named = {"x": 100, "y": 10, "z": 1, "xy": 110, "yx": 110, "yz": 11, "zy": 11, "zx": 101}
    named |= {"xz": 101, "xyz": 111, "xx": 100, "yy": 10, "zz": 1, True: 111, False: 0, None: 0}
    for mask, bits in named.items():
        expected = [int(bit) for bit in f"{bits:03d}"]
        assert_array_equal(frames.normalize_mask(mask), expected)
        assert_close(a.difference_position(b, mask), np.multiply(expected, [1, 2, 3]))
    for mask in ([1, 0, 1], (1, 0, 1), np.array([1, 0, 1]), [True, False, True], [0.5, 0, 2]):
        assert_array_equal(frames.normalize_mask(mask), [1, 0, 1])
    for wrong in ("w", "", "xzy", [1, 0], [1, 0, 1, 0], 3, 1, 0, 2.5, [[1, 0, 1]], {1}):
        with pytest.raises(ValueError, match=r"[Mm]ask"):
            frames.normalize_mask(wrong)
    # the older arguments name what is free
    assert_close(a.difference_position(b, translation_axis="x"), [0, 2, 3])


@pytest.mark.row("S0-095", "S0-205")
def test_s0_095_interpolation_as_documented():
    c1, c2 = Coordinates(pos=[0, 0, 0]), Coordinates(pos=[1, 0, 0])
    assert_close(c1.interpolate(c2, 0.5).translation, [0.5, 0, 0])
    assert_close(c1.interpolate(c2, 0.25).translation, [0.25, 0, 0])
    assert_close(c1.lerp(Coordinates(pos=[2, 2, 2]), 0.5).translation, [1, 1, 1])
    turned = Coordinates(pos=[1, 0, 0]).rotate(pi / 2, "z")
    middle = c1.slerp(turned, 0.5)
    assert_close(middle.translation, [0.5, 0, 0])
    assert_close(middle.rotation, rotation_matrix(pi / 4, "z"), atol=1e-15)
    for method in (c1.interpolate, c1.slerp, c1.lerp):
        for ratio in (1.5, -0.1, np.nan):
            with pytest.raises(ValueError, match="ratio"):
                method(c2, ratio)


@pytest.mark.row("S0-095")
def test_s0_095_interpolation_of_world_poses():
    _, parent, child, plain = family()
    plain.rotate(2.0, [1, 2, 3])
    W1, W2 = child.worldcoords().T(), plain.T()
    for ratio in (0.0, 0.3, 1.0):
        expected = poses.interpolate(W1, W2, ratio, path="separate")
        made = child.slerp(plain, ratio)
        assert type(made) is Coordinates
        assert_close(made.T(), expected, atol=1e-12)
        assert_close(child.interpolate(plain, ratio).T(), expected, atol=1e-12)
        linear = child.lerp(plain, ratio).T()
        assert_close(linear[:3, 3], expected[:3, 3])
        assert_close(linear[:3, :3] @ linear[:3, :3].T, np.eye(3), atol=1e-14)
        assert_close(linear[:3, :3], expected[:3, :3], atol=0.05)
    assert_close(child.lerp(plain, 1.0).T(), W2, atol=1e-12)
    assert parent.descendants == [child]


# --- operators ----------------------------------------------------------------------------------


@pytest.mark.row("S0-096")
def test_s0_096_product_of_local_poses():
    for a in family():
        for b in family():
            made = a * b
            assert type(made) is Coordinates
            assert_close(made.T(), a.T() @ b.T())
    assert_close((a * b.get_transform()).T(), a.T() @ b.worldcoords().T())
    with pytest.raises(TypeError):
        a * 3


@pytest.mark.row("S0-097")
def test_s0_097_powers():
    for frame in family():
        M = frame.T()
        assert_close((frame**-1).T(), np.linalg.inv(M), atol=1e-15)
        assert_close((frame**2).T(), M @ M, atol=1e-12)
        half = frame**0.5
        assert_close((half * half).T(), M, atol=1e-12)
        assert_close((frame**0).T(), np.eye(4), atol=1e-15)
    with pytest.raises(ValueError, match="exponent"):
        frame ** "x"  # pyright: ignore


@pytest.mark.row("S0-098")
def test_s0_098_equality_is_identity():
    a, b = make_coords(pos=[1, 2, 3]), make_coords(pos=[1, 2, 3])
    assert a == a
    assert a != b
    assert len({a, b}) == 2
    assert a.isclose(b)
    assert not a.isclose(b.translate([1e-3, 0, 0]))
    assert a.isclose(b, atol=0.01)


@pytest.mark.row("S0-099")
def test_s0_099_frames_have_no_order():
    a, b = make_coords(), make_cascoords()
    for compare in ("__lt__", "__le__", "__gt__", "__ge__"):
        assert getattr(a, compare)(b) is NotImplemented
    with pytest.raises(TypeError):
        _ = a < b  # pyright: ignore


# --- beside the classes ---------------------------------------------------------------------------


def test_functions_of_frames():
    c = make_coords(pos=[1, 2, 3]).rotate(0.5, "y")
    d = make_coords(pos=[1, 0, 3]).rotate(0.5, "x")
    distance, angle = frames.coordinates_distance(c, d)
    assert distance == pytest.approx(2.0)
    assert angle == pytest.approx(0.7033834452090132)  # of the original
    assert frames.coordinates_distance(c, d, make_coords(pos=[3, 4, 0])) == (5.0, 0.0)
    assert_close(frames.wrt(c, [1, 2, 3]), c.transform_vector([1, 2, 3]))
    same(frames.slerp_coordinates(c, d, 0.3), c.slerp(d, 0.3))
    same(frames.lerp_coordinates(c, d, 0.3), c.lerp(d, 0.3))
    assert frames.coordinates_p(c)
    assert not frames.coordinates_p(np.eye(4))
    c1 = Coordinates().translate([0.1, 0.2, 0.3]).rotate(pi / 3.0, "x")
    c2 = Coordinates().translate([0.3, -0.3, 0.1]).rotate(pi / 2.0, "y")
    c3 = frames.transform_coords(c1, c2)
    assert_close(c3.translation, [0.4, -0.03660254, 0.09019238], atol=1e-8)
    out = make_coords()
    assert frames.transform_coords(c1, c2, out) is out
    same(out, c3)
    made = frames.random_coords()
    assert_close(made.rotation.T @ made.rotation, np.eye(3), atol=1e-14)


def test_errors_are_ours():
    for call in (lambda: make_coords(pos=[1]), lambda: make_coords().rotate(1, "w")):
        with pytest.raises(LinkworkError):
            call()
    with pytest.raises(InputError):
        make_coords().interpolate(make_coords(), 2)
    with pytest.raises(UnsupportedFeatureError):
        make_coords().axis("w")


def test_rotations_stay_rotations_however_often_frames_are_moved():
    body = make_cascoords(pos=[1, 0, 0]).rotate(0.3, [1, 2, 3])
    hand = make_cascoords(parent=body, pos=[0, 1, 0]).rotate(0.4, [3, 2, 1])
    c = make_coords(pos=[1e-3, 0, 0]).rotate(0.1, [1, -1, 2])
    for _ in range(300):
        body.move_coords(c, hand)
        body.transform(c, hand)
        body.transform(c).rotate(0.1, "z", hand)
        hand.newcoords(hand, relative_coords="world")
        body.assoc(hand, force=True)
    for frame in (body, hand):
        for R in (frame.rotation, frame.worldrot()):
            assert_close(R.T @ R, np.eye(3), atol=1e-14)


def test_a_chain_of_ten_thousand_frames():
    count = 10_000
    chain = [CascadedCoords(pos=[1e-3, 0, 0]) for _ in range(count)]
    for above, below in itertools.pairwise(chain):
        above.assoc(below, relative_coords="local")
    assert_close(chain[-1].worldpos(), [count * 1e-3, 0, 0], rtol=1e-9)
    chain[0].rotate(pi / 2, "z")
    assert_close(chain[-1].worldpos(), [1e-3, (count - 1) * 1e-3, 0], atol=1e-9)
    made = copy.deepcopy(chain[-1])
    assert_close(made.worldpos(), chain[-1].worldpos())
    chain[count // 2].dissoc(chain[count // 2 + 1])
    chain[0].rotate(pi / 2, "z")
    assert_close(chain[-1].worldpos(), [1e-3, (count - 1) * 1e-3, 0], atol=1e-9)


def test_threads_that_each_own_a_tree():
    failures: list[str] = []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        tree = [make_cascoords(pos=random_pose(random))]
        for _ in range(15):
            made = make_cascoords(pos=random_pose(random))
            tree[int(random.integers(len(tree)))].assoc(made, "local")
            tree.append(made)
        for _ in range(100):
            tree[int(random.integers(16))].translate(random.normal(size=3))
            frame: Any = tree[int(random.integers(16))]
            made, W = frame.worldcoords().T(), np.eye(4)
            while frame is not None:
                W, frame = frame.T() @ W, frame.parent
            if not np.allclose(made, W):
                failures.append(f"seed {seed}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
