"""Paths by the planners of OMPL, over compiled checks, and verified like all others.

OMPL has what is not here: planners whose paths become shorter for as long as they are given time
(RRT*, BIT*, informed ones), and many others. Its states are the joints that a `Planner` moves. A
state is looked at by `CollisionModel.collides`, a motion by the search's own compiled check,
configurations 1/32 rad apart; the path that comes back is looked at without gaps.

Needs the extra `ompl`. Source: I. Sucan, M. Moll, L. Kavraki, The Open Motion Planning Library,
IEEE Robotics & Automation Magazine 19 (2012).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import extras
from linkwork.checks import finite_number, whole_number
from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.planning.planner import Attempt, Plan, Planner
from linkwork.planning.search import Search

Floats = NDArray[np.float64]

_FINER = (1.0, 1 / 3, 1 / 9, 1 / 27)
_THREADED = ("PRM", "PRMstar")
_SHARE_OF_SPAN = 0.01  # what OMPL takes for its own steps; motions are looked at by ours


def plan_with(  # noqa: PLR0913  the one door: four arguments, and options by name
    name: str,
    planner: Planner,
    start: ArrayLike,
    goal: ArrayLike,
    scene: Any = None,
    *,
    seconds: float = 5.0,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
    shorten: bool = True,
) -> Plan:
    """A path from a start (nq,) to one of the goals (nq,), (k, nq) by OMPL's planner of a name.

    ``planner`` is that of `Robot.planner`. ``parameters`` are the planner's own
    (``{"range": 0.5, "goal_bias": 0.1}``). Planners that make paths better use all of ``seconds``,
    the others end with the first path. With ``shorten`` the path is then made shorter as all others
    are. The path of OMPL itself is only the same again where the process has used no random number
    of it before: its seed is one for all.

    Raises: as `Planner.plan`; MissingExtraError without OMPL; InputError for a planner or a
    parameter that it does not have; UnsupportedFeatureError where loops or tasks are kept, or
    joints turn about any axis.
    """
    base, geometric, util = _ompl()
    if planner.kept is not None:
        raise UnsupportedFeatureError(
            "paths along which loops or tasks are kept, or joints turn about any axis, are not "
            "planned by OMPL here: plan() does"
        )
    kind = getattr(geometric, name, None)
    if not (isinstance(kind, type) and issubclass(kind, base.Planner)):
        known = [each for each in dir(geometric) if _is_planner(geometric, base, each)]
        raise InputError(f"OMPL has no planner '{name}'; it has {', '.join(known)}")
    if name in _THREADED:
        raise UnsupportedFeatureError(
            f"{name} of OMPL looks at states from a thread of its own, which Python does not let "
            "it; linkwork.planning.roadmap.Roadmap is a road map"
        )
    began = planner.clock()
    seconds = finite_number(seconds, "seconds", above=0.0)
    first, goals = planner.checked(start, np.atleast_2d(np.asarray(goal, np.float64)))
    attempt = Attempt(planner, first, scene, began, seconds)
    why = planner.what_is_wrong(first, scene, "the start")
    if why:
        return attempt.failed(why)
    found = [(q, planner.what_is_wrong(q, scene, "the goal")) for q in planner.turned(first, goals)]
    usable = np.array([q for q, why in found if not why])
    if not len(usable):
        return attempt.failed(found[0][1])
    seed = whole_number(seed, "seed", least=0)
    util.setLogLevel(util.LogLevel.LOG_NONE)  # what matters is said by the plan
    util.RNG.setSeed(1 + seed)
    for finer in _FINER:
        plan = _found(attempt, kind, usable, finer, parameters or {}, shorten=shorten)
        if plan is not None:
            return plan
    return attempt.failed(f"no path that {name} of OMPL found holds on the shapes")


def _found(
    attempt: Attempt,
    kind: Any,
    goals: Floats,
    finer: float,
    parameters: Mapping[str, Any],
    *,
    shorten: bool,
) -> Plan | None:
    """The plan of one search; None where its path does not hold between what was looked at."""
    base, _, _ = _ompl()
    planner, first, scene = attempt.planner, attempt.start, attempt.scene
    with space_information(planner, first, goals, scene, finer=finer) as (space, search):
        setup = base.ProblemDefinition(space)
        setup.addStartState(_state(space, first[planner.planned]))
        ends = base.GoalStates(space)
        for q in goals:
            ends.addState(_state(space, q[planner.planned]))
        setup.setGoal(ends)
        setup.setOptimizationObjective(base.PathLengthOptimizationObjective(space))
        made = kind(space)
        _set(made, kind.__name__, parameters)
        made.setProblemDefinition(setup)
        made.setup()
        until = planner.clock() + attempt.allowed  # what was compiled before does not count
        made.solve(base.PlannerTerminationCondition(lambda: planner.clock() > until))
        attempt.steps, attempt.checks = search.steps, search.checks
        if not setup.hasExactSolution():
            return attempt.failed(
                f"{kind.__name__} of OMPL found no path in {attempt.allowed:g} seconds"
            )
        way = setup.getSolutionPath()
        states = [way.getState(k) for k in range(way.getStateCount())]
        raw = np.array([_numbers(space, each) for each in states])
        raw[0] = first[planner.planned]
        q = planner.whole(raw, first)
        if not planner.holds(q, scene).all():
            return None
        if not shorten:
            return attempt.made(q)
        short = planner.short_that_holds(search, raw, first, scene, planner.effort.spacing)
        return attempt.made(q if short is None else short)


@contextmanager
def space_information(
    planner: Planner, base: Floats, goals: Floats, scene: Any = None, *, finer: float = 1.0
) -> Generator[tuple[Any, Search]]:
    """OMPL's `SpaceInformation` of the joints that move, with compiled validators; their memory.

    ``base`` (nq,) has what does not move; ``goals`` (k, nq) bound joints without limits.
    ``finer``: the share of the usual spacing of configurations that are looked at. It is valid
    inside the context, for one thread.
    """
    ob, _, _ = _ompl()
    low, high = planner.bounds(base, goals, scene)
    space = ob.RealVectorStateSpace(len(low))
    bounds = ob.RealVectorBounds(len(low))
    for k, (least, most) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        bounds.setLow(k, least)
        bounds.setHigh(k, most)
    space.setBounds(bounds)
    information = ob.SpaceInformation(space)
    n, model = len(low), planner.model

    class Valid(ob.StateValidityChecker):
        def isValid(self, state: Any) -> bool:
            q = base.copy()
            q[planner.planned] = [state[k] for k in range(n)]
            return not model.collides(q, scene)

    with (
        planner.search((low, high)) as search,
        planner.model.native_in(scene) as motions,
    ):
        search.prepare(motions, base, planner.effort, spacing=planner.effort.spacing * finer)
        ends = np.array([[0, 1]])

        class Motion(ob.MotionValidator):
            def checkMotion(self, a: Any, b: Any, last: Any = None) -> bool:
                points = np.array([[a[k] for k in range(n)], [b[k] for k in range(n)]])
                return bool(search.free(points, ends)[0])

        kept = Valid(information), Motion(information)  # OMPL holds no reference to them
        information.setStateValidityChecker(kept[0])
        information.setMotionValidator(kept[1])
        space.setLongestValidSegmentFraction(_SHARE_OF_SPAN)
        information.setup()
        try:
            yield information, search
        finally:  # they refer to each other, through OMPL, which Python cannot see
            information.setStateValidityChecker(ob.AllValidStateValidityChecker(information))
            information.setMotionValidator(ob.MotionValidator(information))


def _ompl() -> tuple[Any, Any, Any]:
    with extras.needed("planners of OMPL need", "ompl", "ompl"):
        from ompl import base, geometric, util  # noqa: PLC0415  an extra
    return base, geometric, util


def _is_planner(geometric: Any, base: Any, name: str) -> bool:
    kind = getattr(geometric, name)
    return isinstance(kind, type) and issubclass(kind, base.Planner)


def _set(made: Any, name: str, parameters: Mapping[str, Any]) -> None:
    """Set parameters by the names of OMPL's methods: ``goal_bias`` is ``setGoalBias``."""
    for each, value in parameters.items():
        method = "set" + "".join(part.capitalize() for part in each.split("_"))
        if not hasattr(made, method):
            known = sorted(m[3:] for m in dir(made) if m.startswith("set") and m[3:4].isupper())
            raise InputError(f"{name} of OMPL has no '{each}'; it has {', '.join(known)}")
        getattr(made, method)(value)


def _state(space: Any, values: Floats) -> Any:
    state = space.allocState()
    for k, value in enumerate(values.tolist()):
        state[k] = value
    return state


def _numbers(space: Any, state: Any) -> list[float]:
    return [state[k] for k in range(space.getStateDimension())]


__all__ = ["plan_with", "space_information"]
