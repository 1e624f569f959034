from skrobot.model import RobotModel
robot = RobotModel.from_urdf('kuka.urdf')
n = len(robot.joint_list)
show('cm', lambda: [l.name for l in robot.link_list if l.collision_mesh is not None])
for k, av in enumerate([np.zeros(n), np.array([0, 2.0, 0, -2.0, 0, 0, 0] + [0] * (n - 7)), np.array([.5, 1.0, 0.3, -1.0, 0.3, 1.5, 0] + [0] * (n - 7))]):
    robot.angle_vector(av)
    show('hit %d' % k, lambda: robot.self_collision_check()[0])
    show('pairs %d' % k, lambda: sorted(map(str, robot.self_collision_check()[1])))
    show('pairs type %d' % k, lambda: (type(robot.self_collision_check()).__name__, type(robot.self_collision_check()[1]).__name__))
robot = RobotModel.from_urdf('fetch.urdf')
show('fetch', lambda: sorted(map(str, robot.self_collision_check()[1])))
show('empty', lambda: RobotModel().self_collision_check())
