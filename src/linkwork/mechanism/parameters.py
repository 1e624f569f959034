"""Numbers of a mechanism that may stay inputs of a function: their names and present values.

A parameter is written ``quantity:name``.

- ``xyz:JOINT``, ``rpy:JOINT``: the origin of a joint in the frame of the link that carries it, as
  in URDF. All behind the joint moves along, masses too; fixed joints have an origin as well, and a
  locked joint is a fixed one.
- ``xyz:FRAME``, ``rpy:FRAME``: the pose of a link's frame, or of one that was added, in the frame
  of the link that its body is named after: the last link before it that a moving joint carries,
  else the root link. Nothing else moves along, but for what is given in this frame.
- ``mass:LINK`` (1 number), ``com:LINK`` (3, in the link's frame), ``inertia:LINK`` (6: ixx ixy ixz
  iyy iyz izz about the centre of mass, in the link's axes).
- ``payload:FRAME`` (4): a point mass that is added, and where it is in that frame. Now 0 0 0 0.
- ``wrench:FRAME`` (6): an external wrench on the body of the frame: force, then moment about the
  frame's origin, along the axes of the world. Now zero.
- ``armature`` (nv): the inertia of rotors times the square of their gear ratios, added to the
  diagonal of the mass matrix. Now zero.
- ``damping`` (nv), ``friction`` (nv): what resists the velocities: damping times v, and friction
  times the sign of v. They do not count unless they are inputs; the values are the description's.
- ``stiffness`` (nv): of springs, which push the joints back to where the description has them at
  rest. They count as damping does; joints of several velocities have none.
- ``gravity`` (3): the free-fall acceleration in the world; now the description's.

A joint whose name is also a link's has the frame ``name/joint`` and is meant by that name. Units:
metre, radian, kilogram, second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import real_array
from linkwork.errors import InputError, UnknownNameError, UnsupportedFeatureError
from linkwork.mechanism import rigid
from linkwork.mechanism.model import Floats, JointType, Mechanism, duplicates
from linkwork.ops.numpy import NUMPY
from linkwork.spatial.rotations import to_rpy

Quantity = Literal[
    "xyz",
    "rpy",
    "mass",
    "com",
    "inertia",
    "payload",
    "wrench",
    "armature",
    "damping",
    "friction",
    "stiffness",
    "gravity",
]

SIZES: dict[Quantity, int] = {
    "xyz": 3,
    "rpy": 3,
    "mass": 1,
    "com": 3,
    "inertia": 6,
    "payload": 4,
    "wrench": 6,
    "gravity": 3,
}
"""The numbers of a parameter of each quantity, where they do not depend on the mechanism."""

_OF_LINKS = ("mass", "com", "inertia")
OF_VELOCITIES: tuple[Quantity, ...] = ("armature", "damping", "friction", "stiffness")
_OF_ALL: tuple[Quantity, ...] = (*OF_VELOCITIES, "gravity")


class Parameter(NamedTuple):
    """One parameter of one mechanism."""

    name: str
    quantity: Quantity
    frame: int  # whose it is; -1 for what is of the whole mechanism
    size: int  # how many numbers it has


def find(m: Mechanism, names: str | Sequence[str]) -> list[Parameter]:
    """The parameters of these names, in this order.

    Raises: UnknownNameError with the nearest names; InputError for a name that is given twice or is
    no text; UnsupportedFeatureError for origins of joints that a subchain passes backwards.
    """
    listed = [names] if isinstance(names, str) else list(names)
    found = [_parse(m, name) for name in listed]
    twice = duplicates(listed)
    if twice:
        raise InputError(f"the parameter '{twice[0]}' is named twice; name each one once")
    _check_origins(m, found)
    return found


def every_name(m: Mechanism) -> tuple[str, ...]:
    """The names of all parameters of a mechanism, gravity last."""
    hidden = {m.frame_names[k] for k in np.flatnonzero(_turned_round(m)).tolist()}
    frames = [name for name in m.frame_names if name not in hidden]
    poses = [f"{quantity}:{name}" for name in frames for quantity in ("xyz", "rpy")]
    links = m.frame_names[: m.n_link_frames]
    own = [f"{quantity}:{name}" for name in links for quantity in _OF_LINKS]
    joints = range(m.n_link_frames, m.n_link_frames + m.n_joint_frames)
    payloads = [f"payload:{name}" for k, name in enumerate(m.frame_names) if k not in joints]
    wrenches = [f"wrench:{name}" for name in m.frame_names]
    return (*poses, *own, *payloads, *wrenches, *_OF_ALL)


def values(m: Mechanism, names: str | Sequence[str]) -> list[Floats]:
    """The present values of these parameters, an array (n,) each: with them nothing changes.

    Angles are those that give the rotation, with the pitch in [-pi/2, pi/2]; at a pitch of a right
    angle the roll is 0.

    Raises: as `find`.
    """
    return [_value(m, parameter) for parameter in find(m, names)]


def origin(m: Mechanism, link: int) -> tuple[Floats, Floats]:
    """The origin R (3, 3), p (3,) of the joint that carries a link, in the link before."""
    parent = int(m.link_parent[link])
    above, below = int(m.frame_body[parent]), int(m.frame_body[link])
    R_above, p_above = m.R_body_frame[parent], m.p_body_frame[parent]
    turn, p = m.R_body_frame[link], m.p_body_frame[link]
    if above != below:  # at position zero the link's frame is the joint's, but for a rotation
        turn, p = m.R_parent_joint[below] @ turn, m.p_parent_joint[below]
    return rigid.exact(R_above.T @ turn), R_above.T @ (p - p_above)


def on_body(m: Mechanism, frame: int) -> tuple[Floats, Floats]:
    """The pose R (3, 3), p (3,) of a frame in the frame of its body's own link."""
    own = m.frame(m.body_names[int(m.frame_body[frame])])
    R = m.R_body_frame[own]
    p = m.p_body_frame[frame] - m.p_body_frame[own]
    return rigid.exact(R.T @ m.R_body_frame[frame]), R.T @ p


