"""Promises about size and harm: bombs, references, the net, code, files of any length.

P3, P4, P9, P11 and P12 of the reliability list, for reading. For the star of a million links:
LINKWORK_TEST_STAR=1000000.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import linkwork
from linkwork.errors import DescriptionError, InputError
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Mesh
from linkwork.geometry.meshes import resolve

LOCATED = re.compile(r"^[^\n]+:\d+: error: \S")

GOOD = """<robot name="good">
  <link name="base"/> <link name="arm"><visual><origin xyz="0 0 0.5"/><geometry>
    <mesh filename="package://good/meshes/arm.stl"/></geometry></visual></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="arm"/></joint>
</robot>
"""


def refused(source: Any) -> DescriptionError:
    """The one error that a source gives; each of its lines says where."""
    with pytest.raises(DescriptionError) as caught:
        read(source)
    for line in str(caught.value).split("\n"):
        assert LOCATED.match(line), line
    return caught.value


def codes(error: DescriptionError) -> set[str]:
    return {problem.code for problem in error.problems}


# ---- P3, P4, P9: bombs, external references, the net

LAUGHS = [f"&e{k - 1};" * 10 for k in range(1, 10)]
TEN = "".join(f'<!ENTITY e{k} "{laughs}">' for k, laughs in enumerate(LAUGHS, 1))


def bombs(port: int, canary: Path, pipe: Path) -> dict[str, bytes]:
    """Files that would expand, fetch, read or hang."""
    http, file = f"http://127.0.0.1:{port}/x", canary.as_uri()
    robot = '<robot name="r"><link name="{}"/></robot>'
    xi = '<robot name="r" xmlns:xi="http://www.w3.org/2001/XInclude"><link name="a"/>{}</robot>'

    many = " ".join(f"a{k} CDATA 'x'" for k in range(999))

    def entity(doctype: str, name: str = "&e;") -> bytes:
        return (f"<!DOCTYPE robot {doctype}>" + robot.format(name)).encode()

    return {
        "billion laughs": entity(f'[<!ENTITY e0 "ha">{TEN}]', "&e9;"),
        "quadratic": entity(f'[<!ENTITY e "{"x" * 50_000}">]', "&e;" * 5000),
        "recursive": entity('[<!ENTITY e "&f;"><!ENTITY f "&e;">]'),
        "internal": entity('[<!ENTITY e "a">]'),
        "external file": entity(f'[<!ENTITY e SYSTEM "{file}">]'),
        "external path": entity(f'[<!ENTITY e SYSTEM "{canary}">]'),
        "external http": entity(f'[<!ENTITY e SYSTEM "{http}">]'),
        "external public": entity(f'[<!ENTITY e PUBLIC "-//x" "{http}">]'),
        "external pipe": entity(f'[<!ENTITY e SYSTEM "{pipe.as_uri()}">]'),
        "external device": entity('[<!ENTITY e SYSTEM "file:///dev/zero">]'),
        "parameter": entity("[<!ENTITY % p \"<!ENTITY e 'a'>\"> %p;]"),
        "parameter http": entity(f'[<!ENTITY % p SYSTEM "{http}"> %p;]'),
        "parameter file": entity(f'[<!ENTITY % p SYSTEM "{file}"> %p;]'),
        "unparsed": entity(f'[<!NOTATION n SYSTEM "x"><!ENTITY e SYSTEM "{file}" NDATA n>]', "a"),
        "DTD http": entity(f'SYSTEM "{http}"', "a"),
        "DTD file": entity(f'SYSTEM "{file}"', "a"),
        "DTD public": entity(f'PUBLIC "-//x" "{http}"', "a"),
        "plain doctype": entity("", "a"),
        "default attribute": entity('[<!ATTLIST link name CDATA "x">]', "a"),
        "attribute bomb": entity(f"[<!ATTLIST link {many}>]", "a"),
        "XInclude file": xi.format(f'<xi:include href="{file}" parse="text"/>').encode(),
        "XInclude http": xi.format(f'<xi:include href="{http}"/>').encode(),
        "XInclude in a link": xi.replace('"a"/>{}', '"a">{}</link>')
        .format(f'<xi:include href="{file}"/>')
        .encode(),
    }


LIMITS: dict[str, Callable[[], bytes]] = {
    "deep": lambda: b'<robot name="r">' + b"<a>" * 1_000_000,
    "deep in an extension": lambda: b'<robot name="r"><gazebo>' + b"<a>" * 1_000_000,
    "deep links": lambda: b'<robot name="r">' + b'<link name="a">' * 1_000_000,
    "deep and closed": lambda: b"<robot name='r'>" + b"<a>" * 9999 + b"</a>" * 9999 + b"</robot>",
    "name of 64 MB": lambda: b'<robot name="' + b"x" * 64_000_000 + b'"><link name="a"/></robot>',
    "value of 64 MB": lambda: b'<robot name="r" x="' + b"x" * 64_000_000 + b'"/>',
    "value of 70 kB": lambda: b'<robot name="' + b"x" * 70_000 + b'"><link name="a"/></robot>',
    "tag of 64 MB": lambda: b"<" + b"r" * 64_000_000 + b"/>",
    "comment of 64 MB": lambda: b'<robot name="r"><!--' + b"x" * 64_000_000 + b"--></robot>",
    "numbers of 2 MB": lambda: (
        b'<robot name="r"><link name="a"><visual><origin xyz="'
        + b"1 " * 1_000_000
        + b'"/></visual></link></robot>'
    ),
    "gzip": lambda: b"\x1f\x8b\x08" + b"\0" * 100_000,
    "zip": lambda: b"PK\x03\x04" + b"\0" * 100_000,
}

CHILD = """
import json, resource, sys, time
from linkwork.errors import DescriptionError
from linkwork.formats.urdf.read import read
import numpy
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
try:
    read(b"<robot name='r'>")
