"""Colours and textures: those of urdfpy."""

from __future__ import annotations

from linkwork.faces.urchin.base import URDFType
from linkwork.faces.urchin.utils import get_filename
from linkwork.faces.urdfpy import Material, Texture

__all__ = ["Material", "Texture", "URDFType", "get_filename"]
