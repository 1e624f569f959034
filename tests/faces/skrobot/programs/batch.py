from skrobot.model import RobotModel
from skrobot.coordinates import CascadedCoords, Coordinates, make_coords
robot = RobotModel.from_urdf('fetch.urdf')
L = {l.name: l for l in robot.link_list}
start = np.zeros(len(robot.joint_list))
start[[j.name for j in robot.joint_list].index('shoulder_pan_joint'):][:7] = [0.3, 0.6, -0.4, 1.2, 0.2, 0.9, -0.3]
robot.angle_vector(start)
end = CascadedCoords(parent=L['wrist_roll_link'], name='tool').translate([0.1, 0, 0])
links = [L[n + '_link'] for n in ('shoulder_pan', 'shoulder_lift', 'upperarm_roll', 'elbow_flex', 'forearm_roll', 'wrist_flex', 'wrist_roll')]
robot.end_coords = end
ts = [make_coords(pos=[0.7, y, 0.8]) for y in (-0.2, 0.0, 0.2)]
for b in ('numpy',):
    def f(**kw):
        r = robot.batch_inverse_kinematics(ts, move_target=end, link_list=links, backend=b, **kw)
        out = []
        for s, ok, t in zip(r[0], r[1], ts):
            if not ok: out.append('no'); continue
            robot.angle_vector(s); out.append(bool(np.linalg.norm(end.worldpos() - t.worldpos()) < 2e-3))
        robot.angle_vector(start)
        return out, type(r[0]).__name__, type(r[1]).__name__, np.shape(r[0])
    show('plain %s' % b, f)
    show('attempts %s' % b, lambda: f(attempts_per_pose=5)[0])
    show('posonly %s' % b, lambda: f(rotation_mask=False)[0])
    show('rotz %s' % b, lambda: f(rotation_mask='z')[0])
    show('mirror %s' % b, lambda: f(rotation_mirror='x', attempts_per_pose=5)[0])
    show('init %s' % b, lambda: f(initial_angles='random', attempts_per_pose=10)[0])
    show('init arr %s' % b, lambda: f(initial_angles=np.tile(start[6:13], (3, 1)))[0])
    show('init bad %s' % b, lambda: f(initial_angles='bad')[0])
show('n results 3', lambda: len(robot.batch_inverse_kinematics(ts, move_target=end, link_list=links, attempts_per_pose=3)))
show('unmoved', lambda: robot.angle_vector())
show('bad array', lambda: robot.batch_inverse_kinematics(np.zeros((3, 5)), move_target=end, link_list=links))
show('1d', lambda: robot.batch_inverse_kinematics(np.zeros(6), move_target=end, link_list=links))
show('unreach', lambda: list(map(bool, robot.batch_inverse_kinematics([make_coords(pos=[5, 0, 0])], move_target=end, link_list=links)[1])))
show('joint list', lambda: list(map(bool, robot.batch_inverse_kinematics(ts, move_target=end, joint_list=[l.joint for l in links])[1])))
show('shape', lambda: np.asarray(robot.batch_inverse_kinematics(ts)[0]).shape)
