"""The conventions that every part of Linkwork keeps, in one place.

Units
    SI: metre, radian, kilogram, second, newton. A number in another unit says so in its name
    (``angle_deg``).

Poses
    ``T_a_b`` takes coordinates of b to coordinates of a: ``x_a = T_a_b @ x_b``, and so
    ``T_a_c = T_a_b @ T_b_c``. ``R_a_b`` and ``p_a_b`` are its rotation and the origin of b in a.
    Poses that you give or get are 4 x 4 matrices, with any leading shape: (..., 4, 4).

Rotations
    Quaternions are ``wxyz``. Euler angles are URDF's roll, pitch, yaw: turns about the fixed axes
    x, y, z in this order, R = Rz(yaw) Ry(pitch) Rx(roll). Rotation vectors are axis times angle.

Twists, wrenches, Jacobians
    The linear part comes first, then the angular part; the rows of a Jacobian likewise. Unless you
    name another reference, a velocity is that of the frame's origin, in the axes of the world
    (``"world-aligned"``). ``"local"`` uses the frame's own axes; ``"world"`` the world's origin
    and axes.

Configurations
    q holds the joints that move on their own, in the order in which the description places them:
    a joint stands as soon as its parent link does, and the file is gone through again until all
    stand. Fixed joints and coupled (mimic) joints have no place in q.

    =====================  ==================  ==================================================
    joint                  in q                in v
    =====================  ==================  ==================================================
    revolute, continuous   angle               its rate
    prismatic              displacement        its rate
    planar                 x y theta           their rates
    floating               x y z  w x y z      linear, then angular velocity, in the body's axes
    spherical              w x y z             angular velocity, in the body's axes
    =====================  ==================  ==================================================

    A derivative with respect to q has one column for each entry of v: it is taken in the tangent
    of q, so a floating joint has six columns and not seven, and a spherical one three.

Coupled joints
    A follower's position is multiplier * leader + offset. Its limits of position and velocity
    narrow the leader's, and its damping, friction and springs are added to the leader's, by that
    rate. A value that is given for a follower must agree with its leader within 1e-9.

Names
    ``joint_names`` are the joints of q. ``frame_names`` are the links, then the joints, then frames
    that you added; a joint that has the name of a link is called ``name/joint`` there.

Loops
    Closed loops do not shorten q. Forward kinematics never solves: it takes the q that it is given.
"""

from __future__ import annotations

from typing import Final

STANDARD_GRAVITY: Final = 9.80665
"""The acceleration of free fall, m/s². Source: 3rd CGPM (1901), Resolution 2."""

GRAVITY: Final = (0.0, 0.0, -STANDARD_GRAVITY)
"""The gravity vector of robots whose description says none, in world axes, m/s²: z points up."""

LINEAR: Final = slice(0, 3)
"""The linear part of a twist, of a wrench or of a Jacobian's rows."""

ANGULAR: Final = slice(3, 6)
"""The angular part of a twist, of a wrench or of a Jacobian's rows."""

QUATERNION_ORDER: Final = "wxyz"
"""The order of the four numbers of a quaternion."""

FOLLOWER_TOLERANCE: Final = 1e-9
"""The distance that a value given for a follower may have from the one that its leader implies."""

RIGID_TOLERANCE: Final = 1e-6
"""The distance that each number of a given pose or rotation may have from that of a rigid one."""
