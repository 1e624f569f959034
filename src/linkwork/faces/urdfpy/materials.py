"""Rows S2-065 to S2-071: colours and textures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from linkwork.errors import InputError, MissingExtraError
from linkwork.faces.urdfpy.base import Attributes, Elements, URDFType
from linkwork.faces.urdfpy.shapes import Later, named_by_program
from linkwork.faces.urdfpy.values import Array, Text, Value, colour
from linkwork.geometry import guards
from linkwork.locating import IMAGE_SUFFIXES


class Texture(URDFType):
    """An image on a surface.

    A description's image is opened when first asked for, that of a texture made in a program at
    once, unless it is given.

    Raises: InputError where the image cannot be had.
    """

    _ATTRIBS: ClassVar[Attributes] = {"filename": (str, True)}
    _TAG = "texture"

    filename: Any = Text("The name of the image's file, as written in the description.")

    def __init__(self, filename: str, image: Any = None) -> None:
        self.filename = filename
        self._source: Later | None = None
        self._image: Any = None
        self.given = False  # by the program, so that no file holds it
        if isinstance(image, Later):
            self._source = image
        elif image is None:
            self._source = named_by_program(self.filename)
            self._load()
        else:
            self.image = image

    @property
    def image(self) -> Any:
        """The image, a ``PIL.Image.Image``. May be set to a path, an array (h, w[, 3 or 4]) or one.

        Raises: InputError where the file cannot be read, or for anything else.
        """
        if self._image is None:
            self._load()
        return self._image

    @image.setter
    def image(self, value: Any) -> None:
        images = _pillow()
        if isinstance(value, (str, os.PathLike)):
            name = os.fspath(value)
            self._image = _opened(named_by_program(name), name)
        elif isinstance(value, images.Image):
            self._image = value
        elif isinstance(value, np.ndarray):
            try:
                self._image = images.fromarray(np.asarray(value))
            except (TypeError, ValueError) as error:
                raise InputError(f"Texture.image: the array is no image: {error}") from None
        else:
            kind = type(value).__name__
            raise InputError(f"Texture.image is a path, an array or a PIL image, not {kind}")
        self.given = True

    def _load(self) -> None:
        self._image = _opened(self._source or Later(None), self.filename)

    def file(self) -> Path | None:
        """The file that holds the image; None where the program gave another one.

        Raises: InputError where there is no such file.
        """
        if self.given:
            return None
        return (self._source or Later(None)).path(self.filename, suffixes=IMAGE_SUFFIXES)


def _opened(source: Later, name: str) -> Any:
    images = _pillow()
    try:
        path = source.path(name, suffixes=IMAGE_SUFFIXES)
        guards.check(path)
        with images.open(path) as image:
            image.load()
            return image
    except (OSError, ValueError) as error:
        reason = str(error).replace("mesh '", "image '", 1)  # both are found by the same rules
        raise InputError(f"unable to load image '{name}': {reason}") from None


def _pillow() -> Any:
    try:
        from PIL import Image  # noqa: PLC0415  only who has textures needs it
    except ImportError:
        text = "images need Pillow: pip install 'linkwork[meshes]'"
        raise MissingExtraError(text) from None
    return Image


class _TextureValue(Value):
    def check(self, owner: Any, value: Any) -> Texture | None:
        """Raises: InputError for what is neither a texture nor a path."""
        if value is None or isinstance(value, Texture):
            return value
        if isinstance(value, (str, os.PathLike)):
            return Texture(os.fspath(value))
        kind = type(value).__name__
        raise InputError(f"{self.what(owner)} is a Texture or a path, not {kind}")


class Material(URDFType):
    """A colour (4,) RGBA from 0 to 1 and a texture, each of them or none."""

    _ATTRIBS: ClassVar[Attributes] = {"name": (str, True)}
    _ELEMENTS: ClassVar[Elements] = {"texture": (Texture, False, False)}
    _TAG = "material"

    name: Any = Text("The name of the material.")
    color: Any = Array("Red, green, blue and opacity (4,) from 0 to 1; or None.", colour)
    texture: Any = _TextureValue("The texture; or None.")

    # whether the description has it inside a shape, and not beside the links
    inside: bool = False

    def __init__(self, name: str, color: Any = None, texture: Any = None) -> None:
        self.name = name
        self.color = color
        self.texture = texture

    def _add_prefix(self, prefix: str) -> None:
        self.name = prefix + self.name

    @property
    def looks(self) -> bool:
        """Whether it has a colour or a texture, and is no mere name."""
        return self.color is not None or self.texture is not None

    def look(self) -> tuple[Any, ...]:
        """What it looks like, to be compared."""
        color, texture = self.color, self.texture
        image = None if texture is None else (texture.filename, texture.given)
        return self.name, None if color is None else color.tobytes(), image
