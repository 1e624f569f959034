from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linkwork.faces.urdfpy import URDF, Material, Texture

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


@pytest.mark.row("S2-065")
def test_a_description_s_image_is_opened_when_asked_for(picture: Path):
    look = f'<material name="wood"><texture filename="{picture.name}"/></material>'
    file = picture.with_name("r.urdf")
    file.write_text(f'<robot name="r">{look}<link name="l"/></robot>')
    texture = URDF.load(str(file)).materials[0].texture
    assert texture.filename == "wood.png"
    assert texture.image.size == (4, 3)


@pytest.mark.row("S2-068", "S2-069")
def test_a_material_may_be_a_name_alone():
    material = Material("plain")
    assert (material.name, material.color, material.texture) == ("plain", None, None)
    material.name = 7
    assert material.name == "7"
    with pytest.raises(TypeError):
        material.name = None


@pytest.mark.row("S2-070")
def test_a_colour_is_four_numbers_moved_into_0_to_1():
    material = Material("bright", color=[2, -1, 0.25, 1])
    assert material.color.tolist() == [1, 0, 0.25, 1]
    for wrong in ([1, 2, 3], np.zeros(5), [1, 2, 3, "x"]):
        with pytest.raises(ValueError, match="color"):
            material.color = wrong
    assert material.color.tolist() == [1, 0, 0.25, 1]
    material.color = None
    assert material.color is None


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
