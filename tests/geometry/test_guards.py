"""What a file says of itself, held against what it has; files of every kind and none."""

from __future__ import annotations

from pathlib import Path

import pytest

import mesh_files as made
from linkwork.errors import InputError
from linkwork.geometry import guards
from linkwork.geometry.load import load
from mesh_files import written


@pytest.mark.parametrize("name", sorted(made.EVERY))
def test_sound_files_pass(tmp_path: Path, name: str):
    guards.check(written(tmp_path / name, made.EVERY[name]))


@pytest.mark.parametrize("name", ["binary.stl", "little.ply", "big.ply", "body.glb"])
def test_every_cut_of_a_binary_file_is_seen(tmp_path: Path, name: str):
    pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is not installed")
    whole = made.EVERY[name]
    for length in range(len(whole)):
        with pytest.raises(InputError):
            load(written(tmp_path / name, whole[:length]))


def test_pictures(tmp_path: Path):
    pytest.importorskip("PIL", reason="Pillow (pip install pillow) is not installed")
    side = guards.LARGEST_SIDE
    guards.check(written(tmp_path / "a.png", made.png(side, 1)))
    for size in ((side + 1, 1), (1, side + 1)):
        with pytest.raises(InputError, match=f"{size[0]} x {size[1]}"):
            guards.check(written(tmp_path / "a.png", made.png(*size)))
    for data in (b"", b"x", made.png()[:20]):
        with pytest.raises(InputError, match="no image"):
            guards.check(written(tmp_path / "a.png", data))


def test_largest_file(tmp_path: Path):
    path = written(tmp_path / "a.stl", made.stl())
    assert guards.read(path, len(made.stl())) == made.stl()
    with pytest.raises(InputError, match="the most that is read"):
        guards.read(path, len(made.stl()) - 1)


def test_the_key_of_a_file_changes_with_it(tmp_path: Path):
    path = written(tmp_path / "a.stl", b"abc")
    first = guards.key_of(path)
    assert first == guards.key_of(path)
    written(path, b"abcd")
    assert guards.key_of(path) != first
    with pytest.raises(InputError, match="cannot be read"):
        guards.key_of(tmp_path / "none.stl")


def test_text_that_is_not_utf8():
    assert guards.as_utf8("é".encode()) == "é".encode()
    assert guards.as_utf8("é 1.5\n".encode("latin-1")) == "é 1.5\n".encode()


def test_names_in_messages():
    assert guards.show("a\nb\x1b[0m") == "a\\nb\\x1b[0m"
    assert len(guards.show("x" * 5000)) <= 303
