"""Mesh files of every format: the same body, its pieces, poses and units; each file read once."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mesh_files as made
from fresh_python import python
from linkwork.errors import InputError, MissingExtraError
from linkwork.formats.urdf import records
from linkwork.geometry import load as load_module
from linkwork.geometry import load as module
from linkwork.geometry.load import Material, MeshPart, forget, load, parts_of
from linkwork.geometry.material_files import Resolver
from linkwork.geometry.meshes import MESH_SUFFIXES
from linkwork.loading import load as loaded
from linkwork.loading import read as description
from linkwork.locating import locate
from linkwork.mechanism.from_urdf import rotation_from_rpy
from mesh_files import CORNERS, FACES, written
from robots import example_robot_urdf
from seeds import rng

trimesh = pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is not installed")
pytest.importorskip("collada", reason="pycollada (pip install pycollada) is not installed")
pytest.importorskip("PIL", reason="Pillow (pip install pillow) is not installed")

Y_TO_Z = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])


@pytest.fixture(autouse=True)
def _nothing_kept():
    forget()


def triangles(mesh: object) -> np.ndarray:
    """The triangles of a mesh in an order of their own, each from its lowest corner on."""
    found = np.asarray(mesh.triangles)
    rolled = []
    for t in found:
        k = min(range(3), key=lambda i: tuple(np.round(t[i], 9)))
        rolled.append(np.roll(t, -k, axis=0))
    return np.array(sorted(rolled, key=lambda t: tuple(np.round(t, 9).ravel())))


def same(mesh: object, corners: np.ndarray, faces: np.ndarray = FACES, atol: float = 1e-6) -> None:
    expected = trimesh.Trimesh(corners, faces, process=False)
    np.testing.assert_allclose(triangles(mesh), triangles(expected), atol=atol)


@pytest.mark.parametrize("name", made.EVERY)
def test_the_same_body_in_every_format(tmp_path: Path, name: str):
    loaded = load(written(tmp_path / name, made.EVERY[name]))
    assert len(loaded.parts) == 1 and loaded.path == tmp_path / name and not loaded.left_out
    same(loaded.parts[0].mesh, CORNERS)
    same(loaded.mesh(), CORNERS)
    assert loaded.parts[0].mesh.is_watertight
    assert loaded.parts[0].mesh.volume == pytest.approx(1)  # outward


@pytest.mark.parametrize("name", made.EVERY)
def test_random_bodies_bit_for_bit_in_text_and_to_float32_otherwise(tmp_path: Path, name: str):
    points = rng(name).normal(size=(20, 3)) * 0.3
    hull = trimesh.convex.convex_hull(points)
    corners, faces = np.asarray(hull.vertices), np.asarray(hull.faces)
    kind = name.split(".")
    data = {
        "binary.stl": lambda: made.stl(corners, faces),
        "ascii.stl": lambda: made.ascii_stl(corners, faces),
        "body.obj": lambda: made.obj(corners, faces),
        "body.dae": lambda: made.dae(shapes=made.geometry(corners=corners, faces=faces)),
        "body.glb": lambda: made.glb(*made.gltf_tree(corners, faces)),
        "body.gltf": lambda: made.gltf(*made.gltf_tree(corners, faces)),
        "body.off": lambda: made.off(corners, faces),
        "ascii.ply": lambda: made.ply(corners, faces),
        "little.ply": lambda: made.ply(corners, faces, "binary_little_endian"),
        "big.ply": lambda: made.ply(corners, faces, "binary_big_endian"),
    }[name]()
    mesh = load(written(tmp_path / name, data)).parts[0].mesh
    exact = kind[1] in ("obj", "off") or name == "ascii.stl"
    same(mesh, corners, faces, atol=0 if exact else 1e-7)


@pytest.mark.parametrize("suffix", [".STL", ".Obj", ".DAE", ".GLB", ".PLY", ".OFF"])
def test_suffixes_in_any_case(tmp_path: Path, suffix: str):
    data = next(d for n, d in made.EVERY.items() if n.endswith(suffix.lower()))
    same(load(written(tmp_path / f"x{suffix}", data)).mesh(), CORNERS)


@pytest.mark.parametrize("unit", ["1", "0.01", "0.001", "0.0254", "1e3", " 0.5 "])
def test_the_unit_of_collada(tmp_path: Path, unit: str):
    data = made.dae(unit=f'<unit name="x" meter="{unit}"/>')
    same(
        load(written(tmp_path / "a.dae", data)).mesh(),
        CORNERS * float(unit),
        atol=1e-6 * float(unit),
    )


def test_collada_without_unit_or_axis_is_metres(tmp_path: Path):
    for unit, up in (("", ""), ('<unit name="metre"/>', "<up_axis>Z_UP</up_axis>")):
        same(load(written(tmp_path / "a.dae", made.dae(unit=unit, up=up))).mesh(), CORNERS)


@pytest.mark.parametrize(
    ("up", "turned"),
    [
        ("<up_axis>Z_UP</up_axis>", np.eye(3)),
        ("<up_axis>Y_UP</up_axis>", Y_TO_Z),
        ("", Y_TO_Z),  # the standard's default
        ("<up_axis>X_UP</up_axis>", np.array([[0.0, -1, 0], [0, 0, -1], [1, 0, 0]])),
    ],
)
def test_axes_stay_as_written_or_turn_as_declared(tmp_path: Path, up: str, turned: np.ndarray):
    path = written(tmp_path / "a.dae", made.dae(up=up, unit='<unit meter="0.1"/>'))
    assert np.linalg.det(turned) == pytest.approx(1)
    same(load(path).mesh(), 0.1 * CORNERS)
    same(load(path, axes="declared").mesh(), 0.1 * CORNERS @ turned.T)
    same(load(path).mesh(), 0.1 * CORNERS)  # kept apart


def test_gltf_stays_as_written_or_turns(tmp_path: Path):
    path = written(tmp_path / "a.glb", made.glb())
    same(load(path).mesh(), CORNERS)
    same(load(path, axes="declared").mesh(), CORNERS @ Y_TO_Z.T)
    stl = written(tmp_path / "a.stl", made.stl())
    same(load(stl, axes="declared").mesh(), CORNERS)  # declares nothing
    with pytest.raises(InputError, match="'written' or 'declared'"):
        load(path, axes="up")


def random_matrix(label: str, mirror: bool = False) -> np.ndarray:
    T = trimesh.transformations.random_rotation_matrix(rng(label).uniform(size=3))
    T[:3, :3] *= rng(label + "s").uniform(0.3, 2, size=3)
    T[:3, 3] = rng(label + "p").normal(size=3)
    if mirror:
        T[:3, 0] *= -1
    return T


def moved(T: np.ndarray, corners: np.ndarray = CORNERS) -> np.ndarray:
    return corners @ T[:3, :3].T + T[:3, 3]


@pytest.mark.parametrize("mirror", [False, True])
def test_nodes_of_collada_nest(tmp_path: Path, mirror: bool):
    A, B = random_matrix("A"), random_matrix("B", mirror)
    xml = [f"<matrix>{' '.join(map(repr, M.ravel().tolist()))}</matrix>" for M in (A, B)]
    scene = f"<node>{xml[0]}<node>{xml[1]}{made.instance()}</node></node>"
    mesh = load(written(tmp_path / "a.dae", made.dae(scene, unit='<unit meter="0.01"/>'))).mesh()
    corners = 0.01 * moved(A @ B)
    same(mesh, corners, FACES[:, ::-1] if mirror else FACES)
    assert mesh.volume > 0  # still outward, also in a mirror


@pytest.mark.parametrize("mirror", [False, True])
def test_nodes_of_gltf_nest(tmp_path: Path, mirror: bool):
    A, B = random_matrix("A"), random_matrix("B", mirror)
    nodes = [
        {"matrix": A.T.ravel().tolist(), "children": [1]},
        {"matrix": B.T.ravel().tolist(), "mesh": 0},
    ]
    mesh = load(written(tmp_path / "a.glb", made.glb(*made.gltf_tree(nodes=nodes)))).mesh()
    same(mesh, moved(A @ B), FACES[:, ::-1] if mirror else FACES)
    assert mesh.volume > 0


def test_gltf_poses_by_translation_rotation_scale(tmp_path: Path):
    half = float(np.sqrt(0.5))
    node = {"mesh": 0, "translation": [1, 2, 3], "rotation": [0, 0, half, half], "scale": [2, 2, 2]}
    mesh = load(written(tmp_path / "a.glb", made.glb(*made.gltf_tree(nodes=[node])))).mesh()
    R = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    same(mesh, 2 * CORNERS @ R.T + [1, 2, 3])


def test_a_camera_does_not_lose_what_is_below_it(tmp_path: Path):
    camera = {"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1, "aspectRatio": 1}}
    nodes = [{"camera": 0, "translation": [1, 2, 3], "children": [1]}, {"mesh": 0}]
    tree = made.gltf_tree(nodes=nodes, cameras=[camera])
    same(load(written(tmp_path / "a.glb", made.glb(*tree))).mesh(), CORNERS + np.array([1, 2, 3]))


def test_instances_are_pieces_of_their_own(tmp_path: Path):
    library = (
        f'<library_nodes><node id="two">{made.instance()}{made.instance()}</node></library_nodes>'
    )
    scene = (
        '<node><translate>10 0 0</translate><instance_node url="#two"/></node>'
        f"<node>{made.instance()}</node>"
    )
    loaded = load(written(tmp_path / "a.dae", made.dae(scene, libraries=library)))
    assert len(loaded.parts) == 3
    assert sorted(round(p.mesh.bounds[0, 0]) for p in loaded.parts) == [0, 10, 10]
    nodes = [{"mesh": 0}, {"mesh": 0, "translation": [5, 0, 0]}]
    tree, data = made.gltf_tree(nodes=nodes, scenes=[{"nodes": [0, 1]}])
    loaded = load(written(tmp_path / "a.glb", made.glb(tree, data)))
    assert [round(p.mesh.bounds[0, 0]) for p in loaded.parts] == [0, 5]
    assert len(loaded.mesh().faces) == 2 * len(FACES)


def test_pieces_are_in_the_order_of_the_file(tmp_path: Path):
    names = ["zeta", "alpha", "mid", "beta"]
    text = "mtllib m.mtl\n" + made.obj(faces=[]).decode()
    text += "".join(
        f"usemtl {n}\nf {k + 1} {(k + 1) % 4 + 1} {(k + 2) % 4 + 1}\n" for k, n in enumerate(names)
    )
    written(
        tmp_path / "m.mtl",
        "".join(f"newmtl {n}\nKd {k / 4} 0 0\n" for k, n in enumerate(names)).encode(),
    )
    loaded = load(written(tmp_path / "a.obj", text.encode()))
    assert [round(4 * p.rgba[0]) for p in loaded.parts] == [0, 1, 2, 3]
    assert [p.name for p in loaded.parts] == names
    shapes = "".join(made.geometry(n, CORNERS + 10 * k) for k, n in enumerate(names))
    scene = "".join(f"<node>{made.instance(n)}</node>" for n in names)
    loaded = load(written(tmp_path / "a.dae", made.dae(scene, shapes)))
    assert [p.name for p in loaded.parts] == names
    assert [round(p.mesh.bounds[0, 0]) for p in loaded.parts] == [0, 10, 20, 30]
    solids = b"".join(made.ascii_stl(CORNERS + 10 * k, name=n) for k, n in enumerate(names))
    loaded = load(written(tmp_path / "a.stl", solids))
    assert [p.name for p in loaded.parts] == names
    meshes = [
        {"name": n, "primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]} for n in names
    ]
    nodes = [{"mesh": k, "translation": [10 * k, 0, 0]} for k in range(4)]
    tree = made.gltf_tree(meshes=meshes, nodes=nodes, scenes=[{"nodes": [0, 1, 2, 3]}])
    loaded = load(written(tmp_path / "a.glb", made.glb(*tree)))
    assert [p.name for p in loaded.parts] == names
    assert [round(p.mesh.bounds[0, 0]) for p in loaded.parts] == [0, 10, 20, 30]


def test_a_faulty_material_does_not_cost_the_shape(tmp_path: Path):
    broken = made.material("red", '<texture texture="nowhere-sampler" texcoord="UV"/>')
    scene = f"<node>{made.instance(material='red')}</node>"
    data = made.dae(
        scene, made.geometry(material="red"), libraries=broken, unit='<unit meter="0.1"/>'
    )
    loaded = load(written(tmp_path / "a.dae", data))
    same(loaded.mesh(), 0.1 * CORNERS)
    red = made.material("red", "<color>1 0 0 1</color>")
    shows = (
        f"<node>{made.instance(material='red')}</node><node>{made.instance(material='x')}</node>"
    )
    loaded = load(written(tmp_path / "b.dae", made.dae(shows, libraries=red)))
    assert len(loaded.parts) == 2
    (said,) = loaded.left_out
    assert "b.dae" in said and "Material #x not found" in said


# A cube of 6 squares, one with a square cut in two, and a prism over a pentagon: corners, faces.
CUBE = np.array([[x, y, z] for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))], float)
SQUARES = [
    [0, 3, 2, 1],
    [4, 5, 6, 7],
    *([k, (k + 1) % 4, (k + 1) % 4 + 4, k + 4] for k in range(4)),
]
ANGLES = 2 * np.pi * np.arange(10) / 5
PENTAGON = np.column_stack([np.cos(ANGLES), np.sin(ANGLES), np.arange(10) // 5])
SIDES = [[k, (k + 1) % 5, (k + 1) % 5 + 5, k + 5] for k in range(5)]
POLYGONS = {  # corners, faces, volume, area, triangles
    "squares": (CUBE, SQUARES, 1.0, 6.0, 12),
    "mixed": (CUBE, [[0, 3, 2], [0, 2, 1], *SQUARES[1:]], 1.0, 6.0, 12),
    "last": (CUBE, [*SQUARES[1:], [0, 3, 2], [0, 2, 1]], 1.0, 6.0, 12),
    "prism": (
        *(PENTAGON, [[4, 3, 2, 1, 0], [5, 6, 7, 8, 9], *SIDES]),
        *(2.5 * np.sin(0.4 * np.pi), 5 * np.sin(0.4 * np.pi) + 10 * np.sin(np.pi / 5), 16),
    ),
}


@pytest.mark.parametrize("name", POLYGONS)
def test_polygons_of_any_and_of_several_numbers_of_corners(tmp_path: Path, name: str):
    corners, faces, volume, area, count = POLYGONS[name]
    for file, data in {
        "a.obj": made.obj(corners, faces),
        "a.off": made.off(corners, faces),
        "text.ply": made.ply(corners, faces),
        "little.ply": made.ply(corners, faces, kind="binary_little_endian"),
        "big.ply": made.ply(corners, faces, kind="binary_big_endian"),
    }.items():
        mesh = load(written(tmp_path / file, data)).mesh()
        assert len(mesh.faces) == count and mesh.is_watertight, file
        assert mesh.volume == pytest.approx(volume) and mesh.area == pytest.approx(area), file
        np.testing.assert_allclose(
            mesh.bounds, [corners.min(axis=0), corners.max(axis=0)], atol=1e-6
        )


def test_lists_of_several_lengths_that_come_to_the_length_of_equal_ones(tmp_path: Path):
    """A pentagon and a triangle take as many bytes as two squares."""
    corners = np.array([[0.0, 0, 0], [2, 0, 0], [2, 1, 0], [1, 2, 0], [0, 1, 0], [0, 0, 3]])
    for faces in ([[0, 1, 2, 3], [0, 1, 2, 3, 4], [0, 1, 5]], [[0, 1, 2, 3, 4], [0, 1, 5]]):
        expected = {3: 3.0, 4: 2.5, 5: 3.0}
        data = made.ply(corners, faces, kind="binary_little_endian")
        mesh = load(written(tmp_path / "a.ply", data)).mesh()
        assert mesh.area == pytest.approx(sum(expected[len(face)] for face in faces))


def test_colors_of_polygons_are_told_of(tmp_path: Path):
    head, _, body = made.ply(CUBE, SQUARES).decode().partition("end_header\n")
    rows = body.splitlines()
    rows[8:] = [f"{row} 255 0 0" for row in rows[8:]]
    colors = "".join(f"property uchar {c}\n" for c in ("red", "green", "blue"))
    text = f"{head}{colors}end_header\n" + "\n".join([*rows, ""])
    loaded = load(written(tmp_path / "a.ply", text.encode()))
    assert loaded.mesh().volume == pytest.approx(1) and loaded.parts[0].rgba is None
    assert "a.ply" in loaded.left_out[0] and "more than 3 corners" in loaded.left_out[0]


@pytest.mark.parametrize(("first", "second"), [(2, 4), (4, 2), (4, 4), (0, 6)])
def test_facets_of_a_text_stl_with_other_corners_than_three(
    tmp_path: Path, first: int, second: int
):
    lines = made.ascii_stl().decode().splitlines()
    corners = [line for line in lines if line.startswith("vertex")]
    facets = [corners[:first], (corners * 2)[first : first + second], corners[6:9]]
    text = "solid body\n"
    for facet in facets:
        loop = "\n".join(facet)
        text += f"facet normal 0 0 0\nouter loop\n{loop}\nendloop\nendfacet\n"
    path = written(tmp_path / "a.stl", f"{text}endsolid body\n".encode())
    refused(path, f"facet 1 has {first} corners")


def test_text_stl_cut_off(tmp_path: Path):
    whole = made.ascii_stl()
    for end in (whole.rindex(b"endsolid"), whole.rindex(b"endfacet"), whole.rindex(b"vertex")):
        refused(written(tmp_path / "a.stl", whole[:end]), "has no end")
        refused(written(tmp_path / "b.stl", whole + whole[:end]), "has no end")
    lacking = whole.replace(b"vertex 0.0 2.0 0.0", b"vertex 0.0 2.0", 1)
    refused(written(tmp_path / "c.stl", lacking), "facet 1 has 2 corners of three numbers")


def test_off_with_fewer_lines_than_it_claims(tmp_path: Path):
    for data in (made.off().replace(b"4 4 0", b"4 5 0"), made.off().rpartition(b"3 1 2 3")[0]):
        refused(written(tmp_path / "a.off", data), "faces, but")


def test_strips_of_ply_are_not_left_out(tmp_path: Path):
    strips = b"element tristrips 1\nproperty list int int vertex_indices\nend_header"
    data = made.ply(faces=FACES[:2]).replace(b"end_header", strips) + b"5 0 3 2 1 -1\n"
    refused(written(tmp_path / "a.ply", data), "strips of triangles")


def collada(scene: str, shapes: str = "") -> bytes:
    return made.dae(f"<node>{scene}{made.instance()}</node>", shapes)


@pytest.mark.parametrize(
    ("kind", "indices", "volume", "area"),
    [("tristrips", "0 2 1 3 0 2", 1, 9), ("trifans", "0 2 1 3 2", 0, 5.5)],
)
def test_strips_and_fans_of_collada(
    tmp_path: Path, kind: str, indices: str, volume: float, area: float
):
    head, _, rest = made.geometry().replace("triangles", kind).partition("<p>")
    shape = f"{head}<p>{indices}</p>{rest.partition('</p>')[2]}"
    mesh = load(written(tmp_path / "a.dae", made.dae(shapes=shape))).mesh()
    assert mesh.area == pytest.approx(area) and mesh.is_watertight is bool(volume)
    assert not volume or mesh.volume == pytest.approx(volume)


def test_accessors_of_collada_with_stride_offset_and_unnamed_numbers(tmp_path: Path):
    wide = np.column_stack([CORNERS, np.full(4, 7.0)])
    strided = made.geometry(corners=wide).replace('stride="3"', 'stride="4"')
    later = made.geometry(corners=np.vstack([[9, 9, 9], CORNERS])).replace(
        'count="5" stride="3"', 'count="4" stride="3" offset="3"'
    )
    unnamed = made.geometry(corners=wide[:, [3, 0, 1, 2]]).replace('stride="3"', 'stride="4"')
    unnamed = unnamed.replace('<param name="X"', '<param type="float"/><param name="X"')
    for shape in (strided, later, unnamed):
        same(load(written(tmp_path / "a.dae", made.dae(shapes=shape))).mesh(), CORNERS)
    for shape, said in (
        (made.geometry().replace('stride="3"', 'stride="2"'), "3 of every 2"),
        (made.geometry().replace('stride="3"', 'stride="3" offset="-3"'), "from -3 on"),
        (made.geometry().replace('accessor source="#body-a"', 'accessor source="b.dae#x"'), "b.da"),
    ):
        refused(written(tmp_path / "b.dae", made.dae(shapes=shape)), said)


@pytest.mark.parametrize(
    ("pose", "said"),
    [
        ("<skew>30 1 0 0 0 1 0</skew>", "<skew>"),
        ("<lookat>1 2 3 0 0 0 0 0 1</lookat>", "<lookat>"),
        ("<matrix>1 0 0 0 0 1 0 0</matrix>", "matrix"),
        ("<matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 x 1</matrix>", "matrix"),
        ("<translate>1 0</translate>", "three"),
        ("<rotate>0 0 1</rotate>", "four"),
        ("<scale>2</scale>", "three"),
        ('<instance_geometry url="other.dae#body"/>', "other.dae#body"),
        ('<instance_geometry url="#gone"/>', "#gone"),
        ('<instance_node url="other.dae#body"/>', "other.dae#body"),
        ('<instance_node url="#gone"/>', "#gone"),
        ('<node><instance_node url="#gone"/></node>', "#gone"),
    ],
)
def test_poses_and_instances_of_collada_that_cannot_be_had(tmp_path: Path, pose: str, said: str):
    refused(written(tmp_path / "a.dae", collada(pose)), said)


def test_what_is_no_shape_costs_none(tmp_path: Path):
    """A camera that is looked through from a place, and lights that are not there."""
    camera = '<node><lookat>1 2 3 0 0 0 0 0 1</lookat><instance_camera url="#gone"/></node>'
    loaded = load(written(tmp_path / "a.dae", collada(f'{camera}<instance_light url="#gone"/>')))
    same(loaded.mesh(), CORNERS)
    assert loaded.left_out == ()


def test_collada_without_a_scene(tmp_path: Path):
    data = made.dae().replace(b'<scene><instance_visual_scene url="#s"/></scene>', b"")
    refused(written(tmp_path / "a.dae", data), "no <scene>")
    refused(written(tmp_path / "b.dae", made.dae().replace(b'url="#s"', b'url="#t"')), "no <scene>")


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_gltf_without_scenes_shows_its_nodes(tmp_path: Path, suffix: str):
    def path(**more: object) -> Path:
        tree, data = made.gltf_tree(**more)
        tree = {key: value for key, value in tree.items() if value is not None}
        text = made.glb(tree, data) if suffix == ".glb" else made.gltf(tree, data)
        return written(tmp_path / f"a{suffix}", text)

    moved = [{"children": [1], "translation": [1, 2, 3]}, {"mesh": 0}]
    there = CORNERS + np.array([1, 2, 3])
    for scenes in (None, []):
        same(load(path(scenes=scenes, scene=None, nodes=moved)).mesh(), there)
    same(load(path(scenes=None, scene=None, nodes=None)).mesh(), CORNERS)
    same(load(path(scenes=[{}, {"nodes": [0]}], scene=1, nodes=moved)).mesh(), there)
    refused(path(scenes=[{}]), "no faces")  # it says itself that it shows nothing


@pytest.mark.parametrize("mode", [0, 1, 3])
def test_gltf_nodes_below_points_and_lines_stay(tmp_path: Path, mode: int):
    nodes = [{"mesh": 1, "children": [1], "translation": [1, 2, 3]}, {"mesh": 0}]
    tree, data = made.gltf_tree(nodes=nodes)
    tree["meshes"].append({"primitives": [{"attributes": {"POSITION": 0}, "mode": mode}]})
    same(
        load(written(tmp_path / "a.glb", made.glb(tree, data))).mesh(),
        CORNERS + np.array([1, 2, 3]),
    )


def test_binary_stl_that_looks_like_text_and_with_bytes_behind(tmp_path: Path):
    for data in (made.stl(header=b"solid facet body"), made.stl() + b"made by x"):
        same(load(written(tmp_path / "a.stl", data)).mesh(), CORNERS)


def test_off_with_comments_and_counts_on_the_first_line(tmp_path: Path):
    body = made.off().decode().split("\n", 1)[1]
    for text in (f"# a\nOFF # b\n\n# c\n{body}", f"OFF {body}"):
        same(load(written(tmp_path / "a.off", text.encode())).mesh(), CORNERS)


# Each file once


def count_readings(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    seen: list[Path] = []
    real = load_module.parts_of
    monkeypatch.setattr(
        load_module,
        "parts_of",
        lambda file, path, found: (seen.append(path), real(file, path, found))[1],
    )
    return seen


def test_a_file_is_read_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    seen = count_readings(monkeypatch)
    path = written(tmp_path / "a.stl", made.stl())
    for _ in range(3):
        same(load(path).mesh(), CORNERS)
    assert len(seen) == 1
    written(path, made.stl(2 * CORNERS))
    os.utime(path, ns=(1, 1))
    same(load(path).mesh(), 2 * CORNERS)
    assert len(seen) == 2
    if os.name != "nt":
        (tmp_path / "b.stl").symlink_to(path)
        load(tmp_path / "b.stl")
        assert len(seen) == 2


def test_a_changed_material_is_seen(tmp_path: Path):
    text = made.obj(before="mtllib a.mtl\nusemtl m")
    path = written(tmp_path / "a.obj", text)
    assert load(path).parts[0].rgba is None
    for red in (1.0, 0.2):
        written(tmp_path / "a.mtl", f"newmtl m\nKd {red} 0 0\n# {red}".encode())
        forget() if red == 1.0 else None  # a new file beside it is not looked for, a changed one is
        assert load(path).parts[0].rgba == (red, 0, 0, 1)


def test_what_is_handed_out_is_not_shared(tmp_path: Path):
    path = written(tmp_path / "a.dae", made.dae(up="<up_axis>Y_UP</up_axis>"))
    first = load(path)
    first.parts[0].mesh.apply_scale(5)
    first.parts[0].mesh.visual.face_colors = [255, 0, 0, 255]
    first.parts[0].mesh.metadata["x"] = 1
    second = load(path)
    same(second.mesh(), CORNERS)
    assert "x" not in second.parts[0].mesh.metadata
    assert first.parts[0].mesh is not second.parts[0].mesh
    with pytest.raises(AttributeError):
        first.parts = ()


def test_what_is_kept_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    seen = count_readings(monkeypatch)
    monkeypatch.setattr(module, "MOST_KEPT", 2000)
    paths = [written(tmp_path / f"{k}.stl", made.stl(CORNERS * (k + 1))) for k in range(20)]
    for path in paths:
        load(path)
    load(paths[-1])
    assert len(seen) == 20  # the last one was kept
    load(paths[0])
    assert len(seen) == 21  # the first one was not


def test_threads(tmp_path: Path):
    paths = [written(tmp_path / f"{k}.stl", made.stl(CORNERS * (k + 1))) for k in range(5)]
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        g = np.random.default_rng(seed)
        try:
            for k in g.integers(0, 5, size=40):
                loaded = load(paths[k])
                np.testing.assert_allclose(
                    loaded.parts[0].mesh.bounds[1], (k + 1) * CORNERS.max(axis=0)
                )
                loaded.parts[0].mesh.apply_scale(7)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures


# What is refused


def refused(path: Path, part: str) -> None:
    with pytest.raises(InputError) as caught:
        load(path)
    assert path.name in str(caught.value) and part in str(caught.value), caught.value
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", sorted(MESH_SUFFIXES))
def test_empty_files(tmp_path: Path, suffix: str):
    refused(written(tmp_path / f"a{suffix}", b""), "the file is empty")
    refused(written(tmp_path / f"b{suffix}", b" \n\t "), "")


def test_files_without_faces(tmp_path: Path):
    for name, data in (
        ("a.stl", made.stl(faces=[])),
        ("b.stl", made.ascii_stl(faces=[])),
        ("a.obj", made.obj(faces=[])),
        ("a.ply", made.ply(faces=[])),
        ("a.off", made.off(faces=[])),
        ("a.dae", made.dae(scene="<node/>")),
        ("a.glb", made.glb(*made.gltf_tree(nodes=[{}]))),
    ):
        refused(written(tmp_path / name, data), "")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_counted(tmp_path: Path, value: float):
    corners = CORNERS.copy()
    corners[1, 2] = value
    for name, data in (
        ("a.stl", made.stl(corners)),
        ("b.stl", made.ascii_stl(corners)),
        ("a.obj", made.obj(corners)),
        ("a.ply", made.ply(corners, kind="binary_little_endian")),
        ("a.off", made.off(corners)),
        ("a.dae", made.dae(shapes=made.geometry(corners=corners))),
        ("a.glb", made.glb(*made.gltf_tree(corners))),
    ):
        refused(written(tmp_path / name, data), "not finite")


def test_faces_without_their_vertices(tmp_path: Path):
    for wrong in (4, 2**31 - 1, 10**9):
        faces = FACES.copy()
        faces[2, 1] = wrong
        for name, data in (
            ("a.obj", made.obj(faces=faces)),
            ("a.ply", made.ply(faces=faces)),
            ("b.ply", made.ply(faces=faces, kind="binary_little_endian")),
            ("a.off", made.off(faces=faces)),
            ("a.dae", made.dae(shapes=made.geometry(faces=faces))),
            ("a.glb", made.glb(*made.gltf_tree(faces=faces))),
        ):
            refused(written(tmp_path / name, data), "")


def test_what_collada_has_and_is_not_read(tmp_path: Path):
    spline = made.geometry().replace("mesh>", "spline>")
    refused(written(tmp_path / "a.dae", made.dae(shapes=spline)), "cannot be read as dae")
    refused(written(tmp_path / "b.dae", made.dae(unit='<unit meter="0"/>')), "unit is '0'")
    refused(written(tmp_path / "c.dae", made.dae(unit='<unit meter="x"/>')), "unit is 'x'")
    skin = '<node><instance_controller url="#c"/></node>'
    refused(written(tmp_path / "d.dae", made.dae(skin)), "instance_controller")
    half = made.dae(
        "".join(f"<node>{made.instance(n)}</node>" for n in ("body", "bad")),
        made.geometry() + made.geometry("bad").replace("#bad-p", "#gone"),
    )
    refused(written(tmp_path / "e.dae", half), "")
    refused(written(tmp_path / "f.dae", b"<robot/>"), "first element is <robot>")
    refused(written(tmp_path / "g.dae", made.dae()[:-30]), "no XML")


def test_what_gltf_has_and_is_not_read(tmp_path: Path):
    tree, data = made.gltf_tree(extensionsRequired=["KHR_draco_mesh_compression"])
    refused(written(tmp_path / "a.glb", made.glb(tree, data)), "KHR_draco_mesh_compression")
    tree, data = made.gltf_tree()
    tree["accessors"][0]["sparse"] = {"count": 1}
    refused(written(tmp_path / "b.glb", made.glb(tree, data)), "sparse")
    tree, data = made.gltf_tree()
    tree["meshes"][0]["primitives"][0]["mode"] = 6
    refused(written(tmp_path / "c.glb", made.glb(tree, data)), "mode 6")
    tree, data = made.gltf_tree(asset={"version": "1.0"})
    refused(written(tmp_path / "d.glb", made.glb(tree, data)), "version 1.0")


def test_other_suffixes_and_no_file(tmp_path: Path):
    for name in ("a.3mf", "a.step", "a", "a.stl.txt", "a.pkl"):
        refused(written(tmp_path / name, made.stl()), "no mesh by its name")
    refused(tmp_path / "none.stl", "No such file")
    (tmp_path / "folder.stl").mkdir()
    refused(tmp_path / "folder.stl", "no regular file")


# Packages


def test_importing_opens_no_other_package():
    code = (
        "import sys, linkwork.geometry.load, "
        "linkwork.geometry.material_files, linkwork.geometry.properties, "
        "linkwork.geometry.volumes\n"
        "print([n for n in ('trimesh', 'collada', 'PIL', 'scipy', 'networkx') if n in sys.modules])"
    )
    assert python(code) == "[]"


@pytest.mark.parametrize(
    ("package", "file", "named"),
    [
        ("collada", "a.dae", "pycollada"),
        ("trimesh", "a.stl", "trimesh"),
        ("PIL", "a.obj", "pillow"),
    ],
)
def test_a_missing_package_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, file: str, named: str
):
    written(tmp_path / "a.dae", made.dae())
    written(tmp_path / "a.stl", made.stl())
    text = (
        "mtllib a.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n"
    )
    written(tmp_path / "a.obj", text.encode())
    written(tmp_path / "a.mtl", b"newmtl m\nmap_Kd a.png\n")
    written(tmp_path / "a.png", made.png())
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"{named}.*linkwork\[meshes\]"):
        load(tmp_path / file)


# ---- Parts of mesh files: looked at before they are used, placed once, with their materials


def read(data: bytes, name: str, folder: Path = Path("nowhere")) -> list[MeshPart]:
    path = folder / name
    return parts_of(data, path, Resolver(path, ()))


def raw(monkeypatch: pytest.MonkeyPatch, **arrays: Any) -> list[MeshPart]:
    """The pieces where trimesh's reader gives these arrays."""
    monkeypatch.setitem(
        trimesh.exchange.load.mesh_loaders, "stl", lambda **_: {"geometry": {"body": arrays}}
    )
    return read(b"", "a.stl")


