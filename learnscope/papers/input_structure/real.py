"""The sweeps on images: sections E.4 (features that emerge) and E.5 (the effect of inputs).

The paper leaves some settings open. E.4: rates and the size of initial weights, which decides
whether learnt directions outweigh initial ones; here PyTorch's (for ResNet, He's) and smaller ones.
E.5: the optimiser (here Adam, rate 0.001), the weight of the regulariser (0.5, and lambda = 0.5),
the moments of Gaussian inputs (those of the images' pixels), the size of a mixture (that of the set
of images, of which a share is replaced). `laptop` uses small subsets and, on CIFAR-10 and SVHN,
FC(m) in place of ResNet(m) in E.5; other sets replace Tiny ImageNet, which `paper` mixes in.
"""

from learnscope.evidence import Sweep
from learnscope.papers.input_structure.emergence import resnet, weights
from learnscope.papers.input_structure.mixtures import curves, mixtures
from learnscope.papers.input_structure.real_sizes import PAIRS


def real_sweeps(scale: str) -> dict[str, Sweep]:
    """All sweeps on images."""
    return {
        **{f"weights_{name}": weights(name, scale) for name in PAIRS}, "resnet": resnet(scale),
        "resnet_early": resnet(scale, early=True), **mixtures(scale), **curves(scale),
    }  # fmt: skip
