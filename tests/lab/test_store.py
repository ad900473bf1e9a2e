"""Stored sweeps: the same as in memory, found again, extended, lazy; damage is told, not mended."""

import functools
import hashlib
import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import jax.numpy as jnp
import optax
import pytest
import xarray as xr
import zarr

import learnscope as ls
from learnscope.lab import engine
from learnscope.lab.filling import InStore
from learnscope.lab.identity import identity
from learnscope.lab.plan import Plan
from learnscope.lab.run import run_and_report
from learnscope.lab.store import Folder
from learnscope.probes import AbstractProbe, Output

RUNNING = importlib.import_module("learnscope.lab.run")  # lab.run is the function
HERE = Path(ls.__file__).parents[1]
DESCENT = ls.rules.GradientDescent(rate=0.3)
PENALTY = ls.rules.PerExamplePenalty(rate=0.3, weight=0.05)
NOISE = {"data.noise": [0.1, 0.2, 0.4]}


class _Filters(AbstractProbe):
    outputs = {"length": Output("length of a filter", dims=("filter",))}  # noqa: RUF012

    def __call__(self, state, problem):
        return jnp.linalg.norm(state.params["filters"], axis=1)


def experiment(rule=DESCENT, steps=10, every=5, probes=None, data=None, net=None):
    setting = {"dim": 100, "train": 6, "test": 10, "signal": 1.0, "noise": 0.3}
    return ls.Experiment(
        data=ls.data.SignalNoise(**setting | (data or {})),
        net=ls.nets.PatchCNN(**{"width": 3, "scale": 0.05} | (net or {})),
        rule=rule,
        steps=steps,
        probes=[ls.probes.Loss(), ls.probes.SignalLearning()] if probes is None else probes,
        record=ls.Record(every=every),
    )


def run(*given, **more):
    return ls.run(*given, progress=False, **more)


def reported(*given, **more):
    return run_and_report(*given, progress=False, **more)


MOMENTUM = experiment(ls.rules.GradientDescent(rate=0.3, options={"momentum": 0.9}))


def name_of(setting, over=None, seeds=2, coordinates="auto", precision="float32"):
    return identity(Plan.of(setting, over, seeds, coordinates, precision))


