"""What a script can see of suppressed noise: the same training in five kinds of arithmetic."""

from decimal import Decimal, localcontext

import numpy as np
import xarray as xr

from learnscope.data import SignalNoise
from learnscope.lab import Experiment, Record, draw, run
from learnscope.nets import PatchCNN
from learnscope.probes import NoiseMemorisation, SignalLearning
from learnscope.rules import PerExamplePenalty

EXAMPLES, WIDTH, UNTIL, STEPS, EVERY, DIGITS = 4, 2, 120, 480, 5, 50
RATE, WEIGHT = 0.014, 0.01
EXPERIMENT = Experiment(
    data=SignalNoise(dim=400, train=EXAMPLES, test=1, signal=1.5, noise=1.0),
    net=PatchCNN(width=WIDTH, activation="relu2", scale=0.01),
    rule=PerExamplePenalty(rate=RATE, weight=WEIGHT, until=UNTIL),
    steps=STEPS,
    probes=(NoiseMemorisation(), SignalLearning()),
    record=Record(every=EVERY),
)
RUNS = {
    "weights, float32": ("ambient", "float32"),
    "weights, float64": ("ambient", "float64"),
    "span, float32": ("compressed", "float32"),
    "span, float64": ("compressed", "float64"),
}
EXACT = f"weights, {DIGITS} digits"


def arithmetic(seed: int = 0) -> xr.Dataset:
    """Noise memorised and signal learnt by one seed in every kind of arithmetic. Runs in weights
    are ambient; those in the span and of fifty digits are compressed, with the same draw."""
    found = [
        run(EXPERIMENT, None, [seed], coordinates, precision, progress=False)
        for coordinates, precision in RUNS.values()
    ]
    names = ["noise_memorisation", "signal_learning"]
    kinds = xr.concat([data[names].astype(float) for data in found], "arithmetic", join="override")
    exact = xr.zeros_like(kinds.isel(arithmetic=[0]))
    for name, values in zip(names, _exactly(seed), strict=True):
        exact[name][0, 0] = values
    both = xr.concat([kinds, exact], "arithmetic")
    return both.assign_coords(arithmetic=[*RUNS, EXACT])


def _exactly(seed: int) -> tuple[list[float], list[float]]:
    """max <w, xi> and max |<w, mu>| at the recorded steps, with weights of fifty digits.

    The gradient of example i is delta_i x_i; a move along it changes z by K_i delta_i, with the
    inner products K_i of its own patches, and H_i g_i is the change of delta_i.
    """
    problem, state = draw(EXPERIMENT, seed, "compressed", "float64")
    number = np.vectorize(lambda v: Decimal(float(v)), otypes=[object])
    exponential = np.vectorize(Decimal.exp, otypes=[object])
    with localcontext() as context:
        context.prec = DIGITS
        rate, weight, zero = Decimal(RATE) / EXAMPLES, Decimal(WEIGHT), number(0.0)
        x, y, w = number(problem.train.x), number(problem.train.y), number(state.params.filters)
        signal = number(problem.directions["signal"])
        signs = number(np.repeat([1, -1], WIDTH))[:, None, None] / WIDTH
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
            if step < UNTIL:
                shift = np.stack([delta[:, i].dot(k) for i, k in enumerate(own)], axis=1)
                second = -first * (y + first) * (slope * shift).sum((0, 2))
                bend = np.where(z > 0, 2 * signs * shift, zero) * first[None, :, None]
                delta = delta + weight * (bend + second[None, :, None] * slope)
            for i in range(EXAMPLES):
                w = w - rate * delta[:, i].dot(x[i])
    return noises, signals
