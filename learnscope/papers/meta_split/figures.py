"""Figures: the separation, the plane of noise and dimension, tables, lemmas, rules, images."""

import functools
import math

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from learnscope import figures
from learnscope.evidence import Quantity, computed, every, experiment_of, first, last
from learnscope.figures import bars, heat, over, steps
from learnscope.images import ImageTasks
from learnscope.papers.meta_split import experiments as ex
from learnscope.papers.meta_split import forms, theory, tuning
from learnscope.papers.meta_split.quantities import ended, noise_at_event, on_plane, tabled
from learnscope.papers.meta_split.real import BASE, FEW_SHOT, REPTILE, label
from learnscope.papers.meta_split.real_claims import accuracy
from learnscope.papers.meta_split.reported import REPTILES, SYNTHETIC, Pair, column

figure = functools.partial(figures.figure, titled=True)
SPLITS, LOG2 = ex.SPLITS, {"log 2": math.log(2)}


def _tasks(variable: str, **settings):
    """A variable at the end over the number of tasks, a line for each rule."""
    values = last(variable).of("separation")
    return over(values, "tasks", "rule", xlabel="observed tasks K", xscale="log",
                xticks=lambda data: data["separation"].tasks.values, **settings)  # fmt: skip


_FIELDS = {"d,": "data.dim", "K,": "data.tasks", "m,": "net.width", "T,": "steps"}


def _seeds(title: str):
    """A heading; d, K, m and T in it, without values, are those of the runs."""

    def words(data: xr.Dataset, *_: xr.Dataset) -> str:
        said = [f"{word[:-1]} = {figures.ran(data, _FIELDS[word])}," if word in _FIELDS else word
                for word in title.split()]  # fmt: skip
        return f"{' '.join(said)}; {data.sizes['seed']} seeds"

    return words


def _separated(data: xr.Dataset) -> str:
    """Every rule's test loss with the most tasks."""
    end = data.test_loss.isel(step=-1, tasks=-1).mean("seed")
    ends = ", ".join(f"{float(end.sel(rule=rule)):.2g} ({rule})" for rule in end.rule.values)
    words = f"d, n = 2 + 2, m, ‖ξ‖² = {ex.NOISE_SQUARED:g}, T, mean and 95 %"
    return (f"Test loss with {int(end.tasks)} tasks: {ends}; log 2 = {math.log(2):.2f}\n"
            f"Theorem regime: {_seeds(words)(data)}")  # fmt: skip


_SEPARATION = {
    "test_loss": ("test loss, before adapting (nat)", "log"),
    "meta_loss": ("training loss, after adapting (nat)", "log"),
    "test_accuracy": ("test accuracy, before adapting", "linear"),
    "shared_feature": ("shared feature  min max j⟨w, ν⟩", "linear"),
}


def _edge(rule: str):
    """||xi||^2 / (K n) at which feature and noise grow alike; it does not depend on d."""
    experiment = ex.theorem(ex.method(rule), (), 1, 1)
    noise = theory.boundary(experiment, "data.noise")
    ratio = math.nan if noise is None else (noise / experiment.data.noise) ** 2 * 0.75  # type: ignore[attr-defined]
    return lambda data: (np.full(2, ratio), np.array([ex.DIMS[0], ex.DIMS[-1]]))


def _plane(variable: str, rule: str, bar: str, low: float, high: float):
    return heat(on_plane(variable, rule), "ratio", "dim", bar, vmin=low, vmax=high, title=rule,
                lines={"feature and noise grow alike, linearised": _edge(rule)},
                xlabel="‖ξ‖² / (K n)", ylabel="dimension d")  # fmt: skip


_FORMS = {"exp(-b K^c)": forms.power, "power of K": forms.logarithm,
          "power of log K": forms.iterated}  # fmt: skip
_ERRORS = {name: [forms.error(last("test_loss", rule=rule).log(), "tasks", form, 8)
                  for rule in ex.METHODS[1:]] for name, form in _FORMS.items()}  # fmt: skip


def _losses(reading: str, *settings: str) -> Quantity:
    """Losses at the end, by setting and split."""
    return tabled({s: [last("test_loss", setting=label) for label in ex.labels(reading, s)]
                   for s in settings}, SPLITS)  # fmt: skip


