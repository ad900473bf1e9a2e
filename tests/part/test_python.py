"""Experiments as Python: what is written makes the same experiment again."""

from typing import ClassVar

import pytest

import learnscope as ls
from learnscope.part.python import source
from tests.conformance.examples import examples_of, experiment_with
from tests.small import refused

EXAMPLES = [
    (slot, name, part)
    for slot in ("data", "net", "rule", "probes")
    for _, name, part in examples_of(slot)
]


@pytest.mark.parametrize(("slot", "name", "part"), EXAMPLES, ids=lambda v: str(v)[:30])
def test_what_is_written_makes_the_same(slot, name, part):
    experiment = experiment_with(slot, part)
    if name == "Model" or callable(getattr(part, "link", None)):
        refused(lambda: experiment.to_python(), "cannot be written as Python: it is code")
        return
    home = type(part).__module__
    if ".papers." in home and not hasattr(getattr(ls, slot.removesuffix("s") + "s", ls.data), name):
        refused(lambda: experiment.to_python(), f"it is only in {home}")  # no room exports it
        return
    text = experiment.to_python()
    assert eval(text, {"ls": ls, "float": float, "__builtins__": {}}) == experiment
    assert max(map(len, text.splitlines())) <= 100 or "[" in text


def test_defaults_are_left_out_infinity_is_kept_and_a_part_of_ones_own_refused():
    assert "half" not in source(ls.rules.PerExamplePenalty(rate=0.1, weight=0.5))
    assert eval(source(float("inf"))) == float("inf")

    class _Own(ls.probes.AbstractProbe):
        outputs: ClassVar = {}

        def __call__(self, state, problem):
            return {}

    refused(lambda: source(_Own()), "_Own cannot be written as Python")
