"""Row S3-114: a tree of segments, out of which chains are taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwork.faces.pykdl.chain import Chain
from linkwork.faces.pykdl.joint import Joint
from linkwork.faces.pykdl.scalars import wrong
from linkwork.faces.pykdl.segment import Segment

_MOST_CHAINS = 64
"""So many chains are kept by a tree, for programs that ask for them at each call."""


class Tree:
    """Segments by name, each behind another or behind the root; `Tree(other)` is a copy.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_chains", "_children", "_joints", "_numbers", "_parents", "_root", "_segments")
    _root: str

    def __init__(self, root_name: Any = "root") -> None:
        if isinstance(root_name, Tree):
            self.__setstate__(root_name.__getstate__())
            return
        if not isinstance(root_name, str):
            raise wrong("Tree", "the name of its root, or a Tree to copy", root_name)
        self._root = root_name
        self._segments: dict[str, Segment] = {root_name: Segment(root_name)}
        self._parents: dict[str, str] = {}
        self._children: dict[str, list[str]] = {root_name: []}
        self._numbers: dict[str, int] = {root_name: 0}
        self._joints = 0
        self._chains: dict[tuple[str, str], Chain] = {}

    def addSegment(self, segment: Segment, hook_name: str) -> bool:
        """Put a copy of a segment behind another one, or behind the root.

        False where there is no such segment, or one of the new one's name already.

        Raises: WrongTypeError.
        """
        if not isinstance(segment, Segment) or not isinstance(hook_name, str):
            raise wrong("Tree.addSegment", "a Segment and a name", segment, hook_name)
        name = segment.getName()
        if hook_name not in self._segments or name in self._segments:
            return False
        self._chains = {}
        moves = segment.getJoint().getType() is not Joint.Fixed
        self._segments[name], self._parents[name] = Segment(segment), hook_name
        self._children[name], self._numbers[name] = [], self._joints if moves else 0
        self._children[hook_name].append(name)
        self._joints += moves
        return True

    def addChain(self, chain: Chain, hook_name: str) -> bool:
        """Put copies of the segments of a chain behind a segment; False as `addSegment`.

        Raises: WrongTypeError.
        """
        if not isinstance(chain, Chain) or not isinstance(hook_name, str):
            raise wrong("Tree.addChain", "a Chain and a name", chain, hook_name)
        return self._all([(segment, None) for segment in chain.segments], hook_name)

    def addTree(self, tree: Tree, hook_name: str) -> bool:
        """Put copies of the segments of a tree, without its root, behind a segment.

        False as `addSegment`.

        Raises: WrongTypeError.
        """
        if not isinstance(tree, Tree) or not isinstance(hook_name, str):
            raise wrong("Tree.addTree", "a Tree and a name", tree, hook_name)
        hooks = {name: above for name, above in tree._parents.items() if above != tree._root}
        parts = [(tree._segments[name], hooks.get(name, hook_name)) for name in tree._parents]
        return self._all(parts, hook_name)

    def _all(self, parts: Sequence[tuple[Segment, str | None]], hook: str) -> bool:
        """Add all, each behind the segment named or behind the last; or nothing where one fails.

        True where there is nothing to be added, wherever to, as in the original.
        """
        if not parts:
            return True
        names = [segment.getName() for segment, _ in parts]
        taken = any(name in self._segments for name in names) or len(set(names)) < len(names)
        if hook not in self._segments or taken:
            return False
        for segment, above in parts:
            self.addSegment(segment, above or hook)
            hook = segment.getName()
        return True

    def getNrOfJoints(self) -> int:
        """How many joints move."""
        return self._joints

    def getNrOfSegments(self) -> int:
        """How many segments there are, without the root."""
        return len(self._parents)

    def getChain(self, chain_root: str, chain_tip: str) -> Chain:
        """The chain from one segment to another; joints on the way to the root are turned round.

        Scales and rotors stay, where the original drops them for joints that are turned round. A
        segment that does not exist gives the empty chain, as there.

        Raises: WrongTypeError for what are no names.
        """
        known = self._chains  # replaced as a whole when the tree grows
        try:
            found = known.get((chain_root, chain_tip))
        except TypeError:
            found = None
        if found is None:
            if not isinstance(chain_root, str) or not isinstance(chain_tip, str):
                raise wrong("Tree.getChain", "two names of segments", chain_root, chain_tip)
            found = self._chain(chain_root, chain_tip)
            if len(known) >= _MOST_CHAINS:
                known.clear()
            known[chain_root, chain_tip] = found
        return Chain(found)

    def _chain(self, root: str, tip: str) -> Chain:
        if root not in self._segments or tip not in self._segments:
            return Chain()
        down, up = self._way(tip), self._way(root)
        while down and up and down[-1] == up[-1]:
            down.pop()
            up.pop()
        chain = Chain()
        for name in up:
            above = self._parents[name]
            inertia = self._segments[above].getInertia()
            chain.addSegment(self._segments[name].reversed(above, inertia))
        for name in reversed(down):
            chain.addSegment(self._segments[name])
        return chain

    def _way(self, name: str) -> list[str]:
        """The segments from one to the root, without the root."""
        way: list[str] = []
        while name != self._root:
            way.append(name)
            name = self._parents[name]
        return way

    def __getstate__(self) -> Any:
        return self._root, [(self._segments[name], self._parents[name]) for name in self._parents]

    def __setstate__(self, state: Any) -> None:
        root, parts = state
        self.__init__(root)
        for segment, above in parts:
            self.addSegment(segment, above)

    def __copy__(self) -> Tree:
        return Tree(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tree:
        return Tree(self)

    def __repr__(self) -> str:
        texts: dict[str, str] = {}
        for name in [*reversed(self._parents), self._root]:  # what is behind comes first
            inner = "".join([f"{texts.pop(child)}\t" for child in self._children[name]])
            texts[name] = f"{name}(q_nr: {self._numbers[name]})\n \t{inner}\n"
        return texts[self._root]
