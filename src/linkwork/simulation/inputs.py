"""The inputs of a simulation: options, actuators and surroundings, checked by name before anything
is computed; and the `Request` that they make, which every integrator takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from linkwork.algorithms.independent_rows import check_movable
from linkwork.checks import (
    broadcast_rows,
    finite_number,
    finite_rows,
    leading_shape,
    real_array,
    real_rows,
    shown,
    whole_number,
)
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.mechanism import parameters
from linkwork.mechanism.model import Floats, Mechanism
from linkwork.mechanism.named_positions import (
    configuration_from,
    filled,
    label_places,
    labels,
    velocity_from,
)
from linkwork.mechanism.neutral import quaternion_starts
from linkwork.simulation.equation_of_motion import Quantity, System, is_payload, packed
from linkwork.simulation.integrators import METHODS
from linkwork.simulation.joint_forces import PD, Stops, limited
from linkwork.simulation.tangent import unit_quaternions


def row_name(lead: tuple[int, ...], row: int) -> str:
    """A row of a batch as people index it."""
    return f"[{', '.join(str(int(k)) for k in np.unravel_index(row, lead))}]" if lead else "[]"


class Progress(Protocol):
    """A callback on how far a long run is: (done, total), in steps of all rows together."""

    def __call__(self, done: int, total: int, /) -> object:
        """Take note."""
        ...


@dataclass(frozen=True)
class Grid:
    """The instants of a simulation: equal steps, of which every so many are kept."""

    duration: float
    steps: int
    every: int

    @property
    def h(self) -> float:
        """The length of a step (s)."""
        return self.duration / self.steps if self.steps else 0.0

    @property
    def kept(self) -> int:
        """Number of states that are kept: the first, every so many, and the last."""
        return 1 + -(-self.steps // self.every)

    def times(self) -> Floats:
        """The instants that are kept (s)."""
        numbers = np.minimum(np.arange(self.kept) * self.every, self.steps)
        return numbers * self.h if self.steps else np.zeros(1)


@dataclass(frozen=True)
class Event:
    """Something to find the moments of: where ``function(t, q, v)`` of one roll-out crosses zero.

    ``direction``: 1 for crossings upward only, -1 downward, 0 both. ``terminal``: the roll-out ends
    there.
    """

    function: Callable[[float, Floats, Floats], float]
    direction: int = 0
    terminal: bool = False
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a simulation; `simulate` says what each of them means."""

    duration: float
    torque: Any = None
    method: str = "rk4"
    dt: float = 1.0e-3
    tolerance: float = 1.0e-8
    gravity: Any = None
    external: Mapping[str, Any] | None = None
    payload: Mapping[str, Any] | None = None
    losses: bool = False
    armature: Any = None
    stops: Stops | bool | None = None
    events: Sequence[Event | Callable[..., float]] = ()
    record: int = 1
    max_speed: float = 1.0e5
    max_step: float | None = None
    max_steps: int | None = None
    breakpoints: Sequence[float] | None = None

    def __post_init__(self) -> None:
        finite_number(self.duration, "duration", least=0.0)
        for name in ("dt", "tolerance", "max_speed"):
            finite_number(getattr(self, name), name, above=0.0)
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise UnknownNameError("method of integration", self.method, METHODS)
        whole_number(self.record, "record (every k-th state; 0: first and last)", least=0)
        if self.events and self.method != "dopri5":
            raise InputError(
                f"events are found by method='dopri5', whose steps can be read at any instant, not "
                f"by {self.method!r}"
            )
        self._check_steps()

    def _check_steps(self) -> None:
        """Check what bounds the steps of dopri5."""
        for name in ("max_step", "max_steps", "breakpoints"):
            if getattr(self, name) is not None and self.method != "dopri5":
                raise InputError(
                    f"{name} bounds the steps that method='dopri5' chooses; those of "
                    f"{self.method!r} are dt long"
                )
        if self.max_step is not None and self.max_step != math.inf:
            finite_number(self.max_step, "max_step", above=0.0)
        if self.max_steps is not None:
            whole_number(self.max_steps, "max_steps", most=2**53)
        self.jumps()

    def jumps(self) -> tuple[float, ...]:
        """The breakpoints within the duration, each once, in order (s)."""
        given = real_array(() if self.breakpoints is None else self.breakpoints, "breakpoints")
        if given.ndim != 1 or not np.isfinite(given).all():
            raise InputError(
                "breakpoints are instants in seconds [t1, t2, ...], finite numbers, not "
                f"{self.breakpoints!r:.60}"
            )
        found: list[float] = []
        for t in np.sort(given[(given >= 0.0) & (given <= self.duration)]).tolist():
            if not found or t - found[-1] > 1.0e-14 * self.duration:
                found.append(t)
        return tuple(found)

    def longest_step(self, *, forced: bool) -> float:
        """The longest step (s) of dopri5; ``forced`` where a function of time acts.

        Without breakpoints nobody knows where it jumps: it is looked at as often as states are
        given.
        """
        if self.max_step is not None:
            return float(self.max_step)
        return self.dt if forced and self.breakpoints is None else math.inf

    def most_steps(self, longest: float) -> int:
        """The most steps that dopri5 may make, refused ones among them, of this length at most.

        Raises: InputError where they do not reach the end.
        """
        most = self.max_steps or max(_MOST_STEPS, _MOST_FOR_EACH * self.grid().steps)
        if self.duration / longest > most:
            raise InputError(
                f"steps of {longest:g} s at most are {math.ceil(self.duration / longest)} for "
                f"{self.duration:g} s, and max_steps = {most} bounds them: give a longer max_step "
                "or a larger max_steps"
            )
        return int(most)

    def event_list(self) -> tuple[Event, ...]:
        """The events, each with a name."""
        if not isinstance(self.events, Iterable):
            raise InputError(f"events are a list, also where it is one: [{shown(self.events)}]")
        given = [e if isinstance(e, Event) else Event(e) for e in self.events]
        for k, event in enumerate(given):
            if not callable(event.function):
                raise InputError(f"events[{k}] is no function g(t, q, v)")
            if event.direction not in (-1, 0, 1):
                raise InputError(f"the direction of events[{k}] is -1, 0 or 1")
        return tuple(
            e if e.name else Event(e.function, e.direction, e.terminal, f"event {k}")
            for k, e in enumerate(given)
        )

    def grid(self) -> Grid:
        """The instants: steps of dt, or a little shorter, so that they fill the duration."""
        steps = math.ceil(self.duration / self.dt * (1.0 - 1.0e-12))
        if steps > 2**53:
            raise InputError(f"dt = {self.dt!r} is too short for {self.duration!r} s")
        return Grid(float(self.duration), steps, int(self.record) or max(steps, 1))


