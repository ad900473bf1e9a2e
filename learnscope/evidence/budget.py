"""Budgets: which sweeps of several studies are run first, and which fit the time that is given.

Sweeps of headline figures come first, then those that decide most claims per second. A claim that
needs several sweeps counts for each of them in part. What is stored costs nothing.
"""

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from learnscope.errors import MissingData
from learnscope.evidence.session import OutOfTime, Session
from learnscope.evidence.study import Study
from learnscope.lab.blocks import Plans
from learnscope.part.units import duration

_MARGIN = 0.1  # seconds that any sweep takes
Cost = Callable[[list[Plans]], list[float]]  # seconds, measured


@dataclasses.dataclass(frozen=True)
class Budget:
    """Seconds from now on, and how costs are measured; `text` is how it was asked for."""

    text: str
    seconds: float
    cost: Cost
    begun: float = dataclasses.field(default_factory=time.monotonic)

    @property
    def deadline(self) -> float:
        return self.begun + self.seconds

    def over(self, study: str, scale: str) -> str:
        """Why a sweep is not there, and the command that goes on with it."""
        command = f"learnscope verify {study} --scale {scale} --budget {self.text}"
        return f"not within the budget of {self.text}: `{command}` goes on"


@dataclasses.dataclass(frozen=True)
class Job:
    """A sweep of a study, what it decides, and what it costs."""

    study: str
    name: str
    sweep: Any
    claims: float
    headline: bool
    seconds: float = 0.0

    def order(self) -> tuple[bool, float]:
        return not self.headline, -self.claims / (self.seconds + _MARGIN)

    def words(self) -> str:
        claims = f"decides {self.claims:.3g} claim{'s' * (self.claims != 1)}"
        cost = f"about {duration(max(1.0, self.seconds))}" if self.seconds else "stored"
        return f"{self.study} {self.name}: {cost}, {claims}{', headline' * self.headline}"


def jobs_of(study: Study, sweeps: Mapping[str, Any]) -> list[Job]:
    """The sweeps of a study that are worth a budget: not those that take seconds."""
    shown = {need for name in study.headline for need in study.figures[name].needs}
    claims = {name: sum(name in c.needs and 1 / len(c.needs) for c in study.claims)
              for name in sweeps}  # fmt: skip
    return [Job(study.name, name, sweep, claims[name], name in shown)
            for name, sweep in sweeps.items()]  # fmt: skip


def schedule(jobs: Iterable[Job]) -> list[Job]:
    """The order in which sweeps are run.

    >>> def job(name, **more): return Job("pegr", name, None, **{"headline": False} | more)
    >>> long, short = job("long", claims=3, seconds=90), job("short", claims=1, seconds=9)
    >>> [each.name for each in schedule([long, short, job("cover", claims=1, headline=True)])]
    ['cover', 'short', 'long']
    """
    return sorted(jobs, key=Job.order)


def spend(
    budget: Budget, jobs: list[Job], plans: list[Plans], say: Callable[[str], None],
    **settings: Any,
) -> set[tuple[str, str]]:  # fmt: skip
    """Run sweeps into the store until the time is over. Returns those that are not whole: they
    continue where they were the next time."""
    planned = [(job, plan) for job, plan in zip(jobs, plans, strict=True) if plan]
    costs = budget.cost([plan for _, plan in planned])
    priced = [dataclasses.replace(j, seconds=s) for (j, _), s in zip(planned, costs, strict=True)]
    ordered, left = schedule(priced), budget.deadline - time.monotonic()
    say(f"{duration(sum(costs))} of work, {duration(max(0.0, left))} left of {budget.text}; in "
        "this order (headlines first, then most claims decided per second):")  # fmt: skip
    for job in ordered:
        left -= job.seconds
        say(f"  {job.words()}{'' if left >= 0 else ': does not fit, begun if time is left'}")
    session = Session([job.seconds for job in ordered], budget.deadline, settings["progress"])
    unfinished = set()
    for job in ordered:
        try:
            session.check()
            say(f"  {job.study} {job.name}: {session}")
            job.sweep.run(**settings | {"progress": session})
        except OutOfTime:
            if not unfinished:
                say(f"the budget of {budget.text} is spent; run again to continue.")
            unfinished.add((job.study, job.name))
        except MissingData:  # said when the study is judged
            pass
        session.next()
    return unfinished
