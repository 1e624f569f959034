from skrobot.model import *
from skrobot.coordinates import *
import skrobot
def two(kind, **kw):
    a, b = Link(name='a'), Link(name='b', pos=[0, 0, 0.5])
    a.assoc(b)
    j = kind(parent_link=a, child_link=b, name='j', **kw)
    b.add_joint(j); b.add_parent_link(a); a.add_child_link(b)
    return RobotModel(link_list=[a, b], joint_list=[j]), j, b
for kind, kw, vals in ((RotationalJoint, dict(axis='y'), [0.3, 5, -5]), (RotationalJoint, dict(axis=[1, 1, 0], min_angle=-1, max_angle=1), [0.3, 5]), (RotationalJoint, dict(axis='-z'), [.4]), (LinearJoint, dict(axis='x', min_angle=-0.1, max_angle=0.2), [0.1, 5]), (LinearJoint, dict(axis='z'), [0.1, 100]), (FixedJoint, dict(), [0.1]),
        (PlanarJoint, dict(), [[.1, .2, .3]]), (FloatingJoint, dict(), [[.1, .2, .3, .4, .5, .6]]), (OmniWheelJoint, dict(), [[.1, .2, .3]])):
    nm = kind.__name__ + str(kw)
    show(nm, lambda: two(kind, **kw)[2])
    r, j, b = two(kind, **kw)
    for v in vals:
        show(nm + ' set %s' % (v,), lambda: j.joint_angle(v))
        show(nm + ' pose %s' % (v,), lambda: b.copy_worldcoords())
    show(nm + ' rel', lambda: (j.joint_angle(vals[0], relative=True), b.worldpos()))
    show(nm + ' dof', lambda: (j.joint_dof, j.type, j.name))
    show(nm + ' lim', lambda: (j.min_angle, j.max_angle, j.max_joint_velocity, j.max_joint_torque))
    show(nm + ' av', lambda: r.angle_vector())
    show(nm + ' world axis', lambda: (j.world_axis, j.world_position))
    show(nm + ' min max', lambda: (j.min_joint_angle, j.max_joint_angle))
    show(nm + ' movable', lambda: j.is_movable)
    show(nm + ' default coords', lambda: j.default_coords)
    show(nm + ' joint_type', lambda: j.joint_type)
    show(nm + ' speed gain', lambda: j.calc_angle_speed_gain(np.ones(6) * 10, 0, 0.1))
    show(nm + ' repr', lambda: repr(j).split('0x')[0])
    show(nm + ' hook', lambda: j.register_hook(lambda: None) if hasattr(j, 'register_hook') else None)
    show(nm + ' flip', lambda: (j.flip_axis() if callable(getattr(j, 'flip_axis', None)) else j.flip_axis))
    show(nm + ' jac', lambda: r.calc_jacobian_from_link_list([CascadedCoords(parent=b, pos=b.worldpos()).translate([.1, 0, 0])], [b]))
show('default', lambda: (RotationalJoint(child_link=Link()).min_angle, RotationalJoint(child_link=Link()).max_angle, LinearJoint(child_link=Link()).min_angle, LinearJoint(child_link=Link()).max_angle))
show('noname', lambda: RotationalJoint(child_link=Link()).name)
show('bad vel', lambda: RotationalJoint(child_link=Link(), max_joint_velocity=0).max_joint_velocity)
r, j, b = two(RotationalJoint, axis='y'); r2, k, c = two(RotationalJoint, axis='x')
show('mimic', lambda: (j.register_mimic_joint(k, 2.0, 0.1), j.joint_angle(0.3), k.joint_angle()))
t = dict(target_min=-90, target_max=90)
show('link attrs', lambda: (b.mass, b.centroid, b.inertia_tensor, b.name, [x.name for x in b.child_links], b.parent_link.name, b.joint.name))
show('del', lambda: (b.del_parent_link(), b.parent_link, b.parent is None))
show('add joint', lambda: b.delete_joint())
from skrobot.model.joint_limit_table import JointLimitTable
r, j, b = two(RotationalJoint, axis='y'); r2, k, c = two(RotationalJoint, axis='x')
show('table', lambda: JointLimitTable(j, -1.0, 1.0, [-0.5, -0.2, -0.1], [0.5, 0.2, 0.3]).min_angle_function(0.5))
show('table max', lambda: JointLimitTable(j, -1.0, 1.0, [-0.5, -0.2, -0.1], [0.5, 0.2, 0.3]).max_angle_function(-0.5))