_MOST_STEPS, _MOST_FOR_EACH = 100_000, 100
"""Steps of dopri5, unless it is told: so many, or so many for each of its states."""


@dataclass(frozen=True)
class Request:
    """A simulation that can be run.

    ``values`` of the constants are (size,) or (rows, size). ``functions`` of time give (size,) or
    (..., size), by name. ``torque`` is a function of (t, q, v) of the whole batch, or None; the
    system then has the control "torque".
    """

    system: System
    lead: tuple[int, ...]
    q0: Floats  # (rows, nq)
    v0: Floats  # (rows, nv)
    grid: Grid
    values: Mapping[str, Floats]
    functions: Mapping[str, Callable[[float], Floats]]
    torque: Callable[[Any, Floats, Floats], Floats] | None = None
    bound: float = 1.0e5

    @property
    def rows(self) -> int:
        """Number of roll-outs."""
        return self.q0.shape[0]

    def constants(self) -> Floats:
        """The constants side by side, (1, n) where all rows share them."""
        return packed(self.system.constants, self.values, self.rows)

    def controls(self, t: Floats | float, state: tuple[Floats, Floats] | None = None) -> Floats:
        """Functions of time side by side: (1, n) where all rows share it, else (rows, n).

        ``t`` is one instant for all rows or one each. The user's forces are asked for at the
        ``state`` (q and v of all rows), and zero without one: no projection looks at them.
        """
        found = {name: self._of_time(name, t) for name in self.functions}
        if self.torque is not None:
            n_v = self.system.mechanism.n_v
            found["torque"] = np.zeros(n_v) if state is None else self._torque_of(t, *state)
        return packed(self.system.controls, found, self.rows)

    def torque_in(self, controls: Floats) -> Floats:
        """The user's forces (rows, nv) among the controls."""
        at = 0
        for entry in self.system.controls:
            if entry.name == "torque":
                break
            at += entry.size
        return controls[:, at : at + self.system.mechanism.n_v]

    def _of_time(self, name: str, t: Floats | float) -> Floats:
        function = self.functions[name]
        if not isinstance(t, np.ndarray):
            return function(t)
        known: dict[float, Floats] = {}
        rows: list[Floats] = []
        for k, instant in enumerate(t.tolist()):
            if instant not in known:
                known[instant] = function(instant)
            value = known[instant]
            rows.append(value if value.ndim == 1 else value[k])
        return np.stack(rows)

    def _torque_of(self, t: Floats | float, q: Floats, v: Floats) -> Floats:
        lead, n_v = self.lead, self.system.mechanism.n_v
        function: Any = self.torque
        instant: Any = t
        if isinstance(t, np.ndarray):
            # one for each row, so that it meets q and v as a number does
            instant = t.reshape((*lead, 1)) if lead else float(t[0])
        state = [a.reshape((*lead, a.shape[1])).copy() for a in (q, v)]
        given = real_rows(function(instant, *state), "what torque(t, q, v) returns", n_v)
        try:
            tau = np.broadcast_to(given, (*lead, n_v)).reshape(-1, n_v)
        except ValueError:
            raise ShapeError(
                f"torque(t, q, v) must return the shape {(*lead, n_v)}, not {given.shape}"
            ) from None
        if not np.isfinite(tau).all():
            row, k = np.argwhere(~np.isfinite(tau))[0].tolist()
            when = t[row] if isinstance(t, np.ndarray) else t
            where = f" of row {row_name(lead, row)}" if lead else ""
            raise InputError(
                f"torque(t, q, v) returned {tau[row, k]} for joint "
                f"'{self.system.mechanism.joint_of_v(k)}'{where} at t = {when:.6g} s; it must be "
                "a finite number"
            )
        return tau


