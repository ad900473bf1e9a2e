"""Every page of the documentation runs as it stands.

A page's Python blocks are run in order in one namespace, in an empty folder, and what stands below
them is what they print. A block whose title says "needs data" may end with MissingData: its data
sets are not here. Lines of consoles: test_console.py.
"""

import functools
import html
import importlib.util
import itertools
import json
import re
import subprocess
import sys
import types
import warnings
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

import learnscope as ls

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    """The words behind a fence's language and what is in it, for each fence of a language."""
    found = FENCE.findall(page.read_text())
    return [(words, text) for language, words, text in found if language in languages]


WITH_CODE = [pytest.param(page, id=name_of(page)) for page in PAGES if blocks(page, "python", "py")]


@functools.cache
def run_page(page: Path) -> tuple[types.ModuleType, list]:
    """A module of the page's blocks, and the blocks with what they print and draw. Once a session:
    what a page computes takes seconds."""
    return outputs().executed(page, "page_" + re.sub(r"\W", "_", name_of(page)))


@functools.cache
def outputs() -> types.ModuleType:
    return imported(ROOT / "docs" / "theme" / "outputs.py")


@pytest.fixture
def quiet(monkeypatch, tmp_path):
    """An empty folder to work in, no windows, and a stand-in for a SLURM cluster."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "dask_jobqueue", types.SimpleNamespace(SLURMCluster=slurm))
    matplotlib.use("Agg")
    yield
    plt.close("all")


def slurm(**settings):
    """What a SLURM cluster is to a run, in one process: the words must be those that it takes."""
    from dask.distributed import LocalCluster

    known = {"queue", "cores", "processes", "memory", "walltime", "job_script_prologue"}
    assert set(settings) <= known
    cluster = LocalCluster(n_workers=0, processes=False, threads_per_worker=1, dashboard_address="")
    # Closing scales to 0.
    cluster.scale = lambda jobs: LocalCluster.scale(cluster, min(jobs, 1))  # type: ignore
    return cluster


# Their programs take longest to compile.
_LONG = ("docs/tutorials/pred_head.md", "docs/tutorials/input_structure.md", "docs/grid.md")


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(*page.values, id=page.id, marks=[pytest.mark.slow] * (page.id in _LONG))
        for page in WITH_CODE
    ],
)
def test_every_block_runs_and_prints_what_the_page_shows(page: Path, quiet):
    """In tutorials, on the first page, and wherever a page shows an output."""
    _, found = run_page(page)
    whole = page.parent.name == "tutorials" or page.name in ("index.md", "README.md")
    for block in found:
        shown = block.found["shown"]
        if shown or (whole and block.printed and page.name != "README.md"):
            assert outputs().alike(block.printed, shown or ""), (block.printed, shown)
        if whole and block.drawn:
            assert block.found["file"] and (page.parent / block.found["file"]).is_file()


def test_pictures_are_of_the_code_that_stands_there():
    """A changed block asks for its picture again: python docs/theme/outputs.py PAGE."""
    held = json.loads(outputs().MADE.read_text())
    now = {}
    for page in PAGES:
        now |= outputs().digests(page)
    assert held == now
    assert all((outputs().FOLDER / name).is_file() for name in now if name != "demo.png")


def test_an_output_that_is_not_the_blocks_own_would_be_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text('```python\nprint(0.7)\n```\n\n```text title="prints"\n0.8\n```\n')
    _, (block,) = outputs().executed(page, "page_made_up")
    assert not outputs().alike(block.printed, block.found["shown"])
    assert outputs().alike(block.printed, "0.7001\n")
    assert block.text.endswith("0.7\n```")


def test_all_python_is_marked_as_such():
    """Code in a fence without a language would not be run."""
    for page in PAGES:
        for language, _, text in FENCE.findall(page.read_text()):
            named = language in ("python", "py", "toml")
            assert named or "import learnscope" not in text, f"{name_of(page)}: {text[:60]}"


def test_the_study_skeleton(quiet):
    """A study hangs together: claims and figures name sweeps that there are, figures are drawn."""
    module, _ = run_page(ROOT / "docs" / "extending" / "study.md")
    study, found = module.STUDY, module.found
    sweeps = study.sweeps("smoke")
    needed = {name for claim in study.claims for name in claim.needs}
    needed |= {name for figure in study.figures.values() for name in figure.needs}
    assert needed <= set(sweeps)
    for scale in ls.studies.SCALES:
        assert set(study.sweeps(scale)) == set(sweeps)
    for figure in study.figures.values():
        figure.draw(*(found[name] for name in figure.needs))
    ledger = study.ledger(found)
    assert len(ledger) == len(study.claims)
    assert ledger.count("reproduced") >= 1


def test_every_page_is_in_the_navigation_and_names_no_machine():
    told = (ROOT / "mkdocs.yml").read_text()
    for page in (ROOT / "docs").glob("**/*.md"):
        assert f" {page.relative_to(ROOT / 'docs').as_posix()}\n" in told, name_of(page)
    for page in PAGES:
        assert not re.search(r"(?<![\w.~])/(home|tmp|work|opt|Users)/", page.read_text()), page


def test_the_readme_is_short_and_its_links_lead_somewhere():
    """Every word counts but those of code: tables, links and the ledger's counts, too."""
    text = (ROOT / "README.md").read_text()
    assert len(FENCE.sub("", text).split()) < 600
    links = re.findall(r"\]\(([^)]+)\)|src=\"([^\"]+)\"", text)
    for link in filter(None, itertools.chain.from_iterable(links)):
        file, _, anchor = link.partition("#")
        assert (ROOT / file).is_file(), link
        if anchor:
            titles = re.findall(r"^#+ (.*)$", (ROOT / file).read_text(), flags=re.MULTILINE)
            slugs = [re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles]
            assert anchor in slugs, link


