from skrobot.model import RobotModel
from skrobot.coordinates import CascadedCoords, make_coords, Coordinates
class Human(RobotModel):
    def __init__(self):
        super().__init__(); self.load_urdf_file('humanoid.urdf')
        self.L = {l.name: l for l in self.link_list}
        self.rarm_end_coords = CascadedCoords(parent=self.L['right_hand'], name='rarm_end_coords')
        self.larm_end_coords = CascadedCoords(parent=self.L['left_hand'], name='larm_end_coords')
        self.rleg_end_coords = CascadedCoords(parent=self.L['right_foot'], name='rleg_end_coords')
        self.lleg_end_coords = CascadedCoords(parent=self.L['left_foot'], name='lleg_end_coords')
        self.head_end_coords = CascadedCoords(pos=[0.08, 0, 0.13], parent=self.L['head'], name='head_end_coords').rotate(np.pi / 2, 'y')
    def limb(self, names, end):
        links = [self.L[n] for n in names]
        r = RobotModel(link_list=links, joint_list=[l.joint for l in links]); r.end_coords = end; return r
    def armn(self, s): return [s + x + '_link' for x in ('_shoulder_pitch', '_shoulder_roll', '_shoulder_yaw', '_elbow', '_wrist_yaw', '_wrist_pitch', '_wrist_roll')]
    def legn(self, s): return [s + x + '_link' for x in ('_hip_yaw', '_hip_roll', '_hip_pitch', '_knee', '_ankle_pitch', '_ankle_roll')]
    @property
    def rarm(self): return self.limb(self.armn('right'), self.rarm_end_coords)
    @property
    def larm(self): return self.limb(self.armn('left'), self.larm_end_coords)
    @property
    def rleg(self): return self.limb(self.legn('right'), self.rleg_end_coords)
    @property
    def lleg(self): return self.limb(self.legn('left'), self.lleg_end_coords)
    @property
    def legs(self): return [self.rleg, self.lleg]
    @property
    def head(self): return self.limb(['neck', 'head'], self.head_end_coords)
def ready():
    robot.newcoords(Coordinates())
    robot.angle_vector(np.zeros(len(robot.joint_list)))
    robot.rarm.angle_vector([-0.5, 0.3, 0.1, -1.2, 0.2, 0.1, 0.1]); robot.larm.angle_vector([-0.5, 0.3, 0.1, -1.2, 0.2, 0.1, 0.1])
    for leg in (robot.rleg, robot.lleg): leg.angle_vector([0, 0, -0.5, 1.0, -0.5, 0])
robot = Human()
def stand(turn=0.0):
    ready()
    robot.rleg.angle_vector([turn, 0.05, -0.5, 1.0, -0.5, 0])
for which in ('both', 'left', 'right', 'lleg', 'rleg', 'rarm'):
    def fixed():
        stand(0.2)
        at = robot.fix_leg_to_coords(make_coords(pos=[1, 2, 0]).rotate(0.4, 'z'), which)
        return at, robot.copy_worldcoords(), robot.lleg_end_coords.worldpos(), robot.rleg_end_coords.worldpos()
    show('fix leg ' + which, fixed)
for mid in (0.0, 0.25, 1.0):
    show('fix leg mid %s' % mid, lambda: (stand(0.2), robot.fix_leg_to_coords(make_coords(pos=[1, 2, 0]), mid=mid), robot.copy_worldcoords())[1:])
show('fix leg by default', lambda: (stand(0.1), robot.fix_leg_to_coords(make_coords()), robot.copy_worldcoords())[1:])
show('fix leg turned', lambda: (stand(0.1), robot.newcoords(make_coords(pos=[3, 1, 1]).rotate(0.5, 'x')), robot.fix_leg_to_coords(make_coords(pos=[0, 0, 0.1]).rotate(0.2, 'y'), 'left'), robot.copy_worldcoords())[2:])
def kneel():
    stand(); robot.fix_leg_to_coords(make_coords())
    for leg in (robot.rleg, robot.lleg): leg.angle_vector([0, 0, -0.8, 1.6, -0.8, 0])
    robot.fix_leg_to_coords(make_coords())
    return robot.worldpos(), robot.centroid()
