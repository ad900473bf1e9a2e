"""Names of sweeps: whatever changes a result changes the name, a user's own code included."""

import functools
import importlib.util
import inspect
import re
import sys
import textwrap
from types import SimpleNamespace

import numpy as np
import optax
import pytest
import xarray as xr

import learnscope as ls
from learnscope.lab.blocks import Plan
from learnscope.lab.store.identity import _laboratory, identity
from learnscope.part import canonical, code
from tests.small import (
    DESCENT,
    NOISE,
    PENALTY,
    experiment,
    refused,
    reported,
    run,
    said_by,
    trusted,
)

MOMENTUM = experiment(ls.rules.GradientDescent(rate=0.3, options={"momentum": 0.9}))


def name_of(setting, over=None, seeds=2, coordinates="auto", precision="float32"):
    return identity(Plan.of(setting, over, seeds, coordinates, precision))


def test_whatever_changes_a_result_changes_the_name():
    setting = experiment()
    name = functools.partial(name_of, over=NOISE)
    first = name(setting)
    # Other values and seeds are of the same family.
    values = ([0.1, 0.2], [0.1, 0.2, 0.5], [0.2, 0.1, 0.4])
    relatives = [name_of(setting, {"data.noise": noise}) for noise in values]
    relatives += [name(setting, seeds=seeds) for seeds in (3, [1, 0])]
    changes = {"rule.rate": 0.31, "data.train": 7, "steps": 11, "record.every": 2, "rule": PENALTY}
    changes |= {"rule.options": {"momentum": 0.9}, "probes": [ls.probes.Loss()]}
    others = [
        *(name(setting.replace(path, value)) for path, value in changes.items()),
        name(setting, coordinates="ambient"),
        name(setting, precision="float64"),
        name_of(setting, {"net.scale": [0.1, 0.2, 0.4]}),
        name_of(setting, ls.zipped({**NOISE, "net.scale": [0.1, 0.2, 0.4]})),
        name_of(setting),
    ]
    family = first.partition("-")[0]
    assert {other.partition("-")[0] for other in relatives} == {family}
    assert family not in {other.partition("-")[0] for other in others}
    assert len({first, *relatives, *others}) == 1 + len(relatives) + len(others)
    # What is swept over does not count where it stood before.
    assert name(setting.replace("data.noise", 0.9)) == first


def test_a_whole_number_is_the_number_and_names_are_the_same_in_every_process(tmp_path):
    for field in ("data.noise", "data.dim", "rule.options.momentum"):
        setting = experiment().replace("rule.options", {"momentum": 0.5})
        assert name_of(setting, {field: [100, 101]}) == name_of(setting, {field: [100.0, 101.0]})
    run(experiment(), {"data.noise": [1, 2]}, store=tmp_path)
    floats, report = reported(experiment(), {"data.noise": [1.0, 2.0]}, store=tmp_path)
    assert report.computed == 0
    xr.testing.assert_equal(floats.load(), run(experiment(), {"data.noise": [1.0, 2.0]}))
    (name,) = said_by(__file__)
    assert name == name_of(MOMENTUM, {"rule": [DESCENT, PENALTY]})


RULE = """
    import learnscope as ls
    from learnscope.space import Space
    from learnscope.part import number
    from learnscope.rules import optimiser as opt
    from tests.small import AbstractOwnRule


    def examples(problem, key):
        return problem.batch(key)


    class _Own(AbstractOwnRule):
        def gradient(self, state, problem, key):
            return state.gradient(examples(problem, key))


    class _Data(ls.data.AbstractData):
        dim: int = number(100, whole=True, shape=True)
        space = Space(7)

        def sample(self, key, frame=None):
            model = ls.data.SignalNoise(dim=100, train=6, test=10, signal=1.0, noise=0.3)
            return model.sample(key, frame)

        def example(self, key, problem):
            raise NotImplementedError


    optimiser = lambda rate: opt.build("sgd", rate, {})
"""