def test_the_mark_is_one():
    """The explorer's, the site's, the README's and the report's (tests/views)."""
    explorer = ROOT / "learnscope" / "views" / "explorer" / "assets" / "mark.svg"
    assert (ROOT / "docs" / "images" / "mark.svg").read_bytes() == explorer.read_bytes()
    assert 'src="docs/images/mark.svg"' in (ROOT / "README.md").read_text()


def test_the_gallery_has_every_figure_once():
    page = (ROOT / "docs" / "gallery.md").read_text()
    named = imported(ROOT / "docs" / "theme" / "gallery.py").named(page)
    known = [f"{s.name}.{figure}" for s in ls.papers.studies().values() for figure in s.figures]
    assert sorted(named) == sorted(known)


def test_the_site_builds_without_warnings(tmp_path):
    """`make docs`, elsewhere. Nothing is fetched when the site is built, nor when it is read."""
    for module in ("mkdocs", "mkdocstrings", "material", "latex2mathml"):
        pytest.importorskip(module)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    check_names(tmp_path / "api")
    check_search(json.loads((tmp_path / "search" / "search_index.json").read_text())["docs"])
    font = imported(ROOT / "docs" / "theme" / "font.py")
    held, style = font.held(), (tmp_path / "theme" / "site.css").read_text()
    assert f"url({font.FILE.name})" in style and (tmp_path / "theme" / font.FILE.name).is_file()
    for page in tmp_path.glob("**/*.html"):
        text = page.read_text()
        formulas = "".join(re.findall(r"<math.*?</math>", text, flags=re.DOTALL))
        drawn = set(html.unescape(re.sub(r"<[^>]+>|\s", "", formulas)))
        missing = [each for each in drawn if ord(each) not in held]
        assert not missing, f"{page.name}: docs/theme/font.py lacks {missing}"
        assert 'class="arithmatex"' not in text, f"{page.name} has a formula that is not MathML"
        fetched = re.findall(r'(?:src|rel="stylesheet" href)="(https?://[^"]+)', text)
        assert not fetched, f"{page.name} fetches {fetched}"