def _printed(column: dict[str, Pair]) -> dict[tuple[str, str], float]:
    """Numbers of the paper by setting and split."""
    return {(setting, split): pair[0] for setting, pairs in column.items()
            for split, pair in zip(SPLITS, pairs, strict=True)}  # fmt: skip


def _off(data: xr.Dataset) -> str:
    """How far the losses of either reading are from the printed ones."""

    def times(reading: str, *settings: str) -> str:
        found = _losses(reading, *settings).read({"tables": data}).mean("seed")
        off = [
            float(found.sel(row=setting, column=split)) / loss
            for (setting, split), loss in _printed(SYNTHETIC).items()
            if setting in settings
        ]
        return f"{min(off):.2g} to {max(off):.2g} times"

    return (f"Tables 1 to 3: losses are {times('stated', *ex.SETTINGS)} the printed ones as "
            f"stated, {times('fitted', *ex.SETTINGS[:1])} as fitted\n"
            f"(mean and 95 %; {data.sizes['seed']} seeds; dashed: the paper)")  # fmt: skip


_CURVES = [("stated", "5 steps", "tables"), ("fitted", "5 steps", "tables"),
           ("Adam", "5 steps", "adam"), ("Adam", "1 step", "adam")]  # fmt: skip


def _by_split(reading: str, setting: str) -> Quantity:
    """Test losses of a reading, named by split."""
    losses = every("test_loss", setting=ex.labels(reading, setting))
    return losses.map(lambda values: values.assign_coords(setting=list(SPLITS)), "{}")


_KINDS = list(dict.fromkeys(name.split(", ")[0] for name in ex.budgeted()))


def _rules(variable: str) -> Quantity:
    """A variable at the end of every rule's run, by split."""
    return tabled({kind: [ended(variable, f"{kind}, {split}") for split in SPLITS]
                   for kind in _KINDS}, SPLITS)  # fmt: skip


def _factors(variable: str, arms: list[str]):
    where = {"rule": arms}
    return steps(f"{variable}_amplification", "rule", where=where, yscale="log", of="lemmas",
                 ylabel="after / before adapting", title=variable.replace("_", " "))  # fmt: skip


def _ridges(variable: str, of: str, label: str, title: str):
    return over(last(variable).of(of), "weight", "rule", xscale="log", yscale="log", title=title,
                xlabel="ridge λ", ylabel=label)  # fmt: skip


# Images: Tables 1 to 6 as bars beside the printed numbers


def _accuracies(of: str, when=last) -> Quantity:
    """Accuracies in percent by setting and split; Reptile stands where train-train does."""

    def read(data: xr.Dataset) -> xr.DataArray:
        there = [s for s in FEW_SHOT if label(s, SPLITS[0]) in data.setting.values]
        rows = {s: [accuracy(label(s, split), when) for split in SPLITS] for s in there}
        rows[REPTILE] = [accuracy(REPTILE, when), math.nan * accuracy(REPTILE, when)]
        return tabled(rows, SPLITS).read({"": data})

    return computed("accuracy", read, of)


def _panel(of: str, name: str, chance: float):
    """Accuracies by setting, with those of the untrained network; the title is what the tasks were
    made of."""
    printed = _printed(column(name)) if name in REPTILES else {}
    printed |= {(REPTILE, SPLITS[0]): REPTILES[name][0]} if name in REPTILES else {}
    panel = bars(_accuracies(of), "row", "column", printed, possible=(0, 100),
                 ylabel="accuracy on fresh tasks (%)", levels={"chance": chance})  # fmt: skip

    def draw(axes: Axes, data) -> None:
        panel(axes, data)
        before = _accuracies(of, first).read(data).mean("seed").transpose("row", "column").values
        places = np.arange(len(before))[:, None] + 0.4 * np.array([-0.5, 0.5])
        axes.plot(places.ravel(), before.ravel(), "kx", markersize=4, label="untrained")
        axes.set_title(_made_of(experiment_of(data[of], label(BASE, SPLITS[0])).data))

    return draw


def _training(of: str):
    """Accuracies of the base setting and of Reptile while they are trained."""
    arms = [label(BASE, split) for split in SPLITS] + [REPTILE]
    values = 100.0 * every("task_accuracy", setting=arms).mean("task")
    named = values.map(lambda v: v.assign_coords(setting=[*SPLITS, REPTILE]), "{}")
    return steps(named.of(of), "setting", ylabel="accuracy on fresh tasks (%)", ylim=(0, 100),
                 title="training, base setting")  # fmt: skip


