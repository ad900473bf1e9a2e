"""The geometry of a run: frames, Gaussian rows, rotations, fresh samples."""

import learnscope.space.random as random
from learnscope.space.columns import Columns, one_array, padded
from learnscope.space.frame import AbstractTurn, Basis, Frame, Reflections, chi, orthonormal, turn
from learnscope.space.fresh import FreshPatches, turned
from learnscope.space.needs import Space
from learnscope.space.sparse import SparsePatches

__all__ = [
    "AbstractTurn", "Basis", "Columns", "Frame", "FreshPatches", "Reflections", "Space",
    "SparsePatches", "chi", "one_array", "orthonormal", "padded", "random", "turn", "turned",
]  # fmt: skip