def test_names_are_those_of_the_file_or_its_own():
    assert read(made.stl(), "arm.stl")[0].name == "arm"
    assert read(made.glb(), "a.glb")[0].name == "body"
    assert read(made.dae(), "a.dae")[0].name == "body"


def test_nothing_is_rounded_where_nothing_moves():
    corners = CORNERS * 0.1 + 1e-17
    piece = MeshPart(trimesh.Trimesh(corners, FACES, process=False), "a", np.eye(4), Material())
    piece.settle(np.eye(4), Path("a.stl"))
    np.testing.assert_array_equal(piece.mesh.vertices, corners)


def test_a_pose_that_throws_a_piece_to_infinity_is_refused():
    far = np.diag([1e300, 1, 1, 1])
    piece = MeshPart(trimesh.Trimesh(CORNERS, FACES, process=False), "a", far, Material())
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy's, of numbers that become too large
        with pytest.raises(InputError, match=r"a\.dae.*not finite where the file puts them"):
            piece.settle(far, Path("a.dae"))


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"vertices": CORNERS, "faces": FACES + 1}, "vertex 4, and there are 4"),
        ({"vertices": CORNERS, "faces": FACES - 1}, "vertex -1, and there are 4"),
        ({"vertices": CORNERS[:, :2], "faces": FACES}, r"shape \(4, 2\)"),
        ({"vertices": CORNERS, "faces": FACES.ravel()}, r"shape \(12,\)"),
        ({"vertices": np.where(CORNERS == 3, np.nan, CORNERS), "faces": FACES}, "1 of 4 vertices"),
        ({"vertices": np.full((1200, 3), np.inf), "faces": FACES}, "1,200 of 1,200 vertices"),
    ],
)
def test_arrays_are_looked_at_before_trimesh_mends_them(
    monkeypatch: pytest.MonkeyPatch, arrays: dict[str, Any], said: str
):
    with pytest.raises(InputError, match=rf"a\.stl.*{said}"):
        raw(monkeypatch, **arrays)


