"""Arrays of NumPy and of JAX behind one set of names: ``skrobot.backend``.

The default is JAX where it is installed, as in the original. JAX is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from linkwork import extras
from linkwork.errors import InputError
from linkwork.faces.table import stand_for

__all__ = [
    "BackendRegistry",
    "JaxBackend",
    "NumpyBackend",
    "get_backend",
    "list_backends",
    "rodrigues_rotation",
    "set_default_backend",
    "skew_symmetric",
    "use_backend",
]


def _named(method: Any, path: str, doc: str) -> Any:
    method.__name__, method.__doc__ = path.rpartition(".")[2], doc
    return method


def _of_one(path: str, doc: str) -> Any:
    """The method that is the library's function of an array."""
    function = attrgetter(path)

    def method(self: ArrayBackend, arr: Any, *more: Any, **how: Any) -> Any:
        return function(self.xp)(arr, *more, **how)

    return _named(method, path, doc)


def _of_two(path: str, doc: str) -> Any:
    """The method that is the library's function of two arrays."""
    function = attrgetter(path)

    def method(self: ArrayBackend, a: Any, b: Any) -> Any:
        return function(self.xp)(a, b)

    return _named(method, path, doc)


def _by_jax(name: str) -> Any:
    """The method that gives what JAX makes of a function."""

    def method(self: JaxBackend, fn: Callable[..., Any]) -> Callable[..., Any]:
        return getattr(self.jax, name)(fn)

    return _named(method, name, f"`jax.{name}`.")


class ArrayBackend:
    """The functions of arrays that both have, by NumPy's names."""

    xp: Any = np
    """The library."""
    dtype: Any = np.float64
    """The type of arrays that are made."""

    def array(self, data: Any) -> Any:
        """An array of numbers of `dtype`."""
        return self.xp.asarray(data, dtype=self.dtype)

    def to_numpy(self, arr: Any) -> Any:
        """An array of NumPy."""
        return np.asarray(arr)

    def arange(self, start: float, stop: float | None = None, step: float = 1) -> Any:
        """Numbers from start, or 0, up to stop, which is left out."""
        bounds = (0, start) if stop is None else (start, stop)
        return self.xp.arange(*bounds, step, dtype=self.dtype)

    def zeros(self, shape: Any) -> Any:
        """Zeros of a shape, or of so many."""
        return self.xp.zeros(shape, dtype=self.dtype)

    def ones(self, shape: Any) -> Any:
        """Ones of a shape, or of so many."""
        return self.xp.ones(shape, dtype=self.dtype)

    def eye(self, n: int) -> Any:
        """The identity (n, n)."""
        return self.xp.eye(n, dtype=self.dtype)

    def linspace(self, start: float, stop: float, num: int) -> Any:
        """``num`` numbers from start to stop."""
        return self.xp.linspace(start, stop, num, dtype=self.dtype)

    def stack(self, arrays: Sequence[Any], axis: int = 0) -> Any:
        """Arrays along a new axis."""
        return self.xp.stack(arrays, axis=axis)

    def concatenate(self, arrays: Sequence[Any], axis: int = 0) -> Any:
        """Arrays one after the other."""
        return self.xp.concatenate(arrays, axis=axis)

    def take(self, arr: Any, indices: Any, axis: int | None = None) -> Any:
        """Elements by their indices."""
        return self.xp.take(arr, self.xp.asarray(indices), axis=axis)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        """Elements of x where the condition holds, else of y."""
        return self.xp.where(condition, x, y)

    def arctan2(self, y: Any, x: Any) -> Any:
        """The angles of points (x, y)."""
        return self.xp.arctan2(y, x)

    def reshape(self, arr: Any, shape: Any) -> Any:
        """The same numbers in another shape."""
        return self.xp.reshape(arr, shape)

    def power(self, arr: Any, p: float) -> Any:
        """Powers."""
        return self.xp.power(arr, p)

    def clip(self, arr: Any, min_val: Any, max_val: Any) -> Any:
        """Values moved into bounds."""
        return self.xp.clip(arr, min_val, max_val)

    transpose = _of_one("transpose", "Axes in another order, reversed by default.")
    expand_dims = _of_one("expand_dims", "One more axis of length 1.")
    squeeze = _of_one("squeeze", "Without axes of length 1.")
    trace = _of_one("trace", "The sum of the diagonal.")
    det = _of_one("linalg.det", "Determinants.")
    inv = _of_one("linalg.inv", "Inverses.")
    pinv = _of_one("linalg.pinv", "Pseudo-inverses.")
    svd = _of_one("linalg.svd", "Singular value decompositions.")
    eigh = _of_one("linalg.eigh", "Eigenvalues and eigenvectors of symmetric matrices.")
    norm = _of_one("linalg.norm", "Lengths.")
    sin = _of_one("sin", "Sines.")
    cos = _of_one("cos", "Cosines.")
    sqrt = _of_one("sqrt", "Square roots.")
    exp = _of_one("exp", "Exponentials.")
    log = _of_one("log", "Natural logarithms.")
    abs = _of_one("abs", "Absolute values.")
    sum = _of_one("sum", "Sums.")
    mean = _of_one("mean", "Means.")
    dot = _of_two("dot", "The product of vectors, or of matrices.")
    matmul = _of_two("matmul", "The product of matrices.")
    cross = _of_two("cross", "a x b.")
    outer = _of_two("outer", "The outer product.")
    minimum = _of_two("minimum", "The smaller of each two.")
    maximum = _of_two("maximum", "The larger of each two.")


