"""The paper's claims about real images; `real_checks` has the checks."""

from functools import partial

from learnscope.evidence import Claim
from learnscope.papers.benign import real_checks as checks

_PAPER = "all images: `learnscope verify benign --scale paper --data DIR`"
_LENET = f"LeNet5, MNIST, laptop: 2000 images, 200 steps of Adam; {_PAPER}"
_RESNET = f"ResNet(4), CIFAR-10, laptop: 2000 images, 80 steps of Adam; {_PAPER}"
_HURTS = "Removing high scores hurts more than removing low ones"

REAL_CLAIMS: tuple[Claim, ...] = (
    Claim("figure1", "The noise of real classes differs in shape", "Figure 1",
          "a picture: heterogeneous shapes", "t-SNE of MNIST, laptop: 600 images", ("map",),
          checks.shapes_differ),
    Claim("figure5_mnist", "Images of high scores are atypical and hard to classify", "Figure 5",
          "a picture", "MNIST", ("scores_mnist",), checks.high_is_atypical),
    Claim("figure5_cifar", "Images of high scores are atypical and hard to classify", "Figure 5",
          "a picture", "CIFAR-10", ("scores_cifar",), checks.high_is_atypical),
    Claim("figure6", "Real classes have large noise correlation ratios", "Figure 6",
          "a heat map: large", "MNIST, laptop: 10,000 images a draw", ("classes",),
          checks.ratios_are_large),
    Claim("figure7_mnist", _HURTS, "Figure 7", "significantly larger drop", _LENET,
          ("pruned_mnist",), checks.high_hurts_more),
    Claim("figure7_mnist_together", _HURTS, "Figure 7", "significantly larger drop",
          f"{_LENET}; classes ranked together", ("pruned_mnist",),
          partial(checks.high_hurts_more, together=True)),
    Claim("figure7_cifar", _HURTS, "Figure 7", "significantly larger drop", _RESNET,
          ("pruned_cifar",), checks.high_hurts_more),
)  # fmt: skip
