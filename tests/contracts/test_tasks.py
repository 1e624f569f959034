"""What every kind of task of inverse kinematics promises, over all of them and many robots."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from functools import cache
from typing import Any, NamedTuple

import casadi
import numpy as np
import pytest

import linkwork.solve
from ik_cases import CASES, SETUPS, Case, Setup, setup
from linkwork.algorithms.configuration import integrate
from linkwork.compile.symbolic import on_symbols
from linkwork.errors import InputError, LinkworkError, ShapeError, UnknownNameError
from linkwork.mechanism.model import JointType
from linkwork.ops.graph import GraphOps
from linkwork.ops.numpy import NUMPY
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.tasks import BoundTask, Closed, Task, beyond_slack
from seeds import rng

pytestmark = pytest.mark.sweep(2, by="where")

KINDS = sorted(CASES, key=lambda kind: kind.__name__)
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
every_setup = pytest.mark.parametrize(  # what is traced of a humanoid takes seconds
    "where",
    [
        pytest.param(w, marks=[pytest.mark.slow] * (w == "humanoid"))
        for w in SETUPS
        if w not in ("ur5e", "two_arm_torso")  # another arm; branches, which others have
    ],
)


def cases(kind: type[Task], where: str) -> list[tuple[Setup, Case]]:
    s = setup(where)
    return [(s, case) for case in CASES[kind] if case.fits(s)]


def every_case(where: str) -> list[tuple[Setup, type[Task], Case]]:
    return [(s, kind, case) for kind in KINDS for s, case in cases(kind, where)]


def home(kind: type[Task], usual: str) -> str:
    """The setup of this name, or the one that the kind needs."""
    fits = any(case.fits(setup(usual)) for case in CASES[kind])
    return usual if fits else next(label for label, _ in _homes(kind))


def _homes(kind: type[Task]) -> list[tuple[str, Case]]:
    return [(where, case) for where in SETUPS for _, case in cases(kind, where)]


class Numbers(NamedTuple):
    """A residual as numbers, and the derivative of its error by v, with the sign turned."""

    error: np.ndarray
    columns: np.ndarray  # (k, nv)
    squared: np.ndarray
    derivative: np.ndarray  # (k, nv), by automatic differentiation


@cache
def traced(where: str, kind: type[Task], label: str) -> tuple[BoundTask, Any]:
    """A bound task, and its residual compiled from the graph."""
    s, case = next((s, case) for s, case in cases(kind, where) if case.label == label)
    m = s.robot.mechanism
    bound = case.task(s).bind(m)
    q, v = casadi.SX.sym("q", m.n_q), casadi.SX.sym("v", m.n_v)
    target = casadi.SX.sym("target", bound.kind.n)

    def parts(o, q, target):
        found = bound.residual(o, q, target)
        return found.error, o.matrix(found.columns), o.vector(found.squared)

    def moved(o, q, v, target):
        return bound.residual(o, integrate(o, m, q, v), target).error

    slope = casadi.jacobian(on_symbols(moved, q, v, target), v)
    slope = casadi.substitute(slope, v, casadi.SX.zeros(m.n_v))
    outputs = [casadi.densify(x) for x in (*on_symbols(parts, q, target), -slope)]
    return bound, casadi.Function("residual", [q, target], outputs, {"cse": True})


def numbers(where: str, kind: type[Task], case: Case, q: Any, target: Any) -> Numbers:
    bound, function = traced(where, kind, case.label)
    rows = bound.rows_of(target) if bound.kind.n else np.zeros(0)
    error, columns, squared, derivative = (np.array(x) for x in function(q, rows))
    return Numbers(error[:, 0], columns, squared[:, 0], derivative)


def errors(where: str, kind: type[Task], case: Case, q: Any, target: Any) -> np.ndarray:
    """The error of each group, in its unit."""
    bound, _ = traced(where, kind, case.label)
    squared = numbers(where, kind, case, q, target).squared
    return np.array([group.error(x) for group, x in zip(bound.groups, squared, strict=True)])


def near(s: Setup, q: np.ndarray, far: float, label: str) -> np.ndarray:
    """A configuration ``far`` away from q on the group."""
    way = rng(f"near {label}").normal(size=s.robot.n_v)
    return s.robot.integrate(q, far * way / np.linalg.norm(way))


def some(s: Setup, label: str, n: int = 2) -> np.ndarray:
    return s.robot.random(n, seed=rng(f"{s.label} {label}"))


def test_every_kind_of_task_is_here():
    for module in pkgutil.walk_packages(linkwork.solve.__path__, "linkwork.solve."):
        importlib.import_module(module.name)
    found: set[type] = set()
    waiting: list[type] = [Task]
    while waiting:
        below = waiting.pop().__subclasses__()
        waiting += below
        found |= {each for each in below if each.__module__.startswith("linkwork.")}
    assert found == set(CASES), "give the new kind of task its cases in tests/ik_cases.py"


@every_setup
def test_columns_are_the_derivative_where_the_task_is_done(where: str):
    for s, kind, case in every_case(where):
        if case.kink or not traced(where, kind, case.label)[0].kind.n:
            continue
        for q in some(s, case.label):
            at = numbers(where, kind, case, q, case.present(s, q))
            np.testing.assert_allclose(at.columns, at.derivative, atol=1e-9, err_msg=case.label)


@every_setup
def test_columns_are_the_derivative_to_first_order_elsewhere(where: str):
    for s, kind, case in every_case(where):
        for q in some(s, case.label):
            target = case.present(s, q)
            gaps = []
            for far in (1e-2, 1e-4):
                at = numbers(where, kind, case, near(s, q, far, case.label), target)
                gaps.append(float(np.abs(at.columns - at.derivative).max()))
            if case.exact:
                assert max(gaps) < 1e-8, (case.label, gaps)
            else:  # the gap shrinks at least as fast as the error
                assert gaps[1] < 0.05 * gaps[0] + 1e-9, (case.label, gaps)


@every_setup
def test_columns_agree_with_finite_differences(where: str):
    h = 1e-6
    for s, kind, case in every_case(where):
        q = some(s, case.label, 1)[0]
        target = case.present(s, q)
        if not case.exact:  # elsewhere they are of first order only
            continue
        q = near(s, q, 0.3, case.label)
        at = numbers(where, kind, case, q, target)
        for k, step in enumerate(h * np.eye(s.robot.n_v)):
            low, high = (
                numbers(where, kind, case, s.robot.integrate(q, x), target).error
                for x in (-step, step)
            )
            slope = -(high - low) / (2 * h)
            np.testing.assert_allclose(
                at.columns[:, k], slope, atol=1e-6, err_msg=f"{case.label}, v[{k}]"
            )


@every_setup
def test_it_is_done_where_the_target_is_the_present_value(where: str):
    for s, kind, case in every_case(where):
        if not traced(where, kind, case.label)[0].kind.n:
            continue
        for q in some(s, case.label):
            at = numbers(where, kind, case, q, case.present(s, q))
            assert np.abs(at.error).max() < 1e-9, case.label
            assert at.squared.max() < 1e-17, case.label


@every_setup
def test_the_measure_is_how_far_it_is_from_done(where: str):
    for s, kind, case in every_case(where):
        start, *others = some(s, case.label, 4)
        target = case.present(s, start)
        for q in (*others, near(s, start, 1e-3, case.label)):
            found = errors(where, kind, case, q, target)
            np.testing.assert_allclose(
                found, case.left(s, q, target), rtol=1e-6, atol=2e-8, err_msg=case.label
            )


@every_setup
def test_what_is_as_good_is_done_as_well(where: str):
    for s, kind, case in every_case(where):
        g = rng(f"{where} {case.label}")
        for q in some(s, case.label):
            for target in case.alike(s, case.present(s, q), g):
                assert errors(where, kind, case, q, target).max() < 1e-7, case.label


@every_setup
def test_an_antipode_is_never_done(where: str):
    for s, kind, case in every_case(where):
        for q in some(s, case.label):
            for target in case.antipodes(s, case.present(s, q)):
                assert errors(where, kind, case, q, target).max() > 1.0, case.label
                left = np.max(case.left(s, q, target))
                assert errors(where, kind, case, q, target).max() == pytest.approx(left, abs=1e-6)


EVERY_CASE = [  # that loops can be closed is what the tests of assembly are about
    (kind, case.label) for kind in CASES if kind is not Closed for case in CASES[kind]
]


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("kind", "label"), EVERY_CASE, ids=[label for _, label in EVERY_CASE])
def test_what_can_be_reached_is_reached(kind: type[Task], label: str):
    s = setup(home(kind, "panda"))
    case = next(case for case in CASES[kind] if case.label == label)
    bound = case.task(s).bind(s.robot.mechanism)
    q = some(s, f"reached {label}", 30)
    targets = np.array([case.present(s, each) for each in q]) if bound.kind.n else None
    start = None if bound.kind.n else np.array([near(s, each, 0.05, label) for each in q])
    result = InverseKinematics(s.robot.mechanism, case.task(s)).solve(targets, start)
    assert result.success.all(), result.reason
    allowed = [
        1.01 * tolerance + np.linalg.norm(bound.slack[group.start : group.stop])
        for group, tolerance in zip(bound.groups, bound.tolerances, strict=True)
    ]
    for k, each in enumerate(result.q):
        left = case.left(s, each, None if targets is None else targets[k])
        assert (np.array(left) <= np.array(allowed[: len(left)]) + 1e-9).all()


@every_setup
def test_both_back_ends_agree(where: str):
    for s, kind, case in every_case(where):
        bound, _ = traced(where, kind, case.label)
        q, other = some(s, case.label)
        target = case.present(s, other)
        rows = bound.rows_of(target) if bound.kind.n else np.zeros(0)
        plain, graph = bound.residual(NUMPY, q, rows), numbers(where, kind, case, q, target)
        np.testing.assert_allclose(plain.error, graph.error, atol=1e-12, err_msg=case.label)
        np.testing.assert_allclose(
            np.array(plain.columns).T, graph.columns, atol=1e-11, err_msg=case.label
        )
        np.testing.assert_allclose(plain.squared, graph.squared, atol=1e-12)
        assert len(plain.columns) == s.robot.n_v
        assert np.shape(plain.error) == (bound.n_rows,)


@every_setup
def test_it_depends_on_its_coordinates_alone(where: str):
    # what it does not depend on is zero in the solver: so is the quaternion of a floating base
    for s, kind, case in every_case(where):
        m, (bound, _) = s.robot.mechanism, traced(where, kind, case.label)
        q, other = some(s, case.label)
        target = case.present(s, other)
        found = numbers(where, kind, case, q, target)
        only = np.zeros(m.n_q)
        idle = []
        for c in range(len(m.joint_names)):
            if c in bound.coordinates:
                part = slice(m.q_start[c], m.q_start[c + 1])
                only[part] = q[part]
            else:
                idle += range(m.v_start[c], m.v_start[c + 1])
        again = numbers(where, kind, case, only, target)
        np.testing.assert_allclose(again.error, found.error, atol=1e-12, err_msg=case.label)
        np.testing.assert_allclose(again.columns, found.columns, atol=1e-11, err_msg=case.label)
        assert not found.columns[:, idle].any(), case.label


@every_setup
def test_slack_is_a_zone_of_zero(where: str):
    for s, kind, case in every_case(where):
        bound, _ = traced(where, kind, case.label)
        if not any(bound.slack):
            continue
        slack = np.array(bound.slack)
        q = some(s, case.label)[0]
        target = case.present(s, q)
        for far in (1e-4, 0.05, 0.3, 1.0):
            at = near(s, q, far, f"{case.label} {far}")
            plain = bound.residual(NUMPY, at, bound.rows_of(target))
            found = beyond_slack(NUMPY, plain, slack, bound.groups)
            inside = np.abs(plain.error) < slack
            beyond = np.maximum(np.abs(plain.error) - slack, 0.0)
            np.testing.assert_allclose(np.abs(found.error), beyond, atol=1e-15)
            assert not found.error[inside].any()
            assert not np.array(found.columns)[:, inside].any()
            kept = np.array(plain.columns)[:, ~inside]
            np.testing.assert_array_equal(np.array(found.columns)[:, ~inside], kept)
            for group, squared in zip(bound.groups, found.squared, strict=True):
                assert not group.chord  # true radians
                part = beyond[group.start : group.stop]
                assert squared == pytest.approx(part @ part, abs=1e-15)


@every_kind
def test_some_case_of_slack_is_inside_and_some_outside(kind: type[Task]):
    # so that the test above says something
    with_slack = [case for case in CASES[kind] if np.any(case.task(setup("panda")).slack)]
    exempt = {"CenterOfMass", "Posture", "JointCoupling", "Manipulability", "Position", "Closed"}
    assert with_slack or kind.__name__ in exempt
    for case in with_slack:
        s = setup(home(kind, "panda"))
        bound, _ = traced(home(kind, "panda"), kind, case.label)
        q = some(s, case.label)[0]
        sizes = [
            numbers("panda", kind, case, near(s, q, far, case.label), case.present(s, q)).error
            for far in (1e-4, 1.0)
        ]
        allowed = np.array(bound.slack)
        assert (np.abs(sizes[0]) < np.maximum(allowed, 1e-3)).all()
        assert (np.abs(sizes[1]) > allowed).any()


@every_kind
def test_targets_that_are_not_finite_or_of_another_shape_are_refused(kind: type[Task]):
    s = setup(home(kind, "every_joint"))
    for case in CASES[kind]:
        bound = dataclasses.replace(case.task(s), name="the task").bind(s.robot.mechanism)
        if not bound.kind.n:
            with pytest.raises(InputError, match="'the task'"):
                bound.rows_of([0.0])
            continue
        good = np.asarray(case.present(s, some(s, case.label)[0]))
        g = rng(case.label)
        for bad in (np.nan, np.inf, -np.inf):
            wrong = np.array(good)
            wrong.flat[g.integers(good.size)] = bad
            with pytest.raises(InputError, match=r"task 'the task': (target|at_least)"):
                bound.rows_of(wrong)
            many = np.stack([good, good, wrong, good])
            with pytest.raises(InputError, match=r"task 'the task': \w+ ?\[2"):
                bound.rows_of(many)
            with pytest.raises(InputError, match="task 'the task'"):
                dataclasses.replace(case.task(s), name="the task", **own(kind, wrong)).bind(
                    s.robot.mechanism
                )
        longer = np.zeros((*good.shape[:-1], good.shape[-1] + 1))
        for wrong in (longer, good[..., :-1], np.zeros((0, 7))):
            with pytest.raises(ShapeError, match="task 'the task'"):
                bound.rows_of(wrong)
        for wrong in ("x", ["x"] * 3, good + 1j, [[1.0], [2.0, 3.0]], None):
            with pytest.raises(InputError, match="task 'the task'"):
                bound.rows_of(wrong)


def own(kind: type[Task], target: Any) -> dict[str, Any]:
    """A target as the task's own argument."""
    names = {field.name for field in dataclasses.fields(kind)}
    return {"at_least" if "at_least" in names else "target": target}


