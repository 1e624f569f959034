"""Robots as items of the user's multibody system, which exudyn simulates (extra ``exudyn``)."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError, MissingExtraError, ShapeError
from linkwork.faces.exudyn_robotics import graphics
from linkwork.faces.exudyn_robotics.graphics import GraphicsData
from linkwork.faces.exudyn_robotics.links import JOINTS, RobotLink, VRobotLink
from linkwork.faces.exudyn_robotics.transformations import (
    HT,
    HTtranslate,
    InverseHT,
    Skew,
)
from linkwork.ops.numpy import PLAIN
from linkwork.spatial import rotations, so3

if TYPE_CHECKING:
    from linkwork.faces.exudyn_robotics.robot import Robot

Floats = NDArray[np.float64]
UserFunctions = Sequence[Callable[..., Any] | int]


def exudyn_module(name: str = "exudyn") -> Any:
    """A module of exudyn.

    Raises: MissingExtraError where it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError(
            "models of a robot in a multibody system need exudyn, which is not installed: "
            "pip install 'linkwork[exudyn]'"
        ) from error


def add_kinematic_tree(
    robot: Robot, mbs: Any, name: str = "", forceUserFunction: Any = 0
) -> dict[str, Any]:
    """A robot as one object in the coordinates of its joints; see `Robot.CreateKinematicTree`."""
    exudyn, items = exudyn_module(), exudyn_module("exudyn.itemInterface")
    links = robot.links
    kinds = {"R": "Revolute", "P": "Prismatic"}
    base, n = robot.base.HT, len(links)
    places = [_place(robot, link) for link in links]
    gains = [link.GetPDcontrol() if link.HasPDcontrol() else (0.0, 0.0) for link in links]
    base_object = _base_object(robot, mbs, items)
    node = mbs.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=_reference(robot).tolist(),
            initialCoordinates=[0.0] * n,
            initialCoordinates_t=[0.0] * n,
            numberOfODE2Coordinates=n,
        )
    )
    drawn: list[list[GraphicsData]] = []
    if robot.tool.visualization.graphicsData or any(k.visualization.graphicsData for k in links):
        for k, link in enumerate(links):  # exudyn draws at the joint, before localHT
            local = link.localHT
            each = [graphics.Move(g, local[:3, 3], local[:3, :3]) for g in _drawn(robot, k)]
            drawn.append(each)
    tree = mbs.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[
                getattr(exudyn.JointType, kinds[k.jointType[0]] + k.jointType[1].upper())
                for k in links
            ],
            linkParents=[link.parent for link in links],
            jointTransformations=exudyn.Matrix3DList([T[:3, :3] for T in places]),
            jointOffsets=exudyn.Vector3DList([T[:3, 3] for T in places]),
            linkInertiasCOM=exudyn.Matrix3DList(
                [k.localHT[:3, :3] @ k.inertia @ k.localHT[:3, :3].T for k in links]
            ),
            linkCOMs=exudyn.Vector3DList([(k.localHT @ [*k.COM, 1.0])[:3] for k in links]),
            linkMasses=[link.mass for link in links],
            baseOffset=base[:3, 3].tolist(),
            gravity=[float(x) for x in robot.gravity],
            jointPControlVector=[float(p) for p, _ in gains],
            jointDControlVector=[float(d or 0.0) for _, d in gains],
            jointPositionOffsetVector=[0.0] * n,
            jointVelocityOffsetVector=[0.0] * n,
            forceUserFunction=forceUserFunction,
            name=name,
            visualization=items.VObjectKinematicTree(graphicsDataList=drawn),
        )
    )
    return {"nodeGeneric": node, "objectKinematicTree": tree, "baseObject": base_object}


class _Asked(NamedTuple):
    """The options of `Robot.CreateRedundantCoordinateMBS`, each list with an entry a link."""

    springs: list[Any]
    loads: list[Any]
    create_loads: bool
    R_marker_base: Floats | None
    node_type: Any


