"""`check`: what a part must do to be run, swept, stored and compressed, tried on a small copy."""

import contextlib
import dataclasses
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from learnscope.data import SignalNoise
from learnscope.engine import faults, size, trial
from learnscope.engine.experiment import in_law, obstacle
from learnscope.engine.one_run import draw
from learnscope.errors import BadInput, refuse_value, why_of
from learnscope.lab import Experiment
from learnscope.lab.run import run
from learnscope.nets import PatchCNN
from learnscope.part import AbstractPart, example_of, field_kind, html_table, kinds, text_table
from learnscope.part.own import load_file
from learnscope.probes import Loss
from learnscope.rules import GradientDescent

_STEPS = 5


@dataclasses.dataclass(frozen=True)
class Check:
    """One thing that was tried: its name, whether it held (None: it does not apply), and why."""

    name: str
    held: bool | None
    why: str = ""

    @property
    def mark(self) -> str:
        return {True: "✓", False: "✗", None: "-"}[self.held]


@dataclasses.dataclass(frozen=True)
class Checks:
    """The outcome of `check`: a table of ticks and sentences."""

    title: str
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return all(check.held is not False for check in self.checks)

    def __bool__(self) -> bool:
        return self.ok

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __repr__(self) -> str:
        rows = [(f"{check.mark} {check.name}", check.why) for check in self.checks]
        return f"{self.title}\n{text_table(rows, '<<')}"

    def _repr_html_(self) -> str:
        rows = [(check.mark, check.name, check.why) for check in self.checks]
        return html_table(("", "check", "why"), rows, self.title)


def check(part: Any) -> Checks:
    """Check a part, a class of parts or an experiment in small runs: a table of what holds.

    A part is tried in a small experiment with shipped parts: signal and noise, a two-layer network,
    gradient descent. An `Experiment` is tried with its own parts. Sizes are lowered first.

    >>> import learnscope as ls
    >>> checks = check(ls.rules.GradientDescent(rate=0.1))
    >>> checks.ok
    True
    """
    whole, title = _experiment(part)
    short = _small(whole).replace("steps", min(whole.steps, _STEPS))
    tried: list[Check] = []
    for name, attempt in _CHECKS.items():
        experiment = whole if attempt is _compressed else short
        try:
            with faults.explained():
                tried.append(Check(name, *_outcome(attempt(experiment))))
        except Exception as error:
            tried.append(Check(name, False, why_of(error)))
        if name == "fits" and tried[-1].held is False:
            break  # nothing else can be tried
    return Checks(title, tuple(tried))


def parts_in(file: str) -> list[Any]:
    """The classes of parts that a Python file defines, and its experiments."""
    module = load_file(file)
    own = [
        kind
        for base in dict.fromkeys(Experiment.slots.values())
        for kind in kinds(base).values()
        if kind.__module__ == module.__name__
    ]
    own += [value for value in vars(module).values() if isinstance(value, Experiment)]
    if not own:
        raise BadInput(f"{file} has no data model, net, rule, probe or experiment.")
    return own


def _outcome(result: Any) -> tuple[bool | None, str]:
    """None: held. A sentence: it did not. A tuple: as it is."""
    if isinstance(result, tuple):
        return result
    return result is None, result or ""


def _experiment(part: Any) -> tuple[Experiment, str]:
    """The small experiment in which something is tried."""
    if isinstance(part, type) and issubclass(part, AbstractPart):
        part = example_of(part)
    slots = {slot: kind for slot, kind in Experiment.slots.items() if slot != "record"}
    if isinstance(part, Experiment):
        experiment = part
        title = " x ".join(type(getattr(part, slot)).__name__ for slot in ("data", "net", "rule"))
    else:
        slot = next((name for name, kind in slots.items() if isinstance(part, kind)), None)
        if slot is None:
            must = "it must be an experiment, a data model, a net, a rule or a probe"
            refuse_value("part", part, must)
        data = part if slot == "data" else SignalNoise(40, train=4, test=9, signal=1.0, noise=0.5)
        classes = 2 if data.labels is None else data.labels
        own = {
            "data": data,
            "net": PatchCNN(width=2, scale=0.1, classes=classes),
            "rule": GradientDescent(rate=0.05),
            "probes": (Loss(),),
        }
        own[slot] = (part,) if slot == "probes" else part
        experiment, title = Experiment(steps=_STEPS, **own), type(part).__name__
    return experiment, title


def _small(experiment: Experiment) -> Experiment:
    """The smallest copy of an experiment whose parts fit together, or (none does) itself."""
    for small in trial.copies(experiment):
        if float(small.data.dim) <= float(experiment.data.dim):
            with contextlib.suppress(Exception):
                size.check_fit(small)
                return small
    return experiment


def _fits(experiment: Experiment) -> str | None:
    size.check_fit(experiment)
    return None


