"""Names of the original that this face refuses, by what to use in their place."""

from __future__ import annotations

REFUSED: dict[str, tuple[str, ...]] = {
    "programs for the command line are `linkwork convert`, `check`, `info` and `view`": (
        "skrobot.apps",
    ),
    "linkwork.urdf.merge makes one description of two": (
        "skrobot.assembly",
    ),
    "use RobotModel.self_collision_check, RobotModel.collision_model, or "
    "RobotModel.linkwork().collision(), which checks robots and scenes (docs/collision.md)": (
        "skrobot.collision", "skrobot.planner.collision_checker",
    ),
    "use RobotModel.torque_vector and RobotModel.inverse_dynamics, or the functions of "
    "RobotModel.linkwork() (docs/dynamics.md)": (
        "skrobot.dynamics",
    ),
    "use `linkwork convert robot.urdf robot.xml`, or linkwork.save(robot, 'robot.xml')": (
        "skrobot.export", "skrobot.urdf.urdf_to_mjcf", "skrobot.utils.mjcf_converter",
    ),
    "Linkwork has no drivers of real robots and of simulators; linkwork.simulate simulates": (
        "skrobot.interfaces",
    ),
    "use RobotModel.inverse_kinematics or batch_inverse_kinematics with use_base='planar' or "
    "'6dof', which find where a robot stands to reach": (
        "skrobot.kinematics.BaseCandidates", "skrobot.kinematics.BasePlacementResult",
        "skrobot.kinematics.InverseReachabilityMap", "skrobot.kinematics.ReachabilityMap",
        "skrobot.kinematics.base_placement",
        "skrobot.kinematics.differentiable.create_reachability_aware_solver",
        "skrobot.kinematics.differentiable.filter_targets_by_reachability",
        "skrobot.kinematics.find_base_placement", "skrobot.kinematics.inverse_reachability_map",
        "skrobot.kinematics.reachability_map", "skrobot.kinematics.vectorized_target",
    ),
    "put loop_closures.yaml beside the description, and call RobotModel.close_loops()": (
        "skrobot.kinematics.LoopClosureSolver", "skrobot.kinematics.loop_closure",
    ),
    "it is what batch_inverse_kinematics gives as result.attempts, and not made by programs": (
        "skrobot.model.robot_model.BatchIKAttempts",
    ),
    "the page of every viewer draws a robot as sticks, by its switch": (
        "skrobot.model.SkeletonModel", "skrobot.model.skeleton",
    ),
    "RobotModel.inverse_kinematics and batch_inverse_kinematics solve by themselves": (
        "skrobot.planner.inverse_kinematics_optimization",
    ),
    "skrobot.planner.sqp_plan_trajectory plans by the core, linkwork.trajectory times paths": (
        "skrobot.planner.trajectory_optimization", "skrobot.planner.utils.scipinize",
    ),
    "use RobotModel.linkwork().fk(q, frames), which takes many configurations": (
        "skrobot.planner.utils.forward_kinematics_multi",
    ),
    "paths are planned at once, without iterations to be drawn; draw the path with viewer.redraw": (
        "skrobot.utils.get_trajectory_optimization_callback",
        "skrobot.utils.trajectory_visualization",
        "skrobot.utils.visualization.get_trajectory_optimization_callback",
        "skrobot.utils.visualization.trajectory_visualization",
    ),
    "this edit of descriptions is not made here; linkwork.urdf has prefix, rename, reroot, "
    "subtree, remove, cut and merge (docs/urdf.md)": (
        "skrobot.urdf.ROSPackageExporter", "skrobot.urdf.aggregate",
        "skrobot.urdf.aggregate_urdf_mesh_files", "skrobot.urdf.canonicalize",
        "skrobot.urdf.canonicalize_urdf", "skrobot.urdf.canonicalize_urdf_file",
        "skrobot.urdf.convert_wheel_collisions_to_cylinders", "skrobot.urdf.flip_axis",
        "skrobot.urdf.flip_joint_axis", "skrobot.urdf.flip_joint_axis_file",
        "skrobot.urdf.geometry_centroid", "skrobot.urdf.get_mesh_dimensions", "skrobot.urdf.hash",
        "skrobot.urdf.link_origins", "skrobot.urdf.merge_fixed_links",
        "skrobot.urdf.merge_fixed_links_file", "skrobot.urdf.modularize_urdf",
        "skrobot.urdf.normalize_link_origins", "skrobot.urdf.normalize_link_origins_file",
        "skrobot.urdf.ros_config", "skrobot.urdf.ros_package", "skrobot.urdf.ros_package_exporter",
        "skrobot.urdf.sanitize", "skrobot.urdf.sanitize_name", "skrobot.urdf.sanitize_urdf_names",
        "skrobot.urdf.scale_urdf",
        "skrobot.urdf.transform_urdf_to_macro", "skrobot.urdf.wheel_collision_converter",
    ),
    "the class URDFXMLRootLinkChanger and transform_urdf_with_world_link are in skrobot.urdf": (
        "skrobot.urdf.transform_urdf", "skrobot.urdf.xml_root_link_changer",
    ),
    "compare RobotModel.linkwork().fk of both, or `linkwork check` and `linkwork info`": (
        "skrobot.urdf.KinematicComparison", "skrobot.urdf.compare",
        "skrobot.urdf.compare_kinematics",
    ),
    "write the class as a subclass of skrobot.models.RobotModelFromURDF, with its limbs": (
        "skrobot.urdf.build_grouping_prompt", "skrobot.urdf.compute_jaw_gripper_frame",
        "skrobot.urdf.generate_groups_from_geometry", "skrobot.urdf.generate_groups_from_llm",
        "skrobot.urdf.generate_robot_class_from_geometry", "skrobot.urdf.llm_grouping",
        "skrobot.urdf.parse_grouping_response", "skrobot.urdf.robot_class_generator",
    ),
    "meshes are not made simpler in files: viewers and collision checks (docs/collision.md) take "
    "them as they are, and simplify and decompose them by themselves": (
        "skrobot.urdf.convert_meshes_to_primitives", "skrobot.urdf.primitives_converter",
        "skrobot.utils.blender_mesh", "skrobot.utils.convex_decomposition",
        "skrobot.utils.convex_decomposition_cached", "skrobot.utils.draco",
        "skrobot.utils.fit_primitive_to_mesh", "skrobot.utils.is_coacd_available",
        "skrobot.utils.mesh", "skrobot.utils.primitive_fitting",
        "skrobot.utils.primitive_params_to_origin", "skrobot.utils.remesh_with_blender",
    ),
    "use Python's tarfile, shutil.make_archive and hashlib": (
        "skrobot.utils.archive", "skrobot.utils.checksum", "skrobot.utils.checksum_md5",
        "skrobot.utils.make_tarfile",
    ),
    "use importlib.metadata": ("skrobot.utils.package",),
    "nothing is downloaded and kept: give files of your own to skrobot.models": (
        "skrobot.data.data_dir",
    ),
    "documents are those of the face of urdfpy, and write meshes as they are": (
        "skrobot.utils.urdf.apply_scale", "skrobot.utils.urdf.bake_origin_into_meshes",
        "skrobot.utils.urdf.claim_mesh_output_path", "skrobot.utils.urdf.element_output_name",
        "skrobot.utils.urdf.export_mesh_format",
        "skrobot.utils.urdf.force_visual_mesh_origin_to_zero", "skrobot.utils.urdf.geometry_key",
        "skrobot.utils.urdf.get_path_with_cache", "skrobot.utils.urdf.mesh_processing_key",
        "skrobot.utils.urdf.mesh_variant_suffix", "skrobot.utils.urdf.search_up",
        "skrobot.utils.urdf.source_urdf_path",
    ),
    "the names are in skrobot.utils.urdf": ("skrobot.utils.urdf_mesh",),
    "films are made by RobotModel.linkwork().render(q, 'film.mp4')": ("skrobot.utils.video",),
    "pictures are made by save_image of any viewer, and by RobotModel.linkwork().render": (
        "skrobot.viewers.OffscreenRenderer", "skrobot.viewers.merge_by_material",
        "skrobot.viewers.render_parallel",
    ),
    "use argparse with choices=skrobot.viewers.VIEWER_TYPES": ("skrobot.viewers.args",),
    "the viewers need no OpenGL: they are a page of the browser": ("skrobot.viewers.warn_gl",),
}  # fmt: skip
"""Names by reason; that of a module or class stands for all that is in it."""
