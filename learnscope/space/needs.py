"""What a data model needs of its space."""

from typing import NamedTuple


class Space(NamedTuple):
    """What a data model needs of its space: one answer, from which coordinates are chosen.

    `span` is the number of coordinates that directions and training vectors take up.
    `compression` is `gaussian_rows` (can be drawn compressed, exact in law), `rotate` (drawn in
    R^d, from any law) or `none` (training leaves every fixed span). `sets` is the number of sets of
    filters that need coordinates: one, the trained filters. Models that draw fresh examples every
    step also need the initial ones (of pairs: those that each view adds, and the target's). `fresh`
    is the number of fresh examples of a step that have labels: a step adds as many coordinates, or
    as many as there are filters (not so if steps are `repeated` on the same examples, which must
    then be known in coordinates of their own). `pairs` says that fresh examples are pairs of views.
    """

    span: int
    compression: str = "none"
    sets: int = 1
    fresh: int = 0
    pairs: bool = False
    repeated: bool = False
