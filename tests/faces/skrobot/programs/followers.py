from skrobot.model import RobotModel
from skrobot.coordinates import CascadedCoords, make_coords, Coordinates
HAND = """<robot name="hand"><link name="base"/><link name="palm"/><link name="a"/><link name="b"/><link name="c"/><link name="tip"/>
<joint name="wrist" type="revolute"><parent link="base"/><child link="palm"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="j1" type="revolute"><parent link="palm"/><child link="a"/><origin xyz="0.1 0 0"/><axis xyz="0 1 0"/><limit lower="-0.5" upper="1.5" effort="1" velocity="1"/></joint>
<joint name="j2" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.1 0 0"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/><mimic joint="j1" multiplier="0.5" offset="0.1"/></joint>
<joint name="j3" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0.1 0 0"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/><mimic joint="j2" multiplier="-2"/></joint>
<joint name="slide" type="prismatic"><parent link="c"/><child link="tip"/><origin xyz="0.1 0 0"/><axis xyz="1 0 0"/><limit lower="0" upper="0.2" effort="1" velocity="1"/><mimic joint="j1" multiplier="0.1"/></joint>
</robot>"""
robot = RobotModel.from_urdf(HAND)
J = {j.name: j for j in robot.joint_list}
end = robot.end_coords = CascadedCoords(parent=robot.tip, pos=[0.05, 0, 0])
show('names', lambda: [j.name for j in robot.joint_list])
show('without', lambda: [j.name for j in RobotModel.from_urdf(HAND, include_mimic_joints=False).joint_list])
def at(value):
    J['j1'].joint_angle(value)
    return robot.angle_vector(), end.worldpos(), end.worldrot()
for value in (0.3, 0.0, 1.2, -0.4):
    show('at %s' % value, lambda: at(value))
show('set all', lambda: (robot.angle_vector([0.2, 0.4, 0.3, -0.6, 0.04]), end.worldpos()))
show('relative', lambda: (J['j1'].joint_angle(0.1, relative=True), robot.angle_vector()))
show('over', lambda: (J['j1'].joint_angle(9.0), robot.angle_vector()))
show('limits', lambda: (robot.joint_min_angles, robot.joint_max_angles))
def lesser():
    other = RobotModel.from_urdf(HAND, include_mimic_joints=False)
    other.angle_vector([0.1, 0.6])
    return other.angle_vector(), other.tip.worldpos(), [other.b.joint.joint_angle(), other.c.joint.joint_angle()]
show('lesser', lesser)
def reach(q, **more):
    J['wrist'].joint_angle(q[0]); J['j1'].joint_angle(q[1])
    target = end.copy_worldcoords()
    J['wrist'].joint_angle(0.0); J['j1'].joint_angle(0.2)
    found = robot.inverse_kinematics(target, rotation_mask=False, **more)
    return found is not False, bool(np.linalg.norm(end.worldpos() - target.worldpos()) < 2e-3)
for q in ((0.3, 0.5), (-0.5, 0.9)):
    show('reach %s %s' % q, lambda: reach(q))
    show('reach joints %s %s' % q, lambda: reach(q, joint_list=[J['wrist'], J['j1']]))
at(0.3)
links = [robot.palm, robot.a, robot.b, robot.c, robot.tip]
show('links', lambda: [l.name for l in robot.link_lists(robot.tip)])
at(0.3)
def leader():
    one = RobotModel.from_urdf(HAND, include_mimic_joints=True); one.j1.joint_angle(0.7)
    two = RobotModel.from_urdf(HAND, include_mimic_joints=False); two.j1.joint_angle(0.7)
    return one.tip.worldpos() - two.tip.worldpos()
show('same', leader)
show('init', lambda: (robot.init_pose()[:2], J['j1'].joint_angle()))
def by_hand():
    m = RobotModel.from_urdf(HAND.replace('<mimic joint="j1" multiplier="0.1"/>', ''))
    m.wrist.register_mimic_joint(m.slide, 0.05, 0.02)
    m.wrist.joint_angle(1.0)
    return m.slide.joint_angle(), m.tip.worldpos()
show('registered', by_hand)
def batch():
    J['wrist'].joint_angle(0.3); J['j1'].joint_angle(0.5); target = end.copy_worldcoords()
    J['wrist'].joint_angle(0.0); J['j1'].joint_angle(0.2)
    found = robot.batch_inverse_kinematics([target], move_target=end, rotation_mask=False, backend='numpy', attempts_per_pose=5)
    robot.angle_vector(found[0][0])
    return found[1], bool(np.linalg.norm(end.worldpos() - target.worldpos()) < 2e-3)
show('batch', batch)
show('torque', lambda: (robot.angle_vector([0.1, 0.2, 0.2, -0.4, 0.02]), robot.torque_vector().shape)[1])
