"""The experiment that a panel shows."""

import learnscope as ls
from learnscope.figures.setting import setting


def test_a_rule_on_an_axis_is_itself_not_the_base_of_the_same_kind():
    """Adam in place of the experiment's plain descent has the same label, and no such theory."""
    data = ls.data.SignalNoise(dim=50, train=4, test=9, signal=1.0, noise=0.5)
    plain = ls.rules.GradientDescent(rate=0.1)
    adam = ls.rules.GradientDescent(rate=0.1, optimiser="adam")
    penalty = ls.rules.PerExamplePenalty(rate=0.1, weight=0.2)
    base = ls.Experiment(data, ls.nets.PatchCNN(width=2), plain, steps=2)
    over = {"rule": [adam, penalty], "data.noise": [0.1, 0.2], "data.signal": [1.0, 2.0]}
    result = ls.run(base, over)
    shown = [setting(result.isel(rule=i), "noise", "signal").rule for i in (0, 1)]
    assert shown == [adam, penalty]
