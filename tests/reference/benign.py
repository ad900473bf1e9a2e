"""Class-dependent noise and the K-class patch network, in plain NumPy float64.

From the formulas of Xu and Chen (2025), without automatic differentiation, for features and noise
that need not be orthogonal.

| symbol                 | argument                                                           |
| ---------------------- | ------------------------------------------------------------------ |
| w_{k,r} (eq. 1)        | filters, (K, m, dim)                                               |
| u_k                    | features (K, dim), each of its own length                          |
| xi_i, y_i              | noise (n, dim), labels (n,) in {0, ..., K - 1}                     |
| A_k                    | matrices (K, dim, dim)                                             |
| eta                    | rate                                                               |
| L(W, x, y)             | kind: "plain" (eq. 3), "balanced" by class, "adjusted" logits      |
"""

import numpy as np


def spike_of(correlation, dim, classes, bulk):
    """s with (R - 1) b^4 + s^4 = Gamma ((R - 2) b^4 + 2 b^2 s^2), R = d - K: the larger root."""
    rest = dim - classes
    middle = -2.0 * correlation * bulk**2
    last = bulk**4 * ((rest - 1) - correlation * (rest - 2))
    return np.sqrt((-middle + np.sqrt(middle**2 - 4.0 * last)) / 2.0)


def spike_matrices(features, spikes, bulk, spike):
    """A_k = b (P - v_k v_k^T) + s v_k v_k^T, where P projects off the features."""
    flat = np.eye(features.shape[1])
    for feature in features:
        flat -= np.outer(feature, feature) / (feature @ feature)
    return np.stack([bulk * (flat - np.outer(v, v)) + spike * np.outer(v, v) for v in spikes])


def relu(z):
    return np.maximum(z, 0.0)


def outputs(filters, features, noise, labels):
    """F_k = (1/m) sum_r [relu(<w_kr, u_y>) + relu(<w_kr, xi>)] (eq. 1), shape (n, K)."""
    found = [
        np.mean(relu(filters @ features[y]) + relu(filters @ xi), axis=1)
        for xi, y in zip(noise, labels, strict=True)
    ]
    return np.array(found)


def weights_and_shifts(labels, classes, kind):
    """What multiplies each example's loss, and what is added to each class's output.

    Plain: 1 and 0. Balanced: n / (K' n_y) for K' classes with examples. Adjusted: log(n_k / n).
    """
    counts = np.bincount(labels, minlength=classes)
    weights, shifts = np.ones(len(labels)), np.zeros(classes)
    if kind == "balanced":
        weights = len(labels) / (np.count_nonzero(counts) * counts[labels])
    if kind == "adjusted":
        shifts = np.log(counts / len(labels))
    return weights, shifts


def probabilities(logits):
    """logit_k of eq. (3), shape (n, K)."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def losses(filters, features, noise, labels, kind):
    """The loss of every example."""
    weights, shifts = weights_and_shifts(labels, len(features), kind)
    chances = probabilities(outputs(filters, features, noise, labels) + shifts)
    return -weights * np.log(chances[np.arange(len(labels)), labels])


def gradient(filters, features, noise, labels, kind):
    """(1/n) sum_i c_i (p_ik - 1[y_i = k]) (1/m) (1[<w, u> > 0] u + 1[<w, xi> > 0] xi)."""
    weights, shifts = weights_and_shifts(labels, len(features), kind)
    chances = probabilities(outputs(filters, features, noise, labels) + shifts)
    total = np.zeros_like(filters)
    for i, (xi, y) in enumerate(zip(noise, labels, strict=True)):
        for k, group in enumerate(filters):
            pull = weights[i] * (chances[i, k] - (y == k)) / len(group)
            total[k] += pull * np.outer(group @ features[y] > 0, features[y])
            total[k] += pull * np.outer(group @ xi > 0, xi)
    return total / len(labels)


def train(filters, features, noise, labels, rate, steps, kind="plain"):
    """The filters at t = 0, ..., steps (eq. 4), shape (steps + 1, K, m, dim)."""
    path = [np.array(filters, dtype=np.float64)]
    for _ in range(steps):
        path.append(path[-1] - rate * gradient(path[-1], features, noise, labels, kind))
    return np.stack(path)


def correct(filters, features, noise, labels):
    """Whether each example's own output is the largest."""
    return np.argmax(outputs(filters, features, noise, labels), axis=1) == labels


