"""A description with every kind of reference, for the tests of edits."""

from __future__ import annotations

import pytest

from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Document

CELL = """<?xml version="1.0"?>
<!-- a cell -->
<robot name="cell">
  <material name="steel"><color rgba="0.6 0.6 0.6 1"/></material>
  <material name="rubber"><color rgba="0 0 0 1"/></material>
  <!-- the arm -->
  <link name="base">
    <visual><geometry><box size="1 1 1"/></geometry><material name="steel"/></visual>
  </link>
  <link name="arm">
    <inertial><mass value="2"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual name="shell"><geometry><mesh filename="meshes/arm.stl"/></geometry>
      <material name="blue"><color rgba="0 0 1 1"/></material></visual>
  </link>
  <!-- the hand -->
  <link name="hand">
    <visual><geometry><mesh filename="package://cell/hand.dae"/></geometry>
      <material name="rubber"/></visual>
    <visual><geometry><sphere radius="0.1"/></geometry><material name="blue"/></visual>
  </link>
  <link name="finger_a"/>
  <link name="finger_b"/>
  <!-- joints -->
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="arm"/>
    <origin xyz="0.1 0.2 0.3"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="wrist" type="fixed"><parent link="arm"/><child link="hand"/></joint>
  <joint name="grip_a" type="prismatic"><parent link="hand"/><child link="finger_a"/>
    <axis xyz="1 0 0"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
  <joint name="grip_b" type="prismatic"><parent link="hand"/><child link="finger_b"/>
    <axis xyz="-1 0 0"/><limit lower="0" upper="1" effort="1" velocity="1"/>
    <mimic joint="grip_a"/></joint>
  <transmission name="drive"><type>simple</type>
    <joint name="shoulder"><hardwareInterface>effort</hardwareInterface></joint>
    <actuator name="motor"/></transmission>
  <transmission name="pinch"><type>differential</type>
    <joint name="grip_a"/><joint name="grip_b"/><actuator name="m1"/></transmission>
  <gazebo reference='arm'><mu1>0.5</mu1></gazebo>
  <gazebo reference="shoulder"><provideFeedback>true</provideFeedback></gazebo>
  <gazebo><plugin name="control"><jointName>shoulder</jointName></plugin></gazebo>
  <ros2_control name="system" type="system">
    <hardware><plugin>mock</plugin></hardware>
    <joint name="shoulder"><command_interface name="position"/></joint>
    <joint name="grip_a"/>
    <joint name="grip_b"><param name="mimic"> grip_a </param></joint>
  </ros2_control>
  <sensor name="camera" type="camera"><parent link="hand"/><origin xyz="0 0 0.1"/></sensor>
</robot>
"""


@pytest.fixture
def cell() -> Document:
    return read(CELL)