@dataclass
class _Collected:
    """Quantities as they are given, before the batch's shape is known."""

    m: Mechanism
    q0: Floats
    constants: list[Quantity] = field(default_factory=list[Quantity])
    controls: list[Quantity] = field(default_factory=list[Quantity])
    values: dict[str, Floats] = field(default_factory=dict[str, Floats])
    functions: dict[str, Callable[[float], Any]] = field(
        default_factory=dict[str, Callable[[float], Any]]
    )

    def take(self, quantity: Quantity, value: Any, label: str) -> None:
        """A constant, or a function of time."""
        if callable(value):
            self.controls.append(quantity)
            self.functions[quantity.name] = value
            return
        self.constants.append(quantity)
        self.values[quantity.name] = self.array(quantity, value, label)

    def _rows(self, quantity: Quantity, value: Any, label: str) -> Floats:
        name, m = quantity.name, self.m
        by_name = isinstance(value, Mapping)
        given: Any = value if by_name else real_array(value, label)
        if is_payload(name) and not by_name and given.ndim == 0:
            return np.array([float(given), 0.0, 0.0, 0.0])
        if not by_name and given.ndim == 0:
            if name == "armature":
                return parameters.of_rotors(m, float(given))
            if name in (*_OF_ACTUATORS, *_ONE_FOR_ALL):
                number, driven = float(given), name in _OF_ACTUATORS
                return for_actuated(m, number, label) if driven else np.full(quantity.size, number)
        if name == "q_target":
            return for_joints(m, given, label, of_q=True, elsewhere=self.q0)
        if name in _BY_JOINT:
            return for_joints(m, given, label)
        return real_rows(given, label, quantity.size)

    def array(self, quantity: Quantity, value: Any, label: str) -> Floats:
        """Finite numbers (..., size) from a number, an array, or numbers by joint."""
        given = self._rows(quantity, value, label)
        if quantity.name == "effort_limit":
            given = np.where(np.isposinf(given), 1.0e300, given)
        _finite(self.m, given, label, of_q=quantity.name == "q_target")
        bounded = given[..., :1] if is_payload(quantity.name) else given
        least = quantity.name in _NOT_NEGATIVE or is_payload(quantity.name)
        if least and np.any(bounded < 0.0):
            what = f"{label}: its mass" if is_payload(quantity.name) else label
            raise InputError(f"{what} must not be negative, and has {bounded[bounded < 0.0][0]:g}")
        return given

    def at(
        self, quantity: Quantity, function: Callable[[float], Any], lead: Any, t: float
    ) -> Floats:
        """The value of a function of time, checked: (size,) or (rows, size)."""
        label = f"{quantity.name}({t:.6g})"
        given = self.array(quantity, function(t), label)
        try:
            return given if given.ndim == 1 else broadcast_rows(given, lead)
        except ValueError:
            wanted = (*lead, quantity.size)
            raise ShapeError(f"{label} must have the shape {wanted}, not {given.shape}") from None


