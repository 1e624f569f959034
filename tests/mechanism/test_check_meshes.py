"""Findings on mesh and texture files: where they are, what is in them, what size they have."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.errors import Finding, InputError, MissingExtraError
from linkwork.formats.urdf.read import read
from linkwork.geometry.meshes import resolve
from linkwork.mechanism.check_meshes import check_meshes

INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="{0}" ixy="0" ixz="0" iyy="{0}" iyz="0" izz="{0}"/>'
    "</inertial>"
)


@dataclass
class StandIn:
    """Something like a loader: a box of this size for each file, or an error."""

    sizes: dict[str, Any]
    opened: list[str] = field(default_factory=list)
    left_out: tuple[str, ...] = ()

    def __call__(self, path: Path) -> Any:
        self.opened.append(path.name)
        size = self.sizes.get(path.name, 0.1)
        if isinstance(size, Exception):
            raise size
        bounds = None if size is None else np.array([np.zeros(3), np.broadcast_to(size, 3)])

        class Piece:
            mesh = type("M", (), {"bounds": bounds})

        pieces = (Piece,) if size is not None else ()
        return type("L", (), {"parts": pieces, "left_out": self.left_out})


def urdf(*meshes: str, top: str = "", inertial: str = "") -> str:
    """A link with these meshes as visuals, one a line from line 2 on."""
    shapes = "".join(f"\n<visual><geometry>{mesh}</geometry></visual>" for mesh in meshes)
    return f'<robot name="r">{top}<link name="a">{inertial}{shapes}</link></robot>'


def mesh(name: str, scale: str = "") -> str:
    return f'<mesh filename="{name}"' + (f' scale="{scale}"' if scale else "") + "/>"


def check(folder: Path, text: str, load: Any = None, **more: Any) -> list[Finding]:
    """The findings on a description in a folder, found by the true rules."""
    file = folder / "robot" / "urdf" / "r.urdf"
    file.parent.mkdir(parents=True, exist_ok=True)

    def find(name: str, suffixes: frozenset[str]) -> Path:
        return resolve(name, file, suffixes=suffixes)

    document = read(text, file=str(file))
    return list(check_meshes(document, find, load=load or StandIn({}), **more))


def touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / "robot" / "urdf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")


# where the files are


def test_files_that_are_there_give_nothing_and_are_opened_once(tmp_path: Path):
    touch(tmp_path, "a.stl", "b.obj")
    load = StandIn({})
    text = urdf(
        mesh("a.stl"), mesh("b.obj"), mesh("a.stl"), mesh("./a.stl"), '<sphere radius="1"/>'
    )
    assert check(tmp_path, text, load) == []
    assert load.opened == ["a.stl", "b.obj"]


NAMES = [
    ("none.stl", "mesh-missing"),
    ("package://robot/none.stl", "mesh-missing"),
    ("../../../outside.stl", "mesh-outside"),
    ("/elsewhere/outside.stl", "mesh-outside"),
    ("a.txt", "mesh-suffix"),
    ("a", "mesh-suffix"),
    ("~/a.stl", "mesh-name"),
    ("$HOME/a.stl", "mesh-name"),
    ("http://example.org/a.stl", "mesh-name"),
    ("package://../a.stl", "mesh-name"),
]


@pytest.mark.parametrize(("name", "code"), NAMES)
def test_names_that_lead_to_no_file(tmp_path: Path, name: str, code: str):
    (problem,) = check(tmp_path, urdf('<sphere radius="1"/>', mesh(name), mesh(name)))
    assert (problem.code, problem.level, problem.line) == (code, "warning", 3)
    assert (problem.element, problem.name) == ("mesh", "a")
    assert name.rpartition("/")[2] in problem.message
    assert not problem.message.startswith("mesh ")
    texture = name.replace(".stl", ".png")
    material = f'<material name="m"><texture filename="{texture}"/></material>'
    (problem,) = check(tmp_path, urdf(top=material))
    assert (problem.code, problem.element) == (code.replace("mesh", "texture"), "texture")


def test_an_empty_name_is_left_to_reading(tmp_path: Path):
    assert check(tmp_path, urdf(mesh(""))) == []


# what is in them


def test_what_cannot_be_read(tmp_path: Path):
    touch(tmp_path, "a.stl", "b.stl", "c.stl", "d.dae", "e.dae")
    missing = MissingExtraError("COLLADA needs pycollada: pip install linkwork[meshes]")
    sizes = {"a.stl": InputError("'a.stl': it is cut short"), "b.stl": None}
    load = StandIn({**sizes, "d.dae": missing, "e.dae": missing})
    problems = check(
        tmp_path, urdf(*[mesh(n) for n in ("a.stl", "b.stl", "c.stl", "d.dae", "e.dae")]), load
    )
    assert [(p.code, p.level, p.line) for p in problems] == [
        ("mesh-broken", "warning", 2),
        ("mesh-broken", "warning", 3),
        ("mesh-unchecked", "note", 5),  # once for the missing package
    ]
    assert "cut short" in problems[0].message
    assert "pip install" in problems[2].message


def test_what_a_mesh_leaves_out(tmp_path: Path):
    touch(tmp_path, "a.obj")
    load = StandIn({}, left_out=("'a.mtl' is not there",))
    (problem,) = check(tmp_path, urdf(mesh("a.obj")), load)
    assert (problem.code, problem.level) == ("mesh-looks", "note")
    assert "a.mtl" in problem.message


def test_the_true_loader(tmp_path: Path):
    pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is not installed")
    touch(tmp_path, "bad.stl")
    corners = np.array([[0, 0, 0], [400, 0, 0], [0, 300, 0], [0, 0, 200]], np.float32)
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    body = b"".join(
        struct.pack("<12fH", 0, 0, 0, *corners[list(face)].ravel(), 0) for face in faces
    )
    good = tmp_path / "robot" / "urdf" / "good.stl"
    good.write_bytes(bytes(80) + struct.pack("<I", len(faces)) + body)
    text = urdf(mesh("good.stl"), mesh("bad.stl"), mesh("good.stl", "0.001 0.001 0.001"))
    from linkwork.geometry.load import load  # noqa: PLC0415 -- the test needs trimesh

    problems = check(tmp_path, text, load)
    assert [(p.code, p.line) for p in problems] == [("mesh-units", 2), ("mesh-broken", 3)]
    assert "400 m" in problems[0].message


# sizes


@pytest.mark.parametrize(
    ("size", "scale", "expected"),
    [
        (0.3, "", []),
        (19.0, "", []),
        (300.0, "", ["mesh-units"]),
        ((300.0, 200.0, 0.0), "", []),  # a floor
        (300.0, "0.001 0.001 0.001", []),
        (300.0, "0.5 0.5 0.5", []),
        (0.3, "0.001 0.001 0.001", ["mesh-units"]),
        (0.003, "", []),
        (0.00003, "", ["mesh-units"]),
        (300.0, "-0.001 0.001 0.001", []),
    ],
)
def test_units(tmp_path: Path, size: Any, scale: str, expected: list[str]):
    touch(tmp_path, "a.stl")
    load = StandIn({"a.stl": size})
    assert [p.code for p in check(tmp_path, urdf(mesh("a.stl", scale)), load)] == expected
    twice = urdf(mesh("a.stl", scale), mesh("a.stl", scale), mesh("a.stl", "0.7 0.7 0.7"))
    assert [p.code for p in check(tmp_path, twice, load)][:1] == expected
    assert len(check(tmp_path, twice, load)) <= 2


def test_masses_are_compared_with_the_sizes_of_meshes(tmp_path: Path):
    touch(tmp_path, "a.stl")
    load = StandIn({"a.stl": 0.2})
    for moment, expected in ((0.003, []), (3.0, ["large-inertia"])):
        text = urdf(mesh("a.stl"), inertial=INERTIAL.format(moment))
        assert [p.code for p in check(tmp_path, text, load)] == expected


# textures


def test_textures(tmp_path: Path):
    image = pytest.importorskip("PIL.Image", reason="Pillow (pip install pillow) is not installed")
    touch(tmp_path, "bad.png")
    image.new("RGB", (2, 2)).save(tmp_path / "robot" / "urdf" / "good.png")
    material = '\n<material name="{}"><texture filename="{}.png"/></material>'
    text = urdf(top="".join(material.format(n, n) for n in ("good", "bad", "none")))
    problems = check(tmp_path, text)
    assert [(p.code, p.line, p.name) for p in problems] == [
        ("texture-broken", 3, "bad"),
        ("texture-missing", 4, "none"),
    ]


# progress


def test_progress_counts_files(tmp_path: Path):
    touch(tmp_path, "a.stl", "b.stl")
    seen: list[tuple[int, int]] = []
    check(tmp_path, urdf(mesh("a.stl"), mesh("b.stl")), progress=lambda *at: seen.append(at))
    assert seen == [(0, 2), (1, 2), (2, 2)]
