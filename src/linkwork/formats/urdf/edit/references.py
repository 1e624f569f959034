"""References that go with a link or joint: followed when it is renamed, dropped when it is gone.

What becomes of a name is its *fate*: another name, the same, or None when it is gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from xml.sax.saxutils import escape

from linkwork.formats.urdf.edit.mentions import Mention, Mentions
from linkwork.formats.urdf.edit.tree import listed
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import ExtraElement

Fates = Mapping[str, "str | None"]
_BLANK = b" \t"
_ENTITIES = {'"': "&quot;", "'": "&apos;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}


class References:
    """What becomes of the names in unknown elements; `follow` does it, one element at a time.

    ``links`` and ``joints`` have a fate for every name there is; ``words`` are further names that
    no text should hold any more. Names that are left in a text become findings of ``problems``.
    """

    def __init__(
        self, links: Fates, joints: Fates, problems: Findings, words: Fates | None = None
    ) -> None:
        self.fates = {"link": links, "joint": joints}
        self.problems = problems
        self.old: dict[str, str | None] = {}
        for fates in (links, joints, words or {}):
            self.old |= {name: fate for name, fate in fates.items() if fate != name}

    def follow(self, extra: ExtraElement) -> ExtraElement | None:
        """The element with its names followed; None when what it belongs to is gone.

        Raises: InputError when its text is no XML.
        """
        if not self.old:
            return extra
        mentions = Mentions(extra)
        gone = {m.span for m in mentions.found if m.span is not None and self._fates(m) == {None}}
        if gone and all(m.span in gone for m in mentions.found if m.span):
            return None
        changes = {_with_indentation(mentions.data, span): b"" for span in gone}
        left: set[str] = set()
        for mention in mentions.found:
            fates = self._fates(mention)
            name, *others = fates - {None} or {mention.name}
            if others or (fates == {None} and mention.span is None):
                if not _covered(mention, gone):
                    left.add(mention.name)
            elif name != mention.name:
                # what no file could hold is refused in the records that have the name
                new = escape(name or "", _ENTITIES).encode(errors="surrogatepass")
                changes[mention.start, mention.stop] = new
        if changes:
            xml = _changed(mentions.data, changes).decode("utf-8", "surrogatepass")
            extra = replace(extra, xml=xml)
        words = Mentions(extra) if gone else mentions
        left |= words.tokens() & self.old.keys()
        if left:
            self._note(extra, sorted(left))
        return extra

    def _fates(self, mention: Mention) -> set[str | None]:
        of = (self.fates[kind] for kind in mention.kinds)
        return {fates[mention.name] for fates in of if mention.name in fates}

    def _note(self, extra: ExtraElement, names: list[str]) -> None:
        gone = sum(self.old[name] is None for name in names)
        what = "renamed" if not gone else "gone" if gone == len(names) else "renamed or gone"
        message = f"the text still holds {listed(names)}: {what}"
        hint = "change it by hand where it means the link or joint"
        self.problems.add(
            "warning", "name-left", message, line=extra.line, element=extra.tag, hint=hint
        )


def _covered(mention: Mention, spans: set[tuple[int, int]]) -> bool:
    """Whether what mentions the name is left out itself."""
    return any(start <= mention.start < stop for start, stop in spans)


def _with_indentation(data: bytes, span: tuple[int, int]) -> tuple[int, int]:
    """The span and the white space before it, back to the end of the line above."""
    start, stop = span
    while start and data[start - 1] in _BLANK:
        start -= 1
    if start and data[start - 1] == ord("\n"):
        start -= 1
    return start, stop


def _changed(data: bytes, changes: Mapping[tuple[int, int], bytes]) -> bytes:
    """The text with spans put in other bytes; a span within one that is left out goes with it."""
    parts: list[bytes] = []
    done = 0
    for (start, stop), new in sorted(changes.items()):
        if start >= done:
            parts += [data[done:start], new]
            done = stop
    return b"".join([*parts, data[done:]])
