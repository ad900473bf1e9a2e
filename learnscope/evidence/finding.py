"""Findings: what was measured for a claim, and the verdict."""

import dataclasses

from learnscope.errors import BadInput

VERDICTS = ("reproduced", "differs", "inconclusive", "not run")
HOLDS = "holds there"  # what a row says of a null that its claim may survive


@dataclasses.dataclass(frozen=True)
class Finding:
    """The measurement for a claim, in words and numbers, with the verdict and the reason.

    `interval` is the one that decides, `draws` the number of independent draws in it (or "exact"),
    `null` what each null of the claim comes to, `power` the difference that would have been seen
    in four of five repetitions.
    """

    measured: str
    verdict: str
    why: str = ""
    interval: str = ""
    draws: str = ""
    null: str = ""
    power: str = ""

    def __post_init__(self):
        if self.verdict not in VERDICTS:
            raise BadInput(f"verdict = {self.verdict!r} must be one of {', '.join(VERDICTS)}.")

    def replace(self, **changes: str) -> "Finding":
        return dataclasses.replace(self, **changes)


def judged(measured: str, good: bool, why: str) -> Finding:
    """A finding: reproduced if `good`, otherwise different for the reason `why`."""
    return Finding(measured, "reproduced" if good else "differs", "" if good else why)


def weakest(verdicts: list[str]) -> str:
    """The verdict on several things that are claimed together.

    >>> weakest(["reproduced", "inconclusive"]), weakest(["inconclusive", "differs"])
    ('inconclusive', 'differs')
    """
    return next(v for v in ("differs", "inconclusive", "not run", "reproduced") if v in verdicts)