_ONE_FOR_ALL = ("v_target", "effort_limit", "stop_stiffness", "stop_damping")
_OF_ACTUATORS = ("kp", "kd", "feed_forward", "torque")
_BY_JOINT = (*_OF_ACTUATORS, "v_target", "effort_limit", "armature")
_NOT_NEGATIVE = ("effort_limit", "armature", "stop_stiffness", "stop_damping")


def _finite(m: Mechanism, values: Floats, label: str, *, of_q: bool) -> None:
    """Refuse what is not finite, by the joint where there is a number for each.

    Raises: InputError.
    """
    if np.isfinite(values).all():
        return
    of_joints = values.shape[-1] == (m.n_q if of_q else m.n_v)
    name = m.joint_of_q if of_q else m.joint_of_v
    names = [f"joint '{name(k)}'" for k in range(values.shape[-1])] if of_joints else None
    finite_rows(values, label, values.shape[-1], names)


def request_of(
    m: Mechanism,
    q0: ArrayLike | Mapping[str, Any],
    v0: ArrayLike | Mapping[str, Any] | None,
    options: Options,
    *,
    inertias: Callable[[Floats, Mapping[str, Floats]], Floats],
    check: Callable[[System], object] = System.check,
) -> Request:
    """The simulation as numbers, everything checked.

    ``inertias`` gives what each number of v moves (..., nv) at configurations (..., nq), with all
    others free, from the values of rotors' inertia and payloads among others; stops without a
    stiffness ask for it.
    ``check`` looks at the description.

    Raises: ShapeError, InputError and UnknownNameError, naming what is wrong and with whom.
    """
    if m.n_v == 0:
        raise InputError(f"'{m.name}' has no joint that moves: there is nothing to simulate")
    q = _configurations(m, configuration_from(m, q0) if isinstance(q0, Mapping) else q0, "q0")
    v = np.zeros(m.n_v)
    if v0 is not None:
        v = velocity_from(m, v0) if isinstance(v0, Mapping) else real_rows(v0, "v0", m.n_v)
    _finite(m, v, "v0", of_q=False)
    found = _Collected(m, q)
    torque = _actuators(found, options.torque, q)
    stopped = _surroundings(found, options, lambda: inertias(q, found.values))
    lead = leading_shape({"q0": q, "v0": v, **found.values})
    rows = math.prod(lead)
    if not rows:
        raise ShapeError(f"there is no roll-out to simulate: the leading shape is {lead}")
    flat = {
        name: value if value.ndim == 1 else broadcast_rows(value, lead)
        for name, value in found.values.items()
    }
    system = System(
        m,
        tuple(found.constants),
        tuple(found.controls),
        bool(options.losses),
        stopped,
        smooth=options.method == "dopri5",
    )
    check(system)
    rotors = found.values.get("armature")
    if rotors is not None and not rotors.all():
        # those of zero make nothing movable
        check_movable(m, ["armature"], rotors.reshape(-1, m.n_v).min(axis=0))
    sizes = {entry.name: entry for entry in found.controls}
    return Request(
        system=system,
        lead=lead,
        q0=unit_quaternions(m, broadcast_rows(q, lead)),
        v0=broadcast_rows(v, lead),
        grid=options.grid(),
        values=flat,
        functions={
            name: partial(found.at, sizes[name], function, lead)
            for name, function in found.functions.items()
        },
        torque=torque,
        bound=float(options.max_speed),
    )


