r"""The four phases of training two neurons with a head (Wen and Li, section 5), event by event.

Neuron 1 is the one whose overlap with the strong feature begins larger, $R_j$ the squared norm of a
neuron's noise part, $r = \eta_E/\eta$, $c_1 = C_1 \alpha_1^6$, $c_2 = C_2 \sigma^6$.

| time | as printed (`paper`) | `working` |
|---|---|---|
| $T_1$ | $\lvert B_{11}\rvert \ge 0.01$ | $\lvert B_{11}\rvert \ge \|w_1(0)\|/2$ |
| $T_2$ | $R_2 < \lvert E_{21}\rvert / \log d$ | $c_1 E_{21}^2 B_{11}^6 \ge 15 c_2 R_2^3$ |
| $T_{3,1}$ | $C_1 \alpha_2^6 B_{22}^6 \ge 15 c_2 R_2^3$ (D.2) | it |
| $T_3$ | $2 \lvert B_{22}\rvert \ge \min(\lvert B_{11}\rvert, \lvert E_{21}\rvert/\sqrt r)$ | it |
| $T_4$ | none: $\lvert E_{21}\rvert$ below a hundredth of its value at $T_3$ | it |

Each counts from the one before; the last record is at ten times $T_4$. (C.1) prints $E_{12}$ for
$E_{21}$. The printed $T_1$ holds at the start up to $d = 10^4$. The working triggers say what the
printed ones are for: the strong feature is most of the first filter, and what the second neuron
predicts by the first is more than its noise. Times are roots, found by halving the integrator's
step; the equations are autonomous, so that each phase has a clock of its own and loses no digits
of $T_2 - T_1 \ll T_1$.
"""

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from learnscope.data import StrongWeak
from learnscope.errors import unknown
from learnscope.papers.pred_head.parts.population_flow import Flow
from learnscope.papers.pred_head.parts.population_law import Law
from learnscope.papers.pred_head.parts.rosenbrock import Walk, until_event
from learnscope.space import Frame

TRIGGERS = ("working", "paper")
EVENTS = ("start", "T1", "T2", "T3,1", "T3", "T4", "10 T4")
_TOLERANCE = 1e-9  # of a step of the integrator, relative
_NEVER = 1e4  # times d^2: an event that has not come by then is given up


def proof_starts(model: StrongWeak, draws: int, log_dim: float) -> Float[np.ndarray, "draw 2 2"]:
    r"""$\sqrt d B$ of random starts as the proof has them (Lemma B.1): ordered, with $|B_{11}| \ge
    (1 + 1/\log d)|B_{21}|$ and all within a factor of $\log d$; and from which both neurons would
    learn the strong feature without a head, as they all do if $\alpha_1/\alpha_2$ is large."""
    random, found = np.random.default_rng(0), []
    powers = np.array([float(s) for s in model.strengths]) ** 1.5
    while len(found) < draws:
        sizes = np.abs(random.standard_normal((2, 2)))
        sizes = sizes[np.argsort(-sizes[:, 0])]
        apart = sizes[0, 0] >= (1 + 1 / log_dim) * sizes[1, 0]
        close = sizes.min() >= sizes.max() / log_dim
        if apart and close and (powers[0] * sizes[:, 0] > powers[1] * sizes[:, 1]).all():
            found.append(sizes)
    return np.array(found)


