"""What claims on trained images share: rates, convergence, parts of a sweep.

What is said of trained networks counts where they have learnt and training is over. Settings are
those of the scale `laptop`; `paper` has the whole sets and the paper's nets.
"""

from typing import Any

from learnscope import evidence as ev
from learnscope.evidence import Datasets, Finding, Verb
from learnscope.papers.input_structure import real

PAPER = "needs a GPU: `learnscope verify input_structure --scale paper --data DIR`"
_RATES = {  # by the first word of a sweep's name
    "weights": "chosen: 0.01, momentum 0.95, for every start; the paper has no rate",
    "early": "chosen: 0.01, momentum 0.95, for every start; the paper has no rate",
    "resnet": f"chosen: {real.DEEP_RATE}, momentum 0.95, for every net; the paper has no rate",
    "mixture": "chosen: Adam, 0.001, for teachers and students; the paper has none",
}


def claim(id: str, statement: str, where: str, reported: str, setting: str, needs: Any,
           verb: Verb, scope: str, **more: Any) -> ev.Claim:  # fmt: skip
    sweeps = (needs,) if isinstance(needs, str) else needs
    rates = _RATES.get(sweeps[0].partition("_")[0], _RATES["mixture"])
    return ev.Claim(id, statement, where, reported, setting, needs, verb, scope=scope, rates=rates,
                    draws=5, **more)  # fmt: skip


def trained(verb: Verb, accuracy: str = "test_accuracy") -> Verb:
    """A verb on networks that have learnt, and whose training is over."""
    return ev.converged(verb.given(ev.learnt(accuracy)))


def part_of(verb: Verb, sweep: str, **where: Any) -> Verb:
    """A verb on a part of one sweep."""

    def judge(data: Datasets) -> Finding:
        return verb.judge({sweep: data[sweep].sel(where, drop=True)})

    return Verb(verb.text, judge)
