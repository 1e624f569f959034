"""A robot as a pytree: its structure is static, its numbers are leaves.

Link lengths, masses, inertias, gravity and the distances of rods are arrays that JAX may
differentiate, map over and optimise; which joints there are, and what carries what, is the
`Mechanism`, by which compiled functions are told apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy
import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError, ShapeError, UnknownNameError, UnsupportedFeatureError
from linkwork.mechanism import parameters, rigid
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.spatial.rotations import to_rpy

jnp: Any = jax.numpy
Array = Any
"""An array of JAX's, or a tracer."""

_SYMMETRIC = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])
"""The places of the six numbers xx xy xz yy yz zz in a symmetric matrix."""


@dataclass(frozen=True, eq=False)
class Model:
    """The numbers of a mechanism as arrays of JAX, and its structure.

    Links are counted as the frames of the mechanism are: nl links first. Units: metre, radian,
    kilogram, second. `model["mass:link5"]` and `replace` take the names of parameters
    (docs/parameters.md).
    """

    mechanism: Mechanism  # static, and the frame meant where none is named
    tip: str | None
    xyz: Array  # (nl, 3) the origin of the joint that carries each link, in the link before
    rpy: Array  # (nl, 3)
    frame_xyz: Array  # (n, 3) the frames added by the user, in their links
    frame_rpy: Array  # (n, 3)
    mass: Array  # (nl,)
    com: Array  # (nl, 3) in the link's frame
    inertia: Array  # (nl, 6) ixx ixy ixz iyy iyz izz about the centre of mass, link axes
    gravity: Array  # (3,) the free-fall acceleration in the world
    armature: Array  # (nv,)
    damping: Array  # (nv,)
    friction: Array  # (nv,)
    stiffness: Array  # (nv,)
    lower: Array  # (nq,)
    upper: Array  # (nq,)
    distance: Array  # (n_loops,) the lengths of rods; zero where a loop has none

    def __repr__(self) -> str:
        return f"Model({self.mechanism!r})"

    @property
    def dtype(self) -> Any:
        """The type of its numbers."""
        return jnp.result_type(*[getattr(self, name) for name in LEAVES])

    def __getitem__(self, name: str) -> Array:
        """The numbers of a parameter, such as "xyz:joint3", "mass:link5" or "gravity".

        Raises: UnknownNameError.
        """
        where = _place(self.mechanism, name)
        leaf = getattr(self, where.leaf)
        return leaf if where.row is None else leaf[where.row]

    def replace(self, named: Mapping[str, ArrayLike] | None = None, /, **whole: ArrayLike) -> Model:
        """The same with other numbers: of parameters by name, or of whole leaves by keyword.

        ``m.replace({"xyz:joint3": [0, 0, 0.4]}, gravity=[0, 0, -1.62])``. What is given may be
        traced. Raises: UnknownNameError, ShapeError, InputError.
        """
        found: dict[str, Any] = {}
        for name, value in whole.items():
            if name not in LEAVES:
                raise UnknownNameError("leaf of a model", name, LEAVES)
            found[name] = _shaped(name, value, getattr(self, name))
        for name, value in dict(named or {}).items():
            where = _place(self.mechanism, name)
            leaf = found.get(where.leaf, getattr(self, where.leaf))
            if where.row is None:
                found[where.leaf] = _shaped(name, value, leaf)
            else:
                found[where.leaf] = leaf.at[where.row].set(_shaped(name, value, leaf[where.row]))
        return replace(self, **found)

    def astype(self, dtype: Any) -> Model:
        """The same with numbers of another type, such as ``jnp.float32``.

        Raises: InputError for a type that is no float.
        """
        kind = _float_type(dtype)
        return jax.tree_util.tree_map(lambda x: jnp.asarray(x, kind), self)


LEAVES = tuple(field.name for field in fields(Model) if field.name not in ("mechanism", "tip"))
"""The names of the arrays of a `Model`."""

jax.tree_util.register_dataclass(Model, data_fields=list(LEAVES), meta_fields=["mechanism", "tip"])


def real_array(a: ArrayLike, what: str) -> Array:
    """An input as an array of JAX's; whole numbers stay whole.

    Raises: InputError for what is not real numbers.
    """
    try:
        array = jnp.asarray(a)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be real numbers, not {type(a).__name__}") from None
    kinds = (jnp.floating, jnp.integer)
    if not any(jnp.issubdtype(array.dtype, kind) for kind in kinds):
        raise InputError(f"{what} must be real numbers, not an array of {array.dtype}")
    return array


def _float_type(dtype: Any) -> Any:
    kind = np.dtype(dtype)
    if not jnp.issubdtype(kind, jnp.floating):
        raise InputError(f"dtype is a float type such as jnp.float32, not {dtype!r:.40}")
    return kind


