"""What every limit must keep: found by subclass, so that a new one is tested by being written."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.compile.cache import Cache
from linkwork.compile.compiler import Compiler
from linkwork.errors import LinkworkError
from linkwork.solve.clearance import Clearance
from linkwork.solve.controller import Controller
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.limits import (
    AccelerationLimit,
    CoupledLimit,
    Limit,
    PositionLimit,
    RangeLimit,
    VelocityLimit,
)
from seeds import rng

TIMES = [1e-6, 1e-4, 2e-3, 0.1, 1.0, 10.0]
JOINT, OTHER = 1, 2  # of ur5e: the elbow's range depends on the shoulder's, and back
BY_OTHER = np.array([[-2.0, -2.5, -0.5], [0.0, -2.0, 1.0], [1.5, -0.5, 2.0]])
BY_JOINT = np.array([[-2.5, -2.5, 1.0], [0.0, -1.5, 1.5], [2.0, -0.5, 2.0]])


class Position:
    """A margin of 0.1 everywhere, of 0.3 at one joint."""

    limit = PositionLimit

    def make(self, m, dt, v):
        margin = {name: 0.1 for name in m.joint_names}
        return [PositionLimit({**margin, m.joint_names[1]: 0.3})]

    def ends(self, m):
        margin = np.where(np.arange(m.n_q) == 1, 0.3, 0.1)
        return m.lower + margin, m.upper - margin

    def inside(self, m, q, start, dt, v):
        low, high = self.ends(m)
        return (q >= low) & (q <= high)

    def draw(self, m, r, start, dt, v):
        low, high = self.ends(m)
        return low + r.random(start.shape) * (high - low)


class Range(Position):
    """From -1 to 1.5 everywhere, from 0.2 at one joint."""

    limit = RangeLimit

    def make(self, m, dt, v):
        lower = {name: -1.0 for name in m.joint_names}
        return [RangeLimit({**lower, m.joint_names[1]: 0.2}, np.full(m.n_q, 1.5))]

    def ends(self, m):
        lower = np.where(np.arange(m.n_q) == 1, 0.2, -1.0)
        return np.maximum(m.lower, lower), np.minimum(m.upper, 1.5)


class Velocity:
    """The description's velocities."""

    limit = VelocityLimit

    def make(self, m, dt, v):
        return [VelocityLimit(dt)]

    def inside(self, m, q, start, dt, v):
        return np.abs(q - start) <= m.velocity_limit * dt

    def draw(self, m, r, start, dt, v):
        reach = 0.3 * m.velocity_limit * dt
        return np.clip(start + r.uniform(-1.0, 1.0, start.shape) * reach, m.lower, m.upper)


class Acceleration:
    """5 rad/s² after a velocity from which every joint can stop in time."""

    limit = AccelerationLimit
    a_max = 5.0

    def make(self, m, dt, v):
        return [AccelerationLimit(dt, self.a_max, v=v)]

    def inside(self, m, q, start, dt, v):
        rounding = 1e-15 * (1.0 + np.abs(start))
        return np.abs(q - start - v * dt) <= self.a_max * dt * dt * (1.0 + 1e-12) + rounding

    def draw(self, m, r, start, dt, v):
        low, high = acceleration_box(m, start, dt, v, self.a_max)
        return low + r.uniform(0.4, 0.6, start.shape) * (high - low)


class Coupled:
    """Two joints that bound each other."""

    limit = CoupledLimit

    def make(self, m, dt, v):
        a, b = m.joint_names[JOINT], m.joint_names[OTHER]
        return [CoupledLimit(a, b, BY_OTHER), CoupledLimit(b, a, BY_JOINT)]

    def inside(self, m, q, start, dt, v):
        low, high = (np.interp(q[..., OTHER], BY_OTHER[:, 0], BY_OTHER[:, k]) for k in (1, 2))
        first = (q[..., JOINT] >= low) & (q[..., JOINT] <= high)
        low, high = (np.interp(q[..., JOINT], BY_JOINT[:, 0], BY_JOINT[:, k]) for k in (1, 2))
        return np.stack([first, (q[..., OTHER] >= low) & (q[..., OTHER] <= high)], axis=-1)

    def draw(self, m, r, start, dt, v):
        drawn = m.lower + r.random((40 * len(start), m.n_q)) * (m.upper - m.lower)
        return drawn[self.inside(m, drawn, None, dt, v).all(axis=-1)][: len(start)]


