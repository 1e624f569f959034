"""P8, P10, P11: meshes that lie about their size, reach for other files, or carry code.

Each attack is loaded in a process of its own that first read a harmless file of the same format, so
that what is measured is the attack: its peak memory, its time, and what it raised.
"""

from __future__ import annotations

import json
import os
import pickle
import socket
import struct
import subprocess
import sys
import threading
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

import mesh_files as made
from linkwork.errors import InputError
from linkwork.geometry import guards
from linkwork.geometry.load import forget, load
from linkwork.geometry.material_files import material_files
from linkwork.geometry.meshes import MESH_SUFFIXES
from mesh_files import FACES, written

pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is not installed")
pytest.importorskip("collada", reason="pycollada (pip install pycollada) is not installed")
pytest.importorskip("PIL", reason="Pillow (pip install pillow) is not installed")

CHILD = """
import json, os, sys, threading, time, warnings
warnings.simplefilter("ignore")
from pathlib import Path
from linkwork.errors import LinkworkError
from linkwork.geometry.load import load
PAGE = os.sysconf("SC_PAGE_SIZE")
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE
for line in sys.stdin:
    harmless, hostile = json.loads(line)
    load(harmless)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak starts again from here
    before, start = resident(), time.perf_counter()
    try:
        load(hostile)
        outcome, text = "loaded", ""
    except LinkworkError as error:
        outcome, text = type(error).__name__, str(error)
    except BaseException as error:
        outcome, text = "FOREIGN " + type(error).__name__, str(error)
    seconds = time.perf_counter() - start
    with open("/proc/self/status") as file:
        peak = next(int(l.split()[1]) * 1024 for l in file if l.startswith("VmHWM"))
    print(json.dumps([outcome, text, max(peak - before, 0), seconds]), flush=True)
"""


@pytest.fixture(autouse=True)
def _nothing_kept():
    forget()