def _shaped(name: str, value: ArrayLike, like: Array) -> Array:
    array = real_array(value, f"'{name}'").astype(like.dtype)
    if array.shape == () and like.shape == (1,):
        array = array[None]
    if like.shape == () and array.shape == (1,):
        array = array[0]
    if array.shape != like.shape:
        raise ShapeError(f"'{name}' has the shape {like.shape}, not {array.shape}")
    return array


class _Place(NamedTuple):
    """The place of a parameter: the leaf, and its row there; None is all of it."""

    leaf: str
    row: int | None


def _place(m: Mechanism, name: str) -> _Place:
    if name in LEAVES:
        return _Place(name, None)
    quantity, _, item = str(name).partition(":")
    if quantity == "distance":
        rods = [loop.name for loop in m.loops if loop.held.length]
        if item not in rods:
            raise UnknownNameError("rod", item, rods)
        return _Place("distance", [loop.name for loop in m.loops].index(item))
    (found,) = parameters.find(m, [name])
    frame = found.frame
    if quantity in ("mass", "com", "inertia"):
        return _Place(quantity, frame)
    if quantity in ("xyz", "rpy"):
        if parameters.is_joint(m, frame):
            return _Place(quantity, int(m.frame_link[frame]))
        if frame >= m.n_link_frames + m.n_joint_frames:
            return _Place(f"frame_{quantity}", frame - m.n_link_frames - m.n_joint_frames)
        raise UnsupportedFeatureError(
            f"'{name}': the frame of a link stands where its joints put it; "
            f"change '{quantity}:JOINT' of a joint, or add a frame"
        )
    raise UnsupportedFeatureError(
        f"'{name}' is no number of a model: wrenches are given by external=, and a payload by "
        "robot.with_payload before lj.robot"
    )


def model_of(m: Mechanism, tip: str | None = None, dtype: Any = None) -> Model:
    """The model of a mechanism, in JAX's default float type or another one.

    Raises: InputError for a type that is no float.
    """
    # JAX's default is float32 unless it is told otherwise
    kind: Any = float if dtype is None else _float_type(dtype)
    nl, table = m.n_link_frames, _links(m)
    xyz, rpy = np.zeros((nl, 3)), np.zeros((nl, 3))
    for link in table.placed:
        R, p = parameters.origin(m, link)
        xyz[link], rpy[link] = p, to_rpy(NUMPY, R)
    added = range(nl + m.n_joint_frames, len(m.frame_names))
    frame_xyz, frame_rpy = np.zeros((len(added), 3)), np.zeros((len(added), 3))
    for k, frame in enumerate(added):
        link = int(m.frame_link[frame])
        back = m.R_body_frame[link].T
        frame_xyz[k] = back @ (m.p_body_frame[frame] - m.p_body_frame[link])
        frame_rpy[k] = to_rpy(NUMPY, rigid.exact(back @ m.R_body_frame[frame]))
    (gravity,) = parameters.values(m, "gravity")
    values = {
        "xyz": xyz, "rpy": rpy, "frame_xyz": frame_xyz, "frame_rpy": frame_rpy,
        "mass": m.link_mass, "com": m.link_com,
        "inertia": m.link_I_com[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]],
        "gravity": gravity, "armature": m.armature, "damping": m.damping, "friction": m.friction,
        "stiffness": m.stiffness,
        "lower": m.lower, "upper": m.upper,
        "distance": np.array([loop.distance for loop in m.loops], dtype=float),
    }  # fmt: skip
    leaves = {name: jnp.asarray(x, dtype=kind) for name, x in values.items()}
    return Model(mechanism=m, tip=tip, **leaves)


# ------------------------------------------------------------------------ from links to bodies


class _Links(NamedTuple):
    """The tree of links: what no number of the model changes."""

    placed: list[int]
    """The links whose joints have origins that place them."""
    levels: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
    """Links on the bodies of their parents, and those; nearest to the body's own link first."""
    moved: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
    """Bodies that joints with origins move, their own links and the links before."""


@lru_cache(maxsize=256)
def _links(m: Mechanism) -> _Links:
    joints = range(m.n_link_frames, m.n_link_frames + m.n_joint_frames)
    known = set(parameters.every_name(m))
    joint_of = {int(m.frame_link[k]): k for k in joints}
    placed = [
        link
        for link in range(m.n_link_frames)
        if int(m.link_parent[link]) >= 0
        and link in joint_of
        and f"xyz:{m.frame_names[joint_of[link]]}" in known
    ]
    depth: dict[int, int] = {}
    moved: list[tuple[int, int, int]] = []
    waiting = list(placed)
    while waiting:
        later: list[int] = []
        for link in waiting:
            parent = int(m.link_parent[link])
            body, above = int(m.frame_body[link]), int(m.frame_body[parent])
            if body != above:
                if above == int(m.parent[body]):
                    moved.append((body, link, parent))
            elif parent in waiting and parent not in depth:
                later.append(link)
            else:
                depth[link] = depth.get(parent, 0) + 1
        waiting = later if len(later) < len(waiting) else []
    levels: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for level in range(1, max(depth.values(), default=0) + 1):
        links = np.array([k for k, d in depth.items() if d == level], dtype=np.int64)
        levels.append((links, m.link_parent[links]))
    columns = np.array(moved, dtype=np.int64).reshape(-1, 3).T
    return _Links(placed, levels, (columns[0], columns[1], columns[2]))


