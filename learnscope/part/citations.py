"""What to cite: the papers behind the parts, as BibTeX."""

import re
from pathlib import Path

_ENTRIES = Path(__file__).with_name("papers.bib").read_text(encoding="utf-8").strip().split("\n\n")
PAPERS: dict[str, str] = {re.split(r"[{,]", entry)[1]: entry for entry in _ENTRIES}
