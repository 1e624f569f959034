"""The steps of differential inverse kinematics, each usable alone.

Jacobians are of float64, their columns in the order of the joints of a union of chains, each joint
with one column for each of its degrees of freedom; joints that are missing or fixed have none. Rows
are the chosen axes of position, then those of rotation, target by target, in the axes of the frame
that moves or of ``transform_coords``.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError
from linkwork.faces.skrobot.coordinates.base import (
    CascadedCoords,
    Coordinates,
    carriers,
    inverse_matrix,
)
from linkwork.faces.skrobot.coordinates.math import normalize_mask
from linkwork.faces.skrobot.model.arguments import (
    OLDER,
    asked_axes,
    check_lists,
    holds_several,
    listed,
    listed_numbers,
    listed_or_none,
    nested,
)
from linkwork.faces.skrobot.model.joint import (
    calc_target_joint_dimension,
    is_led_by,
    joint_angle_limit_nspace,
    joint_angle_limit_weight,
    places,
)
from linkwork.mechanism.rigid import point_velocities

Floats = NDArray[np.float64]

logger = logging.getLogger(__name__)


def moving_joint(link: Any) -> Any:
    """The joint that moves a link, or None where there is none or it is fixed."""
    joint = getattr(link, "joint", None)
    return joint if joint is not None and joint.joint_dof > 0 else None


def movable(links: Sequence[Any]) -> list[Any]:
    """The links that a joint moves."""
    return [link for link in links if moving_joint(link) is not None]


def joints_of(links: Sequence[Any]) -> list[Any]:
    """The joints that move these links."""
    return [link.joint for link in movable(links)]


def shortened(vector: ArrayLike, most: float) -> Floats:
    """A vector, scaled to the norm ``most`` where it is longer."""
    vector = np.array(vector, dtype=float)
    length = float(np.linalg.norm(vector))
    return vector * (most / length) if length > most else vector


# ---------------------------------------------------------------------------- columns of joints


def followers(joint: Any) -> list[tuple[Any, float]]:
    """The joints that follow one, directly or not, and how fast each moves when it moves at one."""
    found: list[tuple[Any, float]] = []
    todo = [(joint, 1.0)]
    while todo:
        leader, rate = todo.pop()
        for follower in leader._followers:
            pair = (follower, rate * follower._leader[1])
            found.append(pair)
            todo.append(pair)
    return found


def frame_jacobian(joints: Sequence[Any], relevant: dict[int, bool], p: Floats) -> Floats:
    """The Jacobian (n, 6), transposed, of a point p (3,) of the world by joints, world axes.

    ``relevant`` says of joints by id which count; what follows a joint is in its row, and has no
    other one beside it.
    """
    found = np.zeros((calc_target_joint_dimension(joints), 6))
    leaders = {id(joint) for joint in joints}
    rows: list[int] = []
    rates: list[float] = []
    axes: list[Floats] = []
    origins: list[Floats] = []
    slides: list[bool] = []
    for joint, span in zip(joints, places(joints), strict=True):
        if is_led_by(joint, leaders):
            continue
        both = [(joint, 1.0), *followers(joint)] if joint._followers else ((joint, 1.0),)
        for each, rate in both:
            if not relevant.get(id(each), False):
                continue
            n, child = each.joint_dof, each.child_link._world()
            own, sliding = each._screws()
            base = child[:3, :3] if n == 1 else child[:3, :3] @ each._motion()[:3, :3].T
            rows.extend(range(span.start, span.start + n))
            rates.extend([rate] * n)
            axes.extend(own @ base.T)
            origins.extend([child[:3, 3]] * n)
            slides.extend(sliding)
    if rows:
        columns = point_velocities(np.array(axes), np.array(origins), slides, p)
        np.add.at(found, rows, np.array(rates)[:, None] * columns)
    return found


class _Now(NamedTuple):
    """The state that an iteration begins with, target by target."""

    targets: list[Any]
    chains: list[list[Any]]
    ways: list[Floats]
    rotations: list[Floats]
    where: list[NDArray[np.bool_]]
    turns: list[NDArray[np.bool_]]
    mirrors: list[Any]


def _now(move_target: Any, link_list: Any, differences: Any, masks: Any) -> _Now:
    """The targets of an iteration, their chains, differences, masks and mirrors.

    Raises: ValueError where their numbers differ.
    """
    targets = listed(move_target)
    n = len(targets)
    if link_list is None:
        chains = [movable(carriers(target)) for target in targets]
    else:
        chains = nested(link_list)
        chains = chains * n if len(chains) == 1 else chains
    ways, rotations = map(_vectors, differences)
    if len(ways) != n or len(rotations) != n:
        raise ValueError(
            f"there must be a difference of position and one of rotation for each of {n} move "
            f"targets, not {len(ways)} and {len(rotations)}"
        )
    where, turns, mirrors = zip(*asked_axes(n, *masks), strict=True)
    return _Now(targets, chains, ways, rotations, list(where), list(turns), list(mirrors))


def _given(value: Any, chains: list[list[Any]]) -> Floats:
    """An array, or what a function of the chains gives."""
    return np.asarray(value(chains) if callable(value) else value, dtype=float)


class StepsIK:
    """Jacobians, weights, null-space vectors and joint motions of a cascaded link."""

    link_list: list[Any]
    joint_list: list[Any]
    joint_angle_limit_weight_maps: dict[Any, Any]
    """The push of limits when weights were last worked out, by the names of links."""

    if TYPE_CHECKING:
        interlocking_joint_pairs: list[tuple[Any, Any]]

        def calc_union_link_list(self, link_list: Any) -> list[Any]: ...  # noqa: D102  another's
        def link_lists(self, to: Any, frm: Any = None) -> list[Any]: ...  # noqa: D102
        def calc_cog_jacobian_from_link_list(self, *args: Any, **options: Any) -> Any: ...  # noqa: D102
        def calc_vel_for_cog(self, *args: Any, **options: Any) -> Any: ...  # noqa: D102

    def _union(self, link_list: Any) -> list[Any]:
        """The links of one or several chains, each once, that a joint moves; None: all links."""
        links = self.link_list if link_list is None else list(link_list)
        return movable(self.calc_union_link_list(links))

    # -------------------------------------------------------------------------- dimensions

    def calc_target_axis_dimension(
        self, rotation_mask: Any, position_mask: Any, rotation_mirror: Any = None
    ) -> int:
        """The number of rows that masks ask for; None asks for none, a mirror for all three turns.

        Lists of masks, one for each target, are added up.

        Raises: ValueError where two lists differ in length.
        """
        lengths = {len(m) for m in (rotation_mask, position_mask) if holds_several(m)}
        if len(lengths) > 1:
            raise InputError(
                "list length differ: len(position_mask)!=len(rotation_mask) "
                f"{len(position_mask)}!={len(rotation_mask)}"
            )
        count = lengths.pop() if lengths else 1
        asked = asked_axes(count, position_mask, rotation_mask, rotation_mirror, none=False)
        return sum(each.n_rows for each in asked)

    def inverse_kinematics_args(
        self,
        union_link_list: Any = None,
        position_mask: Any = None,
        rotation_mask: Any = None,
        rotation_mirror: Any = None,
        additional_jacobi_dimension: int = 0,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """The sizes of a problem and arrays of zeros for it: dim, n_joint_dimension, jacobian, ret.

        What else is given is in it as well.
        """
        rows = self.calc_target_axis_dimension(rotation_mask, position_mask, rotation_mirror)
        rows += additional_jacobi_dimension
        links = [] if union_link_list is None else self._union(union_link_list)
        columns = calc_target_joint_dimension(joints_of(links))
        return {
            "dim": rows,
            "jacobian": np.zeros((rows, columns)),
            "n_joint_dimension": columns,
            "ret": np.zeros((columns, rows)),
            **kwargs,
        }

    # -------------------------------------------------------------------------- Jacobians

    def calc_jacobian_from_link_list(  # noqa: PLR0913, PLR0917  as the original
        self,
        move_target: Any,
        link_list: Any = None,
        transform_coords: Any = None,
        position_mask: Any = None,
        rotation_mask: Any = None,
        rotation_mirror: Any = None,
        col_offset: int = 0,
        dim: int | None = None,
        jacobian: Floats | None = None,
        additional_jacobi_dimension: int = 0,
        n_joint_dimension: int | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Floats:
        """The Jacobian (rows, columns) of one frame or several by the joints that move links.

        ``link_list`` is a chain, or a list of one chain for each frame, and by default all links;
        links that no joint moves are left out. The other arguments, rows and columns are those of
        `calc_jacobian_from_joint_list`.

        Raises: ValueError as `calc_jacobian_from_joint_list` does.
        """
        chains = nested(self.link_list if link_list is None else link_list)
        joints = [joints_of(chain) for chain in chains]
        if link_list is None:
            joints *= len(listed(move_target))
        return self.calc_jacobian_from_joint_list(
            joints_of(self._union(link_list)),
            move_target,
            joint_list=joints,
            transform_coords=transform_coords,
            position_mask=position_mask,
            rotation_mask=rotation_mask,
            rotation_mirror=rotation_mirror,
            col_offset=col_offset,
            dim=dim,
            jacobian=jacobian,
            additional_jacobi_dimension=additional_jacobi_dimension,
            n_joint_dimension=n_joint_dimension,
            **{name: kwargs[name] for name in OLDER if name in kwargs},
        )

    def calc_jacobian_from_joint_list(  # noqa: PLR0913, PLR0917  as the original
        self,
        union_joint_list: Sequence[Any],
        move_target: Any,
        joint_list: Any = None,
        transform_coords: Any = None,
        position_mask: Any = None,
        rotation_mask: Any = None,
        rotation_mirror: Any = None,
        col_offset: int = 0,
        dim: int | None = None,
        jacobian: Floats | None = None,
        additional_jacobi_dimension: int = 0,
        n_joint_dimension: int | None = None,
        check_relevance: Any = "auto",
        *args: Any,
        **kwargs: Any,
    ) -> Floats:
        """The Jacobian (rows, columns) of one frame or several by joints, in their order.

        Rows, target by target: the axes of position that its mask constrains (None: all), then
        those of rotation (all three with a mirror), along the axes of ``transform_coords``, by
        default of the frame itself. A joint counts for a target where it is in the target's
        ``joint_list`` (by default the joints that carry it) and moves it: ``check_relevance`` may
        trust the list (False), trust it for joints that are not this robot's ("auto"), or leave
        those out (True). What follows a joint counts in its column. ``jacobian`` is filled from
        column ``col_offset``, or one of ``dim`` rows and ``n_joint_dimension`` columns is made, its
        rows by default those that are asked for and ``additional_jacobi_dimension`` more.

        Raises: ValueError where the numbers of chains, frames and masks differ, and for another
        ``check_relevance``.
        """
        if not (isinstance(check_relevance, bool) or check_relevance == "auto"):
            raise ValueError(
                f"check_relevance must be 'auto', True or False, not {check_relevance!r}"
            )
        targets = listed(move_target)
        joints = [joint for joint in union_joint_list if joint is not None and joint.joint_dof]
        chains = self._chains_for(targets, joint_list)
        frames = targets if transform_coords is None else listed(transform_coords)
        if len(frames) != len(targets):
            raise ValueError(
                f"transform_coords must be one frame for each of the {len(targets)} move targets, "
                f"not {len(frames)}"
            )
        axes = asked_axes(len(targets), position_mask, rotation_mask, rotation_mirror, kwargs)
        where = [each.where for each in axes]
        turns = [np.ones(3, bool) if each.mirror else each.turns for each in axes]
        rows = sum(int(f.sum()) for f in (*where, *turns))
        if jacobian is None:
            if dim is None:
                dim = rows + additional_jacobi_dimension
            columns = (
                calc_target_joint_dimension(joints)
                if n_joint_dimension is None
                else n_joint_dimension
            )
            jacobian = np.zeros((dim, columns))
        n, first = calc_target_joint_dimension(joints), 0
        for target, chain, frame, at, about in zip(
            targets, chains, frames, where, turns, strict=True
        ):
            p, back = target._world()[:3, 3], frame._world()[:3, :3]
            found = frame_jacobian(joints, self._relevance(target, chain, check_relevance), p)
            rows = np.vstack([(found[:, :3] @ back).T[at], (found[:, 3:] @ back).T[about]])
            jacobian[first : first + len(rows), col_offset : col_offset + n] = rows
            first += len(rows)
        return jacobian

    def _chains_for(self, targets: list[Any], joint_list: Any) -> list[list[Any]]:
        """The joints of each target's chain.

        Raises: ValueError where their number is not that of the targets.
        """
        if joint_list is None:
            return [joints_of(carriers(target)) for target in targets]
        chains = nested(joint_list)
        if len(chains) != len(targets):
            raise ValueError(
                f"joint_list must provide one chain per move_target ({len(chains)} chains for "
                f"{len(targets)} move targets)"
            )
        return chains

    def _relevance(self, target: Any, chain: list[Any], check: Any) -> dict[int, bool]:
        """Joints by id: whether one moves a target; where nothing stands, it does not count."""
        carrying = {id(frame) for frame in carriers(target)}
        own = {id(joint) for joint in self.joint_list}
        members = {id(joint) for joint in chain if joint is not None}
        found: dict[int, bool] = {}
        for joint in chain:
            if joint is None:
                continue
            moves = id(joint.child_link) in carrying
            if check is False or (check == "auto" and id(joint) not in own):
                moves = True
            elif id(joint) not in own:
                moves = False
            found[id(joint)] = moves
            for follower, _ in followers(joint):
                if id(follower) not in members:
                    found[id(follower)] = id(follower.child_link) in carrying
        return found

    # -------------------------------------------------------------- from errors to velocities

    def calc_vel_from_pos(
        self, dif_pos: ArrayLike, position_mask: Any = True, p_limit: float = 100.0
    ) -> Floats:
        """A difference of position (3,), m, at most ``p_limit`` long, along the masked axes.

        Raises: ValueError for a mask that is none.
        """
        return shortened(dif_pos, p_limit)[normalize_mask(position_mask) != 0]

    def calc_vel_from_rot(
        self,
        dif_rot: ArrayLike,
        rotation_mask: Any = True,
        r_limit: float = 0.5,
        rotation_mirror: Any = None,
    ) -> Floats:
        """A rotation vector (3,), rad, at most ``r_limit`` long, about the masked axes.

        About all three with a mirror.

        Raises: ValueError for a mask that is none.
        """
        chosen = (normalize_mask(rotation_mask) != 0) | bool(rotation_mirror)
        return shortened(dif_rot, r_limit)[chosen]

    def ik_convergence_check(self, dif_pos: Any, dif_rot: Any, thre: Any, rthre: Any) -> bool:
        """Whether the norm of every difference (3,) is at most its threshold, m and rad.

        Differences and thresholds are lists with one for each target; one threshold is for all.
        """
        asked = ((dif_pos, thre, "thre"), (dif_rot, rthre, "rthre"))
        for differences, thresholds, what in asked:
            vectors = _vectors(differences)
            most = listed_numbers(thresholds, len(vectors), what)
            if any(np.linalg.norm(v) > limit for v, limit in zip(vectors, most, strict=False)):
                return False
        return True

    # ------------------------------------------------------------------- from velocities to joints

    def calc_inverse_jacobian(
        self,
        jacobi: ArrayLike,
        manipulability_limit: float = 0.1,
        manipulability_gain: float = 0.001,
        weight: ArrayLike | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Floats:
        """The singularity-robust inverse J# (n, m) of a Jacobian J (m, n), weighted by W.

        J# = W Jᵀ (J W Jᵀ + k I)⁻¹ with k = gain (1 - w / limit)² where the manipulability
        w = sqrt(det(J Jᵀ)) is below the limit, else 0, where it is the weighted pseudo-inverse.

        Source: Y. Nakamura and H. Hanafusa, "Inverse kinematic solutions with singularity
        robustness for robot manipulator control", Journal of Dynamic Systems, Measurement, and
        Control 108 (1986).
        Raises: ValueError for weights that are not finite, or negative where k is 0, and for a
        number of them that is not that of the columns.
        """
        J = np.asarray(jacobi, dtype=float)
        w = np.ones(J.shape[1]) if weight is None else np.asarray(weight, dtype=float)
        if w.shape != (J.shape[1],):
            raise ValueError(f"weight has shape {w.shape}, but the Jacobian {J.shape[1]} columns")
        manipulability = math.sqrt(max(float(np.linalg.det(J @ J.T)), 0.0)) if J.size else 0.0
        k = 0.0
        if manipulability < manipulability_limit:
            k = manipulability_gain * (1.0 - manipulability / manipulability_limit) ** 2
        if not np.isfinite(w).all() or (k <= 0.0 and (w < 0.0).any()):
            raise ValueError(f"weight_vector must be finite and non-negative, got {w}")
        if k <= 0.0:
            root = np.sqrt(w)
            return root[:, None] * np.linalg.pinv(J * root)
        return np.linalg.solve((J * w) @ J.T + k * np.eye(len(J)), J * w).T

    def calc_joint_angle_speed(
        self,
        union_vel: ArrayLike,
        angle_speed: ArrayLike | None = None,
        angle_speed_blending: float = 0.5,
        jacobi: ArrayLike | None = None,
        j_sharp: ArrayLike | None = None,
        null_space: ArrayLike | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """The change (n,) of joints that moves a task by ``union_vel`` (m,): J# v + (I - J# J) y.

        With ``angle_speed`` (n,) J# v is blended with it first, by ``angle_speed_blending`` from 0
        (none of it) to 1 (only it). ``null_space`` y (n,) needs ``jacobi``, and counts where its
        length fits. Without ``j_sharp`` it is `calc_inverse_jacobian` of ``jacobi``; without both a
        warning is logged and the answer is ``null_space``.
        """
        if jacobi is None and j_sharp is None:
            logger.warning("jacobi(j) or j_sharp(J#) is required in calc_joint_angle_speed")
            return null_space
        sharp = np.asarray(
            self.calc_inverse_jacobian(jacobi)
            if j_sharp is None and jacobi is not None
            else j_sharp,
            dtype=float,
        )
        speed = sharp @ np.asarray(union_vel, dtype=float)
        if angle_speed is not None:
            speed = speed + (np.asarray(angle_speed, dtype=float) - speed) * angle_speed_blending
        if null_space is not None and jacobi is not None:
            y = np.asarray(null_space, dtype=float)
            if y.shape == speed.shape:
                speed = speed + y - sharp @ (np.asarray(jacobi, dtype=float) @ y)
        return speed

    # --------------------------------------------------------------------- limits of joints

    def calc_nspace_from_joint_limit(
        self, avoid_nspace_gain: float, union_link_list: Any, weight: ArrayLike | None
    ) -> Floats:
        """The change (n,) of joints to the middle of their ranges: gain w sign(r) r².

        r = (max + min - 2 q) / (max - min), 0 where a limit is infinite or the range empty.

        Raises: ValueError for a gain that is not above 0.
        """
        if not avoid_nspace_gain > 0.0:
            raise ValueError(
                f"avoid_nspace_gain should be greater than 0.0, given {avoid_nspace_gain}"
            )
        found = avoid_nspace_gain * joint_angle_limit_nspace(joints_of(union_link_list))
        return found if weight is None else np.asarray(weight, dtype=float)[: len(found)] * found

    def calc_weight_from_joint_limit(
        self,
        avoid_weight_gain: float,
        link_list: Any,
        union_link_list: Any,
        weight: ArrayLike | None,
        n_joint_dimension: int | None = None,
    ) -> Floats:
        """The weights (n,) of joints by how near they are to their limits, and whether they go on.

        1 / (1 + c) where c is not less than in the call before for the same links, 1 where it is or
        in the first call, 0 where it is infinite, with c the gain times `joint_angle_limit_weight`.
        Where the gain is 0: ``weight``. A joint that k chains share has a k-th of it.

        Source: T. F. Chan and R. V. Dubey, "A weighted least-norm solution based scheme for
        avoiding joint limits for redundant joint manipulators", IEEE Transactions on Robotics and
        Automation 11 (1995).
        """
        links = movable(union_link_list)
        joints = joints_of(links)
        n = calc_target_joint_dimension(joints)
        found = np.ones(n if n_joint_dimension is None else n_joint_dimension)
        if weight is not None:
            given = np.asarray(weight, dtype=float)
            found[: len(given)] = given[: len(found)]
        if avoid_weight_gain > 0.0:
            names, before = self.find_joint_angle_limit_weight_from_union_link_list(links)
            c = avoid_weight_gain * joint_angle_limit_weight(joints)
            with np.errstate(invalid="ignore"):
                nearer = np.zeros(n, bool) if before is False else c >= before
            found[:n] = np.where(nearer, 1.0 / (1.0 + c), 1.0)
            self.joint_angle_limit_weight_maps[names] = c
        chains = [{id(link) for link in chain} for chain in nested(link_list)]
        for link, span in zip(links, places(joints), strict=True):
            found[span] /= max(1, sum(id(link) in chain for chain in chains))
        return found

    def find_joint_angle_limit_weight_from_union_link_list(self, union_link_list: Any) -> Any:
        """The names of links, in their order, and what `calc_weight_from_joint_limit` remembers.

        That is an array (n,), or False where it remembers nothing of these links.
        """
        names = tuple(link.name for link in movable(union_link_list))
        return names, self.joint_angle_limit_weight_maps.get(names, False)

    def reset_joint_angle_limit_weight(self, union_link_list: Any) -> None:
        """Forget what `calc_weight_from_joint_limit` remembers of these links."""
        names, _ = self.find_joint_angle_limit_weight_from_union_link_list(union_link_list)
        self.joint_angle_limit_weight_maps.pop(names, None)

    def calc_inverse_kinematics_weight_from_link_list(
        self,
        link_list: Any,
        avoid_weight_gain: float = 1.0,
        union_link_list: Any = None,
        n_joint_dimension: int | None = None,
        weight: ArrayLike | None = None,
        additional_weight_list: Any = (),
    ) -> Floats:
        """The weights (n,) of joints: given, additional and from limits, multiplied.

        ``additional_weight_list`` has pairs of a link and a number, an array (dof,) or a function
        without arguments that gives one. Nothing that is given is changed.
        """
        links = self._union(link_list if union_link_list is None else union_link_list)
        joints = joints_of(links)
        ones = None if weight is None else np.ones(len(np.asarray(weight)))
        found = self.calc_weight_from_joint_limit(
            avoid_weight_gain, link_list, links, ones, n_joint_dimension
        )
        if weight is not None:
            given = np.asarray(weight, dtype=float)
            found[: len(given)] *= given[: len(found)]
        for span, value in _of_links(additional_weight_list, links, joints):
            found[span] *= value
        return found

    def calc_inverse_kinematics_nspace_from_link_list(
        self,
        link_list: Any,
        avoid_nspace_gain: float = 0.01,
        union_link_list: Any = None,
        n_joint_dimension: int | None = None,
        null_space: Any = None,
        additional_nspace_list: Any = None,
        weight: ArrayLike | None = None,
    ) -> Floats:
        """The change (n,) of joints that is wished for where the task leaves room.

        `calc_nspace_from_joint_limit`, and ``null_space`` (n,) or a function that gives it, and
        pairs of a link and its part of it, added up.

        Raises: ValueError for a gain that is not above 0.
        """
        links = self._union(link_list if union_link_list is None else union_link_list)
        joints = joints_of(links)
        own = self.calc_nspace_from_joint_limit(avoid_nspace_gain, links, weight)
        found = np.zeros(len(own) if n_joint_dimension is None else n_joint_dimension)
        found[: len(own)] = own[: len(found)]
        if null_space is not None:
            found = found + np.asarray(null_space() if callable(null_space) else null_space)
        for span, value in _of_links(additional_nspace_list or (), links, joints):
            found[span] += value
        return found

    def calc_joint_angle_speed_gain(
        self, union_link_list: Any, dav: ArrayLike, periodic_time: float
    ) -> Floats:
        """The share (n,) of a step of joints (n,) that their velocity limits allow in a time (s).

        min(1, vmax / |dq / time|), 1 where the step or the time is 0; the least of its numbers for
        a joint with several degrees of freedom.
        """
        joints = joints_of(union_link_list)
        found = np.ones(calc_target_joint_dimension(joints))
        for joint, span in zip(joints, places(joints), strict=True):
            found[span] = joint.calc_angle_speed_gain(dav, span.start, periodic_time)
        return found

    def move_joints(
        self,
        union_vel: ArrayLike,
        union_link_list: Any = None,
        periodic_time: float = 0.05,
        joint_args: Any = None,
        move_joints_hook: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> bool:
        """Move joints by `calc_joint_angle_speed`, which the other arguments go to; True.

        All are scaled by the least of `calc_joint_angle_speed_gain`, so that none is too fast for
        ``periodic_time`` (s). Then the hook, or each of a list of hooks, is called.
        """
        links = self._union(union_link_list)
        joints = joints_of(links)
        step = self.calc_joint_angle_speed(union_vel, *args, **kwargs)
        if step is not None:
            step = np.asarray(step, dtype=float)
            step = step * np.min(
                self.calc_joint_angle_speed_gain(links, step, periodic_time), initial=1.0
            )
            leaders = {id(joint) for joint in joints}
            for joint, span in zip(joints, places(joints), strict=True):
                if is_led_by(joint, leaders):
                    continue  # it goes along
                by = step[span]
                joint.joint_angle(
                    float(by[0]) if joint.joint_dof == 1 else by,
                    relative=True,
                    **(joint_args or {}),
                )
        for hook in listed(move_joints_hook):
            if hook is not None:
                hook()
        return True

    # --------------------------------------------------------------- joints that move as one

    def _interlocking(self, link_list: Any, pairs: Any) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """The joints of the chains, and the pairs of which one joint at least is among them."""
        joints = joints_of(self._union(link_list))
        pairs = self.interlocking_joint_pairs if pairs is None else pairs
        members = {id(joint) for joint in joints}
        return joints, [pair for pair in pairs if any(id(joint) in members for joint in pair)]

    def calc_jacobian_for_interlocking_joints(
        self, link_list: Any, interlocking_joint_pairs: Any = None
    ) -> Floats:
        """Rows (pairs, n) of how joints that move as one come apart: 1 for the first, -1 the other.

        Pairs of which no joint is in the chains have no row; of those with one, this one has its
        entry. By default pairs are those of the robot.
        """
        joints, pairs = self._interlocking(link_list, interlocking_joint_pairs)
        found = np.zeros((len(pairs), calc_target_joint_dimension(joints)))
        columns = {id(joint): s.start for joint, s in zip(joints, places(joints), strict=True)}
        for row, pair in zip(found, pairs, strict=True):
            for joint, sign in zip(pair, (1.0, -1.0), strict=True):
                if id(joint) in columns:
                    row[columns[id(joint)]] += sign
        return found

    def calc_vel_for_interlocking_joints(
        self, link_list: Any, interlocking_joint_pairs: Any = None
    ) -> Floats:
        """Zeros (pairs,): joints that move as one stay as far apart as they are."""
        return np.zeros(len(self._interlocking(link_list, interlocking_joint_pairs)[1]))

    # ------------------------------------------------------------------------- out of the way

    def collision_avoidance_link_pair_from_link_list(
        self, link_list: Any, obstacles: Any = None
    ) -> list[Any]:
        """Pairs of a link and a link or obstacle to be kept apart: none; to be overridden."""
        return []

    def move_joints_avoidance(  # noqa: PLR0913, PLR0917  as the original
        self,
        union_vel: ArrayLike,
        union_link_list: Any = None,
        link_list: Any = None,
        n_joint_dimension: int | None = None,
        weight: ArrayLike | None = None,
        null_space: Any = None,
        avoid_nspace_gain: float = 0.01,
        avoid_weight_gain: float = 1.0,
        avoid_collision_distance: float = 0.2,
        avoid_collision_null_gain: float = 1.0,
        avoid_collision_joint_gain: float = 1.0,
        collision_avoidance_link_pair: Any = None,
        cog_gain: float = 0.0,
        target_centroid_pos: Any = None,
        centroid_offset_func: Any = None,
        cog_translation_axis: Any = "z",
        cog_null_space: Any = False,
        additional_weight_list: Any = None,
        additional_nspace_list: Any = None,
        jacobi: ArrayLike | None = None,
        obstacles: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> bool:
        """Move joints by a task's Jacobian, away from their limits and from what is near; True.

        The weights are those of `calc_inverse_kinematics_weight_from_link_list`, the inverse is
        `calc_inverse_jacobian` with them, the null space that of
        `calc_inverse_kinematics_nspace_from_link_list` (an ``avoid_nspace_gain`` of 0 leaves the
        limits out of it), and `move_joints` moves.
        ``cog_null_space``: the null space also brings the centre of gravity to
        ``target_centroid_pos``. Without ``jacobi`` a warning is logged, and nothing moves.

        Of each pair nearer than da = ``avoid_collision_distance`` (m), with p from the obstacle's
        nearest point to the link's, |p| = d, and db = da / 10: dx = p where d > db, else
        (db / d - 1) p; the joints' speed is blended with the joint gain times Jc# dx by
        f = (d - da) / (db - da), at most 1, and the null space has f times the null gain times
        Jcᵀ dx, where Jc is the Jacobian of the link's nearest point.
        """
        if jacobi is None:
            logger.warning("jacobi is required in move_joints_avoidance")
            return True
        links = self._union(link_list if union_link_list is None else union_link_list)
        link_list = links if link_list is None else link_list
        J = np.asarray(jacobi, dtype=float)
        w = self.calc_inverse_kinematics_weight_from_link_list(
            link_list,
            avoid_weight_gain=avoid_weight_gain,
            union_link_list=links,
            n_joint_dimension=n_joint_dimension,
            weight=weight,
            additional_weight_list=additional_weight_list or (),
        )
        chosen = ("manipulability_limit", "manipulability_gain")
        robust = {name: kwargs.pop(name) for name in chosen if name in kwargs}
        j_sharp = kwargs.pop("j_sharp", None)
        if j_sharp is None:
            j_sharp = self.calc_inverse_jacobian(J, weight=w, **robust)
        y: Any
        if avoid_nspace_gain > 0.0:
            y = self.calc_inverse_kinematics_nspace_from_link_list(
                link_list,
                avoid_nspace_gain=avoid_nspace_gain,
                union_link_list=links,
                n_joint_dimension=n_joint_dimension,
                null_space=null_space,
                additional_nspace_list=additional_nspace_list,
                weight=w,
            )
        else:
            y = np.zeros(J.shape[1])
            if null_space is not None:
                y = y + np.asarray(null_space() if callable(null_space) else null_space)
        if cog_null_space and target_centroid_pos is not None and cog_gain > 0.0:
            Jc = self.calc_cog_jacobian_from_link_list(
                link_list=links, translation_axis=cog_translation_axis, n_joint_dimension=len(y)
            )
            y = y + np.linalg.pinv(Jc) @ self.calc_vel_for_cog(
                target_centroid_pos,
                translation_axis=cog_translation_axis,
                cog_gain=cog_gain,
                update_mass_properties=False,
                centroid_offset_func=centroid_offset_func,
            )
        pairs = collision_avoidance_link_pair
        if pairs is None:
            pairs = self.collision_avoidance_link_pair_from_link_list(
                link_list, obstacles=obstacles
            )
        if pairs:
            speed, away, share = self._avoidance(pairs, links, avoid_collision_distance)
            y = y + avoid_collision_null_gain * away
            if share > 0.0:
                kwargs["angle_speed"] = avoid_collision_joint_gain * speed
                kwargs["angle_speed_blending"] = share
        return self.move_joints(
            union_vel, links, *args, jacobi=J, j_sharp=j_sharp, null_space=y, **kwargs
        )

    def _avoidance(
        self, pairs: Any, links: list[Any], distance: float
    ) -> tuple[Floats, Floats, float]:
        """The speeds (n,) that lead out of the way, those of the null space, and how urgent it is.

        See `move_joints_avoidance` for the formulas.
        """
        joints = joints_of(links)
        n = calc_target_joint_dimension(joints)
        speed, away, urgent = np.zeros(n), np.zeros(n), 0.0
        near = 0.1 * distance
        for link, on_link, on_other, d in nearest_points(self, pairs, distance):
            p = on_link - on_other
            length = float(np.linalg.norm(p))
            if d <= 0.0 or length == 0.0:  # they touch: out again, along the shortest way
                p, length = (-p, length) if length > 0.0 else (np.array([0.0, 0.0, 1.0]), 1.0)
                dx = p / length * near
            else:
                dx = p if d > near else (near / d - 1.0) * p
            share = min(1.0, (d - distance) / (near - distance))
            at = CascadedCoords(pos=on_link)
            link.assoc(at)
            J = self.calc_jacobian_from_joint_list(
                joints, at, transform_coords=Coordinates(), rotation_mask=False
            )
            link.dissoc(at)
            speed += share * (self.calc_inverse_jacobian(J) @ dx)
            away += share * (J.T @ dx)
            urgent = max(urgent, share)
        return speed / urgent if urgent > 0.0 else speed, away, urgent

    # -------------------------------------------------------------------------- one iteration

    def inverse_kinematics_loop(  # noqa: PLR0913, PLR0917  as the original
        self,
        dif_pos: Any,
        dif_rot: Any,
        move_target: Any = None,
        link_list: Any = None,
        target_coords: Any = None,
        stop: int = 1,
        loop: int = 0,
        position_mask: Any = None,
        rotation_mask: Any = None,
        rotation_mirror: Any = None,
        thre: Any = None,
        rthre: Any = None,
        dif_pos_ratio: float = 1.0,
        dif_rot_ratio: float = 1.0,
        union_link_list: Any = None,
        jacobi: Any = None,
        additional_check: Any = None,
        additional_jacobi: Any = None,
        additional_vel: Any = None,
        centroid_thre: float = 0.001,
        target_centroid_pos: Any = None,
        centroid_offset_func: Any = None,
        cog_translation_axis: Any = "z",
        cog_null_space: Any = None,
        cog_gain: float = 1.0,
        min_loop: int | None = None,
        inverse_kinematics_hook: Any = None,
        joint_list: Any = None,
        **kwargs: Any,
    ) -> str:
        """One iteration that moves frames by differences of position (3,) and rotation (3,).

        The differences, one of each for each ``move_target``, are in its axes. Where they are
        within the thresholds (0.001 m and one degree by default), the additional check says yes and
        ``min_loop`` (by default a tenth of ``stop``) iterations are done, or in the first one, it
        is "ik-succeed" and nothing moves. Else "ik-continuous", and the joints have moved by
        `calc_vel_from_pos` and `calc_vel_from_rot` of the differences times their ratios,
        `calc_jacobian_from_link_list` (or ``jacobi``, an array or a function of the chains), the
        rows of interlocking joints, additional rows (arrays, or functions of the chains), those of
        the centre of gravity, and `move_joints_avoidance`, which the other arguments go to.

        Raises: NotImplementedError without a frame that moves; ValueError for both ``link_list``
        and ``joint_list``, and for numbers of rows or targets that differ.
        """
        if move_target is None:
            raise NotImplementedError(
                "inverse_kinematics_loop needs move_target, the frame to move"
            )
        check_lists(link_list, joint_list)
        if joint_list is not None:
            link_list = [[joint.child_link for joint in chain] for chain in nested(joint_list)]
        masks = (position_mask, rotation_mask, rotation_mirror)
        now = _now(move_target, link_list, (dif_pos, dif_rot), masks)
        links = self._union(now.chains if union_link_list is None else union_link_list)
        centroid = {
            "target_centroid_pos": target_centroid_pos,
            "centroid_offset_func": centroid_offset_func,
            "cog_translation_axis": cog_translation_axis,
            "cog_null_space": cog_null_space,
            "cog_gain": cog_gain,
        }
        heavy = target_centroid_pos is not None and not cog_null_space
        to_go = self._to_centroid(centroid, 1.0) if heavy else np.zeros(1)
        least = stop // 10 if min_loop is None else min_loop
        reached = self.ik_convergence_check(
            [way * mask for way, mask in zip(now.ways, now.where, strict=True)],
            [turn * mask for turn, mask in zip(now.rotations, now.turns, strict=True)],
            0.001 if thre is None else thre,
            math.radians(1.0) if rthre is None else rthre,
        )
        reached = reached and float(np.linalg.norm(to_go)) <= centroid_thre
        if reached and (loop <= 1 or loop >= least):
            if additional_check is None or additional_check():
                return "ik-succeed"
        limits = kwargs.pop("p_limit", 100.0), kwargs.pop("r_limit", 0.5)
        velocities = self._velocities(now, (dif_pos_ratio, dif_rot_ratio), limits)
        if jacobi is None:
            jacobi = self.calc_jacobian_from_link_list(
                now.targets,
                now.chains,
                transform_coords=now.targets,
                position_mask=now.where,
                rotation_mask=now.turns,
                rotation_mirror=now.mirrors,
            )
        rows = [_given(jacobi, now.chains), self.calc_jacobian_for_interlocking_joints(links)]
        velocities.append(self.calc_vel_for_interlocking_joints(links))
        more, speeds = listed_or_none(additional_jacobi), listed_or_none(additional_vel)
        if len(more) != len(speeds):
            raise ValueError(
                f"there must be as many additional_vel as additional_jacobi, not {len(speeds)} "
                f"for {len(more)}"
            )
        rows += [_given(each, now.chains) for each in more]
        velocities += [_given(each, now.chains) for each in speeds]
        if heavy:
            rows.append(
                self.calc_cog_jacobian_from_link_list(
                    link_list=links,
                    translation_axis=cog_translation_axis,
                    update_mass_properties=False,
                )
            )
            velocities.append(self._to_centroid(centroid, cog_gain))
        for hook in listed_or_none(inverse_kinematics_hook):
            hook()
        room = ("jacobian", "ret", "dim", "n_joint_dimension")  # arrays to work in: not needed
        self.move_joints_avoidance(
            np.concatenate([np.atleast_1d(each) for each in velocities]),
            union_link_list=links,
            link_list=now.chains,
            jacobi=np.vstack(rows),
            **centroid,
            **{name: value for name, value in kwargs.items() if name not in room},
        )
        return "ik-continuous"

    def _to_centroid(self, centroid: dict[str, Any], gain: float) -> Floats:
        """The way that the centre of gravity still has to go, times a gain."""
        return self.calc_vel_for_cog(
            centroid["target_centroid_pos"],
            translation_axis=centroid["cog_translation_axis"],
            cog_gain=gain,
            centroid_offset_func=centroid["centroid_offset_func"],
        )

    def _velocities(
        self, now: _Now, ratios: tuple[float, float], limits: tuple[float, float]
    ) -> list[Floats]:
        """The velocities of each target: of position, then of rotation."""
        found: list[Floats] = []
        columns = (now.ways, now.rotations, now.where, now.turns, now.mirrors)
        for way, turn, at, about, mirror in zip(*columns, strict=True):
            found.append(self.calc_vel_from_pos(ratios[0] * way, at, limits[0]))
            found.append(self.calc_vel_from_rot(ratios[1] * turn, about, limits[1], mirror))
        return found


def nearest_points(
    robot: Any, pairs: Any, within: float
) -> list[tuple[Any, Floats, Floats, float]]:
    """Of pairs of a link and a link or obstacle: the link, nearest points of both, the distance.

    Points are of the world, m; the distance is below 0 where they meet. An obstacle is a frame with
    a ``collision_mesh``. Pairs farther apart than ``within``, and those without meshes, are left
    out.
    """
    from linkwork.scene import Scene  # noqa: PLC0415  only where something is kept apart

    core, model = robot._core(None), robot.collision_model
    T_world_root = core.T_world_root()
    scene, names = Scene(), dict[int, str]()
    known = set(model.links)
    wanted: list[tuple[Any, tuple[str, str]]] = []
    for link, other in pairs:
        mesh = getattr(other, "collision_mesh", None)
        if mesh is None or core.link_name(link) not in known:
            continue
        if id(other) not in names:
            names[id(other)] = f"obstacle {len(names)}"
            T_root_other = inverse_matrix(T_world_root) @ other._world()
            scene.add_mesh(names[id(other)], mesh, T_root_other)
        wanted.append((link, (core.link_name(link), names[id(other)])))
    if not wanted:
        return []
    found = model.distances(core.q(), scene, within=within)
    place = {pair: k for k, pair in enumerate(found.pairs)}
    near: list[tuple[Any, Floats, Floats, float]] = []
    for link, pair in wanted:
        k = place.get(pair)
        if k is not None and found.distance[k] < within:
            points = found.points[k] @ T_world_root[:3, :3].T + T_world_root[:3, 3]
            near.append((link, points[0], points[1], float(found.distance[k])))
    return near


def _vectors(differences: Any) -> list[Floats]:
    """One difference (3,), or several."""
    if len(differences) and np.ndim(differences[0]) == 0:
        return [np.asarray(differences, dtype=float)]
    return [np.asarray(each, dtype=float) for each in differences]


def _of_links(
    pairs: Any, links: list[Any], joints: list[Any]
) -> list[tuple[slice, Floats | float]]:
    """The columns and the present values of pairs (link or joint, value or function)."""
    found: list[tuple[slice, Floats | float]] = []
    spans = places(joints)
    for of, value in pairs:
        for link, joint, span in zip(links, joints, spans, strict=True):
            if of is link or of is joint:
                found.append((span, np.asarray(value() if callable(value) else value, float)))
    return found
