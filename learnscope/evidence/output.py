"""An output folder whose files are always complete."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import xarray as xr
from matplotlib.figure import Figure

from learnscope.errors import refusing
from learnscope.evidence.ledger import Ledger
from learnscope.evidence.study import Study
from learnscope.lab.store.seal import sealed

_DPI = 160  # of PNG files, and of heat maps in PDF files


class Output:
    """Writes figures, datasets and ledgers into a folder, each through a temporary file."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        with refusing(f"the output folder {self.folder} cannot be written", kinds=(OSError,)):
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                pass

    def figure(self, name: str, figure: Figure, mark: str = "") -> list[Path]:
        """A figure as PNG and PDF, with a mark across it; it is closed afterwards."""
        if mark:
            look = {"ha": "center", "va": "center", "rotation": 20, "alpha": 0.18, "zorder": 99}
            size = 5 * figure.get_figwidth()
            figure.text(0.5, 0.5, mark, fontsize=size, color="#a40e26", in_layout=False, **look)
        heading = " ".join(figure.get_suptitle().split())  # what a report says below the picture
        paths = [
            self._write(
                f"{name}.{kind}",
                lambda path, kind=kind: figure.savefig(
                    path, format=kind, dpi=_DPI, metadata={"Title": heading}
                ),
            )
            for kind in ("png", "pdf")
        ]
        plt.close(figure)
        return paths

    def dataset(self, name: str, data: xr.Dataset) -> Path:
        """A dataset as NetCDF, sealed."""
        whole = sealed(data)
        return self._write(f"{name}.nc", lambda path: whole.to_netcdf(path, engine="h5netcdf"))

    def text(self, name: str, text: str) -> Path:
        return self._write(name, lambda path: path.write_text(text, encoding="utf-8"))

    def copy(self, name: str, source: Path) -> Path:
        """A copy of a file."""
        return self._write(name, lambda path: shutil.copyfile(source, path))

    def ledger(self, ledger: Ledger, known: Mapping[str, Study] | None = None) -> list[Path]:
        """The ledger as Markdown and JSON, with a page per study, which names its paper."""
        about = {name: (study.title, study.reference) for name, study in (known or {}).items()}
        return [
            self.text("ledger.md", ledger.to_markdown(about)),
            self.text("ledger.json", ledger.to_json()),
            *(self.text(f"papers/{name}.md", text) for name, text in ledger.pages(about).items()),
        ]

    def _write(self, name: str, write: Callable[[Path], object]) -> Path:
        target = self.folder / name
        with refusing(f"{target} cannot be written", kinds=(OSError,)):
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, part = tempfile.mkstemp(
                dir=target.parent, prefix=".part-", suffix=target.suffix
            )
            os.close(handle)
            try:
                write(Path(part))
                # mkstemp makes files private; give results the user's usual permissions.
                os.chmod(part, 0o666 & ~_umask())
                os.replace(part, target)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(part)
        return target


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