def tree(folder):
    """Every file below a folder, by its bytes."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def stamps(folder):
    """Everything below a folder, by what changes when it is written."""
    facts = {str(file): file.stat() for file in sorted(folder.rglob("*"))}
    return {name: (fact.st_ino, fact.st_mtime_ns, fact.st_size) for name, fact in facts.items()}


def assert_same(left, right):
    """Identical, dtypes included, which xarray does not compare."""
    xr.testing.assert_identical(left, right)
    for name in right.variables:
        assert left[name].dtype.kind == right[name].dtype.kind, name
    for name in right:
        assert left[name].dtype == right[name].dtype, name


@pytest.fixture
def small_boxes(monkeypatch):
    """Boxes of three runs at most, so that a small sweep has several."""
    monkeypatch.setattr(engine, "_BLOCK_RUNS", 3)


@pytest.fixture(scope="module")
def three_boxes(tmp_path_factory):
    """A finished sweep of three boxes, one a noise: its folder and its name."""
    folder = tmp_path_factory.mktemp("three-boxes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_BLOCK_RUNS", 3)
        _, report = reported(experiment(), NOISE, seeds=3, store=folder)
    return folder, report.store


@pytest.fixture
def boxes(three_boxes, small_boxes, tmp_path):
    """A copy of it, to be damaged."""
    folder, name = three_boxes
    shutil.copytree(folder, tmp_path / "results")
    return tmp_path / "results", name


# What is stored is what was computed.

PARTS = {"rule": [DESCENT, PENALTY], "data.noise": [0.1, 0.4]}
SAME_KIND = {"rule": [DESCENT, ls.rules.GradientDescent(rate=0.1)]}
DIVERGING = {"rule.rate": [0.1, 1e30], "data.noise": [1, 2]}
PAIRS = [ls.zipped({"data.noise": [0.1, 0.4], "net.scale": [0.02, 0.2]}), {"rule.rate": [0.1, 0.2]}]
SHAPES = ls.zipped({"net.width": [2, 3], "steps": [10, 5]}, name="shape")
NAMES = ls.zipped(
    {"data.batch": [None, 2], "net.activation": ["relu2", "relu"], "data.orthogonal": [True, False]}
)


@pytest.mark.parametrize(
    ("setting", "over", "how"),
    [
        (experiment(), None, {"seeds": [7, 3]}),
        (experiment(), DIVERGING, {"seeds": 3}),
        (experiment(), PAIRS, {"precision": "float64"}),
        (experiment(), PARTS, {}),
        (experiment(), SAME_KIND, {}),
        (experiment(probes=[ls.probes.Loss(), _Filters()]), SHAPES, {}),
        (experiment(), NAMES, {"coordinates": "ambient"}),
    ],
    ids=["seeds", "numbers", "float64", "parts", "kinds", "shapes", "names"],
)
def test_a_stored_sweep_is_the_one_in_memory(tmp_path, setting, over, how):
    expected = run(setting, over, **how)
    stored, report = reported(setting, over, store=tmp_path, **how)
    assert_same(stored, expected)
    assert_same(ls.load(report.store, tmp_path), expected)
    assert report.trainings == report.computed == expected.diverged_at.size


def test_whole_parts_are_labelled_by_texts(tmp_path):
    stored = run(experiment(), PARTS, store=tmp_path)
    assert stored.rule.values.tolist() == ["GradientDescent", "PerExamplePenalty"]
    assert stored.sel(rule="PerExamplePenalty").loss.notnull().all()
    assert stored.noise.attrs == {"field": "data.noise"}


def test_xarray_opens_a_stored_sweep_by_itself(tmp_path):
    # Warnings are errors here: of texts, of metadata that is not consolidated, of time units.
    stored, report = reported(experiment(), PARTS, store=tmp_path)
    opened = xr.open_zarr(tmp_path / report.store)
    assert set(opened) == {*stored, "seconds"}
    assert opened.seconds.notnull().all()
    xr.testing.assert_equal(opened[list(stored)].load(), stored)
    assert opened.attrs["manifest"]["id"] == report.store


# A finished sweep is found again.


def test_a_finished_sweep_is_not_run_again(tmp_path, monkeypatch):
    first, report = reported(experiment(), NOISE, seeds=2, store=tmp_path)
    assert (report.trainings, report.computed, report.reused) == (6, 6, 0)
    before = stamps(tmp_path)

    def refuse(*_):
        raise AssertionError("nothing is to be computed")

    monkeypatch.setattr(RUNNING, "work", refuse)
    again, report = reported(experiment(), NOISE, seeds=2, store=tmp_path)
    assert (report.trainings, report.computed, report.reused) == (6, 0, 6)
    assert_same(again, first)
    assert stamps(tmp_path) == before


def test_whatever_changes_a_result_changes_the_name():
    setting = experiment()
    name = functools.partial(name_of, over=NOISE)
    first = name(setting)
    # Other values and seeds are of the same family.
    relatives = [
        name(setting, seeds=3),
        name(setting, seeds=[1, 0]),
        name_of(setting, {"data.noise": [0.1, 0.2]}),
        name_of(setting, {"data.noise": [0.1, 0.2, 0.5]}),
        name_of(setting, {"data.noise": [0.2, 0.1, 0.4]}),
    ]
    others = [
        name(setting.replace("rule.rate", 0.31)),
        name(setting.replace("data.train", 7)),
        name(setting.replace("steps", 11)),
        name(setting.replace("record.every", 2)),
        name(setting.replace("rule", PENALTY)),
        name(setting.replace("rule.options", {"momentum": 0.9})),
        name(setting.replace("probes", [ls.probes.Loss()])),
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


def test_a_whole_number_is_the_number(tmp_path):
    for field in ("data.noise", "data.dim", "rule.options.momentum"):
        setting = experiment().replace("rule.options", {"momentum": 0.5})
        assert name_of(setting, {field: [100, 101]}) == name_of(setting, {field: [100.0, 101.0]})
    run(experiment(), {"data.noise": [1, 2]}, store=tmp_path)
    floats, report = reported(experiment(), {"data.noise": [1.0, 2.0]}, store=tmp_path)
    assert report.computed == 0
    xr.testing.assert_equal(floats.load(), run(experiment(), {"data.noise": [1.0, 2.0]}))


# More seeds and values.


@pytest.mark.parametrize(
    ("over", "seeds", "new"),
    [
        (NOISE, 5, 3 * 2),
        (NOISE, [2, 7, 0], 3 * 1),
        ({"data.noise": [0.1, 0.15, 0.2, 0.3, 0.4]}, 3, 2 * 3),
        ({"data.noise": [0.5, 0.4, 0.1]}, 4, 4 + 1 + 1),
        ({"data.noise": [0.4, 0.1]}, [2, 0], 0),
        ({"data.noise": [0.25]}, 2, 2),
    ],
    ids=["seeds", "other seeds", "between", "both", "fewer", "none shared"],
)
def test_only_new_runs_are_computed(boxes, over, seeds, new):
    folder, name = boxes
    before = tree(folder / name)
    stored, report = reported(experiment(), over, seeds=seeds, store=folder)
    assert (report.computed, report.reused) == (new, report.trainings - new)
    assert_same(stored, run(experiment(), over, seeds=seeds))
    assert tree(folder / name) == before


def test_only_new_rules_are_computed(tmp_path):
    over = {"rule": [DESCENT, PENALTY], "data.noise": [0.1, 0.4]}
    run(experiment(), over, seeds=2, store=tmp_path)
    momentum = ls.rules.GradientDescent(rate=0.3, options={"momentum": 0.9})
    over = {"rule": [PENALTY, momentum], "data.noise": [0.4, 0.2, 0.1]}
    stored, report = reported(experiment(), over, seeds=2, store=tmp_path)
    assert report.computed == 2 + 3 * 2
    assert_same(stored, run(experiment(), over, seeds=2))


def test_several_relatives_are_put_together(tmp_path):
    for noise in ([0.1, 0.2], [0.2, 0.4]):
        run(experiment(), {"data.noise": noise}, seeds=2, store=tmp_path)
    stored, report = reported(experiment(), NOISE, seeds=2, store=tmp_path)
    assert (report.computed, report.reused) == (0, 6)
    assert_same(stored, run(experiment(), NOISE, seeds=2))


def test_an_unfinished_relative_gives_what_it_has(boxes):
    folder, name = boxes
    (folder / name / "seconds" / "c" / "1" / "0").unlink()
    stored, report = reported(experiment(), NOISE, seeds=4, store=folder)
    assert report.computed == 3 + 3
    assert_same(stored, run(experiment(), NOISE, seeds=4))


@pytest.mark.parametrize("how", ["cut", "changed", "no seeds"])
def test_a_damaged_relative_gives_nothing(boxes, how):
    folder, name = boxes
    if how == "no seeds":
        (folder / name / "seed" / "c" / "0").unlink()
    else:
        for chunk in chunks(folder / name, "loss"):
            cut(chunk) if how == "cut" else change(chunk)
    stored, report = reported(experiment(), NOISE, seeds=4, store=folder)
    assert report.computed == 12
    assert_same(stored, run(experiment(), NOISE, seeds=4))


# Loading.


def test_a_sweep_is_loaded_by_name_start_and_path(tmp_path, monkeypatch):
    stored, report = reported(experiment(), NOISE, seeds=2, store=tmp_path / "results")
    name = report.store
    for given in (name, name[:3], name[:12]):
        assert_same(ls.load(given, tmp_path / "results"), stored)
    path = tmp_path / "results" / name
    for given in (path, str(path), f"{path}/"):
        assert_same(ls.load(given), stored)
    monkeypatch.chdir(tmp_path / "results")
    assert_same(ls.load(name, "nowhere"), stored)
    monkeypatch.chdir(tmp_path)
    assert_same(ls.load(f"results/{name}"), stored)
    shutil.move("results", "learnscope-results")
    assert_same(ls.load(name), stored)


def test_an_unclear_name_is_refused(tmp_path):
    for noise in (0.1, 0.2):
        run(experiment(), {"data.noise": [noise]}, store=tmp_path)
    first, second = Folder(tmp_path).ids()
    family = first.partition("-")[0]
    with pytest.raises(ls.BadInput, match=f"'{family}' is the start of several.*{first}, {second}"):
        ls.load(family, tmp_path)
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ls.BadInput, match=rf"no sweep 'xyz' in {folder}"):
            ls.load("xyz", folder)
    with pytest.raises(ls.BadInput, match=f"{tmp_path / 'xyz'} is not a sweep"):
        ls.load(tmp_path / "xyz")


def test_a_value_is_read_when_it_is_asked_for(boxes):
    folder, name = boxes
    expected = ls.load(name, folder).load()
    wrong = [*chunks(folder / name, "diverged_at"), *chunks(folder / name, "loss")[1:]]
    for chunk in wrong:
        change(chunk)
    # Neither opening nor a cell reads another chunk than the cell's own.
    loaded = ls.load(name, folder)
    xr.testing.assert_identical(loaded.loss.isel(noise=0).load(), expected.loss.isel(noise=0))
    again, report = reported(experiment(), NOISE, seeds=3, store=folder)
    assert report.computed == 0
    for data in (loaded, again):
        with pytest.raises(ValueError, match="checksum"):
            data.loss.isel(noise=1).load()


def test_an_unfinished_sweep_has_blanks(boxes):
    folder, name = boxes
    expected = ls.load(name, folder).load()
    assert "missing_runs" not in expected.attrs
    for variable in ("seconds", "loss", "signal_learning", "diverged_at"):
        chunks(folder / name, variable)[1].unlink()
    loaded = ls.load(name, folder)
    assert loaded.attrs["missing_runs"] == 3
    there = [0, 2]
    xr.testing.assert_equal(loaded.isel(noise=there).load(), expected.isel(noise=there))
    assert loaded.loss.isel(noise=1).isnull().all()
    # Running it again fills them.
    stored, report = reported(experiment(), NOISE, seeds=3, store=folder)
    assert (report.computed, report.reused) == (3, 6)
    assert_same(stored, expected)


def test_a_sweep_that_was_only_created_is_blank(tmp_path):
    plan = Plan.of(experiment(), NOISE, 3, "auto", "float32")
    name = InStore(Folder(tmp_path), plan).name
    loaded = ls.load(name, tmp_path)
    assert loaded.attrs["missing_runs"] == 9
    assert all(loaded[variable].isnull().all() for variable in loaded)


# A user's own code.

RULE = """
    import learnscope as ls
    from learnscope.part import choice, number
    from learnscope.rules import optimiser as opt
    from learnscope.rules.rule import AbstractGradientRule


    def examples(problem, key):
        return problem.batch(key)


    class _Own(AbstractGradientRule):
        rate: float = number(above=0)
        loss: str = choice("logistic", default="logistic")
        optimiser: str = opt.optimiser_field()
        options: dict = opt.options_field()

        def gradient(self, state, problem, key):
            return state.gradient(examples(problem, key))


    class _Data(ls.data.AbstractData):
        dim: int = number(100, whole=True, shape=True)
        compression = "none"
        span = 7

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


