"""Whether a text is MJCF: its root element says so."""

from __future__ import annotations

from xml.parsers import expat

from linkwork.formats.urdf.source import declaration_first


class _Found(Exception):
    """The root element was reached."""


def is_mjcf(data: bytes) -> bool:
    """Whether the first element of an XML text is ``<mujoco>``.

    Nothing behind it is read. A text that is no XML is not MJCF.
    """
    root = [""]

    def start(tag: str, _: dict[str, str]) -> None:
        root[0] = tag
        raise _Found

    def refuse(*_: object) -> None:
        raise _Found

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(declaration_first(data)[0], True)
    except (_Found, expat.ExpatError, ValueError, LookupError):
        pass
    finally:
        parser.StartElementHandler = parser.StartDoctypeDeclHandler = None
    return root[0] == "mujoco"