# materials: to each part its own, with the picture's file

CORNERS_AND_UV = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n"
FACE = "f 1/1 2/2 3/3\n"


def obj(folder: Path, mtl: str, library: str = "m.mtl", name: str = "a.obj") -> Path:
    written(folder / library.replace("\\", "/"), mtl.encode())
    text = f"mtllib {library}\n{CORNERS_AND_UV}usemtl m\n{FACE}"
    return written(folder / name, text.encode())


@pytest.mark.parametrize(
    ("lines", "rgba"),
    [
        ("Kd 1 0 0.2", (1, 0, 0.2, 1)),
        ("Kd 1 0 0.2\nd 0.4", (1, 0, 0.2, 0.4)),
        ("d 0.4\nKd 1 0 0.2", (1, 0, 0.2, 0.4)),
        ("Kd 1 0 0.2\nTr 0.6", (1, 0, 0.2, 0.4)),
        ("Kd 1 0 0.2\nd 1\nTr 1", (1, 0, 0.2, 1)),
        ("Kd 1 0 0.2\nTr 1", (1, 0, 0.2, 1)),  # some write it for opaque
        ("Kd 1 0 0.2\nd 0", (1, 0, 0.2, 1)),
        ("Kd 1 0 0.2\nd 7", (1, 0, 0.2, 1)),
        ("Kd 1 0 0.2\nd x", (1, 0, 0.2, 1)),
    ],
)
def test_colors_of_obj(tmp_path: Path, lines: str, rgba: tuple[float, ...]):
    loaded = load(obj(tmp_path, f"newmtl other\nKd 0 0 0\nnewmtl m\n{lines}\n"))
    np.testing.assert_allclose(loaded.parts[0].rgba, rgba, atol=1e-12)
    assert not loaded.left_out


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("skin.png", "skin.png"),
        ("textures/skin.png", "textures/skin.png"),
        ("textures\\skin.png", "textures/skin.png"),
        ("./skin.png", "skin.png"),
        ("my skin.png", "my skin.png"),
        ("-s 1 1 1 skin.png", "skin.png"),
        ("-clamp on -bm 0.5 my skin.png", "my skin.png"),
        ("skin%20of%20mine.png", "skin of mine.png"),
    ],
)
def test_textures_of_obj(tmp_path: Path, line: str, file: str):
    picture = written(tmp_path / file, made.png(3, 5))
    for key in ("map_Kd", "map_kd", " map_Kd"):
        forget()
        part = load(obj(tmp_path, f"newmtl m\n{key} {line}\n")).parts[0]
        assert part.texture == picture
        assert part.mesh.visual.material.image.size == (3, 5)
        assert part.mesh.visual.uv.shape == (3, 2)


