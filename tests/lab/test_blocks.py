"""Plans: blocks cover a sweep once, and waste little."""

import numpy as np
import pytest

import learnscope as ls
from learnscope.lab.blocks import Plan
from learnscope.lab.sweep import block_shape
from tests.small import experiment

SETTING = experiment(steps=4)
OVERS = [
    None,
    {"data.noise": [0.1, 0.2, 0.3]},
    {"net.width": [1, 2], "data.noise": np.linspace(0.1, 1, 7), "steps": [3, 4]},
    [{"data.noise": np.linspace(0.1, 1, 30)}, {"rule": [ls.rules.GradientDescent(rate=0.1)]}],
]


@pytest.mark.parametrize("over", OVERS)
@pytest.mark.parametrize("seeds", [1, 40])
def test_blocks_cover_every_run_once(over, seeds):
    plan = Plan.of(SETTING, over, seeds, "auto", "float32")
    count = np.zeros(plan.shape, int)
    for one in plan.blocks:
        count[one.region] += 1
        runs = plan.runs_of(one)
        assert runs.size == one.runs <= runs.padded
        assert runs.padded % runs.batch == 0
        # A block is of one program.
        assert runs.experiment == plan.programs[one.program].experiment
        place = plan.programs[one.program].place
        for axis, part in zip(plan.axes, one.region, strict=False):
            if axis.dim in place:
                assert (part.start, part.stop) == (place[axis.dim], place[axis.dim] + 1)
    assert (count == 1).all()
    assert [one.number for one in plan.blocks] == list(range(len(plan.blocks)))


def test_a_block_holds_the_settings_of_its_region():
    over = {"data.noise": [0.1, 0.2, 0.3, 0.4], "net.width": [1, 2]}
    plan = Plan.of(SETTING, over, [5, 9], "auto", "float32")
    for one in plan.blocks:
        runs = plan.runs_of(one)
        noise = np.array(over["data.noise"])[one.region[0]]
        np.testing.assert_array_equal(runs.varying["data.noise"], np.repeat(noise, 2))
        np.testing.assert_array_equal(runs.seeds, [5, 9] * len(noise))
    some = plan.runs_of(plan.blocks[0], keep=np.arange(plan.blocks[0].runs) % 2 == 1)
    assert set(some.seeds) == {9}
    assert plan.words(plan.blocks[0], 1) == "data.noise = 0.1, net.width = 1, seed 9"


@pytest.mark.parametrize("shape", [(1,), (10,), (1000,), (7, 6), (100, 100, 10), (3, 1, 57, 2)])
@pytest.mark.parametrize("batch", [1, 7, 10])
@pytest.mark.parametrize("limit", [1, 40, 512])
def test_blocks_waste_little(shape, batch, limit):
    sides = block_shape(shape, batch, limit)
    assert len(sides) == len(shape)
    assert all(1 <= side <= n for side, n in zip(sides, shape, strict=True))
    runs, size = np.prod(shape), np.prod(sides)
    assert size <= limit
    count = np.prod([-(-n // side) for n, side in zip(shape, sides, strict=True)])
    computed = count * batch * -(-size // batch)
    if limit >= 40 and runs >= 100:
        assert computed <= 1.25 * runs + batch
    if runs >= 1000 and limit == 512:
        assert count >= 2  # work for more than one core
