"""A user's own arrays as a data model."""

import dataclasses
import functools
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from learnscope.data.problem import (
    AbstractStoredData,
    Problem,
    Samples,
    check_batch,
    encode_labels,
    mini_batches,
)  # fmt: skip
from learnscope.errors import BadInput, refuse
from learnscope.part import count, flag
from learnscope.space import Space, random
from learnscope.space.frame import Frame


class Labels(eqx.Module):
    """Labels as numbers: positions among the sorted names of classes, or (no names) as given."""

    values: Any
    names: tuple[Any, ...] | None = eqx.field(static=True)

    @staticmethod
    def of(given: Any) -> Any:
        """Labels; or what was given, if it is a file's name or cannot be labels."""
        given = _array(given)
        if not isinstance(given, np.ndarray) or given.ndim != 1:
            return given
        if given.dtype == object and all(isinstance(name, str) for name in given):
            given = given.astype(str)  # from a data frame
        if given.dtype.kind not in "fiubUS":
            return given
        if given.dtype.kind == "f":
            values = np.unique(given)
            if len(values) != 2 or (values % 1 != 0).any():
                return Labels(given, None)
        names, values = np.unique(given, return_inverse=True)
        return Labels(values.astype(np.int32), tuple(names.tolist()))

    def tolist(self) -> list[Any]:
        """The labels as they were given."""
        values = np.asarray(self.values).tolist()
        return values if self.names is None else [self.names[value] for value in values]

    def among(self, names: tuple[Any, ...] | None) -> Array:
        """The labels as nets have them, given the classes of the training labels."""
        if names is None or self.names is None:
            return jnp.asarray(self.values, float)
        places = np.array([names.index(name) for name in self.names], np.int32)
        return encode_labels(jnp.asarray(places)[self.values], len(names))


def _array(given: Any) -> Any:
    """An array, or the name of a file that holds one; data frames and tensors are arrays, too."""
    if given is None or isinstance(given, str | np.ndarray | jax.Array | Labels):
        return given
    if isinstance(given, Path):
        return str(given)
    try:
        return np.asarray(given)
    except Exception:  # whatever a user's object raises: it is refused below
        return given