def _stored(experiment: Experiment) -> Any:
    try:
        text = experiment.to_toml()
    except BadInput as error:
        return None, str(error)
    same = Experiment.from_toml(text) == experiment
    return None if same else "its text form, read again, is another experiment"


def _pickled(experiment: Experiment) -> Any:
    try:
        again = pickle.loads(pickle.dumps(experiment))
    except (pickle.PicklingError, AttributeError) as error:
        return None, f"processes cannot send it to each other: {error}"
    return None if again == experiment else "pickled and read again, it is another experiment"


def _numbers_traced(experiment: Experiment) -> str | None:
    """Numbers as a sweep has them: without a value when the run is compiled."""
    size.run_size(experiment, "ambient", "float32")
    return None


def _run_twice(experiment: Experiment, **changes: Any) -> tuple[Any, Any]:
    jax.clear_caches()  # a random number of Python's own would be compiled in
    one = run(experiment, progress=False, **changes)
    jax.clear_caches()
    return one, run(experiment, progress=False, **changes)


def _differing(one: Any, other: Any, tolerance: float = 0.0) -> str | None:
    for name in one.data_vars:
        a, b = one[name].values, other[name].values
        scale = np.nanmax(np.abs(b), initial=0)
        if not np.allclose(a, b, rtol=0, atol=tolerance * scale, equal_nan=True):
            return str(name)
    return None


def _pure(experiment: Experiment) -> str | None:
    name = _differing(*_run_twice(experiment, coordinates="ambient"))
    return None if name is None else f"'{name}' differs when the same run is computed again"


def _seeded(experiment: Experiment) -> str | None:
    draws = [draw(experiment, seed) for seed in (0, 0, 1)]
    same = [jax.tree.map(np.array_equal, *map(_arrays, pair)) for pair in (draws[:2], draws[1:])]
    if not all(jax.tree.leaves(same[0])):
        return "the same seed draws other data or weights when asked again"
    if all(jax.tree.leaves(same[1])):
        return "all seeds draw the same data and weights"
    return None


def _arrays(tree: Any) -> list[np.ndarray]:
    kept = [leaf for leaf in jax.tree.leaves(tree) if isinstance(leaf, np.ndarray)]
    return [leaf for leaf in kept if leaf.dtype.kind in "fiub"]


def _batched(experiment: Experiment) -> str | None:
    together = run(experiment, seeds=[3, 4], coordinates="ambient", progress=False)
    for seed in (3, 4):
        alone = run(experiment, seeds=[seed], coordinates="ambient", progress=False)
        name = _differing(together.sel(seed=[seed]), alone, 1e-3)
        if name is not None:
            return f"'{name}' of seed {seed} depends on which runs are computed beside it"
    return None


def _precise(experiment: Experiment) -> str | None:
    for precision in ("float32", "float64"):
        problem, carry, values, _ = size.shapes(experiment, "ambient", precision)
        for what, tree in (("data", problem), ("parameters", carry), ("outputs", values)):
            floats = [
                v for v in jax.tree.leaves(tree) if jnp.issubdtype(jnp.result_type(v), jnp.floating)
            ]
            for leaf in floats:
                if str(leaf.dtype) != precision:
                    return f"its {what} have an array of {leaf.dtype} where all are {precision}"
    return None


def _compressed(experiment: Experiment) -> Any:
    reason = obstacle(experiment, [float(experiment.data.dim)])
    if reason is not None:
        return None, f"runs in all coordinates: {reason}"
    form = "compressed" if in_law(experiment) else "rotate"
    why = trial.objection(experiment, form)
    return (True, f"as {form}, by path and in law") if why is None else why


def _swept(experiment: Experiment) -> Any:
    """A sweep over each number of the user's own parts, and in one batch."""
    paths = {
        f"{slot}.{field.name}": getattr(part, field.name)
        for slot in ("data", "net", "rule")
        for part in [getattr(experiment, slot)]
        for field in dataclasses.fields(part)
        if not type(part).__module__.startswith("learnscope.")
        and field_kind(experiment, f"{slot}.{field.name}") == "number"
        and isinstance(getattr(part, field.name), int | float)
    }
    if not paths:
        return None, "no numbers of its own"
    swept = []
    for path, value in paths.items():
        other = 0.99 * value if value and np.isfinite(value) else 0.01
        with contextlib.suppress(BadInput):
            experiment.replace(path, other)  # allowed?
            swept.append(path)
            run(experiment, {path: [value, other]}, coordinates="ambient", progress=False)
    return True, ", ".join(swept)


_CHECKS: dict[str, Callable[[Experiment], Any]] = {
    "fits": _fits,
    "text form": _stored,
    "pickle": _pickled,
    "traced": _numbers_traced,
    "pure": _pure,
    "seeds": _seeded,
    "batches": _batched,
    "precision": _precise,
    "sweeps": _swept,
    "compression": _compressed,
}
