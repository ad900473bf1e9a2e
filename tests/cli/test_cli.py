"""The command line: what it answers, and one sentence with exit code 2 for bad input."""

import dataclasses
import json
import re
import resource
import subprocess
import sys

import pytest
import xarray as xr

from learnscope import papers
from learnscope.cli import cost
from learnscope.lab.store.folder import Folder

EXPERIMENT = """
steps = 6
seeds = 2
probes = [{kind = "Loss"}, {kind = "TestAccuracy"}, {kind = "Decomposition"}]
data = {kind = "SignalNoise", dim = 50, train = 4, test = 8, signal = 1.0, noise = 0.5}
net = {kind = "PatchCNN", width = 3}
rule = {kind = "PerExamplePenalty", rate = 0.02, weight = 0.01}

[over]
"data.noise" = [0.1, 0.5]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(EXPERIMENT)
    return path


def test_help_answers_in_half_a_second_without_jax():
    def used() -> float:  # processor time: the machine may be busy with other tests
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    times = []
    for _ in range(3):
        start = used()
        done = python("-m", "learnscope", "--help")
        times.append(used() - start)
        for command in ("list", "run", "verify", "sweep", "conditions"):
            assert command in done
    assert min(times) < 0.5


def test_the_version_and_the_help_are_there():
    from learnscope import __version__

    assert python("-m", "learnscope", "--version") == f"learnscope {__version__}\n"
    alone = subprocess.run([sys.executable, "-m", "learnscope"], capture_output=True, text=True)
    assert "Usage" in alone.stdout + alone.stderr and "sweep" in alone.stdout + alone.stderr


def test_warnings_of_libraries_are_not_shown_and_those_of_learnscope_are_sentences(capsys):
    from learnscope import cli

    cli._warn("a type is truncated", UserWarning, "/usr/lib/python3/site-packages/jax/core.py", 1)
    assert capsys.readouterr().err == ""
    cli._warn("the run uses all\n 500 coordinates.", UserWarning, cli.studies.__file__, 1)
    assert capsys.readouterr().err == "learnscope: the run uses all 500 coordinates.\n"


def test_the_demo_says_what_its_figure_shows(call, tmp_path):
    """The words come from the run: the README says the same."""
    said = call("demo", "--no-open", "--out", tmp_path)[1]
    assert "memorises the noise: test accuracy 0.5" in said
    assert said.split("\n")[0].endswith("the only thing to learn: test accuracy 1.00.")
    assert (tmp_path / "demo.png").stat().st_size > 10_000


def python(*words):
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_imports_are_light():
    code = "import sys, learnscope.cli; print('jax' in sys.modules, 'matplotlib' in sys.modules)"
    assert python("-c", code).split() == ["False", "False"]
    code = (
        "import sys; import learnscope as ls;"
        "ls.data.SignalNoise(dim=9, train=2, test=2, signal=1, noise=1);"
        "ls.Experiment; ls.run; print('matplotlib' in sys.modules); ls.theory; ls.papers;"
        "from jax._src import xla_bridge; print(xla_bridge.backends_are_initialized())"
    )
    assert python("-c", code).split() == ["False", "False"]  # no devices


def test_list_names_parts_and_conditions_prints_margins_and_predictions(call, file):
    code, out, _ = call("list")
    names = ("pegr.figure1", "pegr.phase", "SignalNoise", "PatchCNN", "FullPenalty")
    assert code == 0 and all(name in out for name in names)
    lines = {line.strip().partition(":")[0]: line for line in out.splitlines()}
    assert "[needs cifar10 and mnist]" in lines["benign.figure5"]
    assert "arxiv.org/abs/2303.17940" in lines["pegr"] and " min" in lines["pegr.figure4"]
    code, out, _ = call("conditions", file, "data.noise=1.0")
    assert code == 0 and "margin" in out and "closing_time" in out


def test_examples_are_listed_with_commands_that_there_are_and_copied_once(call, tmp_path):
    code, out, _ = call("examples")
    commands = re.findall(r"  learnscope (\w+) examples/(\w+\.toml)", out)
    assert code == 0 and len(commands) == out.count("?") >= 7
    code, out, _ = call("examples", "examples")
    files = {path.name for path in (tmp_path / "examples").iterdir()}
    assert code == 0 and files == {name for _, name in commands}
    (tmp_path / "examples" / "penalty.toml").write_text("mine")
    assert call("examples", "examples")[1].count("is kept") == len(files)
    assert (tmp_path / "examples" / "penalty.toml").read_text() == "mine"


def test_sweep_writes_data_and_curves(call, file, tmp_path):
    code, out, _ = call("sweep", file, "rule.weight=0.01,0.02", "--seeds", 3, "--out", "results")
    assert code == 0 and "12 trainings" in out
    names = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert names == ["small.nc", "small.pdf", "small.png"]
    with xr.open_dataset(tmp_path / "results" / "small.nc", engine="h5netcdf") as data:
        sizes = {"noise": 2, "weight": 2, "seed": 3, "step": 7, "filter": 6, "sample": 4}
        assert dict(data.sizes) == sizes
        assert data.attrs["coordinates_used"] == "compressed"
        assert "SignalNoise" in data.attrs["experiment"]
    assert call("sweep", file, "--quiet", "--out", "results") == (0, "", "")


def test_run_of_one_figure_with_changes(call, tmp_path):
    words = ("steps=20", "record.every=5", "data.test=10", "--seeds", 2, "--scale", "smoke")
    code, out, _ = call("run", "pegr.theorem", *words, "--out", "results")
    assert code == 0
    names = sorted(path.name for path in (tmp_path / "results" / "pegr").iterdir())
    assert names == ["theorem.nc", "theorem.pdf", "theorem.png"] and "results" in out


def test_verify_exits_with_1_when_claims_differ(call, refuse, monkeypatch, tmp_path):
    """The real command on a study cut to one short sweep."""
    whole, studies = papers.get("pegr"), {}

    def sweeps(scale):
        short = {"steps": [20], "record.every": [5], "data.test": [10]}
        return {"literal": whole.sweeps(scale)["literal"].override(short, seeds=12)}

    kept = tuple(c for c in whole.claims if c.needs in (("literal",), ("mnist_unit",)))
    bad = papers.Figure("fails", ("literal",), lambda data: data.sel(noise=3))
    cut = dataclasses.replace(whole, sweeps=sweeps, claims=kept, figures={}, headline=())
    monkeypatch.setattr(papers, "studies", lambda: studies)
    studies["pegr"] = cut
    ledger = tmp_path / "results" / "ledger.json"
    ledger.parent.mkdir()
    names = ("study", "id", "where", "setting", "statement", "reported", "measured", "why")
    old = {name: "old" for name in names} | {"verdict": "differs"}
    ledger.write_text(json.dumps([old | {"study": "kou"}, old | {"study": "pegr"}]))
    # A smoke run gives no verdicts, and takes none away.
    code, out, _ = call("verify", "--scale", "smoke", "--out", "results")
    assert code == 0 and " 0 reproduced, 0 differs, 0 inconclusive" in out
    rows = json.loads(ledger.read_text())
    assert {row["verdict"] for row in rows if row["id"] != "old"} == {"not run"}
    code, out, _ = call("verify", "--out", "results")
    assert code == 1 and "differs" in out
    call("verify", "--scale", "smoke", "--out", "results")  # changes nothing
    rows = json.loads(ledger.read_text())
    assert {row["verdict"] for row in rows} >= {"differs", "not run"}
    text = (tmp_path / "results" / "ledger.md").read_text()
    assert "# Ledger" in text and "(papers/kou.md)" in text
    assert "\n> old" in (tmp_path / "results" / "papers" / "kou.md").read_text()
    # Rows of other studies stay, in the order of the studies; those of this one are new.
    assert [row["study"] for row in rows] == ["pegr"] * len(kept) + ["kou"]
    assert [row["id"] for row in rows if row["id"] == "old"] == ["old"]
    # A damaged ledger is one sentence, and is left as it is.
    ledger.write_text("[1]")
    words = ("verify", "--scale", "smoke", "--out", "results")
    refuse(*words, said="ledger.json is not a ledger", out="elsewhere")
    assert ledger.read_text() == "[1]"
    # So is a figure that cannot be drawn with changed values.
    studies["pegr"] = dataclasses.replace(cut, figures={"bad": bad})
    code, _, err = call("run", "pegr", "data.noise=0.5", "--scale", "smoke", "--out", "results")
    assert code == 2 and "cannot be drawn: pegr.bad" in err and err.count("\n") == 1
    # Without changes that is a defect, which is not the code of claims that differ.
    ledger.unlink()
    code, _, err = call("run", "pegr", "--scale", "smoke", "--out", "results")
    assert code == 70 and "Traceback" in err and "unexpected error" in err


BAD_CHANGES = {
    "data.noise=0.1,nan": "SignalNoise.noise = nan is not allowed",
    "data.niose=1": "did you mean 'noise'?",
    "rule.rate=fast": "PerExamplePenalty.rate = 'fast' is not allowed",
    "noise": "write field=value",
    "rule.optimiser=adamm": "optimiser of optax",
}


@pytest.mark.parametrize("change", BAD_CHANGES)
def test_bad_changes_get_one_sentence(refuse, file, change):
    refuse("sweep", file, change, "--out", "results", said=BAD_CHANGES[change])


BAD_CALLS = {
    ("run", "pger"): "did you mean 'pegr'?",
    ("run", "pegr.figure9"): "unknown figure of pegr 'figure9'",
    ("run", "pegr", "--scale", "huge"): "unknown scale 'huge'",
    ("run", "pegr", "--precision", "float16"): "float32, float64",
    ("run", "pegr", "data.dim=400,500"): "cannot have several values",
    ("run", "pegr", "--seeds", "0"): "--seeds",
    ("run", "pegr.figure2", "data.noise=inf,[1]"): "SignalNoise.noise = inf",
    ("run", "pegr.figure2", "data.noise=abc"): "SignalNoise.noise = 'abc' is not allowed",
    ("run", "kou.exponent", "data.dim=200"): "data.dim cannot be changed here",
    ("run", "input_structure.figure5", "data.relevant=200"): "Patterns.relevant = 200",
    ("sweep", "missing.toml"): "missing.toml cannot be read",
    ("frobnicate",): "No such command",
    ("run", "--frobnicate"): "No such option",
}


@pytest.mark.parametrize("words", BAD_CALLS, ids=" ".join)
def test_bad_calls_get_one_sentence(refuse, tmp_path, words):
    refuse(*words, said=BAD_CALLS[words])
    assert not list(tmp_path.iterdir())


def test_files_and_folders_that_cannot_be_used(refuse, file, tmp_path):
    (tmp_path / "broken.toml").write_text("steps = = 3\n")
    refuse("sweep", "broken.toml", "--out", "results", said="broken.toml is not valid TOML")
    assert not (tmp_path / "results").exists()
    refuse("sweep", file, "rule.optimiser=adam", "--coordinates", "compressed", said="basis")
    (tmp_path / "taken").write_text("a file")
    for words, what in (
        (("--out", "taken/results"), "cannot be written"),
        (("--store", "taken/below"), "taken/below cannot be written"),
        (("--store", "nonsense://x"), "nonsense"),
        (("--workers", "2", "--cluster", "tcp://x:1"), "give one"),
    ):
        refuse("sweep", file, *words, said=what)
    assert (tmp_path / "taken").read_text() == "a file"


def test_a_full_disk_leaves_no_part_of_a_file(refuse, file, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(xr.Dataset, "to_netcdf", full)
    refuse("sweep", file, "--out", "results", "--quiet", said="No space left on device")
    assert list((tmp_path / "results").iterdir()) == []


BOUNDARY = """
[boundary]
of = "test_accuracy"
at = 0.75
x = {"data.signal" = [0.1, 30]}
y = {"data.dim" = [50, 100]}
"""


def stored(folder="learnscope-results"):
    return Folder(folder).ids()


def test_a_sweep_is_stored_and_found_again(call, file):
    code, first, _ = call("sweep", file)
    assert code == 0 and "4 trainings" in first
    (name,) = stored()
    for words, count in (((), 0), (("--seeds", "3"), 2)):
        again = call("sweep", file, *words)[1]
        assert f"{count} trainings" in again and "reused 4 of " in again
    assert len(stored()) == 2
    code, nothing, _ = call("sweep", file, "--store", "none", "data.noise=0.7")
    assert code == 0 and len(stored()) == 2 and "stored as" not in nothing
    assert call("runs", "show", name)[1].count("session") == 1


def test_runs_are_listed_shown_exported_and_removed(call, refuse, file, tmp_path):
    assert "there are no sweeps" in call("runs")[1]
    call("sweep", file)
    (name,) = stored()
    code, listed, _ = call("runs")
    assert code == 0 and name in listed and "done" in listed and "noise 2 x seed 2" in listed
    code, shown, _ = call("runs", "show", name[:5])
    assert code == 0 and 'kind = "SignalNoise"' in shown and "4 of 4 trainings" in shown
    code, said, _ = call("runs", "export", name, "here.nc")
    assert code == 0 and "here.nc" in said
    with xr.open_dataset(tmp_path / "here.nc", engine="h5netcdf") as data:
        assert data.loss.shape == (2, 2, 7)
    refuse("runs", "export", name, "here.csv", said="here.csv")
    chunk = tmp_path / "learnscope-results" / name / "loss" / "c" / "0" / "0" / "0"
    chunk.write_bytes(bytes(chunk.stat().st_size))
    code, _, said = call("runs", "export", name, "here.nc")
    assert code == 2 and str(chunk) in said and f"`learnscope runs repair {name}` mends" in said
    code, said, _ = call("runs", "repair", name)
    assert code == 0 and "1 of 1 blocks" in said and "0 of 4" in call("runs", "show", name)[1]
    refuse("runs", "show", "nothing", said="there is no sweep 'nothing'")
    manifest = tmp_path / "learnscope-results" / name / "zarr.json"
    whole = manifest.read_text()
    manifest.write_text(whole.replace('"format": 2', '"format": 99'))
    refuse("sweep", file, said="format 99")  # it is left alone
    assert "format 99" in call("runs")[1] and '"format": 99' in manifest.read_text()
    manifest.write_text(whole)
    code, said, _ = call("runs", "remove", name)
    assert code == 0 and name in said and stored() == []


def test_a_boundary_from_a_file(call, file, tmp_path):
    file.write_text(EXPERIMENT.partition("[over]")[0].replace("test = 8", "test = 100") + BOUNDARY)
    code, said, err = call("boundary", file, "--seeds", "6", "net.activation=relu", "steps=60")
    assert code == 0 and "crossed" in said and "data.signal" in said, err
    for ending in ("png", "nc"):
        assert (tmp_path / "learnscope-out" / f"small-boundary.{ending}").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("at = 0.75", "at = 1.5"), "test_accuracy lies between 0 and 1"),
        (("at = 0.75", ""), "[boundary] lacks at"),
        (("at = 0.75", "at = 0.75\nwidth = 3"), "field of [boundary]"),
    ],
)
def test_a_bad_boundary_is_one_sentence(refuse, file, change, words):
    file.write_text((EXPERIMENT.partition("[over]")[0] + BOUNDARY).replace(*change))
    refuse("boundary", file, said=words)
    assert stored() == []


def test_a_boundary_needs_its_table_and_no_axes(refuse, file):
    refuse("boundary", file, said="no table [boundary]")
    file.write_text(EXPERIMENT + BOUNDARY)
    refuse("boundary", file, said="no axis 'noise'")


def test_long_sweeps_are_announced_or_need_a_yes(call, refuse, file, monkeypatch):
    monkeypatch.setattr(cost, "LONG", 1e-9)
    assert "on this machine: 4 trainings, 6.3 kB of results." in call("sweep", file)[1]
    assert "on this machine" not in call("sweep", file)[1]  # it is stored
    monkeypatch.setattr(cost, "LIMIT", 0.0)
    words = ("sweep", file, "--store", "other", "--out", "new")
    refuse(*words, said="more than a day needs --yes")
    assert stored("other") == [] and not list(file.parent.glob("new/*"))
    assert "on this machine" in call("sweep", file, "--store", "other", "--yes")[1]
    file.write_text(EXPERIMENT.partition("[over]")[0] + BOUNDARY)
    refuse("boundary", file, said="--yes")
    for words in ("run kou.exponent", "grid --data LinearTasks --rule LinearCentroid"):
        refuse(*words.split(), "--scale", "smoke", said="--yes")
    refuse("grid", "--seeds", 2**31, said="too many seeds")
