"""The claims of sections E.4 and E.5 about images; see `real_checks` and `mixture_checks`.

Settings are those of the scale `laptop`; `paper` has the whole sets and the paper's nets.
"""

from functools import partial

from learnscope.evidence import Claim
from learnscope.papers.input_structure import mixture_checks, real_checks

_SETS = {
    "mnist": ("MNIST 0/1", "Figures 3 and 17", 2, "3000"),
    "cifar10": ("CIFAR-10 airplane/automobile", "Figure 18", 2, "3000"),
    "svhn": ("SVHN 0/1", "Figure 19", 4, "1000"),
}
_NUMBERS = {2: "two", 4: "four"}
_TEACHER = "teacher and student FC(9) with quadratic activation, α = 0.5"
_MNIST = f"MNIST, 20000 inputs; {_TEACHER}"
_COLOUR = f"5000 inputs; {_TEACHER} (the paper: ResNet; `--scale paper` runs it)"
_DEEP = "ResNet(8), 1000 images, 6 epochs (the paper: ResNet(128), ResNet(256), all, 20 epochs)"
_PAPER = "needs a GPU: `learnscope verify input_structure --scale paper --data DIR`"


def _on_pairs(name: str) -> list[Claim]:
    words, where, number, images = _SETS[name]
    setting = f"{words}, {images} images, m = 50, ReLU, momentum 0.95, 400 steps of 64"
    sweep = (f"weights_{name}",)
    return [
        Claim(f"clusters_{name}", "The neurons' weights gradually form clusters", where,
              "clusters on a map", f"{setting}; judged from initial weights × 0.01", sweep,
              real_checks.weights_cluster),
        Claim(f"cluster_number_{name}", f"There are {_NUMBERS[number]} of them", where,
              f"{number}", f"{setting}; initial weights × 0.01", sweep,
              partial(real_checks.cluster_number, number=number)),
        Claim(f"early_{name}", "Effective features emerge after a few steps, then get improved",
              f"E.4, {where}", "after a few steps", f"{setting}; initial weights × 0.01", sweep,
              real_checks.emerge_early),
    ]  # fmt: skip


_RESNET = [
    Claim("resnet_clusters", "Filters gradually form two clusters in all residual blocks",
          "Figures 20 and 21", "picked by hand: cosine to own centre 0.43 to 0.74, of two centres "
          "−0.51 to −0.97", f"CIFAR-10 airplane/automobile; {_DEEP}; He's initial weights; the "
          "half of each cluster nearest to its centre", ("resnet",),
          partial(real_checks.resnet_clusters, small=False)),
    Claim("resnet_clusters_small", "The same from small initial weights", "Figures 20 and 21",
          "as above", f"{_DEEP}; initial weights of deviation 0.01", ("resnet",),
          partial(real_checks.resnet_clusters, small=True)),
    Claim("resnet_early", "Filters change more in epochs 0 to 3 than later", "E.4.1",
          "much more (3 of 20 epochs)", f"{_DEEP}; change of the cosines between filters",
          ("resnet",), real_checks.resnet_early),
    Claim("table7", "Gradients of the first 30 steps point in similar directions", "Table 7",
          "cosines to their mean 0.65 to 0.97, of pairs 0.51 to 0.91", f"{_DEEP}; the filter of "
          "the last block nearest to its cluster's centre at the end", ("resnet_early", "resnet"),
          partial(real_checks.gradients_agree, slow=False)),
    Claim("table7_slow", "The same at a rate of 0.003, at which filters hardly turn", "Table 7",
          "as above (the rate is not stated)", _DEEP, ("resnet_early", "resnet"),
          partial(real_checks.gradients_agree, slow=True)),
    Claim("resnet_width", "Clustering is more significant in ResNet(256) than in ResNet(128)",
          "E.4.1", "block 4: 0.74, 0.68 against 0.56, 0.57", "CIFAR-10, 20 epochs", reason=_PAPER),
]  # fmt: skip

