"""The nouns fit `input_structure`: a dictionary of patterns, two special steps, then SGD.

Shi, Wei and Liang: the input's structure shows in the first gradients, so that a network learns the
relevant patterns and then their parity; random features of the same size cannot.
"""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

import learnscope as ls
from learnscope.data import AbstractData, Frame, MiniBatch, Problem, Samples
from learnscope.nets import AbstractInnerProductNet, AbstractNet, Params
from learnscope.nets.activations import truncated
from learnscope.part import Number, choice, count, flag, number
from learnscope.probes import AbstractProbe, Output
from learnscope.rules import LOSSES, AbstractGradientRule, AbstractRule, State
from learnscope.rules import optimiser as opt


class TinyPatterns(AbstractData):
    r"""$x = M (\phi - E\phi) / \tilde\sigma$, label: the parity of the relevant patterns (E.1.1).

    With structure, all relevant patterns are there or none is in half of the inputs; otherwise, and
    without structure, every pattern is there with probability 1/2.
    """

    dim: Number = number(low=2, whole=True, shape=True)
    patterns: int = count()
    relevant: int = count()
    train: int = count()
    test: int = count()
    batch: int = count()
    structure: bool = flag(True)

    @property
    def compression(self) -> str:
        return "gaussian_rows"

    @property
    def span(self) -> int:
        return self.patterns  # no input ever leaves the dictionary

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        frame = Frame.of_dimension(self.dim) if frame is None else frame
        train_key, test_key = jax.random.split(key)
        dictionary, frame = frame.axes(self.patterns)
        return Problem(
            train=self._samples(train_key, self.train, dictionary, frame, self.patterns),
            test=self._samples(test_key, self.test, dictionary, frame, self.patterns),
            directions={"dictionary": dictionary},
            frame=frame,
            batches=MiniBatch(self.batch),
        )

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        dictionary, frame = problem.directions["dictionary"], problem.frame
        return self._samples(key, 1, dictionary, frame, frame.rank).take(jnp.asarray(0))

    def _samples(
        self, key: Key[Array, ""], size: int, dictionary: Array, frame: Frame, width: int
    ) -> Samples:
        draw = jax.random.uniform(key, (size, self.patterns + 2))
        active = draw[:, 2:] < 0.5
        if self.structure:
            together = (draw[:, :1] < 0.5) & (jnp.arange(self.patterns) < self.relevant)[None]
            active = jnp.where(together, draw[:, 1:2] < 0.5, active)
        odd = active[:, : self.relevant].sum(1) % 2 == 1
        code = (active - 0.5) / jnp.sqrt(self.patterns / 4)
        x = code @ dictionary if frame.ambient else (code @ dictionary[:, :width],)
        return Samples(x=x, y=jnp.where(odd, 1.0, -1.0), marks={"active": active})


class TinyTwoLayer(AbstractInnerProductNet):
    r"""$g(x) = \sum_i a_i \sigma(\langle w_i, x \rangle + b_i)$, $\sigma(z) = \min(1, \max(z, 0))$.

    Drawn unbiased: every neuron has a twin with the opposite $a_i$, so that $g = 0$ at first.
    """

    width: int = count()
    scale: Number = number(above=0)
    bias_scale: Number = number(low=0)
    second_scale: Number = number(above=0)

    @property
    def rows(self) -> int:
        return self.width  # twins share a direction

    @property
    def isotropic(self) -> bool:
        return True

    def init(self, key: Key[Array, ""], problem: Problem) -> Params:
        row_key, other_key = jax.random.split(key)
        rows, _ = problem.frame.gaussian_rows(row_key, self.width)
        bias, second = jax.random.normal(other_key, (2, self.width))
        return {
            "filters": jnp.tile(self.scale * rows, (2, 1)),
            "bias": jnp.tile(self.bias_scale * bias, 2),
            "second": self.second_scale * jnp.concatenate([second, -second]),
        }

    def read(self, params: Params, seen: tuple[Float[Array, "filter n"], ...]) -> Array:
        (z,) = seen
        return params["second"] @ truncated(z + params["bias"][:, None], 1, 1)


class TinyTwoStep(AbstractRule):
    r"""$\theta \leftarrow (1 - 2 \eta \lambda) \theta - \eta \nabla L$, all of it by the step.

    The first two steps see all training data; in them $\lambda_w = 1 / (2 \eta)$, and in the second
    $\lambda_a$ too, so that the step replaces what was there. Afterwards plain mini-batch SGD.
    """

    first_rate: Number = number(above=0)
    second_rate: Number = number(above=0)
    rate: Number = number(above=0)
    loss: str = choice(*LOSSES, default="hinge")

    @property
    def basis_dependence(self) -> str | None:
        return None

    def prepare(self, net: AbstractNet, params: Params, problem: Problem, key: Key) -> Any:
        return ()

    def step(self, state: State, problem: Problem, key: Key[Array, ""]) -> State:
        first, second = state.step == 0, state.step == 1
        slope = lambda samples: jax.grad(lambda p: state.losses(p, samples).mean())(state.params)  # noqa: E731
        gradient = jax.lax.cond(
            first | second, lambda: slope(problem.train), lambda: slope(problem.batch(key))
        )
        rate = jnp.where(first, self.first_rate, jnp.where(second, self.second_rate, self.rate))
        kept = {"filters": jnp.where(first | second, 0, 1), "second": jnp.where(second, 0, 1)}
        params = {
            name: kept.get(name, 1) * value - rate * gradient[name]
            for name, value in state.params.items()
        }
        return state.advance(params, ())


