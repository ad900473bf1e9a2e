"""The nouns fit `pred_head`: a self-supervised rule on pairs of fresh samples, with a head.

Wen and Li: without a prediction head both neurons learn the strong feature (dimensional collapse);
with one whose off-diagonal is trained from the identity, the other neuron learns the weak feature,
and the off-diagonal rises and falls again.
"""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

import learnscope as ls
from learnscope.data import AbstractData, Frame, Fresh, Problem, Samples
from learnscope.nets import AbstractInnerProductNet, AbstractNet, Params
from learnscope.part import Number, choice, count, number
from learnscope.probes import AbstractProbe, Output
from learnscope.rules import AbstractRule, State


class TinyStrongWeak(AbstractData):
    r"""Feature patches $\pm \alpha_l v_l$, the rest noise in $V^\perp$ (Definition 3.1).

    Which patches carry the feature does not matter to a net that treats patches alike, nor to a
    random mask: they come first.
    """

    dim: Number = number(low=3, whole=True, shape=True)
    patches: int = count(low=2)
    feature_patches: int = count()
    strong: Number = number(above=0)
    weak: Number = number(above=0)
    noise: Number = number(low=0)
    batch: int = count(low=2)
    test: int = count()

    @property
    def compression(self) -> str:
        return "none"  # every step brings new vectors to move along

    @property
    def span(self) -> int:
        return 2 + self.test * self.patches

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        assert frame is None
        features, frame = Frame.of_dimension(self.dim).axes(2)
        held = self._samples(key, self.test, features)
        return Problem(held, held, {"features": features}, frame, Fresh(self, self.batch))

    def example(self, key: Key[Array, ""], problem: Problem) -> Samples:
        return self._samples(key, 1, problem.directions["features"]).take(jnp.asarray(0))

    def _samples(self, key: Key[Array, ""], size: int, features: Float[Array, "2 dim"]) -> Samples:
        # One draw for everything: random bits are most of a program's compile time.
        others = self.patches - self.feature_patches
        normal = jax.random.normal(key, (size, others + 1, features.shape[1]))
        coin, normal = normal[:, 0], normal[:, 1:]
        which = jnp.where(coin[:, 0] < 0, 0, 1)
        sign = jnp.where(coin[:, 1] < 0, -1.0, 1.0)
        strength = sign * jnp.where(which == 0, self.strong, self.weak)
        carried = (strength[:, None] * features[which])[:, None]
        noise = self.noise * (normal - normal @ features.T @ features)
        x = jnp.concatenate([jnp.repeat(carried, self.feature_patches, axis=1), noise], axis=1)
        return Samples(x=x, y=which, marks={"sign": sign})


class TinyEncoder(AbstractInnerProductNet):
    """One neuron for each feature, f_j(X) = sum_p <w_j, X_p>^3.

    Neuron 1 starts nearer to the strong feature and neuron 2 nearer to the weak one: the draw of
    which the paper's Figure 7 tells.
    """

    tilt: Number = number(1.0, low=0)

    @property
    def rows(self) -> int:
        return 2

    @property
    def isotropic(self) -> bool:
        return True

    def init(self, key: Key[Array, ""], problem: Problem) -> Params:
        row_key, sign_key = jax.random.split(key)
        rows, _ = problem.frame.gaussian_rows(row_key, 2)
        features = problem.directions["features"]
        size = jnp.array([[2.0, 1.0], [1.0, 1.3]]) ** self.tilt
        signs = jnp.where(jax.random.bernoulli(sign_key, 0.5, (2, 2)), 1.0, -1.0)
        rows = rows - rows @ features.T @ features + (size * signs) @ features
        return {"filters": rows / jnp.sqrt(problem.frame.dim)}

    def read(self, params: Params, seen: tuple[Float[Array, "filter n *patch"], ...]) -> Array:
        return sum((z**3).sum(tuple(range(2, z.ndim))) for z in seen).T


