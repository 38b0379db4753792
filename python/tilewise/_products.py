"""Chapter: linear products, by matmul over tiles."""

import numpy

from tilewise import _core, _ufuncs
from tilewise._creation import asanyarray
from tilewise._fallback import call
from tilewise._namespace import public

ndarray = _core.ndarray


def _product(name, a, b, out=None):
    """The matrix product, whose floating-point warnings name NumPy's function `name`."""
    return _core.matmul(a, b, out, _core.products[name])


def _storeable(*arrays):
    return all(isinstance(a, _core.scalar) or (a._host() is None and a.dtype.kind != "V") for a in arrays)


@public
def matmul(x1, x2, /, out=None, **kwargs):
    return _matmul("matmul", x1, x2, out, kwargs)


def _matmul(name, x1, x2, out, kwargs):
    a, b = asanyarray(x1), asanyarray(x2)
    if isinstance(out, tuple):
        (out,) = out
    plain_out = out is None or (isinstance(out, ndarray) and out._host() is None)
    if kwargs or not plain_out or not _storeable(a, b):
        return call("matmul", numpy.matmul, (x1, x2), kwargs | ({} if out is None else {"out": out}))
    for position, x in enumerate((x1, x2)):
        if numpy.ndim(x) == 0 and (a, b)[position].ndim == 0:
            raise ValueError(
                f"matmul: Input operand {position} does not have enough dimensions (has 0, gufunc core with "
                f"signature (n?,k),(k,m?)->(n?,m?) requires 1)"
            )
    return _product(name, a, b, out)


def _finished(result, out):
    if out is None:
        return result
    if not isinstance(out, (ndarray, numpy.ndarray)) or out.shape != result.shape or out.dtype != result.dtype:
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
        )
    out[...] = result
    return out


@public(method=True)
def dot(a, b, out=None):
    return _dot("dot", a, b, out)


def _dot(name, a, b, out=None):
    a, b = asanyarray(a), asanyarray(b)
    if not _storeable(a, b):
        return call("dot", numpy.dot, (a, b, out), {})
    if a.ndim == 0 or b.ndim == 0:
        return _finished(_ufuncs.get(numpy.multiply)(a, b), out)
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        axis = b.ndim - 2 if b.ndim > 1 else 0
        raise ValueError(
            f"shapes {_text(a.shape)} and {_text(b.shape)} not aligned: {a.shape[-1]} (dim {a.ndim - 1}) != "
            f"{b.shape[axis]} (dim {axis})"
        )
    if b.ndim == 1 or (a.ndim <= 2 and b.ndim == 2):
        return _finished(_product(name, a, b), out)
    order = [b.ndim - 2, *range(b.ndim - 2), b.ndim - 1]
    columns = b.transpose(order).reshape(b.shape[-2], _count(b.shape[:-2] + b.shape[-1:]))
    rows = a.reshape(_count(a.shape[:-1]), a.shape[-1])
    return _finished(_product(name, rows, columns).reshape(a.shape[:-1] + b.shape[:-2] + b.shape[-1:]), out)


def _text(shape):
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def _count(shape):
    total = 1
    for n in shape:
        total *= n
    return total


@public
def vdot(a, b, /):
    a, b = asanyarray(a).ravel(), asanyarray(b).ravel()
    return _dot("vdot", _ufuncs.get(numpy.conjugate)(a) if a.dtype.kind == "c" else a, b)


@public
def inner(a, b, /):
    a, b = asanyarray(a), asanyarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return _ufuncs.get(numpy.multiply)(a, b)
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(
            f"shapes {_text(a.shape)} and {_text(b.shape)} not aligned: {a.shape[-1]} (dim {a.ndim - 1}) != "
            f"{b.shape[-1]} (dim {b.ndim - 1})"
        )
    return tensordot(a, b, (-1, -1))


@public
def outer(a, b, out=None):
    a, b = asanyarray(a).ravel(), asanyarray(b).ravel()
    return _ufuncs.get(numpy.multiply)(a.reshape(-1, 1), b, out)


@public
def tensordot(a, b, axes=2):
    a, b = asanyarray(a), asanyarray(b)
    if hasattr(axes, "__iter__"):
        axes_a, axes_b = ([x] if not hasattr(x, "__iter__") else list(x) for x in axes)
    else:
        axes_a, axes_b = list(range(-axes, 0)), list(range(axes))
    if len(axes_a) != len(axes_b) or any(
        not -a.ndim <= i < a.ndim or not -b.ndim <= j < b.ndim or a.shape[i] != b.shape[j]
        for i, j in zip(axes_a, axes_b, strict=False)
    ):
        raise ValueError("shape-mismatch for sum")
    axes_a, axes_b = [k % a.ndim for k in axes_a], [k % b.ndim for k in axes_b]
    if len(set(axes_a)) < len(axes_a) or len(set(axes_b)) < len(axes_b):
        raise ValueError("tensordot axes must be unique")
    kept_a = [k for k in range(a.ndim) if k not in axes_a]
    kept_b = [k for k in range(b.ndim) if k not in axes_b]
    shape_a, shape_b = tuple(a.shape[k] for k in kept_a), tuple(b.shape[k] for k in kept_b)
    inside = _count([a.shape[k] for k in axes_a])
    rows = a.transpose(kept_a + axes_a).reshape(_count(shape_a), inside)
    columns = b.transpose(axes_b + kept_b).reshape(inside, _count(shape_b))
    result = dot(rows, columns).reshape(shape_a + shape_b)
    return result if shape_a + shape_b else result[()]


@public
def vecdot(x1, x2, /, *, axis=-1, **kwargs):
    if kwargs:
        return call("vecdot", numpy.vecdot, (x1, x2), {"axis": axis, **kwargs})
    a, b = asanyarray(x1), asanyarray(x2)
    from tilewise import moveaxis

    a, b = moveaxis(a, axis, -1), moveaxis(b, axis, -1)
    a = _ufuncs.get(numpy.conjugate)(a) if a.dtype.kind == "c" else a
    return _matmul("vecdot", a.reshape(a.shape[:-1] + (1, -1)), b.reshape(b.shape + (1,)), None, {})[..., 0, 0]


@public
def matvec(x1, x2, /, **kwargs):
    if kwargs:
        return call("matvec", numpy.matvec, (x1, x2), kwargs)
    b = asanyarray(x2)
    return _matmul("matvec", x1, b.reshape(b.shape + (1,)), None, {})[..., 0]


@public
def vecmat(x1, x2, /, **kwargs):
    if kwargs:
        return call("vecmat", numpy.vecmat, (x1, x2), kwargs)
    a = asanyarray(x1)
    a = _ufuncs.get(numpy.conjugate)(a) if a.dtype.kind == "c" else a
    return _matmul("vecmat", a.reshape(a.shape[:-1] + (1, a.shape[-1])), x2, None, {})[..., 0, :]


@public
def kron(a, b):
    a, b = asanyarray(a), asanyarray(b)
    rank = max(a.ndim, b.ndim)
    a, b = a.reshape((1,) * (rank - a.ndim) + a.shape), b.reshape((1,) * (rank - b.ndim) + b.shape)
    pairs = [n for pair in zip(a.shape, (1,) * rank, strict=True) for n in pair]
    other = [n for pair in zip((1,) * rank, b.shape, strict=True) for n in pair]
    product = _ufuncs.get(numpy.multiply)(a.reshape(pairs), b.reshape(other))
    return product.reshape([n * m for n, m in zip(a.shape, b.shape, strict=True)])
