"""Compression is tried before it is used: users' parts for which it would be wrong, and ours."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope import papers
from learnscope.data import AbstractData, Frame, Fresh, Problem, Samples
from learnscope.engine import trial
from learnscope.engine.experiment import in_law, obstacle
from learnscope.lab.blocks import Plan
from learnscope.papers.input_structure import experiments as input_structure
from learnscope.part import Number, choice, count, number
from learnscope.probes import AbstractProbe, Output
from learnscope.rules import LOSSES, AbstractGradientRule
from learnscope.rules import optimiser as opt
from learnscope.space import Space
from tests.conformance.battery import of
from tests.conformance.examples import experiment_with

pytestmark = pytest.mark.usefixtures("tried")


class _Own(AbstractGradientRule):
    """A user's rule with a gradient of its own and plain descent, as in the documentation."""

    rate: Number = number(0.1, above=0)
    weight: Number = number(0.3, low=0)
    after: int = count(0, low=0)
    loss: str = choice(*LOSSES, default="logistic")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def gradient(self, state, problem, key):
        plain = state.gradient(problem.batch(key))
        changed = jax.tree.map(lambda g, w: self.changed(g, w, key), plain, state.params)
        late = state.step >= self.after
        return jax.tree.map(lambda a, b: jnp.where(late, a, b), changed, plain)

    def changed(self, g, w, key):
        raise NotImplementedError


class SignDescent(_Own):
    def changed(self, g, w, key):
        return 0.1 * jnp.sign(g)


class Langevin(_Own):
    def changed(self, g, w, key):
        return g + self.weight * jax.random.normal(key, g.shape, g.dtype)


class Lasso(_Own):
    def changed(self, g, w, key):
        return g + self.weight * jnp.sign(w)


class RootMeanSquare(_Own):
    """The mean is over coordinates, of which there are fewer in compressed ones."""

    def changed(self, g, w, key):
        return g / jnp.sqrt((g**2).mean() + 1e-12)


class Adversarial(_Own):
    """A step along the gradient by the inputs: along a patch that is cut, all of it is lost."""

    def gradient(self, state, problem, key):
        batch = problem.batch(key)

        def loss(x):
            return state.losses(Samples(x, batch.y)).mean()

        slope = jax.grad(loss)(batch.x)
        size = jnp.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(slope)))
        x = jax.tree.map(lambda x, g: x + self.weight * g / (size + 1e-12), batch.x, slope)
        return state.gradient(Samples(x, batch.y))


class NoisyInputs(_Own):
    def gradient(self, state, problem, key):
        batch = problem.batch(key)
        add = lambda x: x + self.weight * jax.random.normal(key, x.shape, x.dtype)  # noqa: E731
        return state.gradient(Samples(jax.tree.map(add, batch.x), batch.y))


class Skeleton(AbstractData):
    """The documented skeleton."""

    dim: Number = number(1000, low=2, high=1e12, whole=True, shape=True)
    train: int = count(20)
    test: int = count(50)

    @property
    def space(self):
        return Space(1 + self.train, "gaussian_rows")

    def sample(self, key, frame=None):
        frame = Frame.of_dimension(int(self.dim)) if frame is None else frame
        train_key, test_key, y_key, test_y_key = jax.random.split(key, 4)
        axis, frame = frame.axes(1)
        noise, frame = self.noise(train_key, frame)
        test_noise = frame.gaussian_points(test_key, self.test)
        train = self._samples(y_key, axis[0], noise)
        test = self._samples(test_y_key, axis[0], test_noise)
        return Problem(train, test, {"signal": axis[0]}, frame, **self.more())

    def noise(self, key, frame):
        return frame.gaussian_rows(key, self.train)

    def more(self) -> dict[str, Any]:
        return {}

    def example(self, key, problem):
        noise_key, label_key = jax.random.split(key)
        noise = problem.frame.gaussian_points(noise_key, 1)
        return self._samples(label_key, problem.directions["signal"], noise).take(jnp.asarray(0))

    def _samples(self, key, signal, noise):
        y = jnp.where(jax.random.bernoulli(key, shape=noise.shape[:1]), 1.0, -1.0)
        x = jnp.stack([y[:, None] * signal[None], 0.1 * noise], axis=1)
        return Samples(x, y, {"noise": noise})


class FreshSkeleton(Skeleton):
    def more(self):
        return {"batches": Fresh(self, 32)}


