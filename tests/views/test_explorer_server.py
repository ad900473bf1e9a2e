"""The explorer without a browser: what it answers, and what it refuses."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import numpy as np
import pytest
import xarray as xr

import learnscope as ls
from learnscope.errors import BadInput
from learnscope.views.explorer import plots
from learnscope.views.explorer.live import training
from learnscope.views.explorer.live.catalogue import SLOTS, offered, presets
from learnscope.views.explorer.live.state import State, nearest
from learnscope.views.explorer.live.training import Trainer, check_affordable
from learnscope.views.explorer.live.weights import maps_of
from learnscope.views.explorer.server import create
from learnscope.views.explorer.wsgi import bind
from tests.small import refused, run

SMALL = "preset=kou&data.train=8&data.test=40&net.width=3&steps=20&seeds=3"


def together(count, visit):
    """So many visits at once."""
    with ThreadPoolExecutor(count) as threads:
        list(threads.map(visit, range(count)))


def affordable(query):
    state = State.parse(f"{query}&probes=Loss")  # the others take little beside what is drawn
    check_affordable(state.watched, state.seeds)
    return state


def trained(trainer, query=SMALL):
    state = State.parse(query)
    return trainer.run(state.watched, state.seeds)


@pytest.mark.parametrize("name", presets())
def test_every_preset_has_an_address_and_comes_back_from_it(name):
    for kind in [type(rule).__name__ for rule in presets()[name].rules]:
        state = State.parse(f"preset={name}&rule={kind}")
        assert State.parse(state.query()) == state
        changed = State.parse(f"{state.query()}&rule.rate=0.123&seeds=7&step=1")
        assert State.parse(changed.query()) == changed
        assert changed.experiment.rule.rate == 0.123
        check_affordable(state.watched, state.seeds)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("preset=nothing", "unknown preset 'nothing'"),
        ("preset=kou&data.niose=1", "did you mean 'noise'"),
        ("preset=kou&record.every=2", "unknown field of an address 'record.every'"),
        ("preset=kou&rule=Model", "unknown rule of the explorer 'Model'"),
        ("preset=kou&data=Images", "unknown data of the explorer 'Images'"),
        ("preset=kou&net.width=1.5", "net|PatchCNN.width = 1.5 is not allowed"),
        ("preset=kou&data.noise=1&data.noise=2", "names data.noise more than once"),
        ("preset=kou&seeds=0", "seeds = 0 is not allowed: it must be a whole number from 1 to 100"),
        ("preset=kou&step=9999", "step = 9999 is not allowed"),
        ("preset=kou&data.dim=" + "9" * 500, "SignalNoise.dim = 9+ is not allowed"),
        ("preset=kou&data.noise=" + "9" * 500, "SignalNoise.noise = 9+ is not allowed"),
        ("preset=clusters&rule.options=1", "rule.options cannot be set from a page"),
        ("preset", "must have the form"),
        ("preset=kou&data.noise=" + "1" * 5000, "characters; at most 4000"),
    ],
)
def test_a_bad_address_is_refused_in_words(query, words):
    refused(lambda: State.parse(query), match=f".*{words}")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("preset=kou&steps=1000000000000", "Experiment.steps = 1000000000000 is not allowed"),
        ("preset=kou&steps=2000000000", "would train for about .* and a page may train for 20"),
        ("preset=kou&net.width=2000000", "net.width = 2000000 is too large for a page"),
        ("preset=kou&net.width=900000", "one run needs about .* GB"),
        ("preset=kou&net.width=5000", "GB, and a page may use 0.5 GB"),
        ("preset=kou&data.test=1000000", "GB, and a page may use 0.5 GB"),
        ("preset=benign&data.noise=uniform&data.dim=1000000", "GB, and a page may use 0.5 GB"),
    ],
)
def test_what_takes_too_much_is_refused_before_it_is_begun(query, words):
    refused(lambda: affordable(query), match=f".*{words}")
    affordable("preset=pegr&data.dim=1000000000&data.noise=0.0003")  # which is not too much


def test_the_nearest_state_shows_the_same_experiment_or_none():
    experiment = State.parse("preset=kou&data.noise=2&data.flip=0.2").experiment
    found = nearest(experiment)
    assert found is not None
    assert State.parse(found.query()).experiment == experiment
    options = experiment.replace("rule", ls.rules.GradientDescent(rate=0.1, optimiser="adam"))
    assert nearest(options) is None  # an optimiser is no field that a page can set


def test_a_rule_that_fits_is_not_refused_and_no_kind_on_offer_reads_files():
    for query in ("preset=kou&rule=Linearised", "preset=benign&rule=Linearised",
                  "preset=kou&net=TwoLayer"):  # fmt: skip
        state = State.parse(query)
        try:
            check_affordable(state.watched, state.seeds)
        except BadInput as error:
            assert "probe" not in str(error), query
    found = {kind for slot in SLOTS for kind in offered("pegr", slot)}
    assert not found & {"Images", "Pruned", "TeacherMixture", "ImageTasks", "Model"}


def test_visitors_who_ask_for_the_same_wait_for_one_run(monkeypatch):
    calls, real = [], training.run_plan

    def counted(*given, **settings):
        calls.append(1)
        return real(*given, **settings)

    monkeypatch.setattr(training, "run_plan", counted)
    trainer, found = Trainer(), []
    together(8, lambda _: found.append(trained(trainer)))
    assert len(calls) == 1 and len(found) == 8


def test_a_refusal_reaches_all_who_wait_and_is_not_kept(monkeypatch):
    def failing(*_, **__):
        raise ValueError("no such run.")

    monkeypatch.setattr(training, "run_plan", failing)
    trainer = Trainer()
    together(4, lambda _: refused(lambda: trained(trainer), "no such run"))
    assert not trainer._kept


def test_results_and_programs_of_long_ago_are_given_up(monkeypatch):
    trainer = Trainer()
    monkeypatch.setattr(training, "_KEPT_BYTES", 2.5 * trained(trainer).nbytes)
    for noise in (1, 2, 3, 4):
        trained(trainer, f"{SMALL}&data.noise={noise}")
    assert len(trainer._kept) == 2
    cleared, trainer = [], Trainer()
    monkeypatch.setattr(training, "_MOST_PROGRAMS", 2)
    monkeypatch.setattr(training.jax, "clear_caches", lambda: cleared.append(1))
    monkeypatch.setattr(training, "run_plan", lambda plan, **settings: xr.Dataset())
    for steps in (2, 3, 4):
        trained(trainer, f"{SMALL}&probes=Loss".replace("steps=20", f"steps={steps}"))
    assert cleared == [1]


def test_curves_are_quantiles_over_seeds_of_what_is_finite():
    data = run(State.parse(SMALL).watched, seeds=3)
    data["loss"][0, 4:] = np.nan  # a run that diverged
    drawn = plots.curves(data, {"closing time": 12.0})
    (panel,) = [panel for panel in drawn["panels"] if panel["title"] == "loss"]
    (loss,) = panel["lines"]
    expected = np.nanquantile(data.loss.values, (0.1, 0.5, 0.9), axis=0)
    for name, values in zip(("low", "middle", "high"), expected, strict=True):
        np.testing.assert_allclose(loss[name], values, rtol=1e-4)
    titles = [panel["title"] for panel in drawn["panels"]]
    assert titles[:3] == ["signal and noise", "loss", "accuracy"]
    assert drawn["times"] == {"closing time": 12.0} and len(drawn["steps"]) == 21
    data["loss"][:, 4:] = np.nan  # all runs
    ended = json.loads(json.dumps(plots.curves(data, {}), allow_nan=False))
    (loss,) = next(p for p in ended["panels"] if p["title"] == "loss")["lines"]
    assert loss["middle"][3] is not None and loss["middle"][4:] == [None] * 17


def test_maps_keep_distances_and_do_not_turn_between_steps():
    draw = np.random.default_rng(0)
    angles = draw.uniform(0, 2 * np.pi, 7)[None] + 0.05 * np.arange(6)[:, None] * np.arange(7)
    points = np.stack([np.cos(angles), np.sin(angles)], -1)
    maps = maps_of(points @ points.transpose(0, 2, 1))
    apart = np.linalg.norm(maps[:, :, None] - maps[:, None], axis=-1)
    wanted = np.linalg.norm(points[:, :, None] - points[:, None], axis=-1)
    np.testing.assert_allclose(apart, wanted, atol=1e-6)
    assert np.abs(np.diff(maps, axis=0)).max() < 0.5  # a mirrored map would jump by up to 2


def test_refusals_are_sentences_not_error_pages(explorer):
    for path, words in (
        ("/live/answer?preset=kou&data.niose=1", "did you mean 'noise'"),
        ("/live/answer?preset=kou&net.width=2000000", "too large for a page"),
        ("/live/answer?preset=kou&steps=1000000000000", "Experiment.steps"),
        ("/live/answer?" + "a=" + "%ff" * 300, "unknown field"),
        ("/export/live.exe?preset=kou", "unknown kind of file 'exe'"),
    ):
        status, text = explorer.ask(path)
        assert status == 400, (path, text)
        assert words.encode() in text and text.count(b"\n") == 1 and b"Traceback" not in text
    forged = ({"output": "page.children", "inputs": "what"}, {"output": "x.y", "inputs": []})
    for body in ("not json", *map(json.dumps, forged)):
        status, text = explorer.ask("/_dash-update-component", body=body)
        assert status in (400, 415) and b"Traceback" not in text and len(text) < 200


@pytest.mark.parametrize("path", ["/assets/../server.py", "/assets/..%2fserver.py",
                                  "/assets/%2e%2e/%2e%2e/report/page.py", "//etc/passwd",
                                  "/assets/%2e%2e/server.py", "/sweeps/../../etc/passwd",
                                  "/figure/..%2f..%2fpegr/x.png"])  # fmt: skip
def test_no_file_outside_is_served(explorer, path):
    status, text = explorer.ask(path)
    assert b"import" not in text and b"root:" not in text
    assert status in (200, 400, 404)  # 200: the frame of the pages, which says that there is none


def test_it_answers_to_this_machine_only(explorer):
    status, text = explorer.ask("/", host="evil.example:80")
    assert status == 403 and b"answers to 127.0.0.1" in text
    assert explorer.ask("/", host="localhost:1")[0] == 200
    port = urlsplit(explorer.address).port
    here = {found[4][0] for found in socket.getaddrinfo(socket.gethostname(), None)}
    for address in here - {"127.0.0.1", "127.0.1.1", "::1"}:
        with pytest.raises(OSError):
            socket.create_connection((address, port), timeout=2).close()


def test_a_port_in_use_is_told_in_a_sentence(explorer, refuse):
    port = urlsplit(explorer.address).port
    server = create(explorer.store, explorer.out).server
    words = f"port {port} of 127.0.0.1 cannot be used"
    refused(lambda: bind(server, "127.0.0.1", port), words)
    refuse("explore", "--no-browser", "--port", port, said="choose another with --port")


def test_twenty_visitors_at_once_are_all_answered(explorer):
    found = []

    def visit(number):
        for move in range(3):
            query = f"{SMALL}&data.noise={1 + number % 4 + move / 10:.1f}"
            status, text = explorer.ask(f"/live/answer?{query}")
            found.append(status == 200 and "panels" in json.loads(text))

    together(20, visit)
    assert found == [True] * 60


def test_a_choice_that_is_called_none_can_be_set():
    state = State.parse("preset=pred_head&rule.head=none")
    assert state.experiment.rule.head == "none" and State.parse(state.query()) == state
    assert State.parse("preset=kou&data.batch=none").experiment.data.batch is None
