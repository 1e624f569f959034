"""Which elements of an MJCF are handed to MuJoCo, and which are left out with a word or without.

What is left out cannot fail, allocate or open anything. An element that is not named here is handed
on, so that MuJoCo says what it thinks of it.
"""

from __future__ import annotations

from linkwork.errors import Level

LEFT_OUT: dict[str, tuple[Level, str]] = {
    "deformable": ("warning", "soft bodies are not read"),
    "contact": ("note", "contact pairs are not read"),
    "sensor": ("note", "sensors are not read"),
    "camera": ("note", "cameras are not read"),
    "plugin": ("note", "plugins are not run"),
    "custom": ("note", "custom data is not read"),
}
"""Elements that are left out, with what the finding says of them."""

TAKEN: dict[str, dict[str, frozenset[str]]] = {
    "equality": {
        "connect": frozenset(("body1", "body2", "anchor", "site1", "site2")),
        "weld": frozenset(("body1", "body2", "anchor", "site1", "site2", "relpose"))
        | frozenset(("torquescale",)),
        "joint": frozenset(("joint1", "joint2", "polycoef")),
        "tendon": frozenset(("tendon1", "tendon2", "polycoef")),
    },
    "keyframe": {"key": frozenset(("name", "qpos"))},
    "tendon": {"fixed": frozenset(("name",)), "spatial": frozenset(("name",))},
    "fixed": {"joint": frozenset(("joint", "coef"))},
    "spatial": {
        "site": frozenset(("site",)),
        "geom": frozenset(("geom", "sidesite")),
        "pulley": frozenset(("divisor",)),
    },
}
"""The elements of these sections that are handed on, with the attributes that are."""

OF_EQUALITIES = frozenset(("name", "class", "active"))
"""Attributes that every equality is handed on with."""

TARGETS = ("joint", "jointinparent", "tendon")
"""What an actuator may drive that says which joints are driven; it is all that is handed on."""

LEFT_OUT_OF: dict[str, tuple[Level, str]] = {
    "equality": ("warning", "an equality of this kind is not read"),
    "tendon": ("note", "a tendon of this kind is not read"),
    "keyframe": ("note", "a keyframe of this kind is not read"),
    "actuator": ("note", "an actuator that is on no joint is not read"),
}
"""What is said of the other elements of a section."""

SILENT = frozenset(
    ("option", "size", "visual", "statistic", "light", "texture", "skin", "layer")
) | frozenset(("extension", "pair"))
"""Elements that are left out and say nothing about kinematics or masses."""

OF_DEFAULTS = frozenset(
    ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle")
) | frozenset(("adhesion", "tendon", "camera", "plugin", "dcmotor"))
"""Elements of ``<default>`` that only concern what is left out."""

REFUSED = {
    "flexcomp": "soft bodies (flexcomp) are not read",
    "composite": "composite bodies are not read; write the bodies out, or use <replicate>",
}
"""Elements that make bodies of a kind that is not read."""

DROPPED_ATTRIBUTES: dict[str, frozenset[str]] = {
    "compiler": frozenset(
        ("meshdir", "assetdir", "texturedir", "strippath", "fusestatic", "discardvisual")
    )
    | frozenset(("usethread",)),
}
"""Attributes that are dealt with here: no file is opened by MuJoCo, and no body disappears."""

KEPT_ATTRIBUTES: dict[str, frozenset[str]] = {
    "hfield": frozenset(("name", "size", "nrow", "ncol")),
    "material": frozenset(("name", "class", "rgba")),
    "equality": frozenset(("active",)),
    "tendon": frozenset(),
    "actuator": frozenset(),
}
"""Elements of which only these attributes are handed on."""

TEXTS = (
    frozenset(
        ("name", "class", "childclass", "mesh", "material", "file", "hfield", "model", "prefix")
    )
    | frozenset(
        ("body", "content_type", "user", "builtin", "active", "joint", "jointinparent", "tendon")
    )
    | frozenset(("body1", "body2", "site1", "site2", "joint1", "joint2", "tendon1", "tendon2"))
    | frozenset(("site", "geom", "sidesite"))
)
"""Attributes that are not numbers, whatever they look like."""

LONG = frozenset(("vertex", "normal", "texcoord", "face", "elevation"))
"""Attributes that hold whole meshes and height fields."""
