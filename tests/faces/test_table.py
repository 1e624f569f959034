"""The table of faces: complete, without clashes, and each module in it is there."""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path

import pytest

import linkwork.faces
from linkwork.errors import InputError
from linkwork.faces.table import FACES, FaceEntry, parents_of

FOLDER = Path(linkwork.faces.__file__).parent


def test_every_folder_with_a_parity_file_is_in_the_table_and_the_other_way_round():
    folders = {path.parent.name for path in FOLDER.glob("*/parity.toml")}
    assert folders == {entry.modules[entry.module].rpartition(".")[2] for entry in FACES}


def test_no_name_is_given_twice():
    names = Counter([*[entry.name for entry in FACES], *[m for e in FACES for m in e.modules]])
    own = {entry.module for entry in FACES if entry.module == entry.name}
    assert {name for name, count in names.items() if count > 1 + (name in own)} == set()


@pytest.mark.parametrize("entry", FACES, ids=lambda entry: entry.name)
def test_every_module_can_be_imported_and_lies_in_the_folder_of_the_face(entry: FaceEntry):
    main = entry.modules[entry.module]
    for target in entry.modules.values():
        assert target == main or target.startswith(f"{main}.")
        assert importlib.import_module(target).__name__ == target
    # Python asks a package alone for its submodules, and we want to name those that there are.
    assert hasattr(importlib.import_module(main), "__path__")


def test_roots_and_what_lies_below():
    entry = FaceEntry("x", {"a.b": "m", "a.b.c.d": "m.d", "a.b.c": "m.c", "e": "m.e"})
    assert entry.module == "a.b"
    assert entry.roots == ("a.b", "e")
    assert entry.below("a.b") == ("a.b", "a.b.c", "a.b.c.d")
    assert entry.below("e") == ("e",)
    covered = {"a": False, "a.b": True, "a.b.x": True, "a.bc": False, "e.f.g": True, "ef": False}
    assert {name: entry.covers(name) for name in covered} == covered


def test_parents():
    assert parents_of("a.b.c") == ("a", "a.b")
    assert parents_of("a") == ()


def test_a_gap_is_refused():
    with pytest.raises(InputError, match=r"has 'a\.b\.c' and lacks 'a\.b'|lacks 'a'"):
        FaceEntry("x", {"a": "m", "a.b.c": "m.c"})
    with pytest.raises(InputError, match="no modules"):
        FaceEntry("x", {})
