"""Every paper's figures at smoke scale name what was run: data sets, steps, dimensions, sizes.

Nothing is trained: sweeps are filled with drawn numbers, since words do not depend on results.
"""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np
import pytest

from learnscope.errors import BadInput
from learnscope.evidence import Sweep
from learnscope.lab.store.folder import Folder
from learnscope.lab.store.writer import StoredResults
from learnscope.papers import get, studies
from tests.papers.titles import unfounded, words


def filled(sweep: Sweep, store):
    """The dataset of a sweep whose runs have drawn numbers; in ambient coordinates where that can
    be, so that compression is not tried."""
    try:
        sweep = dataclasses.replace(sweep, coordinates="ambient")
        sweep.plans(None)
    except BadInput:
        sweep = dataclasses.replace(sweep, coordinates="auto")
    for plan, _ in sweep.plans(None):
        results, lead = StoredResults(Folder(store), plan), len(plan.shape)
        for box in plan.blocks:
            draw = np.random.default_rng(box.number)
            values = {
                name: np.asarray(draw.uniform(0.6, 0.9, (*box.shape, *each.shape[lead:])))
                for name, each in plan.variables.items()
            }
            values = {n: v.astype(plan.variables[n].dtype) for n, v in values.items()}
            results.put(box, values, 1.0)
    return sweep.run(store=store, progress=False)


# Many programs to trace, and the papers' own tests draw all or most of these figures from small
# runs, with the same check of their words.
_LONG = ("input_structure", "kou", "meta_split", "pegr", "pred_head", "sam", "xor")
# It solves equations from the starts of runs, which drawn numbers are not.
_SOLVED = ("online.plateau",)


# Figures that need boundaries and computations as well are drawn from small runs in the papers' own
# tests, which check their words in the same way (`check_figures`).
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n in _LONG)) for n in studies()]
)
def test_figures_name_what_was_run(name, tmp_path):
    study, sweeps = get(name), get(name).sweeps("smoke")
    drawn = [
        figure
        for key, figure in study.figures.items()
        if f"{name}.{key}" not in _SOLVED
        and all(isinstance(sweeps[need], Sweep) for need in figure.needs)
    ]
    data = {need: filled(sweeps[need], tmp_path) for need in {n for f in drawn for n in f.needs}}
    wrong = []
    for figure in drawn:
        used = [data[need] for need in figure.needs]
        drawing = figure.draw(*used)
        wrong += unfounded(words(drawing), used)
        plt.close(drawing)
    assert not wrong


def test_a_title_that_names_something_else_would_be_found(tmp_path):
    data = filled(get("kou").sweeps("smoke")["sides"], tmp_path)
    said = ["on MNIST", "6000 steps", "d = 10⁷", "n = 21", "20 % flips", "at λη/n = 2"]
    found = unfounded(said, [data])
    assert [text.split(" in ")[0] for text in found] == ["mnist", "6000", "21", "20"]
