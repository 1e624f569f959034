"""Mechanisms with loops: assembling, inverse kinematics, Jacobian of the actuation, dynamics.

All sides run in this process, on the same numbers, one after the other in every round. What is
compared with what is checked first: every answer of every side must close the loops, and be at the
positions asked for. Peers are what their users have: Gauss-Newton over Pinocchio's kinematics,
SciPy's and CasADi's solvers on the same equations (`closed_peers`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from benchmarks import closed_peers as peers
from benchmarks.context import Context
from benchmarks.in_process import Case
from benchmarks.lines import Line
from linkwork.models import MODELS

Floats = NDArray[np.float64]

BATCH = 100_000
SINGLE = 200
SLOW = 20
"""Inputs of the sides that take a millisecond each."""
MUST_SHOW = 10_000
SPREAD = 0.3
"""Share of the ranges, about the middle, that single calls from `near` are asked for."""
CLOSED = 1e-9
"""What a closure of any side may be open by, and its frame away from the target."""
GENERAL = {
    "scipy": (
        ("optimize.root, our compiled equations", peers.scipy_root),
        ("optimize.least_squares, our compiled equations", peers.scipy_least_squares),
    ),
    "casadi": (
        ("rootfinder newton", peers.casadi_rootfinder),
        ("nlpsol Ipopt, least squares", peers.casadi_ipopt),
    ),
}


def asked_of(context: Context, name: str, operation: str) -> Case:
    """What is asked of one mechanism."""
    return Case(context, "closed", name, operation, CLOSED)


class Mechanism:
    """A bundled mechanism with its equations and random positions of its actuated joints."""

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.tip = name, MODELS[name].tip
        self.robot, self.equations = peers.load(name)
        self.near = self.robot.neutral()
        self.rng = np.random.default_rng([seed, *name.encode()])

    def states(self, n: int, share: float = 1.0) -> Floats:
        """Positions of the actuated joints (n, n_actuated); joints without limits: half a turn."""
        at = self.equations.given
        lower, upper = (np.clip(x[at], -np.pi, np.pi) for x in self.robot.limits[:2])
        half = 0.5 * share * (upper - lower)
        return 0.5 * (lower + upper) + half * self.rng.uniform(-1, 1, (n, len(at)))

    def assembled(self, n: int) -> Floats:
        """Configurations that are assembled (n, nq)."""
        found = self.robot.assemble(self.states(2 * n, SPREAD), q0=self.near, threads=1)
        return np.ascontiguousarray(found.q[found.success][:n])

    def open_by(self, q: Any, given: Floats) -> tuple[float, str]:
        """The largest closure and distance from the positions given, of the answers that close."""
        q = np.array(q).reshape(-1, self.robot.mechanism.n_q)
        gaps = np.abs(self.robot.closure(q)).max(axis=1)
        off = q[:, self.equations.given] - given
        off = np.abs(off - 2 * np.pi * np.round(off / (2 * np.pi))).max(axis=1)
        good = gaps < CLOSED
        said = "" if good.all() else f"closes {100 * good.mean():.0f} %"
        worst = max(gaps[good].max(), off[good].max()) if good.mean() > 0.5 else gaps.max()
        return float(worst), said


def run(context: Context, names: Sequence[str] | None = None) -> None:
    """All mechanisms with loops that are bundled, or some of them.

    Raises: ValueError for names that are none.
    """
    every = [name for name in MODELS if MODELS[name].closed]
    for name in names or ():
        if name not in every:
            raise ValueError(f"'{name}' is no bundled mechanism with loops: {', '.join(every)}")
    core = context.report.settings.get("core")
    if core is not None:
        os.sched_setaffinity(0, {int(core)})
    for name in names or every:
        mechanism = Mechanism(name, context.seed)
        must_show(context, mechanism)
        assembly(context, mechanism)
        if name in TARGETS:
            inverse(context, mechanism)
        actuation(context, mechanism)
        dynamics(context, mechanism)


def must_show(context: Context, of: Mechanism) -> None:
    """10,000 random states over the whole ranges: how many are refused, how the others close."""
    given = of.states(MUST_SHOW)
    result = of.robot.assemble(given, threads=1)
    gap = float(np.abs(of.robot.closure(result.q[result.success])).max())
    refused = 1.0 - float(result.success.mean())
    said = f"closure {gap:.1e}, {100 * refused:.2f} % refused"
    if gap >= 1e-12:
        context.report.problem(f"{of.name}: closure {gap:.1e} is above 1e-12")
    case = asked_of(context, of.name, "assemble, any state")
    solver = of.robot.assembler()
    line = Line("assembler.solve, 10,000 rows", "r = solve(q)", {"solve": solver.solve}, "batch")
    case.add(context.ours, line, [given], per_item=MUST_SHOW, check=lambda _: (gap, said))
    case.run()


def assembly(context: Context, of: Mechanism) -> None:
    """Single calls from near beside the peers', and a batch."""
    case = asked_of(context, of.name, "assemble from near")
    given, near = of.states(SINGLE, SPREAD), of.near
    rows = list(given)
    few, slow = given[:SLOW], list(given[:SLOW])
    names = {"solve": of.robot.assembler().solve, "near": near}
    batch = of.states(BATCH, SPREAD)

    def check(rows: Floats, take: Callable[[Any], Any] = lambda r: r) -> Any:
        return lambda found: of.open_by([take(r) for r in found], rows)

    ours = Line("assembler.solve(q, near)", "r = solve(q, near)", names, "single")
    case.add(context.ours, ours, rows, check=check(given, lambda r: r.q))
    ours = Line(f"assembler.solve(q, near), {BATCH:,} rows", "r = solve(q, near)", names, "batch")
    case.add(context.ours, ours, [batch], per_item=BATCH, check=check(batch, lambda r: r.q))
    pin = _pinocchio(context, of)
    if pin is not None:
        line = Line("Gauss-Newton over frames", "r = solve(q)", {"solve": pin.assemble(near)})
        case.add("pinocchio", line, rows, check=check(given))
    for peer, ways in GENERAL.items():
        for label, make in ways:
            solve = _offered(context, peer, of.name, lambda make=make: make(of.equations, near))
            if solve is not None:
                line = Line(label, "r = solve(q)", {"solve": solve})
                case.add(peer, line, slow, check=check(few))
    context.report.leave_out("mujoco", "closed assemble", _MUJOCO)
    case.run()


