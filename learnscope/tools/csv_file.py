"""Images and labels from CSV: one line per image, one column per pixel, one column of labels."""

import codecs
import csv
import gzip
import zlib
from collections.abc import Generator
from pathlib import Path

import numpy as np

from learnscope.errors import BadInput
from learnscope.images.formats.safe import LARGEST, most_unpacked

LABELS = ("label", "class", "target", "y")
_LONGEST = 2**24  # characters in a line
_SHOWN = 10  # columns in a message


def read_csv(path: Path, label: str | None) -> tuple[np.ndarray, list[str]]:
    """Images (float64), and labels as text without surrounding spaces."""
    lines = _lines(path)
    try:
        reader = csv.reader(lines, strict=True)
        columns = [name.strip() for name in next(reader, [])]
        at = _label_column(path, columns, label)
        rows = _Rows(len(columns) - 1, most_unpacked(path.stat().st_size))
        labels = []
        for cells in reader:
            if not cells:
                continue
            where = f"{path}, line {reader.line_num}"
            if len(cells) != len(columns):
                raise BadInput(f"{where}, has {len(cells)} cells for {len(columns)} columns.")
            labels.append(cells.pop(at).strip())
            if labels[-1].lower() in ("", "nan"):
                raise BadInput(f"{where}, column '{columns[at]}': the label is missing.")
            try:
                numbers = np.array(cells, dtype=np.float64)
            except ValueError:
                numbers = np.array([np.nan])
            if not np.isfinite(numbers).all():
                raise _bad_cell(where, cells, columns[:at] + columns[at + 1 :])
            if not rows.append(numbers):
                most = f"{rows.most / 2**20:.0f} MB"
                raise BadInput(
                    f"{where}: the numbers up to here take {most}, the most for a file of its size."
                )
    except csv.Error as error:
        raise BadInput(f"{path} is not valid CSV: {error}.") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not CSV: it is not UTF-8 text.") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise BadInput(f"{path} is not a whole gzip file: {error}.") from None
    finally:
        lines.close()  # the file, at once: a refusal leaves it half read
    if not labels:
        raise BadInput(f"{path} has no lines after its column names.")
    return rows.matrix(), labels


class _Rows:
    """A matrix that grows by rows to `most` bytes, in place if the system can."""

    def __init__(self, columns: int, most: int):
        self.table, self.most = np.empty((0, columns)), most
        self.count = 0

    def append(self, row: np.ndarray) -> bool:
        """Add a row; False if there is no room."""
        if (self.count + 1) * row.nbytes > self.most:
            return False
        if self.count == len(self.table):
            more = max(1, self.count // 4, int(2**20 / row.nbytes))
            # There are no other references to the table.
            self.table.resize((self.count + more, len(row)), refcheck=False)
        self.table[self.count] = row
        self.count += 1
        return True

    def matrix(self) -> np.ndarray:
        self.table.resize((self.count, self.table.shape[1]), refcheck=False)
        return self.table


def _lines(path: Path) -> Generator[str, None, None]:
    """The lines of a text, gzipped or not, of limited length."""
    total = 0
    packed = path.name.lower().endswith(".gz")
    with gzip.open(path) if packed else open(path, "rb") as file:
        while line := file.readline(_LONGEST + 1):
            if not total:
                line = line.removeprefix(codecs.BOM_UTF8)
            total += len(line)
            if len(line) > _LONGEST or total > 4 * LARGEST:
                raise BadInput(f"{path} is too large: at most 16 MB per line and 16 GB in all.")
            yield line.decode("utf-8")


def _label_column(path: Path, columns: list[str], label: str | None) -> int:
    names = LABELS if label is None else (label,)
    lower = columns if label is not None else [name.lower() for name in columns]
    match = next((name for name in names if name in lower), None)
    shown = ", ".join(columns[:_SHOWN])
    if len(columns) > _SHOWN:
        shown += f", ... ({len(columns)} in all)"
    if match is None:
        what = f"called {' or '.join(names)}" if label is None else f"'{label}'"
        hint = "; --label names another" if label is None else ""
        there = f"its columns are {shown or 'none'}"
        raise BadInput(f"{path} has no column {what} for the labels{hint}; {there}.")
    if lower.count(match) > 1:
        raise BadInput(f"{path} has {lower.count(match)} columns '{match}': one must be the label.")
    if len(columns) == 1:
        raise BadInput(f"{path} has no column beside the labels.")
    return lower.index(match)


def _bad_cell(where: str, cells: list[str], columns: list[str]) -> BadInput:
    """The error for the first cell that is not a finite number."""
    for cell, column in zip(cells, columns, strict=True):
        try:
            good = bool(np.isfinite(float(cell)))
        except ValueError:
            good = False
        if not good:
            text = cell.strip()
            what = f"'{text[:40]}' is" if text else "an empty cell is"
            return BadInput(f"{where}, column '{column}': {what} not a finite number.")
    return BadInput(f"{where}: a cell is not a finite number.")
