"""Figures 2 to 4 in both readings, the long tail beside its control, imbalance, and the theorem."""

import json

import numpy as np

from learnscope.evidence import Figure, every, last
from learnscope.figures import figure, heat, over, steps
from learnscope.papers.benign.experiments import CLASSES, READINGS, SMALL_CLASSES, SNRS
from learnscope.papers.benign.real_figures import REAL_FIGURES

CHANCE = 1 / CLASSES
SIGNAL, RATIO = "feature strength ‖u‖", "noise correlation ratio Γ"
SIZE = "training examples a class |S|"
_WORDS = {"literal": "read literally (rate 0.05)", "no 1/m": "gradient without its 1/m"}


def _seeds(title: str):
    return lambda data, *_: f"{title}, {data.sizes['seed']} seeds"


def _maps(name: str, x: str, y: str, labels: tuple[str, str], title: str) -> Figure:
    """Heat maps of test accuracy (above) and training accuracy, one column per reading."""
    rows = [
        [heat(last(f"{part}_accuracy", reading=reading), x, y, f"{part} accuracy", vmin=CHANCE,
              vmax=1, xlabel=labels[0], ylabel=labels[1], title=_WORDS[reading])
         for reading in READINGS]
        for part in ("test", "train")
    ]  # fmt: skip
    return figure(f"Test accuracy, {title}", f"figure{name}", rows,
                  _seeds(f"Figure {name}: {title}"), (9.0, 6.8))  # fmt: skip


def _edge(data):
    edge = last("test_accuracy").passage("signal", 0.6).read(data).mean("seed")
    return edge, edge.correlation


def _tails():
    """Accuracy on the long tail, and that of the untrained network on its own."""
    return [
        over(last(name).mean("class"), "correlation", "share", label="top share {}", title=title,
             xscale="log", ylim=(0, 1.03), xlabel=RATIO, ylabel="accuracy")
        for name, title in (("long_tail_accuracy", "long tail, trained"),
                            ("long_tail_untrained", "long tail, untrained network"))
    ] + [over(last("test_accuracy").isel(share=0), "correlation", title="all test data",
              xscale="log", ylim=(0, 1.03), xlabel=RATIO, ylabel="accuracy")]  # fmt: skip


def _minority(name: str, title: str):
    def numbered(values):
        sizes = [json.loads(str(each))[1] for each in values.others.values]
        return values.assign_coords(others=np.array(sizes, float))

    quantity = last(name).isel(**{"class": 0}).map(numbered, "{}")
    return over(quantity, "others", "loss", title=title, ylim=(0, 1.03),
                xlabel="training examples of every other class",
                ylabel="test accuracy of class 0 (50 examples)")  # fmt: skip


def _snr(start: str):
    error = (1 - last("test_accuracy", start=start)).map(
        lambda values: values.assign_coords(dim=values.dim.astype(float)), "test error"
    )
    return over(error, "signal", "dim", x=SNRS, label="d = {}", xscale="log", ylim=(0, 0.75),
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
        _seeds("Figure 2, measured: gradient without its 1/m")),
    "figure3a": _maps("3a", "signal", "correlation", (SIGNAL, RATIO), "Gaussian noise"),
    "figure3b": _maps("3b", "signal", "correlation", (SIGNAL, RATIO), "uniform noise"),
    "figure4a": _maps("4a", "signal", "size", (SIGNAL, SIZE), "Γ = 1.2"),
    "figure4b": _maps("4b", "correlation", "size", (RATIO, SIZE), "‖u‖ = 10⁻⁶"),
    "noises": figure(
        "Four kinds of noise", "noises",
        [over(last("test_accuracy"), "signal", "noise", x=[0, 1, 2], ylim=(0, 1.03),
              xticks=[0, 1, 2], xticklabels=["‖u‖ = 3.8, Γ = 1", "0, 100", "0.8, 1"],
              ylabel="test accuracy", xlabel="")], _seeds("Remark 1: any sub-Gaussian noise")),
    "tail": figure("The long tail beside its untrained control", "tail", _tails(),
                   _seeds("Definition 1, section 5.1's setting at ‖u‖ ≈ 0"), (10.2, 3.4)),
    "majority": figure(
        "Increasing majority hurts minority", "majority",
        [_minority("long_tail_accuracy", "long-tailed data (top 20 %)"),
         _minority("class_accuracy", "all data")],
        _seeds("Increasing majority hurts minority: Γ = 50, ‖u‖ ≈ 0"), (8.6, 3.8), sharey=True),
    "theorem": figure(
        "Statement 2a, where most of Condition 1 holds", "theorem",
        [_snr("condition"), _snr("small")],
        _seeds("Theorem 1 (2a, 3): K = 3, n = 9, m = 100, Γ = 1"), (9.0, 4.0), sharey=True),
    "blocks": figure("Statement 2b, with blocks of spikes", "blocks", _tails(),
                     _seeds("Theorem 1 (2b): K = 3, n = 9, m = 100, d = 3·10⁵"), (10.2, 3.4)),
    "lemmas": figure("Lemmas 3, 4 and 7 along the trajectory", "lemmas", _LEMMAS,
                     _seeds("Small initial weights: median and 10-90 %"), (8.6, 6.4)),
    "stages": figure(
        "Lemmas 1 and 2", "strong",
        [steps(every("loss").map(lambda v: v.expand_dims(run=["strong feature, d = 10⁶"]), "{}"),
               "run", yscale="log", ylabel="training loss")],
        _seeds("Theorem 1 (1), Lemmas 1, 2")),
    **REAL_FIGURES,
}  # fmt: skip
