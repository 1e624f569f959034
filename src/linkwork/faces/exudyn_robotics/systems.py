"""Robots as items of the user's multibody system, which exudyn simulates (extra ``exudyn``)."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import extras
from linkwork.errors import InputError, ShapeError
from linkwork.faces.exudyn_robotics import graphics
from linkwork.faces.exudyn_robotics.graphics import GraphicsData
from linkwork.faces.exudyn_robotics.links import (
    JOINTS,
    RobotBase,
    RobotLink,
    RobotTool,
    VRobotLink,
)
from linkwork.faces.exudyn_robotics.transformations import (
    HT,
    InverseHT,
    Skew,
)
from linkwork.ops.numpy import PLAIN
from linkwork.spatial import rotations, so3

Floats = NDArray[np.float64]
UserFunctions = Sequence[Callable[..., Any] | int]


def exudyn_module(name: str = "exudyn") -> Any:
    """A module of exudyn.

    Raises: MissingExtraError where it is not installed.
    """
    with extras.needed("models of a robot in a multibody system need", "exudyn", "exudyn"):
        return import_module(name)


class _Asked(NamedTuple):
    """The options of `Robot.CreateRedundantCoordinateMBS`, each list with an entry a link."""

    springs: list[Any]
    loads: list[Any]
    create_loads: bool
    R_marker_base: Floats | None
    node_type: Any


class InSystems:
    """The methods of `Robot` that make models of it in a system of exudyn, and drawings."""

    base: RobotBase
    tool: RobotTool
    links: list[RobotLink]
    gravity: Floats
    referenceConfiguration: Floats

    def LinkHT(self, q: ArrayLike) -> list[Floats]:
        """See `Robot`."""
        raise NotImplementedError

    def CreateKinematicTree(
        self, mbs: Any, name: str = "", forceUserFunction: Any = 0
    ) -> dict[str, Any]:
        """Add the robot to a system of exudyn, in the coordinates of its joints.

        Gives the numbers of "nodeGeneric", "objectKinematicTree" and "baseObject", which is None
        where the base is not drawn. Links with gains are held at jointPositionOffsetVector.

        Raises: MissingExtraError (an ImportError) without exudyn.
        """
        exudyn, items = exudyn_module(), exudyn_module("exudyn.itemInterface")
        links = self.links
        kinds = {"R": "Revolute", "P": "Prismatic"}
        base, n = self.base.HT, len(links)
        places = [_place(self, link) for link in links]
        gains = [link.GetPDcontrol() if link.HasPDcontrol() else (0.0, 0.0) for link in links]
        base_object = _base_object(self, mbs, items)
        node = mbs.AddNode(
            items.NodeGenericODE2(
                referenceCoordinates=_reference(self).tolist(),
                initialCoordinates=[0.0] * n,
                initialCoordinates_t=[0.0] * n,
                numberOfODE2Coordinates=n,
            )
        )
        drawn: list[list[GraphicsData]] = []
        if self.tool.visualization.graphicsData or any(k.visualization.graphicsData for k in links):
            for k, link in enumerate(links):  # exudyn draws at the joint, before localHT
                local = link.localHT
                each = [graphics.Move(g, local[:3, 3], local[:3, :3]) for g in _drawn(self, k)]
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
                gravity=[float(x) for x in self.gravity],
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

    def CreateRedundantCoordinateMBS(
        self,
        mbs: Any,
        baseMarker: Any,
        jointSpringDamperUserFunctionList: UserFunctions = (),
        jointLoadUserFunctionList: UserFunctions = (),
        createJointTorqueLoads: bool = True,
        rotationMarkerBase: ArrayLike | None = None,
        rigidBodyNodeType: Any = None,
    ) -> dict[str, Any]:
        """Add the robot to a system of exudyn, as a body for each link, and joints between them.

        The base hangs on ``baseMarker``, where base.HT says in the reference configuration;
        ``rotationMarkerBase`` (3, 3) replaces its rotation against the marker. User functions are
        exudyn's, one for each link or 0; those of springs need gains. ``createJointTorqueLoads``
        adds a torque of zero on both sides of each joint, to be changed by its number.

        Gives lists with an entry for each link: nodeList, bodyList, jointList, markerList0 and 1,
        springDamperList, jointTorque0List and 1, and unitTorque0List and 1 (3,) in the axes of the
        bodies; None where there is none. "baseObject" is -1 where the base is not drawn.

        Raises: InputError (a ValueError) for torques on joints that slide, springs' functions
        without gains, and another type of node; MissingExtraError (an ImportError) without exudyn.
        """
        exudyn, items = exudyn_module(), exudyn_module("exudyn.itemInterface")
        n = len(self.links)
        given = None if rotationMarkerBase is None else np.asarray(rotationMarkerBase, np.float64)
        if given is not None and given.shape != (3, 3):
            raise ShapeError(f"rotationMarkerBase is (3, 3), not {given.shape}")
        euler = exudyn.NodeType.RotationEulerParameters
        asked = _Asked(
            _filled(jointSpringDamperUserFunctionList, n),
            _filled(jointLoadUserFunctionList, n),
            bool(createJointTorqueLoads),
            given,
            euler if rigidBodyNodeType is None else rigidBodyNodeType,
        )
        _check(self, asked, bool(len(jointSpringDamperUserFunctionList)))
        if any(asked.loads):
            warnings.warn(
                "jointLoadUserFunctionList is deprecated; use jointSpringDamperUserFunctionList",
                DeprecationWarning,
                stacklevel=2,
            )
        lists = (
            *(
                "nodeList",
                "bodyList",
                "jointList",
                "markerList0",
                "markerList1",
                "springDamperList",
            ),
            *("jointTorque0List", "jointTorque1List", "unitTorque0List", "unitTorque1List"),
        )
        found: dict[str, Any] = {name: [] for name in lists}
        base_object = _base_object(self, mbs, items)
        found["baseObject"] = -1 if base_object is None else base_object
        poses = self.LinkHT(_reference(self))
        for k, link in enumerate(self.links):
            node = mbs.AddNode(_node(exudyn, items, asked.node_type, poses[k]))
            body = mbs.AddObject(_body(items, node, link, _drawn(self, k)))
            mass_marker = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
            gravity = [float(x) for x in self.gravity]
            mbs.AddLoad(items.LoadMassProportional(markerNumber=mass_marker, loadVector=gravity))
            found["nodeList"].append(node)
            found["bodyList"].append(body)
            before = _before(self, k, mbs, baseMarker, asked.R_marker_base, found["bodyList"])
            _add_joint(self, k, mbs, before, asked, found)
        return found

    def GetLinkGraphicsData(
        self,
        i: int,
        p0: ArrayLike,
        p1: ArrayLike,
        axis0: ArrayLike,
        axis1: ArrayLike,
        linkVisualization: VRobotLink,
    ) -> list[GraphicsData]:
        """Drawing of a link: a cube at its centre of mass, half of two joints, and a cylinder.

        The joints (3,) are at ``p0`` and ``p1`` with their axes, in the link's frame; that at p0 is
        not drawn for link 0.
        """
        look, shade = linkVisualization, list(linkVisualization.linkColor)
        start, end = np.asarray(p0, np.float64), np.asarray(p1, np.float64)
        halves = [0.5 * look.jointWidth * np.asarray(a, np.float64) for a in (axis0, axis1)]
        found: list[GraphicsData] = []
        if look.showCOM:
            side = 0.2 * look.jointRadius
            dark = [*[0.8 * x for x in shade[:3]], *shade[3:]]
            found.append(graphics.Brick(self.links[i].COM, [side] * 3, dark))
        if i > 0 and halves[0].any():
            found.append(graphics.Cylinder(start - halves[0], halves[0], look.jointRadius, shade))
        if halves[1].any():
            found.append(graphics.Cylinder(end, halves[1], look.jointRadius, shade))
        if np.linalg.norm(end - start) > 1e-15:
            found.append(graphics.Cylinder(start, end - start, 0.5 * look.linkWidth, shade))
        return found


def _filled(given: Sequence[Any], n: int) -> list[Any]:
    """One entry for each link, 0 where there is none."""
    return [*given[:n], *[0] * (n - len(given))]


def _check(robot: InSystems, asked: _Asked, springs: bool) -> None:
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


def _reference(robot: InSystems) -> Floats:
    return np.asarray(robot.referenceConfiguration, np.float64)[: len(robot.links)]


def _place(robot: InSystems, link: RobotLink) -> Floats:
    """The pose (4, 4) of a joint in the one before; of a first one, in the base without offset."""
    if link.parent >= 0:
        return robot.links[link.parent].localHT @ link.preHT
    return HT(robot.base.HT[:3, :3], np.zeros(3)) @ link.preHT


def _base_object(robot: InSystems, mbs: Any, items: Any) -> Any:
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
    """A rigid body; its inertia is about the node: xx, yy, zz, yz, xz, xy."""
    c = Skew(link.COM)
    about = link.inertia + link.mass * c @ c.T
    return items.ObjectRigidBody(
        nodeNumber=node,
        mass=float(link.mass),
        inertia=about[[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]].tolist(),
        centerOfMass=link.COM.tolist(),
        visualization=items.VObjectRigidBody(graphicsData=drawn),
    )


def _marker(mbs: Any, body: Any, T: Floats) -> Any:
    """A marker at a pose (4, 4) in a body."""
    place = exudyn_module().HT(rotation=T[:3, :3], translation=T[:3, 3])
    items = exudyn_module("exudyn.itemInterface")
    return mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localHT=place))


class _Side(NamedTuple):
    """One side of a joint: its marker, and the body and the pose (4, 4) in it, where known."""

    marker: Any
    body: Any
    T: Floats


def _before(
    robot: InSystems,
    k: int,
    mbs: Any,
    baseMarker: Any,
    R_marker_base: Floats | None,
    bodies: list[Any],
) -> _Side:
    """The side of a joint on the body before it, or on what carries the base.

    Raises: InputError (a ValueError) where the joint is off a marker that is not on a body.
    """
    link = robot.links[k]
    if link.parent >= 0:
        body = bodies[link.parent]
        return _Side(_marker(mbs, body, link.preHT), body, link.preHT)
    exudyn = exudyn_module()
    kinds, reference = exudyn.OutputVariableType, exudyn.ConfigurationType.Reference
    p = mbs.GetMarkerOutput(baseMarker, kinds.Position, reference)
    R = np.reshape(mbs.GetMarkerOutput(baseMarker, kinds.RotationMatrix, reference), (3, 3))
    base = InverseHT(HT(R, p)) @ robot.base.HT
    if R_marker_base is not None:
        base[:3, :3] = R_marker_base
    T, there = base @ link.preHT, mbs.GetMarker(baseMarker)
    if "bodyNumber" in there and "localHT" in there:
        body = there["bodyNumber"]
        in_body = np.reshape(there["localHT"], (4, 4)) @ T
        is_there = np.allclose(T, np.eye(4), rtol=0.0, atol=1e-12)
        return _Side(baseMarker if is_there else _marker(mbs, body, in_body), body, in_body)
    raise InputError(
        f"baseMarker is a {there['markerType']}; the first joint needs a marker on a body, as "
        "MarkerBodyRigid"
    )


def _add_joint(
    robot: InSystems, k: int, mbs: Any, before: _Side, asked: _Asked, found: dict[str, Any]
) -> None:
    """Add a joint with its spring and its loads, and enter their numbers."""
    items, link = exudyn_module("exudyn.itemInterface"), robot.links[k]
    body, T = found["bodyList"][k], InverseHT(link.localHT)
    after = _Side(_marker(mbs, body, T), body, T)
    free = JOINTS[link.jointType][0] + (3 if link.turns else 0)
    look = link.visualization
    joint = items.ObjectJointGeneric(
        markerNumbers=[before.marker, after.marker],
        constrainedAxes=[int(i != free) for i in range(6)],
        visualization=items.VObjectJointGeneric(
            show=look.showMBSjoint,
            axesRadius=0.25 * look.jointRadius,
            axesLength=1.1 * look.jointWidth,
        ),
    )
    found["jointList"].append(mbs.AddObject(joint))
    found["markerList0"].append(before.marker)
    found["markerList1"].append(after.marker)
    found["springDamperList"].append(_spring(robot, k, mbs, before, after, asked.springs[k]))
    for number, side, sign in ((0, before, -1.0), (1, after, 1.0)):
        unit = sign * link.axis + 0.0 if link.turns else None
        found[f"unitTorque{number}List"].append(unit)
        function = asked.loads[k]
        load = None
        if unit is not None and (asked.create_loads or function):
            load = mbs.AddLoad(
                items.LoadTorqueVector(
                    markerNumber=side.marker,
                    loadVector=unit.tolist() if function else [0.0, 0.0, 0.0],
                    bodyFixed=True,
                    loadVectorUserFunction=function,
                )
            )
        found[f"jointTorque{number}List"].append(load)


def _spring(robot: InSystems, k: int, mbs: Any, before: _Side, after: _Side, function: Any) -> Any:
    """The spring and damper of a link's gains; None without gains."""
    link, items = robot.links[k], exudyn_module("exudyn.itemInterface")
    if not link.HasPDcontrol():
        return None
    stiffness, damping = link.GetPDcontrol()
    gains = dict(stiffness=float(stiffness), damping=float(damping or 0.0))
    if not link.turns:
        look = items.VObjectConnectorLinearSpringDamper(show=False)
        return mbs.AddObject(
            items.ObjectConnectorLinearSpringDamper(
                markerNumbers=[before.marker, after.marker],
                axisMarker0=link.axis.tolist(),
                springForceUserFunction=function,
                visualization=look,
                **gains,
            )
        )
    # it turns about z of its markers, and its node counts whole turns from where it begins
    markers, axis = [before.marker, after.marker], JOINTS[link.jointType][0]
    if axis != 2:
        to_z = HT(np.roll(np.eye(3), axis - 2, axis=0), np.zeros(3))
        markers = [_marker(mbs, side.body, side.T @ to_z) for side in (before, after)]
    data = items.NodeGenericData(
        numberOfDataCoordinates=1, initialCoordinates=[float(_reference(robot)[k])]
    )
    look = items.VObjectConnectorTorsionalSpringDamper(show=False)
    return mbs.AddObject(
        items.ObjectConnectorTorsionalSpringDamper(
            markerNumbers=markers,
            nodeNumber=mbs.AddNode(data),
            springTorqueUserFunction=function,
            visualization=look,
            **gains,
        )
    )


# drawing


def _drawn(robot: InSystems, k: int) -> list[GraphicsData]:
    """A link's own data, or those of its geometry, in its frame; with the tool on the last one."""
    link = robot.links[k]
    look = link.visualization
    found = list(look.graphicsData) or _from_geometry(robot, k)
    tool = robot.tool.HT
    if k == len(robot.links) - 1:
        data = robot.tool.visualization.graphicsData
        found += [graphics.Move(each, tool[:3, 3], tool[:3, :3]) for each in data]
    return found


def _from_geometry(robot: InSystems, k: int) -> list[GraphicsData]:
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
        found += robot.GetLinkGraphicsData(number, p0, p1, axis0, axis1, look)
        look = copy.copy(look)
        look.showCOM = False
    return found
