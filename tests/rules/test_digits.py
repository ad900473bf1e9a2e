"""Quantities that decay keep every digit: fifty-digit arithmetic, and the paper's setting."""

import jax
import numpy as np
import pytest

import learnscope as ls
from learnscope.papers.pegr import experiments as pegr
from tests.reference import exact

N, WIDTH, DIM = 3, 2, 40
# Seeds, steps with the penalty and in all, and what the noise decays to.
RUNS = {"float64": (20, 170, 200, 1e-150), "float32": (1, 46, 60, 1e-28)}


def small(until, steps):
    return ls.Experiment(
        data=ls.data.SignalNoise(dim=DIM, train=N, test=2, signal=1.0, noise=1.0),
        net=ls.nets.PatchCNN(width=WIDTH, activation="relu2", scale=0.01),
        # Twice the weight at which the linearised noise neither grows nor decays.
        rule=ls.rules.PerExamplePenalty(rate=0.125, weight=2 * WIDTH / DIM, until=until),
        steps=steps,
        probes=(ls.probes.NoiseMemorisation(), ls.probes.SignalLearning(), ls.probes.Loss()),
    )


@pytest.mark.parametrize("precision", RUNS)
def test_memorised_noise_agrees_with_fifty_digits(precision):
    seed, until, steps, least = RUNS[precision]
    experiment = small(until, steps)
    settings = {"coordinates": "compressed", "precision": precision, "progress": False}
    result = ls.run(experiment, seeds=[seed], **settings).isel(seed=0)
    with jax.enable_x64(precision == "float64"):
        run = ls.lab.one_run(experiment, seed, "compressed", precision)
        problem, rule = run.problem, run.experiment.rule
        rank = problem.frame.rank
        wide = [np.pad(leaf, ((0, 0), (0, rank - leaf.shape[1]))) for leaf in problem.train.x]
        filters = np.asarray(run.state.start.filters)
    x = np.stack(wide, axis=1)
    path = exact.penalised(filters, x, problem.train.y, rule.rate, rule.weight, until, steps)
    noise = [max(w.dot(x[:, 1].T.astype(object)).ravel()) for w in path]
    signal = [max(abs(w.dot(np.asarray(problem.directions["signal"], object)))) for w in path]
    noise, signal = (np.array(values, float) for values in (noise, signal))
    assert noise[0] > 1e-3 and noise.min() < least
    assert noise[-1] > 10 * noise.min()  # it grows again when the penalty is over
    close = 1e-6 if precision == "float64" else 1e-4
    np.testing.assert_allclose(result.noise_memorisation, noise, rtol=close)
    np.testing.assert_allclose(result.signal_learning, signal, rtol=close)


def working(noise, steps, until, every):
    """The reading of section 4.1 in which PEGR works, at one noise level."""
    weight = pegr.pegr.suggested_weight(noise, pegr.DIM, pegr.WIDTH)
    rule = ls.rules.PerExamplePenalty(rate=pegr.RATE, weight=weight, until=until)
    experiment = pegr.section_4_1(rule, "mean", steps).replace("data.noise", noise)
    changes = {"net.scale": pegr.SCALES_OF_WEIGHTS[noise], "data.test": 10, "record.every": every}
    for path, value in changes.items():
        experiment = experiment.replace(path, value)
    return experiment


@pytest.mark.parametrize("precision", [pytest.param("float32", marks=pytest.mark.slow), "float64"])
def test_noise_stays_suppressed_after_the_penalty(precision):
    """The setting of Figure 3 with noise 1.5."""
    experiment = working(1.5, 30000, 16000, 1000)
    in_span = ls.run(experiment, seeds=3, precision=precision, progress=False)
    assert in_span.attrs["coordinates_used"] == "compressed"
    noise = in_span.noise_memorisation
    # Stepped, it is far below the rounding of the filters, and never above 1e-20 again.
    assert (noise.sel(step=5000) < (1e-70 if precision == "float64" else 1e-30)).all()
    assert (noise.sel(step=slice(5000, None)) < 1e-20).all()
    assert (in_span.signal_learning.isel(step=-1) > 1).all()


def test_in_weights_rounding_freezes_it():
    """The power of the test above, and what a script sees: the residue of rounding, which neither
    decays nor grows, since what a step adds is below the rounding of the weights."""
    experiment = working(1.5, 6000, 4000, 1000)
    noise = ls.run(experiment, seeds=2, coordinates="ambient", progress=False).noise_memorisation
    assert (noise.sel(step=slice(3000, None)) > 1e-10).all()
