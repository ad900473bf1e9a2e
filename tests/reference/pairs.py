"""Wen and Li (2022) in plain NumPy float64, from the formulas: Algorithm 1 with all its variants.

Definitions: section 3.1 (encoder, head, equation 3.1), 3.2 (views, loss 3.3), equation 1.1 (the
symmetric head), 2.1 (the contrastive loss), and the population loss from the moments
E[x^3 y^3] = 9 var(x) var(y) cov + 6 cov^3. Gradients are derived by hand; `differences` checks
them. The loss is half of the first line of 3.3, which is what its second line says for m = 1.
"""

import itertools

import numpy as np


def encode(w, x):
    """f_j(X) = sum_p <w_j, X_p>^3; x: example, patch, coordinate."""
    return ((x @ w.T) ** 3).sum(1)


def encode_back(w, x, slope):
    """Of sum(slope * f) by w."""
    by_z = slope[:, None] * 3 * (x @ w.T) ** 2
    return by_z.reshape(-1, len(w)).T @ x.reshape(-1, x.shape[2])


def normalise(z, how):
    if how == "batch":
        return (z - z.mean(0)) / np.sqrt((z**2).mean(0) - z.mean(0) ** 2)
    if how == "l2":
        return z / np.sqrt((z**2).sum(1, keepdims=True))
    return z


def normalise_back(z, how, slope):
    if how == "none":
        return slope
    y = normalise(z, how)
    if how == "batch":
        return (slope - slope.mean(0) - y * (slope * y).mean(0)) / z.std(0)
    return (slope - y * (slope * y).sum(1, keepdims=True)) / np.linalg.norm(z, axis=1)[:, None]


def predict(head, f):
    if "matrix" in head:
        return np.einsum("jr,nr->nj", head["matrix"], f)
    inside = f @ head["first"].T + head["first_bias"]
    return np.maximum(inside, 0) @ head["second"].T + head["second_bias"]


def predict_back(head, f, slope):
    """By f, and by every part of the head."""
    if "matrix" in head:
        return slope @ head["matrix"], {"matrix": slope.T @ f}
    inside = f @ head["first"].T + head["first_bias"]
    by_inside = (slope @ head["second"]) * (inside > 0)
    return by_inside @ head["first"], {
        "first": by_inside.T @ f,
        "first_bias": by_inside.sum(0),
        "second": slope.T @ np.maximum(inside, 0),
        "second_bias": slope.sum(0),
    }


def loss(w, target, head, views, rule):
    """Half the mean of |F~ - G~|^2, over one order of the views or both."""
    orders = [views, views[::-1]] if rule["both_ways"] else [views]
    found = []
    for one, other in orders:
        online = normalise(predict(head, encode(w, one)), rule["normalise"])
        theirs = normalise(encode(target, other), rule["normalise"])
        found.append(0.5 * ((online - theirs) ** 2).sum(1).mean())
    return np.mean(found)


def gradients(w, target, head, views, rule):
    """Of the loss by the trained weights, by what the target's weights are, and by the head."""
    how = rule["normalise"]
    orders = [views, views[::-1]] if rule["both_ways"] else [views]
    by_w, by_target = np.zeros_like(w), np.zeros_like(w)
    by_head = {name: np.zeros_like(value) for name, value in head.items()}
    for one, other in orders:
        f, g = encode(w, one), encode(target, other)
        u = predict(head, f)
        apart = (normalise(u, how) - normalise(g, how)) / (len(f) * len(orders))
        by_f, part = predict_back(head, f, normalise_back(u, how, apart))
        by_w += encode_back(w, one, by_f)
        by_target += encode_back(target, other, normalise_back(g, how, -apart))
        by_head = {name: by_head[name] + part[name] for name in head}
    return by_w, by_target, by_head


def advanced(state, rule, gradients):
    """Weights, head and target (None: shared) after a step."""
    w, head, target = state
    shared = target is None
    slope, by_target, by_head = gradients(w, w if shared else target, head)
    if shared and not rule["stop_gradient"]:
        slope = slope + by_target
    new = w - rule["rate"] * slope
    if rule["head"] == "identity":
        by_head = {"matrix": by_head["matrix"] * (1 - np.eye(len(w)))}
    if rule["head"] in ("identity", "linear", "mlp"):
        head = {name: head[name] - rule["head_rate"] * by_head[name] for name in head}
    if not shared:
        target = rule["momentum"] * target + (1 - rule["momentum"]) * new
    return new, head, target


def step(state, views, rule):
    w, head, target = state
    if rule["head"] == "symmetric":
        f = encode(w, views[0])
        head = {"matrix": f.T @ f / len(f)}
    return advanced((w, head, target), rule, lambda *given: gradients(*given, views, rule))


def contrastive(w, views, temperature):
    """Equation 2.1 and its gradient."""
    f = [encode(w, view) for view in views]
    one, two = (normalise(z, "l2") for z in f)
    alike = one @ two.T / temperature
    high = alike.max(1, keepdims=True)
    odds = np.exp(alike - high)
    value = (np.log(odds.sum(1)) + high[:, 0] - np.diag(alike)).mean()
    by_alike = (odds / odds.sum(1, keepdims=True) - np.eye(len(one))) / len(one) / temperature
    slopes = by_alike @ two, by_alike.T @ one
    return value, sum(
        encode_back(w, view, normalise_back(z, "l2", slope))
        for view, z, slope in zip(views, f, slopes, strict=True)
    )


