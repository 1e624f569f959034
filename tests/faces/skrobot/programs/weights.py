import skrobot, os, trimesh
import skrobot.utils as u
import skrobot.viewers as v
import skrobot.utils.visualization as vis
from skrobot.utils.inertia import parallel_axis
I = np.array([[1.0, 0.1, -0.2], [0.1, 2.0, 0.3], [-0.2, 0.3, 2.5]])
I6 = (1.0, 0.1, -0.2, 2.0, 0.3, 2.5)
show('axis', lambda: parallel_axis(2.0, I, [0.1, 0.2, 0.3], [1, 0, 0]))
show('axis6', lambda: parallel_axis(2.0, I6, [0.1, 0.2, 0.3], [1, 0, 0]))
a = u.transform_inertial(2.0, [0.1, 0, 0], I, [1, 2, 3], [0.1, 0.2, 0.3])
b = u.transform_inertial(1.0, [0.1, 0, 0.5], I6, [0, 0, 0], [0, 0, 0], method='mine')
show('moved', lambda: a)
show('named', lambda: b)
show('both', lambda: u.combine_inertials(a, b))
show('one', lambda: u.combine_inertials(b))
show('with none', lambda: u.combine_inertials(a, None, b))
show('none', lambda: u.combine_inertials())
show('heavier', lambda: u.rescale_inertial_to_mass(b, 4.0))
show('no mass', lambda: u.rescale_inertial_to_mass(b, 0.0))
show('nothing heavier', lambda: u.rescale_inertial_to_mass(None, 1.0))
for k, w in enumerate(([1, 0, 0, 1, 0, 1], [1, 2, 0, 1, 0, 1], [0] * 6, [float('nan')] * 6, [1, 0, 0, 1, 0, 2], [1, 0, 0, 1, 0, 2.1], [-1, 0, 0, 1, 0, 1])):
    show('body %d' % k, lambda: u.validate_inertia(1.0, w))
show('weightless', lambda: u.validate_inertia(0.0, [1, 0, 0, 1, 0, 1]))
show('loose', lambda: u.validate_inertia(1.0, [1, 0, 0, 1, 0, 2.1], rel_tol=0.1))
mesh = trimesh.creation.box((0.1, 0.2, 0.3)); mesh.apply_translation([0.1, 0, 0]); mesh.export('box.stl')
trimesh.Trimesh(mesh.vertices, mesh.faces[:-1], process=False).export('open.stl')
show('mesh', lambda: u.mesh_mass_properties('box.stl'))
show('mesh of wood', lambda: u.mesh_mass_properties('box.stl', density=500.0, scale=2.0))
show('open mesh', lambda: u.mesh_mass_properties('open.stl'))
show('no mesh', lambda: u.mesh_mass_properties('none.stl'))
show('link', lambda: u.link_inertial_from_mesh('box.stl', [0, 0, 1], [0, 0, 0.5]))
show('no link', lambda: u.link_inertial_from_mesh('none.stl', [0, 0, 1], [0, 0, 0.5]))
show('types', lambda: v.VIEWER_TYPES)
show('help', lambda: v.VIEWER_HELP)
show('camera', lambda: v.look_at_pose([1, 2, 3], [0, 0, 1]))
show('camera up', lambda: v.look_at_pose([1, 2, 3], [0, 0, 1], up=[0, 1, 0]))
show('camera above', lambda: v.look_at_pose([0, 0, 1], [0, 0, 0]))
class Screen:
    drawn = 0
    def redraw(self): Screen.drawn += 1
robot = skrobot.model.RobotModel.from_urdf('kuka.urdf')
tip = [l for l in robot.link_list if l.name == 'lbr_iiwa_with_wsg50__lbr_iiwa_link_7']
tip = tip[0] if tip else robot.link_list[-1]
end = robot.end_coords = skrobot.coordinates.CascadedCoords(parent=tip)
q = 0.3 * np.ones(len(robot.joint_list))
robot.angle_vector(q)
target = end.copy_worldcoords().translate([0.03, 0, 0.02])
def reach(**more):
    robot.angle_vector(q); Screen.drawn = 0
    return robot.inverse_kinematics(target, **more) is not False, Screen.drawn > 0
show('unseen', lambda: reach())
show('enabled', lambda: vis.get_ik_visualization_enabled())
with vis.ik_visualization(Screen(), sleep_time=0.0):
    show('seen', lambda: reach())
    show('seen by hook', lambda: reach(inverse_kinematics_hook=vis.auto_ik_hook()))
    show('hooks', lambda: len(vis.auto_ik_hook()))
with vis.ik_visualization(Screen(), enabled=False):
    show('not seen', lambda: (reach(), vis.get_ik_visualization_enabled(), vis.auto_ik_hook()))
with vis.ik_visualization():
    show('no screen', lambda: (reach(), vis.auto_ik_hook()))
show('after', lambda: (reach(), vis.auto_ik_hook(), vis.get_ik_visualization_enabled()))
for e in (None, True, False):
    for g in (True, False):
        vis.set_ik_visualization_enabled(g)
        Screen.drawn = 0
        show('hook %s %s' % (e, g), lambda: ([f() for f in vis.create_ik_visualization_hook(Screen(), 0.0, enabled=e)], Screen.drawn))
vis.set_ik_visualization_enabled(True)
show('own', lambda: [f() for f in vis.create_custom_ik_hook(lambda: 3, lambda: 4)])
from skrobot.urdf import URDFXMLRootLinkChanger, transform_urdf_with_world_link, find_root_link
changer = URDFXMLRootLinkChanger('kuka.urdf')
show('names', lambda: (changer.list_links()[:4], changer.get_current_root_link(), changer.get_robot_name()))
last = changer.list_links()[3]
show('change', lambda: (changer.change_root_link(last, os.path.abspath('other.urdf')), find_root_link('other.urdf') == last))
show('no such link', lambda: URDFXMLRootLinkChanger('kuka.urdf').change_root_link('zz', os.path.abspath('other.urdf')))
show('no such file', lambda: URDFXMLRootLinkChanger('none.urdf'))
def in_world(**more):
    transform_urdf_with_world_link('kuka.urdf', 'moved.urdf', **more)
    other = skrobot.model.RobotModel.from_urdf('moved.urdf')
    return other.link_list[0].name, len(other.link_list), other.link_list[-1].worldpos(), other.link_list[-1].worldrot()
show('in the world', lambda: in_world(x=1, y=2, z=3, roll=10, pitch=20, yaw=90))
show('in a room', lambda: in_world(x=1, world_link_name='room'))
show('taken', lambda: in_world(world_link_name=changer.list_links()[1]))
show('base', lambda: (skrobot.kinematics.set_base_pose(robot, skrobot.coordinates.make_coords(pos=[1, 2, 3])), robot.worldpos())[1]) if hasattr(skrobot, 'kinematics') else None
import skrobot.kinematics
show('base', lambda: (skrobot.kinematics.set_base_pose(robot, skrobot.coordinates.make_coords(pos=[1, 2, 3]).rotate(0.3, 'z')), robot.worldpos(), robot.worldrot()))
from skrobot.coordinates.math import pi
show('pi', lambda: pi)
