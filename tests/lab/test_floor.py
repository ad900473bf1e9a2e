"""Variables that end at their rounding floor are named."""

import learnscope as ls
from learnscope.lab.progress import at_floor
from tests.rules.test_digits import working


def test_suppressed_noise_is_rounding_error_in_weights_only(capsys):
    experiment = working(1.5, 1000, 1000, 500)
    in_weights = ls.run(experiment, coordinates="ambient")
    assert at_floor(in_weights) == ["noise_memorisation"]
    assert "noise_memorisation is rounding error" in capsys.readouterr().err
    assert in_weights.noise_memorisation.attrs["floor"] == "noise_floor"
    assert at_floor(ls.run(experiment, progress=False)) == []
