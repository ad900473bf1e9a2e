"""The claims of section 4.2, in each reading of its pixels; `real_checks` has the checks."""

from functools import partial

from learnscope.evidence import Claim
from learnscope.papers.pegr import real_checks as checks

_SETTINGS = {
    "mnist_unit": "LeNet5, pixels 0 to 1, σp = 0, 5, 10, 15, λ = 0.1; laptop: 1000 images of MNIST "
    "(60,000: `learnscope verify pegr --scale paper --data DIR`)",
    "mnist_bytes": "LeNet5, pixels 0 to 255, σp = 0, 5, 10, 15, λ = 0.1; laptop: 1000 images of "
    "MNIST (60,000: `learnscope verify pegr --scale paper --data DIR`)",
    "mnist_working": "LeNet5, pixels 0 to 1, σp = 0, 1, 2, λ = 1/E‖x‖²; laptop: 1000 images of "
    "MNIST, 600 steps",
    "mnist_long": "LeNet5, pixels 0 to 1, σp = 1, λ = 1/E‖x‖²; laptop: 1000 images of MNIST, 1000 "
    "steps; added after 600 steps had differed, σp = 2 not tried",
}


def _reading(name: str) -> list[Claim]:
    tag = name.removeprefix("mnist_")

    def claim(id: str, statement: str, where: str, reported: str, check) -> Claim:
        return Claim(f"{id}.{tag}", statement, where, reported, _SETTINGS[name], (name,), check)

    claims = [
        claim("figure-5", "On noisy MNIST the training loss of PEGR and of standard training "
              "decreases.", "Figure 5", "at σp = 0, 5, 10, 15", checks.losses_decrease),
        claim("figure-6", "On noisy MNIST PEGR's test accuracy is above standard training's.",
              "Figure 6", "higher at σp = 5, 10, 15", checks.accuracy_above),
        claim("figure-6-full", "The same against the penalty on the full gradient (not in the "
              "paper).", "Figure 6", "not reported",
              partial(checks.accuracy_above, other="FGR")),
        claim("figure-6-quiet", "Without noise PEGR does not prevent learning.", "Figure 6 (a)",
              "as high as standard training", checks.noiseless_is_kept),
        claim("figure-6-falls", "Test accuracy falls as noise grows, for both.", "Figure 6",
              "decreases", checks.accuracy_falls),
    ]  # fmt: skip
    return claims[:2] if name == "mnist_long" else claims  # one noise level, and no full penalty


REAL_CLAIMS: tuple[Claim, ...] = tuple(claim for name in _SETTINGS for claim in _reading(name))