@pytest.fixture(scope="module")
def child(tmp_path_factory: pytest.TempPathFactory):
    """A process that loads files and says what it took."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("the peak of memory is read from /proc, which is not here")
    folder = tmp_path_factory.mktemp("harmless")
    harmless = {
        suffix: written(
            folder / f"a{suffix}", next(d for n, d in made.EVERY.items() if n.endswith(suffix))
        )
        for suffix in MESH_SUFFIXES
    }
    source = Path(guards.__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD],
        env={**os.environ, "PYTHONPATH": str(source)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def ask(path: Path) -> tuple[str, str, int, float]:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps([str(harmless[path.suffix]), str(path)]) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        assert answer, f"the process that read {path} has died"
        return tuple(json.loads(answer))

    yield ask
    process.kill()
    process.wait()


def with_prolog(prolog: str) -> bytes:
    """A COLLADA file with something before its root."""
    return made.dae().replace(b"<COLLADA", prolog.encode() + b"<COLLADA", 1)


def laughs() -> str:
    entities = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 10))
    return f'<!DOCTYPE x [<!ENTITY e0 "haha">{entities}]>'


def doubling(depth: int = 40) -> bytes:
    """Node k shows node k - 1 twice."""
    nodes = "".join(
        f'<node id="n{k}">{f"""<instance_node url="#n{k - 1}"/>""" * 2}</node>'
        for k in range(1, depth)
    )
    library = f'<library_nodes><node id="n0">{made.instance()}</node>{nodes}</library_nodes>'
    return made.dae(f'<node><instance_node url="#n{depth - 1}"/></node>', libraries=library)


def changed(**more: object) -> bytes:
    return made.glb(*made.gltf_tree(**more))


def accessor(**more: object) -> bytes:
    tree, data = made.gltf_tree()
    tree["accessors"][0].update(more)
    return made.glb(tree, data)


def many_pieces(count: int) -> bytes:
    """One large accessor, shown by many pieces of many nodes."""
    faces = list(made.FACES) * 2000
    piece = {"attributes": {"POSITION": 0}, "indices": 1}
    return made.glb(
        *made.gltf_tree(
            faces=faces,
            meshes=[{"primitives": [piece] * count}],
            nodes=[{"mesh": 0}] * count,
            scenes=[{"nodes": list(range(count))}],
        )
    )


def chain(count: int, *, shown: bool = True) -> bytes:
    """Node k of a glTF file has node k + 1 below it."""
    nodes = [{"children": [k + 1], **({"mesh": 0} if shown else {})} for k in range(count)]
    return changed(nodes=[*nodes, {"mesh": 0}])


def materials(count: int) -> bytes:
    """An OBJ file with an object and a material for each face."""
    lines = ["mtllib m.mtl", *(f"v {k} 0 {k % 7}" for k in range(count + 2))]
    for k in range(count):
        lines += [f"o part{k}", f"usemtl m{k}", f"f {k + 1} {k + 2} {k + 3}"]
    return "\n".join([*lines, ""]).encode()


def in_a_row(count: int) -> bytes:
    """Node k shows node k - 1, which stands behind it."""
    nodes = "".join(
        f'<node id="n{k}"><instance_node url="#n{k - 1}"/></node>' for k in range(count, 0, -1)
    )
    library = f'<library_nodes>{nodes}<node id="n0">{made.instance()}</node></library_nodes>'
    return made.dae(f'<node><instance_node url="#n{count}"/></node>', libraries=library)


def archive(name: str, member: bytes) -> bytes:
    made_here = BytesIO()
    with zipfile.ZipFile(made_here, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, member)
    return made_here.getvalue()


def ply_header(vertices: int, faces: int = 1, kind: str = "binary_little_endian") -> bytes:
    return (
        made.ply(kind=kind)
        .replace(b"vertex 4", b"vertex %d" % vertices)
        .replace(b"face 4", b"face %d" % faces)
    )


ZEROS = bytes(2**25)

ATTACKS: dict[str, bytes] = {
    "count-4e9.stl": made.stl()[:80] + struct.pack("<I", 4_000_000_000) + b"x" * 100,
    "count-max.stl": made.stl()[:80] + b"\xff" * 4,
    "cut.stl": made.stl()[:-1],
    "header.stl": made.stl()[:50],
    "solid.stl": b"solid facet " + b"vertex 1 " * 200_000,
    "endsolid.stl": b"endsolid facet solid endsolid" * 10_000,
    "length-4g.glb": b"glTF" + struct.pack("<II", 2, 2**32 - 1) + made.glb()[12:],
    "chunk-4g.glb": made.glb()[:12] + struct.pack("<I", 2**32 - 1) + made.glb()[16:],
    "count.glb": accessor(count=2**31),
    "count-negative.glb": accessor(count=-1),
    "count-float.glb": accessor(count=1e300),
    "no-view.glb": made.glb(
        *made.gltf_tree(accessors=[{"componentType": 5126, "count": 2**31, "type": "VEC3"}] * 2)
    ),
    "views.glb": changed(bufferViews=[{"buffer": 0, "byteLength": 96}] * 100_000),
    "accessors.glb": changed(
        accessors=[{"bufferView": 1, "componentType": 5121, "count": 48, "type": "SCALAR"}] * 9000
    ),
    "buffer.glb": changed(buffers=[{"byteLength": 2**40}]),
    "stride.glb": changed(
        bufferViews=[
            {"buffer": 0, "byteLength": 48, "byteStride": 2**62},
            {"buffer": 0, "byteLength": 48, "byteOffset": 48},
        ]
    ),
    "pieces.glb": many_pieces(1000),
    "json.glb": made.glb({"asset": {}, "extras": [[]] * 2_000_000}, b""),
    "deep.gltf": b'{"a":' * 100_000,
    "long-number.gltf": b'{"asset":{"version":"2.0"},"scene":' + b"9" * 100_000 + b"}",
    "ring.glb": changed(nodes=[{"mesh": 0, "children": [1]}, {"children": [0]}]),
    "many-parents.glb": changed(nodes=[{"children": [1, 1]}, {"mesh": 0}]),
    "vertices-2e31.ply": ply_header(2**31),
    "vertices-2e63.ply": ply_header(2**63),
    "faces-2e31.ply": ply_header(4, 2**31),
    "text-2e31.ply": ply_header(2**31, kind="ascii"),
    "list.ply": made.ply(kind="binary_little_endian")
    .replace(b"list uchar int", b"list uint int")
    .replace(struct.pack("<B3i", 3, 0, 2, 1), struct.pack("<I3i", 2**32 - 1, 0, 2, 1)),
    "header.ply": b"ply\nformat ascii 1.0\n" + b"comment x\n" * 500_000,
    "counts.off": b"OFF\n2147483647 2147483647 0\n0 0 0\n",
    "huge-counts.off": b"OFF\n" + b"9" * 30 + b" 1 0\n0 0 0\n",
    "negative.off": b"OFF\n-1 -1 0\n0 0 0\n",
    "corners.off": made.off().replace(b"3 0 2 1", b"2147483647 0 2 1"),
    "index-min.obj": made.obj() + b"f -2147483648 1 2\n",
    "index-max.obj": made.obj() + b"f 2147483647 1 2\n",
    "index-huge.obj": made.obj() + b"f 9223372036854775808 1 2\n",
    "digits.obj": made.obj() + b"f " + b"9" * 1_000_000 + b" 1 2\n",
    "binary.obj": b"\x7fELF" + ZEROS,
    "laughs.dae": with_prolog(laughs()).replace(b"<created>", b"<created>&e9;"),
    "quadratic.dae": with_prolog(f'<!DOCTYPE x [<!ENTITY a "{"x" * 50_000}">]>').replace(
        b"<created>", b"<created>" + b"&a;" * 50_000
    ),
    "doctype.dae": with_prolog("<!DOCTYPE COLLADA>"),
    "external.dae": with_prolog('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>').replace(
        b"<created>", b"<created>&a;"
    ),
    "parameter.dae": with_prolog(
        '<!DOCTYPE x [<!ENTITY % a SYSTEM "http://127.0.0.1:9/a.dtd"> %a;]>'
    ),
    "deep.dae": made.dae("<node>" * 100_000 + "</node>" * 100_000),
    "deep-2.dae": made.dae("<node>" * 199 + "</node>" * 199),
    "elements.dae": made.dae("<node/>" * 1_000_000),
    "doubling.dae": doubling(),
    "ring.dae": made.dae('<node id="a"><instance_node url="#a"/></node>'),
    "instances.dae": made.dae(
        f"<node>{made.instance()}</node>" * 3000,
        made.geometry(faces=list(made.FACES) * 2000),
    ),
    "attributes.dae": made.dae("<node " + " ".join(f"a{k}='b'" for k in range(100_000)) + "/>"),
    "zip.dae": archive("a.dae", made.dae() + b" " * 50_000_000),
    "behind.dae": made.dae() + archive("a.dae", made.dae()),
    "ratio.obj": archive("a.obj", b"v 0 0 0\n" * 6_000_000),
    "chain.glb": chain(20_000),
    "same-name.glb": changed(
        nodes=[{"mesh": 0, "name": "a"}] * 20_000, scenes=[{"nodes": list(range(20_000))}]
    ),
    "materials.obj": materials(20_000),
    "solids.stl": made.ascii_stl(faces=FACES[:1]) * 10_000,
    "nothing-doubled.dae": doubling(31).replace(b"instance_geometry", b"instance_camera"),
    "in-a-row.dae": in_a_row(2000),
    "nodes.dae": made.dae(f"<node>{made.instance()}</node>" * 5000),
    "gzip.stl": b"\x1f\x8b\x08" + bytes(1000),
}


@pytest.mark.sweep(15)
@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_p10_refused_before_anything_is_allocated(tmp_path: Path, child, name: str):
    path = written(tmp_path / name, ATTACKS[name])
    outcome, text, memory, seconds = child(path)
    assert outcome == "InputError", (outcome, text)
    assert name in text and "\n" not in text and len(text) < 1000
    assert memory <= 4 * len(ATTACKS[name]) + 64 * 2**20, f"{memory / 2**20:.0f} MB"
    assert seconds < 20
    assert "Traceback" not in text


def calls(path: Path) -> int:
    """The functions called to read a file."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    forget()
    sys.setprofile(profile)
    try:
        load(path)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("suffix", "make"),
    [
        (".glb", chain),
        (".glb", lambda count: chain(10 * count, shown=False)),
        (".obj", lambda count: materials(count).replace(b"mtllib m.mtl\n", b"")),
        (".dae", lambda count: made.dae(f"<node>{made.instance()}</node>" * count)),
    ],
    ids=["nodes", "empty nodes", "objects", "instances"],
)
def test_p10_work_grows_with_the_size_alone(tmp_path: Path, suffix: str, make):
    path = tmp_path / f"a{suffix}"
    calls(written(path, make(5)))  # imports
    few, many = (calls(written(path, make(count))) for count in (100, 200))
    assert many < 2.2 * few