def add_bodies(
    robot: Robot,
    mbs: Any,
    baseMarker: Any,
    jointSpringDamperUserFunctionList: UserFunctions = (),
    jointLoadUserFunctionList: UserFunctions = (),
    createJointTorqueLoads: bool = True,
    rotationMarkerBase: ArrayLike | None = None,
    rigidBodyNodeType: Any = None,
) -> dict[str, Any]:
    """A robot as bodies and joints; see `Robot.CreateRedundantCoordinateMBS`."""
    exudyn, items = exudyn_module(), exudyn_module("exudyn.itemInterface")
    n = len(robot.links)
    given = None if rotationMarkerBase is None else np.asarray(rotationMarkerBase, np.float64)
    if given is not None and given.shape != (3, 3):
        raise ShapeError(f"rotationMarkerBase is (3, 3), not {given.shape}")
    asked = _Asked(
        _filled(jointSpringDamperUserFunctionList, n),
        _filled(jointLoadUserFunctionList, n),
        bool(createJointTorqueLoads),
        given,
        exudyn.NodeType.RotationEulerParameters if rigidBodyNodeType is None else rigidBodyNodeType,
    )
    _check(robot, asked, bool(len(jointSpringDamperUserFunctionList)))
    if any(asked.loads):
        warnings.warn(
            "jointLoadUserFunctionList is deprecated; use jointSpringDamperUserFunctionList",
            DeprecationWarning,
            stacklevel=3,
        )
    lists = (
        *("nodeList", "bodyList", "jointList", "markerList0", "markerList1", "springDamperList"),
        *("jointTorque0List", "jointTorque1List", "unitTorque0List", "unitTorque1List"),
    )
    found: dict[str, Any] = {name: [] for name in lists}
    base_object = _base_object(robot, mbs, items)
    found["baseObject"] = -1 if base_object is None else base_object
    poses = robot.LinkHT(_reference(robot))
    for k, link in enumerate(robot.links):
        node = mbs.AddNode(_node(exudyn, items, asked.node_type, poses[k]))
        body = mbs.AddObject(_body(items, node, link, _drawn(robot, k)))
        mass_marker = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        gravity = [float(x) for x in robot.gravity]
        mbs.AddLoad(items.LoadMassProportional(markerNumber=mass_marker, loadVector=gravity))
        found["nodeList"].append(node)
        found["bodyList"].append(body)
        before = _marker_before(robot, k, mbs, baseMarker, asked.R_marker_base, items, found)
        _add_joint(robot, k, mbs, before, asked, found)
    return found


def _filled(given: Sequence[Any], n: int) -> list[Any]:
    """One entry for each link, 0 where there is none."""
    return [*given[:n], *[0] * (n - len(given))]


def _check(robot: Robot, asked: _Asked, springs: bool) -> None:
    """Refuse what cannot be built, before anything is.

    Raises: InputError (a ValueError).
    """
    for k, link in enumerate(robot.links):
        if springs:
            link.GetPDcontrol()
        if not link.turns and (asked.create_loads or asked.loads[k]):
            raise InputError(
                f"joint {k} slides, and torques are for joints that turn: createJointTorqueLoads="
                "False, without user functions of loads"
            )


def _reference(robot: Robot) -> Floats:
    return np.asarray(robot.referenceConfiguration, np.float64)[: len(robot.links)]


def _place(robot: Robot, link: RobotLink) -> Floats:
    """The pose (4, 4) of a joint in the one before; of a first one, in the base without offset."""
    if link.parent >= 0:
        return robot.links[link.parent].localHT @ link.preHT
    return HT(robot.base.HT[:3, :3], np.zeros(3)) @ link.preHT


def _base_object(robot: Robot, mbs: Any, items: Any) -> Any:
    """The ground object that the base is drawn by; None where nothing is drawn."""
    data = robot.base.visualization.graphicsData
    if not data:
        return None
    base = robot.base.HT
    drawn = [graphics.Move(each, np.zeros(3), base[:3, :3]) for each in data]
    look = items.VObjectGround(graphicsData=drawn)
    return mbs.AddObject(
        items.ObjectGround(referencePosition=base[:3, 3].tolist(), visualization=look)
    )


def _node(exudyn: Any, items: Any, kind: Any, T: Floats) -> Any:
    """A node of a rigid body at a pose (4, 4).

    Raises: InputError (a ValueError) for another type of node.
    """
    p, R = T[:3, 3].tolist(), T[:3, :3]
    if kind == exudyn.NodeType.RotationEulerParameters:
        turn = rotations.to_quaternion(PLAIN, R)
        return items.NodeRigidBodyEP(referenceCoordinates=[*p, *map(float, turn)])
    if kind == exudyn.NodeType.RotationRxyz:  # Rx Ry Rz, whose transpose has the angles negative
        turn = rotations.to_rpy(PLAIN, R.T)
        return items.NodeRigidBodyRxyz(referenceCoordinates=[*p, *[-float(x) for x in turn]])
    if kind == exudyn.NodeType.RotationRotationVector:
        turn = so3.log(PLAIN, R)
        return items.NodeRigidBodyRotVecLG(referenceCoordinates=[*p, *map(float, turn)])
    raise InputError(
        "rigidBodyNodeType is RotationEulerParameters, RotationRxyz or RotationRotationVector, "
        f"not {kind!s:.60}"
    )


