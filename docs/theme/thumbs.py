"""The small pictures of the README: docs/images/thumbs, from the large ones.

    python docs/theme/thumbs.py

`learnscope run STUDY.FIGURE` draws the large ones. Of several panels the telling one is shown.
"""

from pathlib import Path

from PIL import Image

IMAGES = Path(__file__).parents[1] / "images"
# Picture, and the part of it that is shown: left, upper, right and lower end as shares.
PARTS = {
    "arithmetic": (0.52, 0.09, 1, 1), "no_head": (0, 0, 1, 0.92), "tail": (0, 0.07, 0.71, 0.95),
    "plane": (0.67, 0.07, 1, 0.51), "published": (0.53, 0.09, 1, 1),
}  # fmt: skip
_SIZE = (320, 200)


def main() -> None:
    for name, part in PARTS.items():
        picture = Image.open(IMAGES / f"{name}.png").convert("RGB")
        box = [round(share * side) for share, side in zip(part, 2 * picture.size, strict=True)]
        shown = picture.crop((box[0], box[1], box[2], box[3]))
        shown.thumbnail(_SIZE, Image.Resampling.LANCZOS)
        shown.quantize(64).save(IMAGES / "thumbs" / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
