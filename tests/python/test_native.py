"""tilewise.native is true: every name in it runs, in the forms listed here, while fallbacks are errors."""

import numpy
import pytest
import tilewise
from compare import both, sample
from tilewise import _settings

A = sample((3, 4), "float64", 1)
B = sample((3, 4), "float64", 2)
S = sample((4, 4), "float64", 3)
C = sample((2, 3, 4), "float32", 4)
Z = sample((3, 4), "complex128", 5)
M = sample((3, 4), "bool", 6)
N = numpy.where(M, A, numpy.nan)


def reductions(name, *more):
    """The forms of a reduction's arguments."""
    forms = [{}, {"axis": 0}, {"axis": (0, 1)}, {"axis": -1, "keepdims": True}, *more]
    return [lambda xp, f=form: getattr(xp, name)(xp.asarray(A), **f) for form in forms]


def changed(change):
    """A copy of A after the change."""

    def call(xp):
        a = xp.asarray(A.copy())
        change(xp, a)
        return a

    return call


def drawn(xp, name, *args, **kwargs):
    return getattr(xp.random.default_rng(3), name)(*args, **kwargs)


# name -> calls. Those of ufuncs and methods are made below.
CALLS = {
    "unique": [
        lambda xp: xp.unique(xp.asarray(A)),
        lambda xp: xp.unique(xp.asarray(A), return_index=True, return_inverse=True, return_counts=True),
        lambda xp: xp.unique(xp.asarray(N), equal_nan=False),
    ],
    "isin": [lambda xp: xp.isin(xp.asarray(A), [0.375, -3.0]), lambda xp: xp.isin(A, xp.asarray(A[0]), invert=True)],
    "median": [
        lambda xp: xp.median(xp.asarray(A)),
        lambda xp: xp.median(xp.asarray(C), axis=1, keepdims=True),
        lambda xp: xp.median(xp.asarray(N), 0),
    ],
    "sort": [
        lambda xp: xp.sort(xp.asarray(A)),
        lambda xp: xp.sort(xp.asarray(C), 1, "stable"),
        lambda xp: xp.sort(A, None),
    ],
    "argsort": [lambda xp: xp.argsort(xp.asarray(C), 1, stable=True), lambda xp: xp.argsort(A, None, kind="stable")],
    "partition": [lambda xp: xp.partition(xp.asarray(A), 2)[..., 2], lambda xp: xp.partition(xp.asarray(A), [0], 0)[0]],
    "argpartition": [lambda xp: xp.asarray(A).ravel()[xp.argpartition(xp.asarray(A), 3, axis=None)[3]]],
    "lexsort": [lambda xp: xp.lexsort((xp.asarray(A[0]), xp.asarray(M[0])))],
    "sort_complex": [lambda xp: xp.sort_complex(xp.asarray(A)), lambda xp: xp.sort_complex(xp.asarray(Z))],
    "nonzero": [lambda xp: xp.nonzero(xp.asarray(M)), lambda xp: xp.nonzero(xp.asarray(C) > 0)],
    "flatnonzero": [lambda xp: xp.flatnonzero(xp.asarray(M))],
    "argwhere": [lambda xp: xp.argwhere(xp.asarray(C) > 0), lambda xp: xp.argwhere(xp.asarray(3))],
    "take": [
        lambda xp: xp.take(xp.asarray(A), [[1, 2], [-1, 0]]),
        lambda xp: xp.take(xp.asarray(A), xp.asarray([1, 0]), axis=1),
        lambda xp: xp.take(xp.asarray(A), [9, -9], 0, mode="wrap"),
        lambda xp: xp.take(xp.asarray(A), [9, -9], 0, out=xp.empty((2, 4)), mode="clip"),
    ],
    "put": [
        changed(lambda xp, a: xp.put(a, [0, 3, -1], [9, 8])),
        changed(lambda xp, a: xp.put(a, [99], 1, mode="clip")),
    ],
    "compress": [
        lambda xp: xp.compress([True, False, True], xp.asarray(A), axis=0),
        lambda xp: xp.compress(xp.asarray([0, 1, 1]), xp.asarray(A)),
    ],
    "extract": [lambda xp: xp.extract(xp.asarray(M), xp.asarray(A))],
    "place": [changed(lambda xp, a: xp.place(a, xp.asarray(M), [1.0, 2.0]))],
    "take_along_axis": [
        lambda xp: xp.take_along_axis(xp.asarray(A), xp.asarray([[1, 0], [2, 2], [-1, 0]]), 1),
        lambda xp: xp.take_along_axis(xp.asarray(A), xp.asarray([1, 7]), None),
    ],
    "put_along_axis": [
        changed(lambda xp, a: xp.put_along_axis(a, xp.asarray([[1], [2], [0]]), 9.0, 1)),
        changed(lambda xp, a: xp.put_along_axis(a, xp.asarray([[1, 0, 2, 0]]), xp.asarray(A[:1]), axis=0)),
    ],
    "empty": [lambda xp: xp.empty((2, 3), "int8") * 0],
    "zeros": [lambda xp: xp.zeros((2, 3)), lambda xp: xp.zeros(3, complex, "F")],
    "ones": [lambda xp: xp.ones((2, 3), order="F"), lambda xp: xp.ones(2, "int8")],
    "full": [lambda xp: xp.full((2, 3), 7.5), lambda xp: xp.full(3, [1, 2, 3], "int16")],
    "empty_like": [lambda xp: xp.empty_like(xp.asarray(A)) * 0],
    "zeros_like": [lambda xp: xp.zeros_like(xp.asarray(A).T), lambda xp: xp.zeros_like(A, "int8", shape=(2,))],
    "ones_like": [lambda xp: xp.ones_like(xp.asarray(A), dtype="f4")],
    "full_like": [lambda xp: xp.full_like(xp.asarray(A), 3, order="F")],
    "array": [
        lambda xp: xp.array([[1, 2], [3, 4]], "f4", ndmin=3),
        lambda xp: xp.array(xp.asarray(A), copy=True, order="F"),
    ],
    "asarray": [lambda xp: xp.asarray([1, 2.5]), lambda xp: xp.asarray(xp.asarray(A), "int8", "C")],
    "asanyarray": [lambda xp: xp.asanyarray((1, 2))],
    "ascontiguousarray": [lambda xp: xp.ascontiguousarray(xp.asarray(A).T)],
    "asfortranarray": [lambda xp: xp.asfortranarray(xp.asarray(A))],
    "asarray_chkfinite": [lambda xp: xp.asarray_chkfinite(xp.asarray(A))],
    "copy": [lambda xp: xp.copy(xp.asarray(A)), lambda xp: xp.copy(xp.asarray(A).T, "F")],
    "fromfunction": [lambda xp: xp.fromfunction(lambda i, j: i + 2 * j, (3, 4), dtype=int)],
    "from_dlpack": [lambda xp: xp.from_dlpack(numpy.arange(3.0))],
    "arange": [lambda xp: xp.arange(5), lambda xp: xp.arange(1, 9, 2.5, dtype="f4")],
    "linspace": [
        lambda xp: xp.linspace(0, 1, 7),
        lambda xp: xp.linspace(0, 9, 4, endpoint=False, retstep=True, dtype=int),
        lambda xp: xp.linspace(xp.asarray([0.0, 1.0]), 5, 6, axis=1),
    ],
    "eye": [lambda xp: xp.eye(3, 4, 1, "int8")],
    "identity": [lambda xp: xp.identity(3)],
    "indices": [lambda xp: xp.indices((2, 3)), lambda xp: xp.indices((2, 3), "f4", sparse=True)],
    "meshgrid": [lambda xp: xp.meshgrid(xp.arange(3), xp.arange(2.0), indexing="ij", sparse=True, copy=False)],
    "tri": [lambda xp: xp.tri(3, 4, -1)],
    "tril": [lambda xp: xp.tril(xp.asarray(C), 1)],
    "triu": [lambda xp: xp.triu(xp.asarray(A), -1)],
    "diag": [lambda xp: xp.diag(xp.asarray(A[0]), 1), lambda xp: xp.diag(xp.asarray(A), -1)],
    "diagflat": [lambda xp: xp.diagflat(xp.asarray(A[:2, :2]))],
    "reshape": [lambda xp: xp.reshape(xp.asarray(A), (4, -1)), lambda xp: xp.reshape(xp.asarray(A), 12, order="F")],
    "ravel": [lambda xp, o=o: xp.ravel(xp.asarray(A).T, o) for o in "CFAK"],
    "transpose": [lambda xp: xp.transpose(xp.asarray(C), (1, 2, 0))],
    "permute_dims": [lambda xp: xp.permute_dims(xp.asarray(C), (1, 2, 0))],
    "matrix_transpose": [lambda xp: xp.matrix_transpose(xp.asarray(C))],
    "swapaxes": [lambda xp: xp.swapaxes(xp.asarray(C), 0, 2)],
    "moveaxis": [lambda xp: xp.moveaxis(xp.asarray(C), 0, -1)],
    "rollaxis": [lambda xp: xp.rollaxis(xp.asarray(C), 2)],
    "expand_dims": [lambda xp: xp.expand_dims(xp.asarray(A), (0, 2))],
    "squeeze": [lambda xp: xp.squeeze(xp.asarray(A)[:1], 0)],
    "atleast_1d": [lambda xp: xp.atleast_1d(3.0, xp.asarray(A))],
    "atleast_2d": [lambda xp: xp.atleast_2d(xp.arange(3))],
    "atleast_3d": [lambda xp: xp.atleast_3d(xp.asarray(A))],
    "broadcast_to": [lambda xp: xp.broadcast_to(xp.arange(4), (3, 4))],
    "broadcast_arrays": [lambda xp: xp.broadcast_arrays(xp.arange(4), xp.asarray(A))],
    "diagonal": [lambda xp: xp.diagonal(xp.asarray(C), 1, 1, 2)],
    "flip": [lambda xp: xp.flip(xp.asarray(C), (0, 2))],
    "fliplr": [lambda xp: xp.fliplr(xp.asarray(A))],
    "flipud": [lambda xp: xp.flipud(xp.asarray(A))],
    "rot90": [lambda xp: xp.rot90(xp.asarray(C), 3, (0, 2))],
    "roll": [lambda xp: xp.roll(xp.asarray(C), (1, -2), (0, 2)), lambda xp: xp.roll(xp.asarray(A), 5)],
    "concatenate": [
        lambda xp: xp.concatenate([xp.asarray(A), B], 1),
        lambda xp: xp.concatenate([A, B], None, dtype="f4"),
    ],
    "concat": [lambda xp: xp.concat([xp.asarray(A), B], axis=0)],
    "stack": [lambda xp: xp.stack([xp.asarray(A), B], -1)],
    "vstack": [lambda xp: xp.vstack([xp.asarray(A), B[0]])],
    "hstack": [lambda xp: xp.hstack([xp.asarray(A), B])],
    "dstack": [lambda xp: xp.dstack([xp.asarray(A), B])],
    "column_stack": [lambda xp: xp.column_stack([xp.asarray(A), B[:, 0]])],
    "block": [lambda xp: xp.block([[xp.asarray(A), B], [B, A]])],
    "split": [lambda xp: xp.split(xp.asarray(A), 2, 1)],
    "array_split": [lambda xp: xp.array_split(xp.asarray(A), 3, 1)],
    "hsplit": [lambda xp: xp.hsplit(xp.asarray(A), 2)],
    "vsplit": [lambda xp: xp.vsplit(xp.asarray(A), [1])],
    "dsplit": [lambda xp: xp.dsplit(xp.asarray(C), 2)],
    "unstack": [lambda xp: xp.unstack(xp.asarray(A), axis=1)],
    "tile": [lambda xp: xp.tile(xp.asarray(A), (2, 1, 3))],
    "repeat": [lambda xp: xp.repeat(xp.asarray(A), 3, 0), lambda xp: xp.repeat(xp.asarray(A), 2)],
    "resize": [lambda xp: xp.resize(xp.asarray(A), (5, 5))],
    "append": [lambda xp: xp.append(xp.asarray(A), B, 0)],
    "pad": [
        lambda xp, m=m: xp.pad(xp.asarray(A), ((1, 6), (2, 0)), m)
        for m in ("constant", "edge", "wrap", "reflect", "symmetric", "linear_ramp", "maximum", "minimum", "mean")
    ],
    "mean": reductions("mean", {"dtype": "f4"}, {"where": M}),
    "var": reductions("var", {"ddof": 1}, {"where": M}),
    "std": reductions("std", {"correction": 1}),
    "sum": reductions("sum", {"dtype": "f4"}, {"where": M, "initial": 2}),
    "prod": reductions("prod", {"where": M}),
    **{name: reductions(name, {"where": M, "initial": 1}) for name in ("max", "min", "amax", "amin")},
    **{name: reductions(name, {"where": M}) for name in ("any", "all")},
    "ptp": reductions("ptp"),
    "count_nonzero": reductions("count_nonzero"),
    "argmax": [lambda xp: xp.argmax(xp.asarray(A)), lambda xp: xp.argmax(xp.asarray(A).T, 1, keepdims=True)],
    "argmin": [lambda xp: xp.argmin(xp.asarray(A).T), lambda xp: xp.argmin(xp.asarray(A), axis=0)],
    "trace": [lambda xp: xp.trace(xp.asarray(C), 1, 1, 2)],
    "average": [lambda xp: xp.average(xp.asarray(A), 0, abs(B)), lambda xp: xp.average(xp.asarray(A))],
    **{
        name: [
            lambda xp, n=name: getattr(xp, n)(xp.asarray(N)),
            lambda xp, n=name: getattr(xp, n)(xp.asarray(N), 1, keepdims=True),
        ]
        for name in ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd")
    },
    "matmul": [lambda xp: xp.matmul(xp.asarray(C), S), lambda xp: xp.matmul(A, S, out=xp.zeros((3, 4)))],
    "dot": [lambda xp: xp.dot(xp.asarray(A), S), lambda xp: xp.dot(xp.asarray(A), S[0])],
    "vdot": [lambda xp: xp.vdot(xp.asarray(Z), Z)],
    "inner": [lambda xp: xp.inner(xp.asarray(A), B)],
    "outer": [lambda xp: xp.outer(xp.asarray(A), B)],
    "tensordot": [lambda xp: xp.tensordot(xp.asarray(A), C, ([0, 1], [1, 2]))],
    "vecdot": [lambda xp: xp.vecdot(xp.asarray(A), B)],
    "matvec": [lambda xp: xp.matvec(xp.asarray(C), S[0])],
    "vecmat": [lambda xp: xp.vecmat(xp.asarray(S[0]), S)],
    "kron": [lambda xp: xp.kron(xp.asarray(A), B)],
    "linalg.norm": [
        lambda xp: xp.linalg.norm(xp.asarray(A)),
        lambda xp: xp.linalg.norm(xp.asarray(A), 1, 1),
        lambda xp: xp.linalg.norm(xp.asarray(Z), axis=0, keepdims=True),
    ],
    "linalg.matmul": [lambda xp: xp.linalg.matmul(xp.asarray(A), S)],
    "linalg.tensordot": [lambda xp: xp.linalg.tensordot(xp.asarray(A), C, axes=([0, 1], [1, 2]))],
    "linalg.vecdot": [lambda xp: xp.linalg.vecdot(xp.asarray(A), B)],
    "linalg.matrix_transpose": [lambda xp: xp.linalg.matrix_transpose(xp.asarray(C))],
    "linalg.diagonal": [lambda xp: xp.linalg.diagonal(xp.asarray(C), offset=1)],
    "linalg.trace": [lambda xp: xp.linalg.trace(xp.asarray(C))],
    "linalg.outer": [lambda xp: xp.linalg.outer(xp.asarray(A[0]), B[:, 1])],
    "linalg.cross": [lambda xp: xp.linalg.cross(xp.asarray(A), B, axis=0)],
    "linalg.matrix_power": [lambda xp, n=n: xp.linalg.matrix_power(xp.asarray(S), n) for n in (0, 1, 2, 3, 5)],
    "fft.fftshift": [lambda xp: xp.fft.fftshift(xp.asarray(A)), lambda xp: xp.fft.fftshift(xp.arange(5), 0)],
    "fft.ifftshift": [lambda xp: xp.fft.ifftshift(xp.asarray(A), (1,)), lambda xp: xp.fft.ifftshift(xp.arange(5))],
    "fft.fftfreq": [lambda xp: xp.fft.fftfreq(8, 0.5), lambda xp: xp.fft.fftfreq(5)],
    "fft.rfftfreq": [lambda xp: xp.fft.rfftfreq(8, 0.5)],
    "lib.stride_tricks.sliding_window_view": [
        lambda xp: xp.lib.stride_tricks.sliding_window_view(xp.asarray(A), (2, 2))
    ],
    "lib.stride_tricks.as_strided": [lambda xp: xp.lib.stride_tricks.as_strided(xp.arange(6.0), (3, 2), (8, 24))],
    "astype": [lambda xp: xp.astype(xp.asarray(A), "f4")],
    "nan_to_num": [
        lambda xp: xp.nan_to_num(xp.asarray(N), nan=3, posinf=4),
        lambda xp: xp.nan_to_num(xp.asarray(N / 0)),
    ],
    "isposinf": [lambda xp: xp.isposinf(xp.asarray(A / 0))],
    "isneginf": [lambda xp: xp.isneginf(xp.asarray(A / 0))],
    "sinc": [lambda xp: xp.sinc(xp.asarray(A)), lambda xp: xp.sinc(0.0)],
    "putmask": [lambda xp: (a := xp.asarray(A).copy(), xp.putmask(a, xp.asarray(M), 3))[0]],
    "fill_diagonal": [
        lambda xp: (a := xp.zeros((4, 3)), xp.fill_diagonal(a, 5))[0],
        lambda xp: (a := xp.zeros((4, 4)), xp.fill_diagonal(a, [1, 2]))[0],
    ],
    "trapezoid": [
        lambda xp: xp.trapezoid(xp.asarray(A)),
        lambda xp: xp.trapezoid(xp.asarray(A), xp.arange(3.0) ** 2, axis=0),
    ],
    "gradient": [
        lambda xp: xp.gradient(xp.asarray(S)),
        lambda xp: xp.gradient(xp.asarray(S), 0.5, axis=1, edge_order=2),
    ],
    "cross": [lambda xp: xp.cross(xp.asarray(A), B, axis=0), lambda xp: xp.cross(xp.asarray(A).T, B.T)],
    "polyval": [lambda xp: xp.polyval([1.0, -2.0, 3.0], xp.asarray(A))],
    "cov": [
        lambda xp: xp.cov(xp.asarray(A)),
        lambda xp: xp.cov(xp.asarray(A), B, rowvar=False, ddof=0),
        lambda xp: xp.cov(xp.asarray(A[0])),
    ],
    "logspace": [lambda xp: xp.logspace(0, 2, 5), lambda xp: xp.logspace(0, 3, 4, base=2, endpoint=False, dtype=int)],
    **{
        name: [
            lambda xp, n=name: getattr(xp, n)(8),
            lambda xp, n=name: getattr(xp, n)(1),
            lambda xp, n=name: getattr(xp, n)(5),
        ]
        for name in ("hanning", "hamming", "blackman", "bartlett")
    },
    "diag_indices": [lambda xp: xp.diag_indices(3)],
    "ix_": [lambda xp: xp.ix_([0, 2], xp.arange(2))],
    "isfortran": [lambda xp: xp.isfortran(xp.asarray(A).T)],
    "where": [lambda xp: xp.where(xp.asarray(M), A, 0)],
    "copyto": [lambda xp: (a := xp.asarray(A).copy(), xp.copyto(a, 3, where=M))[0]],
    "clip": [lambda xp: xp.clip(xp.asarray(A), -1, B), lambda xp: xp.clip(xp.asarray(A), max=1)],
    "round": [lambda xp: xp.round(xp.asarray(A), 1), lambda xp: xp.round(xp.asarray(Z))],
    "around": [lambda xp: xp.around(xp.asarray(A), -1)],
    "fix": [lambda xp: xp.fix(xp.asarray(A))],
    "real": [lambda xp: xp.real(xp.asarray(Z))],
    "imag": [lambda xp: xp.imag(xp.asarray(Z)), lambda xp: xp.imag(xp.asarray(A))],
    "angle": [lambda xp: xp.angle(xp.asarray(Z), deg=True)],
    "select": [lambda xp: xp.select([xp.asarray(M), A > 0], [A, B], 7)],
    "isclose": [lambda xp: xp.isclose(xp.asarray(A), B, equal_nan=True)],
    "allclose": [lambda xp: xp.allclose(xp.asarray(A), A)],
    "array_equal": [lambda xp: xp.array_equal(xp.asarray(A), A)],
    "array_equiv": [lambda xp: xp.array_equiv(xp.asarray(A), A[0])],
    "cumsum": [lambda xp: xp.cumsum(xp.asarray(A), 1), lambda xp: xp.cumsum(xp.asarray(A), dtype="f4")],
    "cumprod": [lambda xp: xp.cumprod(xp.asarray(A), 0)],
    "nancumsum": [lambda xp: xp.nancumsum(xp.asarray(N), 0)],
    "nancumprod": [lambda xp: xp.nancumprod(xp.asarray(N))],
    "cumulative_sum": [lambda xp: xp.cumulative_sum(xp.asarray(A), axis=0, include_initial=True)],
    "cumulative_prod": [lambda xp: xp.cumulative_prod(xp.asarray(A), axis=1)],
    "searchsorted": [lambda xp: xp.searchsorted(xp.arange(9.0), xp.asarray(A), "right")],
    "digitize": [lambda xp: xp.digitize(xp.asarray(A), xp.arange(3)), lambda xp: xp.digitize(3.5, [9, 4, 1], True)],
    "bincount": [lambda xp: xp.bincount(xp.arange(5), A.ravel()[:5], 9), lambda xp: xp.bincount([0, 2, 2])],
    "histogram": [
        lambda xp: xp.histogram(xp.asarray(A), 5, density=True),
        lambda xp: xp.histogram(xp.asarray(A), [-2, 0, 1.5], weights=abs(A)),
    ],
    "histogram_bin_edges": [lambda xp: xp.histogram_bin_edges(xp.asarray(A), 4)],
    "diff": [lambda xp: xp.diff(xp.asarray(A), 2, 0, prepend=0)],
    "ediff1d": [lambda xp: xp.ediff1d(xp.asarray(A))],
    "shape": [lambda xp: xp.shape(xp.asarray(A))],
    "ndim": [lambda xp: xp.ndim(xp.asarray(A))],
    "size": [lambda xp: xp.size(xp.asarray(A), 1)],
    "isscalar": [lambda xp: xp.isscalar(xp.asarray(A).sum())],
    "iscomplex": [lambda xp: xp.iscomplex(xp.asarray(Z))],
    "isreal": [lambda xp: xp.isreal(xp.asarray(A))],
    "shares_memory": [lambda xp: xp.shares_memory(a := xp.asarray(A).copy(), a[1:])],
    "may_share_memory": [lambda xp: xp.may_share_memory(xp.asarray(A).copy(), xp.asarray(A).copy())],
    "random.default_rng": [lambda xp: xp.random.default_rng(1).random(9)],
    "random.Generator": [lambda xp: xp.random.Generator(numpy.random.PCG64(2)).random(9)],
    "random.Generator.random": [
        lambda xp: drawn(xp, "random", (3, 4)),
        lambda xp: drawn(xp, "random", 5, "float32"),
        lambda xp: drawn(xp, "random", out=xp.zeros((3, 4))),
        lambda xp: drawn(xp, "random"),
    ],
    "random.Generator.uniform": [lambda xp: drawn(xp, "uniform", -1, 4, (3, 4)), lambda xp: drawn(xp, "uniform")],
    "random.Generator.integers": [
        lambda xp: drawn(xp, "integers", 9, size=(3, 4)),
        lambda xp: drawn(xp, "integers", -5, 5, 9, "int8", endpoint=True),
        lambda xp: drawn(xp, "integers", 9),
    ],
    "random.Generator.standard_normal": [
        lambda xp: drawn(xp, "standard_normal", (3, 4)),
        lambda xp: drawn(xp, "standard_normal", 5, "float32"),
        lambda xp: drawn(xp, "standard_normal", out=xp.zeros((3, 4))),
    ],
    "random.Generator.normal": [lambda xp: drawn(xp, "normal", 3, 0.5, (3, 4)), lambda xp: drawn(xp, "normal")],
    "random.Generator.standard_exponential": [
        lambda xp: drawn(xp, "standard_exponential", (3, 4)),
        lambda xp: drawn(xp, "standard_exponential", 5, "float32", "inv"),
    ],
    "random.Generator.exponential": [lambda xp: drawn(xp, "exponential", 2.5, (3, 4))],
    "random.Generator.choice": [
        lambda xp: drawn(xp, "choice", 9, (3, 4)),
        lambda xp: drawn(xp, "choice", xp.asarray(A), 5, axis=1),
    ],
}
METHODS = {
    "all": (),
    "any": (),
    "argmax": (),
    "argmin": (),
    "clip": (-1, 1),
    "conj": (),
    "conjugate": (),
    "cumprod": (0,),
    "cumsum": (1,),
    "diagonal": (1,),
    "dot": (S,),
    "max": (0,),
    "mean": (1,),
    "min": (),
    "prod": (),
    "ravel": ("F",),
    "repeat": (2, 1),
    "round": (1,),
    "searchsorted": (0.5,),
    "squeeze": (),
    "std": (),
    "sum": (0,),
    "swapaxes": (0, 1),
    "trace": (),
    "var": (),
    "flatten": (),
    "fill": (3,),
    "nonzero": (),
    "sort": (0,),
    "argsort": (1, "stable"),
    "partition": (0,),
    "argpartition": (0,),
    "take": ([1, 2], 1),
    "put": ([0, 1], 5),
    "compress": ([True, False, True], 0),
    "tolist": (),
    "tobytes": (),
    "view": ("int64",),
    "to_device": ("cpu",),
    "astype": ("f4",),
    "copy": ("F",),
    "item": (1, 2),
    "reshape": (2, -1),
    "transpose": (1, 0),
}


