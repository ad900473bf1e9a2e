"""Steps of a two-class patch network in NumPy, written from the formulas, in float64.

f(x) = a sum_r s_r sum_p sigma(<w_r, x_p> + b_r) with the logistic loss. Hessian-vector products are
complex-step derivatives of the gradient, (g(theta + i h v)).imag / h, exact to rounding.
"""

import numpy as np

_H = 1e-40
# sigma and its derivative, by the sign of the real part.
ACTIVATIONS = {
    "relu": (lambda z: np.where(z.real > 0, z, 0), lambda z: (z.real > 0).astype(complex)),
    "relu2": (lambda z: np.where(z.real > 0, z**2, 0), lambda z: np.where(z.real > 0, 2 * z, 0)),
    "cubic": (lambda z: z**3, lambda z: 3 * z**2),
}


class Net:
    """Filters (r, d) and biases (r) as one vector theta; x is (n, p, d) and y is (n)."""

    def __init__(self, filters, dim, activation, scale, bias):
        self.shape, self.bias = (filters, dim), bias
        self.sigma, self.slope = ACTIVATIONS[activation]
        self.signs = scale * np.repeat([1.0, -1.0], filters // 2)

    def parts(self, theta):
        filters, dim = self.shape
        return theta[: filters * dim].reshape(filters, dim), theta[filters * dim :]

    def gradients(self, theta, x, y):
        """The gradient of every example's loss, (n, theta)."""
        weights, bias = self.parts(theta)
        z = np.einsum("rd,npd->rnp", weights, x)
        z = z + (bias[:, None, None] if self.bias else 0)
        outputs = np.einsum("r,rnp->n", self.signs, self.sigma(z))
        residual = -y / (1 + np.exp(y * outputs))
        slope = self.signs[:, None, None] * self.slope(z) * residual[None, :, None]
        of_filters = np.einsum("rnp,npd->nrd", slope, x).reshape(len(y), -1)
        of_bias = slope.sum(2).T if self.bias else np.zeros((len(y), 0))
        return np.concatenate([of_filters, of_bias], axis=1)

    def gradient(self, theta, x, y):
        return self.gradients(theta, x, y).mean(0)

    def curvature(self, theta, x, y, along):
        return self.gradient(theta + 1j * _H * along, x, y).imag / _H


def gradient_descent(net, theta, x, y):
    return net.gradient(theta, x, y).real


def full_penalty(net, theta, x, y, weight):
    g = net.gradient(theta, x, y).real
    return g + weight * net.curvature(theta, x, y, g)


def per_example_penalty(net, theta, x, y, weight):
    each = [full_penalty(net, theta, x[i : i + 1], y[i : i + 1], weight) for i in range(len(y))]
    return np.mean(each, axis=0)


def sharpness_aware(net, theta, x, y, radius):
    g = net.gradient(theta, x, y).real
    return net.gradient(theta + radius * g / np.linalg.norm(g), x, y).real


def train(step, net, theta, batches, rate, momentum=0.0, nesterov=False):
    """Theta after every step; `step` is one of the above, and `batches` are pairs (x, y)."""
    trace, path = np.zeros_like(theta), [theta]
    for t, (x, y) in enumerate(batches):
        g = step(t, net, path[-1], x, y)
        trace = momentum * trace + g
        path.append(path[-1] - rate * (g + momentum * trace if nesterov else trace))
    return np.array(path)