except DescriptionError:
    pass
for line in sys.stdin:
    path = json.loads(line)
    before, start = peak(), time.process_time()
    try:
        read(path); said = "accepted"
    except DescriptionError as error:
        said = str(error)
    print(json.dumps([time.process_time() - start, peak() - before, said]), flush=True)
"""


def in_child(files: dict[str, Path]) -> dict[str, tuple[float, float, str]]:
    """Processor time, growth of memory in MB and the answer for each file, in one new process."""
    source = str(Path(linkwork.__file__).resolve().parents[1])
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CHILD)],
        input="".join(json.dumps(str(path)) + "\n" for path in files.values()),
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return {
        name: tuple(json.loads(line))
        for name, line in zip(files, done.stdout.splitlines(), strict=True)
    }


@pytest.fixture
def listener() -> Iterator[tuple[int, list[Any]]]:
    """A port of this machine, and the connections that it got."""
    hits: list[Any] = []
    server = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                connection, address = server.accept()
            except OSError:
                return
            hits.append(address)
            connection.close()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield server.getsockname()[1], hits
    # a knock of our own: the listener works, and all earlier connections have been counted
    with socket.create_connection(server.getsockname()):
        pass
    deadline = time.monotonic() + 10
    while not hits and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(hits) == 1, "somebody called"
    server.close()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_p3_p9_bombs_and_references(tmp_path: Path, listener: tuple[int, list[Any]]):
    canary, pipe = tmp_path / "canary.txt", tmp_path / "pipe"
    canary.write_text("sesame-5309")
    os.mkfifo(pipe)
    files: dict[str, Path] = {}
    for number, (name, data) in enumerate(bombs(listener[0], canary, pipe).items()):
        files[name] = tmp_path / f"bomb{number}.urdf"
        files[name].write_bytes(data)
        assert codes(refused(files[name])) & {"doctype", "xinclude"}, name
    assert len(files) == 23
    for name, (seconds, megabytes, said) in in_child(files).items():
        assert LOCATED.match(said), name
        assert "sesame" not in said
        assert seconds <= 0.05, name
        assert megabytes <= 20, name
    assert not listener[1]


ARM = '<robot name="r"><link name="a"/>%s</robot>'
XACRO = '<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro">%s<link name="a"/></robot>'
SHAPE = '<link name="b"><visual><geometry><mesh filename="x.stl"/></geometry></visual></link>'
JOINT = '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
MJCF = '<mujoco>%s<worldbody><body><joint name="j"/><geom %s/></body></worldbody></mujoco>'
PLACES = {  # where something that is no file may stand, and what is loaded then
    "arm.urdf": ("arm.urdf", ""),
    "arm.xml": ("arm.xml", ""),
    "arm.xacro": ("arm.xacro", ""),
    "part.xacro": ("arm.xacro", XACRO % '<xacro:include filename="part.xacro"/>'),
    "sizes.yaml": ("arm.xacro", XACRO % "${xacro.load_yaml('sizes.yaml')}"),
    "arm.loops.yaml": ("arm.urdf", ARM % ""),
    "arm.loops.yaml.new": ("arm.urdf", ARM % ""),
    "robot.yaml": ("robot.urdf", ARM % ""),
    "part.xml": ("arm.xml", MJCF % ('<include file="part.xml"/>', 'size="1"')),
    "x.stl": ("arm.urdf", ARM % (SHAPE + JOINT)),
    "y.stl": (
        "arm.xml",
        MJCF % ('<asset><mesh name="m" file="y.stl"/></asset>', 'type="mesh" mesh="m"'),
    ),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("name", PLACES)
def test_p9_pipes_devices_folders_and_rings_of_links_are_refused_by_name(tmp_path: Path, name: str):
    """None is waited for; a pipe that nobody writes to would be for ever."""
    if "xacro" in PLACES[name][0]:
        pytest.importorskip("xacro", reason="xacro (pip install xacro) is not installed")

    def waited(*_: object) -> None:
        raise TimeoutError(name)

    before = signal.signal(signal.SIGALRM, waited)
    signal.alarm(30)
    try:
        for kind, make in {
            "pipe": os.mkfifo,
            "device": lambda path: os.symlink("/dev/zero", path),
            "folder": os.mkdir,
            "ring": lambda path: os.symlink(os.path.basename(path), path),
        }.items():
            folder = tmp_path / kind
            folder.mkdir()
            loaded, text = PLACES[name]
            if text:
                (folder / loaded).write_text(text)
            make(folder / name)
            with pytest.raises((DescriptionError, InputError)) as caught:
                linkwork.load(folder / loaded).mesh([])
            assert name in str(caught.value), caught.value
            assert "no such file" not in str(caught.value) or kind == "ring"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.slow
def test_p4_limits(tmp_path: Path):
    pytest.importorskip("resource", reason="memory is measured with the resource module")
    files: dict[str, Path] = {}
    sizes: dict[str, float] = {}
    for number, (name, data) in enumerate(LIMITS.items()):
        files[name] = tmp_path / f"limit{number}.urdf"
        files[name].write_bytes(data())
        sizes[name] = files[name].stat().st_size / 2**20
    for name, (seconds, megabytes, said) in in_child(files).items():
        assert LOCATED.match(said), (name, said)
        assert re.search("deep|longer|needed|unpack", said), (name, said)
        assert len(said) < 2000
        assert seconds < 1, name
        # the file itself, once as its pieces and once joined, and little more
        assert megabytes <= 2 * sizes[name] + 20, name


def test_p4_many_attributes_and_elements_take_linear_time():
    def seconds(text: str) -> float:
        data, start = text.encode(), time.process_time()
        read(data)
        return time.process_time() - start

    attributes = " ".join(f'a{k}="{k}"' for k in range(100_000))
    for place in ("robot", "link", "gazebo"):
        text = '<robot name="r"><link name="a"/><gazebo/></robot>'
        assert seconds(text.replace(f"<{place}", f"<{place} {attributes}", 1)) < 2
    box = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
    assert seconds(f'<robot name="r"><link name="a">{box * 50_000}</link></robot>') < 5


def test_p9_names_of_files_are_not_followed_at_load(listener: tuple[int, list[Any]]):
    for name in (f"http://127.0.0.1:{listener[0]}/a.stl", "file:///dev/zero", "/dev/zero"):
        document = read(GOOD.replace("package://good/meshes/arm.stl", name))
        shape = document.robot.links[1].visuals[0].geometry
        assert isinstance(shape, Mesh)
        assert shape.filename == name
        with pytest.raises(InputError):
            resolve(name, "/robots/good/robot.urdf")
    assert not listener[1]


# ---- P11: nothing in a file is run


class Shout:
    """Unpickled, it would write a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.write_text, (self.path, "ran"))


