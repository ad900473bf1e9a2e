"""The page of errata names tests that there are."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]


def test_every_test_that_the_page_names_exists():
    page = (TESTS.parent / "docs" / "errata.md").read_text(encoding="utf-8")
    text = "".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py"))
    files = {path.stem for path in TESTS.rglob("*.py")}
    named = set(re.findall(r"`[^`]*?(test_\w+)", page))
    assert len(named) > 30
    lost = {name for name in named if name not in files and f"def {name}(" not in text}
    assert not lost