@pytest.fixture
def own(tmp_path):
    """Import a module of a user's, as it is now and after an edit of its text."""
    folder = tmp_path / "own"
    folder.mkdir()
    texts = [textwrap.dedent(RULE)]

    def imported(old="", new=""):
        texts.append(texts[-1].replace(old, new) if old else texts[-1])
        path = folder / f"own{len(texts)}.py"
        path.write_text(texts[-1])
        spec = importlib.util.spec_from_file_location("own_rule", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["own_rule"] = module
        spec.loader.exec_module(module)
        return module

    yield imported
    sys.modules.pop("own_rule", None)


untried = functools.partial(name_of, coordinates="ambient")  # compression of own parts is


def test_own_code_and_its_helpers_are_part_of_the_name(own):
    by = lambda function: ls.rules.GradientDescent(rate=0.3, optimiser=function)  # noqa: E731
    for setting, *edit in (
        (lambda own: experiment(own._Own(rate=0.3)), "key))", "key)).replace(bias=None)"),
        (lambda own: experiment(own._Own(rate=0.3)), "problem.batch(key)", "problem.train"),
        (lambda own: experiment(data=own._Data()), "signal=1.0", "signal=2.0"),
        (lambda own: experiment(by(own.optimiser)), '"sgd", rate', '"sgd", 2 * rate'),
    ):
        name = untried(setting(own()))
        assert untried(setting(own())) == name, edit
        assert untried(setting(own(*edit))) != name, edit

    # On an axis too, where the family is the same.
    def swept(*edit):
        return untried(experiment(), {"rule": [DESCENT, own(*edit)._Own(rate=0.3)]})

    name = swept()
    assert swept() == name
    assert swept("return problem.train", "return problem.test") != name


def test_a_changed_rule_is_run_anew(own, tmp_path):
    def ran(*edit):
        setting = experiment(own(*edit)._Own(rate=0.3))
        return reported(setting, store=tmp_path / "results", coordinates="ambient")

    first, _ = ran()
    assert ran()[1].computed == 0
    second, report = ran("examples(problem, key))", "problem.train)")
    assert report.computed == 1
    xr.testing.assert_equal(first.load(), second.load())


def test_a_global_that_own_code_reads_is_part_of_it(own, tmp_path):
    """A script may change it between two runs: in one process, and where runs are stored."""
    module = own("return problem.batch(key)", "return problem.train.take(np.array(KEPT))")
    module.np, module.KEPT, module.unread = np, [0, 1], 1.0
    setting = experiment(module._Own(rate=0.3))
    name, first = untried(setting), run(setting, coordinates="ambient", store=tmp_path)
    module.unread = 2.0
    assert untried(setting) == name
    module.KEPT = [2, 3, 4]
    assert untried(setting) != name
    for store in (None, tmp_path):
        second, report = reported(setting, coordinates="ambient", store=store)
        assert report.computed == 1 and float((second.loss - first.loss).max()) != 0


# learnscope's own code.


@pytest.fixture
def edited(monkeypatch):
    """Read a module of learnscope as if its text were another; the file stays as it is."""
    parsed = code._parsed

    def clear():
        canonical._code_of.cache_clear()
        _laboratory.cache_clear()

    def edit(module, old, new):
        file = code.own_file(module)
        text = file.read_text(encoding="utf-8")
        assert old in text
        copy = SimpleNamespace(read_bytes=lambda: text.replace(old, new).encode())
        other = parsed.__wrapped__(copy, 0)
        clear()
        read = lambda path, at: other if path == file else parsed(path, at)  # noqa: E731
        monkeypatch.setattr(code, "_parsed", read)

    yield edit
    clear()


@pytest.mark.parametrize(
    ("module", "old", "new", "changed"),
    [
        ("rules.gradient_descent", "Gradient descent on", "Other words on", False),
        ("rules.gradient_descent", "\nclass ", "\n# Another comment.\nclass ", False),
        ("rules.gradient_descent", "problem.batch(key)", "problem.train", True),
        ("rules.losses", "jax.nn", "jax.numpy", True),  # a module that the rule imports
        ("engine.train", "t + 1", "t + 2", True),
        ("rules.contrastive", "\nimport", "\nimport this\nimport", False),  # another rule
        ("images.formats.idx", "\nimport", "\nimport this\nimport", False),
        ("lab.run", "\nimport", "\nimport this\nimport", False),
    ],
)
def test_code_that_decides_numbers_is_part_of_the_name(edited, module, old, new, changed):
    before = name_of(experiment())
    edited(f"learnscope.{module}", old, new)
    assert (name_of(experiment()) != before) == changed


def test_contents_of_data_files_are_part_of_the_name(monkeypatch):
    def name(pixel):
        monkeypatch.setattr(ls.data.SignalNoise, "contents", lambda self: [np.full(3, pixel)])
        return name_of(experiment())

    assert len({name_of(experiment()), name(1), name(2)}) == 3
    assert name(1) == name(1)


def test_functions_that_differ_in_what_they_hold_differ():
    def by(momentum):
        return lambda rate: optax.sgd(rate, momentum=momentum)

    def with_default(value):
        def factory(rate, momentum=value):
            return optax.sgd(rate, momentum=momentum)

        return factory

    def with_partial(momentum):
        return functools.partial(optax.sgd, momentum=momentum)

    for make in (by, with_default, with_partial):
        rules = [ls.rules.GradientDescent(rate=0.3, optimiser=make(value)) for value in (0.1, 0.9)]
        assert len({name_of(experiment(rule)) for rule in rules}) == 2, make.__name__


def test_code_that_cannot_be_read_is_refused(tmp_path):
    unread = eval("lambda rate: optax.sgd(rate)")
    setting = experiment(ls.rules.GradientDescent(rate=0.3, optimiser=unread))
    words = "GradientDescent.optimiser = .*its source cannot be"
    refused(lambda: run(setting, store=tmp_path), match=f".*{words}")
    assert not any(tmp_path.iterdir())
    assert run(setting).loss.notnull().all()


def test_the_commit_is_what_git_says_or_none(monkeypatch):
    found = code.commit()
    assert found is None or re.fullmatch("[0-9a-f]{7,}", found)
    monkeypatch.setenv("PATH", "")
    assert inspect.unwrap(code.commit)() is None


if __name__ == "__main__":
    trusted()
    print(name_of(MOMENTUM, {"rule": [DESCENT, PENALTY]}))
