"""A robot as a whole: that of urdfpy, of the links here."""

from __future__ import annotations

from typing import ClassVar

from linkwork.faces import urdfpy
from linkwork.faces.urchin.base import URDFTypeWithMesh
from linkwork.faces.urchin.joint import Joint
from linkwork.faces.urchin.link import Link
from linkwork.faces.urchin.material import Material
from linkwork.faces.urchin.transmission import Transmission
from linkwork.faces.urdfpy.base import Elements

__all__ = ["URDF", "Joint", "Link", "Material", "Transmission", "URDFTypeWithMesh"]


class URDF(urdfpy.URDF):
    """A robot: links, the joints between them, transmissions and materials.

    Raises: DescriptionError with everything that is wrong, InputError, WrongTypeError.
    """

    _ELEMENTS: ClassVar[Elements] = {**urdfpy.URDF._ELEMENTS, "links": (Link, True, True)}