def check_names(api: Path) -> None:
    """Every public name has an anchor in the index, and every link there leads to an entry."""
    index = (api / "index.html").read_text()
    anchors = set(re.findall(r'id="([\w.]+)"', index))
    rooms = [name for name in ls.__all__ if isinstance(getattr(ls, name), types.ModuleType)]
    public = [f"ls.{name}" for name in ls.__all__ if name not in rooms]
    public += [f"ls.{r}.{n}" for r in rooms if r != "studies" for n in getattr(ls, r).__all__]
    public += [f"Experiment.{name}" for name in ("replace", "from_toml", "to_python")]
    public += [f"result.learnscope.{name}" for name in ("experiment", "final", "curves")]
    assert not set(public) - anchors
    links = re.findall(r'href="(\w+\.html)#(learnscope[\w.]+)"', index)
    entries = {
        page: set(re.findall(r'id="([\w.]+)"', (api / page).read_text())) for page, _ in links
    }
    assert len(links) > 200
    assert not [f"{page}#{anchor}" for page, anchor in links if anchor not in entries[page]]
    both = ("learnscope.lab.run.run", "learnscope.lab.boundary.boundary")
    assert set(both) <= entries["lab.html"]


def check_search(entries: list[dict]) -> None:
    """What people look for is found by a title, not only somewhere in a text."""
    titles = " | ".join(entry["title"].lower() for entry in entries)
    assert not [word for word in ("resume", "gpu", "notebook", "seed") if word not in titles]
    results = [e for e in entries if re.match(r"papers/|ledger\.html", e["location"])]
    assert len(results) > 100 and all(entry["boost"] < 1 for entry in results)


def test_every_tutorial_is_a_notebook_with_the_same_blocks():
    """So that running a page's blocks runs its notebook's cells."""
    maker = imported(ROOT / "docs" / "theme" / "notebooks.py")
    made = maker.made()
    assert set(made) == set((ROOT / "docs" / "notebooks").glob("*.ipynb"))
    for file, text in made.items():
        assert file.read_text() == text, "python docs/theme/notebooks.py writes them again"
        page = ROOT / "docs" / "tutorials" / f"{file.stem}.md"
        assert f"](../notebooks/{file.name})" in page.read_text()
        cells = [
            "".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == "code"
        ]
        assert cells[1:] == [code.strip() for _, code in blocks(page, "python")]
    badge = maker.made("https://github.com/me/mine")[ROOT / "docs/notebooks/kou.ipynb"]
    assert "/github/me/mine/blob/main/docs/notebooks/kou.ipynb" in badge


_NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize(
    "file",
    [pytest.param(f, id=f.stem, marks=[pytest.mark.slow] * (f.stem != "kou")) for f in _NOTEBOOKS],
)
def test_a_notebook_runs_in_a_kernel_and_shows_progress(file: Path, tmp_path, monkeypatch):
    nbclient, nbformat = map(pytest.importorskip, ("nbclient", "nbformat"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the kernel's own libraries
        notebook = nbformat.read(file, as_version=4)
        client = nbclient.NotebookClient(
            notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}
        )
        client.execute()
    shown = [output.get("data", {}) for c in notebook.cells for output in c.get("outputs", [])]
    bars = [data["text/html"] for data in shown if "<progress" in data.get("text/html", "")]
    assert bars and all("took" in bar for bar in bars)


def page_maker():
    return imported(ROOT / "benchmarks" / "page.py")


def imported(file: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_benchmark_is_on_the_performance_page_and_rewrites_its_own_section_only():
    made, text = page_maker(), (ROOT / "docs" / "performance.md").read_text()
    after = made.rewritten(text, "workers", "ratio: 1.93\n", "a machine of 2 cores")
    before, now = made.sections(text), made.sections(after)
    assert list(before) == list(now)
    assert "ratio: 1.93" in now["workers"] and "a machine of 2 cores" in now["workers"]
    assert all(before[name] == now[name] for name in before if name != "workers")
    head = itertools.takewhile(lambda line: not line.startswith("<!-- "), text.splitlines())
    assert after.startswith("\n".join(head))
    assert list(made.sections(text)) == [file.stem for file in made.benchmarks()]