class RankNoise(Skeleton):
    """Noise as wide as the frame, where it must be as long as in `dim` dimensions."""

    def noise(self, key, frame):
        _, after = frame.gaussian_rows(key, self.train)
        return jax.random.normal(key, (self.train, frame.rank)), after


class WrongSpan(Skeleton):
    """A span that counts one vector too many."""

    @property
    def space(self):
        return Space(2 + self.train, "gaussian_rows")


class LargestWeight(AbstractProbe):
    outputs: ClassVar = {"largest_weight": Output("largest weight")}

    def __call__(self, state, problem):
        return jnp.abs(state.params.filters).max()


class Coordinates(ls.nets.PatchCNN):
    """Sees the first coordinate of its inputs, beside inner products."""

    def __call__(self, params, x):
        first = sum(leaf[..., 0].reshape(leaf.shape[0], -1).sum(1) for leaf in jax.tree.leaves(x))
        return super().__call__(params, x) + first


def setting(**changes) -> ls.Experiment:
    usual = {
        "data": ls.data.SignalNoise(dim=1000, train=20, test=200, signal=1.0, noise=0.5),
        "net": ls.nets.PatchCNN(width=10, activation="relu", scale=0.01),
        "rule": ls.rules.GradientDescent(rate=0.1),
        "record": ls.Record(every=10),
    }
    return ls.Experiment(**(usual | {"steps": 30} | changes))


# Cases of users' code that were compressed in silence, and more.
SIGN = {"rule": SignDescent()}, "SignDescent moved differently in two bases"
WRONG = {
    "Langevin": ({"rule": Langevin()}, "Langevin moved differently in two bases"),
    "lasso": ({"rule": Lasso()}, "Lasso moved differently in two bases"),
    "adversarial inputs": ({"rule": Adversarial()}, "Adversarial moved differently in two bases"),
    "root mean square": ({"rule": RootMeanSquare()}, "RootMeanSquare moved differently"),
    "noisy inputs": ({"rule": NoisyInputs()}, "NoisyInputs moved differently in two bases"),
    "fresh examples": ({"data": FreshSkeleton()}, "FreshSkeleton draws new examples"),
    "noise of the rank": ({"data": RankNoise()}, "RankNoise drew .* of another law"),
    "a late change": ({"rule": SignDescent(after=20)}, "SignDescent moved differently"),
    "span": ({"data": WrongSpan()}, "WrongSpan used 21? coordinates|used .* where its span is"),
    "probe": ({"probes": [LargestWeight()]}, "LargestWeight reads another largest_weight"),
    "net": ({"net": Coordinates(width=3)}, "Coordinates has other outputs in another basis"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_compression_would_change_runs_in_all_coordinates(name: str):
    changes, sentence = WRONG[name]
    experiment = setting(**changes)
    with pytest.warns(UserWarning, match=sentence) as said:
        plan = Plan.of(experiment, None, 2)
    assert "so the run uses all 1000 coordinates" in str(said[0].message)
    assert plan.coordinates == "ambient" and plan.why_ambient in str(said[0].message)
    with pytest.raises(ls.BadInput, match=f"is not possible: .*({sentence})"):
        ls.run(experiment, coordinates="compressed")


def test_such_a_run_has_the_right_numbers():
    """Those of a run that was asked to be ambient; it says why."""
    changes, sentence = SIGN
    asked = ls.run(setting(**changes), seeds=2, coordinates="ambient")
    with pytest.warns(UserWarning, match=sentence):
        result = ls.run(setting(**changes), seeds=2)
    assert result.attrs["coordinates_used"] == "ambient"
    assert result.attrs["why_ambient"] == sentence
    for variable in asked.data_vars:
        np.testing.assert_array_equal(result[variable], asked[variable])


def test_a_number_that_is_zero_at_first_is_tried_where_it_is_swept():
    experiment = setting(rule=Lasso(weight=0.0))
    assert Plan.of(experiment).coordinates == "compressed"
    with pytest.warns(UserWarning, match="Lasso moved differently"):
        swept = Plan.of(experiment, {"rule.weight": [0.0, 0.3]})
    assert swept.coordinates == "ambient"


def test_a_change_too_weak_to_be_seen_is_found_out():
    """It used to be accepted, and in the same process every later weight with it."""
    for weight in (1e-12, 0.3):
        why = trial.objection(setting(rule=Lasso(weight=weight)), "compressed")
        assert why == "Lasso moved differently in two bases"


def test_what_is_tried_has_usual_values_and_keeps_special_ones():
    rule = ls.rules.PerExamplePenalty(rate=3e-5, weight=0.0, until=800)
    data = ls.data.ClassNoise(dim=900, classes=2, train_per_class=9, test=9, signal=40.0,
                              correlation=3.0)  # fmt: skip
    tried = trial._usual(setting(data=data, rule=rule))
    assert (tried.rule.rate, tried.rule.weight, tried.rule.until) == (0.1, 0.0, 1.0)
    assert (tried.data.signal, tried.data.correlation, tried.data.dim) == (1.0, 3.0, 900)
    assert trial._usual(setting(rule=rule.replace("weight", 7.0))).rule.weight == 1.0


def test_parts_that_are_right_are_compressed():
    for changes in ({"data": Skeleton()}, {"rule": ls.rules.FullPenalty(rate=0.1, weight=0.2)}):
        plan = Plan.of(setting(**changes))
        assert plan.coordinates == "compressed" and plan.why_ambient is None


def claimed() -> list:
    """Experiments whose parts claim compression, and its form; on request most of the later
    papers', and further examples of a kind."""
    cases, seen = [], set()
    for case in of("data", "net", "rule", "probes", later=True, deep=True):
        experiment = experiment_with(*case.values)
        if obstacle(experiment, [float(experiment.data.dim)]) is None:
            form = "compressed" if in_law(experiment) else "rotate"
            kind = type(case.values[1]), form
            # What nets and probes compile, data models and rules have for the most part.
            later = kind in seen or case.values[0] in ("net", "probes")
            marks = pytest.mark.slow if later else case.marks
            cases.append(pytest.param(experiment, form, id=case.id, marks=marks))
            seen |= set() if marks else {kind}
    return cases


@pytest.mark.parametrize(("experiment", "form"), claimed())
def test_every_part_that_claims_compression_passes_the_trial(experiment, form):
    assert trial.objection(experiment, form) is None


class Normalised(_Own):
    """The norm of a move is taken as if it were one of weights; in weights this is equivariant."""

    def gradient(self, state, problem, key):
        slope = state.gradient(problem.batch(key))
        norm = jnp.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(slope)))
        return jax.tree.map(lambda leaf: leaf / norm, slope)


