"""The TriPed's leg and the TriPed beside what TriP's documentation makes of CasADi and Ipopt.

python -m benchmarks.trip [--states 200] [--targets 60]

Mappings: the closing equation of the tutorial as a nonlinear program, once with the solver made in
every call, as the tutorial has it, and once with the solver made beforehand. Inverse kinematics:
the nearest virtual state by Ipopt, then the mapping, as the documentation has it; its solvers are
made beforehand. All sides get the same inputs in one run, and it is told what their answers leave
open.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.faces.trip_kinematics import SimpleInvKinSolver, forward_kinematics
from linkwork.faces.trip_kinematics.trip_robots.triped import triped
from linkwork.faces.trip_kinematics.trip_robots.triped_leg import (
    closing_equation,
    gimbal_to_swing,
    swing_to_gimbal,
)

Floats = NDArray[np.float64]
State = Mapping[str, Any]

MARK = 1000.0
"""How many times faster than the documented mapping ours is meant to be, there and back."""
RADII = 0.11
REPEATS = 200  # of a call of ours, which is too short to be timed alone
AXES: tuple[str, ...] = ("rx", "ry", "rz")
SWINGS: tuple[str, ...] = ("swing_left", "swing_right")
RANGE = ((-0.6, 0.1), (-0.1, 0.6))
QUIET = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes"}


class Side(NamedTuple):
    """One way to compute both mappings."""

    name: str
    forth: Callable[[State], Mapping[str, Mapping[str, float]]]
    back: Callable[[State], Mapping[str, float]]
    repeats: int


class Documented:
    """The programs of the tutorial by their mathematics: the sum of both squared errors."""

    def __init__(self) -> None:
        import casadi  # noqa: PLC0415  not all of the module needs it

        self.ca: Any = casadi
        self.virtual, self.actuated = self.ca.SX.sym("v", 3), self.ca.SX.sym("a", 2)
        self.closing = closing_equation(
            [self.virtual[k] for k in range(3)], [self.actuated[k] for k in range(2)]
        )
        self.made = self.forth(), self.back()

    def forth(self) -> Any:
        """The program for the gimbal."""
        program = {"x": self.virtual, "f": self.closing, "p": self.actuated}
        return self.ca.nlpsol("swing_to_gimbal", "ipopt", program, QUIET)

    def back(self) -> Any:
        """The program for the swings, whose product is held below zero."""
        product = self.actuated[0] * self.actuated[1]
        program = {"x": self.actuated, "f": self.closing, "p": self.virtual, "g": product}
        return self.ca.nlpsol("gimbal_to_swing", "ipopt", program, QUIET)

    def to_gimbal(self, state: State, solver: Any = None) -> Any:
        """As the tutorial's function; with a solver, that one."""
        given = [state[name] for name in SWINGS]
        found = np.array((solver or self.forth())(x0=[0, 0, 0], p=given)["x"])
        return {"gimbal_joint": {key: found[k][0] for k, key in enumerate(AXES)}}

    def to_swing(self, state: State, solver: Any = None) -> Any:
        """As the tutorial's function; with a solver, that one."""
        given = [state["gimbal_joint"][key] for key in AXES]
        found = np.array((solver or self.back())(x0=[0, 0], p=given, ubg=0)["x"])
        return {key: found[k][0] for k, key in enumerate(SWINGS)}


def states(count: int) -> list[tuple[State, State]]:
    """Swings, and gimbals that some such swings have, whose swings are again below zero."""
    draw = np.random.default_rng(0)
    left, right = draw.uniform(*RANGE[0], 20 * count), draw.uniform(*RANGE[1], 20 * count)
    found: list[tuple[State, State]] = []
    for pair in zip(left.tolist(), right.tolist(), strict=True):
        swings = dict(zip(SWINGS, pair, strict=True))
        gimbal = swing_to_gimbal(swings)
        back = gimbal_to_swing(gimbal)
        if back["swing_left"] * back["swing_right"] < -1e-3:
            found.append((swings, gimbal))
    return found[:count]


def timed(call: Callable[[Any], Any], given: Sequence[Any], repeats: int) -> list[float]:
    """Seconds of a call for each of the inputs."""
    times: list[float] = []
    for each in given:
        start = time.perf_counter()
        for _ in range(repeats):
            call(each)
        times.append((time.perf_counter() - start) / repeats)
    return times


def gap(gimbal: State, swings: State) -> float:
    """How far off their length (m) the rods are, at most: from the closing equation."""
    angles = [gimbal["gimbal_joint"][key] for key in AXES]
    total = closing_equation(angles, [swings[key] for key in SWINGS])
    return float(np.sqrt(total)) / (2.0 * RADII)