def test_own_code_is_part_of_the_name(own):
    settings = {
        "rule": lambda module: experiment(module._Own(rate=0.3)),
        "data": lambda module: experiment().replace("data", module._Data()),
        "function": lambda module: experiment(
            ls.rules.GradientDescent(rate=0.3, optimiser=module.optimiser)
        ),
    }
    edits = {
        "rule": ("return state.gradient(", "return 2 * state.gradient("),
        "data": ("signal=1.0", "signal=2.0"),
        "function": ('"sgd", rate', '"sgd", 2 * rate'),
    }
    for part, setting in settings.items():
        name = name_of(setting(own()))
        assert name_of(setting(own())) == name, part
        assert name_of(setting(own(*edits[part]))) != name, part

    # On an axis too, where the family is the same.
    def swept(*edit):
        return name_of(experiment(), {"rule": [DESCENT, own(*edit)._Own(rate=0.3)]})

    name = swept()
    assert swept() == name
    assert swept("return 2 * state", "return 3 * state") != name


def test_a_changed_helper_of_own_code_changes_the_name(own):
    first = name_of(experiment(own()._Own(rate=0.3)))
    edited = own("return problem.batch(key)", "return problem.train")
    second = name_of(experiment(edited._Own(rate=0.3)))
    assert first != second


