"""The table of faces: the modules of older libraries, and ours that they lead to.

A new face is a folder here and an entry in FACES, which is what the import hook reads;
``parity.toml`` in the folder says how far the face goes, for the documentation and the tests.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from linkwork.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class FaceEntry:
    """One older library: its short name, and our module for each of its modules.

    The first of ``modules`` is the one that programs import. A name may have dots and capitals, as
    "exudyn.robotics" or "PyKDL". Several may lead to the same module.

    Raises: InputError where a module has no parent among the others although it needs one.
    """

    name: str
    modules: Mapping[str, str]

    def __post_init__(self) -> None:
        if not self.modules:
            raise InputError(f"face '{self.name}' has no modules")
        for root in self.roots:
            for above in parents_of(root):
                if self.covers(above):
                    raise InputError(f"face '{self.name}' has '{root}' and lacks '{above}'")

    @property
    def module(self) -> str:
        """The module that programs import."""
        return next(iter(self.modules))

    @property
    def roots(self) -> tuple[str, ...]:
        """The modules whose parent belongs to somebody else, or to nobody."""
        return tuple(old for old in self.modules if old.rpartition(".")[0] not in self.modules)

    def covers(self, module: str) -> bool:
        """Whether a module's name belongs to this library: it stands in the table, or below it."""
        return module in self.modules or any(p in self.modules for p in parents_of(module))

    def below(self, module: str) -> tuple[str, ...]:
        """A module and all below it, parents first."""
        inside = [old for old in self.modules if old == module or old.startswith(f"{module}.")]
        return tuple(sorted(inside, key=lambda old: old.count(".")))


def parents_of(module: str) -> tuple[str, ...]:
    """For "a.b.c": "a", "a.b"."""
    parts = module.split(".")
    return tuple(".".join(parts[:count]) for count in range(1, len(parts)))


def stand_for(module: str, *below: str, under: str | None = None) -> None:
    """Let a module stand for modules below it that have no files: its names are those of all.

    Or for modules below another one, ``under``, that is imported.
    """
    own, parent = sys.modules[module], under or module
    for name in below:
        sys.modules[f"{parent}.{name}"] = own
        setattr(sys.modules[parent], name, own)


def _with(old: str, ours: str, *below: str) -> dict[str, str]:
    """A module of an older library and those below it, and ours of the same names."""
    return {old: ours, **{f"{old}.{name}": f"{ours}.{name}" for name in below}}


_OURS = "linkwork.faces"
_URDFPY = f"{_OURS}.urdfpy"
_URCHIN = (
    *("urchin", "urchin.base", "urchin.joint", "urchin.link", "urchin.material"),
    *("urchin.transmission", "urchin.urdf", "urchin.utils", "urchin.version"),
)
_TRIP = ("KinematicGroup", "Robot", "Solver", "Transformation", "Utility", "urdf_parser")
_TRIP_ROBOTS = ("excavator_rr", "triped", "triped_leg")
_EXUDYN = f"{_OURS}.exudyn_robotics"
_EXUDYN_MODULES = ("future", "mobile", "models", "motion", "special", "utilities")
# what programs get from exudyn beside its robotics passes through to it where it is installed
_EXUDYN_ELSEWHERE = {
    "exudyn": f"{_EXUDYN}.stand_in",
    "exudyn.utilities": f"{_EXUDYN}.stand_in",
    "exudyn.rigidBodyUtilities": f"{_EXUDYN}.stand_in",
    "exudyn.graphics": f"{_EXUDYN}.graphics",
    "exudyn.kinematicTree": f"{_EXUDYN}.kinematic_tree",
}
_SKROBOT = (
    *("backend", "coordinates", "coordinates.base", "coordinates.geo", "coordinates.math"),
    *("data", "kinematics", "kinematics.differentiable", "model", "model.joint"),
    *("model.joint_limit_table", "model.link", "model.primitives", "model.robot_model"),
    *("models", "models.fetch", "models.g1", "models.kuka", "models.panda", "models.pr2"),
    *("models.urdf", "planner", "planner.sqp_based", "planner.swept_sphere", "planner.utils"),
    *("pycompat", "sdf", "sdf.signed_distance_function", "urdf"),
    *("urdf.structure", "utils", "utils.inertia", "utils.listify", "utils.urdf"),
    *("utils.visualization", "viewers"),
)
_SKROBOT_MODELS = (  # the robots that need a file of one's own stand in one module
    *("aero", "differential_wrist_sample", "griphis", "hydrus", "jaxon_jvrc", "jedy"),
    *("nextage", "r8_6", "tycoon"),
)
_SKROBOT_BACKENDS = tuple(
    f"skrobot.backend.{name}" for name in ("jax_backend", "math_utils", "numpy_backend", "registry")
)

FACES = (
    FaceEntry(
        "urdfpy",
        dict.fromkeys(("urdfpy", "urdfpy.urdf", "urdfpy.utils", "urdfpy.version"), _URDFPY)
        | {"urdfpy.utils": f"{_URDFPY}.utils"},
    ),
    FaceEntry("urchin", dict.fromkeys(_URCHIN, f"{_OURS}.urchin")),
    FaceEntry(
        "pykdl",
        _with("PyKDL", f"{_OURS}.pykdl")
        | _with("kdl_parser_py", f"{_OURS}.pykdl.kdl_parser_py", "urdf"),
    ),
    FaceEntry(
        "trip_kinematics",
        _with("trip_kinematics", f"{_OURS}.trip_kinematics", *_TRIP)
        | _with("trip_robots", f"{_OURS}.trip_kinematics.trip_robots", *_TRIP_ROBOTS),
    ),
    FaceEntry(
        "exudyn_robotics",
        _with("exudyn.robotics", _EXUDYN, *_EXUDYN_MODULES)
        | {"exudyn.robotics.roboticsCore": _EXUDYN}
        | ({} if find_spec("exudyn") else _EXUDYN_ELSEWHERE),
    ),
    FaceEntry(
        "skrobot",
        _with("skrobot", f"{_OURS}.skrobot", *_SKROBOT)
        | dict.fromkeys(_SKROBOT_BACKENDS, f"{_OURS}.skrobot.backend")
        | dict.fromkeys(
            [f"skrobot.models.{name}" for name in _SKROBOT_MODELS], f"{_OURS}.skrobot.models.others"
        ),
    ),
)