def test_a_texture_beside_the_material_file(tmp_path: Path):
    picture = written(tmp_path / "mat/skin.png", made.png())
    for library in ("mat/m.mtl", "mat\\m.mtl"):
        forget()
        assert (
            load(obj(tmp_path, "newmtl m\nmap_Kd skin.png\n", library)).parts[0].texture == picture
        )


def test_several_material_files(tmp_path: Path):
    written(tmp_path / "a.mtl", b"newmtl a\nKd 1 0 0\n")
    written(tmp_path / "b b.mtl", b"newmtl b\nKd 0 1 0\n")
    written(tmp_path / "c.mtl", b"newmtl c\nKd 0 0 1\n")
    text = f"# mtllib x.mtl\nmtllib a.mtl c.mtl\nmtllib b b.mtl\n{CORNERS_AND_UV}"
    text += "".join(f"usemtl {name}\n{FACE}" for name in "abc")
    loaded = load(written(tmp_path / "a.obj", text.encode()))
    assert [p.rgba for p in loaded.parts] == [(1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)]
    assert not loaded.left_out


def test_what_is_missing_or_outside_is_left_out(tmp_path: Path):
    folder = tmp_path / "robot/meshes"
    written(tmp_path / "robot/skin.png", made.png())
    written(tmp_path / "robot/out.mtl", b"newmtl m\nKd 1 0 0\n")
    for mtl, part in (
        ("newmtl m\nmap_Kd none.png", "not there"),
        ("newmtl m\nmap_Kd ../skin.png", "outside"),
        ("newmtl m\nmap_Kd http://127.0.0.1/skin.png", "nothing is fetched"),
        ("newmtl m\nmap_Kd C:\\skin.png", "no path beside"),
        ("newmtl m\nmap_Kd skin.exe", "no such file by its name"),
    ):
        loaded = load(obj(folder, mtl))
        assert len(loaded.left_out) == 1 and part in loaded.left_out[0]
        assert loaded.parts[0].texture is None
    path = written(
        folder / "b.obj", f"mtllib ../out.mtl\n{CORNERS_AND_UV}usemtl m\n{FACE}".encode()
    )
    assert load(path).parts[0].rgba is None and "outside" in load(path).left_out[0]
    assert load(path, roots=[tmp_path / "robot"]).parts[0].rgba == (1, 0, 0, 1)
    path = obj(folder, "newmtl m\nmap_Kd ../skin.png")
    assert load(path, roots=[tmp_path / "robot"]).parts[0].texture == tmp_path / "robot/skin.png"
    assert load(path).parts[0].texture is None  # kept apart


