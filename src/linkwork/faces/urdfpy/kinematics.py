"""Rows S2-190 to S2-198 and S2-203: forward kinematics by link, geometry and mesh.

The core robot behind a URDF of this face is kept up to date as its joints are changed. Poses come
from `linkwork.Robot`. Joints and links go to it by depth, in the order of the file where depths are
equal: that is the order of the actuated joints, of q and of the first frames.

A change of structure (a name, a type, an axis, a coupling) makes a new robot, which is compiled
again. Where only origins have changed, those of the joints concerned become inputs of the compiled
function: it is compiled once more for them, and whatever they change to afterwards costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.errors import InputError, UnknownNameError
from linkwork.faces.urdfpy.adapt import Slots
from linkwork.faces.urdfpy.joint import Joint
from linkwork.faces.urdfpy.link import Link
from linkwork.faces.urdfpy.utils import Floats, WrongTypeError
from linkwork.faces.urdfpy.values import EPOCH, ForeignError
from linkwork.formats.structure import root_first
from linkwork.mechanism.assemble import JointPart, LinkPart, Mimic, Parts, assemble
from linkwork.mechanism.model import JointType
from linkwork.poses import xyz_rpy
from linkwork.robot import Robot

_TYPES = {kind.label: kind for kind in JointType}


class Core:
    """A robot of `linkwork` for joints as they were at one moment."""

    def __init__(self, name: str, links: Sequence[Link], joints: Sequence[Joint]) -> None:
        self.state = structure(links, joints)
        self.links, self.joints = by_depth(links, joints)
        self.link_index = {link: k for k, link in enumerate(self.links)}
        self.link_index_of_name = {link.name: k for k, link in enumerate(self.links)}
        moves = [j for j in self.joints if j.joint_type != "fixed"]
        actuated = [j for j in moves if j.mimic is None]
        others = [j for j in self.joints if j.mimic is not None or j.joint_type == "fixed"]
        self.slots = Slots(actuated, others)
        self.origins = {joint: origin_bytes(joint) for joint in self.joints}
        self._axes = {joint: joint.__dict__["_axis"].tobytes() for joint in self.joints}
        parts = Parts(
            name=name,
            links=[LinkPart(link.name) for link in self.links],
            joints=[_part(joint) for joint in self.joints],
        )
        self.robot = Robot(assemble(parts))
        self._start: Mapping[Joint, bytes] = dict(self.origins)
        # the joints whose origins are inputs, and these; one value, as threads may share a robot
        self._inputs: tuple[tuple[Joint, ...], list[Floats]] = ((), [])
        self._functions: dict[tuple[Joint, ...], Callable[..., Floats]] = {}

    def poses(self, q: Floats) -> Floats:
        """The poses (..., nl, 4, 4) of the links in the base link, in the order of `links`."""
        opened, given = self._inputs
        function = self._functions.get(opened)
        if function is None:
            function = self.robot.function("fk_all", parameters=self._parameters(opened))
            self._functions[opened] = function
        poses = function(q, *given)
        return poses[..., : len(self.links), :, :]

    def moved(self) -> bool:
        """Take over origins that have changed; False where that needs a new robot."""
        now = {joint: origin_bytes(joint) for joint in self.joints}
        if now == self.origins:
            return True
        apart = {joint for joint in self.joints if now[joint] != self._start[joint]}
        opened = tuple(j for j in self.joints if j in apart or j in self._inputs[0])
        try:
            given: list[Floats] = []
            for joint in opened:
                given += xyz_rpy(joint.__dict__["_origin"])
        except InputError:  # no rotation, so there are no angles of it
            return False
        self.origins, self._inputs = now, (opened, given)
        return True

    def watched(self, joint: Joint, slot: str) -> bytes:
        """An array of a joint as it was when this core was made, to be compared."""
        return self.origins[joint] if slot == "_origin" else self._axes[joint]

    def _parameters(self, opened: Sequence[Joint]) -> list[str]:
        links = self.link_index_of_name
        frames = [f"{j.name}/joint" if j.name in links else j.name for j in opened]
        return [f"{quantity}:{frame}" for frame in frames for quantity in ("xyz", "rpy")]


def _part(joint: Joint) -> JointPart:
    """A joint as the core takes it: its rotation as it is, not by way of angles."""
    origin, axis = joint.__dict__["_origin"], joint.__dict__["_axis"]
    mimic = joint.mimic
    return JointPart(
        name=joint.name,
        type=_TYPES[joint.joint_type],
        parent=joint.parent,
        child=joint.child,
        R=origin[:3, :3].copy(),
        p=origin[:3, 3].copy(),
        axis=axis.copy(),
        mimic=None if mimic is None else Mimic(mimic.joint, mimic.multiplier, mimic.offset),
    )


def origin_bytes(joint: Joint) -> bytes:
    """The origin of a joint, to be compared."""
    return joint.__dict__["_origin"].tobytes()


def structure(links: Sequence[Link], joints: Sequence[Joint]) -> tuple[Any, ...]:
    """All that poses depend on beside the origins of joints, to be compared."""
    return (
        tuple((link, link.name) for link in links),
        tuple(
            (
                j,
                j.name,
                j.joint_type,
                j.parent,
                j.child,
                j.__dict__["_axis"].tobytes(),
                None if j.mimic is None else (j.mimic.joint, j.mimic.multiplier, j.mimic.offset),
            )
            for j in joints
        ),
    )


def by_depth(links: Sequence[Link], joints: Sequence[Joint]) -> tuple[list[Link], list[Joint]]:
    """Links and joints from the base outwards, in the order given where depths are equal."""
    ends = [(joint.parent, joint.child) for joint in joints]
    root, order = root_first([link.name for link in links], ends) or ("", [])
    depth = {root: 0}
    for parent, child in (ends[k] for k in order):
        depth[child] = depth[parent] + 1
    return (
        sorted(links, key=lambda link: depth[link.name]),
        sorted(joints, key=lambda joint: depth[joint.child]),
    )


class Kinematics:
    """Gives the core of a URDF, made again only where what it depends on has changed."""

    def __init__(self) -> None:
        self._core: Core | None = None
        self._epoch = -1
        self._watched: list[tuple[Floats, bytes]] = []

    def __deepcopy__(self, memo: Any) -> Kinematics:
        return Kinematics()

    def __reduce__(self) -> tuple[type[Kinematics], tuple[()]]:
        return (Kinematics, ())

    def core(
        self,
        name: str,
        links: Sequence[Link],
        joints: Sequence[Joint],
        validate: Callable[[], None],
    ) -> Core:
        """The core of these links and joints as they are now.

        Raises: DescriptionError, InputError where they have become no tree of finite poses.
        """
        core = self._core
        if core is not None and self._epoch == EPOCH.now:
            for array, before in self._watched:
                if array.tobytes() != before:
                    break
            else:
                return core
        # first: what changes meanwhile is seen by the next call
        self._core, epoch = None, EPOCH.now
        if core is None or core.state != structure(links, joints) or not core.moved():
            validate()
            epoch = EPOCH.now
            core = Core(name, links, joints)
        self._watched = [
            (array, core.watched(joint, slot))
            for joint in joints
            for slot in joint.__dict__["_lent"]
            for array in [joint.__dict__[slot]]
        ]
        self._core, self._epoch = core, epoch
        return core

    def forget(self) -> None:
        """Links or joints have come or gone."""
        self._core = None


class ForwardKinematics:
    """The methods of `URDF` that give poses in the base link.

    ``cfg`` is a mapping from joints or their names to positions, or a list or an array with one
    position for each of `URDF.actuated_joints`; what is not named is at zero. A joint that follows
    another one may be named too: its leader decides, with a warning where they do not agree.
    ``links`` are links or names; without it all are meant. The methods of batches take ``cfgs``: a
    mapping to arrays (n,), a list of mappings, or rows (n, number of actuated joints); poses are
    (n, 4, 4).

    Raises: KeyError for a name that does not exist, TypeError for what is neither name nor object,
    ValueError for a position that cannot be.
    """

    def _core(self) -> Core:
        raise NotImplementedError

    def link_fk(
        self, cfg: Any = None, link: Any = None, links: Any = None, use_names: bool = False
    ) -> Any:
        """The poses (4, 4) of links, by link; base first. One ``link`` gives its pose alone.

        With ``use_names`` the keys are names.
        """
        core = self._core()
        return self._by_link(
            core, core.poses(core.slots.configuration(cfg)), links, link, use_names
        )

    def link_fk_batch(
        self, cfgs: Any = None, link: Any = None, links: Any = None, use_names: bool = False
    ) -> Any:
        """`link_fk` of n configurations in one call: poses (n, 4, 4)."""
        core = self._core()
        poses = np.swapaxes(core.poses(core.slots.batch(cfgs)), 0, 1)
        return self._by_link(core, poses, links, link, use_names)

    def _by_link(self, core: Core, poses: Floats, links: Any, link: Any, use_names: bool) -> Any:
        if links is None and link is None:
            return dict(zip(core.link_index_of_name if use_names else core.links, poses))  # noqa: B905 -- joints follow
        wanted, single = _wanted(links, link)
        numbers = [link_number(core, one) for one in wanted]
        if single:
            return poses[numbers[0]]
        keys: Sequence[Any] = core.links
        if use_names:
            keys = list(core.link_index_of_name)
        return {keys[k]: poses[k] for k in numbers}

    def visual_geometry_fk(self, cfg: Any = None, links: Any = None) -> dict[Any, Floats]:
        """The poses (4, 4) of visual geometries, by geometry."""
        return self._shapes(cfg, links, False, _visual_geometries)

    def visual_geometry_fk_batch(self, cfgs: Any = None, links: Any = None) -> dict[Any, Floats]:
        """`visual_geometry_fk` of n configurations: poses (n, 4, 4)."""
        return self._shapes(cfgs, links, True, _visual_geometries)

    def collision_geometry_fk(self, cfg: Any = None, links: Any = None) -> dict[Any, Floats]:
        """The poses (4, 4) of collision geometries, by geometry."""
        return self._shapes(cfg, links, False, _collision_geometries)

    def collision_geometry_fk_batch(self, cfgs: Any = None, links: Any = None) -> dict[Any, Floats]:
        """`collision_geometry_fk` of n configurations: poses (n, 4, 4)."""
        return self._shapes(cfgs, links, True, _collision_geometries)

    def visual_trimesh_fk(self, cfg: Any = None, links: Any = None) -> dict[Any, Floats]:
        """The poses (4, 4) of visual meshes, by ``trimesh.Trimesh``.

        A mesh's scale is part of its pose, which is not rigid then.
        """
        return self._shapes(cfg, links, False, _visual_meshes)

    def visual_trimesh_fk_batch(self, cfgs: Any = None, links: Any = None) -> dict[Any, Floats]:
        """`visual_trimesh_fk` of n configurations: poses (n, 4, 4)."""
        return self._shapes(cfgs, links, True, _visual_meshes)

    def collision_trimesh_fk(self, cfg: Any = None, links: Any = None) -> dict[Any, Floats]:
        """The poses (4, 4) of links by the one mesh of all their collisions, scales applied."""
        return self._shapes(cfg, links, False, _collision_meshes)

    def collision_trimesh_fk_batch(self, cfgs: Any = None, links: Any = None) -> dict[Any, Floats]:
        """`collision_trimesh_fk` of n configurations: poses (n, 4, 4)."""
        return self._shapes(cfgs, links, True, _collision_meshes)

    def _shapes(self, cfg: Any, links: Any, batch: bool, shapes: Any) -> dict[Any, Floats]:
        """The shapes that ``shapes`` finds on each link, with their poses in the base link."""
        core = self._core()
        q = core.slots.batch(cfg) if batch else core.slots.configuration(cfg)
        wanted = core.links if links is None else _wanted(links, None)[0]
        keys: list[Any] = []
        numbers: list[int] = []
        places: list[Floats] = []
        for k in [link_number(core, one) for one in wanted]:
            for key, T_link_shape in shapes(core.links[k]):
                keys.append(key)
                numbers.append(k)
                places.append(T_link_shape)
        if not keys:
            return {}
        placed_there = core.poses(q)[..., numbers, :, :] @ np.stack(places)
        return dict(zip(keys, np.moveaxis(placed_there, -3, 0), strict=True))


def _visual_geometries(link: Link) -> Iterable[tuple[Any, Floats]]:
    return ((shape.geometry, shape.origin) for shape in link.visuals)


def _collision_geometries(link: Link) -> Iterable[tuple[Any, Floats]]:
    return ((shape.geometry, shape.origin) for shape in link.collisions)


def _visual_meshes(link: Link) -> Iterable[tuple[Any, Floats]]:
    return ((mesh, shape.placed()) for shape in link.visuals for mesh in shape.geometry.meshes)


def _collision_meshes(link: Link) -> Iterable[tuple[Any, Floats]]:
    mesh = link.collision_mesh
    return () if mesh is None else ((mesh, np.eye(4)),)


def _wanted(links: Any, link: Any) -> tuple[list[Any], bool]:
    """The links that are asked for, and whether it is one alone.

    The original had ``links`` second and later ``link``: either may stand in either place.
    """
    if links is not None and link is not None:
        raise InputError("give either links or one link, not both")
    given = link if links is None else links
    if isinstance(given, (str, Link)):
        return [given], True
    if not isinstance(given, Iterable):
        kind = type(given).__name__
        raise WrongTypeError(f"links are given as a list of Link or of names, not {kind}")
    return list(given), False


def link_number(core: Core, link: Any) -> int:
    """The place of a link, or of the link of a name.

    Raises: UnknownNameError; WrongTypeError for what is neither.
    """
    try:
        index: Any = core.link_index_of_name if isinstance(link, str) else core.link_index
        return index[link]
    except (KeyError, TypeError):
        names = list(core.link_index_of_name)
        if isinstance(link, str):
            raise UnknownNameError("link", link, names) from None
        if isinstance(link, Link):
            raise ForeignError("link", link.name, names) from None
        kind = type(link).__name__
        raise WrongTypeError(f"a link is meant by a Link or its name, not by {kind}") from None
