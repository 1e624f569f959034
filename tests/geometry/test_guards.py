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


def test_counts_are_held_against_the_file_to_the_byte(tmp_path: Path):
    data = made.ply(kind="binary_little_endian")
    least = data.index(b"end_header\n") + 11 + 4 * 12 + 4  # a face has its count at least
    guards.check(written(tmp_path / "a.ply", data[:least]))
    with pytest.raises(InputError, match="52 bytes or more, but 51 follow"):
        guards.check(written(tmp_path / "a.ply", data[: least - 1]))
    with pytest.raises(InputError, match="claims 5 triangles"):
        guards.check(written(tmp_path / "a.stl", made.stl()[:80] + b"\5\0\0\0" + made.stl()[84:]))


def test_headers_of_ply(tmp_path: Path):
    sound = made.ply()
    for old, new, part in (
        (b"ply\n", b"plx\n", "no PLY"),
        (b"end_header", b"end_headex", "no header"),
        (b"vertex 4", b"vertex many", "no count"),
        (b"vertex 4", b"vertex -4", "no count"),
        (b"float x", b"quaternion x", "no known type"),
        (b"property float x", b"property", "no known type"),
        (b"list uchar int", b"list int", "no known type"),
        (b"list uchar int", b"list text int", "no known type"),
    ):
        assert old in sound
        with pytest.raises(InputError, match=part):
            guards.check(written(tmp_path / "a.ply", sound.replace(old, new)))


def test_headers_of_off(tmp_path: Path):
    sound = made.off()
    for old, new, part in (
        (b"OFF", b"OFX", "begin with OFF"),
        (b"OFF", b"OFF BINARY", "binary OFF"),
        (b"4 4 0", b"four 4 0", "no counts"),
        (b"4 4 0", b"4 400 0", "400 faces"),
        (b"3 0 2 1", b"4 0 2 1", "'4' corners"),
        (b"3 0 2 1", b"2 0 2 1", "'2' corners"),
    ):
        with pytest.raises(InputError, match=part):
            guards.check(written(tmp_path / "a.off", sound.replace(old, new)))


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
    assert guards.read(path, len(made.stl())).data == made.stl()
    with pytest.raises(InputError, match="the most that is read"):
        guards.read(path, len(made.stl()) - 1)


def test_the_key_of_a_file_changes_with_it(tmp_path: Path):
    path = written(tmp_path / "a.stl", b"abc")
    first = guards.key_of(path)
    assert first == guards.key_of(path) == guards.read(path).key
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