@every_kind
def test_targets_have_any_leading_shape(kind: type[Task]):
    s = setup(home(kind, "every_joint"))
    for case in CASES[kind]:
        bound, _ = traced(home(kind, "every_joint"), kind, case.label)
        if not bound.kind.n:
            continue
        targets = [np.asarray(case.present(s, q)) for q in some(s, case.label, 6)]
        rows = np.array([bound.rows_of(each) for each in targets])
        assert rows.shape == (6, bound.kind.n)
        many = np.array(targets).reshape(2, 3, *targets[0].shape)
        np.testing.assert_array_equal(bound.rows_of(many), rows.reshape(2, 3, -1))
        assert bound.rows_of(many[:, :0]).shape == (2, 0, bound.kind.n)


@every_kind
def test_a_task_is_frozen(kind: type[Task]):
    s = setup(home(kind, "every_joint"))
    for case in CASES[kind]:
        task = case.task(s)
        for field in dataclasses.fields(task):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(task, field.name, None)
        bound = task.bind(s.robot.mechanism)
        with pytest.raises(dataclasses.FrozenInstanceError):
            bound.weight = 2.0
        if not bound.kind.n:
            continue
        target = np.array(case.present(s, some(s, case.label)[0]))
        given = dataclasses.replace(task, slack=[*bound.slack], **own(kind, target))
        before = given.bind(s.robot.mechanism)
        kept = np.array(before.target)
        target += 1.0
        np.testing.assert_array_equal(before.target, kept)
        np.testing.assert_array_equal(given.bind(s.robot.mechanism).target, kept)
        with pytest.raises(ValueError, match="read-only"):
            before.target[...] = 0.0