CASES = [Position(), Range(), Velocity(), Acceleration(), Coupled()]
IDS = [case.limit.__name__ for case in CASES]


def acceleration_box(m, start, dt, v, a):
    """Where a step may end so that braking, step by step, ends before the limits: by bisection."""
    low, high = start + (v - a * dt) * dt, start + (v + a * dt) * dt

    def stops(step, room):
        gone, rate = step.copy(), step / dt
        for _ in range(int(np.ceil(np.max(np.abs(rate)) / (a * dt))) + 1):
            rate = np.maximum(rate - a * dt, 0.0)
            gone += rate * dt
        return gone <= room

    def longest(room):
        least, most = np.zeros_like(room), room.copy()
        for _ in range(60):
            middle = 0.5 * (least + most)
            fine = stops(middle, room)
            least, most = np.where(fine, middle, least), np.where(fine, most, middle)
        return least

    if dt < 1e-3:  # too many steps to follow: v² <= 2 a d is as good
        return low, high
    return (
        np.maximum(low, start - longest(start - m.lower)),
        np.minimum(high, start + longest(m.upper - start)),
    )


@pytest.fixture(scope="module")
def robot():
    return lw.load("ur5e")


@pytest.fixture(scope="module")
def compiler(tmp_path_factory):
    """Code is made once for all time steps: they are numbers, not structure."""
    return Compiler(cache=Cache(tmp_path_factory.mktemp("code")))


def states(robot, label, n, *, beyond):
    """Configurations anywhere, at limits, and (where asked for) beyond them; slow velocities."""
    r, m = rng(label), robot.mechanism
    q = m.lower + r.random((n, m.n_q)) * (m.upper - m.lower)
    kind = r.integers(0, 6, q.shape)
    q = np.where(kind == 0, m.lower, np.where(kind == 1, m.upper, q))
    if beyond:
        q = np.where(kind == 2, m.upper + r.random(q.shape), q)
        q = np.where(kind == 3, m.lower - 1e-9, q)
    return q


def stoppable(m, q, r, a, dt):
    """Velocities at q that can be stopped by 0.9 a before the limits."""
    up, down = np.maximum(m.upper - q, 0.0), np.maximum(q - m.lower, 0.0)

    def most(room):
        return np.minimum(np.sqrt(2.0 * 0.9 * a * room), m.velocity_limit)

    return r.uniform(-0.9, 0.9, q.shape) * np.minimum(most(up), most(down))


def test_every_limit_is_here():
    def below(kind):
        return {k for each in kind.__subclasses__() for k in (each, *below(each))}

    ours = {k for k in below(Limit) if k.__module__.startswith("linkwork.")}
    ours.remove(Clearance)  # it bounds no position: tests/solve/test_clearance.py
    assert ours == {case.limit for case in CASES}


@pytest.mark.sweep(1)
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_next_configuration_is_inside_for_every_time_step(robot, compiler, case):
    m = robot.mechanism
    r = rng(f"next {case.limit.__name__}")
    for dt in TIMES:
        q = states(robot, f"states {dt}", 200, beyond=case.limit is not AccelerationLimit)
        v = np.zeros_like(q)
        if case.limit is AccelerationLimit:
            v = stoppable(m, q, r, Acceleration.a_max, dt)
        limits = case.make(m, dt, v)
        control = Controller(m, "tool0", dt=dt, limits=limits, compiler=compiler)
        T = robot.fk(robot.random(200, seed=3), "tool0")
        after = control.step(q, T)
        assert ((after >= m.lower) & (after <= m.upper)).all()
        start = np.clip(q, m.lower, m.upper)
        if isinstance(case, Position):
            start = np.clip(q, *case.ends(m))
        if case.limit is not CoupledLimit:  # which may exclude what is near
            assert case.inside(m, after, start, dt, v).all()
        assert (np.abs(after - start) <= m.velocity_limit * dt).all()
        single = np.array([control.step(*row) for row in zip(q[:9], T[:9], strict=True)])
        if case.limit is not AccelerationLimit:  # whose own numbers are one for each row
            np.testing.assert_array_equal(single, after[:9])