@pytest.fixture(autouse=True)
def fallbacks_are_errors(monkeypatch):
    monkeypatch.setattr(_settings, "fallback", "error")


@pytest.mark.parametrize("name", sorted(CALLS))
def test_function(name):
    for call in CALLS[name]:
        both(call, rtol=1e-5)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_method(name):
    a = A[0] if name == "searchsorted" else A
    both(lambda xp: getattr(xp.asarray(a), name)(*METHODS[name]), rtol=1e-12)


def is_ufunc(name):
    return isinstance(getattr(numpy, name.partition(".")[0], None), numpy.ufunc) and name != "matmul"


def test_every_native_name_is_tried():
    """Ufuncs are tried for all their loops in test_ufuncs.py, which no fallback can serve: it would be counted."""
    tried = set(CALLS) | {f"ndarray.{name}" for name in METHODS}
    assert sorted(name for name in tilewise.native if name not in tried and not is_ufunc(name)) == []
    assert sorted(name for name in CALLS if name not in tilewise.native) == []


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(name for name in tilewise.native if is_ufunc(name)))
def test_ufunc(name):
    function = getattr(numpy, name)
    for letters in ("dd"[: function.nin], "ll"[: function.nin]):
        try:
            want = function(*[sample((3, 4), letter, k) for k, letter in enumerate(letters)])
        except (TypeError, ValueError):
            continue
        if want is not None:
            both(
                lambda xp, ls=letters: getattr(xp, name)(*[xp.asarray(sample((3, 4), t, k)) for k, t in enumerate(ls)]),
                rtol=1e-12,
            )