def _made_of(tasks) -> str:
    """What tasks are made of."""
    assert isinstance(tasks, ImageTasks)
    return f"rainbow of {tasks.source}" if tasks.name == "rainbow" else tasks.name


def _size(tables: str):
    """A heading: what the tasks are made of, panels say."""

    def words(data: xr.Dataset, *_) -> str:
        tasks = data.task_accuracy.sel(setting=label(BASE, SPLITS[0])).sizes["task"]
        size = f"T = {int(data.step[-1])}, {tasks} fresh tasks x {data.sizes['seed']} seeds"
        falls = "cosine_steps" in data.attrs["experiment"]
        return f"{tables} on images: {size}{', outer rates fall to 0' * falls}"

    return words


def _best(rule: str, of: str):
    """A title: the data, the rule and its best pair of rates."""

    def words(data) -> str:
        tasks = experiment_of(data[of], str(data[of].setting.values[0])).data
        inner, outer = tuning.best(data[of], rule)
        return f"{_made_of(tasks)}, {rule}: best {inner:g}, {outer:g}"

    return words


def _tuned(rule: str, of: str = "tuning_omniglot"):
    """Accuracies on validation classes over both rates."""
    table = computed("accuracy", lambda data: tuning.table(data, rule), of)
    outside = "outer rate ε" if rule == REPTILE else "outer rate η"
    return heat(table, "inner", "outer", "accuracy (%)", title=_best(rule, of),
                xlabel="inner rate γ", ylabel=outside)  # fmt: skip


def _tuned_epsilon(of: str = "tuning_rainbow"):
    table = computed("accuracy", lambda data: tuning.table(data, REPTILE).isel(inner=0), of)
    return over(table, "outer", xlabel="outer rate ε", xscale="log", possible=(0, 100),
                ylabel="accuracy (%)", title=_best(REPTILE, of))  # fmt: skip


def _tuning_size(data: xr.Dataset) -> str:
    size = f"T = {int(data.step[-1])}, seed {data.seed.values[0]}"
    return f"Accuracy on fresh tasks that no verdict uses: {size}"


def _in_tasks(data) -> str:
    return f"in K, d = {figures.ran(data['separation'], 'data.dim')}"


def _long(data) -> str:
    d, tasks = (figures.ran(data["long"], path) for path in ("data.dim", "data.tasks"))
    return f"in T, d = {d}, K = {tasks}"


