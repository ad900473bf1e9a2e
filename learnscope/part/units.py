"""Amounts with their units, for people."""


def duration(seconds: float) -> str:
    """Seconds for people.

    >>> duration(3.2), duration(75), duration(7300), duration(200_000)
    ('3 s', '1 min 15 s', '2 h 1 min', '2 d 7 h')
    """
    whole = round(seconds)
    for unit, size, smaller, part in (
        ("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1),
    ):  # fmt: skip
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // part} {smaller}"
    return f"{whole} s"


def amount(size: float) -> str:
    """Bytes for people.

    >>> amount(1.7e4), amount(3.21e9), amount(4e14)
    ('17 kB', '3.21 GB', '400 TB')
    """
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:,.3g} {unit}"
    return f"{size:.0f} bytes"
