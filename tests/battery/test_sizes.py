"""Hostile sizes under a memory cap: refused before anything is allocated, or small enough."""

import functools
import json
import resource
import sys
import time

from tests.battery.conftest import sizes
from tests.small import said_by, trusted

HUGE = (10**3, 10**5, 10**7, 10**9, 2**31 - 1, 10**12, 10**400)
MOST_BYTES, MOST_SECONDS = 3 * 2**30, 20.0


@sizes(6, 100_000)
def test_sizes_in_parts(count, found):
    said = json.loads(said_by(__file__, count)[-1])
    assert not said["wrong"], said["wrong"]
    assert said["grown"] < MOST_BYTES
    found(
        f"{said['tried']} hostile sizes of parts: {said['refused']} refused, 0 tracebacks, "
        f"{said['grown'] / 1e9:.2g} GB, slowest {said['slowest']:.1f} s"
    )


def cases():
    """Every count and dimension of every shipped part, with every huge value, in an experiment."""
    import learnscope as ls
    from tests.conformance.examples import COMPANIONS, EXAMPLES_WITH  # slow to import

    seen = set()
    for company, table in EXAMPLES_WITH.items():
        for slot, parts in table.items():
            for held in parts:
                for name, field in type(held).__dataclass_fields__.items():
                    allowed = field.metadata.get("allowed")
                    sized = allowed is not None and (allowed.kind == "count" or allowed.shape)
                    if not sized or (type(held), name) in seen:
                        continue
                    seen.add((type(held), name))
                    make = functools.partial(changed, COMPANIONS[company], slot, held, name)
                    yield from ((f"{type(held).__name__}.{name}", value, make) for value in HUGE)
    usual = ls.Experiment(**COMPANIONS["signs"], steps=3)
    for name in ("steps", "record.every"):
        for value in HUGE:
            yield name, value, lambda value, name=name: usual.replace(name, value)


def changed(others, slot, held, name, value):
    import learnscope as ls

    new = held.replace(name, value)
    return ls.Experiment(**others | {slot: (new,) if slot == "probes" else new}, steps=3)


def main(count):
    """Plan an experiment of every case, in little memory."""
    import random

    import jax

    import learnscope as ls
    from learnscope.lab.blocks import Plan

    trusted()  # trials are small copies, and slow
    listed = list(cases())
    random.Random(0).shuffle(listed)
    with open("/proc/self/statm") as facts:
        used = int(facts.read().split()[0]) * resource.getpagesize()
    cap = used + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (cap, cap))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    refused, wrong, slowest = 0, [], 0.0
    for name, value, make in listed[: int(count)]:
        start = time.perf_counter()
        words = f"{name} = {str(value)[:20]}"
        try:
            Plan.of(make(value), None, 1, random.Random(words).choice(["auto", "ambient"]))
        except ls.BadInput:
            refused += 1
        except BaseException as error:
            wrong.append(f"{words}: {type(error).__name__}")
        seconds = time.perf_counter() - start
        if seconds > MOST_SECONDS:
            wrong.append(f"{words}: {seconds:.0f} s")
        slowest = max(slowest, seconds)
        jax.clear_caches()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    print(json.dumps({"tried": len(listed[: int(count)]), "refused": refused, "wrong": wrong,
                      "grown": grown, "slowest": slowest}))  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
