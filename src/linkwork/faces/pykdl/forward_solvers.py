"""Rows S3-121 and S3-122: poses and velocities along a chain, by the core's kernels."""
# Results are put into the values' own slots.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any, cast

from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.frame_vel import FrameVel
from linkwork.faces.pykdl.joint_arrays import JntArray, JntArrayVel
from linkwork.faces.pykdl.scalars import Floats, wrong
from linkwork.faces.pykdl.solver import (
    E_NOERROR,
    E_OUT_OF_RANGE,
    E_SIZE_MISMATCH,
    OtherWayError,
    SolverI,
    check,
)


class ChainFkSolverPos(SolverI):
    """What solvers for poses have."""

    def JntToCart(self, q_in: JntArray, p_out: Any, segmentNr: int = -1) -> int:
        """Set a Frame to the pose behind ``segmentNr`` segments, in the base; below 0: of the tip.

        Or a list of Frames to the poses behind 1, 2, ... segments, as many as ``segmentNr``. Gives
        0; -4 for a q of another size or a list of another length, -6 for too many segments.

        Raises: WrongTypeError (a TypeError); InputError for positions that are not finite.
        """
        raise NotImplementedError


class ChainFkSolverPos_recursive(ChainFkSolverPos):
    """Poses along a chain."""

    def JntToCart(self, q_in: JntArray, p_out: Any, segmentNr: int = -1) -> int:
        """See `ChainFkSolverPos.JntToCart`."""
        core = self._core
        if (
            p_out.__class__ is Frame
            and segmentNr.__class__ is int
            and self._chain._content is self._content
        ):
            try:
                p_out._turn._m, p_out._place._v = core.poses[segmentNr](q_in._a)
            except _NOT_READY:
                pass
            else:
                self._error = E_NOERROR
                return E_NOERROR
        return self._checked(q_in, p_out, segmentNr)

    def _checked(self, q_in: JntArray, p_out: Any, segmentNr: int) -> int:
        if not isinstance(q_in, JntArray):
            raise wrong("JntToCart", "a JntArray and a Frame, or a list of Frames", q_in, p_out)
        if not self._current():
            self._update()  # as the original, which keeps nothing
        if len(q_in) != self._joints:
            return self._set(E_SIZE_MISMATCH)
        count = self._count(segmentNr)
        if count < 0:
            return self._set(E_OUT_OF_RANGE)
        if not isinstance(p_out, Frame):
            return self._set(self._all(q_in, p_out, count))
        call = self._core.poses[segmentNr] = self._core.call("pose_call", count)
        try:
            p_out._turn._m, p_out._place._v = call(q_in._a)
        except OtherWayError:
            put(p_out, self._core.behind(count, "fk")(q_in._a))
        return self._set(E_NOERROR)

    def _all(self, q: JntArray, out: Any, count: int) -> int:
        frames = cast("list[Any]", out if isinstance(out, (list, tuple)) else [out])
        if not all(isinstance(frame, Frame) for frame in frames):
            raise wrong("JntToCart", "a JntArray and a Frame, or a list of Frames", q, out)
        if len(frames) != count:
            return E_SIZE_MISMATCH
        poses, order = self._core.whole("fk_all")(q._a), self._core.order
        for k, frame in enumerate(frames):
            put(frame, poses[order[k + 1]])
        return E_NOERROR


class ChainFkSolverVel(SolverI):
    """What solvers for velocities have."""

    def JntToCart(self, q_in: JntArrayVel, p_out: FrameVel, segmentNr: int = -1) -> int:
        """Set a FrameVel to pose and velocity behind ``segmentNr`` segments; below 0: of the tip.

        The velocity is that of the frame's origin, in the axes of the base. Gives 0; -4 for an
        argument of another size, -6 for too many segments.

        Raises: WrongTypeError (a TypeError); InputError for numbers that are not finite.
        """
        raise NotImplementedError


class ChainFkSolverVel_recursive(ChainFkSolverVel):
    """Poses and velocities along a chain."""

    def JntToCart(self, q_in: JntArrayVel, p_out: FrameVel, segmentNr: int = -1) -> int:
        """See `ChainFkSolverVel.JntToCart`."""
        core = self._core
        known = p_out.__class__ is FrameVel and segmentNr.__class__ is int
        if known and self._chain._content is self._content:
            turn, place = p_out._turn, p_out._place
            try:
                turn._turn._m, place._at._v, place._rate._v, turn._w._v = core.motions[segmentNr](
                    q_in._q._a, q_in._qdot._a
                )
            except _NOT_READY:
                pass
            else:
                self._error = E_NOERROR
                return E_NOERROR
        return self._checked(q_in, p_out, segmentNr)

    def _checked(self, q_in: JntArrayVel, p_out: FrameVel, segmentNr: int) -> int:
        check("JntToCart", q_in, JntArrayVel, p_out, FrameVel)
        if not self._current():
            self._update()
        q, v = q_in.q, q_in.qdot
        if len(q) != self._joints or len(v) != self._joints:
            return self._set(E_SIZE_MISMATCH)
        count = self._count(segmentNr)
        if count < 0:
            return self._set(E_OUT_OF_RANGE)
        call = self._core.motions[segmentNr] = self._core.call("velocity_call", count)
        try:
            p_out.M.R._m, p_out.p.p._v, p_out.p.v._v, p_out.M.w._v = call(q._a, v._a)
            return self._set(E_NOERROR)
        except OtherWayError:
            pass
        pose = self._core.behind(count, "fk")(q._a)
        moves = self._core.behind(count, "frame_velocity")(q._a, v._a)
        (a, b, c, x), (d, e, f, y), (g, h, i, z), _ = pose.tolist()
        p_out.M.R._m, p_out.p.p._v = (a, b, c, d, e, f, g, h, i), (x, y, z)
        x, y, z, a, b, c = moves.tolist()
        p_out.p.v._v, p_out.M.w._v = (x, y, z), (a, b, c)
        return self._set(E_NOERROR)


_NOT_READY = (KeyError, AttributeError, OtherWayError)
"""No call of this kind yet, no arrays of joints, or numbers that the call does not take."""


def put(frame: Frame, pose: Floats) -> None:
    """Set a frame to a pose (4, 4)."""
    (a, b, c, x), (d, e, f, y), (g, h, i, z), _ = pose.tolist()
    frame._turn._m = (a, b, c, d, e, f, g, h, i)
    frame._place._v = (x, y, z)
