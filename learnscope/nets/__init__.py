"""What learns."""

from learnscope.nets.activations import ACTIVATIONS
from learnscope.nets.linear import Linear
from learnscope.nets.model import Model
from learnscope.nets.net import AbstractInnerProductNet, AbstractNet, Params, inner
from learnscope.nets.patch_cnn import PatchCNN
from learnscope.nets.patch_encoder import PatchEncoder
from learnscope.nets.two_layer import TwoLayer

__all__ = [
    "ACTIVATIONS",
    "AbstractInnerProductNet",
    "AbstractNet",
    "Linear",
    "Model",
    "Params",
    "PatchCNN",
    "PatchEncoder",
    "TwoLayer",
    "inner",
]
