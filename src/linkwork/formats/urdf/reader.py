"""The events of expat, and the records that they fill by the plans of `plans`."""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from linkwork.formats.urdf import quick
from linkwork.formats.urdf.convert import SPACE, BadText, show
from linkwork.formats.urdf.oddities import Oddities, Stop, without_default_space
from linkwork.formats.urdf.plans import Plan
from linkwork.formats.urdf.records import Robot
from linkwork.formats.urdf.wellformed import well_formed

LONGEST_TAG = 4 * 1024 * 1024
"""The longest single tag or comment, in bytes."""

_CHUNK = 1 << 20


class Reader(Oddities):
    """One pass over one file."""

    def read(self) -> Robot | None:
        """The robot; None when reading stopped before its end."""
        return quick.read(self.data, self.memos, self.unknown) or self.by_events()

    def by_events(self) -> Robot | None:
        """The same without looking for a quick way first."""
        self.data = well_formed(self.data, self.problems)
        parser = self.parser
        parser.buffer_text = True
        parser.namespace_prefixes = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.StartNamespaceDeclHandler = self.name_space
        parser.StartDoctypeDeclHandler = self.document_type
        parser.CommentHandler = self.comment
        parser.ProcessingInstructionHandler = self.instruction
        try:
            self._feed()
        except Stop:
            return None
        except expat.ExpatError as error:
            self._broken(error)
            return None
        finally:
            # The handlers and the parser hold each other.
            parser.StartElementHandler = parser.EndElementHandler = None
            parser.CharacterDataHandler = parser.StartNamespaceDeclHandler = None
            parser.StartDoctypeDeclHandler = None
            parser.CommentHandler = parser.ProcessingInstructionHandler = None
        return quick.with_comments(self.values)

    def _feed(self) -> None:
        """Hand over the data piece by piece, so that a tag without end is noticed."""
        parser, view, size = self.parser, memoryview(self.data), len(self.data)
        for start in range(0, size, _CHUNK):
            stop = min(start + _CHUNK, size)
            parser.Parse(view[start:stop], False)
            if stop - parser.CurrentByteIndex > LONGEST_TAG:
                text = f"a tag or comment is longer than {LONGEST_TAG:,} bytes"
                self._error("too-long", text, line=parser.CurrentLineNumber)
                raise Stop
        parser.Parse(b"", True)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        if self.skipping:
            self._start_skipped(attributes)
            return
        plan, owner = self.plan, self.values
        branch = plan.children.get(tag)
        if branch is None or (
            not branch.repeated
            and branch.index >= 0
            and owner[branch.index] is not None
            and not owner[branch.seen]
        ):
            self._start_odd(tag, attributes)
            return
        position = owner[plan.count]
        owner[plan.count] = position + 1
        if plan.layout:
            if position:
                owner[plan.layout].append(tag)
            else:
                owner[plan.layout] = [tag]
        self.stack.append((plan, owner, branch))
        self.plan = plan = branch.plan
        if plan.template:
            self.values = values = plan.template.copy()
            values[plan.line] = self.parser.CurrentLineNumber
            values[plan.position] = position
        if not branch.repeated:
            if owner[branch.seen]:
                self._doubled(branch)
            owner[branch.seen] = True
        if attributes or plan.needed:
            self._fill(plan, attributes)
        if self.spaces:
            self._keep_spaces()

    def _start_odd(self, tag: str, attributes: dict[str, str]) -> None:
        """An element in a default name space, one that URDF does not define here, or one whose
        field an attribute has filled.
        """
        local = without_default_space(tag)
        if tag in self.plan.children:
            self._outdone(tag, attributes)
        elif local in self.plan.children:
            self.start(local, attributes)
        else:
            self._unknown(tag, attributes)

    def _fill(self, plan: Plan, attributes: dict[str, str]) -> None:
        """Put the values of the attributes where they belong."""
        values, ways, memos = self.values, plan.ways, self.memos
        try:
            for name, text in attributes.items():
                index, memo = ways[name]
                values[index] = memos[memo][text]
        except (KeyError, BadText):
            self._odd_attributes(plan, attributes)
        if plan.needed and not plan.needed <= attributes.keys():
            self._missing_attributes(plan, attributes)
        if plan.packed:
            upper = plan.upper(values)
            xx, xy, xz, yy, yz, zz = upper
            whole = None not in upper
            values[plan.packed] = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)) if whole else None

    def end(self, _: str) -> None:
        """An element ends: what it made is given to its owner."""
        if self.skipping:
            self.skipping -= 1
            if not self.skipping:
                self._keep_element()
            return
        plan, values = self.plan, self.values
        for seen, tags, need in plan.needed_children:
            if not values[seen]:
                self._missing_child(tags, need)
        self.plan, owner, branch = self.stack.pop()
        self.values = owner
        index = branch.index
        if index < 0:
            return
        made = self._text(plan) if plan.text else self._record(plan, values)
        # of several where one belongs the first stays
        if branch.repeated:
            if owner[index]:
                owner[index].append(made)
            else:
                owner[index] = [made]
        elif owner[index] is None:
            owner[index] = made

    def _record(self, plan: Plan, values: list[Any]) -> Any:
        for k in plan.lists:
            if values[k]:
                values[k] = tuple(values[k])
        if plan.layout:
            layout = values[plan.layout]  # few are different: each is held once
            values[plan.layout] = self.layouts.setdefault(layout, layout)
        made = plan.draft(*values[: plan.n_fields])
        made.__class__ = plan.record
        return made

    def characters(self, text: str) -> None:
        """Text between tags."""
        if self.skipping:
            return
        if self.plan.text:
            self.texts.append(text)
            return
        if not text.strip(SPACE):
            return
        line = self.values[self.plan.line]
        if self.stray != line:
            self.stray = line
            message = f"the text '{show(text.strip(SPACE), 40)}' belongs to no element"
            self._note("warning", "stray-text", message)

    def comment(self, text: str) -> None:
        """A comment: kept where it stands."""
        if not self.skipping:
            self._keep_comment(text, "")

    def instruction(self, target: str, text: str) -> None:
        """A processing instruction, such as a schema that an editor follows: as a comment."""
        if not self.skipping:
            self._keep_comment(text, target)

    def name_space(self, prefix: str | None, uri: str) -> None:
        """A name space is declared on the element that begins next."""
        if not self.skipping:
            self.spaces.append((f"xmlns:{prefix}" if prefix else "xmlns", uri or ""))

    def document_type(self, *_: object) -> None:
        """A document type begins: the one way to define entities, so it is not let in."""
        hint = "remove the <!DOCTYPE ...>; write what its entities stand for"
        message = "a document type is not read: it could define entities"
        self._error("doctype", message, line=self.parser.CurrentLineNumber, hint=hint)
        raise Stop
