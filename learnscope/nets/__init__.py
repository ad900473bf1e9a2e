"""Nets: what learns."""

from learnscope.nets.activations import ACTIVATIONS
from learnscope.nets.conv_blocks import Conv4, Conv6
from learnscope.nets.expectation import at_nodes, by_quadrature, normal_grid, pair_mean, shape_of
from learnscope.nets.fully_connected import FullyConnected
from learnscope.nets.image_net import AbstractImageNet, in_parts
from learnscope.nets.lenet import LeNet5
from learnscope.nets.linear import Linear
from learnscope.nets.model import Model
from learnscope.nets.net import (
    AbstractInnerProductNet,
    AbstractNet,
    Params,
    Weights,
    filters_of,
    inner,
    replaced,
)
from learnscope.nets.patch_cnn import PatchCNN
from learnscope.nets.patch_encoder import PatchEncoder
from learnscope.nets.projection import Projection
from learnscope.nets.resnet import ResNet
from learnscope.nets.two_layer import TwoLayer

__all__ = [
    "ACTIVATIONS", "AbstractImageNet", "AbstractInnerProductNet", "AbstractNet", "Conv4",
    "Conv6", "FullyConnected", "LeNet5", "Linear", "Model", "Params", "PatchCNN",
    "PatchEncoder", "Projection", "ResNet", "TwoLayer", "Weights", "at_nodes", "by_quadrature",
    "filters_of", "in_parts", "inner", "normal_grid", "pair_mean", "replaced", "shape_of",
]  # fmt: skip