class NumpyBackend(ArrayBackend):
    """NumPy; derivatives are central differences of step ``eps``."""

    name = "numpy"
    supports_autodiff = False
    supports_jit = False

    def __init__(self, dtype: Any = np.float64) -> None:
        self.dtype = np.dtype(dtype)

    def compile(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """The function itself."""
        return fn

    def vmap(self, fn: Callable[..., Any], in_axes: Any = 0) -> Callable[..., Any]:
        """A function of rows, one after the other; ``in_axes`` is for all or for each argument."""

        def of_rows(*args: Any) -> Any:
            axes = in_axes if isinstance(in_axes, (tuple, list)) else [in_axes] * len(args)
            counts = [np.shape(a)[k] for a, k in zip(args, axes, strict=True) if k is not None]
            if len(set(counts)) != 1:
                raise InputError(f"vmap needs arguments of one length, not {counts}")
            made = [
                fn(*(a if k is None else np.take(a, n, k) for a, k in zip(args, axes, strict=True)))
                for n in range(counts[0])
            ]
            if made and isinstance(made[0], tuple):
                return tuple(np.stack(part) for part in zip(*made, strict=True))
            return np.stack(made)

        return of_rows

    def jacobian(self, fn: Callable[[Any], Any], eps: float = 1e-7) -> Callable[[Any], Any]:
        """The function whose value is the derivative of another, of shape f(x).shape + x.shape."""

        def derivative(x: Any) -> Any:
            at = np.asarray(x, dtype=np.float64)
            columns = []
            for k in range(at.size):
                step = np.zeros(at.size)
                step[k] = eps
                ahead = np.asarray(fn(at + step.reshape(at.shape)), np.float64)
                back = np.asarray(fn(at - step.reshape(at.shape)), np.float64)
                columns.append((ahead - back) / (2.0 * eps))
            made = np.stack(columns, axis=-1)
            return made.reshape(*made.shape[:-1], *at.shape)

        return derivative

    def gradient(self, fn: Callable[[Any], Any], eps: float = 1e-7) -> Callable[[Any], Any]:
        """The gradient of a function of one array whose value is a number."""
        return self.jacobian(fn, eps)

    def value_and_grad(self, fn: Callable[[Any], Any], eps: float = 1e-7) -> Callable[[Any], Any]:
        """A function's value and its gradient."""
        gradient = self.gradient(fn, eps)
        return lambda x: (fn(x), gradient(x))

    def hessian(self, fn: Callable[[Any], Any], eps: float = 1e-5) -> Callable[[Any], Any]:
        """The second derivative of a function of one array whose value is a number."""
        # the step of the outer difference is larger, for what the inner one has lost
        return self.jacobian(self.jacobian(fn, eps), max(eps, 1e-4))

    def fori_loop(
        self, lower: int, upper: int, body_fn: Callable[[int, Any], Any], init: Any
    ) -> Any:
        """``body_fn(i, value)`` for each i from lower to upper - 1, from ``init``."""
        value = init
        for i in range(lower, upper):
            value = body_fn(i, value)
        return value

    def while_loop(
        self, cond_fn: Callable[[Any], bool], body_fn: Callable[[Any], Any], init: Any
    ) -> Any:
        """``body_fn(value)`` as long as ``cond_fn(value)``, from ``init``."""
        value = init
        while cond_fn(value):
            value = body_fn(value)
        return value


class JaxBackend(ArrayBackend):
    """JAX, with its derivatives and compilation.

    ``enable_x64`` turns numbers of 64 bits on for the whole process; False leaves that as it is.

    Raises: MissingExtraError.
    """

    name = "jax"
    supports_autodiff = True
    supports_jit = True

    def __init__(self, enable_x64: bool = True) -> None:
        with extras.needed("the backend 'jax' needs", "JAX", "jax"):
            import jax  # noqa: PLC0415  heavy, and an extra
        if enable_x64:
            jax.config.update("jax_enable_x64", True)
        self.jax: Any = jax
        self.xp = jax.numpy
        self.dtype = None

    def vmap(self, fn: Callable[..., Any], in_axes: Any = 0) -> Callable[..., Any]:
        """`jax.vmap`."""
        return self.jax.vmap(fn, in_axes=in_axes)

    compile = _by_jax("jit")
    jacobian = _by_jax("jacobian")
    gradient = _by_jax("grad")
    value_and_grad = _by_jax("value_and_grad")
    hessian = _by_jax("hessian")

    def fori_loop(
        self, lower: int, upper: int, body_fn: Callable[[Any, Any], Any], init: Any
    ) -> Any:
        """`jax.lax.fori_loop`."""
        return self.jax.lax.fori_loop(lower, upper, body_fn, init)

    def while_loop(
        self, cond_fn: Callable[[Any], Any], body_fn: Callable[[Any], Any], init: Any
    ) -> Any:
        """`jax.lax.while_loop`."""
        return self.jax.lax.while_loop(cond_fn, body_fn, init)

    def scan(self, fn: Callable[..., Any], init: Any, xs: Any, length: int | None = None) -> Any:
        """`jax.lax.scan`."""
        return self.jax.lax.scan(fn, init, xs, length=length)

    def cond(
        self,
        pred: Any,
        true_fn: Callable[..., Any],
        false_fn: Callable[..., Any],
        *operands: Any,
    ) -> Any:
        """`jax.lax.cond`."""
        return self.jax.lax.cond(pred, true_fn, false_fn, *operands)

    def at_set(self, arr: Any, indices: Any, values: Any) -> Any:
        """An array with other values at some indices."""
        return arr.at[indices].set(values)

    def at_add(self, arr: Any, indices: Any, values: Any) -> Any:
        """An array with values added at some indices."""
        return arr.at[indices].add(values)


class BackendRegistry:
    """The backends by name, and which is the default."""

    _backends: ClassVar[dict[str, Callable[..., Any]]] = {"numpy": NumpyBackend}
    _made: ClassVar[dict[str, Any]] = {}
    _default: ClassVar[str | None] = None

    @classmethod
    def register(cls, name: str, backend_class: Callable[..., Any]) -> None:
        """Add a backend, or take the place of one."""
        cls._backends[name] = backend_class
        cls._made.pop(name, None)

    @classmethod
    def available(cls) -> list[str]:
        """The names of all."""
        return list(cls._backends)

    @classmethod
    def set_default(cls, name: str) -> None:
        """The backend that `get` gives without a name.

        Raises: InputError for an unknown name.
        """
        cls._class(name)
        cls._default = name

    @classmethod
    def get(cls, name: str | None = None, **kwargs: Any) -> Any:
        """A backend, the same each time unless there are arguments to make it from.

        Raises: InputError for an unknown name.
        """
        if name is None:
            name = cls._default or ("jax" if "jax" in cls._backends else "numpy")
        backend_class = cls._class(name)
        if kwargs:
            return backend_class(**kwargs)
        if name not in cls._made:
            cls._made[name] = backend_class()
        return cls._made[name]

    @classmethod
    def clear_cache(cls) -> None:
        """Forget the backends that have been made."""
        cls._made.clear()

    @classmethod
    def _class(cls, name: str) -> Callable[..., Any]:
        if name not in cls._backends:
            raise InputError(
                f"Unknown backend: {name!r:.40}. Available backends: {cls.available()}"
            )
        return cls._backends[name]


if find_spec("jax") is not None:
    BackendRegistry.register("jax", JaxBackend)


def get_backend(name: str | None = None, **kwargs: Any) -> Any:
    """A backend by its name, 'numpy' or 'jax'; without one the default."""
    return BackendRegistry.get(name, **kwargs)


def set_default_backend(name: str) -> None:
    """The backend that `get_backend` gives without a name."""
    BackendRegistry.set_default(name)


def list_backends() -> list[str]:
    """The names of all backends that are installed."""
    return BackendRegistry.available()


@contextmanager
def use_backend(name: str, **kwargs: Any) -> Generator[Any]:
    """A backend that is the default within a ``with``."""
    backend = get_backend(name, **kwargs)
    registry = BackendRegistry
    before, registry._default = registry._default, name  # pyright: ignore[reportPrivateUsage]
    try:
        yield backend
    finally:
        registry._default = before  # pyright: ignore[reportPrivateUsage]


def skew_symmetric(backend: Any, v: Any) -> Any:
    """The matrices (..., 3, 3) of v x ... of vectors (..., 3), in a backend or a module."""
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    zero = 0.0 * x
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    return backend.stack([backend.stack(row, axis=-1) for row in rows], axis=-2)


def rodrigues_rotation(backend: Any, axis: Any, angle: Any) -> Any:
    """Rotations (..., 3, 3) by angles (...) about axes (..., 3) of any length; none about zero.

    In a backend, or in the module `numpy` or `jax.numpy`.

    Source: Rodrigues' formula.
    """
    square = backend.sum(axis * axis, axis=-1)
    length = backend.sqrt(backend.where(square > 0.0, square, 1.0))
    K = skew_symmetric(backend, axis / length[..., None])
    sine, cosine = backend.sin(angle), backend.cos(angle)
    return (
        backend.eye(3)
        + backend.reshape(sine, (*sine.shape, 1, 1)) * K
        + backend.reshape(1.0 - cosine, (*cosine.shape, 1, 1)) * backend.matmul(K, K)
    )


stand_for(__name__, "jax_backend", "math_utils", "numpy_backend", "registry")
