"""Where files beside a mesh may be. (What becomes of them: test_looks, test_companions.)"""

from __future__ import annotations

from pathlib import Path

import pytest

from linkwork.errors import InputError
from linkwork.geometry.beside import BUFFER_SUFFIXES, library, place
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
