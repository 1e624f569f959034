"""What stands in a record beside its fields: unknown elements and attributes, and comments.

Before they are written it is made sure that each reads back as what it is.
"""

from __future__ import annotations

import re
from typing import Any
from xml.parsers import expat

from linkwork.formats.urdf.convert import SPACE, BadText, label_text, show
from linkwork.formats.urdf.findings import MISPLACED
from linkwork.formats.urdf.records import Comment, ExtraAttribute, ExtraElement
from linkwork.formats.urdf.sheets import Sheet, unread

TAG = re.compile(r"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
"""The text of one tag, whatever its attributes hold."""

_NAME = re.compile(r"[^\s<>=\"'/&!?\x00-\x20]+")
_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"} | {
    "\t": "&#9;",
    "\n": "&#10;",
    "\r": "&#13;",
}
_SPECIAL = re.compile('[&<>"\t\n\r]')
_IN_TEXT = re.compile("[&<>\r]")


def quoted(text: str) -> str:
    """The text of an attribute, between its quotes."""
    return _SPECIAL.sub(lambda match: _ESCAPED[match[0]], text)


def content(text: str) -> str:
    """The text of an element."""
    return _IN_TEXT.sub(lambda match: _ESCAPED[match[0]], text)


class Strays:
    """The extras and comments of one record, by the element they stand in."""

    __slots__ = ("attributes", "comments", "elements")

    def __init__(self) -> None:
        self.attributes: dict[str, list[ExtraAttribute]] = {}
        self.elements: dict[str, list[ExtraElement]] = {}
        self.comments: dict[str, list[Comment]] = {}

    def within(self, tag: str) -> bool:
        """Whether anything stands in this element."""
        return tag in self.attributes or tag in self.elements or tag in self.comments


NONE = Strays()
"""Of the many records that have none."""


def strays(sheet: Sheet, record: Any) -> Strays:
    """What a record has besides its fields.

    Raises: BadText for what stands in no element of this record, or could not be read back.
    """
    if not record.extra and not record.comments:
        return NONE
    found = Strays()
    for extra in record.extra:
        if isinstance(extra, ExtraElement):
            _check_within(sheet, extra.within)
            inner = sheet.inner[extra.within]
            filled = (t for f, t in inner.twice.items() if getattr(record, f)) if inner else ()
            _check_element(inner, extra, besides=tuple(filled))
            found.elements.setdefault(extra.within, []).append(extra)
        elif isinstance(extra, ExtraAttribute):
            _check_within(sheet, extra.within)
            inner = sheet.inner[extra.within]
            if unread(inner, record, extra) is None:
                _check_attribute(inner, extra)
            else:
                label_text(extra.value)
            found.attributes.setdefault(extra.within, []).append(extra)
        else:
            raise BadText("type", f"extra holds {type(extra).__name__}, which is no extra")
    for comment in record.comments:
        if not isinstance(comment, Comment):
            raise BadText("type", f"comments holds {type(comment).__name__}")
        if comment.within or sheet.tag != "robot":
            _check_within(sheet, comment.within)
        comment_text(comment)
        found.comments.setdefault(comment.within, []).append(comment)
    return found


def _check_within(sheet: Sheet, within: str) -> None:
    if within not in sheet.inner:
        hint = "there are: " + ", ".join(sheet.inner)
        raise BadText("within", f"'{show(str(within))}' is no element of <{sheet.tag}>", hint)


def _check_attribute(sheet: Sheet | None, extra: ExtraAttribute) -> None:
    name = label_text(extra.name)
    if not _NAME.fullmatch(name):
        raise BadText("name", f"'{show(name)}' is no name of an attribute")
    if sheet and name in sheet.known:
        raise BadText("known", f"'{show(name)}' is an attribute of URDF", "use its field")
    label_text(extra.value)


def _check_element(sheet: Sheet | None, extra: ExtraElement, besides: tuple[str, ...]) -> None:
    """That the text is one element with this tag, and one that URDF does not define here.

    ``besides`` are the elements whose fields attributes have filled.
    """
    tag, xml = extra.tag, extra.xml
    if not isinstance(tag, str) or not isinstance(xml, str):
        raise BadText("type", "an ExtraElement has a tag and a text")
    known = sheet is not None and tag in sheet.tags and tag not in besides
    if known or tag in MISPLACED:
        raise BadText("known", f"<{show(tag)}> is an element of URDF", "make it a record")
    start = TAG.match(xml)
    alone = start is not None and start[0].endswith("/>") and start.end() == len(xml)
    closed = re.search(r"</([^\s>]+)\s*>\Z", xml) if start and not alone else None
    if start is None or not re.match(rf"<{re.escape(tag)}[\s/>]", xml):
        raise BadText("extra", f"the text of <{show(tag)}> does not begin with its tag")
    if not alone and (closed is None or closed[1] != tag):
        raise BadText("extra", f"the text of <{show(tag)}> is not this one element")
    try:
        expat.ParserCreate("utf-8").Parse(xml.encode(), True)
    except (expat.ExpatError, UnicodeEncodeError) as error:
        raise BadText("extra", f"the text of <{show(tag)}> is broken XML: {error}") from None


def comment_text(comment: Comment) -> str:
    """A comment, or a processing instruction, as it is written.

    Raises: BadText for what would end it early.
    """
    text, target = label_or_long(comment.text), comment.target
    if "\r" in text:
        raise BadText("comment", "a carriage return cannot stand in a comment")
    if target:
        if not _NAME.fullmatch(label_text(target)) or target.lower() == "xml":
            raise BadText("comment", f"'{show(target)}' is no name of a processing instruction")
        if "?>" in text or text != text.lstrip(SPACE):
            raise BadText("comment", "'?>' or leading white space in a processing instruction")
        return f"<?{target} {text}?>" if text else f"<?{target}?>"
    if "--" in text or text.endswith("-"):
        raise BadText("comment", "'--' would end the comment", "write - - or another sign")
    return f"<!--{text}-->"


def label_or_long(text: Any) -> str:
    """A text that XML can hold, of any length."""
    if not isinstance(text, str):
        raise BadText("type", f"a comment is a text, not {type(text).__name__}")
    for start in range(0, len(text), 65536):
        label_text(text[start : start + 65536])
    return text
