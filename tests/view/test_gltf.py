"""glTF files: read back by another reader, the robot stands and moves as it does."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from PIL import Image

import linkwork as lw
from linkwork.geometry.normals import creased
from seeds import rng

Y_UP = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])


class Glb:
    """A file taken apart by the specification's rules."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        magic, version, length = struct.unpack_from("<III", data)
        assert (magic, version, length) == (0x46546C67, 2, len(data))
        chunks, at = {}, 12
        while at < length:
            size, kind = struct.unpack_from("<II", data, at)
            assert size % 4 == 0
            chunks[kind] = data[at + 8 : at + 8 + size]
            at += 8 + size
        self.tree = json.loads(chunks[0x4E4F534A])
        self.binary = chunks.get(0x004E4942, b"")
        self.nodes = self.tree["nodes"]

    def numbers(self, accessor: int) -> np.ndarray:
        item = self.tree["accessors"][accessor]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[item["type"]]
        kind = {5126: "<f4", 5123: "<u2", 5125: "<u4"}[item["componentType"]]
        start = self.tree["bufferViews"][item["bufferView"]]["byteOffset"]
        return np.frombuffer(self.binary, kind, item["count"] * width, start).reshape(-1, width)

    def at(self, t: float) -> list[dict[str, Any]]:
        """The nodes at an instant of the animation, quaternions interpolated as players do."""
        nodes = [dict(node) for node in self.nodes]
        animation = self.tree["animations"][0]
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            times = self.numbers(sampler["input"])[:, 0]
            values = self.numbers(sampler["output"]).astype(float)
            k = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2))
            share = (t - times[k]) / (times[k + 1] - times[k])
            value = (1 - share) * values[k] + share * values[k + 1]
            target = channel["target"]
            nodes[target["node"]][target["path"]] = value / (
                np.linalg.norm(value) if target["path"] == "rotation" else 1.0
            )
        return nodes

    def poses(self, nodes: list[dict[str, Any]] | None = None) -> dict[str, np.ndarray]:
        """Poses of the nodes in the file's world, by name."""
        nodes = self.nodes if nodes is None else nodes
        found: dict[str, np.ndarray] = {}

        def walk(k: int, T: np.ndarray) -> None:
            node = nodes[k]
            x, y, z, w = node.get("rotation", (0, 0, 0, 1))
            own = lw.pose(node.get("translation", (0, 0, 0)), wxyz=(w, x, y, z))
            found.setdefault(node["name"], T @ own)
            for child in node.get("children", []):
                walk(child, T @ own)

        walk(0, np.eye(4))
        return found


def moving(robot: lw.Robot, n: int = 12, label: str = "motion") -> np.ndarray:
    ends = robot.random(3, seed=rng(label))
    share = np.linspace(0, 2, n)[:, None]
    return np.where(
        share < 1,
        ends[0] + share * (ends[1] - ends[0]),
        ends[1] + (share - 1) * (ends[2] - ends[1]),
    )


@pytest.mark.parametrize("name", ["panda", "mobile_arm", "four_bar"])
def test_trimesh_reads_the_robot_in_its_place(name: str, tmp_path: Path):
    robot = lw.load(name)
    q = robot.random(seed=3)
    assert robot.export_glb(tmp_path / "r.glb", q=q) == ()
    scene = trimesh.load(tmp_path / "r.glb")
    found = scene.to_geometry() if hasattr(scene, "to_geometry") else scene.dump(concatenate=True)
    expected = robot.mesh(q)
    assert len(found.faces) == len(expected.faces)
    corners = np.asarray(found.triangles).reshape(-1, 3) @ Y_UP[:3, :3]  # back to z up
    order = np.lexsort(np.round(corners, 4).T)
    own = np.asarray(expected.triangles).reshape(-1, 3)
    np.testing.assert_allclose(corners[order].sum(axis=0), own.sum(axis=0), atol=1e-5 * len(own))
    np.testing.assert_allclose(np.sort(corners, axis=0), np.sort(own, axis=0), atol=1e-5)


@pytest.mark.parametrize("name", ["panda", "mobile_arm"])
def test_links_move_as_the_robot_does(name: str, tmp_path: Path):
    robot = lw.load(name)
    q = moving(robot)
    times = np.linspace(0, 1.5, len(q))
    robot.export_glb(tmp_path / "r.glb", trajectory=q, times=times)
    file = Glb(tmp_path / "r.glb")
    for t, row in zip(times, q, strict=True):
        poses = file.poses(file.at(t))
        for link, T in zip(robot.link_names, robot.fk_all(row), strict=False):
            np.testing.assert_allclose(poses[link], Y_UP @ T, atol=1e-6, err_msg=link)


