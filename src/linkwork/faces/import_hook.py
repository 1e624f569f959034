"""Module names of older libraries lead to a face: one finder before all others, one after them.

An old name gives the face's own module object, whatever its path, so that classes are the same
whichever name they came by. What a class or function says of itself (``__module__``, and so what a
pickle holds) is therefore the name inside Linkwork.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_loader
from threading import RLock
from types import ModuleType
from typing import NamedTuple

from linkwork.errors import InputError
from linkwork.faces.table import FaceEntry, parents_of

_ABSENT = object()


class _Binding(NamedTuple):
    """A submodule that was made an attribute of its parent, and what stood there before."""

    owner: FaceEntry
    parent: ModuleType
    name: str
    module: ModuleType
    before: object


class ImportHook:
    """The faces that are installed in this process."""

    def __init__(self) -> None:
        self.entries: tuple[FaceEntry, ...] = ()  # replaced as a whole: read without the lock
        self._bindings: list[_Binding] = []
        self._lock = RLock()
        self._first, self._last = _Names(self), _Parents(self)

    def install(self, entries: Sequence[FaceEntry]) -> None:
        """Let the modules of these faces be found.

        Raises: InputError where one of their names is imported already as something else.
        """
        with self._lock:
            new = tuple(e for e in dict.fromkeys(entries) if e not in self.entries)
            for entry in new:
                _refuse_what_is_imported(entry)
            self.entries += new
            if self._first not in sys.meta_path:
                sys.meta_path.insert(0, self._first)
            if self._last not in sys.meta_path:
                sys.meta_path.append(self._last)

    def uninstall(self, entries: Sequence[FaceEntry]) -> None:
        """Forget these faces: their finders, their names among the modules, their attributes."""
        with self._lock:
            self.entries = tuple(e for e in self.entries if e not in entries)
            for finder in () if self.entries else (self._first, self._last):
                if finder in sys.meta_path:
                    sys.meta_path.remove(finder)
            for binding in reversed([b for b in self._bindings if b.owner in entries]):
                _undo(binding)
            self._bindings = [b for b in self._bindings if b.owner not in entries]
            for name, module in list(sys.modules.items()):
                if any(_is_ours(entry, name, module) for entry in entries):
                    del sys.modules[name]
                elif _is_stand_in(module) and not self.needs_parent(name):
                    del sys.modules[name]

    def needs_parent(self, name: str) -> FaceEntry | None:
        """The face that has a module below this name, and not the name itself."""
        for entry in self.entries:
            if any(name in parents_of(root) for root in entry.roots):
                return entry
        return None

    def bind(self, entry: FaceEntry, name: str, module: ModuleType, *, replace: bool) -> None:
        """Make a module an attribute of its parent, as Python does with submodules."""
        parent, _, child = name.rpartition(".")
        above = sys.modules.get(parent)
        if above is None:
            return
        before = vars(above).get(child, _ABSENT)
        if before is module or (before is not _ABSENT and not replace):
            return  # the face has a word of its own under this name
        with self._lock:
            self._bindings.append(_Binding(entry, above, child, module, before))
        setattr(above, child, module)


class _Names(MetaPathFinder):
    """Before all other finders: the names that faces answer to."""

    def __init__(self, hook: ImportHook) -> None:
        self._hook = hook

    def find_spec(
        self, fullname: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module, None for what belongs to no face.

        Raises: RefusedNameError or ModuleNotFoundError for a submodule that the face does not
        have: the next finder would look for it among the files of the face.
        """
        for entry in self._hook.entries:
            if fullname in entry.modules:
                return self._spec(entry, fullname)
            if entry.covers(fullname):
                there = ", ".join(sorted(entry.modules))
                text = (
                    f"No module named '{fullname}' in Linkwork's face of {entry.name}; "
                    f"there are: {there}"
                )
                refusal = import_module("linkwork.faces.refusals").refusal
                raise refusal(entry.name, fullname) or ModuleNotFoundError(text, name=fullname)
        return None

    def _spec(self, entry: FaceEntry, name: str) -> ModuleSpec | None:
        loader, origin = _FaceLoader(self._hook, entry), _file_of(entry.modules[name])
        return spec_from_loader(name, loader, origin=origin, is_package=True)