def phase_times(
    models: Sequence[StrongWeak], starts: Float[np.ndarray, "draw 2 2"], ratios: Sequence[float],
    triggers: str = "working",
) -> xr.Dataset:  # fmt: skip
    """The flow at every event, for each model (of its dimension, with its ratio of rates) and
    start: the time since the last event (infinite: it never came), B, R and E."""
    if triggers not in TRIGGERS:
        raise unknown("kind of triggers", triggers, TRIGGERS)
    with jax.enable_x64(True):
        laws = [jax.tree.map(lambda x: jnp.asarray(x, float), Law.of(m)) for m in models]
        law = jax.tree.map(lambda *each: jnp.stack(each), *laws)
        dims = jnp.asarray([float(m.dim) for m in models])
        keys = jax.random.split(jax.random.key(0), len(starts))
        one = functools.partial(_events, triggers == "paper")
        runs = jax.vmap(jax.vmap(one, (None, None, None, 0, 0)), (0, 0, 0, None, None))
        found = jax.jit(runs)(law, dims, jnp.asarray(ratios), jnp.asarray(starts), keys)
        elapsed, overlaps, noise, head = (np.asarray(x) for x in found)
    axes = ("dim", "seed", "step")
    return xr.Dataset(
        {
            "elapsed": (axes, elapsed),
            "strength": ((*axes, "neuron", "feature"), overlaps),
            "noise": ((*axes, "neuron"), noise),
            "head": ((*axes, "neuron", "other_neuron"), head - np.eye(2)),
        },
        {"dim": np.asarray(dims), "seed": np.arange(len(starts)), "step": np.arange(len(EVENTS)),
         "event": ("step", list(EVENTS)), "ratio": ("dim", np.asarray(ratios, float))},
    )  # fmt: skip


def _events(
    paper: bool, law: Law, dim: Array, ratio: Array, sizes: Array, key: Array
) -> tuple[Array, ...]:
    """One run at every event."""
    _, frame = Frame(dim, 4).axes(2)
    beyond = frame.gaussian_rows(key, 2)[0][:, 2:] / jnp.sqrt(dim)
    overlaps = sizes / jnp.sqrt(dim)
    flow = Flow(law, beyond @ beyond.T, jnp.eye(2), 1.0, ratio, "identity", "batch", True)
    length = jnp.sqrt((overlaps[0] ** 2).sum() + flow.gram[0, 0])

    def margins(value: Array, entry: Array) -> Array:
        """Of every event: it is there where this is not negative."""
        (strong, _), (_, weak) = jnp.abs(flow.unpacked(value)[0])
        substitute = jnp.abs(flow.unpacked(value)[2][1, 0])
        left = flow.now(flow.unpacked(value)[1])[1, 1]
        own = 15 * law.noise * left**3
        replaced = law.within[0] * substitute**2 * strong**6 - own
        caught = weak - jnp.minimum(strong, substitute / jnp.sqrt(ratio)) / 2
        first = strong - (0.01 if paper else length / 2)
        second = substitute / jnp.log(dim) - left if paper else replaced
        third = law.within[1] * weak**6 - own
        return jnp.stack([first, second, third, caught, 0.01 * entry - substitute, -jnp.ones(())])

    def on(carry: tuple[Walk, Array, Array], event: Array):
        walk, total, entry = carry
        end, alive = event == len(EVENTS) - 2, jnp.isfinite(total)
        until = jnp.where(alive, jnp.where(end, 9 * total, _NEVER * dim**2), 0.0)
        trigger = lambda value: margins(value, entry)[event]  # noqa: E731
        walk, fired = until_event(flow, trigger, walk, until, jnp.asarray(_TOLERANCE), 20000)
        elapsed = jnp.where(alive & (fired | end), walk.time, jnp.inf)
        overlaps, turn, head = flow.unpacked(walk.value)
        seen = elapsed, overlaps, jnp.diag(flow.now(turn)), head
        rested = walk._replace(time=jnp.zeros(()), size=jnp.maximum(walk.size, 1e-2))
        return (rested, total + elapsed, jnp.abs(head[1, 0])), seen

    zero = jnp.zeros((), int)
    begun = Walk(jnp.zeros(()), flow.start(overlaps), jnp.asarray(1e-2), zero, zero)
    _, seen = jax.lax.scan(on, (begun, jnp.zeros(()), jnp.ones(())), jnp.arange(len(EVENTS) - 1))
    first = jnp.zeros(()), overlaps, jnp.diag(flow.gram), jnp.eye(2)
    return tuple(jnp.concatenate([a[None], b]) for a, b in zip(first, seen, strict=True))
