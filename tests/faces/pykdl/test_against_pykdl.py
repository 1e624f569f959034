"""The face against PyKDL itself, in one process, and against what PyKDL was seen to compute.

LINKWORK_KDL_VALUES sets how many random values each operation is done on, and at a tenth as many
positions solvers are asked; 100000 takes minutes, and with -s the largest difference of each solver
is shown.
"""

from __future__ import annotations

import copy
import json
import math
import os
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from kdl_chains import TOLERANCE as OF_CHAINS
from kdl_chains import apart, chain, said
from kdl_facts import CASES, CHAINS, CHAINS_FILE, FILE, POSITIONS, of_chain, source_of
from kdl_operations import (
    LOST,
    NEAR,
    OPERATIONS,
    REFUSED,
    ROUGH,
    TOLERANCE,
    Operation,
    Source,
    distance,
    flat,
    names_for,
)
from linkwork.faces import pykdl

VALUES = int(os.environ.get("LINKWORK_KDL_VALUES", "100"))
POSITIONS_ASKED = VALUES // 10
SEED = os.environ.get("LINKWORK_TEST_SEED", "0")
FACTS = json.loads(FILE.read_text(encoding="utf-8"))
CHAIN_FACTS = json.loads(CHAINS_FILE.read_text(encoding="utf-8"))


@pytest.fixture(name="kdl", scope="module")
def _kdl() -> Any:
    return pytest.importorskip("PyKDL", reason="PyKDL (Debian: python3-pykdl) is not installed")


@pytest.fixture(autouse=True)
def _axes_may_be_zero() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pykdl.ZeroAxisWarning)
        yield


def rotation_of(vector: list[float]) -> list[float]:
    """What an axis times an angle turns."""
    return flat(pykdl.addDelta(pykdl.Rotation(), pykdl.Vector(*vector)))


def same(operation: Operation, makers: list[Any], theirs: list[float]) -> float:
    """How far our result is from theirs, in units of what is allowed."""
    ours = operation.run(pykdl, makers)
    away = operation.from_a_limit(pykdl, makers)
    if away > NEAR:
        off = distance(ours, theirs, of_the_largest=bool(operation.turns))
        return off / (TOLERANCE + LOST / away)
    if operation.code == "a.GetRot()":  # the axis may point either way, and the angle is rounded
        return distance(rotation_of(ours), rotation_of(theirs)) / ROUGH
    if operation.code.startswith("a.GetRotAngle"):
        return abs(ours[0] - theirs[0]) / ROUGH
    return 0.0  # diff: the same, divided by a time


@pytest.mark.sweep(28)
@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_random_values_give_what_pykdl_gives(operation: Operation, kdl: Any):
    source, worst = Source(f"{SEED} {operation}"), (0.0, [], [])
    for _ in range(VALUES):
        makers = operation.arguments(source)
        theirs = operation.run(kdl, makers)
        off = same(operation, makers, theirs)
        if off > worst[0]:
            worst = (off, [str(make(pykdl)) for make in makers], theirs)
    assert worst[0] <= 1.0, worst


@pytest.mark.row(
    "S3-003", "S3-006", "S3-008", "S3-009", "S3-011", "S3-012", "S3-013", "S3-014", "S3-015",
    "S3-024", "S3-031", "S3-032", "S3-033", "S3-034", "S3-035", "S3-036", "S3-037", "S3-040",
    "S3-041", "S3-042", "S3-043", "S3-044", "S3-045", "S3-052", "S3-053", "S3-054", "S3-055",
    "S3-056", "S3-057", "S3-061", "S3-062", "S3-063", "S3-064", "S3-072", "S3-073", "S3-074",
    "S3-076", "S3-080", "S3-081", "S3-082", "S3-083", "S3-084", "S3-085", "S3-102", "S3-103",
    "S3-105", "S3-106", "S3-108", "S3-109",
)  # fmt: skip
@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_stored_values_are_reproduced(operation: Operation):
    stored = FACTS["results"][str(operation)]
    assert len(stored) == CASES
    for k, theirs in enumerate(stored):
        makers = operation.arguments(source_of(operation, k))
        assert same(operation, makers, theirs) <= 1.0, [str(make(pykdl)) for make in makers]


def test_stored_values_are_of_these_operations():
    assert set(FACTS["results"]) == set(map(str, OPERATIONS))
    assert FACTS["versions"]["PyKDL"] == pykdl.__version__


def test_the_comparison_can_fail():
    operation = Operation("a + b", "VV")
    makers = operation.arguments(Source("x"))
    theirs = operation.run(pykdl, makers)
    assert same(operation, makers, theirs) == 0.0
    assert same(operation, makers, [theirs[0] + 1e-11, *theirs[1:]]) > 1.0
    assert same(operation, makers, theirs[:2]) == math.inf
    assert same(operation, makers, [math.nan, *theirs[1:]]) == math.inf


@pytest.mark.parametrize("code", REFUSED)
@pytest.mark.parametrize("module", ["linkwork.faces.pykdl", "PyKDL"])
def test_what_is_refused_is_refused_as_there(code: str, module: str):
    names = names_for(pytest.importorskip(module, reason="PyKDL is not installed"))
    with pytest.raises(Exception) as caught:
        eval(code, names)
    assert any(kind.__name__ == REFUSED[code] for kind in type(caught.value).__mro__)