def test_a_changed_rule_is_run_anew(own, tmp_path):
    store = tmp_path / "results"
    first = run(experiment(own()._Own(rate=0.3)), store=store)
    _, report = reported(experiment(own()._Own(rate=0.3)), store=store)
    assert report.computed == 0
    module = own("examples(problem, key))", "problem.train)")
    second, report = reported(experiment(module._Own(rate=0.3)), store=store)
    assert report.computed == 1
    xr.testing.assert_equal(first.load(), second.load())


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
        one, other = (
            name_of(experiment(ls.rules.GradientDescent(rate=0.3, optimiser=make(value))))
            for value in (0.1, 0.9)
        )
        assert one != other, make.__name__


def test_code_that_cannot_be_read_is_refused(tmp_path):
    unread = eval("lambda rate: optax.sgd(rate)")
    setting = experiment(ls.rules.GradientDescent(rate=0.3, optimiser=unread))
    with pytest.raises(ls.BadInput, match=r"GradientDescent.optimiser = .*its source cannot be"):
        run(setting, store=tmp_path)
    assert not any(tmp_path.iterdir())
    assert run(setting).loss.notnull().all()


# Other places.


@pytest.fixture
def url():
    address = "memory://sweeps/of-a-test"
    yield address
    files = Folder(address)._files
    if files.exists("/sweeps"):
        files.rm("/sweeps", recursive=True)


