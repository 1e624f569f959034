"""The face of urchin: that of urdfpy, and what it has beyond it."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from xml.etree import ElementTree as ET

import parity
import pytest

from linkwork import faces
from linkwork.faces import urchin, urdfpy
from linkwork.faces.table import FACES
from linkwork.faces.urchin import (
    Box,
    Link,
    Mesh,
    URDFType,
    URDFTypeWithMesh,
)

OF_ITS_OWN = {"Collision", "Geometry", "Link", "Mesh", "URDF", "URDFTypeWithMesh", "Visual"}


@pytest.mark.row("U-001")
def test_what_is_not_of_its_own_is_that_of_urdfpy():
    for name in set(urdfpy.__all__) - {"__version__", "urdf", "utils", "version"} - OF_ITS_OWN:
        assert getattr(urchin, name) is getattr(urdfpy, name)
    for name in OF_ITS_OWN - {"URDFTypeWithMesh"}:
        assert issubclass(getattr(urchin, name), getattr(urdfpy, name))


@pytest.mark.row("U-001")
def test_every_documented_name_of_urdfpy_is_here_too():
    entry = next(entry for entry in FACES if entry.name == "urchin")
    for row in parity.read("urdfpy").rows:
        if row.is_name and row.state != "missing":
            parity.find(entry, row.name)


@pytest.mark.row("U-002")
def test_elements_that_hold_meshes_have_a_base():
    with_meshes = {"Mesh", "Geometry", "Visual", "Collision", "Link", "URDF"}
    for name, kind in vars(urchin).items():
        if inspect.isclass(kind) and issubclass(kind, URDFType) and kind is not URDFTypeWithMesh:
            assert issubclass(kind, URDFTypeWithMesh) == (name in with_meshes)
    assert issubclass(URDFTypeWithMesh, URDFType)


@pytest.mark.row("U-003", "U-004")
def test_meshes_may_be_combined_when_they_are_read(tmp_path: Path):
    path = tmp_path / "two.glb"
    trimesh = importlib.import_module("trimesh")
    scene = trimesh.Scene([trimesh.creation.box((1, 1, 1)), trimesh.creation.icosphere(0)])
    scene.export(str(path))
    assert len(Mesh(str(path), False).meshes) == 2
    whole = Mesh(str(path), True)
    assert whole.combine is True
    assert len(whole.meshes) == 1
    assert len(whole.meshes[0].faces) == 12 + 20
    assert Mesh(str(path), combine=True, scale=[1, 2, 3]).scale.tolist() == [1, 2, 3]
    given = [Box([1, 1, 1]).meshes[0], Box([2, 2, 2]).meshes[0]]
    assert len(Mesh("made.stl", True, None, given).meshes) == 2  # as they were given


@pytest.mark.row("U-003", "U-005")
def test_a_mesh_may_be_opened_later(file: Path):
    part = str(file.parent / "part.obj")
    later = Mesh("called.obj", False, lazy_filename=part)
    assert (later.filename, later.lazy_filename) == ("called.obj", part)
    assert len(later.meshes[0].faces) == 2
    assert Mesh(part, False).lazy_filename is None
    nowhere = Mesh("called.obj", True, lazy_filename=str(file.parent / "no.obj"))
    with pytest.raises(ValueError, match=r"no\.obj"):
        _ = nowhere.meshes


@pytest.mark.row("U-006")
def test_elements_take_whether_meshes_are_opened_later(file: Path):
    node = ET.fromstring(file.read_text())[0]
    folder = str(file.parent)
    (file.parent / "part.obj").unlink()
    for lazy in ((), (None,), (True,)):
        link = Link._from_xml(node, folder, *lazy)
        assert type(link.visuals[0].geometry.mesh) is Mesh
    with pytest.raises(ValueError, match=r"part\.obj"):
        Link._from_xml(node, folder, False)


@pytest.mark.row("U-007")
@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("urchin.base", "URDFTypeWithMesh"),
        ("urchin.joint", "JointLimit"),
        ("urchin.link", "Mesh"),
        ("urchin.material", "Texture"),
        ("urchin.transmission", "Actuator"),
        ("urchin.urdf", "URDF"),
        ("urchin.utils", "load_meshes"),
        ("urchin.version", "__version__"),
    ],
)
def test_submodules_are_there_installed_and_not(module: str, name: str):
    ours = importlib.import_module(f"linkwork.faces.{module}")
    thing = getattr(ours, name)
    if hasattr(urchin, name):
        assert thing is getattr(urchin, name)
    assert getattr(urchin, module.rpartition(".")[2]) is ours
    try:
        faces.install("urchin")
        assert importlib.import_module(module) is ours
    finally:
        faces.uninstall("urchin")