class Bodies(NamedTuple):
    """The view of a mechanism that algorithms take, of the numbers of a model."""

    R: Array  # (nb, 3, 3) joint frames in the bodies before
    p: Array  # (nb, 3)
    R_frame: Array  # (nf, 3, 3) frames in their bodies
    p_frame: Array  # (nf, 3)
    mass: Array  # (nb,)
    first: Array  # (nb, 3) mass times centre of mass
    second: Array  # (nb, 3, 3) the sum of m r rᵀ about the body's origin


def _turned(rpy: Array) -> Array:
    """Rotations (n, 3, 3) of roll, pitch and yaw (n, 3), as `spatial.rotations.from_rpy`."""
    c, s = jnp.cos(rpy), jnp.sin(rpy)
    (cr, cp, cy), (sr, sp, sy) = (tuple(x[:, k] for k in range(3)) for x in (c, s))
    rows = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def anchored(state: Any, *to: Any) -> Any:
    """A state that a loop begins with, as something that depends on these arrays, as it will later.

    Nothing is added; but under `shard_map` the state of a loop keeps its type, of which it is a
    part over which devices it varies.
    """
    leaves = jax.tree_util.tree_leaves(to)
    nothing = sum((jnp.sum(x.reshape(-1)[:0]) for x in leaves), start=0.0)

    def tied(x: Array) -> Array:
        x = jnp.asarray(x)
        return x | (nothing > 0) if x.dtype == bool else x + jnp.asarray(nothing).astype(x.dtype)

    return jax.tree_util.tree_map(tied, state)


def times(a: Array, b: Array) -> Array:
    """Products of stacks of matrices (n, 3, 3), at full precision."""
    return jnp.einsum("...ij,...jk->...ik", a, b, precision="highest")


def onto(a: Array, v: Array) -> Array:
    """Matrices (n, 3, 3) times vectors (n, 3), at full precision."""
    return jnp.einsum("...ij,...j->...i", a, v, precision="highest")


def _in_bodies(m: Mechanism, links: _Links, turn: Array, shift: Array) -> tuple[Array, Array]:
    """The frames of links in their bodies (nl, 3, 3), (nl, 3)."""
    found = jnp.asarray(m.R_body_frame[: m.n_link_frames], turn.dtype)
    p = jnp.asarray(m.p_body_frame[: m.n_link_frames], turn.dtype)
    for own, before in links.levels:
        p = p.at[own].set(p[before] + onto(found[before], shift[own]), unique_indices=True)
        found = found.at[own].set(times(found[before], turn[own]), unique_indices=True)
    return found, p


def bodies_of(model: Model) -> Bodies:
    """The bodies' numbers, of those of links and joints."""
    m, dtype = model.mechanism, model.dtype
    nl, links = m.n_link_frames, _links(m)
    turn, shift = _turned(model.rpy), model.xyz
    R, p = _in_bodies(m, links, turn, shift)
    body, own, before = links.moved
    align = jnp.asarray(np.swapaxes(m.R_body_frame[own], 1, 2), dtype)
    R_body = jnp.asarray(m.R_parent_joint, dtype)
    p_body = jnp.asarray(m.p_parent_joint, dtype)
    if len(body):
        turned = times(times(R[before], turn[own]), align)
        R_body = R_body.at[body].set(turned, unique_indices=True)
        origin = p[before] + onto(R[before], shift[own])
        p_body = p_body.at[body].set(origin, unique_indices=True)
    joints = m.frame_link[nl : nl + m.n_joint_frames]
    on = m.frame_link[nl + m.n_joint_frames :]
    R_frame = jnp.concatenate([R, R[joints], times(R[on], _turned(model.frame_rpy))])
    p_frame = jnp.concatenate([p, p[joints], p[on] + onto(R[on], model.frame_xyz)])
    at = p + onto(R, model.com)
    own_inertia = model.inertia[:, _SYMMETRIC]
    turned = times(times(R, own_inertia), jnp.swapaxes(R, 1, 2))
    trace = jnp.trace(turned, axis1=1, axis2=2)[:, None, None]
    second = 0.5 * trace * jnp.eye(3, dtype=dtype) - turned
    second = second + model.mass[:, None, None] * at[:, :, None] * at[:, None, :]
    which = m.frame_body[:nl]

    def summed(x: Array) -> Array:
        return jnp.zeros((m.n_bodies, *x.shape[1:]), dtype).at[which].add(x)

    return Bodies(
        R_body, p_body, R_frame, p_frame,
        summed(model.mass), summed(model.mass[:, None] * at), summed(second),
    )  # fmt: skip
