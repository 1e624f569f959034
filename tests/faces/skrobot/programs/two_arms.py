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
    def legs(self): return self.limb(self.legn('right') + self.legn('left'), [self.rleg_end_coords, self.lleg_end_coords])
    @property
    def head(self): return self.limb(['neck', 'head'], self.head_end_coords)
def ready():
    robot.newcoords(Coordinates())
    robot.angle_vector(np.zeros(len(robot.joint_list)))
    robot.rarm.angle_vector([-0.5, 0.3, 0.1, -1.2, 0.2, 0.1, 0.1]); robot.larm.angle_vector([-0.5, 0.3, 0.1, -1.2, 0.2, 0.1, 0.1])
    for leg in (robot.rleg, robot.lleg): leg.angle_vector([0, 0, -0.5, 1.0, -0.5, 0])
robot = Human()
ready()
show('names', lambda: (robot.rarm.joint_names, robot.head.joint_names))
for which in ('both', 'left', 'right', 'lleg', 'rleg'):
    show('fix leg ' + which, lambda: (ready(), robot.fix_leg_to_coords(make_coords(pos=[1, 2, 0]).rotate(0.4, 'z'), which), robot.copy_worldcoords(), robot.lleg_end_coords.worldpos()))
ready()
show('ends', lambda: (robot.rarm_end_coords.copy_worldcoords(), robot.larm_end_coords.copy_worldcoords(), robot.head_end_coords.copy_worldcoords()))
for p in ([1, 0.3, 0.8], [2, -0.5, 1.5], [0.6, 0, 0.3]):
    def gaze():
        h = robot.head_end_coords; v = np.array(p) - h.worldpos(); return float(h.worldrot()[:, 2] @ v / np.linalg.norm(v))
    show('look_at %s' % p, lambda: (robot.look_at(p) is not False, round(gaze(), 3)))
    show('look_at c %s' % p, lambda: (robot.look_at(make_coords(pos=p)) is not False, round(gaze(), 3)))
    show('head angles %s' % p, lambda: robot.head.angle_vector())
ready()
ready()
r0, l0 = robot.rarm_end_coords.copy_worldcoords(), robot.larm_end_coords.copy_worldcoords()
def dual(**kw):
    ready()
    r = robot.inverse_kinematics([r0.copy().translate([0.05, 0, 0.1], 'world'), l0.copy().translate([0.05, 0, 0.1], 'world')], move_target=[robot.rarm_end_coords, robot.larm_end_coords], link_list=[robot.rarm.link_list, robot.larm.link_list], **kw)
    return r is not False, np.round(robot.rarm_end_coords.worldpos() - r0.worldpos(), 2), np.round(robot.larm_end_coords.worldpos() - l0.worldpos(), 2)
ready()
show('limb ik', lambda: (robot.rarm.inverse_kinematics(r0.copy().translate([0.1, 0, 0]), rotation_mask=True) is not False, robot.rarm_end_coords.worldpos() - r0.worldpos()))
show('limb move_end_pos', lambda: (ready(), robot.rarm.move_end_pos([0, 0, 0.1], 'world') is not False, robot.rarm.end_coords.worldpos() - r0.worldpos()))
show('limb move_end_rot', lambda: (ready(), robot.larm.move_end_rot(np.deg2rad(20), 'z') is not False, robot.larm.end_coords.copy_worldcoords()))
show('robot move_end_pos', lambda: robot.move_end_pos([0, 0, 0.1]))
show('cog ik', lambda: (ready(), robot.inverse_kinematics([r0], move_target=[robot.rarm_end_coords], link_list=[robot.rarm.link_list], target_centroid_pos=robot.centroid(), cog_gain=1.0, cog_null_space=True) is not False)[1])
show('ret type', lambda: (ready(), type(robot.rarm.inverse_kinematics(r0)).__name__, robot.rarm.inverse_kinematics(r0).shape)[1:])
show('ret robot', lambda: (ready(), robot.inverse_kinematics(r0, move_target=robot.rarm_end_coords, link_list=robot.rarm.link_list).shape)[1:])
show('rarm cog', lambda: robot.rarm.centroid())
show('interlock', lambda: robot.interlocking_joint_pairs)
show('copy limb', lambda: [j.name for j in robot.rarm.joint_list])
show('limb limits', lambda: robot.rarm.joint_min_angles)
show('head limits', lambda: robot.head.joint_max_angles)
show('mimic', lambda: [j.name for j in robot.joint_list if 'wrist' in j.name])