def _configurations(m: Mechanism, q0: ArrayLike, label: str) -> Floats:
    q = real_rows(q0, label, m.n_q)
    _finite(m, q, label, of_q=True)
    for start in quaternion_starts(m):
        lengths = np.linalg.norm(q[..., start : start + 4], axis=-1)
        if np.any(lengths == 0.0):
            raise InputError(
                f"{label}: the quaternion of joint '{m.joint_of_q(start)}' has length zero"
            )
    return q


def _actuators(
    found: _Collected, torque: Any, q: Floats
) -> Callable[[Any, Floats, Floats], Floats] | None:
    m = found.m
    if torque is None:
        return None
    if isinstance(torque, PD):
        given = _of_its_joints(m, torque.fields(), q)
        if not callable(given.setdefault("q_target", q)):
            target = for_joints(m, given["q_target"], "q_target", of_q=True, elsewhere=q)
            given["q_target"] = _configurations(m, target, "q_target")
        for name, value in given.items():
            size = m.n_q if name == "q_target" else m.n_v
            found.take(Quantity(name, size), value, name)
        return None
    entry = Quantity("torque", m.n_v)
    if callable(torque):
        found.controls.append(entry)
        return cast("Callable[[Any, Floats, Floats], Floats]", torque)
    found.take(entry, torque, "torque")
    return None


def _of_its_joints(m: Mechanism, given: dict[str, Any], q: Floats) -> dict[str, Any]:
    """The fields of `PD`, a trajectory that names its joints made one of all of them.

    The other joints have their target where the simulation begins, at rest.

    Raises: UnknownNameError; InputError where the derivatives of a trajectory are no velocities.
    """
    target: Any = given.get("q_target")
    rates: Any = given.get("v_target")
    names = tuple(getattr(target, "joint_names", ()))
    if not names:
        return given

    def whole(function: Any, name: str, places: list[int], elsewhere: Floats) -> Any:
        def at(t: float) -> Floats:
            values = real_array(function(t), f"{name}({t:.6g})")
            return filled(elsewhere.shape[-1], places, values, elsewhere)

        return at

    found = {**given, "q_target": whole(target, "q_target", label_places(m, names), q)}
    if callable(rates) and rates == getattr(target, "velocity", None):
        if turned := set(names) - set(labels(m, velocities=True)):
            raise InputError(
                f"q_target is a trajectory of {', '.join(sorted(turned))}: derivatives of "
                "quaternions are no velocities, so v_target has to be given"
            )
        places = label_places(m, names, velocities=True)
        found["v_target"] = whole(rates, "v_target", places, np.zeros(m.n_v))
    return found


def _surroundings(
    found: _Collected, options: Options, inertias: Callable[[], Floats]
) -> tuple[int, ...]:
    m = found.m
    if options.gravity is not None:
        found.take(Quantity("gravity", 3), options.gravity, "gravity")
    if options.external is not None:
        if not isinstance(options.external, Mapping):
            raise InputError("external is {frame: wrench (..., 6)}, a wrench for each frame")
        for frame, wrench in options.external.items():
            m.frame(frame)
            found.take(Quantity(f"wrench:{frame}", 6), wrench, f"external[{frame!r}]")
    if options.payload is not None:
        _payloads(found, options.payload)
    if options.armature is not None:
        found.take(Quantity("armature", m.n_v), options.armature, "armature")
    if options.stops is None or options.stops is False:
        return ()
    stops = Stops() if options.stops is True else options.stops
    if not isinstance(stops, Stops):
        raise InputError(f"stops is True or Stops(...), not {stops!r:.40}")
    stopped = limited(m, stops.joints)
    given = _stop_values(m, stops, stopped, inertias)
    for name, value in zip(("stop_stiffness", "stop_damping"), given, strict=True):
        found.take(Quantity(name, len(stopped)), value, name.replace("stop_", "Stops: "))
    found.take(Quantity("stop_width", 1), np.array([1.0 / stops.width]), "Stops: width")
    return stopped


