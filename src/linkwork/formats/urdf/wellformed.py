"""Two slips that make a description no XML, and leave no doubt what it says.

White space before the XML declaration, and name spaces that are used and declared nowhere: what
expat is to read has the declaration first, and declares them on the root.
"""

from __future__ import annotations

import re
from xml.parsers import expat

from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.problems import Findings

UNDECLARED = "urn:undeclared:"
"""What a prefix stands for that is declared nowhere, before its name."""

LATE = "there is white space before the XML declaration"

_BEFORE_DECLARATION = re.compile(rb"(\xef\xbb\xbf)?([ \t\r\n]+)(<\?xml\s.*?\?>)", re.DOTALL)
_PREFIXED = re.compile(rb"[<\s][^\s<>=:\"'/!?]+:[^\s<>=:\"'/]")
_PREFIX = re.compile(rb"[<\s]([^\s<>=:\"'/!?]+):[^\s<>=:\"'/]+")
_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_VALUES = re.compile(rb"\"[^\"]*\"|'[^']*'")
_NAME = re.compile(rb"<[^\s/>]+")
_LONGEST = 200  # bytes of a prefix
_COLONS = 10_000  # are looked at one by one
_MOST = 100  # prefixes that a file may use without declaring them


class _Stop(Exception):
    """Nothing more is asked for."""


def well_formed(data: bytes, problems: Findings) -> bytes:
    """The data with these slips mended, on the same lines; each is a finding."""
    data, line = declaration_first(data)
    if line:
        problems.add("warning", "declaration", LATE, line=line, hint="it comes first in a file")
    if not _may_have_prefixes(data):
        return data
    declared: set[bytes] = set()
    while (missing := _undeclared(data)) is not None and len(declared) < _MOST:
        line, prefixes = missing
        new = [prefix for prefix in prefixes if prefix not in declared]
        root = _root(data)
        if not new or root is None:
            return data
        declared.update(new)
        text = b"".join([b' xmlns:%b="%b%b"' % (p, UNDECLARED.encode(), p) for p in new])
        data = data[:root] + text + data[root:]
        names = ", ".join(f"'{show(prefix.decode(errors='replace'), 40)}'" for prefix in new)
        message = f"the prefix {names} is declared nowhere"
        hint = "declare it on <robot> with xmlns:..."
        problems.add("warning", "undeclared-prefix", message, line=line, hint=hint)
    return data


def declaration_first(data: bytes) -> tuple[bytes, int]:
    """The data with the XML declaration before white space, and the line it was on; 0: it was."""
    found = _BEFORE_DECLARATION.match(data)
    if not found:
        return data, 0
    mark, space, declaration = found[1] or b"", found[2], found[3]
    lines = space.count(b"\n")
    return mark + declaration + b"\n" * lines + data[found.end() :], lines + 1


def _may_have_prefixes(data: bytes) -> bool:
    """Whether a name with a colon may stand somewhere: most files have few colons."""
    at = -1
    for _ in range(_COLONS):
        at = data.find(b":", at + 1)
        if at < 0:
            return False
        if _PREFIXED.search(data, max(0, at - _LONGEST), at + 2):
            return True
    return True


def _undeclared(data: bytes) -> tuple[int, list[bytes]] | None:
    """The line of the first tag with prefixes that are not declared, and what they may be."""
    parser = expat.ParserCreate("utf-8", "\n")
    parser.StartDoctypeDeclHandler = _stop
    try:
        parser.Parse(data, True)
    except _Stop:
        return None
    except expat.ExpatError as error:
        if error.code != expat.errors.codes[expat.errors.XML_ERROR_UNBOUND_PREFIX]:
            return None
        tag = _TAG.match(data, parser.ErrorByteIndex)
        if tag is None:
            return None
        bare = _VALUES.sub(b"", tag[0])
        given = {b"xml", b"xmlns", *re.findall(rb"\sxmlns:([^\s=]+)", bare)}
        return error.lineno, [p for p in dict.fromkeys(_PREFIX.findall(bare)) if p not in given]
    return None


def _root(data: bytes) -> int | None:
    """Where the name of the root's tag ends."""
    parser = expat.ParserCreate("utf-8")
    places: list[int] = []

    def begin(_: str, __: dict[str, str]) -> None:
        places.append(parser.CurrentByteIndex)
        raise _Stop

    parser.StartElementHandler = begin
    parser.StartDoctypeDeclHandler = _stop
    try:
        parser.Parse(data, True)
    except (_Stop, expat.ExpatError):
        pass
    parser.StartElementHandler = None
    name = _NAME.match(data, places[0]) if places else None
    return name.end() if name else None


def _stop(*_: object) -> None:
    raise _Stop