@pytest.mark.parametrize("name", "vrftw")
def test_values_are_shown_as_there(name: str, kdl: Any):
    assert repr(names_for(pykdl)[name]) == repr(names_for(kdl)[name])


@pytest.mark.parametrize(
    "numbers", [(1e-10, -12345.6789, 1e20), (-0.0, 1 / 3, 1e5), (1, math.inf, 999999.5)]
)
def test_odd_numbers_are_shown_as_there(numbers: tuple[float, ...], kdl: Any):
    assert repr(pykdl.Vector(*numbers)) == repr(kdl.Vector(*numbers))


# what is different on purpose


def test_short_vectors_have_a_length(kdl: Any):
    assert kdl.Vector(1e-7, 0, 0).Norm() == 0.0
    assert pykdl.Vector(1e-7, 0, 0).Norm() == 1e-7


def test_small_turns_are_not_lost(kdl: Any):
    assert kdl.Rotation.RotX(4e-7).GetRot().Norm() == 0.0
    assert pykdl.Rotation.RotX(4e-7).GetRot().x() == pytest.approx(4e-7, rel=1e-15)


def test_rotation_vel_about_y_turns_about_y(kdl: Any):
    theirs = kdl.RotationVel.RotY(kdl.doubleVel(0.3, 0.4))
    assert flat(theirs.R) == flat(kdl.Rotation.RotX(0.3))  # and its velocity is about y
    ours = pykdl.RotationVel.RotY(pykdl.doubleVel(0.3, 0.4))
    assert flat(ours.R) == flat(pykdl.Rotation.RotY(0.3))
    assert flat(ours.w) == flat(theirs.w)


def test_diff_of_moving_frames_fits_add_delta(kdl: Any):
    makers = Operation("", "ff").arguments(Source("frames"))
    theirs = kdl.diff(*[make(kdl) for make in makers])
    a, b = [make(pykdl) for make in makers]
    ours = pykdl.diff(a, b)
    assert distance(flat(ours.vel) + flat(ours.rot), flat(theirs.rot) + flat(theirs.vel)) < 1e-12
    assert pykdl.Equal(pykdl.addDelta(a, ours), b, 1e-12)


def test_quaternions_of_any_length(kdl: Any):
    assert kdl.Rotation.Quaternion(0, 0, 0, 2)[0, 0] == 4.0
    assert pykdl.Rotation.Quaternion(0, 0, 0, 2) == pykdl.Rotation()


# live parts and copies


def changed(M: Any) -> list[float]:
    """What is left when parts of values are changed in many ways."""
    f, t = names_for(M)["f"], names_for(M)["t"]
    turn, place, vel = f.M, f.p, t.vel
    f.M, f.p = M.Rotation.RotX(0.5), M.Vector(7, 8, 9)
    place[0] = 1.0
    turn.DoRotZ(0.2)
    t.vel = M.Vector(4, 4, 4)
    vel.y(5.0)
    other = M.Frame(f)
    other.p[2] = -1.0
    f[1, 3], f[0, 2] = 0.25, 0.75
    w = M.Wrench(place, place)
    w.force[0] = 3.0
    t[5] = 2.0
    moved = copy.copy(f)
    moved.p.x(100.0)
    moving = M.FrameVel(f, t)
    moving.p.v = M.Vector(1, 2, 3)
    moving.M.w[1] = 8.0
    moving.M.R = turn
    return flat([f, t, turn, place, vel, other, w, moved, copy.deepcopy(t), moving])


def test_parts_are_live_where_they_are_there(kdl: Any):
    assert distance(changed(pykdl), changed(kdl)) < TOLERANCE


# solvers


@pytest.mark.slow
@pytest.mark.parametrize("seed", CHAINS)
def test_solvers_say_what_pykdl_says(seed: str, kdl: Any):
    segments, scaled = CHAINS[seed]
    theirs, ours = (chain(module, seed, segments, scaled=scaled) for module in (kdl, pykdl))
    found: dict[str, float] = {}
    for k in range(POSITIONS_ASKED):
        expected = said(kdl, theirs, f"{seed} {k}", inverses=not scaled)
        got = said(pykdl, ours, f"{seed} {k}", inverses=not scaled)
        assert set(got) == set(expected)
        for name, numbers in expected.items():
            found[name] = max(found.get(name, 0.0), apart(got[name], numbers))
    print(f"chain {seed}, {POSITIONS_ASKED} positions", *found.items(), sep="\n")
    assert max(found.values()) < OF_CHAINS


@pytest.mark.row("S3-121", "S3-122", "S3-123", "S3-124", "S3-125", "S3-127", "S3-130", "S3-131")
@pytest.mark.sweep(1)
@pytest.mark.parametrize("seed", CHAINS)
def test_solvers_say_what_pykdl_said(seed: str):
    stored = CHAIN_FACTS["chains"][seed]
    assert len(stored) == POSITIONS and CHAIN_FACTS["version"] == pykdl.__version__
    for ours, theirs in zip(of_chain(pykdl, seed, POSITIONS), stored, strict=True):
        assert set(ours) == set(theirs)
        for name, numbers in theirs.items():
            assert apart(ours[name], numbers) < OF_CHAINS, name


def test_the_comparison_of_chains_can_fail():
    assert apart([1.0, 2.0], [1.0, 2.0 + 1e-10]) > OF_CHAINS
    assert apart([1.0], [1.0, 2.0]) == float("inf")
    assert apart([float("nan")], [1.0]) == float("inf")
