"""A body that a mechanism carries: lumped with the link that its frame is fixed to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.checks import real_array
from linkwork.errors import InputError, ShapeError
from linkwork.mechanism import parameters, rigid
from linkwork.mechanism.assemble import assemble
from linkwork.mechanism.dynamics_checks import TOLERANCE
from linkwork.mechanism.edit import parts_of
from linkwork.mechanism.model import Floats, Mechanism
from linkwork.mechanism.parts import LinkPart
from linkwork.spatial.inertias import is_physical


def with_payload(
    m: Mechanism, frame: str, mass: Any, com: Any = (0.0, 0.0, 0.0), inertia: Any = None
) -> Mechanism:
    """The mechanism with one more body, fixed to a frame.

    ``mass`` (kg) lies at ``com`` (3,) in the frame (m). ``inertia`` about it, along the axes of the
    frame (kg m²): (3, 3), or ixx ixy ixz iyy iyz izz; by default that of a point mass. The link
    that the frame is fixed to weighs more by it: no link, joint or frame is added.

    Raises: UnknownNameError for the frame; ShapeError; InputError for a joint in place of a frame,
    for numbers that are not finite, a mass that is not positive, and inertias of no real body.
    """
    k = parameters.find(m, f"payload:{frame}")[0].frame
    load = _body(f"payload on '{frame}'", mass, com, inertia, accepted=m.inertias_accepted)
    link, body = int(m.frame_link[k]), int(m.frame_body[k])
    R_body_frame, p_body_frame = m.R_body_frame[k], m.p_body_frame[k]
    R_link_body = m.R_body_frame[link].T
    parts = parts_of(m)
    parts.links[body] = _together(parts.links[body], load, R_body_frame, p_body_frame)
    described = parts.frames[link].described
    if described is not None:
        p_link_frame = R_link_body @ (p_body_frame - m.p_body_frame[link])
        described = _together(described, load, R_link_body @ R_body_frame, p_link_frame)
        parts.frames[link] = replace(parts.frames[link], described=described)
    return assemble(parts)


def _body(what: str, mass: Any, com: Any, inertia: Any, *, accepted: bool) -> LinkPart:
    """The payload in its frame, checked."""
    weight, at = real_array(mass, f"{what}: its mass"), real_array(com, f"{what}: its com")
    about = real_array(np.zeros(6) if inertia is None else inertia, f"{what}: its inertia")
    if weight.shape or at.shape != (3,) or about.shape not in ((3, 3), (6,)):
        raise ShapeError(
            f"{what}: mass is one number, com (3,) and inertia (3, 3), or (6,) for ixx ixy ixz iyy "
            f"iyz izz; not {weight.shape}, {at.shape} and {about.shape}"
        )
    for name, values in (("mass", weight), ("com", at), ("inertia", about)):
        if not np.isfinite(values).all():
            raise InputError(f"{what}: its {name} must be finite, not {values.tolist()}")
    if weight <= 0.0:
        raise InputError(f"{what}: its mass must be positive, not {float(weight):g} kg")
    if about.shape == (6,):
        about = about[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    if np.abs(about - about.T).max() > TOLERANCE * np.abs(about).max():
        raise InputError(f"{what}: its inertia is not symmetric: {about.tolist()}")
    about = 0.5 * (about + about.T)
    why = None if accepted else is_physical(float(weight), about, tolerance=TOLERANCE)
    if why is not None:
        raise InputError(f"{what}: {why}; the inertia is about the centre of mass, in kg m²")
    return LinkPart(what, float(weight), at, about)


def _together(link: LinkPart, load: LinkPart, R: Floats, p: Floats) -> LinkPart:
    """A link and a payload, whose frame is at R, p in the link's, as one."""
    mass, com, I_com = rigid.lump(
        np.zeros(2, np.int64),
        1,
        mass=np.array([link.mass, load.mass]),
        com=np.stack([link.com, p + R @ load.com]),
        inertia=np.stack([link.I_com, rigid.turned(R[None], load.I_com[None])[0]]),
    )
    return replace(link, mass=float(mass[0]), com=com[0], I_com=I_com[0])
