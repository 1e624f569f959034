"""Links, and what they are made of: shapes, meshes, colours, textures."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from linkwork.faces.urdfpy import (
    URDF,
    Box,
    Capsule,
    Collision,
    Cylinder,
    Geometry,
    Inertial,
    Joint,
    Link,
    Material,
    Mesh,
    Sphere,
    Texture,
    Visual,
)
from robots import origin
from seeds import rng

# shapes


trimesh = pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is not installed")


@pytest.fixture(name="cube")
def _cube(tmp_path: Path) -> Path:
    path = tmp_path / "meshes" / "cube.stl"
    path.parent.mkdir()
    trimesh.creation.box((1, 2, 3)).export(path)
    return path


@pytest.mark.parametrize(
    ("kind", "given", "half", "vertices", "changes"),
    [
        pytest.param(
            Box, {"size": [1, 2, 3]}, [0.5, 1, 1.5], 8, {"size": [2, 4, 6]},
            marks=pytest.mark.row("S2-040", "S2-041", "S2-042"),
        ),
        pytest.param(
            Cylinder, {"radius": 0.5, "length": 2}, [0.5, 0.5, 1], 66, {"radius": 1, "length": 4},
            marks=pytest.mark.row("S2-043", "S2-044", "S2-045", "S2-046"),
        ),
        pytest.param(
            Sphere, {"radius": 2}, [2, 2, 2], 642, {"radius": 4},
            marks=pytest.mark.row("S2-047", "S2-048", "S2-049"),
        ),
        (Capsule, {"radius": 1, "length": 2}, [1, 1, 2], None, {"radius": 2, "length": 4}),
    ],
)  # fmt: skip
def test_a_primitive_is_centred_and_its_mesh_follows_its_numbers(
    kind, given, half, vertices, changes
):
    shape = kind(**given)
    (mesh,) = shape.meshes
    assert isinstance(mesh, trimesh.Trimesh) and shape.meshes[0] is mesh
    assert vertices is None or len(mesh.vertices) == vertices
    assert np.allclose(mesh.bounds, [np.negative(half), half], atol=0.01)
    for name, value in given.items():
        for wrong, error in ((None, TypeError), (np.nan * np.array(value), ValueError)):
            with pytest.raises(error):
                setattr(shape, name, wrong)
        assert np.array_equal(getattr(shape, name), value)
    assert shape.meshes[0] is mesh
    for name, value in changes.items():
        setattr(shape, name, value)
    assert np.allclose(shape.meshes[0].extents, 2 * mesh.extents)
    negative = kind(**{name: np.negative(value) for name, value in given.items()})
    with pytest.raises(ValueError, match="a positive number is needed"):
        _ = negative.meshes


@pytest.mark.row("S2-041")
def test_a_size_may_be_changed_in_place():
    box = Box([2, 2, 2])
    assert np.allclose(box.meshes[0].extents, 2)
    box.size[0] = 4
    assert np.allclose(box.meshes[0].extents, [4, 2, 2])


@pytest.mark.row("S2-050", "S2-051")
def test_a_mesh_made_in_a_program_is_read_at_once(cube: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(cube.parent)
    mesh = Mesh("cube.stl")
    cube.unlink()
    assert mesh.filename == "cube.stl"
    assert np.allclose(mesh.meshes[0].extents, [1, 2, 3])
    with pytest.raises(ValueError, match=r"unable to load mesh 'cube\.stl'"):
        Mesh("cube.stl")


@pytest.mark.row("S2-009", "S2-011", "S2-050")
@pytest.mark.parametrize("name", ["meshes/cube.stl", "package://robot/meshes/cube.stl"])
def test_a_description_s_mesh_is_found_from_its_file(cube: Path, name: str, monkeypatch):
    monkeypatch.chdir("/")
    root = cube.parents[1]
    (root / "package.xml").write_text("<package><name>robot</name></package>")
    shape = f'<visual><geometry><mesh filename="{name}"/></geometry></visual>'
    (root / "r.urdf").write_text(f'<robot name="r"><link name="l">{shape}</link></robot>')
    mesh = URDF.load(str(root / "r.urdf")).links[0].visuals[0].geometry.mesh
    assert mesh.filename == name
    assert np.allclose(mesh.meshes[0].extents, [1, 2, 3])
    assert mesh.meshes[0] is mesh.meshes[0]


@pytest.mark.row("S2-050")
def test_a_description_s_missing_mesh_is_an_error_when_asked_for(tmp_path: Path):
    shape = '<visual><geometry><mesh filename="gone.stl"/></geometry></visual>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="l">{shape}</link></robot>')
    robot = URDF.load(str(tmp_path / "r.urdf"))
    with pytest.raises(ValueError, match=r"unable to load mesh 'gone\.stl'"):
        _ = robot.links[0].visuals[0].geometry.meshes
    with pytest.raises(ValueError, match=r"unable to load mesh 'gone\.stl'"):
        URDF.load(str(tmp_path / "r.urdf"), lazy_load_meshes=False)


@pytest.mark.row("S2-052")
def test_the_scale_is_not_part_of_the_meshes(cube: Path):
    mesh = Mesh(str(cube), scale=[2, 2, 2])
    assert mesh.scale.tolist() == [2, 2, 2]
    assert np.allclose(mesh.meshes[0].extents, [1, 2, 3])
    assert Mesh(str(cube)).scale is None
    with pytest.raises(ValueError, match="scale"):
        mesh.scale = [1, 2]
    mesh.scale = None
    assert mesh.scale is None


@pytest.mark.row("S2-053")
def test_meshes_may_be_set_to_a_path_a_mesh_or_several(cube: Path):
    ball = trimesh.creation.icosphere()
    mesh = Mesh("any.stl", meshes=ball)
    assert mesh.meshes == [ball]
    mesh.meshes = [ball, trimesh.creation.box()]
    assert len(mesh.meshes) == 2
    with pytest.raises(ValueError, match="at least one"):
        mesh.meshes = []
    for wrong in ([ball, "x"], 7):
        with pytest.raises(TypeError):
            mesh.meshes = wrong
    assert len(mesh.meshes) == 2
    mesh.meshes = str(cube)
    assert np.allclose(mesh.meshes[0].extents, [1, 2, 3])


@pytest.mark.row("S2-053")
def test_several_meshes_of_a_collision_are_one_without_colours(tmp_path: Path):
    scene = trimesh.Scene([trimesh.creation.box(), trimesh.creation.icosphere()])
    for geometry in scene.geometry.values():
        geometry.visual.face_colors = [255, 0, 0, 255]
    scene.export(tmp_path / "two.glb")
    shape = '<geometry><mesh filename="two.glb"/></geometry>'
    (tmp_path / "r.urdf").write_text(
        f'<robot name="r"><link name="l"><visual>{shape}</visual><collision>{shape}</collision>'
        "</link></robot>"
    )
    link = URDF.load(str(tmp_path / "r.urdf")).links[0]
    assert len(link.visuals[0].geometry.meshes) == 2
    (one,) = link.collisions[0].geometry.meshes
    assert len(one.faces) == sum(len(m.faces) for m in link.visuals[0].geometry.meshes)
    assert not one.visual.defined


def shapes_of_each_kind() -> dict[str, object]:
    return {
        "box": Box([1, 1, 1]),
        "cylinder": Cylinder(1, 1),
        "sphere": Sphere(1),
        "mesh": Mesh("x.stl", meshes=trimesh.creation.box()),
        "capsule": Capsule(1, 1),
    }


@pytest.mark.row("S2-054", "S2-055", "S2-056", "S2-057", "S2-058", "S2-059", "S2-060")
@pytest.mark.parametrize("kind", ["box", "cylinder", "sphere", "mesh", "capsule"])
def test_a_geometry_is_one_shape(kind: str):
    shapes = shapes_of_each_kind()
    geometry = Geometry(**{kind: shapes[kind]})
    assert getattr(geometry, kind) is shapes[kind] is geometry.geometry
    assert all(getattr(geometry, other) is None for other in shapes if other != kind)
    assert geometry.meshes[0] is shapes[kind].meshes[0]
    with pytest.raises(TypeError):
        Geometry(**{kind: "round"})
    for other, shape in shapes.items():
        if other != kind:
            with pytest.raises(TypeError):
                setattr(geometry, kind, shape)
            with pytest.raises(ValueError, match="exactly one"):
                Geometry(**{kind: shapes[kind], other: shape})
    setattr(geometry, next(other for other in shapes if other != kind), None)
    assert geometry.geometry is shapes[kind]


@pytest.mark.row("S2-054")
def test_a_geometry_without_shape_is_refused():
    with pytest.raises(ValueError, match="none"):
        Geometry()


@pytest.mark.row("S2-055", "S2-056", "S2-057", "S2-058", "S2-059", "S2-060")
@pytest.mark.parametrize("kind", ["box", "cylinder", "sphere", "mesh"])
def test_a_shape_may_be_taken_away_before_another_is_set(kind: str):
    shapes = shapes_of_each_kind()
    geometry = Geometry(**{kind: shapes[kind]})
    setattr(geometry, kind, None)
    assert all(getattr(geometry, other) is None for other in shapes)
    for use in ("geometry", "meshes"):
        with pytest.raises(ValueError, match="without a shape: set one of box"):
            getattr(geometry, use)
    geometry.sphere = Sphere(1)
    assert geometry.geometry is geometry.sphere


@pytest.mark.row("S2-055", "S2-057")
def test_to_set_another_shape_takes_the_place_of_the_first():
    geometry = Geometry(box=Box([1, 1, 1]))
    geometry.sphere = Sphere(1)
    assert geometry.box is None
    assert geometry.geometry is geometry.sphere


# materials


images = pytest.importorskip("PIL.Image", reason="Pillow (pip install pillow) is not installed")


@pytest.fixture(name="picture")
def _picture(tmp_path: Path) -> Path:
    path = tmp_path / "wood.png"
    images.new("RGB", (4, 3), (200, 100, 50)).save(path)
    return path


@pytest.mark.row("S2-065", "S2-066", "S2-067")
def test_a_texture_opens_its_file(picture: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(picture.parent)
    texture = Texture("wood.png")
    picture.unlink()
    assert texture.filename == "wood.png"
    assert texture.image.size == (4, 3)
    with pytest.raises(ValueError, match="unable to load image"):
        Texture("wood.png")


@pytest.mark.row("S2-065", "S2-067")
def test_an_image_may_be_a_path_an_array_or_an_image(picture: Path):
    texture = Texture("any.png", image=images.new("RGB", (2, 2)))
    assert texture.image.size == (2, 2)
    texture.image = np.zeros((5, 7, 3), np.uint8)
    assert texture.image.size == (7, 5)
    texture.image = str(picture)
    assert texture.image.size == (4, 3)
    for wrong in (7, [1], np.zeros((2, 2, 2, 2))):
        with pytest.raises(ValueError, match=r"Texture\.image"):
            texture.image = wrong
    assert texture.image.size == (4, 3)


@pytest.mark.row("S2-071")
def test_a_texture_may_be_given_as_a_path(picture: Path):
    material = Material("wood", texture=str(picture))
    assert isinstance(material.texture, Texture)
    assert material.texture.image.size == (4, 3)
    other = Texture("x.png", image=images.new("L", (1, 1)))
    material.texture = other
    assert material.texture is other
    with pytest.raises(ValueError, match="texture"):
        material.texture = 3
    with pytest.raises(ValueError, match=r"unable to load image 'gone\.png': image 'gone\.png' is"):
        material.texture = "gone.png"
    assert material.texture is other


TWO = """<robot name="r"><material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
<link name="a"><visual><geometry><sphere radius="1"/></geometry><material name="grey"/></visual>
<visual><geometry><sphere radius="1"/></geometry><material name="red"><color rgba="1 0 0 1"/>
</material></visual></link><link name="b"><visual><geometry><sphere radius="1"/></geometry>
<material name="red"/></visual><visual><geometry><sphere radius="1"/></geometry>
<material name=""><color rgba="0 0 1 1"/></material></visual><visual><geometry>
<sphere radius="1"/></geometry><material name=""><color rgba="0 1 0 1"/></material></visual></link>
<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>"""


@pytest.mark.row("S2-072")
def test_materials_are_shared_by_name(tmp_path: Path):
    (tmp_path / "r.urdf").write_text(TWO)
    robot = URDF.load(str(tmp_path / "r.urdf"))
    assert [material.name for material in robot.materials] == ["grey", "red"]
    a, b = (link.visuals for link in robot.links)
    assert a[0].material is robot.materials[0]
    assert a[1].material is b[0].material is robot.materials[1]
    # those without a name are their visuals' own
    assert b[1].material.color.tolist() == [0, 0, 1, 1]
    assert b[2].material.color.tolist() == [0, 1, 0, 1]


@pytest.mark.row("S2-072")
def test_two_looks_of_one_name_are_a_finding_and_the_first_counts(tmp_path: Path):
    text = TWO.replace(
        '<material name="red"/>', '<material name="red"><color rgba="0 0 1 1"/></material>'
    )
    (tmp_path / "r.urdf").write_text(text)
    robot = URDF.load(str(tmp_path / "r.urdf"))
    assert robot.links[1].visuals[0].material.color.tolist() == [1, 0, 0, 1]
    assert [finding.code for finding in robot.findings] == ["material-differs"]
    with pytest.raises(ValueError, match="looks different"):
        URDF.load(str(tmp_path / "r.urdf"), strict=True)


# link


def ball(radius: float = 1.0) -> Geometry:
    return Geometry(sphere=Sphere(radius))


def with_origin(kind: str, value: object):
    if kind == "collision":
        return Collision(None, value, ball())
    if kind == "visual":
        return Visual(ball(), origin=value)
    if kind == "joint":
        return Joint("j", "fixed", "a", "b", origin=value)
    return Inertial(1.0, np.eye(3), value)


@pytest.mark.row("S2-083", "S2-088", "S2-092", "S2-147")
@pytest.mark.parametrize("kind", ["collision", "visual", "inertial", "joint"])
def test_an_origin_is_a_matrix_six_numbers_or_none(kind: str):
    owner = with_origin(kind, None)
    assert np.array_equal(owner.origin, np.eye(4))
    row = rng(kind).uniform(-1, 1, 6)
    owner.origin = row
    expected = origin(row[:3], row[3:])
    assert np.abs(owner.origin - expected).max() < 1e-15
    assert np.abs(with_origin(kind, list(row)).origin - expected).max() < 1e-15
    given = owner.origin.copy()
    owner.origin = given
    given[0, 3] = 99.0  # what was given stays the giver's
    assert np.abs(owner.origin - expected).max() < 1e-15
    for wrong in (np.eye(3), np.zeros(7), [[1, 2], [3]], np.ones((4, 4)), np.full((4, 4), np.nan)):
        with pytest.raises(ValueError, match="origin"):
            owner.origin = wrong
    for wrong in ("here", 3.0):
        with pytest.raises(TypeError):
            owner.origin = wrong
    assert np.abs(owner.origin - expected).max() < 1e-15


@pytest.mark.row("S2-091")
@pytest.mark.parametrize("wrong", [np.diag([1.0, 1.0, -1.0]), np.diag([1.0, 1.0, 3.0])])
def test_an_inertia_that_no_body_has_is_warned_of(wrong: np.ndarray):
    with pytest.warns(UserWarning, match="no body has"):
        Inertial(1.0, wrong)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Inertial(1.0, np.diag([1.0, 1.0, 2.0]))
        Inertial(0.0, np.zeros((3, 3)))


@pytest.mark.row("S2-095")
def test_a_link_without_inertial_reads_as_one_of_1_kg_but_has_none():
    link = Link("light", None, None, None)
    assert link.inertial.mass == 1.0
    assert np.array_equal(link.inertial.inertia, np.eye(3))
    assert link.inertial is link.inertial
    assert link._to_xml(None, "").find("inertial") is None
    link.inertial.mass = 2.0  # from here on it is what the program wants
    assert link._to_xml(None, "").find("inertial/mass").get("value") == "2"


@pytest.mark.row("S2-098")
def test_the_collision_mesh_joins_all_in_the_link_s_frame():
    link = Link("l", None, None, None)
    assert link.collision_mesh is None
    cube = Mesh("cube.stl", scale=[2, 1, 1], meshes=trimesh.creation.box((1, 1, 1)))
    link.collisions = [
        Collision(None, [0, 0, 1, 0, 0, 0], Geometry(box=Box([1, 1, 1]))),
        Collision(None, [5, 0, 0, 0, 0, np.pi / 2], Geometry(mesh=cube)),
    ]
    mesh = link.collision_mesh
    assert isinstance(mesh, trimesh.Trimesh)
    assert len(mesh.faces) == 24
    assert np.allclose(mesh.bounds, [[-0.5, -1, -0.5], [5.5, 1, 1.5]])
    assert link.collision_mesh is mesh


@pytest.mark.row("S2-098")
def test_the_collision_mesh_follows_every_change():
    shape = Collision(None, None, Geometry(box=Box([1, 1, 1])))
    link = Link("l", None, None, [shape])
    top = lambda: float(link.collision_mesh.bounds[1, 2])
    assert top() == 0.5
    shape.origin[2, 3] = 1.0
    assert top() == 1.5
    shape.geometry.box.size = [1, 1, 3]
    assert top() == 2.5
    link.collisions.append(Collision(None, [0, 0, 9, 0, 0, 0], Geometry(box=Box([1, 1, 1]))))
    assert top() == 9.5
    shape.geometry = Geometry(sphere=Sphere(20))
    assert np.isclose(top(), 21.0)
