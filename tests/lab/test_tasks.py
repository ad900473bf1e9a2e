"""What goes to a worker together, and how long it is expected to take."""

import functools

import pytest

from learnscope.engine import size
from learnscope.lab.blocks import Plan
from learnscope.lab.worker import Done, Tasks
from tests.small import experiment


@functools.cache
def planned(steps, widths, noises):
    over = {"net.width": list(widths), "data.noise": [0.1 + 0.001 * i for i in range(noises)]}
    return Plan.of(experiment(steps=steps), over, 10)


def tasks(steps=100, widths=(2, 3), noises=4000):
    plan = planned(steps, tuple(widths), noises)
    return Tasks(plan, list(plan.blocks)), len(plan.blocks)


def all_shared(found, workers=2):
    """Every task, each back before the next is asked for."""
    listed = []
    while task := found.share(workers, idle=True):
        listed.append(task)
        for block in task:
            found.back(block, Done({}, seconds=0.02))
    return listed


def test_small_blocks_go_to_a_worker_together_and_each_goes_once():
    found, blocks = tasks()
    listed = all_shared(found)
    numbers = sorted(block.number for task in listed for block in task)
    assert numbers == list(range(blocks))
    assert all(len({block.program for block in task}) == 1 for task in listed)
    # The first of a program is one block, to be compiled; later a second of work; at the end less.
    assert [len(task) for task in listed[:2]] == [1, 1]
    assert {task[0].program for task in listed[:2]} == {0, 1}
    assert 25 < max(map(len, listed)) <= 50 and len(listed) < blocks / 5
    assert len(listed[-1]) == 1


def test_a_program_that_is_compiled_is_left_to_one_worker_unless_another_would_idle():
    found, _ = tasks()
    first, second = found.share(2, idle=True), found.share(2, idle=True)
    assert first[0].program != second[0].program
    assert found.share(2, idle=False) == []
    assert found.share(2, idle=True)
    found.back(second[0])
    assert {found.share(2, idle=False)[0].program for _ in range(3)} == {second[0].program}


def test_large_blocks_go_alone():
    found, blocks = tasks(steps=10**7, noises=40)
    listed = [found.share(2, idle=True) for _ in range(blocks)]
    assert [len(task) for task in listed] == [1] * blocks and not found.share(2, idle=True)


def test_a_task_does_not_return_more_than_a_block_may(monkeypatch):
    found, _ = tasks()
    (first,) = found.share(2, idle=True)
    found.back(first)
    each = first.runs * found._plan.sizes[0].recorded
    monkeypatch.setattr(size, "LIMITS", size.Limits(block_results=3 * each))
    found.share(2, idle=True)
    assert len(found.share(2, idle=True)) == 3


def test_this_process_takes_blocks_in_their_order():
    found, blocks = tasks()
    assert [found.next()[0].number for _ in range(blocks)] == list(range(blocks))
    assert found.next() == [] and found.left == 0


def test_what_is_left_includes_compiling():
    found, _ = tasks()
    assert found.left == pytest.approx(found.all + 2 * 2.0)


def test_the_estimate_follows_the_clock_but_not_the_compiler():
    found, blocks = tasks(widths=[2])
    before, first, second = found.all, *found.next(), *found.next()
    found.back(first, Done({}, seconds=100.0, compilations=1))
    assert found.all == before
    found.back(second, Done({}, seconds=3.0))
    assert found.all == pytest.approx(3 * blocks)
    assert found.left == pytest.approx(3 * (blocks - 2))
