import skrobot
from skrobot.model import RobotModel, Link, Box
from skrobot.model.joint_limit_table import *
import skrobot.model as M
from skrobot.coordinates import *
show('version', lambda: skrobot.__version__)
show('Kuka', lambda: (skrobot.models.Kuka().joint_names, skrobot.models.Kuka().reset_manip_pose()))
show('data', lambda: sorted(n for n in dir(skrobot.data) if n.endswith('path') and not n.startswith('_')))
# a loop of a trajectory with interpolation
a, b = make_coords(pos=[0.3, -0.2, 0.5]), make_coords(pos=[0.3, 0.2, 0.8]).rotate(0.7, 'y')
show('way', lambda: [a.interpolate(b, t).worldpos() for t in np.linspace(0, 1, 5)])
show('way rot', lambda: [a.interpolate(b, t).rpy_angle()[0] for t in np.linspace(0, 1, 5)])
from skrobot.coordinates.geo import midcoords, rotate_points, orient_coords_to_axis
show('midcoords', lambda: midcoords(0.25, a, b))
show('orient', lambda: orient_coords_to_axis(b.copy(), [1, 0, 0]))
show('orient2', lambda: orient_coords_to_axis(b.copy(), [1, 2, 0], 'x'))
from skrobot.coordinates.base import slerp_coordinates, lerp_coordinates, coordinates_distance
show('sl', lambda: (slerp_coordinates(a, b, .3), lerp_coordinates(a, b, .3), coordinates_distance(a, b)))
import copy, pickle
c = make_cascoords(pos=[1, 2, 3]); d = make_cascoords(pos=[0, 0, 1], parent=c)
show('deepcopy', lambda: copy.deepcopy(d).worldpos())
show('deepcopy parent', lambda: copy.deepcopy(c).descendants[0].worldpos())
show('pickle', lambda: pickle.loads(pickle.dumps(a)).worldpos())
r = RobotModel.from_urdf('fetch.urdf')
show('robot deepcopy', lambda: (copy.deepcopy(r).angle_vector(), ))
show('robot pickle', lambda: pickle.loads(pickle.dumps(r)).angle_vector().shape)
av = r.angle_vector(); av2 = av.copy(); av2[6] += 0.5
path = np.linspace(av, av2, 4)
L = {l.name: l for l in r.link_list}
def go():
    out = []
    for q in path: r.angle_vector(q); out.append(L['wrist_roll_link'].worldpos())
    return np.array(out)
show('path', go)
show('link assoc', lambda: (L['gripper_link'].assoc(Box([.1, .1, .1], name='obj', pos=[0.5, 0, 0.4]), relative_coords='world').worldpos(), r.angle_vector(av), ))
box = Box([.1, .1, .1], pos=[0.5, 0, 0.4]); L['gripper_link'].assoc(box)
show('carried', lambda: (r.angle_vector(av2), box.worldpos()))
show('robot assoc', lambda: (L['gripper_link'].dissoc(box), r.angle_vector(av), box.worldpos()))
show('joint by name', lambda: (r.shoulder_pan_joint.joint_angle(0.3), r.shoulder_pan_joint.joint_angle()))
show('set by dict', lambda: [getattr(r, n).joint_angle(0.1 * i) for i, n in enumerate(r.joint_names[6:13])])
show('end link', lambda: r.wrist_roll_link.copy_worldcoords())
show('rel', lambda: r.elbow_flex_link.transformation(r.wrist_roll_link))
show('rel T', lambda: np.linalg.inv(r.elbow_flex_link.worldcoords().T()).dot(r.wrist_roll_link.worldcoords().T()))
show('dif', lambda: r.elbow_flex_link.difference_position(r.wrist_roll_link))
show('itv', lambda: r.elbow_flex_link.inverse_transform_vector(r.wrist_roll_link.worldpos()))
tab = lambda: JointLimitTable(r.shoulder_pan_joint, -1.0, 1.0, np.linspace(-1, -.2, 5), np.linspace(.2, 1, 5))
show('tab', lambda: (tab().min_angle_function(0.1), tab().max_angle_function(2.0), tab().min_angle_function(-5)))
show('create', lambda: type(create_joint_limit_table(r, 'shoulder_pan_joint', 'shoulder_lift_joint', -30, 30, [-20, -10], [10, 20])).__name__)
show('apply', lambda: (r.shoulder_pan_joint.joint_angle(0.5), r.shoulder_lift_joint.joint_angle(0.5), r.shoulder_lift_joint.joint_angle(), r.apply_joint_limit_table_constraints()))
show('create bad2', lambda: create_joint_limit_table(r, 'shoulder_pan_joint', 'shoulder_lift_joint', -30, 30, [-20, -10], [10]))
