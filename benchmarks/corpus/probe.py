"""What one library makes of one file: ``python probe.py LIBRARY``, in the library's environment.

Reads one JSON object a line (file, positions by joint, followers), answers one: the poses of the
links in the root link's frame, or the error. A warning that a library prints counts as said.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import logging
import sys
import warnings
from typing import Any

Poses = dict[str, list[list[float]]]


def part(name: str) -> Any:
    """A module that only the library's own environment has."""
    return importlib.import_module(name)


def linkwork(file: str, positions: dict[str, float], followers: dict[str, float]) -> Poses:
    """Ours."""
    robot = part("linkwork").load(file)
    full = {name: positions[name] for name in positions if name in robot.joint_names}
    poses = robot.fk_all(robot.configuration(full))
    wanted = {link.name for link in robot.document.robot.links}
    rows = zip(robot.frame_names, poses, strict=True)
    return {name: T.tolist() for name, T in rows if name in wanted}


def pinocchio(file: str, positions: dict[str, float], followers: dict[str, float]) -> Poses:
    """Mimic joints by its own option; continuous joints as cosine and sine."""
    pin, np = part("pinocchio"), part("numpy")
    model = pin.buildModelFromUrdf(file, mimic=True)
    data, q = model.createData(), pin.neutral(model)
    for name, value in positions.items():
        if model.existJointName(name):
            joint = model.joints[model.getJointId(name)]
            at = joint.idx_q
            q[at : at + joint.nq] = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
    pin.framesForwardKinematics(model, data, q)
    found: Poses = {}
    for frame, T in zip(model.frames, data.oMf, strict=True):
        if frame.type == pin.FrameType.BODY:
            found[frame.name] = T.homogeneous.tolist()
    return found


def yourdfpy(file: str, positions: dict[str, float], followers: dict[str, float]) -> Poses:
    """Without meshes."""
    library = part("yourdfpy")
    robot = library.URDF.load(file, build_scene_graph=True, load_meshes=False)
    robot.update_cfg(positions)
    links = [link.name for link in robot.robot.links]
    return {name: robot.get_transform(name, robot.base_link).tolist() for name in links}


def urchin(file: str, positions: dict[str, float], followers: dict[str, float]) -> Poses:
    """Meshes are left for later."""
    robot = part("urchin").URDF.load(file, lazy_load_meshes=True)
    return _of_links(robot, positions)


def urdfpy(file: str, positions: dict[str, float], followers: dict[str, float]) -> Poses:
    """It is given a copy with spheres for meshes, for it opens every one."""
    return _of_links(part("urdfpy").URDF.load(file), positions)


def _of_links(robot: Any, positions: dict[str, float]) -> Poses:
    known = {joint.name for joint in robot.joints}
    poses = robot.link_fk({name: value for name, value in positions.items() if name in known})
    base = poses[robot.base_link]
    inverse = part("numpy").linalg.inv(base)
    return {link.name: (inverse @ T).tolist() for link, T in poses.items()}


def mujoco(file: str, positions: dict[str, float], followers: dict[str, float]) -> Poses:
    """Given spheres for meshes; followers are set by hand, for they are equalities here."""
    library, np = part("mujoco"), part("numpy")
    spec = library.MjSpec.from_file(file)
    spec.compiler.fusestatic = False
    model = spec.compile()
    data = library.MjData(model)
    for name, value in {**positions, **followers}.items():
        index = library.mj_name2id(model, library.mjtObj.mjOBJ_JOINT, name)
        if index >= 0:
            data.qpos[model.jnt_qposadr[index]] = value
    library.mj_kinematics(model, data)
    found: Poses = {}
    for k in range(model.nbody):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = data.xmat[k].reshape(3, 3), data.xpos[k]
        found[model.body(k).name] = T.tolist()
    return found


def main() -> None:
    """Answer until the input ends."""
    load = globals()[sys.argv[1]]
    out = sys.stdout
    sys.stdout = sys.stderr
    warnings.simplefilter("ignore")
    logging.disable(logging.INFO)
    for line in sys.stdin:
        asked = json.loads(line)
        said = io.StringIO()
        handler = logging.StreamHandler(said)
        logging.getLogger().handlers[:] = [handler]
        try:
            with contextlib.redirect_stderr(said):
                poses = load(asked["file"], asked["positions"], asked["followers"])
            answer: dict[str, Any] = {"poses": poses, "said": said.getvalue()[:400]}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:400]}
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