def test_a_url_is_as_good_as_a_folder(url, small_boxes):
    stored, report = reported(experiment(), NOISE, seeds=3, store=url)
    expected = run(experiment(), NOISE, seeds=3)
    assert_same(stored, expected)
    _, again = reported(experiment(), NOISE, seeds=3, store=url)
    assert again.computed == 0
    more, extended = reported(experiment(), NOISE, seeds=4, store=url)
    assert extended.computed == 3
    assert_same(more, run(experiment(), NOISE, seeds=4))
    assert_same(ls.load(report.store, url), expected)
    assert_same(ls.load(f"{url}/{report.store}"), expected)
    folder = Folder(url)
    assert folder.ids() == sorted([report.store, extended.store])
    folder.remove(report.store)
    assert folder.ids() == [extended.store]
    with pytest.raises(ls.BadInput, match="no sweep"):
        ls.load(report.store, url)


def test_an_unknown_kind_of_url_is_refused():
    with pytest.raises(ls.BadInput, match="the store nosuch://place cannot be opened"):
        run(experiment(), store="nosuch://place")


# Results folders.


def test_a_folder_lists_finds_and_removes_sweeps(tmp_path):
    assert Folder(tmp_path / "nowhere").ids() == []
    for noise in (0.1, 0.2):
        run(experiment(), {"data.noise": [noise]}, store=tmp_path)
    folder = Folder(tmp_path)
    names = folder.ids()
    assert len(names) == 2
    # What else lies there is not listed.
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "01234567-89abcdef").mkdir()
    (tmp_path / "photos").mkdir()
    assert folder.ids() == names
    assert folder.find(names[0]) == folder.find(names[0][:-1]) == names[0]
    assert [sweep.name for sweep in folder.all()] == names
    assert folder.stored(names[0]).finished().all()
    assert folder.stored(names[0]).size() == (2 * 3 * 4 + 8)
    before = tree(tmp_path / names[1])
    folder.remove(names[0])
    assert folder.ids() == names[1:]
    assert tree(tmp_path / names[1]) == before
    assert not (tmp_path / names[0]).exists()