def test_between_the_keys_links_take_the_short_way(tmp_path: Path):
    robot = lw.load("panda")
    q = np.linspace(robot.mechanism.lower, robot.mechanism.upper, 40)  # full turns of the wrist
    robot.export_glb(tmp_path / "r.glb", trajectory=q, duration=1.0)
    file, times = Glb(tmp_path / "r.glb"), np.linspace(0, 1, 40)
    for k in range(39):
        poses = file.poses(file.at((times[k] + times[k + 1]) / 2))
        T = robot.fk_all((q[k] + q[k + 1]) / 2)
        for link, pose in zip(robot.link_names, T, strict=False):
            np.testing.assert_allclose(poses[link], Y_UP @ pose, atol=0.02, err_msg=link)


def test_a_free_body_turns_the_short_way(tmp_path: Path):
    robot = lw.load("panda", base="floating")
    n = robot.n_q - 7
    half = np.linspace(0, 2 * np.pi, 30) / 2
    q = np.zeros((30, robot.n_q))
    q[:, 3], q[:, 6] = np.cos(half), np.sin(half)
    q[::2, 3:7] *= -1  # the other quaternion of the same rotation
    assert n > 0
    robot.export_glb(tmp_path / "r.glb", trajectory=q, duration=1.0)
    file = Glb(tmp_path / "r.glb")
    turns = [
        file.numbers(file.tree["animations"][0]["samplers"][c["sampler"]]["output"])
        for c in file.tree["animations"][0]["channels"]
        if c["target"]["path"] == "rotation"
    ]
    for values in turns:
        assert (np.einsum("ij,ij->i", values[1:], values[:-1]) > 0.9).all()


def test_what_stands_still_has_no_channel(tmp_path: Path):
    robot = lw.load("panda")
    q = np.tile(robot.neutral(), (5, 1))
    q[:, 3] += np.linspace(0, -1, 5)
    robot.export_glb(tmp_path / "r.glb", trajectory=q)
    file = Glb(tmp_path / "r.glb")
    (channel,) = file.tree["animations"][0]["channels"]
    assert file.nodes[channel["target"]["node"]]["name"] == "link4"
    assert channel["target"]["path"] == "rotation"
    robot.export_glb(tmp_path / "r.glb", trajectory=q[:1].repeat(3, axis=0))
    assert "animations" not in Glb(tmp_path / "r.glb").tree


def test_a_trajectory_a_simulation_and_positions_by_name_are_motions(tmp_path: Path):
    robot = lw.load("planar_2r")
    through = lw.trajectory.through([[0, 0], [1, 1]], duration=1.0)
    simulation = lw.simulate(robot, [0.1, 0.2], [1.0, 0.0], duration=0.2)
    for given in (
        through,
        simulation,
        {robot.joint_names[0]: [0.0, 1.0]},
    ):
        robot.export_glb(tmp_path / "r.glb", trajectory=given)
        assert Glb(tmp_path / "r.glb").tree["animations"]


def test_colours_are_linear_and_clear_parts_blend(tmp_path: Path):
    text = """<robot name='r'><link name='l'><visual><geometry><box size='1 1 1'/></geometry>
      <material name='m'><color rgba='0.5 1 0 0.25'/></material></visual>
      <visual><geometry><box size='1 1 1'/></geometry></visual></link></robot>"""
    lw.load(text).export_glb(tmp_path / "r.glb")
    file = Glb(tmp_path / "r.glb")
    clear, plain = file.tree["materials"]
    np.testing.assert_allclose(
        clear["pbrMetallicRoughness"]["baseColorFactor"], (0.214041, 1, 0, 0.25), atol=1e-6
    )
    assert clear["alphaMode"] == "BLEND"
    assert "alphaMode" not in plain
    assert len({node["mesh"] for node in file.nodes if "mesh" in node}) == 2
    positions = [m["primitives"][0]["attributes"]["POSITION"] for m in file.tree["meshes"]]
    assert positions[0] == positions[1]  # one box


def test_a_robot_without_shapes_is_its_skeleton(tmp_path: Path):
    robot = lw.from_dh([[0, 0.3, 0, 0], [0, 0, 0.4, 0]])
    (message,) = robot.export_glb(tmp_path / "r.glb")
    assert "skeleton" in message
    file = Glb(tmp_path / "r.glb")
    assert all(mesh["primitives"][0]["mode"] == 1 for mesh in file.tree["meshes"])