class Arrays(AbstractStoredData):
    """Inputs and labels of your own: `x` (example, ...) and `y` (example), as in scikit-learn.

    Labels may be integers, names or two whole numbers (classes, in sorted order), or other numbers
    (regression: use a rule with `loss="squared"`). Two classes become -1 and +1, more become 0, 1,
    ... Without `x_test` and `y_test`, each seed holds out a different random share `held_out` of
    the examples. `batch` is the mini-batch size (none: the full batch); with `epochs`, no example
    is seen twice in one pass. An array may be given as the name of a `.npy` file, or as
    `FILE.npz:NAME`.

    Inputs of nets that see inner products are (example, dim) or (example, patch, dim).

    >>> import numpy as np, jax
    >>> x = np.random.default_rng(0).normal(size=(30, 5))
    >>> model = Arrays(x, np.where(x[:, 0] > 0, "cat", "dog"))
    >>> problem = model.sample(jax.random.key(0))
    >>> problem.train.x.shape, problem.test.x.shape, model.names
    ((22, 5), (8, 5), ('cat', 'dog'))
    """

    typical: ClassVar = {
        "x": np.outer([-2.0, -1.0, 1.0, 2.0, 3.0, -3.0, 4.0, -4.0], [1.0, 0.5, 2.0]),
        "y": [-1, -1, 1, 1, 1, -1, 1, -1],
    }

    x: Any = eqx.field(converter=_array)
    y: Any = eqx.field(converter=Labels.of)
    x_test: Any = eqx.field(default=None, converter=_array)
    y_test: Any = eqx.field(default=None, converter=Labels.of)
    batch: int | None = count(None, optional=True)
    epochs: bool = flag(False)
    held_out: float = eqx.field(static=True, default=0.25)

    def __check_init__(self):
        super().__check_init__()
        if not isinstance(self.held_out, float) or not 0 < self.held_out < 1:
            refuse(self, "held_out", "it must be a number between 0 and 1")
        if (self.x_test is None) != (self.y_test is None):
            missing = "x_test" if self.x_test is None else "y_test"
            refuse(self, missing, "x_test and y_test must be given together")
        held = self.in_memory()
        held._check("x", "y")
        if self.x_test is not None:
            held._check("x_test", "y_test")
        if min(held._sizes) < 1:
            held._refuse("x", "there are too few examples to hold some out")
        check_batch(self, held._sizes[0])

    def _check(self, inputs: str, labels: str) -> None:
        """Refuse arrays that cannot be learnt from."""
        x, y = getattr(self, inputs), getattr(self, labels)
        if not isinstance(x, np.ndarray | jax.Array) or x.ndim < 2 or x.dtype.kind not in "fiub":
            self._refuse(inputs, "it must be an array of numbers, (example, ...)")
        if not np.isfinite(x).all():
            self._refuse(inputs, "it has NaN or infinite values")
        if x.shape[1:] != self.x.shape[1:]:
            self._refuse(inputs, f"its examples must have the shape {self.x.shape[1:]} of x")
        if not isinstance(y, Labels) or len(y.values) != len(x):
            self._refuse(labels, f"it must have one number or name for each of {len(x)} examples")
        if y.names is None and not np.isfinite(y.values).all():
            self._refuse(labels, "it has NaN or infinite values")
        if self.names is not None and len(self.names) < 2:
            self._refuse(labels, "there must be at least two classes")
        new = [] if self.names is None else sorted(set(y.names or ()) - set(self.names))
        if new or (y.names is None) != (self.names is None):
            self._refuse(labels, f"it must have the classes of y; {new or 'its numbers'} are new")

    def _refuse(self, name: str, must: str) -> None:
        value = getattr(self, name)
        value = value.values if isinstance(value, Labels) else value
        shape = getattr(value, "shape", None)
        shown = repr(value) if shape is None else f"an array {shape}"
        raise BadInput(f"Arrays.{name} = {shown} is not allowed: {must}.")

    def in_memory(self) -> "Arrays":
        fields = ("x", "y", "x_test", "y_test")
        named = {n: getattr(self, n) for n in fields if isinstance(getattr(self, n), str)}
        if not named:
            return self
        read = {name: _read(f"Arrays.{name}", place) for name, place in named.items()}
        return dataclasses.replace(self, **read)

    def contents(self) -> Iterable[np.ndarray]:
        held, fields = self.in_memory(), ("x", "y", "x_test", "y_test")
        named = [getattr(held, n) for n in fields if isinstance(getattr(self, n), str)]
        return [value.values if isinstance(value, Labels) else value for value in named]

    @property
    def names(self) -> tuple[Any, ...] | None:
        """The classes, in the order of the outputs; None for regression."""
        return self.in_memory().y.names

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.in_memory().x.shape[-1]

    @property
    def numeric(self) -> bool:
        return self.names is None

    @property
    def labels(self) -> int | None:
        return None if self.names is None or len(self.names) == 2 else len(self.names)

    @property
    def space(self) -> Space:
        vectors = self._sizes[0] * math.prod(self.in_memory().x.shape[1:-1])
        return Space(vectors, "rotate")

    @property
    def _sizes(self) -> tuple[int, int]:
        data = self.in_memory()
        count, held = data.x.shape[0], round(self.held_out * data.x.shape[0])
        return (count - held, held) if data.x_test is None else (count, data.x_test.shape[0])

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        data = self.in_memory()
        x, y = jnp.asarray(data.x, float), data.y.among(self.names)
        if data.x_test is None:
            order, first = random.permutation(key, x.shape[0]), self._sizes[0]
            train, test = (Samples(x[at], y[at]) for at in (order[:first], order[first:]))
        else:
            train = Samples(x, y)
            test = Samples(jnp.asarray(data.x_test, float), data.y_test.among(self.names))
        batches = mini_batches(self.batch, self.epochs)
        return Problem(train, test, {}, Frame.of_dimension(self.dim), batches)


@functools.lru_cache(maxsize=16)
def _at(path: Path, written: int, what: str, place: str, entry: str) -> np.ndarray:
    """The array of a file; `written` is the file's time, so that a changed file is read again."""
    try:
        stored = np.load(path, allow_pickle=False)
        if isinstance(stored, np.ndarray):
            return stored
        with stored:
            if entry in stored:
                return stored[entry]
            entries = ", ".join(stored.files) or "none"
    except Exception as error:  # cut, or no array file at all
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(f"{what} = {place!r} cannot be read: {why}.") from None
    raise BadInput(f"{what} = {place!r} must name an entry of {path.name}: {entries}.")


def _read(what: str, place: str) -> np.ndarray:
    """The array of a `.npy` file, or of an entry of a `.npz` file; nothing in a file is run."""
    file, _, entry = place.partition(".npz:")
    path = Path(file + ".npz" if entry else place)
    if not path.is_file():
        raise BadInput(f"{what} = {place!r} cannot be read: there is no such file.")
    return _at(path.resolve(), path.stat().st_mtime_ns, what, place, entry)