class _FaceLoader(Loader):
    """Puts the face's modules in the place of a new one."""

    def __init__(self, hook: ImportHook, entry: FaceEntry) -> None:
        self._hook, self._entry = hook, entry

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave it to Python to make an empty module; it is replaced below."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Enter a module and all below it, so that ``import a`` is enough to use ``a.b``.

        All are loaded before the first is entered: where one fails, nothing is left behind.
        """
        name = module.__name__
        names = self._entry.below(name)
        loaded = [_imported(self._entry.modules[old]) for old in names]
        for old, ours in zip(names, loaded, strict=True):
            sys.modules[old] = ours
            self._hook.bind(self._entry, old, ours, replace=old == name)


class _Parents(MetaPathFinder):
    """After all other finders: an empty parent for "a.b" where there is no "a"."""

    def __init__(self, hook: ImportHook) -> None:
        self._hook = hook

    def find_spec(
        self, fullname: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """An empty package where a face needs one, otherwise None."""
        entry = self._hook.needs_parent(fullname)
        if entry is None:
            return None
        return spec_from_loader(fullname, _StandIn(self._hook, entry), is_package=True)


class _StandIn(Loader):
    """Makes an empty package."""

    def __init__(self, hook: ImportHook, entry: FaceEntry) -> None:
        self._hook, self._entry = hook, entry

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave it to Python to make an empty module."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Say in its docstring what it is."""
        module.__doc__ = f"Stands above {self._entry.module}, which is Linkwork's; nothing else."
        self._hook.bind(self._entry, module.__name__, module, replace=True)


def _imported(module: str) -> ModuleType:
    """A module, its parents first.

    Python would lock it before its parent; a thread that is in the parent and on its way to this
    module would then be refused, as a deadlock.
    """
    for parent in parents_of(module):
        import_module(parent)
    return import_module(module)


def _file_of(module: str) -> str | None:
    """The file of a module of ours; nothing is imported, as Python holds its lock meanwhile."""
    spec = None
    for name in (*parents_of(module), module):
        loaded = sys.modules.get(name)
        path = spec.submodule_search_locations if spec else None
        spec = loaded.__spec__ if loaded else PathFinder.find_spec(name, path)
        if spec is None:
            return None
    return spec.origin if spec else None


def _is_ours(entry: FaceEntry, name: str, module: ModuleType | None) -> bool:
    ours = entry.modules.get(name)
    return ours is not None and module is not None and sys.modules.get(ours) is module


def _is_stand_in(module: ModuleType | None) -> bool:
    return isinstance(getattr(getattr(module, "__spec__", None), "loader", None), _StandIn)


def _refuse_what_is_imported(entry: FaceEntry) -> None:
    loaded: dict[str, ModuleType | None] = dict(sys.modules)
    for name, module in loaded.items():
        if not entry.covers(name) or _is_ours(entry, name, module):
            continue
        if module is None:
            raise InputError(f"imports of '{name}' are blocked: sys.modules['{name}'] is None")
        place = getattr(module, "__file__", None)
        raise InputError(
            f"'{name}' is imported already{f' from {place}' if place else ''}: "
            f"install the face '{entry.name}' before the first import of it"
        )


def _undo(binding: _Binding) -> None:
    if vars(binding.parent).get(binding.name) is not binding.module:
        return  # somebody else has changed it since
    if binding.before is _ABSENT:
        delattr(binding.parent, binding.name)
    else:
        setattr(binding.parent, binding.name, binding.before)


IMPORT_HOOK = ImportHook()