_MIXED = [
    Claim("real_part", "A student learns the images' part better than the Gaussian part",
          "Figures 4a and 22a", "better (no significant trend on MNIST)", _MNIST, ("mixture",),
          partial(mixture_checks.real_above_other, at=0.5)),
    Claim("real_part_faster", "It learns slower on the Gaussian part", "Figure 22", "slower",
          _MNIST, ("mixture",), mixture_checks.faster),
    Claim("real_part_similar", "On the images' part it is as accurate as trained on images alone",
          "Figure 22", "similar", _MNIST, ("mixture",), mixture_checks.mnist_similar),
    Claim("mixture_lower", "Accuracy on the whole mixture is lower than that on images alone",
          "Figure 22", "lower", _MNIST, ("mixture",), mixture_checks.mnist_whole),
    Claim("mixture_shares", "So for every share of Gaussian inputs", "Figure 24",
          "the same trend for α = 0.25, 0.5, 0.75 (on CIFAR-10)", f"on MNIST; {_MNIST}",
          ("mixture",), mixture_checks.all_shares),
    Claim("mixture_wide", "With m = 50 the separation is more significant than with m = 9",
          "E.5.3, Figure 25", "more significant", _MNIST, ("mixture", "mixture_wide"),
          mixture_checks.wider_apart),
    Claim("mixture_images", "Other images are learnt better than Gaussian inputs, though not as "
          "well as the original ones", "Figure 23", "between (Tiny ImageNet, on CIFAR-10 and SVHN)",
          f"Omniglot and grey CIFAR-10 in MNIST; {_MNIST}", ("mixture_images",),
          mixture_checks.images_help),
    Claim("balanced_labels", "The regulariser makes all labels equally common on other inputs",
          "E.5.1, eqs. (291) to (293)", "guaranteed", "MNIST, teacher FC(9), weight 0.5, λ = 0.5; "
          "equally: none above 20 % of ten", ("balance",), mixture_checks.balanced),
]  # fmt: skip


def _on_colour(name: str, figure: str) -> list[Claim]:
    words = {"cifar10": "CIFAR-10", "svhn": "SVHN"}[name]
    setting, sweep = f"{words}, {_COLOUR}", (f"mixture_{name}",)
    return [
        Claim(f"real_part_{name}", f"On {words} a student learns the images' part better than the "
              "Gaussian part", figure, "clearly better", setting, sweep,
              mixture_checks.real_above_other),
        Claim(f"real_part_similar_{name}", f"On {words} it is as accurate on the images' part as "
              "trained on images alone", figure, "similar", setting, sweep,
              mixture_checks.colour_similar),
        Claim(f"mixture_lower_{name}", f"On {words} accuracy on the mixture is lower than that on "
              "images alone", figure, "lower", setting, sweep, mixture_checks.colour_whole),
        Claim(f"mixture_images_{name}", f"Mixed into {words}, other images are learnt better than "
              "Gaussian inputs, though not as well as the original ones", "Figure 23",
              "between (Tiny ImageNet)", f"{setting}; SVHN in CIFAR-10, CIFAR-10 in SVHN", sweep,
              mixture_checks.images_help),
    ]  # fmt: skip


_CURVES = [
    Claim("double_descent", "The teacher's loss against its width falls, rises and falls again",
          "Figure 26a", "a U and a second descent", "MNIST, 2000 images, FC(1) to FC(200)",
          ("double_descent",), mixture_checks.second_descent),
    Claim("teacher_size", "Its minimum in the classical regime is at FC(9)", "Figure 26a", "9",
          "MNIST, 20000 images, FC(4), FC(9) and FC(20), 4000 steps", ("capacity",),
          mixture_checks.teacher_size),
    Claim("student_minimum", "Students on Gaussian inputs with labels of FC(9) have their minimum "
          "at roughly the same width", "Figure 26b", "roughly 9", "20000 Gaussian inputs, 4000 "
          "steps", ("capacity",), mixture_checks.same_minimum),
    Claim("larger_teacher", "The minimum moves to larger widths for larger teachers",
          "Figure 26c, d", "teachers FC(9), FC(50), FC(500)", "20000 Gaussian inputs; teachers "
          "FC(9) and FC(50)", ("capacity",), mixture_checks.grows_with_teacher),
    Claim("teacher_500", "So for a teacher FC(500)", "Figure 26d", "larger still", "MNIST, 60000 "
          "inputs", reason=_PAPER),
    Claim("resnet_students", "The same with teachers ResNet(5), ResNet(2) and students ResNet(9), "
          "ResNet(8)", "Figures 22 to 24", "as above", "CIFAR-10, SVHN", reason=_PAPER),
    Claim("tiny_imagenet", "Tiny ImageNet as other inputs", "Figure 23", "between",
          "CIFAR-10, SVHN", reason=f"the set is not at hand, and it {_PAPER}"),
]  # fmt: skip

REAL_CLAIMS = (
    *(claim for name in _SETS for claim in _on_pairs(name)),
    *_RESNET,
    *_MIXED,
    *_on_colour("cifar10", "Figures 4b and 22b"),
    *_on_colour("svhn", "Figures 4c and 22c"),
    *_CURVES,
)