def test_textures_lie_in_the_file(tmp_path: Path):
    Image.new("RGB", (4, 4), (9, 8, 7)).save(tmp_path / "skin.png")
    (tmp_path / "a.mtl").write_text("newmtl s\nKd 1 1 1\nmap_Kd skin.png\n")
    (tmp_path / "a.obj").write_text(
        "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl s\nf 1/1 2/2 3/3\n"
    )
    mesh = "<visual><geometry><mesh filename='a.obj'/></geometry></visual>"
    (tmp_path / "r.urdf").write_text(f"<robot name='r'><link name='l'>{mesh}</link></robot>")
    lw.load(tmp_path / "r.urdf").export_glb(tmp_path / "r.glb")
    (part,) = trimesh.load(tmp_path / "r.glb").geometry.values()
    assert part.visual.material.baseColorTexture.size == (4, 4)
    np.testing.assert_allclose(part.visual.uv, np.asarray(part.vertices)[:, :2], atol=1e-6)


def test_a_missing_mesh_is_told_and_the_rest_written(tmp_path: Path):
    text = """<robot name='r'><link name='l'>
      <visual><geometry><mesh filename='lost.stl'/></geometry></visual>
      <visual><geometry><box size='1 1 1'/></geometry></visual></link></robot>"""
    (message,) = lw.load(text).export_glb(tmp_path / "r.glb")
    assert "lost.stl" in message
    assert len(trimesh.load(tmp_path / "r.glb").geometry) == 1


def test_what_makes_no_sense_is_refused_and_writes_nothing(tmp_path: Path):
    robot = lw.load("planar_2r")
    with pytest.raises(lw.InputError, match=r"does not end with \.glb"):
        robot.export_glb(tmp_path / "r.stl")
    with pytest.raises(lw.InputError, match="there is none"):
        robot.export_glb(tmp_path / "r.glb", times=[0, 1])
    with pytest.raises(lw.InputError, match="q or a trajectory"):
        robot.export_glb(tmp_path / "r.glb", q=[0, 0], trajectory=[[0, 0], [1, 1]])
    with pytest.raises(lw.InputError):
        robot.export_glb(tmp_path / "r.glb", trajectory=[[0, 0], [np.nan, 1]])
    assert not list(tmp_path.iterdir())


VALIDATE = """
const validator = require('gltf-validator'), fs = require('fs');
validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[1]))).then(
  (report) => console.log(JSON.stringify(report.issues)));
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["panda", "delta", "humanoid", "dh"])
def test_the_validator_of_the_standard_finds_no_fault(name: str, tmp_path: Path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not there")
    found = subprocess.run(
        [node, "-e", "require('gltf-validator')"], capture_output=True, check=False, timeout=60
    )
    if found.returncode:
        pytest.skip("node's package gltf-validator is not there")
    robot = lw.from_dh([[0, 0.3, 0, 0], [0, 0, 0.4, 0]]) if name == "dh" else lw.load(name)
    file = tmp_path / "r.glb"
    robot.export_glb(file, trajectory=robot.random(5, seed=1), kinds=("visual", "collision"))
    done = subprocess.run(
        [node, "-e", VALIDATE, str(file)], capture_output=True, text=True, check=True, timeout=60
    )
    issues = json.loads(done.stdout)
    assert (issues["numErrors"], issues["numWarnings"]) == (0, 0), issues["messages"]


# --- normals --------------------------------------------------------------------------------------


def test_a_box_has_its_own_normal_on_each_side():
    box = trimesh.creation.box((1, 2, 3))
    shaded = creased(box.vertices, box.faces)
    assert len(shaded.source) == 24
    normals = shaded.normals[shaded.faces]
    np.testing.assert_allclose(normals, np.repeat(box.face_normals[:, None], 3, axis=1), atol=1e-12)


def test_a_ball_is_smooth_and_a_cylinder_sharp_at_its_ends():
    ball = trimesh.creation.icosphere(subdivisions=3)
    shaded = creased(ball.vertices, ball.faces)
    assert len(shaded.source) == len(ball.vertices)
    np.testing.assert_allclose(shaded.normals, ball.vertices[shaded.source], atol=0.02)
    tube = trimesh.creation.cylinder(radius=1, height=1, sections=32)
    normals = creased(tube.vertices, tube.faces).normals
    up = np.abs(normals[:, 2])
    assert ((up > 1 - 1e-9) | (up < 1e-9)).all()


def test_faces_of_no_size_do_not_spoil_normals():
    shaded = creased([[0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0]], [[0, 1, 2], [0, 1, 3]])
    assert np.isfinite(shaded.normals).all()
    np.testing.assert_allclose(np.linalg.norm(shaded.normals, axis=1), 1.0)
