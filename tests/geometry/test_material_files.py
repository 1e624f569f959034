"""Where files beside a mesh may be, and which must go along when the mesh is copied."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import mesh_files as made
from linkwork.errors import InputError
from linkwork.geometry.load import load
from linkwork.geometry.material_files import BUFFER_SUFFIXES, library, material_files, place
from mesh_files import written


def test_names_that_lead_inside(tmp_path: Path):
    mesh = written(tmp_path / "m/a.obj", b"")
    picture = written(tmp_path / "m/t/a b.png", b"")
    for name in (
        "t/a b.png",
        "t\\a b.png",
        "./t/../t/a b.png",
        "t/a%20b.png",
        " t/a b.png ",
        str(picture),
        picture.as_uri(),
    ):
        assert place(name, mesh) == picture


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("../a.png", "outside"),
        ("/etc/a.png", "outside"),
        ("t/none.png", "not there"),
        ("t/a.txt", "by its name"),
        ("a.png\0.txt", "no path"),
        ("", "no path"),
        ("x" * 5000 + ".png", "no path"),
        ("C:/a.png", "no path"),
        ("https://example.org/a.png", "nothing is fetched"),
        ("data:image/png;base64,x.png", "nothing is fetched"),
    ],
)
def test_names_that_do_not(tmp_path: Path, name: str, part: str):
    with pytest.raises(InputError, match=part) as caught:
        place(name, written(tmp_path / "m/a.obj", b""))
    assert "a.obj" in str(caught.value) and len(str(caught.value)) < 1500


def test_roots_and_suffixes(tmp_path: Path):
    mesh, data = written(tmp_path / "m/a.gltf", b""), written(tmp_path / "d/a.bin", b"")
    assert place("../d/a.bin", mesh, [tmp_path / "d"], BUFFER_SUFFIXES) == data
    assert place("../d/a.bin", mesh, [tmp_path], BUFFER_SUFFIXES) == data
    with pytest.raises(InputError, match="by its name"):
        place("../d/a.bin", mesh, [tmp_path])
    written(tmp_path / "dd/a.bin", b"")
    with pytest.raises(InputError, match="outside"):
        place("../dd/a.bin", mesh, [tmp_path / "d"], BUFFER_SUFFIXES)


def test_a_material_file_is_made_plain(tmp_path: Path):
    mesh = written(tmp_path / "a.obj", b"")
    written(tmp_path / "mat/near.png", b"")
    text = "newmtl é\nKd 1 0 0\nmap_Kd -o 1 1 near.png\n\tmap_kd -clamp off far.png\nmap_Ks x.png\n"
    for encoding in ("utf-8", "latin-1"):
        found = written(tmp_path / "mat/a.mtl", text.encode(encoding))
        path, plain, textures = library("mat/a.mtl", mesh)
        assert path == found and textures == ["mat/near.png", "far.png"]
        assert "newmtl é\nKd 1 0 0\nmap_Kd mat/near.png\nmap_Kd far.png\nmap_Ks x.png\n" == plain


# what must go along


def test_obj(tmp_path: Path):
    mesh = written(tmp_path / "a.obj", made.obj(before="mtllib mat/a.mtl none.mtl\nmtllib b c.mtl"))
    first = written(tmp_path / "mat/a.mtl", b"newmtl x\nmap_Kd -s 1 1 1 tex/x.png\nmap_Kd y.jpg\n")
    second = written(tmp_path / "b c.mtl", b"newmtl y\nmap_Kd ../secret.png\nmap_Kd z.png\n")
    near = written(tmp_path / "mat/tex/x.png", made.png())
    far = written(tmp_path / "y.jpg", b"x")
    written(tmp_path.parent / "secret.png", b"x")
    assert material_files(str(mesh)) == (first, near, far, second)
    told = load(mesh).left_out
    assert any("none.mtl" in text and "not there" in text for text in told)


def test_collada(tmp_path: Path):
    images = "".join(
        f'<image id="{k}"><init_from>{name}</init_from></image>'
        for k, name in enumerate(("t/a.png", "file:///etc/b.png", "a%20b.jpg", "http://x/c.png"))
    )
    library = f"<library_images>{images}</library_images>"
    mesh = written(tmp_path / "a.dae", made.dae(libraries=library))
    first, second = written(tmp_path / "t/a.png", b"x"), written(tmp_path / "a b.jpg", b"x")
    assert material_files(mesh) == (first, second)


def test_gltf(tmp_path: Path):
    tree, data = made.gltf_tree(images=[{"uri": "tex/a.png"}, {"uri": "data:image/png;base64,"}])
    tree["images"].pop()
    buffer = written(tmp_path / "a.bin", data)
    picture = written(tmp_path / "tex/a.png", made.png())
    mesh = written(tmp_path / "a.gltf", made.gltf(tree, data, "a.bin"))
    assert material_files(mesh) == (buffer, picture)
    assert material_files(written(tmp_path / "b.glb", made.glb())) == ()


def test_ply_and_formats_that_name_nothing(tmp_path: Path):
    picture = written(tmp_path / "a b.png", b"x")
    mesh = written(tmp_path / "a.ply", made.ply(extra="comment TextureFile a b.png\n"))
    assert material_files(mesh) == (picture,)
    for name in ("a.stl", "a.off"):
        assert material_files(written(tmp_path / name, b"not looked at")) == ()


def test_roots_open_other_folders(tmp_path: Path):
    mesh = written(tmp_path / "meshes/a.obj", made.obj(before="mtllib ../materials/a.mtl"))
    material = written(tmp_path / "materials/a.mtl", b"newmtl x\nmap_Kd skin.png\n")
    picture = written(tmp_path / "materials/skin.png", b"x")
    assert material_files(mesh) == ()
    assert material_files(mesh, roots=[tmp_path]) == (material, picture)
    assert material_files(mesh, roots=[str(tmp_path / "materials")]) == (material, picture)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_links_are_followed_before_the_place_is_judged(tmp_path: Path):
    folder = tmp_path / "meshes"
    mesh = written(folder / "a.obj", made.obj(before="mtllib out.mtl in.mtl pipe.mtl"))
    written(tmp_path / "secret.mtl", b"newmtl x\n")
    real = written(folder / "real.mtl", b"newmtl x\n")
    (folder / "out.mtl").symlink_to(tmp_path / "secret.mtl")
    (folder / "in.mtl").symlink_to(real)
    os.mkfifo(folder / "pipe.mtl")
    assert material_files(mesh) == (real,)
    told = load(mesh).left_out
    assert any("out.mtl" in text and "outside" in text for text in told)
    assert any("pipe.mtl" in text and "no regular file" in text for text in told)


def test_a_mesh_that_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="no XML"):
        material_files(written(tmp_path / "a.dae", b"<COLLADA"))
    with pytest.raises(InputError, match="No such file"):
        material_files(tmp_path / "none.obj")
