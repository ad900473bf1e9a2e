"""Gradient penalties on the two-layer patch network, in plain NumPy float64.

From the formulas of Meng, Cao, Zou, without automatic differentiation, and for patches that need
not be orthogonal.

| symbol                    | argument                                                      |
| ------------------------- | ------------------------------------------------------------- |
| w_{j,r} (Section 2)       | filters, (2 * width, dim): the first half has j = +1          |
| mu, xi_i, y_i             | signal (dim,), noise (n, dim), labels (n,) in {-1, +1}        |
| a = 1/m or 1              | second_layer, "mean" or "sum"                                 |
| eta, lambda               | rate, weight                                                  |
| lambda/2 or lambda        | half: the factor before the squared norm                      |
| T_1                       | until: the penalty acts at step indices t < until             |
| gamma_{j,r}, rho_{j,r,i}  | gamma (2 * width,), rho (2 * width, n)                        |
"""

import numpy as np


def scale_of(second_layer, width):
    """The modulus a of the second-layer weights, which may also be given as a number."""
    return {"mean": 1.0 / width, "sum": 1.0}.get(second_layer, second_layer)


def signs_of(filters):
    """The sign j of each filter."""
    return np.repeat([1.0, -1.0], len(filters) // 2)


def weights_of(filters, second_layer):
    """The second layer: j a of each filter."""
    return scale_of(second_layer, len(filters) // 2) * signs_of(filters)


def patches_of(signal, noise, label):
    """The two patches of one example (Definition 2.1): y mu and xi."""
    return np.stack([label * signal, noise])


def output(filters, patches, second_layer):
    """f(W, x) = sum_j j a sum_r [relu^2(<w_jr, x1>) + relu^2(<w_jr, x2>)]."""
    active = np.maximum(filters @ patches.T, 0.0)
    return weights_of(filters, second_layer) @ np.sum(active**2, axis=1)


def output_gradient(filters, patches, second_layer):
    """df/dw_jr = 2 a j sum_p relu(<w_jr, x_p>) x_p."""
    active = np.maximum(filters @ patches.T, 0.0)
    return 2.0 * weights_of(filters, second_layer)[:, None] * (active @ patches)


def output_curvature(filters, patches, direction, second_layer):
    """Hessian of f along V: row jr is 2 a j sum_p 1{<w_jr, x_p> > 0} <v_jr, x_p> x_p."""
    along = np.where(filters @ patches.T > 0.0, direction @ patches.T, 0.0)
    return 2.0 * weights_of(filters, second_layer)[:, None] * (along @ patches)


def loss_slope(margin):
    """l'(z) = -1 / (1 + exp(z)), of l(z) = log(1 + exp(-z)), without overflow."""
    return -np.exp(-np.logaddexp(0.0, margin))


def example_gradient(filters, patches, label, second_layer):
    """g_i = l'(y_i f_i) y_i grad f_i."""
    margin = label * output(filters, patches, second_layer)
    return loss_slope(margin) * label * output_gradient(filters, patches, second_layer)


def example_hessian_product(filters, patches, label, direction, second_layer):
    """H_i V = l'' <grad f, V> grad f + l' y (hess f) V, since y^2 = 1; l'' = l'(z) l'(-z)."""
    margin = label * output(filters, patches, second_layer)
    slope = output_gradient(filters, patches, second_layer)
    curved = output_curvature(filters, patches, direction, second_layer)
    curvature = loss_slope(margin) * loss_slope(-margin)
    return curvature * np.sum(slope * direction) * slope + loss_slope(margin) * label * curved


def gradient(filters, signal, noise, labels, second_layer):
    """grad L_S = (1/n) sum_i g_i."""
    total = np.zeros_like(filters)
    for xi, label in zip(noise, labels, strict=True):
        total += example_gradient(filters, patches_of(signal, xi, label), label, second_layer)
    return total / len(labels)


def per_example_gradient(filters, signal, noise, labels, weight, half, second_layer):
    """Gradient of L_S + c (1/n) sum_i ||g_i||^2 with c = weight/2 (half) or weight.

    grad ||g_i||^2 = 2 H_i g_i.
    """
    factor = weight if half else 2.0 * weight
    total = np.zeros_like(filters)
    for xi, label in zip(noise, labels, strict=True):
        patches = patches_of(signal, xi, label)
        own = example_gradient(filters, patches, label, second_layer)
        total += own + factor * example_hessian_product(filters, patches, label, own, second_layer)
    return total / len(labels)


def full_gradient(filters, signal, noise, labels, weight, half, second_layer):
    """Gradient of L_S + c ||(1/n) sum_i g_i||^2 with c = weight/2 (half) or weight.

    grad ||g||^2 = 2 H g for g = grad L_S and H = (1/n) sum_i H_i.
    """
    factor = weight if half else 2.0 * weight
    mean = gradient(filters, signal, noise, labels, second_layer)
    total = np.zeros_like(filters)
    for xi, label in zip(noise, labels, strict=True):
        patches = patches_of(signal, xi, label)
        total += example_hessian_product(filters, patches, label, mean, second_layer)
    return mean + factor * total / len(labels)


def train(filters, signal, noise, labels, rule, rate, weight, until, half, second_layer, steps):
    """The filters at t = 0, ..., steps, shape (steps + 1, 2 * width, dim).

    `rule` is "gradient_descent", "per_example" or "full".
    """
    penalised = {"per_example": per_example_gradient, "full": full_gradient}
    data = (signal, noise, labels)
    path = [np.array(filters, dtype=np.float64)]
    for step in range(steps):
        now = path[-1]
        if rule == "gradient_descent" or step >= until:
            slope = gradient(now, *data, second_layer)
        else:
            slope = penalised[rule](now, *data, weight, half, second_layer)
        path.append(now - rate * slope)
    return np.stack(path)


def decomposition(filters, initial, signal, noise):
    """gamma and rho of Definition 5.2 (equation 5.1), by least squares.

    w_jr = w_jr(0) + j gamma_jr mu / ||mu||^2 + sum_i rho_jri xi_i / ||xi_i||^2.
    """
    directions = np.vstack([signal[None, :], noise])
    basis = directions / np.sum(directions**2, axis=1, keepdims=True)
    coefficients = np.linalg.lstsq(basis.T, (filters - initial).T, rcond=None)[0].T
    return signs_of(filters) * coefficients[:, 0], coefficients[:, 1:]


def outputs(filters, signal, noise, labels, second_layer):
    """f(W, x_i) for every example."""
    pairs = zip(noise, labels, strict=True)
    patches = [patches_of(signal, xi, label) for xi, label in pairs]
    return np.array([output(filters, each, second_layer) for each in patches])


def loss(filters, signal, noise, labels, second_layer):
    """L_S(W) = (1/n) sum_i l(y_i f(W, x_i))."""
    margins = labels * outputs(filters, signal, noise, labels, second_layer)
    return np.mean(np.logaddexp(0.0, -margins))


def gradient_norm(filters, signal, noise, labels, second_layer):
    """||grad L_S(W)||_F."""
    return np.sqrt(np.sum(gradient(filters, signal, noise, labels, second_layer) ** 2))


def signal_learning(filters, signal):
    """max_{j,r} |<w_jr, mu>| (Section 4.1, Figure 2)."""
    return np.max(np.abs(filters @ signal))


def noise_memorisation(filters, noise):
    """max_{j,r,i} <w_jr, xi_i> (Section 4.1, Figure 3)."""
    return np.max(filters @ noise.T)
