import skrobot
from skrobot.model import RobotModel
from skrobot.coordinates import make_coords, CascadedCoords, Coordinates
robot = RobotModel.from_urdf('fetch.urdf')
L = {l.name: l for l in robot.link_list}
start = np.zeros(len(robot.joint_list))
start[[j.name for j in robot.joint_list].index('shoulder_pan_joint'):][:7] = [0.3, 0.6, -0.4, 1.2, 0.2, 0.9, -0.3]
robot.angle_vector(start)
end = CascadedCoords(parent=L['wrist_roll_link'], name='tool').translate([0.1, 0, 0])
links = [L[n + '_link'] for n in ('shoulder_pan', 'shoulder_lift', 'upperarm_roll', 'elbow_flex', 'forearm_roll', 'wrist_flex', 'wrist_roll')]
def err(target, **kw):
    robot.angle_vector(start)
    r = robot.inverse_kinematics(target, link_list=links, move_target=end, **kw)
    if r is False: return ('False', robot.angle_vector())
    e = end.copy_worldcoords()
    return (type(r).__name__, r.shape, round(float(np.linalg.norm(e.difference_position(target))), 2), np.round(e.difference_rotation(target), 1) + 0.)
t = make_coords(pos=[0.7, 0.2, 0.8]).rotate(0.5, 'y')
show('pose', lambda: err(t))
def reach(mask, kind, **more):
    robot.angle_vector(start)
    r = robot.inverse_kinematics(t, link_list=links, move_target=end, **{kind: mask}, **more)
    if r is False: return 'False'
    e = end.copy_worldcoords()
    return (round(float(np.abs(e.difference_position(t, position_mask=more.get('position_mask', True))).max()), 2), np.abs(np.round(e.difference_rotation(t, rotation_mask=mask if kind == 'rotation_mask' else True), 1)).max() < 0.05)
for m in (True, False, None, 'x', 'y', 'z', 'xy', 'yz', 'zx', [1, 1, 0], np.array([0, 0, 1])):
    show('rotation_mask %s' % (m,), lambda: reach(m, 'rotation_mask'))
def old(kind, m):
    robot.angle_vector(start)
    r = robot.inverse_kinematics(t, link_list=links, move_target=end, **{kind: m})
    if r is False: return 'False'
    e = end.copy_worldcoords()
    # which axes agree with the target
    return [bool(e.axis(a) @ t.axis(a) > 0.999) for a in 'xyz'], [bool(x) for x in np.abs(e.difference_position(t)) < 2e-3]
for m in (True, False, None, 'x', 'y', 'z', 'xy', 'xm', 'zm', 'xx', 'yy', 'zz'):
    show('rotation_axis %s' % (m,), lambda: [v for v in old('rotation_axis', m)][1])
    show('rotation_axis axes %s' % (m,), lambda: [v for v in old('rotation_axis', m)][0])
for m in (True, False, None, 'x', 'y', 'z', 'xy', 'yz', 'xx'):
    show('translation_axis %s' % (m,), lambda: old('translation_axis', m)[0])
for m in ('x', 'y', 'z'):
    show('mirror %s' % m, lambda: err(make_coords(pos=[0.7, 0.2, 0.8]).rotate(0.5, 'y').rotate(0.3, m), rotation_mirror=m)[:3])
show('far', lambda: err(make_coords(pos=[5, 0, 0])))
def norevert():
    robot.angle_vector(start)
    r = robot.inverse_kinematics(make_coords(pos=[3, 0, 0.3]), link_list=links, move_target=end, rotation_mask=False, revert_if_fail=False)
    return r, bool(np.allclose(robot.angle_vector(), start)), bool(end.worldpos()[0] > 0.9)
show('both lists', lambda: robot.inverse_kinematics(t, link_list=links, joint_list=robot.joint_list, move_target=end))
show('joint_list', lambda: (robot.angle_vector(start) is None, robot.inverse_kinematics(t, joint_list=[l.joint for l in links], move_target=end) is not False))
show('no end_coords', lambda: RobotModel.from_urdf('kuka.urdf').inverse_kinematics(t))
robot.end_coords = end
show('list target', lambda: (robot.angle_vector(start) is None, robot.inverse_kinematics([t], link_list=[links], move_target=[end]) is not False))
show('thre', lambda: err(t, thre=[0.01], rthre=[0.1])[:2])
show('invariant', lambda: (robot.angle_vector(start) is None, robot.inverse_kinematics(t, link_list=links, move_target=end, invariant_joint_list=[links[2].joint], rotation_mask=False) is not False, robot.angle_vector()[2]))
show('move_end_pos', lambda: (robot.angle_vector(start) is None, robot.move_end_pos([0, 0, 0.05], link_list=links) is not False, end.worldpos()))
show('move_end_pos w', lambda: (robot.angle_vector(start) is None, robot.move_end_pos([0, 0, 0.05], 'world', link_list=links) is not False, end.worldpos()))
show('move_end_pos w2', lambda: (robot.angle_vector(start) is None, robot.move_end_pos([0, 0, 0.05], wrt='world') is not False, end.worldpos()))
show('move_end_rot', lambda: (robot.angle_vector(start) is None, robot.move_end_rot(0.2, 'z') is not False, end.worldrot()))
show('move_end_rot w', lambda: (robot.angle_vector(start) is None, robot.move_end_rot(0.2, 'x', 'world') is not False, end.worldrot()))
show('move_end_pos far', lambda: (robot.angle_vector(start) is None, robot.move_end_pos([0, 0, 5.0]), robot.angle_vector()))
robot.newcoords(Coordinates())
show('use_base 6', lambda: (robot.angle_vector(start) is None, robot.inverse_kinematics(make_coords(pos=[2, 1, 2.4]), link_list=links, move_target=end, use_base='6dof') is not False, end.worldpos()))
robot.newcoords(Coordinates())
show('use_base bad', lambda: robot.inverse_kinematics(t, link_list=links, move_target=end, use_base='bad'))
show('hook', lambda: err(t, inverse_kinematics_hook=[lambda: None])[0])
show('check', lambda: err(t, additional_check=lambda: True)[0])
