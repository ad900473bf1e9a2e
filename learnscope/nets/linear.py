"""The linear model: one filter, summed over patches."""

from jaxtyping import Array, Float, Key

from learnscope.data import Problem
from learnscope.nets.net import AbstractInnerProductNet, Params, Weights, summed
from learnscope.part import Number, number


class Linear(AbstractInnerProductNet):
    r"""$f(x) = \sum_p \langle w, x^{(p)} \rangle$, with initial $w \sim N(0, \sigma_0^2 I)$.

    | symbol | argument |
    |---|---|
    | $\sigma_0$ | `scale` |

    >>> import jax, learnscope as ls
    >>> data = ls.data.SignalNoise(dim=50, train=4, test=3, signal=1, noise=1)
    >>> problem = data.sample(jax.random.key(0))
    >>> net = Linear(scale=0.1)
    >>> net(net.init(jax.random.key(1), problem), problem.train.x).shape
    (4,)
    """

    scale: Number = number(0.0, low=0)

    @property
    def rows(self) -> int:
        return 1

    @property
    def isotropic(self) -> bool:
        return True

    def init(self, key: Key[Array, ""], problem: Problem) -> Weights:
        rows, _ = problem.frame.gaussian_rows(key, 1)
        return Weights(self.scale * rows)

    def read(self, params: Params, seen: tuple[Float[Array, "1 n *patch"], ...]) -> Array:
        return summed(seen)[0]
