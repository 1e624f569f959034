"""STL, PLY, OFF and OBJ: headers and counts held against the file; OBJ with whole indices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mesh_files as made
from linkwork.errors import InputError
from linkwork.geometry import guards
from linkwork.geometry.guards_plain import prepared_obj
from linkwork.geometry.load import forget, load
from mesh_files import CORNERS, FACES, written

PATH = Path("a.obj")


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


# OBJ


def test_a_sound_obj_is_not_touched():
    text = b"mtllib a.mtl\no x\n" + made.obj() + b"usemtl -0 m\nf 1/1/1 2/2/2 3//3\ns off\n"
    assert prepared_obj(text, PATH).data is text


@pytest.mark.parametrize(
    ("text", "faces"),
    [
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 9 9 9\n", "f 1 2 3"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 9 9 9\nf 1 -3 3\n", "f 1 2 3"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf -3/-1 2/1 3/1\n", "f 1/1 2/1 3/1"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nf 1//-1 2//-1 3//-1\n", "f 1//1 2//1 3//1"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 # a face\n", "f 1 2 3"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 \\\n3\n", "f 1 2 3"),
        ("v\t0 0 0\n  v 1 0 0\nv 0 1 0\n\tf\t1 2\t3\n", "f 1 2 3"),
        ("v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf -3 -2 -1\r\n", "f 1 2 3"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf +1 +2 +3\n", "f 1 2 3"),
    ],
)
def test_indices_are_made_whole(tmp_path: Path, text: str, faces: str):
    assert faces in prepared_obj(text.encode(), PATH).data.decode().split("\n")
    forget()
    mesh = load(written(tmp_path / "a.obj", text.encode())).mesh()
    assert len(mesh.faces) == 1 and mesh.area == pytest.approx(0.5)


def test_relative_indices_give_the_same_body(tmp_path: Path):
    """Each face right behind its own corners, as some programs write them."""
    lines = []
    for face in FACES:
        lines += ["v " + " ".join(map(repr, map(float, CORNERS[k]))) for k in face]
        lines.append("f -3 -2 -1")
    mesh = load(written(tmp_path / "a.obj", "\n".join(lines).encode())).mesh()
    assert mesh.is_watertight and mesh.volume == pytest.approx(1)
    np.testing.assert_array_equal(mesh.bounds[1], CORNERS.max(axis=0))


@pytest.mark.parametrize(
    ("face", "part"),
    [
        ("f 0 1 2", "line 4: index 0"),
        ("f 1 2 0", "line 4: index 0"),
        ("f 1/0 2/0 3/0", "line 4: index 0"),
        ("f -4 -2 -1", "line 4: index -4"),
        ("f -2147483648 1 2", "line 4: index -2147483648"),
        ("f 1 2 x", "line 4: 'x'"),
        ("f 1 2 3.0", "line 4: '3.0'"),
        ("f 1 2 " + "9" * 5000, ""),
        ("f 1 2 -" + "9" * 5000, "line 4"),
        ("f 1 2 nan", "line 4"),
        ("f 1 2", ""),
        ("f", ""),
        ("f 1 2 9223372036854775807", ""),
        ("f 1 2 4", ""),
    ],
)
def test_indices_that_lead_nowhere(tmp_path: Path, face: str, part: str):
    path = written(tmp_path / "a.obj", f"v 0 0 0\nv 1 0 0\nv 0 1 0\n{face}\n".encode())
    with pytest.raises(InputError) as caught:
        load(path)
    assert part in str(caught.value) and "a.obj" in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("mtllib a.mtl", ("a.mtl",)),
        ("mtllib  a.mtl b.mtl ", ("a.mtl", "b.mtl")),
        ("mtllib my own.mtl", ("my own.mtl",)),
        ("mtllib a.mtl\nmtllib a.mtl\nmtllib b.mtl", ("a.mtl", "b.mtl")),
        ("# mtllib a.mtl", ()),
        ("mtllib", ()),
    ],
)
def test_names_of_material_files(line: str, names: tuple[str, ...]):
    assert prepared_obj(made.obj(before=line), PATH).libraries == names


def test_what_is_no_obj():
    for data, part in ((b"", "empty"), (b"  \n", "empty"), (b"v 0 0\0 0", "zero bytes")):
        with pytest.raises(InputError, match=part):
            prepared_obj(data, PATH)