def is_joint(m: Mechanism, frame: int) -> bool:
    """Whether a frame is the one that a joint has of itself."""
    return 0 <= frame - m.n_link_frames < m.n_joint_frames


def _parse(m: Mechanism, name: str) -> Parameter:
    if not isinstance(cast(object, name), str):
        raise InputError(f"a parameter is meant by its name, such as 'mass:link5', not by {name!r}")
    if name in _OF_ALL:
        return Parameter(name, name, -1, m.n_v if name in OF_VELOCITIES else SIZES[name])
    quantity, colon, item = name.partition(":")
    if quantity not in SIZES or quantity == "gravity" or not colon:
        forms = [f"{key}:name" for key in SIZES if key != "gravity"]
        raise UnknownNameError("parameter", name, [*_OF_ALL, *forms])
    frame = _link(m, item) if quantity in _OF_LINKS else m.frame(item)
    if quantity == "payload" and is_joint(m, frame):
        link = m.frame_names[int(m.frame_link[frame])]
        raise InputError(f"a payload is in a frame, and '{item}' is a joint; its link is '{link}'")
    found = cast(Quantity, quantity)
    return Parameter(name, found, frame, SIZES[found])


def _link(m: Mechanism, name: str) -> int:
    links = m.frame_names[: m.n_link_frames]
    try:
        frame = m.frame(name)
    except UnknownNameError:
        raise UnknownNameError("link", name, links) from None
    if frame >= m.n_link_frames:
        raise UnknownNameError("link", name, links)
    return frame


def _turned_round(m: Mechanism) -> NDArray[np.bool_]:
    """Whether each frame (nf,) is of a joint without an origin here, since the chain was turned.

    A subchain may pass a joint backwards: its child link then carries the parent link. Neither it
    nor the fixed joints between the two joints of such a body say where what is behind them goes.
    """
    link, parent = np.arange(m.n_link_frames), m.link_parent
    body, above = m.frame_body[link], np.where(parent >= 0, m.frame_body[parent], -1)
    moved = (parent >= 0) & (body != above)
    backwards = moved & (m.parent[body] != above)
    entered = np.isin(above, above[backwards]) & (above >= 0)  # fixed joints there, and those on
    bad = (parent < 0) | backwards | (entered & ~moved)
    joints = slice(m.n_link_frames, m.n_link_frames + m.n_joint_frames)
    result = np.zeros(len(m.frame_names), np.bool_)
    result[joints] = bad[m.frame_link[joints]]
    return result


def _check_origins(m: Mechanism, found: Sequence[Parameter]) -> None:
    origins = [p for p in found if p.quantity in ("xyz", "rpy") and is_joint(m, p.frame)]
    if not origins:
        return
    bad = _turned_round(m)
    for parameter in origins:
        if bad[parameter.frame]:
            joint = m.frame_names[parameter.frame]
            raise UnsupportedFeatureError(
                f"'{parameter.name}': this chain begins behind the joint '{joint}' and passes it "
                "backwards, so its origin places nothing; use the whole robot, or a chain whose "
                "base lies before the joint"
            )


