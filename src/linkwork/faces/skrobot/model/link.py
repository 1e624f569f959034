"""Links of this face: frames with a mass and shapes, which a joint may carry."""

# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError, ShapeError
from linkwork.faces.skrobot.coordinates.base import CascadedCoords, Coordinates
from linkwork.faces.skrobot.model.joint import Joint, structure_changed

if TYPE_CHECKING:
    import trimesh

    from linkwork.mechanism.shapes import Kind

Floats = NDArray[np.float64]

MASS_NOT_GIVEN = 1.0
"""The mass that a link reads as when none was given to it; it counts nowhere."""
DEFAULTS_IN_FILES = (0.001, np.zeros(3), 1e-6)
"""The mass, centre and inertia of a link whose description says none; they count nowhere."""
DEFAULTS_IN_FILES[1].setflags(write=False)


class WrongMeshError(InputError, TypeError):
    """An error: a thing was given as a mesh, and is none."""


class Link(CascadedCoords):
    """A rigid link: a frame, whose pose in its parent its joint says, with mass and shapes.

    ``mass`` (kg), ``centroid`` (3,) and ``inertia_tensor`` (3, 3) about it, kg m², in the link's
    axes. A mass that is not given reads as 1.0, and an inertia as the identity, but they count in
    no sum. ``visual_mesh`` is one of trimesh's meshes, clouds or paths, several of them, or the
    path of a file; ``collision_mesh`` is one mesh. The others are those of `CascadedCoords`.

    Raises: WrongMeshError (a TypeError and a ValueError), ShapeError, InputError.
    """

    joint: Joint | None
    _mover: Joint | None = None  # the joint that moves this frame
    _stale = False  # whether the joint has moved since the local pose was worked out

    def __init__(
        self,
        centroid: ArrayLike | None = None,
        inertia_tensor: ArrayLike | None = None,
        collision_mesh: Any = None,
        visual_mesh: Any = None,
        mass: float | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.joint = None
        self._parent_link: Link | None = None
        self._child_links: list[Link] = []
        self._mass: float | None = None
        self._centroid: Floats | None = None
        self._inertia: Floats | None = None
        self._defaults: tuple[float, Any, float] = (MASS_NOT_GIVEN, None, 1.0)
        self._handed_out = False
        self._visual: Any = None
        self._collision: Any = None
        self._load: Callable[[Kind], Any] | None = None
        self._joined: Any = None
        self._own_colors: Any = None
        self._visual_changed = False
        self._sdf: Any = None
        if mass is not None:
            self.mass = mass
        if centroid is not None:
            self.centroid = centroid
        if inertia_tensor is not None:
            self.inertia_tensor = inertia_tensor
        if collision_mesh is not None:
            self.collision_mesh = collision_mesh
        if visual_mesh is not None:
            self.visual_mesh = visual_mesh

    # its pose

    def _local(self) -> Floats:
        """The present local pose (4, 4), brought up to date with the joint; no copy."""
        if self._stale:
            self._M = self._mover._pose()  # pyright: ignore[reportOptionalMemberAccess]
            self._stale = False
        return self._M

    def _set_local(self, M: Floats) -> None:
        if self._mover is not None:
            self._mover._fix(M)
        self._stale = False
        super()._set_local(M)
        if self._parent is not None:  # else nothing says where it is but itself
            structure_changed()

    def _hang_on(self, parent: Coordinates | None) -> None:
        super()._hang_on(parent)
        structure_changed()

    def __copy__(self) -> CascadedCoords:
        """A link at the same place on the same parent, which no joint moves."""
        self._local()
        made = super().__copy__()
        made.__dict__.update(_mover=None, joint=None, _parent_link=None, _child_links=[])
        return made

    # joints and links beside it

    def add_joint(self, j: Joint) -> None:
        """Make a joint the one that carries this link."""
        self.joint = j
        structure_changed()

    def delete_joint(self) -> None:
        """Forget the joint: the link stays where it is, and nothing moves it."""
        self._local()
        self.joint = None
        self._mover = None
        structure_changed()

    @property
    def parent_link(self) -> Link | None:
        """The link that this one's joint hangs on; None at the root."""
        return self._parent_link

    @property
    def child_links(self) -> list[Link]:
        """The links whose joints hang on this one."""
        return self._child_links

    def add_parent_link(self, parent_link: Link | None) -> None:
        """Say which link this one's joint hangs on."""
        self._parent_link = parent_link

    def del_parent_link(self) -> None:
        """Say that this link hangs on none."""
        self._parent_link = None

    def add_child_link(self, child_link: Link | None) -> None:
        """Say that a link's joint hangs on this one, unless it is there or None."""
        if child_link is not None and not any(child_link is each for each in self._child_links):
            self._child_links.append(child_link)

    def del_child_link(self, link: Link) -> None:
        """Say that a link's joint hangs on this one no more.

        Raises: InputError (a ValueError) where it does not.
        """
        for k, each in enumerate(self._child_links):
            if each is link:
                del self._child_links[k]
                return
        raise InputError(f"'{getattr(link, 'name', link)}' is no child of link '{self.name}'")

    # its mass

    @property
    def mass(self) -> float:
        """The mass, kg. Of a link that says none it reads as a default that counts in no sum."""
        return self._defaults[0] if self._mass is None else self._mass

    @mass.setter
    def mass(self, value: float) -> None:
        try:
            mass = float(value)
        except (TypeError, ValueError):
            raise InputError(f"link '{self.name}': the mass is a number, not {value!r}") from None
        if not np.isfinite(mass):
            raise InputError(f"link '{self.name}': the mass must be finite, not {mass}")
        self._mass = mass
        structure_changed()

    @property
    def centroid(self) -> Floats | None:
        """The centre of mass (3,) in the link's frame, m; None where it is not known."""
        if self._centroid is None:
            return self._defaults[1]
        self._handed_out = True
        return self._centroid

    @centroid.setter
    def centroid(self, value: ArrayLike | None) -> None:
        self._centroid = None if value is None else self._array(value, (3,), "centroid")
        structure_changed()

    @property
    def inertia_tensor(self) -> Floats:
        """The inertia (3, 3) about the centre of mass in the link's axes, kg m².

        Of a link that says none it reads as a default that counts in no sum.
        """
        if self._inertia is None:
            return np.eye(3) * self._defaults[2]
        self._handed_out = True
        return self._inertia

    @inertia_tensor.setter
    def inertia_tensor(self, value: ArrayLike | None) -> None:
        self._inertia = None if value is None else self._array(value, (3, 3), "inertia_tensor")
        structure_changed()

    def _array(self, value: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
        try:
            array = np.array(value, np.float64)
        except (TypeError, ValueError):
            raise InputError(f"link '{self.name}': {what} is numbers, not {value!r:.60}") from None
        if array.shape != shape:
            raise ShapeError(f"link '{self.name}': {what} is {shape}, not {array.shape}")
        if not np.isfinite(array).all():
            raise InputError(f"link '{self.name}': {what} must be finite")
        return array

    # its shapes

    @property
    def visual_mesh(self) -> Any:
        """The look of the link in its frame (m): as it was given, of a description a list.

        Meshes of a description are opened when they are first asked for.

        Raises: InputError for a mesh file that is not found or is faulty.
        """
        if self._visual is None and self._load is not None:
            self._visual = self._load("visual")
        return self._visual

    @visual_mesh.setter
    def visual_mesh(self, mesh: Any) -> None:
        self._visual = _visual_of(mesh)
        self._joined = self._own_colors = None
        self._visual_changed = True
        if self._load is not None and self._visual is None:
            self._visual = []

    @property
    def collision_mesh(self) -> trimesh.Trimesh | None:
        """One mesh of what the link bumps into others with, in its frame (m); None without any.

        Meshes of a description are opened when they are first asked for.

        Raises: InputError for a mesh file that is not found or is faulty.
        """
        if self._collision is None and self._load is not None:
            self._collision = self._load("collision")
        return self._collision or None

    @collision_mesh.setter
    def collision_mesh(self, mesh: trimesh.Trimesh | None) -> None:
        if mesh is not None:
            import trimesh  # noqa: PLC0415  only where there is a mesh

            if not isinstance(mesh, trimesh.Trimesh):
                raise WrongMeshError(
                    f"link '{self.name}': collision_mesh is one trimesh.Trimesh, not "
                    f"{type(mesh).__name__}"
                )
        self._collision = False if mesh is None else mesh
        structure_changed()

    @property
    def concatenated_visual_mesh(self) -> Any:
        """One mesh of what the link looks like, in its frame (m); None where there is none."""
        if self._joined is None:
            self._joined = _joined(self.visual_mesh)
        return self._joined

    @property
    def visual_mesh_changed(self) -> bool:
        """Whether what the link looks like was changed since a viewer has said that it knows."""
        return self._visual_changed

    @visual_mesh_changed.setter
    def visual_mesh_changed(self, changed: bool) -> None:
        self._visual_changed = changed

    @property
    def visual_mesh_file_paths(self) -> list[str]:
        """The files that the meshes of `visual_mesh` were read from."""
        found = [getattr(mesh, "metadata", {}).get("file_path") for mesh in self._meshes()]
        return [str(path) for path in found if path]

    def _meshes(self) -> list[Any]:
        """The link's visual meshes, as a list."""
        given = self.visual_mesh
        if given is None:
            return []
        return list(given) if isinstance(given, list | tuple) else [given]

    # its colours

    @property
    def colors(self) -> NDArray[np.uint8] | None:
        """The colours of the faces (n, 4) of `concatenated_visual_mesh`, 0 to 255."""
        mesh = self.concatenated_visual_mesh
        if mesh is None or not hasattr(mesh, "faces"):
            return None
        if self._own_colors is not None:
            return np.tile(self._own_colors, (len(mesh.faces), 1))
        return np.array(mesh.visual.face_colors, np.uint8)

    def set_color(self, color: ArrayLike) -> None:
        """Give all of the link one colour: three or four numbers from 0 to 255.

        Raises: ShapeError for another number of them.
        """
        rgba = np.asarray(color, np.float64).reshape(-1)
        if rgba.shape not in ((3,), (4,)):
            raise ShapeError(f"a colour is three or four numbers, not {rgba.shape[0]}")
        whole = np.append(rgba, 255.0) if len(rgba) == 3 else rgba
        self._color(np.clip(np.rint(whole), 0, 255).astype(np.uint8))

    def set_alpha(self, alpha: float) -> None:
        """Make the link see-through: 0.0 cannot be seen, 1.0 hides what is behind."""
        share = float(alpha)
        if not 0.0 <= share <= 1.0:
            raise InputError(f"alpha is from 0 to 1, not {alpha!r}")
        now = self.colors
        rgba = np.array([102, 102, 102, 255], np.uint8) if now is None or not len(now) else now[0]
        self._color(np.array([*rgba[:3], round(255 * share)], np.uint8))

    def reset_color(self) -> None:
        """Give the link the colours of its description again."""
        self._color(None)

    def _color(self, rgba: NDArray[np.uint8] | None) -> None:
        self._own_colors = rgba
        self._visual_changed = True

    @property
    def sdf(self) -> Any:
        """The signed distance function of the link, where it has one."""
        return self._sdf

    @sdf.setter
    def sdf(self, sdf: Any) -> None:
        self._sdf = sdf


# ---- meshes


def _visual_of(mesh: Any) -> Any:
    """A value that may stand as a visual mesh, checked.

    Raises: WrongMeshError for what is none.
    """
    if mesh is None:
        return None
    import trimesh  # noqa: PLC0415  only where there is a mesh

    kinds = (trimesh.Trimesh, trimesh.PointCloud, trimesh.path.Path2D, trimesh.path.Path3D)
    if isinstance(mesh, kinds):
        return mesh
    if isinstance(mesh, str | Path):
        path = Path(mesh)
        if not path.is_file():
            raise InputError(f"there is no mesh file '{path}'")
        return trimesh.load(path)
    if isinstance(mesh, Sequence) and all(isinstance(each, kinds) for each in mesh):
        return mesh
    raise WrongMeshError(
        "visual_mesh is a mesh, a cloud of points or a path of trimesh, several of them, the path "
        f"of a file, or None, not {type(mesh).__name__}"
    )


def _joined(mesh: Any) -> Any:
    """One mesh of several; clouds and paths by themselves stay as they are."""
    if mesh is None or not isinstance(mesh, Sequence):
        return mesh
    if len(mesh) <= 1:
        return mesh[0] if mesh else None
    import trimesh  # noqa: PLC0415  only where there is a mesh

    solid = [each for each in mesh if isinstance(each, trimesh.Trimesh)]
    return trimesh.util.concatenate(solid) if solid else mesh[0]


def find_link_path(
    src_link: Link, target_link: Link, include_source: bool = True, include_target: bool = True
) -> tuple[list[Link], bool]:
    """The links on the way between two, by parents and children, and whether there is a way.

    ``include_source`` and ``include_target`` say whether the ends are in the list.
    """
    came: dict[int, tuple[Link, Link | None]] = {id(src_link): (src_link, None)}
    waiting = [src_link]
    while waiting and id(target_link) not in came:
        reached: list[Link] = []
        for link in waiting:
            beside = (link.parent, *link.descendants, link.parent_link, *link.child_links)
            for other in beside:
                if isinstance(other, Link) and id(other) not in came:
                    came[id(other)] = (other, link)
                    reached.append(other)
        waiting = reached
    if id(target_link) not in came:
        return [], False
    path: list[Link] = []
    at: Link | None = target_link
    while at is not None:
        path.append(at)
        at = came[id(at)][1]
    path.reverse()
    if not include_source:
        path = path[1:]
    if not include_target:
        path = path[:-1]
    return path, True
