"""Writes random straight-line array programs, as text, and runs them.

A program is made from a list of numbers (so that hypothesis can shrink it): each row becomes at most one line of
Python over a module `xp`. The writer runs every line in NumPy as it goes, which tells it shapes and types, and leaves
out what NumPy refuses and what has no one right answer: sums of floats that round, casts out of range, complex products
that round. So every value of a program is exact, and all that runs the text must give NumPy's bits.
"""

import itertools

import numpy
from exact_values import small, sums_exactly

LIMIT = 3000  # elements of an array
DTYPES = "bool int8 uint8 int16 int32 uint32 int64 float16 float32 float64 complex64 complex128".split()
SHAPES = [(), (0,), (1,), (7,), (40,), (3, 4), (5, 5), (1, 6), (0, 3), (9, 8), (2, 3, 4), (4, 1, 5), (2, 2, 2, 3)]
SHAPES += [(3, 300), (700,), (2, 3, 270)]  # rows that are cut at guards


def data(shape, dtype, seed):
    """Small values of both signs, exact in every type."""
    rng = numpy.random.default_rng(seed)
    dtype = numpy.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    low = 0 if dtype.kind == "u" else -6
    values = rng.integers(low, 7, shape)
    if dtype.kind in "iu":
        return numpy.asarray(values, dtype)
    if dtype.kind == "c":
        return numpy.asarray(values * 0.5 + 0.5j * rng.integers(-6, 7, shape), dtype)
    return numpy.asarray(values * 0.25, dtype)