_MUJOCO = "it has no call that assembles: equality constraints are met by stepping until at rest"

TARGETS = {"stewart": True, "delta": False, "excavator": False, "five_bar": False}
"""The mechanisms whose frames are asked for, and whether turned as well."""


def inverse(context: Context, of: Mechanism) -> None:
    """Frames to configurations that are assembled, one a call and in a batch."""
    case, robot, turned = asked_of(context, of.name, "ik with loops"), of.robot, TARGETS[of.name]
    T = robot.fk(of.assembled(10_000), of.tip)
    task = lw.ik.Pose(of.tip) if turned else lw.ik.Position(of.tip, axes=_axes(of.name))
    tight = {"position_tolerance": 1e-10, "rotation_tolerance": 1e-10} if turned else {}
    tight = tight or {"position_tolerance": 1e-10}
    asked = T if turned else T[:, :3, 3]
    names: dict[str, Any] = {
        "solve": robot.solver(tasks=[task]).solve, "near": of.near, "tight": tight,
    }  # fmt: skip
    k = slice(None) if _axes(of.name) == "xyz" else slice(0, 2)

    def check(n: int, take: Callable[[Any], Any] = lambda r: r) -> Any:
        def judge(found: list[Any]) -> tuple[float, str]:
            q = np.array([take(r) for r in found]).reshape(n, -1)
            gaps = np.abs(robot.closure(q)).max(axis=1)
            away = np.abs(robot.fk(q, of.tip) - T[:n])
            away = (away if turned else away[:, :3, 3][:, k]).reshape(n, -1).max(axis=1)
            good = (gaps < CLOSED) & (away < CLOSED)
            said = "" if good.all() else f"solves {100 * good.mean():.0f} %"
            worst = np.maximum(gaps, away)
            return float(worst[good].max() if good.mean() > 0.5 else worst.max()), said

        return judge

    statement = "r = solve(q, near, **tight)"
    one = Line("solver.solve, one target", statement, names, "single")
    case.add(context.ours, one, list(asked[:SINGLE]),
             check=check(SINGLE, lambda r: r.q))  # fmt: skip
    many = Line("solver.solve, 10,000 targets", statement, names, "batch")
    case.add(context.ours, many, [np.ascontiguousarray(asked)],
             per_item=len(T), check=check(len(T), lambda r: r.q))  # fmt: skip
    pin = _pinocchio(context, of)
    if pin is not None:
        solve = pin.inverse(of.near, of.tip, turned=turned)
        line = Line("Gauss-Newton over frames, no limits", "r = solve(q)", {"solve": solve})
        case.add("pinocchio", line, list(T[:SINGLE]), check=check(SINGLE))
    case.run()