show('kneel', kneel)
ready()
right, left = robot.rarm_end_coords, robot.larm_end_coords
r0, l0 = right.copy_worldcoords(), left.copy_worldcoords()
def dual(way, turn=0.0, **kw):
    ready()
    targets = [c.copy().translate(way, 'world').rotate(turn, 'x') for c in (r0, l0)]
    links = [robot.rarm.link_list, robot.larm.link_list]
    found = robot.inverse_kinematics(targets, move_target=[right, left], link_list=links, **kw)
    return found is not False, [np.round(c.worldpos() - g.worldpos(), 2) for c, g in zip((right, left), targets)]
ALL, NONE, SOME = np.array([1, 1, 1]), np.array([0, 0, 0]), np.array([1, 0, 1])
for way in ([0.02, 0, 0.02], [0.05, 0, 0.05], [0.05, 0.0, 0.1], [-0.05, 0.02, 0.03]):
    for turn in (0.0, 0.2):
        for name, where, how in (('poses', ALL, ALL), ('places', ALL, NONE), ('places and axes', ALL, SOME), ('turns', NONE, ALL)):
            def ways():
                found, gaps = dual(way, turn, position_mask=[where] * 2, rotation_mask=[how] * 2)
                return found, gaps if where is ALL else [], bool(np.array_equal(robot.rleg.angle_vector(), [0, 0, -0.5, 1.0, -0.5, 0]))
            show('two arms, %s %s %s' % (name, way, turn), ways)
def mixed(way):
    found, gaps = dual(way, 0.1, position_mask=[ALL, ALL], rotation_mask=[ALL, NONE])
    return found, gaps, np.round(right.difference_rotation(r0.copy().translate(way, 'world').rotate(0.1, 'x')), 1)
show('two arms, one turned', lambda: mixed([0.04, 0.01, 0.05]))
show('too far', lambda: dual([2, 0, 0]))
show('stays', lambda: (ready(), dual([2, 0, 0])[0], right.worldpos() - r0.worldpos())[1:])
def torso(**kw):
    ready()
    targets = [c.copy().translate([0.03, 0, 0.03], 'world') for c in (r0, l0)]
    chains = [robot.link_lists(c.parent) for c in (right, left)]
    found = robot.inverse_kinematics(targets, move_target=[right, left], link_list=chains, **kw)
    return found is not False, [np.round(c.worldpos() - g.worldpos(), 2) for c, g in zip((right, left), targets)]
show('with torso', lambda: torso(position_mask=[ALL] * 2, rotation_mask=[ALL] * 2))
show('with torso anyhow', lambda: torso(position_mask=[ALL] * 2, rotation_mask=[NONE] * 2))
show('lengths', lambda: robot.inverse_kinematics([r0], move_target=[right, left], link_list=[robot.rarm.link_list]))
def one_joint_list():
    ready()
    targets = [c.copy().translate([0.02, 0, 0.02], 'world') for c in (r0, l0)]
    found = robot.inverse_kinematics(targets, move_target=[right, left], joint_list=[robot.rarm.joint_list, robot.larm.joint_list], position_mask=[ALL] * 2, rotation_mask=[ALL] * 2)
    return found is not False
show('joints', one_joint_list)
def batch():
    ready()
    targets = [[c.copy().translate([0.01 * k, 0, 0.02], 'world') for k in range(3)] for c in (r0, l0)]
    found = robot.batch_inverse_kinematics(targets, move_target=[right, left], link_list=[robot.rarm.link_list, robot.larm.link_list], attempts_per_pose=3, backend='numpy')
    return [bool(x) for x in found[1]]
show('batch', batch)
def squat(way):
    ready()
    feet = [c.copy_worldcoords() for c in (robot.rleg_end_coords, robot.lleg_end_coords)]
    targets = [c.copy().translate(way, 'world') for c in feet]
    found = robot.inverse_kinematics(targets, move_target=[robot.rleg_end_coords, robot.lleg_end_coords], link_list=[robot.rleg.link_list, robot.lleg.link_list], position_mask=[ALL] * 2, rotation_mask=[ALL] * 2)
    return found is not False, robot.rleg_end_coords.worldpos() - feet[0].worldpos()
show('squat', lambda: squat([0, 0, 0.05]))
show('squat more', lambda: squat([0.02, 0, 0.1]))
