"""The explorer's presets: parities of patterns, and of Gaussian clusters."""

from collections.abc import Mapping
from typing import Any

from learnscope.data import GaussianParity
from learnscope.evidence import PLAIN, Preset
from learnscope.lab import Experiment
from learnscope.nets import TwoLayer
from learnscope.papers.input_structure.experiments import NETWORK, parity
from learnscope.probes import Alignment, CentreCosines, PatternComponents
from learnscope.rules import GradientDescent, Linearised, RandomFeatures


def presets() -> tuple[Preset, ...]:
    return _patterns(), _clusters()


def _patterns() -> Preset:
    setting = parity(train=2000, test=500, batch=200, width=100, steps=200)
    rules = setting.rules()
    network = rules.pop(NETWORK)
    return Preset(
        "input_structure",
        "Features that emerge from the structure of inputs",
        setting.experiment(network, PLAIN, 1),
        rules=(*rules.values(), GradientDescent(rate=setting.rates.network)),
        probes=(PatternComponents(), *PLAIN, Alignment()),
        about="An input is a sum of patterns; its label is the parity of a few relevant ones. The "
              "first gradient steps find these because inputs contain them; fixed features cannot.",
        sketch=(("patterns $M\\phi$", "patterns"),),
        tour=(
            ("The network finds the relevant patterns.", ""),
            ("Break it: the same labels, but inputs without structure.", "data.structure=none"),
            ("Structured inputs again: random features do not find them.", "rule=RandomFeatures"),
        ),
        outcome=_outcome,
        panels={
            "components of the weights": ("relevant_component", "background_component"),
            "cosine to the truth": ("cosine_max", "cosine_mean", "cosine_median"),
        },
    )  # fmt: skip


def _clusters() -> Preset:
    chosen = Experiment(
        data=GaussianParity(dim=100, factors=2, train=400, test=500, noise=1.0, batch=100),
        net=TwoLayer(width=40, activation="relu", scale=0.005, second_scale=0.03, symmetric=False),
        rule=GradientDescent(rate=0.05, options={"momentum": 0.9}),
        steps=400,
    )
    return Preset(
        "clusters",
        "Clusters whose labels are a parity",
        chosen,
        rules=(RandomFeatures(rate=0.05), Linearised(rate=0.05)),
        probes=(*PLAIN, CentreCosines()),
        about="Gaussian clusters at the corners of a cube, labelled by parity. A trained network "
              "turns its neurons towards the centres; fixed features stay where they are.",
        sketch=(("centres and noise", "clouds"),),
        tour=(
            ("A trained network separates the clusters.", ""),
            ("Break it: random features, with a trained second layer only.", "rule=RandomFeatures"),
            ("Mend it by width: 500 random features.", "rule=RandomFeatures&net.width=500"),
        ),
        outcome=_learnt,
    )  # fmt: skip


def _outcome(experiment: Any, last: Mapping[str, Any]) -> str:
    relevant, other = (abs(last[f"{name}_component"]).max() for name in ("relevant", "background"))
    return f"relevant patterns are {'found' if relevant > other else 'not found'}"


def _learnt(experiment: Any, last: Mapping[str, Any]) -> str:
    return f"the parity is {'learnt' if last['test_accuracy'] > 0.9 else 'not learnt'}"