def residual_graph(m: Any, bound: BoundTask) -> Any:
    """The operations of a residual, and which of them it is."""
    o = GraphOps()
    found = bound.residual(o, o.input(0, m.n_q), o.input(1, bound.kind.n))
    blocks = [found.error, *found.columns, *map(o.const, found.squared)]
    return o.graph.operations, o.graph.arguments, o.graph.values, [b.numbers for b in blocks]


@every_kind
def test_the_same_key_is_the_same_code(kind: type[Task]):
    s = setup(home(kind, "every_joint"))
    m = s.robot.mechanism
    for case in CASES[kind]:
        bound = case.task(s).bind(m)
        changed: dict[str, Any] = {"weight": 3.0, "tolerance": 0.1, "priority": 2, "name": "n"}
        if any(bound.slack):
            changed["slack"] = 0.5
        if bound.kind.n:
            changed |= own(kind, case.present(s, some(s, case.label)[0]))
        other = dataclasses.replace(case.task(s), **changed).bind(m)
        assert other.key == bound.key
        graphs = [residual_graph(m, each) for each in (bound, other)]
        assert graphs[0] == graphs[1]
        assert (other.kind.n, other.n_rows, other.groups) == (
            bound.kind.n,
            bound.n_rows,
            bound.groups,
        )
        assert other.name == "n"
        assert other.weight == 3.0
        assert other.priority == 2
        assert set(other.tolerances) == {0.1}


