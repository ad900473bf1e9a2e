"""Experiments: what they accept, and that text says all of it."""

import json
import math
import re

import numpy as np
import optax
import pytest

import learnscope as ls
from tests.small import refused, signals

DATA = signals(dim=50, noise=0.5)
NET = ls.nets.PatchCNN(width=2)
RULE = ls.rules.GradientDescent(rate=0.1)


def experiment(**changes) -> ls.Experiment:
    return ls.Experiment(**({"data": DATA, "net": NET, "rule": RULE, "steps": 5} | changes))


FULL = experiment(
    data=signals(dim=10**9, signal=1e-7, noise=0.1, flip=0.25, orthogonal=False, batch=2),
    net=ls.nets.PatchCNN(width=3, activation="huberised", second_layer="sum", threshold=0.1),
    rule=ls.rules.PerExamplePenalty(
        rate=0.02, weight=0.01, until=800, half=False, options={"momentum": 0.9, "nesterov": True}
    ),
    probes=[ls.probes.Loss(), ls.probes.Decomposition()],
    record=ls.Record(every=3),
)
FOREVER = experiment(rule=ls.rules.FullPenalty(rate=0.1, weight=0.2))


def test_probes_default_to_the_loss_are_a_tuple_and_record_a_variable_once():
    assert experiment().probes == (ls.probes.Loss(),)
    assert experiment(probes=[ls.probes.TestLoss()]).probes == (ls.probes.TestLoss(),)
    assert experiment().record.every == 1
    twice = [ls.probes.Loss(), ls.probes.TestLoss(), ls.probes.Loss()]
    words = r"Experiment\.probes record loss more than once"
    refused(lambda: experiment(probes=twice), match=words)


@pytest.mark.parametrize(
    ("slot", "value"),
    [
        ("data", NET), ("net", 3), ("rule", "GradientDescent"), ("rule", None), ("probes", [3]),
        ("probes", [RULE]), ("probes", 3), ("probes", None), ("probes", ls.probes.Loss()),
        ("probes", "Loss"), ("record", 5), ("steps", 0), ("steps", 1.5), ("steps", None),
    ],
)  # fmt: skip
def test_a_slot_takes_its_kind_of_part_only(slot, value):
    refused(lambda: experiment(**{slot: value}), match=rf"Experiment\.{slot} = .* is not allowed")


@pytest.mark.parametrize("original", [experiment(), FULL, FOREVER], ids=["plain", "full", "inf"])
@pytest.mark.parametrize("form", ["toml", "json", "dict"])
def test_round_trip(original, form):
    text = getattr(original, f"to_{form}")()
    again = getattr(ls.Experiment, f"from_{form}")(text)
    assert again == original
    assert getattr(again, f"to_{form}")() == text


def test_numbers_keep_every_digit_and_infinity():
    for value in (0.1, 1 / 3, 1e-300, 2.5e17, np.nextafter(1, 2)):
        changed = experiment().replace("data.noise", value)
        assert ls.Experiment.from_toml(changed.to_toml()).data.noise == value
        assert ls.Experiment.from_json(changed.to_json()).data.noise == value
    assert FOREVER.rule.until == math.inf
    assert "until = inf" in FOREVER.to_toml()
    assert json.loads(FOREVER.to_json(), parse_constant=pytest.fail)["rule"]["until"] == "inf"


def test_infinite_options_come_back_as_numbers():
    options = {"eps": math.inf, "b1": -math.inf}
    setting = experiment(rule=ls.rules.GradientDescent(0.1, optimiser="adam", options=options))
    text = setting.to_json()
    json.loads(text, parse_constant=pytest.fail)
    assert ls.Experiment.from_json(text) == setting
    assert ls.Experiment.from_json(text).rule.options == options


def test_defaults_need_not_be_written():
    text = """
    steps = 5
    data = {kind = "SignalNoise", dim = 50, train = 6, test = 10, signal = 1, noise = 0.5}
    net = {kind = "PatchCNN", width = 2}
    rule = {kind = "GradientDescent", rate = 0.1}
    """
    assert ls.Experiment.from_toml(text) == experiment()