class Writer:
    """Turns rows of numbers into lines. `values` maps names to NumPy's values after the lines so far."""

    def __init__(self):
        self.lines = []
        self.env = {"xp": numpy, "data": data, "read": lambda x: None}
        self.names = []
        self.fresh = (f"v{i}" for i in itertools.count())

    def value(self, name):
        return self.env[name]

    def run(self, text):
        exec(text, self.env)  # noqa: S102

    def bind(self, expression, check=None):
        """A new variable, if NumPy agrees and the result is not too large."""
        name = next(self.fresh)
        try:
            self.run(f"{name} = {expression}")
        except (TypeError, ValueError, IndexError, OverflowError, AttributeError, numpy.exceptions.AxisError):
            return
        made = self.env[name]
        ok = isinstance(made, (numpy.ndarray, numpy.generic)) and made.size <= LIMIT and made.dtype.kind in "biufc"
        if not ok or (check and not check(made)):
            del self.env[name]
            return
        self.lines.append(f"{name} = {expression}")
        self.names.append(name)

    def statement(self, text):
        try:
            self.run(text)
        except (TypeError, ValueError, IndexError, OverflowError, NameError):
            return
        self.lines.append(text)

    def row(self, op, numbers):
        pick = Choices(numbers)
        if not self.names or op < 2:
            self.create(pick)
            return
        KINDS[op % len(KINDS)](self, pick)

    # Creation.

    def create(self, pick):
        shape, dtype = pick.of(SHAPES), pick.of(DTYPES)
        text = pick.of(["data", "data", "data", "zeros", "ones", "full", "arange", "empty_like"])
        if text == "data":
            self.bind(f"xp.asarray(data({shape}, {dtype!r}, {pick.number(50)}))")
        elif text == "arange":
            self.bind(f"xp.arange({pick.number(40)}, dtype={dtype!r})", check=small)
        elif text == "full":
            self.bind(f"xp.full({shape}, {pick.of([3, 1, 0])}, {dtype!r})")
        elif text == "empty_like" and self.names:
            self.bind(f"xp.zeros_like({self.any(pick)}, dtype={dtype!r})")
        else:
            self.bind(f"xp.{text.replace('empty_like', 'ones')}({shape}, {dtype!r})")

    def any(self, pick):
        # Later variables are likelier.
        n = len(self.names)
        return self.names[n - 1 - pick.number(min(n, 6))] if pick.number(4) else pick.of(self.names)

    def array(self, pick):
        arrays = [n for n in self.names if isinstance(self.env[n], numpy.ndarray)]
        if not arrays:
            return None
        return arrays[len(arrays) - 1 - pick.number(min(len(arrays), 6))]

    # Views.

    def key(self, pick, x, ints=True):
        items = []
        for extent in x.shape:
            kind = pick.number(7)
            if kind == 0:
                items.append(":")
            elif kind == 1 and extent and ints:
                items.append(str(pick.number(extent) - (extent if pick.number(2) else 0)))
            elif kind == 2 and ints:
                items.append("None, :")
            elif kind == 3:
                items.append(f"::{pick.of([-1, 2, -2, 3])}")
            else:
                lo, hi = pick.number(extent + 1), pick.number(extent + 1)
                items.append(f"{min(lo, hi)}:{max(lo, hi)}:{pick.of([1, 1, 1, 2])}")
        if items and pick.number(5) == 0:
            items = [*items[: pick.number(len(items))], "..."]
        return ", ".join(items) or "..."

    def view(self, pick):
        name = self.array(pick)
        if not name:
            return
        x = self.env[name]
        kind = pick.number(10)
        if kind <= 3:
            self.bind(f"{name}[{self.key(pick, x)}]")
        elif kind == 4:
            axes = list(range(x.ndim))
            order = [axes.pop(pick.number(len(axes))) for _ in range(x.ndim)]
            self.bind(f"{name}.transpose({', '.join(map(str, order))})" if order else f"{name}.T")
        elif kind == 5:
            shapes = [s for s in self.factored(x.size)]
            self.bind(f"{name}.reshape({pick.of(shapes)})")
        elif kind == 6:
            self.bind(f"xp.flip({name}, {pick.of([None, 0, -1])})")
        elif kind == 7:
            self.bind(f"xp.broadcast_to({name}, {(pick.of([1, 3, 5]), *x.shape)})")
        elif kind == 8:
            self.bind(f"{name}.diagonal({pick.of([0, 1, -1])})")
        else:
            self.bind(f"{name}.{pick.of(['real', 'imag', 'T', 'ravel()', 'squeeze()', 'copy()'])}")

    @staticmethod
    def factored(n):
        yield (n,)
        yield (-1,) if n else (0, 2)
        for k in (2, 3, 4, 5):
            if n and n % k == 0:
                yield (k, n // k)
                yield (n // k, k)
                yield (1, n // k, 1, k)

    # Elementwise.

    def partner(self, pick, x):
        """A name or a constant that goes with x, preferably of a shape that broadcasts with it."""
        if pick.number(4) == 0:
            return pick.of(["2", "-1", "0.5", "True", "3"])
        if pick.number(8) == 0:
            return f"xp.{pick.of(['float32(1.5)', 'int8(3)', 'float64(0.25)', 'uint8(5)', 'complex64(1j)'])}"
        fits = []
        for n in self.names:
            try:
                numpy.broadcast_shapes(numpy.shape(self.env[n]), numpy.shape(x))
                fits.append(n)
            except ValueError:
                pass
        return fits[len(fits) - 1 - pick.number(min(len(fits), 8))] if fits else "2"

    def exact_operands(self, *texts):
        """Whether products and quotients of these do not round where the way of rounding is ours to choose."""
        values = [eval(t, self.env) for t in texts]  # noqa: S307
        complex_ones = any(numpy.iscomplexobj(v) for v in values)
        return not complex_ones or small(*values, bound=64)

    def binary(self, pick):
        a = self.any(pick)
        b = self.partner(pick, self.env[a])
        op = pick.of(
            ["+", "-", "*", "+", "-", "*", "<", "==", ">=", "&", "|", "^", "//", "%", "/", "min", "max", "where"]
        )
        if pick.number(3) == 0:
            a, b = b, a
        complex_ones = any(numpy.iscomplexobj(eval(t, self.env)) for t in (a, b))  # noqa: S307
        if op in ("*", "/") and not self.exact_operands(a, b):
            return
        if op == "/" and complex_ones:
            return
        if op == "where":
            c = self.any(pick)
            self.bind(f"xp.where({c}, {a}, {b})")
        elif op in ("min", "max"):
            self.bind(f"xp.{op}imum({a}, {b})")
        else:
            self.bind(f"{a} {op} {b}")

    def unary(self, pick):
        a = self.any(pick)
        x = self.env[a]
        op = pick.of(
            [
                "-{}",
                "abs({})",
                "xp.sign({})",
                "xp.sqrt(abs({}))",
                "~{}",
                "astype",
                "astype",
                "xp.square({})",
                "xp.isnan({})",
                "{}.conj()",
                "xp.floor({})",
                "xp.clip({}, -3, 3)",
                "xp.logical_not({})",
            ]
        )
        if x.dtype.kind == "c" and op not in ("-{}", "astype", "{}.conj()", "xp.isnan({})", "xp.square({})"):
            return
        if "square" in op and not self.exact_operands(a):
            return
        if op == "astype":
            dtype = pick.of(DTYPES)
            if not small(x, bound=100) or (x.dtype.kind == "c" and dtype[0] != "c"):
                return
            if dtype.startswith("u") and x.dtype.kind == "f" and (numpy.asarray(x) < 0).any():
                return
            self.bind(f"{a}.astype({dtype!r})")
            return
        self.bind(op.format(a))

    def chain(self, pick):
        """Several operations in one line, the temporaries dropped at once."""
        a = self.any(pick)
        b = self.partner(pick, self.env[a])
        if numpy.iscomplexobj(self.env[a]) or numpy.iscomplexobj(eval(b, self.env)):  # noqa: S307
            return
        text = pick.of(
            [
                "({a} + {b}) * {a} - {b}",
                "xp.where({a} > {b}, {a} - {b}, {b})",
                "({a} * 2 + {b} * 3)[..., ::-1]",
                "({a} + 1).T + ({b} + 1).T",
                "{a} - ({a} + {b}).max(keepdims=True)",
            ]
        )
        self.bind(text.format(a=a, b=b))

    # In place.

    def update(self, pick):
        name = self.array(pick)
        if not name:
            return
        x = self.env[name]
        target = f"{name}[{self.key(pick, x)}]"
        try:
            hit = eval(target, self.env)  # noqa: S307
        except IndexError:
            return
        kind = pick.number(8)
        op = pick.of(["=", "=", "+=", "-=", "*="])
        if kind < 3:
            source = self.partner(pick, hit)
        elif kind < 6 and x.ndim:
            source = self.shifted(pick, name, x)
            if source is None:
                return
            target, source = source
        elif kind == 6:
            source = f"{name}.T"
            target = name
            if op == "=":
                target = f"{name}[...]"
        else:
            mask = f"{name} > {pick.of([0, 1])}"
            if x.dtype.kind == "c" or not x.ndim:
                return
            target, source, op = f"{name}[{mask}]", pick.of(["2", "0", "1"]), "="
        try:
            hit, new = eval(target, self.env), eval(source, self.env)  # noqa: S307
        except (IndexError, ValueError):
            return
        if op == "*=" and not self.exact_operands(target, source):
            return
        # A cast that loses what it may not: out of range, or a complex number's imaginary part.
        new = numpy.asarray(new)
        if not numpy.can_cast(new.dtype, numpy.asarray(hit).dtype, "same_kind"):
            if op != "=" or new.dtype.kind == "c" or not small(new, bound=100):
                return
            if numpy.asarray(hit).dtype.kind == "u" and new.size and (new < 0).any():
                return
        if not isinstance(hit, numpy.ndarray) and op != "=":
            return
        self.statement(f"{target} {op} {source}")

    def stencil(self, pick):
        """A new array updated from shifted parts of others, then reduced: statements with guards."""
        name = self.array(pick)
        if not name or not self.env[name].ndim:
            return
        before = len(self.names)
        self.bind(f"{name} * {pick.of(['2', '1', '-1'])}")
        if len(self.names) == before:
            return
        made, x = self.names[-1], self.env[self.names[-1]]
        for _ in range(1 + pick.number(5)):
            axis = pick.number(x.ndim)
            n, lead = x.shape[axis], ":, " * axis
            if n < 2 or not small(x, bound=60):
                continue
            by = 1 + pick.number(min(3, n - 1))
            low, high = f":{n - by}", f"{by}:"
            to, source = pick.of([(high, low), (low, high), (high, high), ("::2", "::2")])
            self.statement(f"{made}[{lead}{to}] {pick.of(['-=', '+=', '='])} {name}[{lead}{source}]")
        if sums_exactly(x) and x.dtype != "float16":
            axis = pick.of(["None", "0", "-1", str(tuple(range(x.ndim)))])
            op = "sum" if x.dtype.kind == "c" else pick.of(["sum", "max", "sum"])
            self.bind(f"xp.{op}({made}, axis={axis})")

    def shifted(self, pick, name, x):
        """Two overlapping parts of the same shape."""
        axis = pick.number(x.ndim)
        n = x.shape[axis]
        if n < 2:
            return None
        by = 1 + pick.number(min(3, n - 1))
        lead = ":, " * axis
        pairs = [
            (f"{by}:", f":{n - by}"),
            (f":{n - by}", f"{by}:"),
            (":", "::-1"),
            (f"{by}:", f":{by - 1 if by > 1 else 0}:-1"),
            (":", f"{by}:{by + 1}"),
            (":", "0:1"),
            (f"{by}:", f"{by - 1}:{by}"),
        ]
        to, source = pick.of(pairs)
        return f"{name}[{lead}{to}]", f"{name}[{lead}{source}]"

    # Reductions and others.

    def reduce(self, pick):
        a = self.any(pick)
        x = numpy.asarray(self.env[a])
        axes = tuple(k for k in range(x.ndim) if pick.number(2))
        axis = pick.of(["None", str(axes), str(axes), str(axes[0]) if axes else "None"])
        keep = pick.of(["", ", keepdims=True"])
        op = pick.of(["sum", "sum", "max", "min", "any", "all", "prod", "argmax", "argmin", "cumsum", "count_nonzero"])
        if op in ("sum", "cumsum") and not sums_exactly(x):
            return
        if op == "prod" and x.dtype.kind in "fc":
            return
        if op in ("max", "min", "argmax", "argmin") and x.dtype.kind == "c":
            return
        if op in ("argmax", "argmin", "cumsum"):
            axis = pick.of(["None", *(map(str, range(x.ndim)))])
            keep = ""
        self.bind(f"xp.{op}({a}, axis={axis}{keep})")

    def product(self, pick):
        a, b = self.array(pick), self.array(pick)
        if not a or not b:
            return
        if not small(self.env[a], self.env[b], bound=16):
            return
        if pick.number(2):
            b = f"{b}.T"
        self.bind(f"{a} @ {b}", check=lambda x: x.dtype != "float16")

    def join(self, pick):
        a, b = self.array(pick), self.array(pick)
        if a and b:
            self.bind(
                pick.of(
                    [
                        f"xp.concatenate([{a}, {b}], axis={pick.of([0, -1])})",
                        f"xp.stack([{a}, {b}], axis=-1)",
                        f"xp.concatenate([{a}.ravel(), {b}.ravel()])",
                    ]
                )
            )

    def gather(self, pick):
        a = self.array(pick)
        if not a or not numpy.ndim(self.env[a]):
            return
        n = self.env[a].shape[0]
        self.bind(
            pick.of(
                [
                    f"{a}[xp.asarray([{n // 2}, 0, -1, 0])]",
                    f"{a}[{a} == 1]",
                    f"xp.sort({a}, axis=-1)",
                    f"xp.roll({a}, {pick.of([1, -2])}, axis=0)",
                    f"{a}[xp.arange({n} - 1, -1, -1)]",
                ]
            )
            if self.env[a].dtype.kind != "c"
            else f"{a}[xp.asarray([0, -1])]"
        )

    def look(self, pick):
        self.statement(f"read({self.any(pick)})")

    def again(self, pick):
        """A loop: the last in-place sums and what lies between them once or twice more, while numbers stay small."""
        if not small(*self.env_arrays(), bound=10):
            return
        last = self.lines[-1 - pick.number(3) :]
        for _ in range(1 + pick.number(2) if len(last) == 1 else 1):
            for line in last:
                if line.startswith("read") or (("+=" in line or "-=" in line) and "*" not in line):
                    self.statement(line)

    def env_arrays(self):
        return [self.env[n] for n in self.names if numpy.asarray(self.env[n]).dtype.kind in "fc"]

    def forget(self, pick):
        if len(self.names) > 3:
            name = pick.of(self.names)
            self.names.remove(name)
            self.statement(f"del {name}")


KINDS = [
    Writer.create,
    Writer.view,
    Writer.view,
    Writer.view,
    Writer.binary,
    Writer.binary,
    Writer.binary,
    Writer.unary,
    Writer.chain,
    Writer.update,
    Writer.update,
    Writer.update,
    Writer.update,
    Writer.stencil,
    Writer.reduce,
    Writer.reduce,
    Writer.product,
    Writer.join,
    Writer.gather,
    Writer.look,
    Writer.forget,
    Writer.again,
    Writer.again,
]


class Choices:
    """Numbers below given bounds, taken from a list; 0 when it is at its end."""

    def __init__(self, numbers):
        self.numbers = iter(numbers)

    def number(self, bound):
        return next(self.numbers, 0) % bound if bound > 0 else 0

    def of(self, options):
        return options[self.number(len(options))]


def write(rows):
    """(text, {name: NumPy's value}, [values read on the way])"""
    writer = Writer()
    read = []
    writer.env["read"] = lambda x: read.append(numpy.array(x))
    with numpy.errstate(all="ignore"):
        for op, *numbers in rows:
            writer.row(op, numbers)
    return "\n".join(writer.lines), {n: writer.env[n] for n in writer.names}, read


def run(text, xp):
    """The text's variables over another module, and what it read."""
    read = []
    env = {"xp": xp, "data": data, "read": lambda x: read.append(numpy.asarray(x).copy())}
    exec(compile(text, "program", "exec"), env)  # noqa: S102
    return env, read
