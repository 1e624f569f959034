"""Row S2-189: what stands in ``<robot>`` beside the elements of URDF, as one text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET
from xml.sax.saxutils import quoteattr

from linkwork.errors import InputError
from linkwork.faces.urdfpy.values import WrongTypeError
from linkwork.formats.urdf import records
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.read import Reader


def text_of(extra: Sequence[Any], hidden: Sequence[str] = ()) -> str:
    """The unknown elements of a robot as the text of one ``<extra>``.

    Name spaces that the robot declares are declared on it. ``hidden`` are tags that a subclass of
    the robot's class has attributes for.
    """
    inside = [
        e.xml
        for e in extra
        if isinstance(e, records.ExtraElement) and e.within == "robot" and e.tag not in hidden
    ]
    spaces = [
        f" {e.name}={quoteattr(e.value)}"
        for e in extra
        if isinstance(e, records.ExtraAttribute)
        and e.within == "robot"
        and (e.name == "xmlns" or e.name.startswith("xmlns:"))
    ]
    opened = f"<extra{''.join(spaces)}"
    return f"{opened}>{''.join(inside)}</extra>" if inside else f"{opened} />"


def as_text(value: Any) -> str | None:
    """The text of what a program gives.

    Raises: WrongTypeError for what is neither text nor bytes; InputError for what is no XML.
    """
    if value is None:
        return None
    if isinstance(value, (bytes, bytearray)):
        try:
            value = bytes(value).decode()
        except UnicodeDecodeError as error:
            raise InputError(f"URDF.other_xml is no UTF-8 text: {error}") from None
    if not isinstance(value, str):
        kind = type(value).__name__
        raise WrongTypeError(f"URDF.other_xml is a text, not {kind}")
    elements(value)
    return value


def elements(text: str) -> tuple[records.ExtraElement, ...]:
    """The elements inside the text's ``<extra>``, or the text's own where there is none.

    Raises: InputError for what is no XML, or has a document type.
    """
    if not text.strip():
        return ()
    source = f'<robot name="r"><link name="l"/><extra>{text}</extra></robot>'
    problems = Findings(None)
    if Reader(source.encode(), problems).read() is None or problems.failed:
        raise InputError(f"URDF.other_xml is not XML: {problems.error()}")
    try:
        root = ET.fromstring(f"<extra>{text}</extra>")
    except ET.ParseError as error:
        raise InputError(f"URDF.other_xml is not XML: {error}") from None
    inner = list(root)
    if len(inner) == 1 and inner[0].tag == "extra":
        inner = list(inner[0])
    found: list[records.ExtraElement] = []
    for element in inner:
        element.tail = None
        xml = ET.tostring(element, encoding="unicode")
        found.append(records.ExtraElement("robot", str(element.tag), xml))
    return tuple(found)
