"""Images with the labels of the training set permuted: the control that has nothing to learn."""

import dataclasses

import jax
from jaxtyping import Array, Key

from learnscope.data.problem import AbstractData, Problem
from learnscope.data.wrapper import AbstractWrapper
from learnscope.errors import refuse
from learnscope.images.images import Images
from learnscope.part import slot
from learnscope.space import Space, random
from learnscope.space.frame import Frame


class RandomLabels(AbstractWrapper):
    """The training images of `data` with their labels permuted at random (Zhang et al. 2017). What
    a net shows here it owes to the inputs and to training, not to the labels. Test images keep
    their labels.

    >>> import jax
    >>> images = Images("digits", train=40, test=10)
    >>> drawn = RandomLabels(images).sample(jax.random.key(0)).train
    >>> same = images.sample(jax.random.key(0)).train
    >>> bool((drawn.x == same.x).all()), bool((drawn.y == same.y).all())
    (True, False)
    """

    data: AbstractData = slot(AbstractData)

    def __check_init__(self):
        super().__check_init__()
        if not isinstance(self.data, Images):
            refuse(self, "data", "it must be Images")

    @property
    def space(self) -> Space:
        return self.data.space

    def sample(self, key: Key[Array, ""], frame: Frame | None = None) -> Problem:
        drawn = self.whole(key, frame)
        order = random.permutation(jax.random.fold_in(key, 1), drawn.train.size)
        train = dataclasses.replace(drawn.train, y=drawn.train.y[order])
        return dataclasses.replace(drawn, train=train)