def class_means(values, labels, classes):
    """The mean over the examples of every class."""
    return np.array([np.mean(values[labels == k]) for k in range(classes)])


def equivalent_noise(filters, noise, labels, matrices):
    """zeta' of Definition 1, and NaN for an example that activates no neuron of its class."""
    found = np.full(len(labels), np.nan)
    for i, (xi, y) in enumerate(zip(noise, labels, strict=True)):
        active = filters[y][filters[y] @ xi > 0]
        if len(active):
            total = active.sum(axis=0)
            found[i] = total @ xi / np.linalg.norm(matrices[y].T @ total)
    return found


def long_tail_accuracy(filters, features, noise, labels, matrices, share):
    """Accuracy of every class on the share of its examples with the largest zeta'."""
    right = correct(filters, features, noise, labels)
    values = equivalent_noise(filters, noise, labels, matrices)
    found = []
    for k in range(len(features)):
        own = np.flatnonzero(labels == k)
        count = max(1, int(np.round(share * len(own))))
        ranked = sorted(own[~np.isnan(values[own])], key=lambda i: -values[i])
        found.append(np.mean(right[ranked[:count]]))
    return np.array(found)


def active_shares(filters, noise, labels):
    """The share of its own class's neurons that each example's noise activates (Lemma 4)."""
    return np.array([np.mean(filters[y] @ xi > 0) for xi, y in zip(noise, labels, strict=True)])


def singular_values(filters, matrices):
    """Of W_k A_k for every class (Lemma 3), by the eigenvalues of W_k A_k A_k^T W_k^T."""
    seen = [w @ a for w, a in zip(filters, matrices, strict=True)]
    return np.sqrt(np.stack([np.linalg.eigvalsh(s @ s.T) for s in seen])[:, ::-1])


def residuals(filters, features, noise, labels):
    """1 - logit_y of every training example, as the sum of the others' probabilities."""
    chances = probabilities(outputs(filters, features, noise, labels))
    chances[np.arange(len(labels)), labels] = 0.0
    return chances.sum(axis=1)


def kappa(filters, features, noise, labels):
    """The largest ratio of two residuals (Lemma 7)."""
    found = residuals(filters, features, noise, labels)
    return max(a / b for a in found for b in found)


def residual_sums(path, features, noise, labels):
    """b(S_k) of eq. (8) with T = len(path) - 1, for every class."""
    total = sum(residuals(filters, features, noise, labels) for filters in path[:-1])
    return np.array([np.sqrt(np.sum(total[labels == k] ** 2)) for k in range(len(features))])


def contributions(filters, features, noise, labels):
    """What each patch adds to the own output and to the largest other one, by class."""
    patches = {"explicit": features[labels], "implicit": noise}
    found = {}
    for kind, patch in patches.items():
        each = np.array([np.mean(relu(filters @ x), axis=1) for x in patch])
        own = each[np.arange(len(labels)), labels]
        other = [max(np.delete(row, y)) for row, y in zip(each, labels, strict=True)]
        found[f"{kind}_own"] = class_means(own, labels, len(features))
        found[f"{kind}_other"] = class_means(np.array(other), labels, len(features))
    return found


def activations(filters, noise, labels, over=np.mean):
    """[j, l]: the mean (or extreme) over class l of (1/m) sum_r relu(<w_jr, xi>) (Lemmas 5, 6)."""
    each = np.array([np.mean(relu(filters @ xi), axis=1) for xi in noise])
    return np.stack([over(each[labels == k], axis=0) for k in range(len(filters))], axis=1)