FIGURES = {
    "separation": figure(
        "Train-train stays at log 2; with the split and in vanilla training the loss falls",
        "separation",
        [_tasks(variable, ylabel=label, yscale=scale)
         for variable, (label, scale) in _SEPARATION.items()],
        _separated, (10, 6.2), titled=False),
    "plane": figure(
        "Vanilla training's loss stays at log 2 for loud noise and large d", "plane",
        [[_plane("test_loss", rule, "test loss (nat)", 0, 0.7) for rule in ex.METHODS],
         [_plane("test_accuracy", rule, "test accuracy", 0.5, 1) for rule in ex.METHODS]],
        _seeds("K, n = 2 + 2, T, fresh tasks, before adapting; mean"), (11.5, 6.4), 1),
    "forms": figure(
        "At one T, exp(-b K^c) is not the test loss, which goes on falling with T",
        ("separation", "long"),
        [_tasks("test_loss", yscale="log", ylabel="test loss (nat)", title=_in_tasks),
         bars(tabled(_ERRORS, ex.METHODS[1:], "separation"), "row", "column",
              title="forms in K, K ≥ 8",
              ylabel="error of log L", yscale="log"),
         *(over(every(variable).of("long").map(lambda v: v.sel(step=v.step > 0), "{}"), "step",
                xscale="log", yscale="log", title=_long, ylabel=label)
           for variable, label in (("test_loss", "test loss (nat)"),
                                   ("shared_feature", "shared feature")))],
        _seeds("Theorem 4.5 and Lemma 6.5"), (9, 6.6)),
    "figure1": figure(
        "In section 5.1's setting train-validation's loss falls, and train-train's does not rise",
        ("tables", "adam"),
        [[steps(_by_split(reading, setting).of(sweep), "setting", ylabel="test loss (nat)",
                title=f"{reading}, J = {setting[0]}") for reading, setting, sweep in _CURVES]],
        _seeds("Figure 1: d, n = 5 + 5; median and 10-90 %"), (13, 3.8), 2),
    "tables": figure(
        "Tables 1 to 3, synthetic: the stated reading does not meet the printed losses", "tables",
        [bars(_losses(reading, *settings), "row", "column", _printed(SYNTHETIC), levels=LOG2,
              title=f"{reading} reading", ylabel="test loss, before adapting (nat)")
         for reading, settings in (("stated", ex.SETTINGS), ("fitted", ex.SETTINGS[:1]))],
        _off, (10, 4.2), 4, titled=False, sharey=True),
    "lemmas": figure(
        "Inner steps amplify noise without the split, and the feature with it",
        ("lemmas", "growth"),
        [_factors("feature", list(ex.LEMMAS)), _factors("training_noise", list(ex.LEMMAS)),
         _factors("validation_noise", list(ex.LEMMAS)),
         over(noise_at_event().of("growth"), "dim", xscale="log", yscale="log",
              title="Lemma 6.3: validation noise at T⁽²⁾", ylabel="max ⟨w, ξ⟩")],
        _seeds("Factors of the inner loop: d, K, median and 10-90 %"), (10, 7), 3),
    "variants": figure(
        "The separation needs two inner steps or more, and a network that is not narrow",
        ("inner_steps", "width"),
        [over(last("test_loss").of(sweep), axis, "rule", levels=LOG2, yscale="log",
              ylabel="test loss (nat)", xlabel=label)
         for sweep, axis, label in (("inner_steps", "inner_steps", "inner steps J"),
                                    ("width", "width", "filters of either sign m"))],
        _seeds("d, K, T, mean and 95 %"), (9, 3.8)),
    "rules": figure(
        "At equal budgets, every rule's loss stays at a constant without the split", "rules",
        [bars(_rules(variable), "row", "column", levels=LOG2, ylabel="test loss (nat)", title=when)
         for variable, when in (("test_loss", "before adapting"),
                                ("adapted_test_loss", "after adapting"))],
        _seeds("d, K, equal gradient passes; mean and 95 %"), (11, 4), 3),
    "centroid": figure(
        "With linear models train-train is better", ("centroid", "centroid_family"),
        [_ridges("centroid_error", "centroid", "‖ŵ₀ - w*‖²", "linear tasks around a centroid"),
         _ridges("test_loss", "centroid_family", "squared loss, fresh tasks", "this paper's data")],
        _seeds("Ridge inside, least squares outside; mean and 95 %"), (9, 3.8)),
    **{sweep: figures.figure(
        "Tables 1 to 4 on RainbowMNIST", sweep,
        [[_panel(sweep, "rainbow", 10.0), _training(sweep)]], _size("Tables 1 to 4"), (11, 4.4), 5)
       for sweep in ("real_rainbow", "real_rainbow_annealed")},
    **{sweep: figures.figure(
        "Tables 1 to 6 on Omniglot", sweep,
        [[_panel(sweep, "omniglot", 20.0), _training(sweep)]], _size("Tables 1 to 6"), (11, 4.4), 5)
       for sweep in ("real_omniglot", "real_omniglot_annealed")},
    "real_cifar_fs": figures.figure(
        "Tables 1, 4 and 6 on CIFAR-FS", "real_cifar_fs",
        [[_panel("real_cifar_fs", "cifar-fs", 20.0), _training("real_cifar_fs")]],
        _size("Tables 1, 4 and 6"), (10, 4.4), 5),
    "tuning_omniglot": figures.figure(
        "Rates, tuned for every rule on validation classes", "tuning_omniglot",
        [list(map(_tuned, tuning.RULES))], _tuning_size, (11.5, 3.6)),
    "tuning_rainbow": figures.figure(
        "Reptile's outer rate on RainbowMNIST", "tuning_rainbow", [_tuned_epsilon()],
        _tuning_size),
    "real_mini_imagenet": figures.figure(
        "Tables 1 to 6 on miniImageNet", "real_mini_imagenet",
        [_panel("real_mini_imagenet", "mini-imagenet", 20.0)], _size("Tables 1 to 6"), (10, 4.4)),
}  # fmt: skip
