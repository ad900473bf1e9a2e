"""Plans: boxes cover a sweep once, and waste little."""

import numpy as np
import pytest

import learnscope as ls
from learnscope.lab.plan import Plan, box


def experiment(**changes):
    return ls.Experiment(
        data=ls.data.SignalNoise(dim=100, train=3, test=5, signal=1.0, noise=1.0),
        net=ls.nets.PatchCNN(width=2),
        rule=ls.rules.GradientDescent(rate=0.1),
        **({"steps": 4} | changes),
    )


OVERS = [
    None,
    {"data.noise": [0.1, 0.2, 0.3]},
    {"net.width": [1, 2], "data.noise": np.linspace(0.1, 1, 7), "steps": [3, 4]},
    [{"data.noise": np.linspace(0.1, 1, 30)}, {"rule": [ls.rules.GradientDescent(rate=0.1)]}],
]


@pytest.mark.parametrize("over", OVERS)
@pytest.mark.parametrize("seeds", [1, 7, 40])
def test_boxes_cover_every_run_once(over, seeds):
    plan = Plan.of(experiment(), over, seeds, "auto", "float32")
    count = np.zeros(plan.shape, int)
    for one in plan.boxes:
        count[one.region] += 1
        block = plan.block(one, 1e9)
        assert block.size == one.runs
        # A box holds one structure.
        assert block.experiment == plan.groups[one.group].experiment
        place = plan.groups[one.group].place
        for axis, part in zip(plan.axes, one.region, strict=False):
            if axis.dim in place:
                assert (part.start, part.stop) == (place[axis.dim], place[axis.dim] + 1)
    assert (count == 1).all()
    assert [one.number for one in plan.boxes] == list(range(len(plan.boxes)))


def test_a_block_holds_the_settings_of_its_box():
    over = {"data.noise": [0.1, 0.2, 0.3, 0.4], "net.width": [1, 2]}
    plan = Plan.of(experiment(), over, [5, 9], "auto", "float32")
    for one in plan.boxes:
        block = plan.block(one, 1e9)
        noise = np.array(over["data.noise"])[one.region[0]]
        np.testing.assert_array_equal(block.varying["data.noise"], np.repeat(noise, 2))
        np.testing.assert_array_equal(block.seeds, [5, 9] * len(noise))
    some = plan.block(plan.boxes[0], 1e9, keep=np.arange(plan.boxes[0].runs) % 2 == 1)
    assert set(some.seeds) == {9}
    assert plan.words(plan.boxes[0], 1) == "data.noise = 0.1, net.width = 1, seed 9"


@pytest.mark.parametrize("shape", [(1,), (10,), (1000,), (7, 6), (100, 100, 10), (3, 1, 57, 2)])
@pytest.mark.parametrize("chunk", [1, 7, 10])
@pytest.mark.parametrize("limit", [1, 40, 512])
def test_boxes_waste_little(shape, chunk, limit):
    sides = box(shape, chunk, limit)
    assert len(sides) == len(shape)
    assert all(1 <= side <= n for side, n in zip(sides, shape, strict=True))
    runs, size = np.prod(shape), np.prod(sides)
    assert size <= limit
    count = np.prod([-(-n // side) for n, side in zip(shape, sides, strict=True)])
    computed = count * chunk * -(-size // chunk)
    if limit >= 40 and runs >= 100:
        assert computed <= 1.25 * runs + chunk
    if runs >= 1000 and limit == 512:
        assert count >= 2  # work for more than one core


def test_pieces_are_whole_chunks_and_even():
    size = Plan.of(experiment(), None, 1, "auto", "float32").sizes[0]
    for runs in (1, 10, 250, 512):
        piece = size.piece(runs, 1e9)
        assert piece % size.chunk == 0
        assert piece * -(-runs // piece) < 1.1 * runs + size.chunk