def half_masked(key: Key[Array, ""], x: Float[Array, "n patch dim"]) -> tuple[Array, Array]:
    """A positive pair: a random half of the patches, and the other half (equation 3.2)."""
    draw = jax.random.uniform(key, x.shape[:2])
    place = (draw[:, :, None] > draw[:, None, :]).sum(-1)
    first = (place < x.shape[1] // 2)[..., None]
    return jnp.where(first, x, 0.0), jnp.where(first, 0.0, x)


def batch_normalised(z: Float[Array, "n neuron"]) -> Float[Array, "n neuron"]:
    centred = z - z.mean(0, keepdims=True)
    return centred / jnp.sqrt((centred**2).mean(0, keepdims=True))


class TinyNonContrastive(AbstractRule):
    r"""Gradient descent on $\| BN(E f(X^{(1)})) - sg\, BN(f(X^{(2)})) \|^2$ (Algorithm 1)."""

    rate: Number = number(above=0)
    head_rate: Number = number(low=0)
    head: str = choice("identity", "none", default="identity")
    loss: str = choice("alignment", default="alignment")

    @property
    def basis_dependence(self) -> str | None:
        return None

    def prepare(self, net: AbstractNet, params: Params, problem: Problem, key: Key) -> Any:
        size = jax.eval_shape(net, params, problem.train.x).shape[-1]
        return {"head": jnp.eye(size)}

    def step(self, state: State, problem: Problem, key: Key[Array, ""]) -> State:
        batch_key, mask_key = jax.random.split(key)
        one, other = half_masked(mask_key, problem.batch(batch_key).x)

        def misaligned(params: Params, head: Array) -> Array:
            online = batch_normalised(state.net(params, one) @ head.T)
            target = batch_normalised(jax.lax.stop_gradient(state.net(params, other)))
            return ((online - target) ** 2).sum(-1).mean()

        head = state.memory["head"]
        gradient, slope = jax.grad(misaligned, argnums=(0, 1))(state.params, head)
        params = jax.tree.map(lambda w, g: w - self.rate * g, state.params, gradient)
        if self.head == "identity":
            head = head - self.head_rate * slope * (1 - jnp.eye(head.shape[0]))
        return state.advance(params, {"head": head})


class HeadOffDiagonal(AbstractProbe):
    """The largest off-diagonal entry of the prediction head."""

    outputs: ClassVar = {"head_off_diagonal": Output("prediction head, largest off-diagonal entry")}

    def __call__(self, state: State, problem: Problem) -> Array:
        head = state.memory["head"]
        return jnp.abs(head - jnp.diag(jnp.diag(head))).max()


class Neurons(AbstractProbe):
    """Which feature each neuron has learnt, and how the two neurons correlate."""

    outputs: ClassVar = {
        "features": Output("<w_j, v_l>", dims=("neuron", "feature")),
        "correlation": Output("correlation of the two neurons"),
    }

    def __call__(self, state: State, problem: Problem) -> dict[str, Array]:
        values = batch_normalised(state(problem.test.x))
        return {
            "features": state.params["filters"] @ problem.directions["features"].T,
            "correlation": (values[:, 0] * values[:, 1]).mean(),
        }


EXPERIMENT = ls.Experiment(
    data=TinyStrongWeak(
        dim=12, patches=8, feature_patches=2, strong=3.0, weak=2.0, noise=1.0, batch=64, test=500
    ),
    net=TinyEncoder(),
    rule=TinyNonContrastive(rate=0.1, head_rate=0.1),
    steps=700,
    probes=[HeadOffDiagonal(), Neurons()],
    record=ls.Record(every=50),
)


def test_the_head_prevents_collapse():
    """In nearly all draws: with batches as small as these, one of ten does collapse."""
    result = ls.run(EXPERIMENT, over={"rule.head": ["identity", "none"]}, seeds=10, progress=False)
    assert result.attrs["coordinates_used"] == "ambient"
    with_head, without = (result.sel(head=head) for head in ("identity", "none"))
    np.testing.assert_array_equal(*(run.features.isel(step=0) for run in (with_head, without)))
    last = result.isel(step=-1)
    learnt = abs(last.features).argmax("feature")
    strong, weak = learnt.isel(neuron=0) == 0, learnt.isel(neuron=1) == 1

    assert (without.head_off_diagonal == 0).all()
    assert (abs(last.correlation.sel(head="none")) > 0.99).all()
    assert (strong & ~weak).sel(head="none").all()

    assert (with_head.head_off_diagonal.max("step") > 0.2).sum() >= 8
    assert (last.head_off_diagonal.sel(head="identity") < 0.05).sum() >= 8
    assert (abs(last.correlation.sel(head="identity")) < 0.3).sum() >= 8
    assert (strong & weak).sel(head="identity").sum() >= 8


def test_batches_are_fresh_and_views_are_halves():
    @jax.jit
    def draw():
        problem = EXPERIMENT.data.sample(jax.random.key(0))
        batches = [problem.batch(jax.random.key(seed)) for seed in (1, 1, 2)]
        return batches, half_masked(jax.random.key(3), batches[0].x)

    (one, same, other), views = draw()
    assert one.x.shape == (64, 8, 12)
    np.testing.assert_array_equal(one.x, same.x)
    assert not np.any(np.all(one.x == other.x, axis=(1, 2)))
    np.testing.assert_array_equal(views[0] + views[1], one.x)
    shown = [np.any(np.asarray(view) != 0, axis=-1).sum(1) for view in views]
    assert set(shown[0]) == set(shown[1]) == {4}


class OwnTarget(AbstractRule):
    """A rule that draws a second network, as a target that is not a copy would be."""

    loss: str = choice("alignment", default="alignment")

    @property
    def basis_dependence(self) -> str | None:
        return None

    def prepare(self, net: AbstractNet, params: Params, problem: Problem, key: Key) -> Any:
        return net.init(key, problem)

    def step(self, state: State, problem: Problem, key: Key[Array, ""]) -> State:
        return state.advance(state.params, state.memory)


class TargetDistance(AbstractProbe):
    """How far the rule's own network is from the one that is trained."""

    outputs: ClassVar = {"distance": Output("distance from the target")}

    def __call__(self, state: State, problem: Problem) -> Array:
        return jnp.abs(state.params["filters"] - state.memory["filters"]).max()


def test_what_a_rule_draws_is_independent_of_the_initial_weights():
    drawn = ls.Experiment(
        EXPERIMENT.data, EXPERIMENT.net, OwnTarget(), steps=1, probes=[TargetDistance()]
    )
    result = ls.run(drawn, seeds=2, progress=False)
    assert (result.distance > 0.01).all()


def test_the_experiment_can_be_stored():
    assert ls.Experiment.from_toml(EXPERIMENT.to_toml()) == EXPERIMENT
    assert ls.Experiment.from_json(EXPERIMENT.to_json()) == EXPERIMENT
