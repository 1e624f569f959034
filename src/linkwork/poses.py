"""Arithmetic of poses, arrays (..., 4, 4) in and out: compose, invert, and go from one to another.

``T_a_b`` maps coordinates of b to a, in metres. Leading shapes are broadcast against each other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import settings
from linkwork.checks import real_array, rigid_poses
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.recipe import text_recipe
from linkwork.errors import InputError
from linkwork.ops.protocol import Block
from linkwork.spatial import flat

Floats = NDArray[np.float64]

__all__ = ["compose", "interpolate", "inverse"]


def compose(*poses: ArrayLike) -> Floats:
    """Product of poses (..., 4, 4): T_a_c of T_a_b and T_b_c, and so on for more of them.

    Raises: ShapeError; InputError where none is given, or for what is not a rigid pose.
    """
    if not poses:
        raise InputError("compose takes one pose or more: compose(T_a_b, T_b_c)")
    first, *others = (_rows(T) for T in poses)
    result = first.reshape(*first.shape[:-1], 4, 4)
    for rows in others:
        result = _kernel("compose")(_flat(result), rows)
    return result.copy() if not others else result


def inverse(T: ArrayLike) -> Floats:
    """T_b_a of T_a_b (..., 4, 4).

    Raises: ShapeError; InputError for what is not a rigid pose.
    """
    return _kernel("inverse")(_rows(T))


def interpolate(
    T_0: ArrayLike,
    T_1: ArrayLike,
    s: ArrayLike,
    *,
    path: Literal["screw", "separate"] = "screw",
) -> Floats:
    """Poses (..., 4, 4) on the way from T_0 at s = 0 to T_1 at s = 1; s is of shape (...).

    ``path``: "screw" turns about and slides along one fixed axis, T_0 exp(s log(T_0⁻¹ T_1));
    "separate" moves the origin on a straight line while it turns at a constant rate. Both take
    the shorter way around; at half a turn, where two are equally short, either of them. Below 0
    and above 1 the motion goes on.

    Source: K. M. Lynch, F. C. Park, Modern Robotics (2017), section 9.2.1.
    Raises: ShapeError; InputError for what is not a rigid pose, s that is not finite, or a path
    that does not exist.
    """
    if path not in ("screw", "separate"):
        raise InputError(f"path is 'screw' or 'separate', not {path!r:.40}")
    return _kernel(path)(_rows(T_0), _rows(T_1), real_array(s, "s")[..., None])


def _rows(T: ArrayLike) -> Floats:
    """Poses, checked, as rows of sixteen numbers."""
    return _flat(rigid_poses(T))


def _flat(poses: Floats) -> Floats:
    return poses.reshape(*poses.shape[:-2], 16)


_TWO = {"T_0": 16, "T_1": 16}
# what each function takes, and its text
_TEXTS: dict[str, tuple[dict[str, int], Callable[..., Block]]] = {
    "compose": (_TWO, flat.composed),
    "inverse": ({"T": 16}, flat.inverted),
    "screw": ({**_TWO, "s": 1}, flat.on_screw),
    "separate": ({**_TWO, "s": 1}, flat.on_line),
}


@cache
def _kernel(which: str) -> Kernel:
    sizes, text = _TEXTS[which]
    recipe = text_recipe(
        ("poses", which), f"poses_{which}", sizes, lambda o, *a: {"pose": text(o, *a)}
    )
    return build(recipe, compiler=settings.compiler())