def _body(items: Any, node: Any, link: RobotLink, drawn: list[GraphicsData]) -> Any:
    """A rigid body; exudyn before 1.12.258 has other names for its numbers."""
    c = Skew(link.COM)
    about = link.inertia + link.mass * c @ c.T
    numbers = (link.mass, about[[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]].tolist(), link.COM.tolist())
    rest = dict(nodeNumber=node, visualization=items.VObjectRigidBody(graphicsData=drawn))
    names = ("mass", "inertia", "centerOfMass")
    try:
        return items.ObjectRigidBody(**dict(zip(names, numbers, strict=True)), **rest)
    except TypeError:
        names = ("physicsMass", "physicsInertia", "physicsCenterOfMass")
        return items.ObjectRigidBody(**dict(zip(names, numbers, strict=True)), **rest)


class _Marker(NamedTuple):
    """A marker that carries a joint, and the rotation (3, 3) of the joint in its axes."""

    number: Any
    R: Floats


def _marker_before(
    robot: Robot,
    k: int,
    mbs: Any,
    baseMarker: Any,
    R_marker_base: Floats | None,
    items: Any,
    found: dict[str, Any],
) -> _Marker:
    """The marker of a joint on the body before it, or on what carries the base.

    Raises: InputError (a ValueError) where the base is off a marker that is not on a body.
    """
    link = robot.links[k]
    if link.parent >= 0:
        body, T = found["bodyList"][link.parent], link.preHT
        marker = items.MarkerBodyRigid(bodyNumber=body, localPosition=T[:3, 3].tolist())
        return _Marker(mbs.AddMarker(marker), T[:3, :3])
    exudyn = exudyn_module()
    kinds, reference = exudyn.OutputVariableType, exudyn.ConfigurationType.Reference
    p = mbs.GetMarkerOutput(baseMarker, kinds.Position, reference)
    R = np.reshape(mbs.GetMarkerOutput(baseMarker, kinds.RotationMatrix, reference), (3, 3))
    base = InverseHT(HT(R, p)) @ robot.base.HT
    if R_marker_base is not None:
        base[:3, :3] = R_marker_base
    T = base @ link.preHT
    if np.abs(T[:3, 3]).max() < 1e-12:
        return _Marker(baseMarker, T[:3, :3])
    there = mbs.GetMarker(baseMarker)
    if "bodyNumber" not in there or "localPosition" not in there:
        raise InputError(
            f"the first joint is at {T[:3, 3].round(6).tolist()} from baseMarker, which is not on "
            "a body: use MarkerBodyRigid, or put the marker where base.HT and preHT are"
        )
    at = HTtranslate(there["localPosition"])
    if "localHT" in there:
        at = np.asarray(there["localHT"], np.float64).reshape(4, 4)
    T = at @ T
    marker = items.MarkerBodyRigid(bodyNumber=there["bodyNumber"], localPosition=T[:3, 3].tolist())
    return _Marker(mbs.AddMarker(marker), T[:3, :3])


def _add_joint(
    robot: Robot, k: int, mbs: Any, before: _Marker, asked: _Asked, found: dict[str, Any]
) -> None:
    """Add a joint with its spring and its loads, and enter their numbers."""
    items, link = exudyn_module("exudyn.itemInterface"), robot.links[k]
    joint = InverseHT(link.localHT)
    marker = items.MarkerBodyRigid(
        bodyNumber=found["bodyList"][k], localPosition=joint[:3, 3].tolist()
    )
    after = _Marker(mbs.AddMarker(marker), joint[:3, :3])
    markers = [before.number, after.number]
    free = JOINTS[link.jointType][0] + (3 if link.turns else 0)
    look = link.visualization
    generic = items.ObjectJointGeneric(
        markerNumbers=markers,
        constrainedAxes=[int(i != free) for i in range(6)],
        rotationMarker0=before.R,
        rotationMarker1=after.R,
        visualization=items.VObjectJointGeneric(
            show=look.showMBSjoint,
            axesRadius=0.25 * look.jointRadius,
            axesLength=1.1 * look.jointWidth,
        ),
    )
    found["jointList"].append(mbs.AddObject(generic))
    found["markerList0"].append(before.number)
    found["markerList1"].append(after.number)
    found["springDamperList"].append(_spring(robot, k, mbs, before, after, asked.springs[k]))
    loads, units = _loads(link, mbs, items, before, after, asked.loads[k], asked.create_loads)
    for side in range(2):
        found[f"jointTorque{side}List"].append(loads[side])
        found[f"unitTorque{side}List"].append(units[side])