def _payloads(found: _Collected, payload: Any) -> None:
    """Point masses on frames; they are the parameters ``payload:FRAME``."""
    m = found.m
    if not isinstance(payload, Mapping):
        raise InputError(
            "payload is {frame: mass}, or {frame: (..., 4)} of mass and where it is in the frame, "
            f"not {payload!r:.40}; a body with inertia: robot.with_payload(...)"
        )
    for frame, value in cast("Mapping[str, Any]", payload).items():
        name, label = f"payload:{frame}", f"payload[{frame!r}]"
        parameters.find(m, name)
        if not m.coordinates_moving(m.frame(frame)):
            raise InputError(
                f"{label}: no joint moves '{frame}', so it weighs nowhere; leave it out"
            )
        if callable(value):
            raise InputError(f"{label} must be numbers, not a function: no mass comes or goes")
        found.take(Quantity(name, parameters.SIZES["payload"]), value, label)


def _stop_values(
    m: Mechanism, stops: Stops, stopped: Sequence[int], inertias: Callable[[], Floats]
) -> tuple[Any, Any]:
    """Stiffness and damping, from the inertia (..., nv) of each joint where they are not given."""
    stiffness, damping = stops.stiffness, stops.damping
    if stiffness is not None and damping is not None:
        return stiffness, damping
    every = inertias()
    own = np.stack([every[..., m.v_slice(c)].min(axis=-1) for c in stopped], -1)
    if stiffness is None:
        stiffness = own / stops.time**2
    if damping is None:
        damping = 2.0 * np.sqrt(np.maximum(real_array(stiffness, "Stops: stiffness"), 0.0) * own)
    return stiffness, damping


# numbers for joints: for all of them, for those that are actuated, or by name


def places(m: Mechanism, names: Sequence[str], *, of_q: bool = False) -> list[int]:
    """The numbers of v, or of q, that belong to these joints.

    Raises: UnknownNameError.
    """
    joints = [m.joint(name) for name in names]
    return m.q_indices(joints) if of_q else m.v_indices(joints)


def for_actuated(m: Mechanism, number: float, label: str) -> Floats:
    """One number (nv,) for each actuated joint, zero elsewhere.

    Where none is named so they are all but floating ones, which nothing drives.

    Raises: InputError where only floating joints are there.
    """
    driven = places(m, m.actuated) if m.actuated else parameters.not_floating(m)
    if not driven:
        raise InputError(
            f"{label}: one number is for all joints but floating ones, and '{m.name}' has no "
            "others: give numbers by joint, or an array"
        )
    return filled(m.n_v, driven, np.asarray(number), 0.0)


def for_joints(
    m: Mechanism, given: Any, label: str, *, of_q: bool = False, elsewhere: Floats | float = 0.0
) -> Floats:
    """Numbers (..., nv), or (..., nq), from those that are given for joints.

    ``given``: an array of that shape; an array of the actuated joints' numbers, in their order; or
    {joint: number, or array (..., n) of its n numbers}. ``elsewhere`` (..., nv or nq) is what the
    joints have that are not meant.

    Raises: UnknownNameError, ShapeError saying what is allowed, InputError for what is no number.
    """
    size = m.n_q if of_q else m.n_v
    if isinstance(given, Mapping):
        return _by_name(m, given, label, of_q=of_q, elsewhere=elsewhere)
    driven = places(m, m.actuated, of_q=of_q)
    array = real_array(given, label)
    if not driven or array.ndim == 0 or array.shape[-1] == size:
        return real_rows(array, label, size)
    if array.shape[-1] != len(driven):
        raise ShapeError(
            f"{label} must have shape (..., {size}), or (..., {len(driven)}) for the actuated "
            f"joints ({', '.join(m.actuated)}), not {array.shape}"
        )
    return filled(size, driven, array, elsewhere)


def _by_name(
    m: Mechanism, given: Mapping[Any, Any], label: str, *, of_q: bool, elsewhere: Floats | float
) -> Floats:
    found = np.asarray(elsewhere, np.float64)
    if found.ndim == 0:
        found = np.full(m.n_q if of_q else m.n_v, float(found))
    for name, value in given.items():
        own = places(m, [name], of_q=of_q)
        values = real_array(value, f"{label}[{name!r}]")
        values = np.full(len(own), float(values)) if values.ndim == 0 else values
        values = real_rows(values, f"{label}[{name!r}]", len(own))
        found = filled(found.shape[-1], own, values, found)
    return found
