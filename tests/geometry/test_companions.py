"""What must go along when a mesh is copied: what it names, is there, and lies where it may."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import mesh_files as made
from linkwork.errors import InputError
from linkwork.geometry.companions import companions, search
from mesh_files import written


def test_obj(tmp_path: Path):
    mesh = written(tmp_path / "a.obj", made.obj(before="mtllib mat/a.mtl none.mtl\nmtllib b c.mtl"))
    first = written(tmp_path / "mat/a.mtl", b"newmtl x\nmap_Kd -s 1 1 1 tex/x.png\nmap_Kd y.jpg\n")
    second = written(tmp_path / "b c.mtl", b"newmtl y\nmap_Kd ../secret.png\nmap_Kd z.png\n")
    near = written(tmp_path / "mat/tex/x.png", made.png())
    far = written(tmp_path / "y.jpg", b"x")
    written(tmp_path.parent / "secret.png", b"x")
    found = search(mesh)
    assert found.found == (first, near, far, second)
    assert companions(str(mesh)) == found.found
    assert len(found.refused) == 3
    for name, reason in (
        ("none.mtl", "not there"),
        ("z.png", "not there"),
        ("secret.png", "outside"),
    ):
        assert any(name in text and reason in text for text in found.refused)


def test_collada(tmp_path: Path):
    images = "".join(
        f'<image id="{k}"><init_from>{name}</init_from></image>'
        for k, name in enumerate(("t/a.png", "file:///etc/b.png", "a%20b.jpg", "http://x/c.png"))
    )
    library = f"<library_images>{images}</library_images>"
    mesh = written(tmp_path / "a.dae", made.dae(libraries=library))
    first, second = written(tmp_path / "t/a.png", b"x"), written(tmp_path / "a b.jpg", b"x")
    found = search(mesh)
    assert found.found == (first, second)
    assert [("outside" in t, "fetched" in t) for t in found.refused] == [
        (True, False),
        (False, True),
    ]


def test_gltf(tmp_path: Path):
    tree, data = made.gltf_tree(images=[{"uri": "tex/a.png"}, {"uri": "data:image/png;base64,"}])
    tree["images"].pop()
    buffer = written(tmp_path / "a.bin", data)
    picture = written(tmp_path / "tex/a.png", made.png())
    mesh = written(tmp_path / "a.gltf", made.gltf(tree, data, "a.bin"))
    assert companions(mesh) == (buffer, picture)
    assert companions(written(tmp_path / "b.glb", made.glb())) == ()


def test_ply_and_formats_that_name_nothing(tmp_path: Path):
    picture = written(tmp_path / "a b.png", b"x")
    mesh = written(tmp_path / "a.ply", made.ply(extra="comment TextureFile a b.png\n"))
    assert companions(mesh) == (picture,)
    for name in ("a.stl", "a.off"):
        assert companions(written(tmp_path / name, b"not looked at")) == ()


def test_roots_open_other_folders(tmp_path: Path):
    mesh = written(tmp_path / "meshes/a.obj", made.obj(before="mtllib ../materials/a.mtl"))
    material = written(tmp_path / "materials/a.mtl", b"newmtl x\nmap_Kd skin.png\n")
    picture = written(tmp_path / "materials/skin.png", b"x")
    assert companions(mesh) == ()
    assert companions(mesh, roots=[tmp_path]) == (material, picture)
    assert companions(mesh, roots=[str(tmp_path / "materials")]) == (material, picture)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_links_are_followed_before_the_place_is_judged(tmp_path: Path):
    folder = tmp_path / "meshes"
    mesh = written(folder / "a.obj", made.obj(before="mtllib out.mtl in.mtl pipe.mtl"))
    written(tmp_path / "secret.mtl", b"newmtl x\n")
    real = written(folder / "real.mtl", b"newmtl x\n")
    (folder / "out.mtl").symlink_to(tmp_path / "secret.mtl")
    (folder / "in.mtl").symlink_to(real)
    os.mkfifo(folder / "pipe.mtl")
    found = search(mesh)
    assert found.found == (real,)
    assert any("out.mtl" in t and "outside" in t for t in found.refused)
    assert any("pipe.mtl" in t and "no regular file" in t for t in found.refused)


def test_a_mesh_that_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="no XML"):
        companions(written(tmp_path / "a.dae", b"<COLLADA"))
    with pytest.raises(InputError, match="No such file"):
        companions(tmp_path / "none.obj")