def test_different_structure_is_a_different_key():
    for where in ("panda", "every_joint"):
        s = setup(where)
        keys = {}
        for kind in KINDS:
            for case in CASES[kind]:
                if not case.fits(s):
                    continue
                task = case.task(s)
                keys.setdefault(task.bind(s.robot.mechanism).key, []).append(case.label)
        twice = [labels for labels in keys.values() if len(labels) > 1]
        assert not twice, twice


@every_kind
def test_names_that_do_not_exist_are_refused_with_the_nearest(kind: type[Task]):
    s = setup(home(kind, "panda"))
    for case in CASES[kind]:
        task = case.task(s)
        for name in ("frame", "other", "joint", "joints"):
            value = getattr(task, name, None)
            if value:
                wrong = "link99" if name in ("frame", "other") else "joint99"
                with pytest.raises(UnknownNameError, match=wrong[:-2]):
                    dataclasses.replace(task, **{name: wrong}).bind(s.robot.mechanism)


SAYING_NOTHING: dict[str, list[Any]] = {
    "weight": [0.0, -1.0, np.nan, "1", None],
    "tolerance": [0.0, np.inf, (1e-3,) * 9, "1e-3"],
    "slack": [-0.1, np.nan, (0.1,) * 99, "0.1"],
    "priority": [-1, 8, 0.5, True],
    "name": [3],
    "axis": [(0, 0, 0), (0, 0, np.nan), (0, 1), "z"],
    "point": [(0, 0, np.inf), 1.0],
    "axes": ["xx", "", "w", 3, (True, False)],
    "axes_of": ["base", 3],
    "mirror": ["w", 1],
    "position": ["ab"],
    "rotation": [(2, 0, 0)],
    "ratio": [np.nan],
    "offset": ["1"],
    "joints": [[], ["joint1", "joint1"]],
}


