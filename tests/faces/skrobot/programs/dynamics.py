from skrobot.model import RobotModel
from skrobot.coordinates import CascadedCoords, Coordinates, make_coords
for name in ('fetch', 'humanoid', 'kuka'):
    robot = RobotModel.from_urdf(name + '.urdf')
    n = len(robot.joint_list); rng = np.random.RandomState(1)
    lo, hi = robot.joint_min_angles, robot.joint_max_angles
    lo = np.where(np.isfinite(lo), lo, -1); hi = np.where(np.isfinite(hi), hi, 1)
    av = lo + (hi - lo) * rng.uniform(0.3, 0.7, n)
    robot.angle_vector(av)
    L = {l.name: l for l in robot.link_list}
    tip = {'fetch': 'gripper_link', 'humanoid': 'right_hand', 'kuka': robot.link_list[-1].name}[name]
    show(name + ' mass', lambda: robot.update_mass_properties())
    show(name + ' centroid', lambda: robot.centroid())
    show(name + ' torque', lambda: robot.torque_vector())
    show(name + ' torque g', lambda: robot.torque_vector(gravity=np.array([0, 0, -5.])))
    show(name + ' torque force', lambda: robot.torque_vector(force_list=[[10, 0, 5]], target_coords=[L[tip]]) - robot.torque_vector())
    show(name + ' torque f+m', lambda: robot.torque_vector(force_list=[np.array([10, 0, 5])], moment_list=[np.array([0, 0, 0.])], target_coords=[L[tip]]) - robot.torque_vector())
    e = CascadedCoords(parent=L[tip]).translate([0.1, 0.05, 0])
    show(name + ' torque tool', lambda: robot.torque_vector(force_list=[np.array([10, 0, 5])], moment_list=[np.zeros(3)], target_coords=[e]) - robot.torque_vector())
    show(name + ' dyn', lambda: robot.torque_vector(calc_statics_p=False, av_prev=av - 0.01, av=av, av_next=av + 0.02, dt=0.05))
    show(name + ' invdyn', lambda: robot.inverse_dynamics())
    show(name + ' cog jac', lambda: robot.calc_cog_jacobian_from_link_list([l for l in robot.link_list if l.joint is not None and l.joint.joint_dof]))
    show(name + ' cog vel', lambda: robot.calc_vel_for_cog(np.array([0.1, 0.2, 0.3])))
    show(name + ' cog vel axis', lambda: robot.calc_vel_for_cog(np.array([0.1, 0.2, 0.3]), translation_axis='z'))
    show(name + ' cog vel axis xy', lambda: robot.calc_vel_for_cog([0.1, 0.2, 0.3], translation_axis='xy', cog_gain=2.0))
    show(name + ' cog off', lambda: robot.calc_vel_for_cog([0.1, 0.2, 0.3], centroid_offset_func=lambda: np.array([0.01, 0, 0])))
    show(name + ' joint torque', lambda: [j.joint_torque for j in robot.joint_list])
    show(name + ' one arg', lambda: robot.torque_vector(force_list=[10, 0, 5], target_coords=L[tip]))
