"""The explorer's presets: a soft committee machine, and the search for a direction."""

from collections.abc import Mapping
from typing import Any

from learnscope.evidence import Preset
from learnscope.papers.online.experiments import RATE, committee
from learnscope.probes import GeneralisationError, Overlaps
from learnscope.rules import GradientDescent, SphericalDescent

DIM, BATCH = 1000, 20
_SCALING = {"rule.rate": -1.0, "net.scale": -0.5}  # eta and the norm of filters stay


def presets() -> tuple[Preset, ...]:
    machine = committee(dim=DIM, batch=BATCH, steps=5000)
    per_step = 0.25 * BATCH / DIM
    search = committee(1, dim=DIM, batch=BATCH, steps=1000, link="he2", teacher=1)
    search = search.replace("net.scale", DIM**-0.5).replace("probes", (Overlaps(),))
    committee_preset = Preset(
        "online",
        "A soft committee machine learns from another",
        machine,
        rules=(SphericalDescent(rate=RATE * BATCH / DIM, loss="squared"),),
        probes=(Overlaps(), GeneralisationError()),
        about="A student learns from a teacher, one fresh batch at a time. First its hidden units "
              "are all alike: a plateau. Then each of them finds a unit of the teacher.",
        sketch=(("input $x \\sim N(0, I)$", "noise"), ("teacher", "teacher")),
        tour=(
            ("After 100 examples per dimension the student has specialised.", ""),
            ("Break it: after 20, it is on the plateau.",
             "steps=1000"),
            ("A slower rate keeps it on the plateau for all 100.",
             "rule.rate=0.006"),
        ),
        outcome=_specialised,
        scaling=_SCALING,
    )  # fmt: skip
    search_preset = Preset(
        "search",
        "How long a filter looks for a direction",
        search.replace("rule", SphericalDescent(rate=per_step, loss="correlation")),
        rules=(GradientDescent(rate=per_step, loss="squared"),),
        probes=(Overlaps(), GeneralisationError()),
        about="A filter on a sphere looks for the one direction that labels depend on. It takes "
              "$d$, $d \\log d$ or $d^{k-1}$ examples: the information exponent $k$ decides.",
        sketch=(("input $x \\sim N(0, I)$", "noise"), ("direction", "sphere")),
        tour=(
            ("With the exponent 2, the filter finds the direction in 1,000 dimensions.", ""),
            ("Break it: in 100,000 dimensions it needs more than a hundred times the examples.",
             "data.dim=100000&net.scale=0.0031623&rule.rate=0.00005"),
            ("Mend it: a hundred times as many examples per step, at the first rate.",
             "data.dim=100000&net.scale=0.0031623&data.batch=2000"),
        ),
        outcome=_found,
        expected=_expected,
        scaling=_SCALING,
        sizes=("teacher_overlap",),
    )  # fmt: skip
    return committee_preset, search_preset


def _specialised(experiment: Any, last: Mapping[str, Any]) -> str:
    return f"the student {'has specialised' if last['specialisation'] > 0.5 else 'is on a plateau'}"


def _found(experiment: Any, last: Mapping[str, Any]) -> str:
    return f"the direction is {'found' if last['alignment'] > 0.5 else 'not found'}"


def _expected(experiment: Any, predicted: Mapping[str, Any]) -> tuple[str, str]:
    steps = predicted["search_steps"]
    found = "found" if experiment.steps >= steps else "not found"
    why = f"the search takes about {steps:.2g} steps, with constant 1"
    return f"the direction is {found}", why
