"""Fuzzed text, tables and bytes, from seeds."""

import random

HOSTILE = (
    "", "0", "-1", "1e300", "1e-300", "1e400", "nan", "inf", "-inf", "abc", "true", "none", "None",
    "2147483646", "2147483648", "9" * 400, "1000000000", "10000000", "0.5", "3", "[1,2]", "[",
    "]", "{}", "..", "../../etc/passwd", "/dev/null", "\x1b[2J", "\u202e", "é" * 50, "'", '"', "=",
    "a=b", "--", "-q", "%s%n", "__import__('os')", "$(id)", "\t", " ", "1,2,3", ",", "SignalNoise",
    "x" * 5000, "\ud7ff", "0x10", "1_000", "+5", "1e2", "07", "[[[[[[1]]]]]]",
)  # fmt: skip


def text(chance: random.Random, base: str) -> str:
    """A text with a few changes: characters dropped, doubled, swapped, or hostile ones put in."""
    letters = list(base)
    for _ in range(chance.choice([1, 1, 2, 5])):
        at = chance.randrange(len(letters) + 1)
        kind = chance.randrange(5)
        if kind == 0 and letters:
            del letters[at : at + chance.choice([1, 3, 20])]
        elif kind == 1:
            letters[at:at] = letters[at : at + chance.choice([1, 5, 40])]
        elif kind == 2:
            letters[at:at] = chance.choice(HOSTILE)
        elif kind == 3:
            letters[at : at + 1] = chr(chance.choice([0, 9, 27, 34, 39, 91, 127, 0x3B1, 0x1F600]))
        else:
            letters = letters[:at]
    return "".join(letters)


def content(chance: random.Random, base: bytes) -> bytes:
    """Bytes with a few changes: bits flipped, a piece cut out, doubled, or filled."""
    held = bytearray(base)
    for _ in range(chance.choice([1, 1, 2, 6])):
        at = chance.randrange(len(held) + 1)
        size = chance.choice([1, 2, 4, 8, 100])
        kind = chance.randrange(5)
        if kind == 0 and at < len(held):
            held[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            held[at : at + size] = bytes([chance.choice([0, 0xFF, 0x7F])] * size)
        elif kind == 2:
            del held[at : at + size]
        elif kind == 3:
            held[at:at] = held[at : at + size]
        else:
            held = held[:at]
    return bytes(held)
