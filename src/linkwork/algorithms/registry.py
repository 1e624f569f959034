"""The list of algorithms: what each one takes, what it gives, and how to run it here and now."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms import configuration
from linkwork.algorithms.actuation import actuated_numbers, actuation_jacobian, passive_rates
from linkwork.algorithms.center_of_mass import (
    centroidal_matrix,
    centroidal_momentum,
    com,
    com_acceleration,
    com_jacobian,
    com_velocity,
    kinetic_energy,
    potential_energy,
)
from linkwork.algorithms.closed_dynamics import loop_forces, loop_wrenches
from linkwork.algorithms.closure import closure, closure_bias, closure_jacobian, n_rows
from linkwork.algorithms.dynamics_derivatives import (
    forward_dynamics_derivatives,
    forward_dynamics_derivatives_in_passes,
    inverse_dynamics_derivatives,
)
from linkwork.algorithms.forward_dynamics import (
    forward_dynamics,
    forward_dynamics_in_passes,
    inverse_mass_matrix,
    inverse_mass_matrix_in_passes,
    is_coupled,
)
from linkwork.algorithms.forward_kinematics import fk, fk_all, relative
from linkwork.algorithms.frame_motion import frame_acceleration, frame_velocity, jacobian_dot_v
from linkwork.algorithms.independent_rows import check_movable
from linkwork.algorithms.inverse_dynamics import (
    bias_forces,
    gravity_forces,
    inverse_dynamics,
    path_forces,
    tree_forces,
    tree_gravity_forces,
    tree_path_forces,
)
from linkwork.algorithms.jacobian import jacobian, jacobian_dot
from linkwork.algorithms.mass_matrix import coriolis_matrix, mass_matrix
from linkwork.algorithms.parametric import Parametric
from linkwork.algorithms.regressor import regressor, regressor_in_passes
from linkwork.algorithms.sweep import InPasses, Output, looped
from linkwork.algorithms.tree_derivatives import derivatives
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.mechanism import parameters as named
from linkwork.mechanism.dynamics_checks import (
    check_actuated,
    check_held,
    check_inertias,
    check_inertias_said,
    check_loops,
    check_masses_said,
    check_moving_masses_said,
)
from linkwork.mechanism.model import Mechanism
from linkwork.ops import ops_of
from linkwork.ops.numpy import NUMPY
from linkwork.ops.protocol import Block, Ops

Floats = NDArray[np.float64]
Kind = Literal["q", "v"]
Dimension = int | Literal["nq", "nv", "nf", "n_all", "10 nb", "n_c", "n_loops", "n_actuated"]
Keyword = Literal["external", "gravity", "losses", "armature"]
Check = Callable[[Mechanism, Sequence[str]], None]

_DIMENSIONS: dict[str, Callable[[Mechanism], int]] = {
    "nq": lambda m: m.n_q,
    "nv": lambda m: m.n_v,
    "nf": lambda m: len(m.frame_names),
    "n_all": configuration.n_full,
    "10 nb": lambda m: 10 * m.n_bodies,
    "n_c": n_rows,
    "n_loops": lambda m: len(m.loops),
    "n_actuated": lambda m: len(actuated_numbers(m)),
}


class InverseDerivatives(NamedTuple):
    """Derivatives of inverse dynamics, (..., nv, nv) each: rows are forces."""

    q: Floats  # along the columns of v, as in `jacobian`
    v: Floats
    dv: Floats  # the mass matrix


class ForwardDerivatives(NamedTuple):
    """Derivatives of forward dynamics, (..., nv, nv) each: rows are accelerations."""

    q: Floats  # along the columns of v, as in `jacobian`
    v: Floats
    tau: Floats  # the inverse mass matrix


def _inverse_derivatives(m: Mechanism, found: Floats) -> InverseDerivatives:
    return InverseDerivatives(*[found[..., k, :, :] for k in range(3)])


def _forward_derivatives(m: Mechanism, found: Floats) -> ForwardDerivatives:
    return ForwardDerivatives(*[found[..., k, :, :] for k in range(3)])


def _by_loop(m: Mechanism, wrenches: Floats) -> dict[str, Floats]:
    return {loop.name: wrenches[..., k, :] for k, loop in enumerate(m.loops)}


@dataclass(frozen=True)
class Algorithm:
    """One algorithm: ``function(o, m, *inputs, **static)`` on blocks of one configuration.

    It returns one block, or a list of blocks of one shape; ``shape`` then has its length first.
    Of ``doc`` and the rest the method of `Robot` is written (tools/docs/robot_methods.py), whose
    docstring names the result's shape, with a leading ``...``, where ``doc`` has ``{shape}``.
    """

    name: str
    function: Callable[..., Block]
    inputs: tuple[tuple[str, Kind], ...]  # name, and kind: nq or nv numbers
    shape: tuple[Dimension, ...]  # of the result
    static: tuple[str, ...] = ()  # names of the arguments that are fixed before tracing
    keywords: tuple[Keyword, ...] = ()  # of its method, see `mechanism.parameters`
    friction: bool = True  # whether friction counts among the losses
    needs: tuple[Check, ...] = ()  # what must hold of a description
    result: Callable[[Mechanism, Floats], Any] | None = None  # of the array, where not itself
    has_method: bool = True  # written from here; others are written by hand around it
    doc: str = ""

    def output(self, m: Mechanism) -> tuple[int, ...]:
        """The shape of the result for one configuration."""
        return tuple(d if isinstance(d, int) else _DIMENSIONS[d](m) for d in self.shape)

    @property
    def is_method(self) -> bool:
        """Whether its method gives what the compiled function gives."""
        return self.has_method and self.result is None

    @property
    def counts_free_motions(self) -> bool:
        """Whether it takes ``free_motions`` where something is held beside the tree."""
        return check_actuated in self.needs

    def check(self, m: Mechanism, parameters: str | Sequence[str] = ()) -> None:
        """Check that the description gives what the algorithm takes, before it is traced.

        Raises: InputError naming link or joint; see `mechanism.dynamics_checks`.
        """
        names = (parameters,) if isinstance(parameters, str) else tuple(parameters)
        for need in self.needs:
            need(m, names)

    @property
    def needs_loops(self) -> bool:
        """Whether it is of mechanisms with loops or couplings alone."""
        return check_held in self.needs or check_loops in self.needs

    def run(
        self,
        o: Ops,
        m: Mechanism,
        blocks: Sequence[Block],
        parameters: Mapping[str, Block] | None = None,
        **static: Any,
    ) -> Block:
        """The result for these inputs, with these parameters of the mechanism given as vectors.

        Raises: UnknownNameError for parameters that do not exist, InputError for those without
        effect, besides what the function raises.
        """
        if not parameters:
            return self._result(o, m, blocks, static)
        given = Parametric(o, m, parameters)
        result = self._result(o, given, blocks, static)
        unused = given.unused()
        if unused:
            raise self.without_effect(m, unused, static)
        return result

    def _result(
        self, o: Ops, m: Mechanism, blocks: Sequence[Block], static: Mapping[str, Any]
    ) -> Block:
        """The result; of an algorithm that is written both ways, as a call of loops if it can."""
        in_passes = _IN_PASSES.get(self.name)
        if in_passes is not None and self.goes_in_passes(m, static):
            found = looped(o, in_passes, m, blocks, **static)
            if found is not None:
                return found[0]
        return self.function(o, m, *blocks, **static)

    def goes_in_passes(self, m: Mechanism, static: Mapping[str, Any]) -> bool:
        """Whether its form in passes over the joints is one for this mechanism."""
        if self.in_passes is None or not set(static) <= {"base", "frame", "reference"}:
            return False
        if not self.needs:  # kinematics
            return True
        return not (m.is_closed or (self.name in _BY_ARTICULATED_BODIES and is_coupled(m)))

    def depends_on(
        self, o: Ops, m: Mechanism, blocks: Sequence[Block], static: Mapping[str, Any]
    ) -> list[str]:
        """The names of all parameters that the result depends on, each taken by itself."""
        asked = Parametric(o, m, {})
        self.function(o, asked, *blocks, **static)
        return asked.asked()

    def without_effect(
        self, m: Mechanism, unused: Sequence[str], static: Mapping[str, Any]
    ) -> InputError:
        """The error of parameters that the result does not depend on."""
        frame = f" of '{static['frame']}'" if "frame" in static else ""
        names = parameters_of(self.name, m, **static)
        # those with the most in common with what was named come first
        close = difflib.get_close_matches(unused[0], names, n=6, cutoff=0.0)
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        listed = f"it depends on {', '.join(close)}{more}" if names else "it has no parameters"
        named = ", ".join(f"'{name}'" for name in unused)
        return InputError(
            f"{self.name}{frame} does not depend on {named}: leave it out of the parameters, or "
            f"leave out one that takes its place; {listed}"
        )

    @property
    def in_passes(self) -> Callable[..., Output] | None:
        """The same in passes over the joints, for long mechanisms: (sweep, *inputs, **static)."""
        if isinstance(self.function, InPasses):
            return self.function.passes
        return _IN_PASSES.get(self.name)

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (self.function.__doc__ or "").partition("\n")[0].strip()

    def sizes(self, m: Mechanism, parameters: str | Sequence[str] = ()) -> dict[str, int]:
        """The length of each input; parameters come after the algorithm's own.

        Raises: UnknownNameError for parameters that do not exist.
        """
        own = {name: m.n_q if kind == "q" else m.n_v for name, kind in self.inputs}
        return own | {p.name: p.size for p in named.find(m, parameters)}


_Q: tuple[tuple[str, Kind], ...] = (("q", "q"),)
_QV: tuple[tuple[str, Kind], ...] = (("q", "q"), ("v", "v"))
_QQ: tuple[tuple[str, Kind], ...] = (("q0", "q"), ("q1", "q"))
_MOTION: tuple[tuple[str, Kind], ...] = (*_QV, ("dv", "v"))
_FORCES: tuple[tuple[str, Kind], ...] = (*_QV, ("tau", "v"))
_V: tuple[Dimension, ...] = ("nv",)
_VV: tuple[Dimension, ...] = ("nv", "nv")
_FRAME_AXES = ("frame", "reference")
_ALL: tuple[Keyword, ...] = ("external", "gravity", "losses", "armature")
_REAL: tuple[Check, ...] = (check_inertias,)
_MOVABLE: tuple[Check, ...] = (check_inertias, check_movable)
_WEIGHED: tuple[Check, ...] = (check_masses_said,)
_SAID: tuple[Check, ...] = (check_inertias_said,)
_CENTRAL: tuple[Check, ...] = (check_masses_said, check_inertias_said)
_LIFTED: tuple[Check, ...] = (check_moving_masses_said, check_actuated)
_DRIVEN: tuple[Check, ...] = (check_inertias, check_actuated)
_HELD: tuple[Check, ...] = (check_held,)
_DRIVEN_LOOPS: tuple[Check, ...] = (check_held, check_actuated)

# fmt: off
_ENTRIES: tuple[Algorithm, ...] = (
    Algorithm("all_positions", configuration.all_positions, _Q, ("n_all",),
        doc="""Positions of all joints {shape}, in the order of `all_joint_names`."""),
    Algorithm("integrate", configuration.integrate, _QV, ("nq",),
        doc="""The configuration {shape} reached from q by the velocity v in one second."""),
    Algorithm("difference", configuration.difference, _QQ, ("nv",),
        doc="""The velocity {shape} that takes q0 to q1 in one second."""),
    Algorithm("fk", fk, _Q, (4, 4), static=("frame",),
        doc="""Pose of a frame in the world, T_world_frame {shape}; default: `tip`."""),
    Algorithm("fk_all", fk_all, _Q, ("nf", 4, 4),
        doc="""Poses of all frames in the world {shape}, in the order of `frame_names`."""),
    Algorithm("relative", relative, _Q, (4, 4), static=("base", "frame"),
        doc="""Pose of a frame in another one, T_base_frame {shape}.

        Joints that carry both frames, a floating base for instance, make no difference.
        """),
    Algorithm("jacobian", jacobian, _Q, (6, "nv"), static=_FRAME_AXES,
        doc="""Jacobian of a frame {shape}, linear rows first; default: `tip`.

        ``reference``: "world-aligned" (velocity of the frame's origin, axes of the world),
        "local" (axes of the frame) or "world" (velocity at the world's origin).
        """),
    Algorithm("jacobian_dot", jacobian_dot, _QV, (6, "nv"), static=_FRAME_AXES,
        doc="""The Jacobian's time derivative {shape} while q moves with v, in its own axes."""),
    Algorithm("jacobian_dot_v", jacobian_dot_v, _QV, (6,), static=_FRAME_AXES,
        doc="""The Jacobian's time derivative times v {shape}: the acceleration at dv/dt = 0."""),
    Algorithm("frame_velocity", frame_velocity, _QV, (6,), static=_FRAME_AXES,
        doc="""Velocity of a frame {shape}, linear first: `jacobian` times v. Default frame: `tip`.

        ``reference`` as in `jacobian`. Units: m/s, rad/s.
        """),
    Algorithm("frame_acceleration", frame_acceleration, _MOTION, (6,), static=_FRAME_AXES,
        doc="""The time derivative of `frame_velocity` {shape}; dv is that of v.

        Default frame: `tip`. ``reference`` as in `jacobian`. Units: m/s², rad/s².
        """),
    Algorithm("com", com, _Q, (3,), needs=_WEIGHED,
        doc="""Centre of mass in the world {shape}, the root link's mass included."""),
    Algorithm("com_jacobian", com_jacobian, _Q, (3, "nv"), needs=_WEIGHED,
        doc="""Jacobian of the centre of mass {shape}."""),
    Algorithm("com_velocity", com_velocity, _QV, (3,), needs=_WEIGHED,
        doc="""Velocity of the centre of mass {shape} in the world, m/s."""),
    Algorithm("com_acceleration", com_acceleration, _MOTION, (3,), needs=_WEIGHED,
        doc="""Acceleration of the centre of mass {shape} in the world, m/s²."""),
    Algorithm("centroidal_momentum", centroidal_momentum, _QV, (6,), needs=_CENTRAL,
        doc="""Momentum {shape}: linear, then angular about the centre of mass, world axes.

        Units: kg m/s and kg m²/s. Source: Orin, Goswami, Lee, Autonomous Robots 35 (2013).
        """),
    Algorithm("centroidal_matrix", centroidal_matrix, _Q, (6, "nv"), needs=_CENTRAL,
        doc="""The matrix {shape} that makes `centroidal_momentum` of v.

        Source: Orin, Goswami, Lee, Autonomous Robots 35 (2013).
        """),
    Algorithm("inverse_dynamics", inverse_dynamics, _MOTION, _V, keywords=_ALL, needs=_DRIVEN,
        doc="""Joint forces {shape} that give the accelerations dv at the velocities v (N, N m).

        A floating base has the force, then the moment about its origin, in the axes of its body.
        With loops: those of the actuated joints, zero at the others.

        Source: recursive Newton-Euler (Luh, Walker, Paul 1980; Featherstone 2008, section 5.3).
        Raises: InputError, ShapeError, UnknownNameError.
        """),
    Algorithm("bias_forces", bias_forces, _QV, _V, keywords=("external", "gravity", "losses"),
              needs=_DRIVEN,
        doc="""Joint forces {shape} that keep the velocities v as they are (N, N m).

        Inverse dynamics at dv = 0: against gravity, Coriolis and centrifugal forces. With loops:
        those of the actuated joints that keep their own speeds.

        Raises: as `inverse_dynamics`.
        """),
    Algorithm("path_forces", path_forces, _MOTION, (3, "nv"),
              keywords=("external", "gravity", "armature"), needs=_DRIVEN,
        doc="""Joint forces {shape} along a path q(s): rows by d²s/dt², (ds/dt)² and 1.

        v and dv are dq/ds and d²q/ds². The rows times these three add up to `inverse_dynamics`,
        without losses, which are not of this form.

        Raises: as `inverse_dynamics`.
        """),
    Algorithm("gravity_forces", gravity_forces, _Q, _V, keywords=("gravity",), needs=_LIFTED,
        doc="""Joint forces {shape} that hold still against gravity (N, N m).

        With loops: those of the actuated joints.
        """),
    Algorithm("forward_dynamics", forward_dynamics, _FORCES, _V, keywords=_ALL,
              needs=_MOVABLE,
        doc="""Accelerations {shape} that the joint forces tau give at the velocities v.

        Units: rad/s² for turns, m/s² for slides; a floating base has the time derivative of its v.
        With loops, those that keep them closed, where q and v are assembled.

        Source: articulated bodies (Featherstone 2008, section 7.3).
        Raises: as `inverse_dynamics`; InputError where a joint moves nothing that has inertia.
        """),
    Algorithm("mass_matrix", mass_matrix, _Q, _VV, keywords=("armature",), needs=_REAL,
        doc="""Mass matrix M {shape}, symmetric: the kinetic energy is half of v·M v.

        Source: composite bodies (Walker and Orin 1982; Featherstone 2008, section 6.2).
        Raises: as `inverse_dynamics`.
        """),
    Algorithm("inverse_mass_matrix", inverse_mass_matrix, _Q, _VV, keywords=("armature",),
              needs=_MOVABLE,
        doc="""The inverse of the mass matrix {shape}, symmetric.

        Source: factors with the tree's sparsity (Featherstone 2005); Takahashi, Fagan, Chin (1973).
        Raises: as `forward_dynamics`.
        """),
    Algorithm("coriolis_matrix", coriolis_matrix, _QV, _VV, needs=_REAL,
        doc="""C {shape}: C v and gravity's forces are the bias, and dM/dt - 2 C is skew.

        Source: Echeandia and Wensing, J. Comput. Nonlinear Dynamics 16 (2021).
        Raises: as `inverse_dynamics`.
        """),
    Algorithm("inverse_dynamics_derivatives", inverse_dynamics_derivatives, _MOTION,
              (3, *_VV), keywords=_ALL, friction=False, result=_inverse_derivatives, needs=_DRIVEN,
        doc="""Derivatives of `inverse_dynamics` with respect to q, v and dv, {shape} each.

        q changes along the columns of v, as in `jacobian`. Friction, being constant but for its
        sign, has no derivative.

        Source: Carpentier and Mansard (2018); Singh, Russell, Wensing (2022).
        Raises: as `inverse_dynamics`.
        """),
    Algorithm("forward_dynamics_derivatives", forward_dynamics_derivatives, _FORCES,
              (3, *_VV), keywords=_ALL, result=_forward_derivatives, needs=_MOVABLE,
        doc="""Derivatives of `forward_dynamics` with respect to q, v and tau, {shape} each.

        q changes along the columns of v, as in `jacobian`.

        Source: Carpentier and Mansard (2018).
        Raises: as `forward_dynamics`.
        """),
    Algorithm("regressor", regressor, _MOTION, ("nv", "10 nb"), keywords=("gravity",),
        doc="""Y {shape}: inverse dynamics is Y p, with ten numbers p for each body.

        They are m, m c (3) and ixx ixy ixz iyy iyz izz about the origin of the body's own link
        frame, in its axes; bodies in the order of `mechanism.body_names`. `inertial_parameters`
        gives them as they are.

        Source: Atkeson, An, Hollerbach, "Estimation of inertial parameters" (1986).
        Raises: InputError, ShapeError.
        """),
    Algorithm("kinetic_energy", kinetic_energy, _QV, (), keywords=("armature",), needs=_SAID,
        doc="""Kinetic energy {shape} of the whole mechanism, J."""),
    Algorithm("potential_energy", potential_energy, _Q, (), keywords=("gravity",),
              needs=_WEIGHED,
        doc="""Energy {shape} of the masses in gravity's field (J), zero at the world's origin."""),
    Algorithm("closure", closure, _Q, ("n_c",), needs=_HELD,
        doc="""Distance of each row of each loop and coupling from being closed {shape}, m and rad.

        Raises: InputError where there are no loops or couplings, or one has no value.
        """),
    Algorithm("closure_jacobian", closure_jacobian, _Q, ("n_c", "nv"), needs=_HELD,
        doc="""The derivative of `closure` by v {shape}, exact where q is assembled.

        Raises: InputError where there are no loops or couplings, or one has no value.
        """),
    Algorithm("closure_bias", closure_bias, _QV, ("n_c",), needs=_HELD,
        doc="""The closure's acceleration at dv = 0, dJ/dt v {shape}: J dv + this is zero.

        Rows as in `closure`, m/s² and rad/s². At q and v that are assembled.

        Raises: InputError where there are no loops or couplings.
        """),
    Algorithm("loop_forces", loop_forces, _FORCES, ("n_c",), keywords=_ALL,
              needs=(*_MOVABLE, *_HELD),
        doc="""Constraint forces of the rows of `closure` {shape} under joint forces tau (N, N m).

        On frame b, along and about the axes of frame a. Of redundant rows the least: measured by
        the root of what each moves.

        Raises: as `forward_dynamics`.
        """),
    Algorithm("loop_wrenches", loop_wrenches, _FORCES, ("n_loops", 6), keywords=_ALL,
              result=_by_loop, needs=(*_MOVABLE, check_loops),
        doc="""The wrench {shape} of each loop on its frame b, by the loop's name (N, N m).

        Force, then moment about the origin of frame b, in axes of frame a; the body of frame a has
        the opposite one along the same line. Keywords: see `Robot`.

        Raises: as `forward_dynamics`; InputError where there are no loops.
        """),
    Algorithm("passive_rates", passive_rates, _Q, ("nv", "n_actuated"), has_method=False,
              needs=_DRIVEN_LOOPS,
        doc="""Derivatives {shape} of v by the speeds of the actuated joints."""),
    Algorithm("actuation_jacobian", actuation_jacobian, _Q, (6, "n_actuated"),
              static=_FRAME_AXES, has_method=False, needs=_DRIVEN_LOOPS,
        doc="""Velocity of a frame {shape} by the speeds of the actuated joints."""),
)
# fmt: on

ALGORITHMS: dict[str, Algorithm] = {entry.name: entry for entry in _ENTRIES}
"""Every algorithm by name."""

_IN_PASSES: dict[str, Callable[..., Output]] = {
    "inverse_dynamics": tree_forces,
    "path_forces": tree_path_forces,
    "bias_forces": tree_forces,
    "gravity_forces": tree_gravity_forces,
    "forward_dynamics": forward_dynamics_in_passes,
    "inverse_mass_matrix": inverse_mass_matrix_in_passes,
    "inverse_dynamics_derivatives": derivatives,
    "forward_dynamics_derivatives": forward_dynamics_derivatives_in_passes,
    "regressor": regressor_in_passes,
}
"""Algorithms in passes that are written out otherwise besides, or of which more is asked."""

_BY_ARTICULATED_BODIES = ("forward_dynamics_derivatives", "inverse_mass_matrix")
"""Algorithms whose passes take no two bodies that share a coordinate."""


def find(name: str) -> Algorithm:
    """The algorithm of this name.

    Raises: UnknownNameError with the nearest names.
    """
    if name == "full":
        warnings.warn(
            'the algorithm "full" is now called "all_positions"', DeprecationWarning, stacklevel=3
        )
        name = "all_positions"
    try:
        return ALGORITHMS[name]
    except (KeyError, TypeError):
        raise UnknownNameError("algorithm", name, tuple(ALGORITHMS)) from None


def evaluate(
    name: str,
    m: Mechanism,
    *arrays: Any,
    parameters: Mapping[str, Any] | None = None,
    **static: Any,
) -> Any:
    """Run an algorithm for one configuration on the back end that the arrays belong to.

    NumPy arrays or numbers give a NumPy array; JAX arrays, also under ``jit``, ``vmap`` and
    ``grad``, a JAX array; expressions of a graph a block, or a list of them. A batch is not taken:
    `jax.vmap` or a compiled kernel does that. ``parameters`` gives numbers of the mechanism by name
    (`mechanism.parameters`) other values than they have; they may be blocks as the inputs are.

    Raises: UnknownNameError, ShapeError for an input of the wrong length, InputError for a
    parameter without effect.
    """
    entry, given = find(name), dict(parameters or {})
    o = ops_of(*arrays, *given.values())
    sizes = entry.sizes(m, tuple(given))
    if len(arrays) + len(given) != len(sizes):
        own = list(sizes)[: len(sizes) - len(given)]
        raise ShapeError(f"{name} takes {', '.join(own)}; {len(arrays)} arrays came")
    blocks = [
        _vector(o, f"{name}: {key} of '{m.name}'", array, size)
        for array, (key, size) in zip([*arrays, *given.values()], sizes.items(), strict=True)
    ]
    inputs, rest = blocks[: len(arrays)], blocks[len(arrays) :]
    result = entry.run(o, m, inputs, dict(zip(given, rest, strict=True)), **static)
    if not isinstance(result, list) or o.name == "graph":
        return np.asarray(result) if o.name == "numpy" else cast(Block, result)
    matrices = cast(list[Block], result)
    if o.name == "jax":
        import jax.numpy as jnp  # noqa: PLC0415  loaded already: the arrays are JAX's

        return jnp.stack(matrices)
    return np.stack(matrices)


def parameters_of(name: str, m: Mechanism, **static: Any) -> tuple[str, ...]:
    """The parameters of a mechanism that an algorithm depends on, by name.

    `mechanism.parameters` says what they are, and `mechanism.parameters.values` gives their values.

    Raises: UnknownNameError.
    """
    entry = find(name)
    blocks = [NUMPY.const(np.ones(size)) for size in entry.sizes(m).values()]
    return tuple(entry.depends_on(NUMPY, m, blocks, static))


def _vector(o: Ops, what: str, array: Any, size: int) -> Block:
    """One input as a block; a single number stands for a vector of one."""
    block: Block = o.const(array)
    if size == 1 and block.shape == ():
        return o.vector([block])
    if block.shape != (size,):
        raise ShapeError(
            f"{what} has the shape {(size,)}, not {block.shape}; "
            "one configuration at a time is taken here"
        )
    return block
