"""URDF texts with other numbers in them: what parameters are compared with."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping

import numpy as np


def edited(text: str, changes: Mapping[str, np.ndarray]) -> str:
    """The description with other values of these parameters; payloads are links.

    A name after a joint's quantity means the joint, also where a link is called the same.
    """
    root = ET.fromstring(text)
    joints = {joint.get("name"): joint for joint in root.iter("joint") if joint.get("name")}
    links = {link.get("name"): link for link in root.iter("link") if link.get("name")}
    for name, value in changes.items():
        quantity, _, item = name.partition(":")
        if quantity in ("xyz", "rpy"):
            _child(joints[item.removesuffix("/joint")], "origin").set(quantity, _text(value))
        elif quantity == "payload":
            _add_payload(root, item, value)
        elif quantity in ("mass", "com", "inertia"):
            _set_inertial(links[item], quantity, value)
    return ET.tostring(root, encoding="unicode")


def _child(element: ET.Element, name: str) -> ET.Element:
    found = element.find(name)
    return ET.SubElement(element, name) if found is None else found


def _set_inertial(link: ET.Element, quantity: str, value: np.ndarray) -> None:
    inertial = _child(link, "inertial")
    if quantity == "com":
        _child(inertial, "origin").set("xyz", _text(value))
    mass = _child(inertial, "mass")
    mass.set("value", _text(value) if quantity == "mass" else mass.get("value", "0"))
    inertia = _child(inertial, "inertia")
    for k, key in enumerate(("ixx", "ixy", "ixz", "iyy", "iyz", "izz")):
        inertia.set(key, repr(float(value[k])) if quantity == "inertia" else inertia.get(key, "0"))
    if quantity == "inertia":  # in the link's axes
        _child(inertial, "origin").set("rpy", "0 0 0")


def _add_payload(root: ET.Element, link: str, value: np.ndarray) -> None:
    new = ET.SubElement(root, "link", name=f"payload of {link}")
    _set_inertial(new, "mass", value[:1])
    joint = ET.SubElement(root, "joint", name=f"payload on {link}", type="fixed")
    ET.SubElement(joint, "parent", link=link)
    ET.SubElement(joint, "child", link=f"payload of {link}")
    ET.SubElement(joint, "origin", xyz=_text(value[1:]))


def _text(values: np.ndarray) -> str:
    return " ".join(repr(float(x)) for x in values)