class NormalisedMove(_Own):
    """The same with the state's own inner product."""

    def gradient(self, state, problem, key):
        slope = state.gradient(problem.batch(key))
        norm = jnp.sqrt(state.dot(slope, slope))
        return jax.tree.map(lambda leaf: leaf / norm, slope)


def test_a_norm_of_coefficients_is_found_out():
    assert "state.dot" in trial.objection(setting(rule=Normalised()), "compressed")
    assert trial.objection(setting(rule=NormalisedMove()), "compressed") is None


def test_probes_of_several_classes_have_a_small_copy():
    """Two classes are another kind of labels, for which these probes do not fit."""
    data = ls.data.ClassNoise(dim=1000, classes=5, train_per_class=100, test=1000, signal=1.0)
    net = ls.nets.PatchCNN(width=100, activation="relu", scale=0.01, classes=5)
    experiment = setting(data=data, net=net, probes=[ls.probes.ClassAccuracy()])
    assert trial.objection(experiment, "compressed") is None


def test_counts_of_every_class_are_lowered_in_the_small_copy():
    data = ls.data.ClassNoise(dim=900, classes=3, train_per_class=(50, 200, 9), test=90, signal=1.0)
    net = ls.nets.PatchCNN(width=40, activation="relu", classes=3)
    rule = ls.rules.GradientDescent(rate=0.1)
    small = next(trial.copies(ls.Experiment(data=data, net=net, rule=rule, steps=3)))
    assert small.data.sizes == (2, 2, 2)


def test_outputs_that_cancel_to_a_rounding_error_are_no_objection():
    """A symmetric start has the output 0, computed as 0 in one basis and as 7e-18 in another."""
    unequal = input_structure.parity("laptop", negative=0.8)
    probes = (ls.probes.TestAccuracy(), ls.probes.TrainAccuracy(examples=5000))
    for learner in (input_structure.NETWORK, input_structure.ONE):
        experiment = unequal.experiment(learner, probes)
        assert trial.objection(experiment, "compressed") is None
    assert not trial._same(np.zeros(2), np.array([0.0, 1e-12]), 0.0)


def test_a_rule_with_a_batch_of_tasks_has_a_small_copy():
    """Of 343 tasks, 16 a step: a copy has two tasks, and so no batch of 16."""
    arm = papers.STUDIES["meta_split"].sweeps("laptop")["tables"].arms[0]
    assert trial.objection(arm.experiment, "compressed") is None