@pytest.mark.sweep(2)
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_solver_returns_what_is_inside_and_reaches_what_can_be_reached(robot, compiler, case):
    m, n = robot.mechanism, 100
    r = rng(f"solver {case.limit.__name__}")
    for dt in (2e-3, 0.1, 10.0):
        q0 = np.clip(states(robot, f"starts {dt}", n, beyond=False), m.lower, m.upper)
        v = np.zeros_like(q0)
        if case.limit is AccelerationLimit:
            v = stoppable(m, q0, r, Acceleration.a_max, dt)
        solver = InverseKinematics(m, "tool0", limits=case.make(m, dt, v), compiler=compiler)
        goal = case.draw(m, r, q0, dt, v)
        result = solver.solve(robot.fk(goal, "tool0"), q0)
        assert result.success.all()
        assert case.inside(m, result.q, q0, dt, v).all()
        far = solver.solve(robot.fk(robot.random(n, seed=5), "tool0"), q0, tries=5)
        assert case.inside(m, far.q, q0, dt, v)[far.success].all()
        if case.limit is not CoupledLimit:
            assert case.inside(m, far.q, q0, dt, v).all()


def test_restarts_are_drawn_from_what_can_be_reached(robot, compiler):
    m, n, dt = robot.mechanism, 5000, 0.7
    q0, r = robot.random(n, seed=1), rng("restarts")
    reach = m.velocity_limit * dt
    goal = np.clip(q0 + r.uniform(-1.0, 1.0, q0.shape) * reach, m.lower, m.upper)
    solver = InverseKinematics(m, "tool0", limits=[VelocityLimit(dt)], compiler=compiler)
    result = solver.solve(robot.fk(goal, "tool0"), q0)
    assert result.success.all()
    assert result.restarts.mean() < 4.0  # drawn from everywhere and clamped: 7.5


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_one_target_has_the_answer_that_it_has_in_a_batch(robot, compiler, case):
    m = robot.mechanism
    q0 = robot.random(20, seed=7)
    goal = case.draw(m, rng("single"), q0, 0.1, np.zeros(m.n_q))
    solver = InverseKinematics(
        m, "tool0", limits=case.make(m, 0.1, np.zeros(m.n_v)), compiler=compiler
    )
    T = robot.fk(goal, "tool0")
    together = solver.solve(T, q0)
    for k in range(len(T)):
        np.testing.assert_array_equal(solver.solve(T[k], q0[k]).q, together.q[k])


def test_not_a_number_is_refused_everywhere(robot):
    m, nan = robot.mechanism, float("nan")
    a, b = m.joint_names[:2]
    table = np.array([[0.0, -1.0, nan]])
    for make in (
        lambda: PositionLimit(nan),
        lambda: PositionLimit({a: nan}),
        lambda: RangeLimit(nan),
        lambda: RangeLimit(0.2, {b: 0.1}),
        lambda: RangeLimit({a: 9.0}),
        lambda: VelocityLimit(nan),
        lambda: VelocityLimit(0.1, nan),
        lambda: AccelerationLimit(0.1, nan),
        lambda: AccelerationLimit(0.1, 1.0, v=np.full(m.n_v, nan)),
        lambda: CoupledLimit(a, b, table),
    ):
        with pytest.raises(LinkworkError):
            make().bind(m)
    solver = InverseKinematics(m, "tool0", limits=[AccelerationLimit(0.1, 1.0)])
    T = robot.fk(np.zeros(m.n_q), "tool0")
    with pytest.raises(LinkworkError, match="acceleration"):
        solver.solve({"tool0": T, "acceleration": np.full(m.n_v, nan)})
    with pytest.raises(LinkworkError, match="acceleration"):
        solver.solve(T)
