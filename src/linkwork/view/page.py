"""The page: robots, scene and motion in one HTML file that needs nothing else.

It carries three.js (as built by ``tools/page``), our own modules of ``view/page/`` put together, the
kinematics as JavaScript, and the data: one JSON object with shapes quantised to 16 bits an axis.
It opens from a disk, asks no network for anything, and a strict Content-Security-Policy lets
nothing but these texts run. The live page is the same one with the address of its channel.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import atomic
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.view.model import Geometry, ViewModel, view_model

if TYPE_CHECKING:
    from linkwork.robot import Robot

Floats = NDArray[np.float64]
Units = Literal["deg", "rad"]

SHOWN = (
    *("visual", "collision", "skeleton", "loops", "frames", "axes", "inertia", "com", "torques"),
    *("scene", "ground", "shadow"),
)
"""What the page can show: names for ``show``."""

MODULES = (
    *("dom.js", "shapes.js", "stage.js", "robot.js", "kinematics.js", "panel.js", "tools.js"),
    *("motion.js", "live.js", "app.js"),
)
"""The modules of the page, each after what it imports."""

_STEPS = 65535  # of a coordinate in the box of its geometry
_IMPORT = re.compile(r"(?m)^import [^;]*;\n")
_EXPORT = re.compile(r"(?m)^export (?=(async )?(class|function|const|let)\b)")


@dataclass(frozen=True)
class PageRobot:
    """A robot as a page shows it.

    ``q`` (nq,) is where it stands, by default neutral; ``ghost`` (nq,) a second, pale one;
    ``presets`` are configurations by name, offered beside those of the description;
    ``T_world_robot`` (4, 4) is where its base is.
    """

    robot: Robot
    q: ArrayLike | None = None
    ghost: ArrayLike | None = None
    presets: Mapping[str, ArrayLike] = field(default_factory=dict)
    T_world_robot: ArrayLike | None = None