def test_a_picture_that_is_none_is_left_out(tmp_path: Path):
    written(tmp_path / "skin.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    loaded = load(obj(tmp_path, "newmtl m\nKd 1 0 0\nmap_Kd skin.png\n"))
    assert "no image" in loaded.left_out[0] and loaded.parts[0].rgba == (1, 0, 0, 1)


def test_colors_and_textures_of_collada(tmp_path: Path):
    shapes = made.geometry(material="m")
    scene = f"<node>{made.instance(material='m')}</node>"
    for color, rgba in (("1 0 0.2 1", (1, 0, 0.2, 1)), ("0.2 0.4 0.6 1", (0.2, 0.4, 0.6, 1))):
        libraries = made.material("m", f"<color>{color}</color>")
        part = load(
            written(tmp_path / "a.dae", made.dae(scene, shapes, libraries=libraries))
        ).parts[0]
        np.testing.assert_allclose(part.rgba, rgba, atol=1e-9)
        forget()
    picture = written(tmp_path / "tex/skin.png", made.png(4, 2))
    effect = """<library_images><image id="i"><init_from>tex/skin.png</init_from></image>
      </library_images><library_effects><effect id="m-e"><profile_COMMON>
      <newparam sid="f"><surface type="2D"><init_from>i</init_from></surface></newparam>
      <newparam sid="p"><sampler2D><source>f</source></sampler2D></newparam>
      <technique sid="c"><phong><diffuse><texture texture="p" texcoord="U"/></diffuse></phong>
      </technique></profile_COMMON></effect></library_effects><library_materials>
      <material id="m"><instance_effect url="#m-e"/></material></library_materials>"""
    path = written(tmp_path / "b.dae", made.dae(scene, shapes, libraries=effect))
    part = load(path).parts[0]
    assert part.texture == picture
    assert part.mesh.visual.material.baseColorTexture.size == (4, 2)
    picture.unlink()
    assert load(path).parts[0].texture is None and "not there" in load(path).left_out[0]


def textured_gltf(image: dict[str, object], **more: object) -> tuple[dict[str, object], bytes]:
    tree, data = made.gltf_tree(
        images=[image],
        textures=[{"source": 0}],
        materials=[
            {
                "pbrMetallicRoughness": {
                    "baseColorFactor": [1, 0.2, 0, 0.4],
                    "baseColorTexture": {"index": 0},
                }
            }
        ],
        **more,
    )
    tree["meshes"][0]["primitives"][0]["material"] = 0
    return tree, data


def test_colors_and_textures_of_gltf(tmp_path: Path):
    tree, data = textured_gltf({"uri": "skin.png"})
    picture = written(tmp_path / "skin.png", made.png(4, 2))
    written(tmp_path / "a.bin", data)
    part = load(written(tmp_path / "a.gltf", made.gltf(tree, data, "a.bin"))).parts[0]
    np.testing.assert_allclose(part.rgba, (1, 0.2, 0, 0.4), atol=1e-9)
    assert part.texture == picture
    assert part.mesh.visual.material.baseColorTexture.size == (4, 2)
    inside = made.png(7, 3)
    tree, data = textured_gltf({"uri": "data:image/png;base64," + b64encode(inside).decode()})
    part = load(written(tmp_path / "b.glb", made.glb(tree, data))).parts[0]
    assert part.texture is None and part.mesh.visual.material.baseColorTexture.size == (7, 3)
    tree, data = textured_gltf({"bufferView": 2, "mimeType": "image/png"})
    tree["bufferViews"].append({"buffer": 0, "byteOffset": len(data), "byteLength": len(inside)})
    tree["buffers"][0]["byteLength"] += len(inside)
    part = load(written(tmp_path / "c.glb", made.glb(tree, data + inside))).parts[0]
    assert part.texture is None and part.mesh.visual.material.baseColorTexture.size == (7, 3)


def test_a_material_of_gltf_without_a_colour_is_white(tmp_path: Path):
    tree, data = made.gltf_tree(materials=[{}])
    tree["meshes"][0]["primitives"][0]["material"] = 0
    assert load(written(tmp_path / "a.glb", made.glb(tree, data))).parts[0].rgba == (1, 1, 1, 1)
    assert load(written(tmp_path / "b.glb", made.glb())).parts[0].rgba is None


def test_colors_of_vertices(tmp_path: Path):
    header = "property uchar red\nproperty uchar green\nproperty uchar blue\nelement face"
    lines = made.ply().decode().replace("element face", header).split("\n")
    at = lines.index("end_header") + 1
    for colors, rgba in ((["255 0 51"] * 4, (1, 0, 0.2, 1)), (["1 2 3", "4 5 6"] * 2, None)):
        body = [f"{c} {color}" for c, color in zip(lines[at : at + 4], colors, strict=True)]
        text = "\n".join([*lines[:at], *body, *lines[at + 4 :]])
        part = load(written(tmp_path / "a.ply", text.encode())).parts[0]
        assert part.rgba == pytest.approx(rgba) if rgba else part.rgba is None
        assert part.mesh.visual.kind == "vertex"
        forget()


def test_the_texture_of_a_ply_file(tmp_path: Path):
    picture = written(tmp_path / "skin.png", made.png())
    texture = "property float s\nproperty float t\nelement face"
    lines = made.ply(extra="comment TextureFile skin.png\n").decode()
    lines = lines.replace("element face", texture).split("\n")
    at = lines.index("end_header") + 1
    lines[at : at + 4] = [f"{line} 0.5 0.5" for line in lines[at : at + 4]]
    assert load(written(tmp_path / "a.ply", "\n".join(lines).encode())).parts[0].texture == picture


def test_joined_colors_are_those_of_the_pieces(tmp_path: Path):
    text = f"mtllib m.mtl\n{CORNERS_AND_UV}usemtl a\n{FACE}usemtl b\n{FACE}usemtl none\n{FACE}"
    written(tmp_path / "m.mtl", b"newmtl a\nKd 1 0 0\nnewmtl b\nKd 0 1 0\nd 0.4\n")
    mesh = load(written(tmp_path / "a.obj", text.encode())).mesh()
    assert mesh.visual.face_colors.tolist()[:2] == [[255, 0, 0, 255], [0, 255, 0, 102]]
    plain = load(written(tmp_path / "b.stl", made.stl())).mesh()
    assert plain.visual.kind is None


def test_pictures_are_not_shared(tmp_path: Path):
    written(tmp_path / "skin.png", made.png())
    path = obj(tmp_path, "newmtl m\nmap_Kd skin.png\n")
    first, second = (load(path).parts[0].mesh.visual.material for _ in range(2))
    first.image.putpixel((0, 0), 7)
    assert second.image.getpixel((0, 0)) == 128 and first.image.getpixel((0, 0)) == 7
    first.diffuse[0] = 9
    assert load(path).parts[0].mesh.visual.material.diffuse[0] != 9


# ---- Meshes of real robots: what a link shows and what it bumps into are at one place


def box(shapes: Any, file: Path, axes: Any) -> np.ndarray:
    """The box (2, 3) around the meshes of a link, in its frame."""
    points: list[np.ndarray] = []
    for shape in shapes:
        path = locate(shape.geometry.filename, file)
        corners = np.asarray(load(path, axes=axes).mesh().vertices) * shape.geometry.scale
        points.append(corners @ rotation_from_rpy(shape.rpy).T + np.asarray(shape.xyz))
    return np.stack([np.vstack(points).min(axis=0), np.vstack(points).max(axis=0)])


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    """What two boxes have in common, as a part of what they cover together."""
    edges = np.minimum(a[1], b[1]) - np.maximum(a[0], b[0])
    common = float(np.prod(np.clip(edges, 0, None)))
    return common / float(np.prod(a[1] - a[0]) + np.prod(b[1] - b[0]) - common)


@pytest.mark.parametrize(
    ("name", "links"),
    [
        ("baxter", ["torso"]),
        ("tiago", ["torso_lift_link", "head_1_link", "arm_1_link", "arm_3_link"]),
        ("tiago_dual", ["arm_left_5_link", "arm_left_6_link"]),
    ],
)
def test_what_is_shown_is_where_it_bumps(name: str, links: list[str]):
    file = example_robot_urdf(name)
    document = description(file)
    robot = loaded(document)
    for link in document.robot.links:
        if link.name not in links:
            continue
        shapes = [*link.visuals, *link.collisions]
        assert shapes and all(isinstance(shape.geometry, records.Mesh) for shape in shapes)
        shown, bumped = (
            robot.link_mesh(link.name, kind).bounds for kind in ("visual", "collision")
        )
        assert overlap(shown, bumped) > 0.95, link.name
        # and the comparison can tell: turned, they are apart
        turned = (box(s, file, "declared") for s in (link.visuals, link.collisions))
        assert overlap(*turned) < 0.6, link.name
        links = [other for other in links if other != link.name]
    assert not links, f"no link of this name: {links}"
