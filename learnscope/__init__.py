"""learnscope: the laboratory for feature-learning theory.

Names are imported when first used, so that the command line answers before JAX is loaded.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from learnscope import (
        data,
        evidence,
        figures,
        grid,
        images,
        lab,
        nets,
        papers,
        probes,
        rules,
        theory,
        tools,
        views,
    )
    from learnscope import papers as studies
    from learnscope.engine.one_run import draw
    from learnscope.engine.one_run import train_one as train
    from learnscope.errors import BadInput, MissingData
    from learnscope.lab import Experiment, Record, boundary, load, run, zipped
    from learnscope.tools.check import check
    from learnscope.tools.compare import compare

    __version__: str

# Two large operations of a program side by side (two linear systems, say) can wait for each other
# for ever in jaxlib 0.10's thread pool; so they are scheduled one by one. XLA reads this when it is
# first used.
_FLAG = "--xla_cpu_enable_concurrency_optimized_scheduler"
if _FLAG not in os.environ.get("XLA_FLAGS", ""):
    # First: XLA stops reading at a word that does not start with "--".
    os.environ["XLA_FLAGS"] = f"{_FLAG}=false {os.environ.get('XLA_FLAGS', '')}".strip()

_FOLDERS = ("data", "evidence", "figures", "grid", "images", "lab", "nets", "papers", "probes",
            "rules", "theory", "tools", "views")  # fmt: skip
_NAMES = {
    "BadInput": "learnscope.errors",
    "Experiment": "learnscope.lab",
    "MissingData": "learnscope.errors",
    "Record": "learnscope.lab",
    "boundary": "learnscope.lab",
    "check": "learnscope.tools.check",
    "compare": "learnscope.tools.compare",
    "draw": "learnscope.engine.one_run",
    "load": "learnscope.lab",
    "run": "learnscope.lab",
    "train": "learnscope.engine.one_run",
    "zipped": "learnscope.lab",
}

__all__ = [
    "BadInput", "Experiment", "MissingData", "Record", "__version__", "boundary", "check",
    "compare", "data", "draw", "evidence", "figures", "grid", "images", "lab", "load", "nets",
    "papers", "probes", "rules", "run", "studies", "theory", "tools", "train", "views", "zipped",
]  # fmt: skip


def __getattr__(name: str):
    if name == "__version__":
        from importlib.metadata import version

        return version("learnscope")
    if name in _FOLDERS:
        return import_module(f"learnscope.{name}")
    if name == "studies":  # the old name of `papers`
        return import_module("learnscope.papers")
    if name in _NAMES:
        if name in ("load", "run", "boundary"):
            import_module("learnscope.views.accessor")  # what results can do
        return getattr(import_module(_NAMES[name]), {"train": "train_one"}.get(name, name))
    raise AttributeError(f"module 'learnscope' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