@pytest.mark.parametrize("kind", ["nothing", "folder", "file", "group", "array", "format"])
def test_nothing_foreign_is_removed(tmp_path, kind):
    name = "01234567-89abcdef"
    path = tmp_path / name
    if kind == "folder":
        path.mkdir()
        (path / "photo.jpg").write_bytes(b"x")
    elif kind == "file":
        path.write_text("mine")
    elif kind == "group":
        zarr.create_group(path, attributes={"owner": "me"})
    elif kind == "array":
        zarr.create_array(path, shape=(2,), dtype="f4")
    elif kind == "format":
        zarr.create_group(path, attributes={"manifest": {"format": 99}})
    before = tree(tmp_path)
    with pytest.raises(ls.BadInput, match=name):
        Folder(tmp_path).remove(name)
    assert tree(tmp_path) == before


def test_a_damaged_sweep_does_not_hide_the_others(tmp_path):
    for noise in (0.1, 0.2):
        run(experiment(), {"data.noise": [noise]}, store=tmp_path)
    names = Folder(tmp_path).ids()
    cut(tmp_path / names[0] / "zarr.json")
    damaged, whole = Folder(tmp_path).all()
    assert isinstance(damaged, ls.BadInput)
    assert whole.name == names[1]


# Damage.


def chunks(sweep, variable):
    return sorted(file for file in (sweep / variable / "c").rglob("*") if file.is_file())