def _axes(name: str) -> str:
    return "xy" if name == "five_bar" else "xyz"


def actuation(context: Context, of: Mechanism) -> None:
    """From speeds of the actuated joints to the frame's velocity."""
    case, robot, tip = asked_of(context, of.name, "actuation Jacobian"), of.robot, of.tip
    q = of.assembled(SINGLE)
    many = np.ascontiguousarray(np.tile(q, (50, 1)))
    expected = robot.actuation_jacobian(q, tip)
    names = {"J": robot.actuation_jacobian, "tip": tip}
    one = Line("robot.actuation_jacobian", "r = J(q, tip)", names, "single")
    case.add(context.ours, one, list(q))
    batch = Line(f"robot.actuation_jacobian, {len(many):,} rows", "r = J(q, tip)", names, "batch")
    case.add(context.ours, batch, [many], per_item=len(many))
    pin = _pinocchio(context, of)
    if pin is not None:
        line = Line("frames, then NumPy", "r = J(q)", {"J": pin.actuation_jacobian(tip)})

        def check(found: list[Any]) -> tuple[float, str]:
            return 1e-3 * float(np.abs(np.array(found) - expected).max()), ""  # of 1e-6

        case.add("pinocchio", line, [pin.to(row) for row in q], check=check)
    case.run()


def dynamics(context: Context, of: Mechanism) -> None:
    """Accelerations that keep the loops closed, where `forward_dynamics` gives those."""
    case, robot = asked_of(context, of.name, "forward dynamics"), of.robot
    q = of.assembled(SINGLE)
    rates = robot.passive_rates(q)
    speeds = of.rng.uniform(-1, 1, (SINGLE, rates.shape[2]))
    v = np.einsum("nij,nj->ni", rates, speeds)
    tau = np.zeros_like(v)
    driven = [int(robot.mechanism.v_start[robot.mechanism.joint(j)]) for j in robot.actuated]
    tau[:, driven] = of.rng.uniform(-1, 1, speeds.shape)
    try:
        still = robot.forward_dynamics(q, np.zeros_like(v), tau)
        slips = float(np.abs(np.einsum("nij,nj->ni", robot.closure_jacobian(q), still)).max())
    except lw.LinkworkError as error:
        context.report.leave_out(context.ours, "closed forward dynamics", str(error))
        return
    if slips > 1e-6:
        reason = "forward_dynamics does not keep loops closed yet"
        context.report.leave_out(context.ours, "closed forward dynamics", reason)
        return
    rows = [(np.array(a), np.array(b), np.array(c)) for a, b, c in zip(q, v, tau, strict=True)]
    expected = robot.forward_dynamics(q, v, tau)
    names = {"f": robot.forward_dynamics}
    case.add(context.ours, Line("robot.forward_dynamics", "r = f(*q)", names, "single"), rows)
    line = Line(f"robot.forward_dynamics, {SINGLE} rows", "r = f(*q)", names, "batch")
    case.add(context.ours, line, [(q, v, tau)], per_item=SINGLE)
    pin = _pinocchio(context, of)
    if pin is not None:
        _constrained(context, of, pin, case, (rows, expected))
    case.run()


def _constrained(
    context: Context, of: Mechanism, pin: Any, case: Case, asked: tuple[list[Any], Floats]
) -> None:
    rows, expected = asked
    compute = _offered(context, "pinocchio", f"{of.name} forward dynamics", pin.dynamics)
    if compute is None:
        return

    def check(found: list[Any]) -> tuple[float, str]:
        own = pin.velocities(np.array(found), back=True)
        scale = 1.0 + np.abs(expected).max()
        return 1e-3 * float(np.abs(own - expected).max() / scale), ""  # of 1e-6

    line = Line("constraintDynamics", "r = f(q)", {"f": compute})
    given = [(pin.to(a), pin.velocities(b), pin.velocities(c)) for a, b, c in rows]
    case.add("pinocchio", line, given, check=check)


def _pinocchio(context: Context, of: Mechanism) -> Any:
    return _offered(context, "pinocchio", of.name, lambda: peers.Pinocchio(of.robot, of.name))


def _offered(context: Context, peer: str, what: str, make: Callable[[], Any]) -> Any:
    """What a side gives, or None with the reason kept: not asked for, not installed, refused."""
    if context.seats and peer not in context.seats and peer == "pinocchio":
        return None
    try:
        return make()
    except (ImportError, ValueError, RuntimeError) as error:
        context.report.leave_out(peer, f"closed {what}", f"{type(error).__name__}: {error}")
        return None