def differences(function, at, h=1e-6):
    """The gradient by central differences."""
    found = np.zeros_like(at)
    for index in np.ndindex(at.shape):
        moved = np.zeros_like(at)
        moved[index] = h
        found[index] = (function(at + moved) - function(at - moved)) / (2 * h)
    return found


def counts(patches, feature_patches, features, together, frequencies):
    """E[k (P0 - k)], E[k^2] times the features' chances, and noise patches in a view: by masks."""
    k = np.array([
        sum(p < feature_patches for p in mask)
        for mask in itertools.combinations(range(patches), patches // 2)
    ])  # fmt: skip
    relative = np.ones(features) if frequencies is None else np.array(frequencies, float)
    shares = np.ones(features) if together else relative / relative.sum()
    taken = feature_patches * (features if together else 1)
    across, within = (k * (feature_patches - k)).mean(), (k**2).mean()
    return shares * across, shares * within, (patches - taken) / 2


class Population:
    """The loss of infinitely many examples, as a function of components and noise parts."""

    def __init__(self, model):
        a, b, self.noise = counts(
            model.patches, model.feature_patches, len(model.strengths), model.together,
            model.frequencies,
        )  # fmt: skip
        alpha = np.array(model.strengths, float) ** 6
        self.across, self.within = a * alpha, b * alpha
        self.noise *= float(model.noise) ** 6
        self.features = len(alpha)

    def split(self, w):
        return w[:, : self.features], w[:, self.features :]

    def covariance(self, w):
        b, u = self.split(w)
        g = u @ u.T
        noise = 9 * np.outer(np.diag(g), np.diag(g)) * g + 6 * g**3
        return (b**3 * self.within) @ (b**3).T + self.noise * noise

    def covariance_back(self, w, slope):
        """Of sum(slope * Sigma) by w."""
        b, u = self.split(w)
        g = u @ u.T
        size, slope = np.diag(g), slope + slope.T
        by_b = 3 * b**2 * self.within * (slope @ b**3)
        by_g = self.noise * slope / 2 * (9 * np.outer(size, size) + 18 * g**2)
        by_size = self.noise * 9 * ((slope * g) @ size)
        return np.concatenate([by_b, 2 * by_g @ u + 2 * by_size[:, None] * u], axis=1)

    def loss(self, w, target, head, normalise):
        b, theirs = self.split(w)[0], self.split(target)[0]
        together = np.diag(head @ (b**3 * self.across) @ (theirs**3).T)
        online = np.diag(head @ self.covariance(w) @ head.T)
        other = np.diag(self.covariance(target))
        if normalise == "none":
            return (online / 2 + other / 2 - together).sum()
        return (1 - together / np.sqrt(online * other)).sum()

    def gradients(self, w, target, head, normalise):
        """By the trained weights, by the target's, and by the head."""
        b, theirs = self.split(w)[0], self.split(target)[0]
        across = (b**3 * self.across) @ (theirs**3).T
        within, outside = self.covariance(w), self.covariance(target)
        together = np.diag(head @ across)
        online, other = np.diag(head @ within @ head.T), np.diag(outside)
        if normalise == "none":
            by_together, by_online = -np.ones(len(w)), np.full(len(w), 0.5)
            by_other = by_online
        else:
            by_together = -1 / np.sqrt(online * other)
            by_online = together / (2 * np.sqrt(other) * online**1.5)
            by_other = together / (2 * np.sqrt(online) * other**1.5)
        by_across = head.T * by_together
        by_head = by_together[:, None] * across.T + 2 * by_online[:, None] * (head @ within)
        pad = ((0, 0), (0, w.shape[1] - self.features))
        by_w = self.covariance_back(w, (head.T * by_online) @ head)
        by_w += np.pad(3 * b**2 * self.across * (by_across @ theirs**3), pad)
        by_target = self.covariance_back(target, np.diag(by_other))
        by_target += np.pad(3 * theirs**2 * self.across * (by_across.T @ b**3), pad)
        return by_w, by_target, by_head

    def step(self, state, rule):
        w, head, target = state
        if rule["head"] == "symmetric":
            head = self.covariance(w)

        def gradients(w, target, head):
            by_w, by_target, by_head = self.gradients(w, target, head["matrix"], rule["normalise"])
            return by_w, by_target, {"matrix": by_head}

        new, head, target = advanced((w, {"matrix": head}, target), rule, gradients)
        return new, head["matrix"], target


def sample(rng, model, size):
    """Pairs of views by Definition 3.1 and equation 3.2, patches in random places."""
    features, p0 = len(model.strengths), model.feature_patches
    x = np.zeros((size, model.patches, int(model.dim)))
    order = np.argsort(rng.random((size, model.patches)), axis=1)
    relative = np.array(model.frequencies or (1.0,) * features, float)
    which = rng.choice(features, size, p=relative / relative.sum())
    noisy = np.ones((size, model.patches), bool)
    every = np.arange(size)
    for place in range(features if model.together else 1):
        feature = np.full(size, place) if model.together else which
        value = rng.choice([-1.0, 1.0], size) * np.array(model.strengths, float)[feature]
        for i in range(p0):
            patch = order[:, place * p0 + i]
            x[every, patch, feature] = value
            noisy[every, patch] = False
    noise = rng.normal(size=(size, model.patches, int(model.dim) - features))
    x[..., features:] = float(model.noise) * noise * noisy[..., None]
    half = np.argsort(rng.random((size, model.patches)), axis=1) < model.patches // 2
    return x * half[..., None], x * ~half[..., None]
