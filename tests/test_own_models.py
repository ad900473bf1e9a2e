"""The page on own models runs as it stands."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "own-models.md"


def test_the_page_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 2
    exec("\n".join(blocks), {})
    assert "effective rank" in capsys.readouterr().out