@pytest.mark.parametrize("suffix", ["urdf", "xml", "pkl", "pickle", "npy", "npz", "pt", "json"])
def test_p11_no_code_is_run(tmp_path: Path, suffix: str):
    canary = tmp_path / "canary"
    path = tmp_path / f"robot.{suffix}"
    for data in (
        pickle.dumps(Shout(canary)),
        b"\x93NUMPY\x01\x00" + pickle.dumps(Shout(canary)),
        f"__import__('pathlib').Path({str(canary)!r}).write_text('ran')".encode(),
    ):
        path.write_bytes(data)
        refused(path)
    code = f"__import__('pathlib').Path('{canary}').write_text('ran')"
    for old in ("0 0 0.5", "good", "package"):
        try:
            read(GOOD.replace(old, f"${{{code}}}"))
        except DescriptionError:
            assert old == "0 0 0.5"
    assert not canary.exists()


def test_p11_reading_loads_no_pickle():
    code = "import sys, linkwork.formats.urdf.read; print('pickle' in sys.modules)"
    source = str(Path(linkwork.__file__).resolve().parents[1])
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.strip() == "False", done.stderr


# ---- P12: size


def chain(n: int) -> list[str]:
    links = [f'<link name="l{k}"/>' for k in range(n)]
    joints = [
        f'<joint name="j{k}" type="revolute"><origin xyz="0 0 0.{k}" rpy="0 0 0"/>'
        f'<parent link="l{k - 1}"/><child link="l{k}"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for k in range(1, n)
    ]
    return links + joints