class TinyRandomFeatures(AbstractGradientRule):
    """Gradient descent on the second layer alone."""

    rate: Number = number(above=0)
    loss: str = choice(*LOSSES, default="hinge")
    optimiser: str | opt.Factory = opt.optimiser_field()
    options: dict[str, Any] = opt.options_field()

    def gradient(self, state: State, problem: Problem, key: Key[Array, ""]) -> Params:
        batch = problem.batch(key)
        frozen = jax.tree.map(jnp.zeros_like, state.params)
        loss = lambda second: state.losses({**state.params, "second": second}, batch).mean()  # noqa: E731
        return {**frozen, "second": jax.grad(loss)(state.params["second"])}


class PatternAlignment(AbstractProbe):
    """max_i |cos(w_i, sum of the relevant patterns)|; a neuron without weights has none."""

    relevant: int = count()
    outputs: ClassVar = {"alignment": Output("alignment with the relevant patterns")}

    def __call__(self, state: State, problem: Problem) -> Array:
        target = problem.directions["dictionary"][: self.relevant].sum(0)
        filters = state.params["filters"]
        norms = jnp.linalg.norm(filters, axis=1) * jnp.linalg.norm(target)
        return jnp.where(norms > 0, jnp.abs(filters @ target) / norms, 0.0).max()


PATTERNS, RELEVANT = 20, 3
EXPERIMENT = ls.Experiment(
    data=TinyPatterns(
        dim=1000, patterns=PATTERNS, relevant=RELEVANT, train=4000, test=1000, batch=200
    ),
    net=TinyTwoLayer(
        width=50,
        scale=1 / RELEVANT,
        bias_scale=1 / RELEVANT**2,
        second_scale=PATTERNS / RELEVANT**2,
    ),
    rule=TinyTwoStep(first_rate=1e-3, second_rate=10.0, rate=1.0),
    steps=100,
    probes=[ls.probes.TestAccuracy(), PatternAlignment(relevant=RELEVANT)],
    record=ls.Record(every=2),
)


def test_the_network_learns_the_parity_that_random_features_cannot():
    rules = [EXPERIMENT.rule, TinyRandomFeatures(rate=0.1)]
    result = ls.run(EXPERIMENT, over={"rule": rules}, seeds=3, progress=False)
    assert result.attrs["coordinates_used"] == "compressed"
    last = result.isel(step=-1)
    network, fixed = (last.sel(rule=name) for name in ("TinyTwoStep", "TinyRandomFeatures"))
    assert (network.test_accuracy > 0.98).all()
    assert (fixed.test_accuracy < 0.8).all()
    assert (result.alignment.sel(rule="TinyTwoStep", step=2) > 0.99).all()
    frozen = result.alignment.sel(rule="TinyRandomFeatures")
    assert (frozen == frozen.isel(step=0)).all()


def test_without_structure_nothing_is_learnt():
    result = ls.run(EXPERIMENT.replace("data.structure", False), seeds=3, progress=False)
    assert (abs(result.test_accuracy.isel(step=-1) - 0.5) < 0.1).all()
    assert (result.alignment.sel(step=2) < 0.9).all()


def test_the_first_two_steps_replace_the_weights(float64):
    """Against formulas, neuron by neuron: the hinge is linear while |g| < 1 (here g = 0)."""
    data, net, rule = EXPERIMENT.data, EXPERIMENT.net, EXPERIMENT.rule

    @jax.jit
    def steps():
        problem = data.replace("dim", 80).sample(jax.random.key(0))
        first = rule.init(net, problem, jax.random.key(1))
        key = jax.random.key(2)
        second = rule.step(first, problem, key)
        return problem.train, first.params, second.params, rule.step(second, problem, key).params

    train, start, one, two = steps()
    for rate, before, after in ((1e-3, start, one), (10.0, one, two)):
        z = train.x @ before["filters"].T + before["bias"][None]
        inside = (z > 0) & (z < 1)
        weighted = (train.y[:, None] * inside) * before["second"][None]
        np.testing.assert_allclose(
            after["filters"],
            rate * weighted.T @ train.x / len(train.y),
            rtol=1e-3,
            atol=1e-6 * rate,
        )
    features = jnp.clip(train.x @ one["filters"].T + one["bias"][None], 0, 1)
    np.testing.assert_allclose(
        two["second"], 10.0 * train.y @ features / len(train.y), rtol=1e-10, atol=1e-12
    )


def test_the_experiment_can_be_stored():
    assert ls.Experiment.from_toml(EXPERIMENT.to_toml()) == EXPERIMENT
    assert ls.Experiment.from_json(EXPERIMENT.to_json()) == EXPERIMENT