def cut(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def change(file):
    """Other bytes in the first half of a file, none more or less."""
    text = file.read_bytes()
    half = len(text) // 2
    file.write_bytes(bytes(byte ^ 0x55 for byte in text[:half]) + text[half:])


def edit(sweep, **changes):
    """Change the manifest."""
    file = sweep / "zarr.json"
    table = json.loads(file.read_text())
    table["attributes"]["manifest"] |= changes
    file.write_text(json.dumps(table))


def replace(sweep, **attributes):
    """Put another's Zarr group in the place of a sweep."""
    shutil.rmtree(sweep)
    group = zarr.create_group(sweep, attributes=attributes)
    group.create_array("noise", shape=(4,), dtype="f8")[:] = 7.0


DAMAGES = {
    "cut chunk": (lambda s: cut(chunks(s, "loss")[1]), "loss/c/1/0/0 has 20 bytes of 40"),
    "no chunk": (lambda s: chunks(s, "diverged_at")[2].unlink(), "diverged_at/c/2/0 is missing"),
    "empty chunk": (lambda s: chunks(s, "loss")[0].write_bytes(b""), "loss/c/0/0/0 has 0 bytes"),
    "cut marks": (lambda s: cut(chunks(s, "seconds")[1]), "cannot be read"),
    "changed marks": (lambda s: change(chunks(s, "seconds")[1]), "cannot be read"),
    "cut labels": (lambda s: cut(chunks(s, "noise")[0]), "cannot be read"),
    "no labels": (lambda s: chunks(s, "noise")[0].unlink(), "noise"),
    "no seeds": (lambda s: chunks(s, "seed")[0].unlink(), "seed"),
    "cut zarr.json": (lambda s: cut(s / "zarr.json"), "zarr.json is damaged"),
    "empty zarr.json": (lambda s: (s / "zarr.json").write_bytes(b""), "zarr.json is damaged"),
    "list": (lambda s: (s / "zarr.json").write_text("[1]"), "zarr.json is damaged"),
    "cut array": (lambda s: cut(s / "loss" / "zarr.json"), "cannot be read"),
    "no array": (lambda s: (s / "loss" / "zarr.json").unlink(), "cannot be read"),
    "format": (lambda s: edit(s, format=99), "has store format 99"),
    "foreign": (lambda s: replace(s, owner="me"), "is not a sweep that learnscope stored"),
    "foreign, bare": (replace, "is not a sweep that learnscope stored"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_is_told_and_left_as_it_is(boxes, kind):
    folder, name = boxes
    damage, words = DAMAGES[kind]
    damage(folder / name)
    before = tree(folder)
    for use in (
        lambda: ls.load(name, folder),
        lambda: run(experiment(), NOISE, seeds=3, store=folder),
    ):
        with pytest.raises(ls.BadInput, match=words) as caught:
            use()
        assert name in str(caught.value)
        assert tree(folder) == before


def test_results_of_other_software_are_not_mixed(boxes):
    folder, name = boxes
    expected = ls.load(name, folder).load()
    software = Folder(folder).stored(name).manifest["software"]
    edit(folder / name, software=software | {"jax": "0.1"})
    before = tree(folder)
    with pytest.raises(ls.BadInput, match=rf"{name}.*stored by a different version.*'jax': '0.1'"):
        run(experiment(), NOISE, seeds=3, store=folder)
    # They can still be looked at.
    assert_same(ls.load(name, folder), expected)
    assert tree(folder) == before


def test_a_damaged_sweep_can_be_removed_and_run_again(boxes):
    folder, name = boxes
    expected = ls.load(name, folder).load()
    cut(chunks(folder / name, "loss")[1])
    Folder(folder).remove(name)
    stored, report = reported(experiment(), NOISE, seeds=3, store=folder)
    assert report.computed == 9
    assert_same(stored, expected)


# Places that cannot be written.


@pytest.mark.parametrize("below", [".", "results", "results/more"])
def test_a_store_that_cannot_be_written_is_told_first(tmp_path, monkeypatch, below):
    # Below a regular file, which stops the superuser too.
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr(RUNNING, "work", None)
    with pytest.raises(ls.BadInput, match=f"{tmp_path}/file.*cannot be"):
        run(experiment(), store=tmp_path / "file" / below)
    assert tree(tmp_path).keys() == {str(tmp_path / "file")}


@pytest.mark.parametrize("store", ["", 3])
def test_a_store_that_is_no_place_is_refused(store):
    with pytest.raises(ls.BadInput, match=f"store = {store!r} is not allowed"):
        run(experiment(), store=store)


def full_disk(folder):
    """Run a sweep on a disk that has no room left after the first box."""
    import resource

    put = InStore.put

    def put_and_fill(self, *given):
        put(self, *given)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))

    InStore.put = put_and_fill
    engine._BLOCK_RUNS = 3
    try:
        run(experiment(), NOISE, seeds=3, store=folder)
    except ls.BadInput as error:
        print(error)


@pytest.fixture(scope="module")
def other_process(tmp_path_factory):
    """What another process does and says (see the end of this file), and its results folder."""
    folder = tmp_path_factory.mktemp("full")
    done = subprocess.run(
        [sys.executable, __file__, str(folder)],
        env=os.environ | {"PYTHONPATH": str(HERE), "PYTHONHASHSEED": "17"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines(), folder


def test_a_full_disk_is_told_and_costs_nothing_stored(other_process, small_boxes):
    (_, told), folder = other_process
    assert told.startswith(f"the store {folder} cannot be written: File too large")
    assert "what was stored before is whole" in told
    (name,) = Folder(folder).ids()
    assert ls.load(name, folder).attrs["missing_runs"] == 6
    stored, report = reported(experiment(), NOISE, seeds=3, store=folder)
    assert (report.computed, report.reused) == (6, 3)
    assert_same(stored, run(experiment(), NOISE, seeds=3))


def test_a_name_is_the_same_in_every_process(other_process):
    (name, _), _ = other_process
    assert name == name_of(MOMENTUM, {"rule": [DESCENT, PENALTY]})


if __name__ == "__main__":
    print(name_of(MOMENTUM, {"rule": [DESCENT, PENALTY]}))
    full_disk(sys.argv[1])