def _spring(robot: Robot, k: int, mbs: Any, before: _Marker, after: _Marker, function: Any) -> Any:
    """The spring and damper of a link's gains; None without gains."""
    link, items = robot.links[k], exudyn_module("exudyn.itemInterface")
    if not link.HasPDcontrol():
        return None
    stiffness, damping = link.GetPDcontrol()
    same = dict(
        markerNumbers=[before.number, after.number],
        stiffness=float(stiffness),
        damping=float(damping or 0.0),
    )
    if not link.turns:
        return mbs.AddObject(
            items.ObjectConnectorLinearSpringDamper(
                axisMarker0=(before.R @ link.axis).tolist(),
                springForceUserFunction=function,
                visualization=items.VObjectConnectorLinearSpringDamper(show=False),
                **same,
            )
        )
    # it turns about z of its markers, and its node knows about whole turns
    to_z = np.roll(np.eye(3), JOINTS[link.jointType][0] - 2, axis=0)
    data = mbs.AddNode(
        items.NodeGenericData(
            numberOfDataCoordinates=1, initialCoordinates=[float(_reference(robot)[k])]
        )
    )
    return mbs.AddObject(
        items.ObjectConnectorTorsionalSpringDamper(
            nodeNumber=data,
            rotationMarker0=before.R @ to_z,
            rotationMarker1=after.R @ to_z,
            springTorqueUserFunction=function,
            visualization=items.VObjectConnectorTorsionalSpringDamper(show=False),
            **same,
        )
    )


def _loads(
    link: RobotLink,
    mbs: Any,
    items: Any,
    before: _Marker,
    after: _Marker,
    function: Any,
    create: bool,
) -> tuple[list[Any], list[Any]]:
    """The loads of a torque on both bodies, with their unit vectors; None where there are none."""
    if not link.turns:
        return [None, None], [None, None]
    units = [-(before.R @ link.axis), after.R @ link.axis]
    if not create and not function:
        return [None, None], units
    loads = [
        mbs.AddLoad(
            items.LoadTorqueVector(
                markerNumber=marker.number,
                loadVector=unit.tolist() if function else [0.0, 0.0, 0.0],
                bodyFixed=True,
                loadVectorUserFunction=function,
            )
        )
        for marker, unit in zip((before, after), units, strict=True)
    ]
    return loads, units


# drawing


def link_graphics(
    robot: Robot,
    i: int,
    p0: ArrayLike,
    p1: ArrayLike,
    axis0: ArrayLike,
    axis1: ArrayLike,
    linkVisualization: VRobotLink,
) -> list[GraphicsData]:
    """How a link between two joints is drawn; see `Robot.GetLinkGraphicsData`."""
    look, shade = linkVisualization, list(linkVisualization.linkColor)
    start, end = np.asarray(p0, np.float64), np.asarray(p1, np.float64)
    halves = [0.5 * look.jointWidth * np.asarray(a, np.float64) for a in (axis0, axis1)]
    found: list[GraphicsData] = []
    if look.showCOM:
        side = 0.2 * look.jointRadius
        dark = [*[0.8 * x for x in shade[:3]], *shade[3:]]
        found.append(graphics.Brick(robot.links[i].COM, [side] * 3, dark))
    if i > 0 and halves[0].any():
        found.append(graphics.Cylinder(start - halves[0], halves[0], look.jointRadius, shade))
    if halves[1].any():
        found.append(graphics.Cylinder(end, halves[1], look.jointRadius, shade))
    if np.linalg.norm(end - start) > 1e-15:
        found.append(graphics.Cylinder(start, end - start, 0.5 * look.linkWidth, shade))
    return found


def _drawn(robot: Robot, k: int) -> list[GraphicsData]:
    """A link's own data, or those of its geometry, in its frame; with the tool on the last one."""
    link = robot.links[k]
    look = link.visualization
    found = list(look.graphicsData) or _from_geometry(robot, k)
    tool = robot.tool.HT
    if k == len(robot.links) - 1:
        data = robot.tool.visualization.graphicsData
        found += [graphics.Move(each, tool[:3, 3], tool[:3, :3]) for each in data]
    return found


def _from_geometry(robot: Robot, k: int) -> list[GraphicsData]:
    link, joint = robot.links[k], InverseHT(robot.links[k].localHT)
    p0, axis0 = joint[:3, 3], joint[:3, :3] @ link.axis
    after = [each for each in robot.links if each.parent == k]
    ends = [(each.preHT[:3, 3], each.preHT[:3, :3] @ each.axis) for each in after]
    if not ends:
        is_last = k == len(robot.links) - 1
        ends = [(robot.tool.HT[:3, 3] if is_last else np.zeros(3), np.zeros(3))]
    look, found = link.visualization, list[GraphicsData]()
    for p1, axis1 in ends:
        # a second branch has the rest of the link in common with the first
        number = 0 if found else k
        found += link_graphics(robot, number, p0, p1, axis0, axis1, look)
        look = copy.copy(look)
        look.showCOM = False
    return found
