"""Linkwork's compiled kernels as functions of PyTorch tensors; needs the extra ``torch``."""

from __future__ import annotations

from linkwork.torch.compiled import Compiled, compiled

__all__ = ["Compiled", "compiled"]