def _value(m: Mechanism, parameter: Parameter) -> Floats:
    quantity, frame = parameter.quantity, parameter.frame
    if quantity == "gravity":
        return m.default_gravity.copy()
    if quantity in OF_VELOCITIES:
        return getattr(m, quantity).copy()
    if quantity in _OF_LINKS:
        I_com = m.link_I_com[frame][np.triu_indices(3)]
        own = {"mass": m.link_mass[frame : frame + 1], "com": m.link_com[frame], "inertia": I_com}
        return own[quantity].copy()
    if quantity in ("payload", "wrench"):
        return np.zeros(parameter.size)
    joint = is_joint(m, frame)
    R, p = origin(m, int(m.frame_link[frame])) if joint else on_body(m, frame)
    return p + 0.0 if quantity == "xyz" else cast(Floats, to_rpy(NUMPY, R)) + 0.0


# --- the keywords that all of dynamics takes ------------------------------------------------------

External: TypeAlias = Mapping[str, ArrayLike]
"""Wrenches (..., 6) by frame: force, then moment about the frame's origin, world axes."""


class Inputs(NamedTuple):
    """Numbers that become inputs of a function: their names as parameters, and their values."""

    names: tuple[str, ...] = ()
    values: tuple[ArrayLike, ...] = ()


def dynamics_inputs(
    m: Mechanism,
    *,
    external: External | None = None,
    gravity: ArrayLike | None = None,
    losses: bool = False,
    armature: ArrayLike | None = None,
    friction: bool = True,
) -> Inputs:
    """The parameters that the keywords of dynamics stand for, in one order however they are given.

    Losses that the description does not have are left out, and ``friction=False`` leaves it out of
    them, for what does not depend on it. Shapes are checked where the function is called.

    Raises: InputError; UnknownNameError for a frame that does not exist.
    """
    found: dict[str, ArrayLike] = {}
    if gravity is not None:
        found["gravity"] = real_array(gravity, "gravity")
    if armature is not None:
        rotors = real_array(armature, "armature")
        if (rotors < 0).any():
            raise InputError(f"armature must not be below zero, as {rotors.min():g} is")
        found["armature"] = of_rotors(m, float(rotors)) if rotors.ndim == 0 else rotors
    check_acting(m, external, losses)
    if losses:
        found |= losses_of(m, friction=friction)
    for name in sorted(external or (), key=m.frame):
        found[f"wrench:{name}"] = (external or {})[name]
    return Inputs(tuple(found), tuple(found.values()))


def losses_of(m: Mechanism, *, friction: bool = True) -> dict[str, Floats]:
    """The parameters (nv,) that ``losses=True`` stands for, without those that are zero."""
    named = {"damping": m.damping, "friction": m.friction, "stiffness": m.stiffness}
    return {k: x for k, x in named.items() if x.any() and (friction or k != "friction")}


def not_floating(m: Mechanism) -> list[int]:
    """The numbers of v that belong to joints which an actuator may drive: all but floating ones."""
    driven = [c for c, type in enumerate(m.joint_types) if type is not JointType.FLOATING]
    return m.v_indices(driven)


def of_rotors(m: Mechanism, inertia: float) -> Floats:
    """The same armature (nv,) for every joint but floating ones, which have no rotor."""
    found = np.zeros(m.n_v)
    found[not_floating(m)] = inertia
    return found


def check_acting(m: Mechanism, external: External | None, losses: bool) -> None:
    """Check of the keywords of dynamics that are no arrays: frames of wrenches, and losses.

    Raises: InputError; UnknownNameError for a frame that does not exist.
    """
    if not isinstance(losses, (bool, np.bool_)):
        raise InputError(
            "losses is True (damping, friction and springs as described) or False, not "
            f"{losses!r:.40}; other values: robot.function(..., parameters=['damping', 'friction'])"
        )
    if external is None:
        return
    if not isinstance(external, Mapping):
        raise InputError(
            "external gives wrenches by frame, such as {'tool0': [0, 0, -10, 0, 0, 0]}, not "
            f"{external!r:.40}"
        )
    for name in external:
        if not isinstance(name, str):
            raise UnknownNameError("frame", name, m.frame_names)
        if not m.coordinates_moving(m.frame(name)):
            raise InputError(
                f"external: no joint moves '{name}', so a wrench on it counts nowhere; leave it out"
            )
