"""Figures 2 to 4 in both readings, the long tail beside its control, imbalance, and the theorem."""

import json
import re
from typing import Any

import numpy as np

from learnscope.evidence import Figure, every, last
from learnscope.figures import figure, heat, number, over, ran, steps
from learnscope.papers.benign.experiments import (
    CLASSES,
    MINORITY,
    PLACES,
    READINGS,
    SMALL_CLASSES,
    SNRS,
    WEAK,
)
from learnscope.papers.benign.real_figures import REAL_FIGURES

CHANCE = 1 / CLASSES
_GROWS = "accuracy grows with ‖u‖ and Γ"
SIGNAL, RATIO = "feature strength ‖u‖", "noise correlation ratio Γ"
SIZE = "training examples per class |S|"
_WORDS = {"literal": "read literally (rate 0.05)", "no 1/m": "gradient without its 1/m"}


def _seeds(title: str):
    """A heading; fields in braces are those of the runs."""
    return lambda data, *_: (re.sub(r"\{([\w.]+)\}", lambda field: ran(data, field[1]), title)
                             + f", {data.sizes['seed']} seeds")  # fmt: skip


def _maps(name: str, x: str, y: str, labels: tuple[str, str], title: str, found: str) -> Figure:
    """Heat maps of test accuracy (above) and training accuracy, one column per reading."""
    rows = [
        [heat(last(f"{part}_accuracy", reading=reading), x, y, f"{part} accuracy", vmin=CHANCE,
              vmax=1, one_bar=True, xlabel=labels[0], ylabel=labels[1], title=_WORDS[reading])
         for reading in READINGS]
        for part in ("test", "train")
    ]  # fmt: skip
    return figure(f"Test accuracy, {title}", f"figure{name}", rows,
                  _seeds(f"Figure {name}, {title}: {found}"), (9.0, 6.8))  # fmt: skip


def _edge(data):
    edge = last("test_accuracy").passage("signal", 0.6).read(data).mean("seed")
    return edge, edge.correlation


def _tails():
    """Accuracy on the long tail, and that of the untrained network on its own."""
    look: dict[str, Any] = {"xscale": "log", "ylim": (0, 1.03), "xlabel": RATIO,
                            "ylabel": "accuracy", "possible": (0, 1)}  # fmt: skip
    return [
        over(last(name).mean("class"), "correlation", "share", label="top {}", title=title, **look)
        for name, title in (
            ("long_tail_accuracy", "long tail, trained"),
            ("long_tail_untrained", "long tail, untrained network"),
        )
    ] + [over(last("test_accuracy").isel(share=0), "correlation", title="all test data", **look)]


def _minority(name: str, title: str):
    def numbered(values):
        sizes = [json.loads(str(each))[1] for each in values.others.values]
        return values.assign_coords(others=np.array(sizes, float))

    quantity = last(name).isel(**{"class": 0}).map(numbered, "{}")
    return over(quantity, "others", "loss", title=title, ylim=(0, 1.03), possible=(0, 1),
                xlabel="training examples of every other class",
                ylabel=f"test accuracy of class 0 ({MINORITY} examples)")  # fmt: skip


def _snr(start: str):
    error = (1 - last("test_accuracy", start=start)).map(
        lambda values: values.assign_coords(dim=values.dim.astype(float)), "test error"
    )
    return over(error, "signal", "dim", x=SNRS, label="d = {}", xscale="log", ylim=(0, 0.75),
                possible=(0, 1),
                title={"condition": "initial weights as Condition 1 (c) allows",
                       "small": "initial weights as (124) needs"}[start],
                xlabel="SNR term |S| ‖u‖⁴ / ‖AᵀA‖²", ylabel="test error",
                levels={"chance": 1 - 1 / SMALL_CLASSES})  # fmt: skip


_LEMMAS = [
    steps(every(name, start="small").max(*most) if most else every(name, start="small"), "dim",
          label="d = {}", title=title, ylabel=label, yscale=scale)
    for name, most, title, label, scale in (
        ("loss", (), "training loss", "loss", "log"),
        ("noise_spectrum", ("class", "rank"), "Lemma 3: largest λ(W A)", "λ₁", "log"),
        ("active_share_least", (), "Lemma 4: active on test noise", "least share", "linear"),
        ("gradient_balance", (), "Lemma 7: balance of residuals", "κ", "linear"),
    )
]  # fmt: skip
_PLANE = {"xlabel": SIGNAL, "ylabel": RATIO, "vmin": CHANCE, "vmax": 1}
FIGURES: dict[str, Figure] = {
    "figure2": figure(
        "Benign and harmful overfitting", "edge",
        [heat(last("test_accuracy"), "signal", "correlation", "mean test accuracy", **_PLANE,
              lines={"accuracy 0.6": _edge})],
        _seeds("Figure 2: overfitting is benign beyond a line that falls with Γ")),
    "figure3a": _maps("3a", "signal", "correlation", (SIGNAL, RATIO), "Gaussian noise", _GROWS),
    "figure3b": _maps("3b", "signal", "correlation", (SIGNAL, RATIO), "uniform noise", _GROWS),
    "figure4a": _maps("4a", "signal", "size", (SIGNAL, SIZE), "Γ = 1.2",
                      "accuracy grows with |S| only without the 1/m"),
    "figure4b": _maps("4b", "correlation", "size", (RATIO, SIZE), f"‖u‖ = {number(WEAK)}",
                      "constant in |S| where Γ ≥ 400 and without the 1/m only"),
    "noises": figure(
        "Four kinds of noise", "noises",
        [over(last("test_accuracy"), "signal", "noise", x=[0, 1, 2], ylim=(0, 1.03),
              possible=(0, 1),
              xticks=[0, 1, 2],
              xticklabels=[f"‖u‖ = {number(u)}, Γ = {g:g}" for u, g in PLACES.values()],
              ylabel="test accuracy", xlabel="")], _seeds("Remark 1: four noises, one accuracy")),
    "tail": figure("The long tail beside its untrained control", "tail", _tails(),
                   _seeds("Accuracy on the long tail dips before it rises with Γ"), (10.2, 3.4),
                   sharey=True),
    "majority": figure(
        "Increasing majority hurts minority", "majority",
        [_minority("long_tail_accuracy", "long-tailed data (top 20 %)"),
         _minority("class_accuracy", "all data")],
        _seeds("More data of other classes hurts class 0: Γ = {data.correlation}, ‖u‖ ≈ 0"),
        (8.6, 3.8), sharey=True),
    "theorem": figure(
        "Statement 2a, where most of Condition 1 holds", "theorem",
        [_snr("condition"), _snr("small")],
        _seeds("Theorem 1 (2a): the SNR term decides at every d if initial weights are small"),
        (9.0, 4.0), sharey=True),
    "blocks": figure("Statement 2b, with blocks of spikes", "blocks", _tails(),
                     _seeds("Theorem 1 (2b): a large Γ classifies the long tail "
                            "(|S| = {data.train_per_class})"),
                     (10.2, 3.4), sharey=True),
    "lemmas": figure("Lemmas 3, 4 and 7 along the trajectory", "lemmas", _LEMMAS,
                     _seeds("Residuals stay balanced, but neurons switch off together"),
                     (8.6, 6.4)),
    "stages": figure(
        "Lemmas 1 and 2", "strong",
        [steps(every("loss").map(lambda v: v.expand_dims(run=["strong feature"]), "{}"),
               "run", yscale="log", ylabel="training loss")],
        _seeds("Theorem 1 (1): the training loss falls steadily (d = {data.dim})")),
    **REAL_FIGURES,
}  # fmt: skip
