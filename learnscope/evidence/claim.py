"""Claims: a sentence of a paper, where it stands, what it reports, and a verb over a quantity."""

import dataclasses
import warnings
from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr

from learnscope.errors import BadInput
from learnscope.evidence.artefacts import LOOKED
from learnscope.evidence.cell import FEWEST, needing
from learnscope.evidence.finding import HOLDS, Finding
from learnscope.evidence.nulls import ALWAYS, STANDARD, Null, absurd
from learnscope.evidence.quantity import Datasets
from learnscope.evidence.verbs import Verb

SCOPES = {
    "as stated": "the paper's own setting and sentence",
    "regime": "parameters at which the theorem's condition holds",
    "reading": "one of several ways to read the paper",
    "corrected": "a printed formula without its misprints; does not count for the artefact",
    "asymptotic": "a trend, with its exponent",
    "beyond": "not in the paper",
    "fitted": "chosen on test data or on the paper's number; never counted as reproduced",
}
FLAGS = ("tuned", LOOKED)
RATES = ("as stated", "tuned", "chosen")  # the last: by us, as the paper has none
DRAWS = (FEWEST, 5, 3)  # the rule; trainings on images of under, and of over, ten minutes


@dataclasses.dataclass(frozen=True)
class Claim:
    """A sentence of a paper, where it stands, what it reports, and how it is checked.

    `where` is the artefact: a figure or panel, a table, a numbered statement. `check` is a `Verb`,
    or a function of the datasets of the sweeps named in `needs` that returns a `Finding`. A claim
    without one is listed as not run, with its `reason`.

    `scope` is one of `SCOPES`, with what it is after a colon ("reading: no 1/m"); `flags` are those
    of `FLAGS`, likewise ("tuned: the rate, on the training loss of all arms"). `rates` says where
    learning rates come from: one of `RATES`, with the procedure and its data after a colon ("tuned:
    least loss of 5 rates, on 1000 held out"). `draws` is the least number of independent draws for
    a verdict, one of `DRAWS`. `sentence` is a key that rows on the same sentence of the paper share
    (default: the statement).

    `nulls` take the place of the datasets, beside the untrained network and the constant prediction
    (without any, noise only, too): where the claim holds for one of them, it is inconclusive. Only
    an identity or a bound that is about untrained networks or early training, too, may hold there:
    `survives` names such nulls, with the reason ("untrained: the bound is on early training"), and
    the row shows it.
    """

    id: str
    statement: str
    where: str
    reported: str
    setting: str
    needs: tuple[str, ...] | str = ()
    check: Verb | Callable[..., Finding] | None = None
    reason: str = ""
    scope: str = ""
    flags: tuple[str, ...] = ()
    nulls: tuple[Null, ...] = ()
    rates: str = ""
    draws: int = FEWEST
    survives: tuple[str, ...] = ()
    sentence: str = ""

    def __post_init__(self):
        if isinstance(self.needs, str):
            object.__setattr__(self, "needs", (self.needs,))
        _known(self.id, "scope", self.scope, SCOPES)
        _known(self.id, "rates", self.rates, RATES)
        if self.draws not in DRAWS:
            raise BadInput(f"draws = {self.draws} of {self.id} must be one of {DRAWS}.")
        wordless = [each for each in self.survives if ": " not in each]
        if wordless:
            raise BadInput(f"survives = {wordless} of {self.id}: say why, after a colon.")
        for flag in self.flags:
            _known(self.id, "flag", flag, FLAGS)
            if "; " in flag:
                raise BadInput(f"flag = {flag!r} of {self.id}: a semicolon separates flags.")

    def find(
        self, datasets: Mapping[str, xr.Dataset], absent: Mapping[str, str] | None = None
    ) -> Finding:
        """The finding from the given datasets; `absent` gives reasons for missing ones."""
        if self.check is None:
            return Finding("", "not run", self.reason)
        for name in self.needs:
            if absent is not None and name in absent:
                return Finding("", "not run", absent[name])
        missing = [name for name in self.needs if name not in datasets]
        if missing:
            return Finding("", "not run", f"needs {', '.join(missing)}, which was not asked for")
        used = {name: datasets[name] for name in self.needs}
        found, under = self.judge(used), self.under_nulls(used)
        spared = {name: why for name, _, why in (s.partition(": ") for s in self.survives)}
        passed = [name for name, verdict in under.items()
                  if verdict == "reproduced" and name not in spared]  # fmt: skip
        if passed and found.verdict == "reproduced":
            why = f"the null passes too: {', '.join(passed)}"
            found = found.replace(verdict="inconclusive", why=why)
        held = {name: f"{HOLDS}, as {spared[name]}" if verdict == "reproduced" and name in spared
                else verdict for name, verdict in under.items()}  # fmt: skip
        words = "; ".join(f"{name}: {verdict}" for name, verdict in held.items())
        return found.replace(null=words or found.null)

    def judge(self, datasets: Mapping[str, xr.Dataset]) -> Finding:
        """What the check says of some datasets, without a look at nulls."""
        assert self.check is not None
        with needing(self.draws):
            if isinstance(self.check, Verb):
                return self.check.judge(datasets)
            return self.check(*(datasets[name] for name in self.needs))

    def under_nulls(self, datasets: Mapping[str, xr.Dataset]) -> dict[str, str]:
        """The verdict under every null that applies: one that changes what the check reads. An
        untrained network and a constant prediction always count; a claim's own null of the same
        name takes the place of one (chance is not 1/2 for ten classes)."""
        datasets = {name: datasets[name] for name in self.needs}
        given = (*ALWAYS, *self.nulls) if self.nulls else STANDARD
        nulls = {null.name: null for null in given}.values()
        found, truth = {}, self.judge(datasets) if nulls else None
        # Nulls may overflow or be nowhere finite, and absurd values are.
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            for null in nulls:
                changed = {name: null.apply(data) for name, data in datasets.items()}
                kept = {name: data for name, data in changed.items() if data is not None}
                if not kept:
                    continue
                under = self.judge({**datasets, **kept})
                if under != truth or self._reads(datasets, kept, truth):
                    found[null.name] = under.verdict
        return found

    def _reads(self, datasets: Datasets, changed: Datasets, truth: Finding | None) -> bool:
        """Whether the check reads anything that differs: absurd values there change its finding."""

        def differs(size: float) -> bool:
            other = {name: absurd(datasets[name], data, size) for name, data in changed.items()}
            return self.judge({**datasets, **other}) != truth

        return differs(1e30) or differs(np.nan)


def _known(claim: str, what: str, given: str, allowed: object) -> None:
    kind = given.partition(":")[0]
    if given and kind not in allowed:  # type: ignore[operator]
        raise BadInput(f"{what} = {given!r} of the claim {claim} must begin with one of "
                       f"{', '.join(allowed)}.")  # type: ignore[call-overload]  # fmt: skip
