"""What a script can see of suppressed noise: the same training in five kinds of arithmetic.

The setting is a small copy of the reading of section 4.1 in which the penalty works, with lambda =
2m / (sigma_p^2 d). Switched off late, when the signal has been learnt, the penalty leaves noise
that stays suppressed; switched off early, noise that grows back. Stepped weights show neither.
"""

from decimal import Decimal, localcontext

import numpy as np
import xarray as xr

from learnscope.data import SignalNoise
from learnscope.lab import Experiment, Record, draw, run
from learnscope.nets import PatchCNN
from learnscope.probes import NoiseMemorisation, SignalLearning
from learnscope.rules import PerExamplePenalty

SEED, EXAMPLES, WIDTH, STEPS, EVERY, DIGITS = 3, 4, 2, 480, 5, 70
LATE, EARLY = UNTIL = (240, 120)
RATE, WEIGHT = 0.014, 0.01
EXPERIMENT = Experiment(
    data=SignalNoise(dim=400, train=EXAMPLES, test=1, signal=2.0, noise=1.0),
    net=PatchCNN(width=WIDTH, activation="relu2", scale=0.01),
    rule=PerExamplePenalty(rate=RATE, weight=WEIGHT, until=LATE),
    steps=STEPS,
    probes=(NoiseMemorisation(), SignalLearning()),
    record=Record(every=EVERY),
)
EXACT = f"{DIGITS} digits"
KINDS = ("weights, float32", "weights, float64", "span, float32", "span, float64", EXACT)


def arithmetic(seed: int = SEED) -> xr.Dataset:
    """Noise memorised and signal learnt from one draw in every kind of arithmetic, with the penalty
    switched off late and early: weights that are stepped as a script steps them, and learnscope's
    span."""
    names = ["noise_memorisation", "signal_learning"]
    over = {"rule.until": [float(until) for until in UNTIL]}
    spans = [run(EXPERIMENT, over, [seed], "compressed", precision, progress=False)
             for precision in ("float32", "float64")]  # fmt: skip
    found = [data[names].astype(float).rename(until="off") for data in spans]
    scripts = []
    for kind in (np.float32, np.float64, Decimal):
        one = found[1].copy(deep=True)
        for i, until in enumerate(UNTIL):
            with localcontext() as context:
                context.prec = DIGITS
                values = _stepped(seed, kind, until)
            for name, series in zip(names, values, strict=True):
                one[name][i, 0] = series
        scripts.append(one)
    kinds = [*scripts[:2], *found, scripts[2]]
    return xr.concat(kinds, "arithmetic", join="override").assign_coords(arithmetic=[*KINDS])


def _stepped(seed: int, kind: type, until: int) -> tuple[list[float], list[float]]:
    """max <w, xi> and max |<w, mu>| at the recorded steps, with weights of some kind of number.

    The gradient of example i is delta_i x_i; a move along it changes z by K_i delta_i, with the
    inner products K_i of its own patches, and H_i g_i is the change of delta_i.
    """
    problem, state = draw(EXPERIMENT, seed, "compressed", "float64")
    number = np.vectorize(lambda v: kind(float(v)), otypes=[object if kind is Decimal else kind])
    exponential = np.vectorize(Decimal.exp, otypes=[object]) if kind is Decimal else np.exp
    rate, weight, zero = kind(RATE) / kind(EXAMPLES), kind(WEIGHT), number(0.0)
    x, y, w = number(problem.train.x), number(problem.train.y), number(state.params.filters)
    signal = number(problem.directions["signal"])
    signs = number(np.repeat([1, -1], WIDTH))[:, None, None] / kind(WIDTH)
    own = [example.dot(example.T) for example in x]
    noises, signals = [], []
    for step in range(STEPS + 1):
        if step % EVERY == 0:
            noises.append(float(w.dot(x[:, 1].T).max()))
            signals.append(float(abs(w.dot(signal)).max()))
        z = np.stack([w.dot(example.T) for example in x], axis=1)
        positive = np.where(z > 0, z, zero)
        slope, outputs = 2 * signs * positive, (signs * positive**2).sum((0, 2))
        first = -y / (1 + exponential(y * outputs))
        delta = first[None, :, None] * slope
        if step < until:
            shift = np.stack([delta[:, i].dot(k) for i, k in enumerate(own)], axis=1)
            second = -first * (y + first) * (slope * shift).sum((0, 2))
            bend = np.where(z > 0, 2 * signs * shift, zero) * first[None, :, None]
            delta = delta + weight * (bend + second[None, :, None] * slope)
        for i in range(EXAMPLES):
            w = w - rate * delta[:, i].dot(x[i])
    return noises, signals
