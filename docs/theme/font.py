"""The font of formulas: docs/theme/math.woff, the part of STIX Two Math that pages need.

    python docs/theme/font.py STIXTwoMath-Regular.woff

STIX Two Math is under the SIL Open Font License (docs/theme/OFL.txt); it is in the npm package
@fontsource/stix-two-math, among others. Without it a browser takes whatever font a machine has:
fractions are then tiny, and primes drift. A test checks that no formula has another character.
"""

import sys
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

FILE = Path(__file__).with_name("math.woff")  # .woff2 would need one more library to test
_RANGES = ((0x20, 0x7E), (0xA0, 0xFF), (0x391, 0x3F6), (0x2190, 0x2199), (0x1D434, 0x1D467),
           (0x1D6E2, 0x1D71B))  # fmt: skip
_MORE = "‖′″‴…⋅⋯−∓∂∇∏∑√∞∫∈∉⊂⊆∪∩∀∃≤≥≪≫≈≠≡∼≍∝⟨⟩⌊⌋⌈⌉⊥⊤∥∘⊗⊕→⇒↦∣ℓℝℎ𝒟𝒩𝒪ℰℒ𝔼ℙ𝟙𝟏𝒦𝒰⟂◻⧵―⏟⏞̂̃̄ˆ˜¯"


def characters() -> set[int]:
    """Those that a formula may have: also italic letters, as which browsers draw variables."""
    return {c for low, high in _RANGES for c in range(low, high + 1)} | set(map(ord, _MORE))


def held() -> set[int]:
    """The characters of the font that is there."""
    return set(TTFont(FILE).getBestCmap() or ())


def main() -> None:
    options = Options(flavor="woff", layout_features=["kern"], notdef_outline=True)
    font, subsetter = TTFont(sys.argv[1]), Subsetter(options)
    subsetter.populate(unicodes=characters())
    subsetter.subset(font)
    font.flavor = "woff"
    font.save(FILE)
    print(f"{FILE.name}: {len(held())} characters, {FILE.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
