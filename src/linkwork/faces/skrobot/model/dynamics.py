"""Masses, the centre of gravity and joint torques of a model (rows S0-180 to S0-187).

Torques and Jacobians are those of the core's robot; here stand the original's arguments, its order
of joints and its differences in time. A joint that follows another has an entry of its own: the
torque that it would need without its leader.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import poses
from linkwork.errors import InputError, ShapeError
from linkwork.faces.skrobot.coordinates.base import Coordinates, carriers
from linkwork.faces.skrobot.coordinates.math import finite, normalize_mask
from linkwork.faces.skrobot.model.arguments import check_backend
from linkwork.faces.skrobot.model.core import rows_of
from linkwork.faces.skrobot.model.joint import calc_target_joint_dimension, places
from linkwork.mechanism.assemble import assemble
from linkwork.mechanism.edit import parts_of
from linkwork.mechanism.loops import Closures
from linkwork.robot import Robot
from linkwork.spatial.inertias import lump, turned

if TYPE_CHECKING:
    from linkwork.faces.skrobot.model.core import CoreModel

Floats = NDArray[np.float64]

GRAVITY = (0.0, 0.0, -9.80665)
"""Gravity (m/s²) where `Dynamics.inverse_dynamics` is given none."""
GRAVITY_OF_TORQUES = (0.0, 0.0, -9.81)
"""Gravity (m/s²) where `Dynamics.torque_vector` is given none."""
_BASE = "base of the robot"


class Dynamics:
    """The part of `CascadedLink` that computes masses and torques."""

    _mass_properties: dict[str, Any] | None = None

    # masses

    def update_mass_properties(self: Any) -> dict[str, Any]:
        """The mass of all links together, as they stand now.

        "total_mass" (kg), "total_centroid" (3,) in the world (m), and "total_inertia" (3, 3) about
        it along the axes of the world (kg m²). A robot without mass has its centroid at zero.
        """
        rows = [link for link in self.link_list if link._mass]
        mass = np.array([link._mass for link in rows])
        total = float(mass.sum())
        centre, inertia = np.zeros(3), np.zeros((3, 3))
        if rows and total != 0.0:
            worlds = np.array([link._world() for link in rows])
            at = np.array([np.zeros(3) if c is None else c for c in (k._centroid for k in rows)])
            own = np.array([_no_inertia if k._inertia is None else k._inertia for k in rows])
            R = worlds[:, :3, :3]
            points = np.einsum("kij,kj->ki", R, at) + worlds[:, :3, 3]
            one = np.zeros(len(rows), np.int64)
            of_all = lump(one, 1, mass=mass, com=points, inertia=turned(R, own))
            total, centre, inertia = float(of_all[0][0]), of_all[1][0], of_all[2][0]
        found = {"total_mass": total, "total_centroid": centre, "total_inertia": inertia}
        self._mass_properties = found
        return {name: np.copy(value) if name != "total_mass" else value
                for name, value in found.items()}  # fmt: skip

    def centroid(self: Any, update_mass_properties: bool = True) -> Floats:
        """The centre of gravity (3,) in the world, m; the last one with False."""
        return _known_masses(self, update_mass_properties)["total_centroid"].copy()

    def calc_vel_for_cog(
        self: Any,
        target_centroid_pos: ArrayLike,
        translation_axis: Any = True,
        cog_gain: float = 1.0,
        update_mass_properties: bool = True,
        centroid_offset_func: Callable[[], ArrayLike] | None = None,
    ) -> Floats:
        """The way (m) from the centre of gravity to a point of the world, times a gain.

        Rows are the axes that ``translation_axis`` names. ``centroid_offset_func`` gives what is
        added to the centre of gravity (3,), such as that of a load.
        """
        at = self.centroid(update_mass_properties)
        if centroid_offset_func is not None:
            at = at + finite(centroid_offset_func(), "centroid_offset_func()", (3,))
        way = finite(target_centroid_pos, "target_centroid_pos", (3,)) - at
        return (float(cog_gain) * way)[normalize_mask(translation_axis) > 0.0]

    def calc_cog_jacobian_from_link_list(
        self: Any,
        link_list: Any = None,
        translation_axis: Any = True,
        update_mass_properties: bool = True,
        col_offset: int = 0,
        n_joint_dimension: int | None = None,
        jacobian: Floats | None = None,
    ) -> Floats:
        """The Jacobian of the centre of gravity in the world, a column for each degree of freedom.

        Columns are those of the joints of ``link_list`` (by default all links, or several chains),
        from ``col_offset``; rows the axes that ``translation_axis`` names. ``jacobian`` is filled
        where it is given.

        Raises: InputError without an axis, or of a robot without mass; ShapeError for a
        ``jacobian`` that is too small.
        """
        rows = normalize_mask(translation_axis) > 0.0
        if not rows.any():
            raise InputError(
                f"translation_axis must select at least one CoG axis, got {translation_axis!r:.40}"
            )
        if not _known_masses(self, update_mass_properties)["total_mass"]:
            raise InputError("Total robot mass is zero: give its links masses (link.mass = 1.0)")
        links = self.link_list if link_list is None else self.calc_union_link_list(link_list)
        joints = [link.joint for link in links if link.joint is not None]
        least = col_offset + calc_target_joint_dimension(joints)
        if jacobian is None:
            jacobian = np.zeros((int(rows.sum()), n_joint_dimension or least))
        if jacobian.shape[0] < rows.sum() or jacobian.shape[1] < least:
            raise ShapeError(
                f"the Jacobian is {jacobian.shape}, and needs ({int(rows.sum())}, {least}) or more"
            )
        tree = _tree_of(self._core(None))
        J = self._core(None).T_world_root()[:3, :3] @ tree.robot.com_jacobian(tree.q())
        own = jacobian[: rows.sum(), col_offset:least]
        for joint, span in zip(joints, places(joints), strict=True):
            if id(joint) in tree.columns:
                own[:, span] = J[rows][:, tree.columns[id(joint)]]
        return jacobian

    # torques

    def inverse_dynamics(
        self: Any,
        external_forces: Sequence[Any] | None = None,
        external_moments: Sequence[Any] | None = None,
        external_coords: Sequence[Any] | None = None,
        gravity: ArrayLike | None = None,
        backend: str = "numpy",
        qd: ArrayLike | None = None,
        qdd: ArrayLike | None = None,
    ) -> Floats:
        """Torques (n,), N m and N, that the joints need where they are, in their order.

        At rest, or with velocities ``qd`` (n,) and accelerations ``qdd`` (n,). Forces (N) and
        moments (N m) act on the robot at frames, along the axes of the world. ``gravity`` (3,) is
        the free-fall acceleration in the world, m/s², by default (0, 0, -9.80665). Both backends
        are the core's compiled functions.

        Raises: InputError, ShapeError.
        """
        check_backend(backend)
        tree = _tree_of(self._core(None))
        n = calc_target_joint_dimension(self.joint_list)
        rates = [np.zeros(n) if each is None else finite(each, what, (n,))
                 for each, what in ((qd, "qd"), (qdd, "qdd"))]  # fmt: skip
        state = _State(tree, tree.q(), *(_spread(self, tree, each) for each in rates))
        loads = _loads(self, external_forces, external_moments, external_coords)
        fall = finite(GRAVITY if gravity is None else gravity, "gravity", (3,))
        T_world_root = self._core(None).T_world_root()
        return _in_order(self, tree, _torques(state, fall, loads, T_world_root))

    def torque_vector(  # noqa: PLR0913, PLR0917  as the original
        self: Any,
        force_list: Sequence[Any] | None = None,
        moment_list: Sequence[Any] | None = None,
        target_coords: Sequence[Any] | None = None,
        calc_statics_p: bool = True,
        dt: float = 0.005,
        av: ArrayLike | None = None,
        av_prev: ArrayLike | None = None,
        av_next: ArrayLike | None = None,
        root_coords: Coordinates | None = None,
        root_coords_prev: Coordinates | None = None,
        root_coords_next: Coordinates | None = None,
        gravity: ArrayLike | None = None,
        backend: str = "numpy",
    ) -> Floats:
        """Torques (n,), N m and N, that hold the robot, or move it, against gravity and loads.

        At the angles ``av``, by default the present ones. With ``calc_statics_p=False`` velocities
        and accelerations are differences between ``av_prev``, ``av`` and ``av_next``, ``dt`` s
        apart; where one of them is missing, there is no acceleration. So do ``root_coords_prev``,
        ``root_coords`` (the present pose of the root link) and ``root_coords_next`` say how the
        root moves. Forces (N) and moments (N m) act on the robot at the frames ``target_coords``,
        or in order on the links of the joints, along the axes of the world. ``gravity`` (3,) in the
        world, m/s², is by default (0, 0, -9.81). The robot does not move.

        Raises: InputError, ShapeError.
        """
        check_backend(backend)
        core = self._core(None)
        n = calc_target_joint_dimension(self.joint_list)
        given = (("av_prev", av_prev), ("av", av), ("av_next", av_next))
        angles = [None if each is None else finite(each, name, (n,)) for name, each in given]
        now = np.array(self.angle_vector(), np.float64) if angles[1] is None else angles[1]
        roots = [None if each is None else _pose_of(each)
                 for each in (root_coords_prev, root_coords, root_coords_next)]  # fmt: skip
        at = core.T_world_root() if roots[1] is None else roots[1]
        rates = (np.zeros(n), np.zeros(n))
        moving = not calc_statics_p and not (roots[0] is None and roots[2] is None)
        if not calc_statics_p:
            step = float(dt)
            if not (np.isfinite(step) and step > 0.0):
                raise InputError(f"dt is a time above 0 s, not {dt!r:.40}")
            ways = [None if each is None else each - now for each in (angles[0], angles[2])]
            rates = _differences(ways[0], ways[1], step, n)
        tree = _tree_of(core, floating=moving)
        q, v, dv = tree.q(), *(_spread(self, tree, each) for each in rates)
        _spread(self, tree, now, into=q)
        if moving:
            place, way = tree.base_q, tree.robot.difference
            q[place] = _base_of(at)
            ends: list[Floats | None] = []
            for T in (roots[0], roots[2]):
                other = q.copy()
                if T is not None:
                    other[place] = _base_of(T)
                ends.append(None if T is None else way(q, other)[tree.base_v])
            v[tree.base_v], dv[tree.base_v] = _differences(ends[0], ends[1], float(dt), 6)
        loads = _loads(self, force_list, moment_list, target_coords)
        fall = finite(GRAVITY_OF_TORQUES if gravity is None else gravity, "gravity", (3,))
        tau = _torques(_State(tree, q, v, dv), fall, loads, np.eye(4) if moving else at)
        return _in_order(self, tree, tau)


_no_inertia = np.zeros((3, 3))


def _known_masses(robot: Any, again: bool) -> dict[str, Any]:
    """The masses of a robot together, as they were computed last, or ``again``."""
    if again or robot._mass_properties is None:
        robot.update_mass_properties()
    return dict(robot._mass_properties or {})


class _Tree(NamedTuple):
    """The core's robot without couplings and loops, so that each joint has columns of its own.

    ``columns`` and ``positions`` are by the joints' ids; those of a floating base come first.
    """

    robot: Robot
    joints: list[Any]
    columns: dict[int, slice]
    positions: dict[int, slice]
    base_q: slice
    base_v: slice

    def q(self) -> Floats:
        """The present configuration, a base at the origin."""
        q = np.zeros(self.robot.n_q)
        if self.base_q.stop:
            q[self.base_q] = self.robot.neutral()[self.base_q]
        for joint in self.joints:
            q[self.positions[id(joint)]] = joint._q
        return q


class _State(NamedTuple):
    """A configuration of a tree, its velocity and its acceleration."""

    tree: _Tree
    q: Floats
    v: Floats
    dv: Floats


class _Load(NamedTuple):
    """A force and a moment (3,) in the world, on a link, at a pose (4, 4) in its frame."""

    link: str
    T_link_frame: Floats
    force: Floats
    moment: Floats


def _tree_of(core: CoreModel, *, floating: bool = False) -> _Tree:
    """The tree of a model; it is kept with the core."""
    known: dict[bool, _Tree] = core.__dict__.setdefault("_trees", {})
    if floating not in known:
        parts = parts_of(core.robot.mechanism)
        joints = [replace(j, mimic=None) for j in parts.joints if j.parent is not None]
        base: dict[str, Any] = {"base": "floating", "base_joint": _BASE} if floating else {}
        parts = replace(parts, joints=joints, closures=Closures(), named=(), **base)
        robot = Robot(assemble(parts))
        known[floating] = _columns_of(core, robot, floating)
    return known[floating]


def _columns_of(core: CoreModel, robot: Robot, floating: bool) -> _Tree:
    m = robot.mechanism
    joints: list[Any] = []
    columns: dict[int, slice] = {}
    positions: dict[int, slice] = {}
    for joint in (member.link._mover for member in core._members):
        if joint is None or joint.joint_dof == 0:
            continue
        joints.append(joint)
        positions[id(joint)], columns[id(joint)] = rows_of(m, core._parts_of[id(joint)])
    base = (m.q_slice(0), m.v_slice(0)) if floating else (slice(0, 0), slice(0, 0))
    return _Tree(robot, joints, columns, positions, *base)


def _spread(robot: Any, tree: _Tree, given: Floats, into: Floats | None = None) -> Floats:
    """Numbers in the order of the joints, as velocities of the tree, or positions ``into`` q."""
    own = tree.columns if into is None else tree.positions
    found = np.zeros(tree.robot.n_v) if into is None else into
    for joint, span in zip(robot.joint_list, places(robot.joint_list), strict=True):
        if id(joint) in own:
            found[own[id(joint)]] = given[span]
    return found


def _in_order(robot: Any, tree: _Tree, tau: Floats) -> Floats:
    """Generalised forces of a tree in the order of the joints."""
    found = np.zeros(calc_target_joint_dimension(robot.joint_list))
    for joint, span in zip(robot.joint_list, places(robot.joint_list), strict=True):
        if id(joint) in tree.columns:
            found[span] = tau[tree.columns[id(joint)]]
    return found


def _differences(
    before: Floats | None, after: Floats | None, dt: float, n: int
) -> tuple[Floats, Floats]:
    """Velocity and acceleration (n,) now, from the ways to where it was and to where it will be."""
    if before is None and after is None:
        return np.zeros(n), np.zeros(n)
    if before is None or after is None:
        return (after / dt if after is not None else -before / dt), np.zeros(n)  # pyright: ignore[reportOptionalOperand]
    return (after - before) / (2.0 * dt), (after + before) / dt**2


def _torques(
    state: _State, gravity: Floats, loads: Sequence[_Load], T_world_base: Floats
) -> Floats:
    """Generalised forces of a motion under loads, all of which are given in the world."""
    tree, R = state.tree, T_world_base[:3, :3]
    robot = tree.robot
    tau = robot.inverse_dynamics(state.q, state.v, state.dv, gravity=gravity @ R)
    for load in loads:
        force, moment = load.force @ R, load.moment @ R
        arm = robot.fk(state.q, load.link)[:3, :3] @ load.T_link_frame[:3, 3]
        wrench = np.concatenate([force, moment + np.cross(arm, force)])
        tau = tau - wrench @ robot.jacobian(state.q, load.link)
    return tau


def _loads(robot: Any, forces: Any, moments: Any, frames: Any) -> list[_Load]:
    """The loads on links; those on the root or above it do not count.

    Raises: InputError, ShapeError.
    """
    given = [_listed(forces, "forces"), _listed(moments, "moments"), _listed(frames, "frames")]
    counts = {len(each) for each in given if each is not None}
    if given[0] is None and given[1] is None:
        return []
    if len(counts) > 1:
        raise InputError(
            "forces, moments and their frames go together, one by one: "
            f"{[None if each is None else len(each) for each in given]} were given"
        )
    n = counts.pop()
    if given[2] is None:
        if n > len(robot.joint_list):
            raise InputError(
                f"{n} forces without frames act on the links of the first joints, of which there "
                f"are {len(robot.joint_list)}; say where: target_coords=[...]"
            )
        given[2] = [joint.child_link for joint in robot.joint_list[:n]]
    core = robot._core(None)
    found: list[_Load] = []
    for k in range(n):
        frame = given[2][k]
        if not isinstance(frame, Coordinates):
            raise InputError(f"a force acts at a frame of the robot, not at {frame!r:.60}")
        force, moment = (
            np.zeros(3) if each is None or each[k] is None else finite(each[k], what, (3,))
            for each, what in zip(given, ("a force", "a moment"), strict=False)
        )
        if not _hangs_above(robot, frame):
            link, T_link_frame = core.frame(frame)
            found.append(_Load(link, T_link_frame, force, moment))
    return found


def _listed(given: Any, what: str) -> list[Any] | None:
    if given is None:
        return None
    if isinstance(given, Coordinates) or not isinstance(given, Iterable):
        raise InputError(f"{what} is a list, one for each frame, not {type(given).__name__}")
    return list(given)


def _hangs_above(robot: Any, frame: Coordinates) -> bool:
    """Whether a frame hangs on the robot itself and on no link of it."""
    links = {id(link) for link in robot.link_list}
    met = next((at for at in carriers(frame) if at is robot or id(at) in links), None)
    return met is robot


def _pose_of(coords: Any) -> Floats:
    if not isinstance(coords, Coordinates):
        raise InputError(f"root_coords are frames, not {type(coords).__name__}")
    return coords._world().copy()


def _base_of(T: Floats) -> Floats:
    """The positions (7,) of a floating base at a pose (4, 4)."""
    return np.concatenate(poses.xyz_wxyz(T))