def test_code_cannot_be_stored():
    rule = experiment(rule=ls.rules.GradientDescent(rate=0.1, optimiser=optax.sgd))
    refused(rule.to_toml, match=r"GradientDescent\.optimiser = .* cannot be stored")
    net = experiment(net=ls.nets.Model(lambda key: None))
    refused(net.to_json, match=r"Model\.build = .* cannot be stored")


@pytest.mark.parametrize(
    ("form", "texts", "words"),
    [
        ("toml", ["steps = [", "steps", "steps = 1\nsteps = 2", "= 3"], "not a valid TOML text: "),
        ("json", ["", "{", '{"steps": }', "{'steps': 1}"], "not a valid JSON text: "),
        ("json", ["3", "null", '"experiment"', "[1]", "true"], ".*table"),
    ],
)
def test_malformed_text(form, texts, words):
    for text in texts:
        refused(lambda text=text: getattr(ls.Experiment, f"from_{form}")(text), match=words)


TOML = experiment().to_toml()
WRONG = [
    ("steps = 5", "stpes = 5", "unknown field of Experiment 'stpes'; did you mean 'steps'?"),
    ("steps = 5", "", "Experiment lacks steps."),
    ('"SignalNoise"', '"SignalNois"', "unknown data kind 'SignalNois'; did you mean 'Signal"),
    ('"SignalNoise"', '"PatchCNN"', "unknown data kind 'PatchCNN'. Allowed: "),
    ('kind = "SignalNoise"\n', "", "data has no kind; it must be one of "),
    ('"SignalNoise"', '["SignalNoise"]', "unknown data kind "),
    ('"SignalNoise"', "3", "unknown data kind '3'"),
    ("noise = 0.5", "niose = 0.5", "unknown field of SignalNoise 'niose'; did you mean 'noise'"),
    ("noise = 0.5\n", "", "SignalNoise lacks noise."),
    ("noise = 0.5", 'noise = "loud"', "SignalNoise.noise = 'loud' is not allowed: "),
    ('"sgd"', '"sdg"', "GradientDescent.optimiser = 'sdg' is not allowed: "),
    ("every = 1", "evry = 1", "unknown field of Record 'evry'; did you mean 'every'?"),
    ("every = 1", "every = 0", "Record.every = 0 is not allowed: "),
    ('kind = "Loss"', 'kind = "Lost"', "unknown probes kind 'Lost'; did you mean 'Loss'?"),
    ('kind = "Loss"', 'name = "Loss"', "probes has no kind; it must be one of "),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_wrong_text_is_told_in_one_sentence(old, new, message):
    assert old in TOML
    assert refused(lambda: ls.Experiment.from_toml(TOML.replace(old, new))).startswith(message)


@pytest.mark.parametrize(
    ("slot", "value", "message"),
    [
        ("data", 3, "data = 3 is not allowed: it must be a table with a kind."),
        ("rule", "GradientDescent", "rule = 'GradientDescent' is not allowed: it must be a table"),
        ("probes", "Loss", "probes must be a list of tables"),
        ("probes", ["Loss"], "probes = 'Loss' is not allowed: it must be a table with a kind."),
        ("record", 3, "record = 3 is not allowed: it must be a table"),
    ],
)
def test_slots_of_text_are_tables(slot, value, message):
    table = experiment().to_dict() | {slot: value}
    assert refused(lambda: ls.Experiment.from_dict(table)).startswith(message)


def test_citation_names_the_papers_behind_the_parts():
    plain, penalised = experiment().citation(), FULL.citation()
    assert "@inproceedings{cao2022benign" in plain
    assert "smith2021origin" not in plain
    assert "smith2021origin" in penalised
    assert "barrett2021implicit" in FOREVER.citation()
    for text in (plain, penalised):
        assert text.count("{meng2023pegr") == 1
        assert text.count("{") == text.count("}")
        entries = re.findall(r"^@\w+\{(\w+),", text, flags=re.MULTILINE)
        assert entries == sorted(set(entries))