@pytest.mark.sweep(1)
@pytest.mark.parametrize("backwards", [False, True])
def test_p12_a_chain_of_ten_thousand_links(backwards: bool):
    parts = chain(10_000)
    if backwards:
        parts.reverse()
    data = ('<robot name="r">' + "\n".join(parts) + "</robot>").encode()
    best = min(timed(data) for _ in range(3))
    assert best <= 0.5


def test_p12_a_star():
    n = int(os.environ.get("LINKWORK_TEST_STAR", "20000"))
    lines = [
        f'<link name="l{k}"/><joint name="j{k}" type="revolute"><parent link="base"/>'
        f'<child link="l{k}"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>\n'
        for k in range(n)
    ]
    data = ('<robot name="r"><link name="base"/>' + "".join(lines) + "</robot>").encode()
    assert timed(data) <= max(60e-6 * n, 1)


def timed(data: bytes) -> float:
    start = time.process_time()
    assert not read(data).problems
    return time.process_time() - start


def test_p12_cycles_and_couplings_of_any_length():
    n = 20_000
    ring = "".join(
        f'<link name="l{k}"/><joint name="j{k}" type="fixed"><parent link="l{k}"/>'
        f'<child link="l{(k + 1) % n}"/></joint>'
        for k in range(n)
    )
    assert codes(refused(f'<robot name="r">{ring}</robot>')) == {"cycle"}
    follow = "".join(
        f'<link name="l{k}"/><joint name="j{k}" type="continuous"><parent link="base"/>'
        f'<child link="l{k}"/><mimic joint="j{(k + 1) % n}"/></joint>'
        for k in range(n)
    )
    text = f'<robot name="r"><link name="base"/>{follow}</robot>'
    assert codes(refused(text)) == {"mimic-cycle"}
    assert not read(text.replace('<mimic joint="j0"/>', "")).problems
