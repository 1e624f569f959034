"""The methods of `Robot` that open meshes; what they do stands in `appearance`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import trimesh
    from numpy.typing import ArrayLike

    from linkwork.appearance import Floats, Folders, Kind, MassProperties, Missing, ShownPart


class RobotMeshes:
    """Shapes of the links of a robot, by the description that it was loaded from."""

    def link_parts(
        self,
        link: str,
        kind: Kind = "visual",
        *,
        allow: Folders = (),
        missing: Missing = "raise",
    ) -> tuple[ShownPart, ...]:
        """The meshes of a link one by one, with their poses, colours and textures.

        ``kind`` is "visual" or "collision". ``allow`` are folders that meshes may lie in, beside
        the description's package; ``missing="skip"`` leaves out what cannot be had.

        Raises: UnknownNameError, InputError, UnsupportedFeatureError; see `appearance.link_parts`.
        """
        return _appearance().link_parts(self, link, kind, allow=allow, missing=missing)

    def link_mesh(
        self,
        link: str,
        kind: Kind = "visual",
        *,
        allow: Folders = (),
        missing: Missing = "raise",
    ) -> trimesh.Trimesh:
        """One mesh of all that a link has, in the link's frame (m); empty where there is nothing.

        Raises: as `link_parts`.
        """
        return _appearance().link_mesh(self, link, kind, allow=allow, missing=missing)

    def mesh(
        self,
        q: ArrayLike | None = None,
        kind: Kind = "visual",
        *,
        allow: Folders = (),
        missing: Missing = "raise",
    ) -> trimesh.Trimesh:
        """One mesh of the whole robot in the world (m) at q (nq,), by default neutral.

        Raises: as `link_parts`.
        """
        return _appearance().robot_mesh(self, q, kind, allow=allow, missing=missing)

    def bounding_box(
        self,
        q: ArrayLike | None = None,
        kind: Kind = "visual",
        *,
        allow: Folders = (),
        missing: Missing = "raise",
    ) -> Floats:
        """The box along the world's axes around the robot at q (m): (2, 3), lowest corner first.

        Raises: as `link_parts`; InputError for a robot without shapes of this kind.
        """
        return _appearance().bounding_box(self, q, kind, allow=allow, missing=missing)

    def link_mass_properties(
        self,
        link: str,
        density: float,
        kind: Kind = "collision",
        *,
        hull: bool = False,
        allow: Folders = (),
    ) -> MassProperties:
        """Mass, centre of mass and inertia of a link's shapes, filled with one density (kg/m³).

        In the link's frame. ``hull=True`` takes the convex hull of each mesh.

        Raises: as `link_parts`; InputError for a mesh that encloses no volume.
        """
        return _appearance().link_mass_properties(self, link, density, kind, hull=hull, allow=allow)


def _appearance() -> Any:
    from linkwork import appearance  # noqa: PLC0415  only who opens meshes needs it

    return appearance