def mappings(count: int) -> float:
    """Times of all sides for both mappings; the ratio to the documented one, there and back."""
    documented = Documented()
    forth, back = documented.made
    sides = [
        Side("Linkwork", swing_to_gimbal, gimbal_to_swing, REPEATS),
        Side("Ipopt as documented", documented.to_gimbal, documented.to_swing, 1),
        Side(
            "Ipopt, made beforehand",
            lambda s: documented.to_gimbal(s, forth),
            lambda s: documented.to_swing(s, back),
            1,
        ),
    ]
    given = states(count)
    swings, gimbals = [s for s, _ in given], [g for _, g in given]
    totals: dict[str, float] = {}
    print(f"{len(given)} states of the leg      swing_to_gimbal  gimbal_to_swing   rods off (m)")
    for side in sides:
        off = [gap(side.forth(s), s) for s in swings]
        off += [gap(g, side.back(g)) for g in gimbals]
        times = [
            float(np.median(timed(call, inputs, side.repeats)))
            for call, inputs in ((side.forth, swings), (side.back, gimbals))
        ]
        totals[side.name] = sum(times)
        print(
            f"{side.name:24} {1e6 * times[0]:12.2f} µs {1e6 * times[1]:13.2f} µs "
            f"{np.median(off):9.1e} median {max(off):7.1e} most"
        )
    ours = totals["Linkwork"]
    for name, total in list(totals.items())[1:]:
        print(f"there and back, Linkwork is {total / ours:.0f} times as fast as {name}")
    rows = np.array([[s[key] for key in SWINGS] for s in swings] * (100_000 // len(swings)))
    start = time.perf_counter()
    found = swing_to_gimbal.batch(rows)
    middle = time.perf_counter()
    gimbal_to_swing.batch(found)
    end = time.perf_counter()
    print(
        f"{len(rows)} states at once: swing_to_gimbal {1e9 * (middle - start) / len(rows):.0f} ns, "
        f"gimbal_to_swing {1e9 * (end - middle) / len(rows):.0f} ns a state"
    )
    return totals["Ipopt as documented"] / ours


class Sequential:
    """The documented inverse kinematics of a foot: the nearest virtual state, then the mapping."""

    def __init__(self, leg: int) -> None:
        self.documented = Documented()
        ca, v = self.documented.ca, self.documented.ca.SX.sym("v", 4)
        goal = ca.SX.sym("p", 3)
        rep = triped.get_symbolic_rep(f"leg_{leg}_A_LL_Joint_FCS")
        names = [f"leg_{leg}_gimbal_joint_{key}" for key in AXES] + [f"leg_{leg}_extend_joint_ry"]
        by_name = {s.name(): s for s in ca.symvar(rep)}
        pose = ca.substitute(rep, ca.vertcat(*(by_name[name] for name in names)), v)
        error = pose[:3, 3] - goal
        program = {"x": v, "f": ca.dot(error, error), "p": goal}
        self.solver = ca.nlpsol("foot", "ipopt", program, QUIET)

    def solve(self, target: Floats) -> tuple[State, State]:
        """The virtual state, and the swings that Ipopt finds for it."""
        v = np.array(self.solver(x0=[0, 0, 0, 0], p=target)["x"]).ravel()
        gimbal = {"gimbal_joint": dict(zip(AXES, v[:3].tolist(), strict=True))}
        return gimbal, self.documented.to_swing(gimbal, self.documented.made[1])


def feet(count: int) -> None:
    """All three feet to targets that the mechanism reaches."""
    names = [f"leg_{k}_A_LL_Joint_FCS" for k in range(3)]
    solvers = [SimpleInvKinSolver(triped, name) for name in names]
    others = [Sequential(k) for k in range(3)]
    draw = np.random.default_rng(1)
    ours: list[float] = []
    theirs: list[float] = []
    solved = missed = 0
    for _ in range(count):
        mine, other = 0.0, 0.0
        for k, (name, solver) in enumerate(zip(names, solvers, strict=True)):
            left, right, knee = draw.uniform((-0.6, 0.1, -1.0), (-0.1, 0.6, 0.3)).tolist()
            p = f"leg_{k}_"
            state = {f"{p}swing_left": left, f"{p}swing_right": right}
            solver.robot.set_actuated_state({**state, f"{p}extend_joint_ry": knee})
            target = forward_kinematics(solver.robot, name)[:3, 3]
            start = time.perf_counter()
            solver.solve_actuated(target)
            middle = time.perf_counter()
            gimbal, swings = others[k].solve(target)
            end = time.perf_counter()
            mine, other = mine + middle - start, other + end - middle
            away = np.abs(forward_kinematics(solver.robot, name)[:3, 3] - target).max()
            virtual = solver.robot.get_virtual_state()
            state = solver.robot.get_actuated_state()
            own = {key: state[p + key] for key in SWINGS}
            solved += away < 1e-9 and gap({"gimbal_joint": virtual[f"{p}gimbal_joint"]}, own) < 1e-9
            missed += gap(gimbal, swings) > 1e-4
        ours.append(mine)
        theirs.append(other)
    a, b = float(np.median(ours)), float(np.median(theirs))
    print(f"all three feet of the TriPed, {count} times:")
    print(
        f"Linkwork                 {1e6 * a:10.0f} µs, {solved} of {3 * count} reached, assembled"
    )
    print(f"Ipopt, made beforehand   {1e6 * b:10.0f} µs, {missed} left open by 0.1 mm or more")
    print(f"Linkwork is {b / a:.0f} times as fast")


def main() -> None:
    """Print the times of this run."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n\n", maxsplit=1)[0])
    parser.add_argument("--states", type=int, default=200)
    parser.add_argument("--targets", type=int, default=60)
    given = parser.parse_args()
    ratio = mappings(given.states)
    print(f"mark of {MARK:g} times: {'met' if ratio >= MARK else 'MISSED'} ({ratio:.0f})")
    feet(given.targets)


if __name__ == "__main__":
    main()
