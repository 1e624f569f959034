"""A robot with the names and the numbers that the original's documentation prints, and others.

The arm is described here by its published Denavit-Hartenberg lengths (d1 0.089159, a2 -0.425,
a3 -0.39225, d4 0.10915, d5 0.09465, d6 0.0823, metre); https://www.universal-robots.com/articles/
(DH parameters).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from linkwork.faces.urdfpy import URDF

_LINKS = (
    "base_link shoulder_link upper_arm_link forearm_link wrist_1_link wrist_2_link wrist_3_link "
    "ee_link base tool0 world"
).split()
_QUARTER = "1.5707963267948966"
# name, type, parent, child, xyz, rpy, axis
_JOINTS = (
    ("shoulder_pan_joint", "base_link", "shoulder_link", "0 0 0.089159", "0 0 0", "0 0 1"),
    (
        "shoulder_lift_joint",
        "shoulder_link",
        "upper_arm_link",
        "0 0.13585 0",
        f"0 {_QUARTER} 0",
        "0 1 0",
    ),
    ("elbow_joint", "upper_arm_link", "forearm_link", "0 -0.1197 0.425", "0 0 0", "0 1 0"),
    ("wrist_1_joint", "forearm_link", "wrist_1_link", "0 0 0.39225", f"0 {_QUARTER} 0", "0 1 0"),
    ("wrist_2_joint", "wrist_1_link", "wrist_2_link", "0 0.093 0", "0 0 0", "0 0 1"),
    ("wrist_3_joint", "wrist_2_link", "wrist_3_link", "0 0 0.09465", "0 0 0", "0 1 0"),
    ("ee_fixed_joint", "wrist_3_link", "ee_link", "0 0.0823 0", f"0 0 {_QUARTER}", ""),
    ("base_link-base_fixed_joint", "base_link", "base", "0 0 0", "0 0 -3.141592653589793", ""),
    (
        "wrist_3_link-tool0_fixed_joint",
        "wrist_3_link",
        "tool0",
        "0 0.0823 0",
        f"-{_QUARTER} 0 0",
        "",
    ),
    ("world_joint", "world", "base_link", "0 0 0", "0 0 0", ""),
)

MATERIALS = """<material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>"""

SHAPES = f"""<robot name="shapes">
  {MATERIALS}
  <link name="body">
    <inertial><origin xyz="0 0 0.1" rpy="0.1 0 0"/><mass value="2"/>
      <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.03"/></inertial>
    <visual name="shell"><origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/>
      <geometry><box size="1 2 3"/></geometry><material name="grey"/></visual>
    <visual><geometry><cylinder radius="0.1" length="0.4"/></geometry>
      <material name="red"><color rgba="1 0 0 1"/></material></visual>
    <visual><origin xyz="0 0 1"/><geometry><sphere radius="0.3"/></geometry></visual>
    <collision name="hull"><origin xyz="0 0 0.5"/><geometry><box size="1 1 1"/></geometry>
    </collision>
    <collision><geometry><sphere radius="0.3"/></geometry></collision>
  </link>
  <link name="tip"/>
  <joint name="turn" type="revolute"><parent link="body"/><child link="tip"/>
    <origin xyz="0 0 1" rpy="0 0 0.5"/><axis xyz="0 0 2"/>
    <limit effort="10" velocity="2" lower="-1" upper="1.5"/>
    <dynamics damping="0.1" friction="0.2"/><calibration rising="0.1" falling="0.2"/>
    <safety_controller k_velocity="5" k_position="20" soft_lower_limit="-0.9"
      soft_upper_limit="1.4"/></joint>
  <transmission name="drive"><type>simple</type>
    <joint name="turn"><hardwareInterface>effort</hardwareInterface></joint>
    <actuator name="motor"><mechanicalReduction>50</mechanicalReduction>
      <hardwareInterface>position</hardwareInterface></actuator></transmission>
</robot>"""


def _joint(name: str, parent: str, child: str, xyz: str, rpy: str, axis: str) -> str:
    kind = "revolute" if axis else "fixed"
    moves = ""
    if axis:
        bound = "3.14159265" if name == "elbow_joint" else "6.28318531"
        limit = f'<limit lower="-{bound}" upper="{bound}" effort="150" velocity="3.15"/>'
        moves = f'<axis xyz="{axis}"/>{limit}'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/>{moves}</joint>'
    )


def _link(name: str) -> str:
    if name.startswith(("shoulder", "upper", "fore", "wrist")):
        shape = '<geometry><cylinder radius="0.05" length="0.1"/></geometry>'
        return (
            f'<link name="{name}"><inertial><mass value="2"/><inertia ixx="0.01" ixy="0" ixz="0" '
            f'iyy="0.01" iyz="0" izz="0.01"/></inertial><visual>{shape}</visual>'
            f"<collision>{shape}</collision></link>"
        )
    return f'<link name="{name}"/>'


UR5 = (
    f'<robot name="ur5">{"".join(map(_link, _LINKS))}'
    f"{''.join(_joint(*joint) for joint in _JOINTS)}</robot>"
)


@pytest.fixture(name="ur5_file")
def _ur5_file(tmp_path: Path) -> Path:
    path = tmp_path / "ur5.urdf"
    path.write_text(UR5, encoding="utf-8")
    return path


@pytest.fixture(name="ur5")
def _ur5(ur5_file: Path) -> URDF:
    return URDF.load(str(ur5_file))


@pytest.fixture(name="shapes_file")
def _shapes_file(tmp_path: Path) -> Path:
    path = tmp_path / "shapes.urdf"
    path.write_text(SHAPES, encoding="utf-8")
    return path


@pytest.fixture(name="shapes")
def _shapes(shapes_file: Path) -> URDF:
    return URDF.load(str(shapes_file))