@every_kind
def test_arguments_that_say_nothing_are_refused_by_name(kind: type[Task]):
    s = setup(home(kind, "panda"))
    for name in {field.name for field in dataclasses.fields(kind)} & {*SAYING_NOTHING}:
        for value in SAYING_NOTHING[name]:
            task = dataclasses.replace(CASES[kind][0].task(s), **{name: value})
            with pytest.raises(LinkworkError, match=rf"{kind.__name__}\.{name}"):
                task.bind(s.robot.mechanism)


@every_kind
def test_it_names_the_point_that_must_be_reached(kind: type[Task]):
    s = setup(home(kind, "panda"))
    for case in CASES[kind]:
        bound, _ = traced(home(kind, "panda"), kind, case.label)
        if not bound.has_point:
            continue
        q = some(s, case.label)[0]
        point = bound.rows_of(case.present(s, q))[:3]
        np.testing.assert_allclose(point, s.robot.fk(q, bound.frames[0])[:3, 3], atol=1e-12)


def test_the_robots_cover_every_type_of_joint():
    kinds = {kind for where in SETUPS for kind in setup(where).robot.mechanism.joint_types}
    assert kinds == set(JointType) - {JointType.FIXED}
    assert any(list(setup(where).robot.mechanism.followers()) for where in SETUPS)
