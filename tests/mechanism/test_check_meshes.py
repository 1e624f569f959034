"""Findings on meshes and textures, and on masses by the sizes of links."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.errors import Finding, InputError, MissingExtraError
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import (
    ZERO,
    Box,
    Capsule,
    Collision,
    Cylinder,
    Inertial,
    Link,
    Mesh,
    Robot,
    Shape,
    Sphere,
    Visual,
)
from linkwork.geometry.meshes import resolve
from linkwork.mechanism.check_meshes import check_meshes, check_shapes, check_sizes
from linkwork.mechanism.from_urdf import rotation_from_rpy
from seeds import rng

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


METALS = (500.0, 8000.0)  # kg/m³, from wood to steel


def link(shape: Shape, mass: float, com: object, inertia: object, **placed: object) -> Link:
    xyz, rpy = placed.get("xyz", ZERO), placed.get("rpy", ZERO)
    com_, rows = tuple(map(float, com)), tuple(tuple(map(float, row)) for row in inertia)
    return Link("a", Inertial(com_, ZERO, mass, rows), (Visual(None, xyz, rpy, shape),))


def found(*links: Link, meshes: dict[str, object] | None = None) -> list[Finding]:
    return list(check_sizes(Robot("r", links), meshes))


def codes(*links: Link) -> list[str]:
    return [problem.code for problem in found(*links)]


def solid(label: str) -> tuple[Shape, float, np.ndarray, np.ndarray, dict[str, object]]:
    """A random shape filled evenly: mass, centre and inertia by its formulas, placed anyhow."""
    random = rng(label)
    a, b, c = (float(x) for x in random.uniform(0.02, 1.0, 3))
    kind = int(random.integers(3))
    density = float(random.uniform(*METALS))
    if kind == 0:
        shape: Shape = Box((a, b, c))
        mass = density * a * b * c
        moments = mass / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    elif kind == 1:
        shape = Sphere(a)
        mass = density * 4 / 3 * np.pi * a**3
        moments = np.full(3, 0.4 * mass * a * a)
    else:
        shape = Cylinder(a, b)
        mass = density * np.pi * a * a * b
        side = mass * (3 * a * a + b * b) / 12
        moments = np.array([side, side, mass * a * a / 2])
    rpy = tuple(float(x) for x in random.uniform(-3, 3, 3))
    xyz = tuple(float(x) for x in random.uniform(-1, 1, 3))
    R = rotation_from_rpy(rpy)
    return shape, float(mass), np.array(xyz), R @ np.diag(moments) @ R.T, {"xyz": xyz, "rpy": rpy}


@pytest.mark.parametrize("seed", range(60))
def test_solids_pass_and_other_units_do_not(seed: int):
    shape, mass, com, inertia, placed = solid(f"sizes {seed}")
    assert codes(link(shape, mass, com, inertia, **placed)) == []
    assert codes(link(shape, mass, com, inertia * 1e6, **placed)) == ["large-inertia"]  # kg mm²
    assert codes(link(shape, mass, com, inertia * 1e-6, **placed)) == ["small-inertia"]
    assert codes(link(shape, mass * 1000, com, inertia * 1000, **placed)) == ["dense"]  # gram
    far = com * 1000 / np.linalg.norm(com)
    assert codes(link(shape, mass, far, inertia, **placed)) == ["com-outside"]
    place_holder = np.eye(3) * mass * 100
    assert codes(link(shape, mass, com, place_holder, **placed)) == ["large-inertia"]


@pytest.mark.parametrize("seed", range(20))
def test_points_within_a_box_always_pass(seed: int):
    random = rng(f"points {seed}")
    points = random.uniform(-0.5, 0.5, (int(random.integers(2, 9)), 3))
    masses = random.uniform(0.5, 2, len(points))
    total = masses.sum()
    com = masses @ points / total
    d = points - com
    inertia = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, d, strict=True))
    assert codes(link(Box((1.0, 1.0, 1.0)), float(total), com, inertia)) == []


def test_the_level_and_the_place():
    body = Link("a", Inertial(ZERO, ZERO, 1.0, ((9.0, 0, 0), (0, 9.0, 0), (0, 0, 9.0)), line=7))
    heavy = Link("a", body.inertial, (), (Collision(None, ZERO, ZERO, Sphere(0.1)),))
    (problem,) = found(heavy)
    assert (problem.level, problem.line, problem.element) == ("warning", 7, "inertial")
    assert problem.name == "a"


def test_links_whose_size_is_not_known_are_passed_over():
    I = np.eye(3) * 100  # noqa: E741 -- an inertia is called so
    ball = Visual(None, ZERO, ZERO, Sphere(0.1))
    unknown = Visual(None, ZERO, ZERO, Mesh("a.stl"))
    empty = Visual(None, ZERO, ZERO, None)
    full = link(Sphere(0.1), 1.0, ZERO, I)
    assert codes(full) == ["large-inertia"]
    for visuals in ((), (unknown,), (ball, unknown), (ball, empty)):
        assert codes(Link("a", full.inertial, visuals)) == []
    assert codes(Link("a", None, (ball,))) == []
    for mass in (0.0, -1.0):
        assert codes(link(Sphere(0.1), mass, ZERO, I)) == []


def test_meshes_count_with_their_scale_and_place():
    I = np.eye(3) * 0.1  # noqa: E741 -- an inertia is called so
    box = np.array([[0.0, 0, 0], [1, 1, 1]])
    for scale, expected in (((1.0,) * 3, []), ((0.01,) * 3, ["large-inertia"]), ((-1.0,) * 3, [])):
        body = link(Mesh("a.stl", scale), 1.0, (0.5 * scale[0],) * 3, I)
        assert [p.code for p in found(body, meshes={"a.stl": box})] == expected
    moved = link(Mesh("a.stl"), 1.0, (0.5, 0.5, 0.5), I, xyz=(9.0, 0.0, 0.0))
    assert [p.code for p in found(moved, meshes={"a.stl": box})] == ["com-outside"]


def test_each_kind_of_shape_has_its_size():
    # a point mass this far out along z, and the ring of inertia that only the longer shapes allow
    for shape, reach in (
        (Sphere(0.1), 0.1),
        (Cylinder(0.1, 2.0), 1.0),
        (Capsule(0.1, 2.0), 1.1),
        (Box((0.2, 0.2, 3.0)), 1.5),
    ):
        size = 2 * reach
        inside = link(shape, 1.0, (0, 0, 0.99 * reach), np.eye(3) * 0.02)
        assert codes(inside) == []
        outside = link(shape, 1.0, (0, 0, reach + 1.2 * np.hypot(size, 0.3)), np.eye(3) * 0.02)
        assert codes(outside) == ["com-outside"]


def test_shapes_are_turned_and_moved_before_they_are_compared():
    rod, small = Box((2.0, 0.02, 0.02)), np.eye(3) * 0.3
    turned = (0.0, 0.0, np.pi / 2)
    for rpy, along in ((ZERO, (3.5, 0, 0)), (turned, (0, 3.5, 0))):
        # twice the half length from a rod's end: outside across it, not along it
        across = (0, along[0], 0) if rpy == ZERO else (along[1], 0, 0)
        moved = tuple(0.5 * x for x in along)
        assert codes(link(rod, 1.0, (0, 0, 0), small, rpy=rpy)) == []
        assert codes(link(rod, 1.0, tuple(0.8 * x for x in along), small, rpy=rpy)) == []
        assert codes(link(rod, 1.0, tuple(0.8 * x for x in across), small, rpy=rpy)) == [
            "com-outside"
        ]
        assert codes(link(rod, 1.0, along, small, rpy=rpy, xyz=moved)) == []
    mesh = np.array([[0.0, -0.01, -0.01], [2.0, 0.01, 0.01]])  # from its origin on, along x
    body = link(Mesh("a.stl"), 1.0, (0, 3.9, 0), small, rpy=turned)
    assert found(body, meshes={"a.stl": mesh}) == []
    body = link(Mesh("a.stl"), 1.0, (0, -2.2, 0), small, rpy=turned)
    assert [p.code for p in found(body, meshes={"a.stl": mesh})] == ["com-outside"]


def test_a_capsule_is_longer_than_its_cylinder():
    for shape, expected in ((Capsule(1.0, 0.1), []), (Cylinder(1.0, 0.1), ["com-outside"])):
        assert codes(link(shape, 1.0, (0, 0, 3.3), np.eye(3))) == expected


def test_how_far_out_the_mass_may_lie():
    reach = np.sqrt(3) / 2  # of a cube of side 1
    for times, expected in ((2.9, []), (3.1, ["large-inertia"])):
        distance = times * reach
        inertia = 7.0 * distance**2 * np.eye(3) * 2 / 3  # half its trace is m d²
        assert codes(link(Box((1.0, 1.0, 1.0)), 7.0, ZERO, inertia)) == expected


def test_light_place_holders_and_sheets_pass():
    tiny = np.eye(3) * 1e-12
    assert codes(link(Box((0.001,) * 3), 0.005, ZERO, np.eye(3) * 1e-9)) == []
    assert codes(link(Box((1.0, 1.0, 1.0)), 0.005, ZERO, tiny)) == []
    sheet = np.diag([1.0, 1.0, 2.0]) / 12
    assert codes(link(Box((1.0, 1.0, 0.0)), 1.0, ZERO, sheet)) == []


def test_numbers_near_the_largest_raise_nothing():
    for mass in (5e-324, 1e308):
        for size in (1e-300, 1e100):
            found(link(Box((size,) * 3), mass, (1e100, 0, 0), np.eye(3) * 1e300))


@pytest.mark.filterwarnings("error")
def test_shapes_of_no_finite_size_are_passed_over():
    huge = link(Box((1.7e308, 1.0, 1.0)), 1.0, (0, 0, 0), np.eye(3), xyz=(1.7e308, 0.0, 0.0))
    assert found(huge) == []


# --- collision shapes by what is seen ------------------------------------------------------------


def shaped(visual: str, collision: str) -> str:
    """A link with these shapes, on line 2 and 3; empty for none."""
    parts = [
        f"<{kind}><origin xyz='1 2 3' rpy='0.1 0 0'/><geometry>{shape}</geometry></{kind}>"
        for kind, shape in (("visual", visual), ("collision", collision))
        if shape
    ]
    return "<link name='hand'>\n" + "\n".join(parts) + "</link>"


def of_shapes(*links: str, meshes: Any = None) -> tuple[Finding, ...]:
    joints = "".join(
        f"<joint name='j{k}' type='fixed'><parent link='hand'/><child link='l{k}'/></joint>"
        for k in range(1, len(links))
    )
    named = [link.replace("'hand'", f"'l{k}'") if k else link for k, link in enumerate(links)]
    return check_shapes(read(f"<robot name='r'>{''.join(named)}{joints}</robot>").robot, meshes)


@pytest.mark.parametrize(
    ("visual", "collision", "said"),
    [
        ("<box size='1 1 1'/>", "<box size='1.9 1.9 1.9'/>", ""),
        ("<box size='1 2 2'/>", "<box size='2.1 4 5'/>", "fill 2.1 x "),
        ("<box size='0.1 0.1 0.1'/>", "<cylinder radius='0.1' length='0.3'/>", "0.2 x "),
        ("<box size='3 3 3'/>", "<sphere radius='0.1'/>", ""),
        ("<box size='0.1 0.1 0.001'/>", "<box size='0.1 0.1 0.01'/>", ""),  # a sheet
        ("<box size='0.002 0.002 0.002'/>", "<sphere radius='0.2'/>", ""),  # a place holder
        ("<mesh filename='a.stl'/>", "<box size='9 9 9'/>", ""),
    ],
)
def test_collision_shapes_that_are_far_larger(visual: str, collision: str, said: str):
    found = of_shapes(shaped(visual, collision))
    assert [one.code for one in found] == ["collision-large"] * bool(said)
    if found:
        assert (found[0].level, found[0].line, found[0].name) == ("warning", 3, "hand")
        assert said in found[0].message


def test_both_are_measured_where_meshes_were_opened():
    link = shaped("<mesh filename='a.stl'/>", "<mesh filename='a.stl' scale='10 10 10'/>")
    (found,) = of_shapes(link, meshes={"a.stl": np.array([[0.0, 0, 0], [0.1, 0.1, 0.1]])})
    assert "fill 1 x 1.09 x 1.09 m, what is seen of it 0.1 x 0.109 x 0.109 m" in found.message


def test_links_that_are_seen_alone():
    box = "<box size='1 1 1'/>"
    both, seen, met, none = (shaped(a, b) for a in (box, "") for b in (box, ""))
    assert of_shapes(both, none, met) == ()
    (found,) = of_shapes(both, seen, none, seen)
    assert (found.code, found.level, found.name) == ("no-collision", "note", "l1")
    assert found.message == "'l1', 'l3': seen, without a collision shape"
    assert of_shapes(seen, seen, none) == ()  # a drawing