def test_p10_three_mf_archives_are_not_opened(tmp_path: Path):
    path = written(tmp_path / "a.3mf", archive("3D/3dmodel.model", bytes(50_000_000)))
    with pytest.raises(InputError, match="no mesh by its name"):
        load(path)


@pytest.mark.parametrize("place", ["obj", "dae", "gltf", "inside"])
def test_p10_a_picture_of_50000_pixels_a_side(tmp_path: Path, child, place: str):
    """Two and a half thousand million pixels of zeros in a few hundred bytes."""
    picture = made.png(50_000, 50_000, pixels=b"x\x9cc\0\0\0\1\0\1")
    written(tmp_path / "skin.png", picture)
    with pytest.raises(InputError, match=r"50000 x 50000|no image"):
        guards.check(tmp_path / "skin.png")
    if place == "obj":
        written(tmp_path / "m.mtl", b"newmtl m\nmap_Kd skin.png\n")
        text = b"mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl m\nf 1/1 2/1 3/1\n"
        path = written(tmp_path / "a.obj", text)
    elif place == "dae":
        library = """<library_images><image id="i"><init_from>skin.png</init_from></image>
          </library_images><library_effects><effect id="m-e"><profile_COMMON>
          <newparam sid="f"><surface type="2D"><init_from>i</init_from></surface></newparam>
          <newparam sid="p"><sampler2D><source>f</source></sampler2D></newparam><technique sid="c">
          <phong><diffuse><texture texture="p" texcoord="U"/></diffuse></phong></technique>
          </profile_COMMON></effect></library_effects><library_materials><material id="m">
          <instance_effect url="#m-e"/></material></library_materials>"""
        scene = f"<node>{made.instance(material='m')}</node>"
        data = made.dae(scene, made.geometry(material="m"), libraries=library)
        path = written(tmp_path / "a.dae", data)
    else:
        image = {"uri": "skin.png"} if place == "gltf" else {"bufferView": 2}
        tree, data = made.gltf_tree(
            images=[image],
            textures=[{"source": 0}],
            materials=[{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        )
        tree["meshes"][0]["primitives"][0]["material"] = 0
        tree["bufferViews"].append(
            {"buffer": 0, "byteOffset": len(data), "byteLength": len(picture)}
        )
        tree["buffers"][0]["byteLength"] += len(picture)
        path = written(tmp_path / "a.glb", made.glb(tree, data + picture))
    outcome, text, memory, _ = child(path)
    assert memory <= 64 * 2**20
    if place == "inside":
        assert outcome == "InputError", (outcome, text)
    else:  # the body is sound, and is had without the picture
        assert outcome == "loaded", (outcome, text)
        assert "skin.png" in load(path).left_out[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("suffix", sorted(MESH_SUFFIXES))
def test_p10_pipes_and_devices_are_not_waited_for(tmp_path: Path, suffix: str):
    os.mkfifo(tmp_path / f"pipe{suffix}")
    (tmp_path / f"zero{suffix}").symlink_to("/dev/zero")
    (tmp_path / f"folder{suffix}").mkdir()
    for name in ("pipe", "zero", "folder"):
        path = tmp_path / f"{name}{suffix}"
        for call in (load, guards.check, guards.read):
            with pytest.raises(InputError, match=r"no regular file|directory"):
                call(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_p10_pipes_and_devices_beside_a_mesh_are_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.mtl")
    (tmp_path / "zero.mtl").symlink_to("/dev/zero")
    mesh = written(tmp_path / "a.obj", made.obj(before="mtllib pipe.mtl zero.mtl"))
    assert len(load(mesh).left_out) == 2
    assert material_files(mesh) == ()
    os.mkfifo(tmp_path / "pipe.bin")
    tree, data = made.gltf_tree()
    with pytest.raises(InputError, match="no regular file"):
        load(written(tmp_path / "a.gltf", made.gltf(tree, data, "pipe.bin")))


def test_p10_large_files_are_not_read(tmp_path: Path, child):
    for suffix in sorted(MESH_SUFFIXES):
        with open(tmp_path / f"large{suffix}", "wb") as file:
            file.truncate(guards.LARGEST + 1)  # takes no room on the disk
        outcome, text, memory, _ = child(tmp_path / f"large{suffix}")
        assert outcome == "InputError" and "536,870,913 bytes" in text and memory < 64 * 2**20
    with open(tmp_path / "large.mtl", "wb") as file:
        file.truncate(2**30)
    mesh = written(tmp_path / "a.obj", made.obj(before="mtllib large.mtl"))
    assert "1,073,741,824 bytes" in load(mesh).left_out[0]


# P8: other files


OUTSIDE = (
    "../secret.{}",
    "../../../../../../../../etc/secret.{}",
    "/etc/secret.{}",
    "file:///etc/secret.{}",
    "x/../../secret.{}",
    "..\\secret.{}",
    "%2e%2e/secret.{}",
    "~/secret.{}",
    "\\\\server\\share\\secret.{}",
    "link.{}",
    "away/secret.{}",
)


@pytest.fixture
def meshes(tmp_path: Path) -> Path:
    """A folder for meshes, with secrets around it and links that lead there."""
    folder = tmp_path / "robot/meshes"
    folder.mkdir(parents=True)
    for suffix in ("mtl", "bin", "png"):
        secret = written(tmp_path / f"robot/secret.{suffix}", b"newmtl m\nKd 1 0 0\n")
        if os.name != "nt":
            (folder / f"link.{suffix}").symlink_to(secret)
    if os.name != "nt":
        (folder / "away").symlink_to(tmp_path / "robot")
    return folder


@pytest.mark.parametrize("name", OUTSIDE)
def test_p8_no_file_outside_is_read(meshes: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    opened: list[str] = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda p, *a, **k: (opened.append(str(p)), real(p, *a, **k))[1])
    text = f"mtllib {name.format('mtl')}\n".encode() + made.obj() + b"usemtl m\nf 1 2 3\n"
    loaded = load(written(meshes / "a.obj", text))
    assert all(part.rgba is None for part in loaded.parts) and loaded.left_out
    written(meshes / "in.mtl", f"newmtl m\nmap_Kd {name.format('png')}\n".encode())
    text = b"mtllib in.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl m\nf 1/1 2/1 3/1\n"
    loaded = load(written(meshes / "b.obj", text))
    assert loaded.parts[0].texture is None and loaded.left_out
    tree, data = made.gltf_tree()
    path = written(meshes / "a.gltf", made.gltf(tree, data, name.format("bin")))
    with pytest.raises(InputError, match=r"secret|link"):
        load(path)
    assert material_files(path) == ()
    assert not any("secret" in place for place in opened), opened


def test_p8_whether_a_file_outside_exists_is_not_told(meshes: Path):
    def said(name: str) -> str:
        text = f"mtllib {name}\n".encode() + made.obj()
        return load(written(meshes / "a.obj", text)).left_out[0].replace(name, "NAME")

    assert said("../secret.mtl") == said("../nothing.mtl")


def test_p9_nothing_is_fetched(meshes: Path):
    """A server that nobody may come to."""
    visits: list[object] = []
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(0.2)
        done = threading.Event()

        def wait() -> None:
            while not done.is_set():
                try:
                    visits.append(server.accept())
                except OSError:
                    continue

        thread = threading.Thread(target=wait)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/secret"
        load(written(meshes / "a.obj", f"mtllib {url}.mtl\n".encode() + made.obj()))
        image = f'<image id="i"><init_from>{url}.png</init_from></image>'
        library = f"<library_images>{image}</library_images>"
        load(written(meshes / "a.dae", made.dae(libraries=library)))
        tree, data = made.gltf_tree()
        with pytest.raises(InputError, match="nothing is fetched"):
            load(written(meshes / "a.gltf", made.gltf(tree, data, f"{url}.bin")))
        entity = f'<!DOCTYPE x SYSTEM "{url}.dtd" [<!ENTITY a SYSTEM "{url}.xml">]>'
        with pytest.raises(InputError, match="DOCTYPE"):
            load(written(meshes / "b.dae", with_prolog(entity)))
        done.set()
        thread.join()
    assert not visits


# P11: code


class Canary:
    """What runs a command when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (os.system, (f"echo sung > '{self.path}'",))


@pytest.mark.parametrize("suffix", [*sorted(MESH_SUFFIXES), ".mtl", ".png", ".bin", ".npy", ".pkl"])
def test_p11_pickles_are_not_opened(tmp_path: Path, suffix: str):
    canary = tmp_path / "canary"
    for protocol in (0, 2, 5):
        data = pickle.dumps(Canary(canary), protocol)
        path = written(tmp_path / f"a{suffix}", data)
        with pytest.raises(InputError):
            load(path)
        with pytest.raises(InputError):
            guards.check(path)
        if suffix == ".mtl":
            load(written(tmp_path / "m.obj", made.obj(before="mtllib a.mtl")))
    assert not canary.exists()
    pickle.loads(data)
    assert canary.exists(), "the canary itself is dead"


def test_p11_a_picture_does_not_start_another_program(tmp_path: Path):
    """PostScript under the name of a picture would be run by Ghostscript."""
    canary = tmp_path / "canary"
    script = f"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%pipe%touch {canary}\n".encode()
    for suffix in (".png", ".jpg", ".tif"):
        with pytest.raises(InputError, match="no image"):
            guards.check(written(tmp_path / f"a{suffix}", script))
    assert not canary.exists()


@pytest.mark.parametrize("name", sorted(made.EVERY))
def test_p10_mutations_are_read_or_refused(tmp_path: Path, name: str):
    """Bytes changed, cut and doubled at random: our own error, or a body; nothing else."""
    from seeds import rng  # noqa: PLC0415  for the one test that draws

    g, good, refused = rng(name), made.EVERY[name], 0
    for k in range(120):
        data = bytearray(good)
        for _ in range(int(g.integers(1, 6))):
            at = int(g.integers(0, len(data)))
            kind = int(g.integers(0, 4))
            if kind == 0:
                data[at] = int(g.integers(0, 256))
            elif kind == 1:
                del data[at : at + int(g.integers(1, 9))]
            elif kind == 2:
                data[at:at] = bytes(data[at : at + int(g.integers(1, 40))])
            else:
                data[at:at] = [b"-1", b"nan", b"99999999999", b"<", b"\0", b"&a;"][
                    int(g.integers(0, 6))
                ]
            if not data:
                data = bytearray(b" ")
        path = written(tmp_path / f"{k}{Path(name).suffix}", bytes(data))
        try:
            loaded = load(path)
        except InputError as error:
            refused += 1
            assert path.name in str(error)
            continue
        for part in loaded.parts:
            assert len(part.mesh.faces) and (part.mesh.vertices**0 == 1).all()
    assert refused
