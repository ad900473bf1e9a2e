"""Every console line of a page, of the README and of an example's head is run.

Cheap lines run as they stand, the others on request (`pytest -m slow`) at the smallest scale: a
line's own words come first, those that make it small after them.
"""

import gzip
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import learnscope as ls
from learnscope import papers
from tests.test_pages import FENCE, PAGES, ROOT, blocks, name_of

_HEADS = sorted((ROOT / "examples").glob("*.toml"))
_SMOKE = "--scale smoke --seeds 2 --yes"


def lines() -> dict[str, str]:
    """Every line that calls learnscope, make or Python, without its comment, and where it is."""
    found = {}
    for page in PAGES:
        for _, text in blocks(page, "", "bash", "sh", "console"):
            found |= {line.removeprefix("$ "): name_of(page) for line in text.splitlines()}
    for file in _HEADS:
        head = file.read_text().splitlines()[1:3]
        found |= {line.removeprefix("#   "): name_of(file) for line in head if "#   l" in line}
    split = {" ".join(shlex.split(line, comments=True)): page for line, page in found.items()}
    return {line: page for line, page in split.items()
            if line.split(" ")[0] in ("learnscope", "make", "python")}  # fmt: skip


# Lines that no test runs, and why.
_NOT_RUN = {
    "learnscope explore": "serves until it is stopped: tests/views",
    "learnscope sweep examples/phase_diagram.toml --cluster tcp://scheduler:8786": "no such host",
    "learnscope data get mnist --data ~/data": "from the network: tests/images",
    "python -m pytest tests/conformance -k NAME": "NAME is a part's",
    "python benchmarks/page.py pegr_figure": "rewrites the page: tests/test_pages.py",
    "learnscope verify pegr --from pegr-images.zip": "at a laptop's scale: test_bundled.py",
    "learnscope explore --parts my_xor": "serves until it is stopped: tests/views",
}
# Lines that take a second or so, in this order: what each prints, and words that make it small.
_CHEAP = {
    "learnscope list": ("pegr.figure4", ""),
    "learnscope examples": ("learnscope sweep examples/penalty.toml", ""),
    "learnscope data list": ("digits", ""),
    "learnscope conditions examples/theorem.toml": ("holds", ""),
    "learnscope conditions examples/class_noise.toml data.correlation=20": ("holds", ""),
    "learnscope conditions examples/prediction_head.toml": ("holds", ""),
    "learnscope sweep examples/penalty.toml rule.weight=0.005,0.01,0.02": (
        "penalty.pdf", "steps=4 record.every=2 data.dim=40 data.test=20 --seeds 2"),
    "learnscope runs": ("PatchCNN", ""),
    "learnscope runs show 3fa8": ("PerExamplePenalty", ""),
    "learnscope runs export 3fa8 out.nc": ("out.nc", ""),
    "learnscope runs repair 3fa8": ("", ""),
    "learnscope runs remove 3fa8c1d2": ("", ""),
    "learnscope collapse embeddings.npy": ("verdict", ""),
    "learnscope collapse layers.npz --array projector": ("verdict", ""),
    "learnscope collapse embeddings.npy --out collapse/": ("collapse.png", ""),
    "learnscope influence": ("influence", "--top 2"),
    "learnscope influence photos/": ("influence", ""),
    "learnscope influence mnist.npz --top 8": ("influence", ""),
    "learnscope influence cells.csv.gz --label kind --baselines": ("influence", ""),
    "learnscope new rule MyRule": ("my_rule.py", ""),
    "learnscope new paper my_paper": ("my_paper", ""),
}  # fmt: skip
# Lines about the paper that docs/extending/paper.md writes, and a page's rule, likewise.
_OWN = {
    "learnscope new paper my_xor": ("study.py", ""),
    "learnscope list --parts my_xor": ("my_xor.theorem", ""),
    "learnscope verify my_xor --parts my_xor --scale smoke": ("no verdicts", ""),
    "learnscope run my_xor --parts my_xor": ("theorem.png", _SMOKE),
    "learnscope report --out report.html": ("report.html", "--parts my_xor"),
    "learnscope check rules.py": ("PullToStart", ""),
    "learnscope sweep sweep.toml --parts rules.py": ("sweep.pdf", "steps=4 data.dim=40 --seeds 2"),
}
# The others, by how they begin: the first that fits.
_SMALL = {
    "learnscope demo": "--no-open",
    "learnscope run meta_split.real_rainbow_annealed --from": "",  # nothing is trained
    "learnscope run input_structure.figure22_colour --from": "",
    "learnscope run": _SMOKE,
    "learnscope verify": _SMOKE,
    "learnscope grid": "--scale smoke --seeds 1 --yes",
    "learnscope boundary": "steps=20 record.every=20 data.test=50 --seeds 2",
    "learnscope sweep examples/p": "steps=4 record.every=4 data.test=20 --seeds 2",
    "learnscope sweep": "--seeds 2",
}


def others() -> list[str]:
    return [line for line in lines() if line.startswith("learnscope ")
            and line not in (*_CHEAP, *_OWN, *_NOT_RUN)]  # fmt: skip


def test_every_line_is_run_or_says_why_not():
    assert not {*_CHEAP, *_OWN, *_NOT_RUN} - set(lines()), "on no page any more"
    assert not [line for line in others() if not line.startswith(tuple(_SMALL))]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    for line in lines():
        program, *words = line.split(" ")
        assert program != "make" or set(words) <= set(targets), line
        assert program != "python" or words[0] == "-m" or (ROOT / words[0]).exists(), line


def titled(page: str) -> dict[str, str]:
    """Blocks of a page whose title is a file."""
    found = FENCE.findall((ROOT / page).read_text())
    return {words.split('"')[1]: text for _, words, text in found if ".py" in words}


@pytest.fixture
def folder(call, tmp_path, monkeypatch):
    """What the lines name: examples, arrays, photographs, a file with a rule."""
    from tests.test_pages import run_page

    monkeypatch.setattr(papers, "_own", [])
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("examples", "docs"):  # a page's lines are run in a clone
        (tmp_path / name).symlink_to(ROOT / name)
    extending = ROOT / "docs" / "extending"
    (tmp_path / "rules.py").write_text(blocks(extending / "rule.md", "python")[0][1])
    (tmp_path / "sweep.toml").write_text(blocks(extending / "index.md", "toml")[0][1])
    module, _ = run_page(ROOT / "docs" / "collapse.md")
    np.save("embeddings.npy", module.units)
    np.savez("layers.npz", projector=module.units[:100])
    draw = np.random.default_rng(0)
    images, labels = draw.normal(size=(20, 6, 6)), np.arange(20) % 2
    np.savez("mnist.npz", x=images, y=labels)
    for k, image in enumerate(images):
        file = tmp_path / "photos" / f"kind{k % 2}" / f"{k}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.uint8(100 + 30 * image)).save(file)
    with gzip.open("cells.csv.gz", "wt") as file:
        file.write("a,b,c,kind\n")
        file.writelines(f"{a},{b},{c},k{k}\n" for k, (a, b, c) in zip(
            labels, images[:, 0, :3], strict=True))  # fmt: skip
    yield module
    papers.studies.cache_clear()


def test_cheap_lines_do_what_the_page_says(call, folder):
    for line, (said, small) in _CHEAP.items():
        words = line.split(" ")[1:]
        if " 3fa8" in line:  # the sweep that was stored last
            own = call("runs")[1].splitlines()[-1].split()[0]
            words = [own if word.startswith("3fa8") else word for word in words]
        code, out, err = call(*words, *small.split())
        assert code == 0 and said in out + err, (line, out, err)
        if line == "learnscope collapse embeddings.npy":
            assert str(folder.report) in out  # as the page shows it


@pytest.mark.slow
def test_lines_about_parts_of_ones_own(call, folder):
    """The paper is the one that the page writes."""
    for line, (said, small) in _OWN.items():
        code, out, err = call(*line.split(" ")[1:], *small.split())
        assert code == 0 and said in out + err, (line, out, err)
        if line == "learnscope new paper my_xor":
            for name, block in titled("docs/extending/paper.md").items():
                Path(name).write_text(block)


@pytest.mark.slow
@pytest.mark.parametrize("line", others())
def test_the_other_lines_run(line, call, folder):
    """Studies without their data are reported in a sentence; claims need not hold when small."""
    small = next(words for start, words in _SMALL.items() if line.startswith(start))
    code, out, err = call(*line.split(" ")[1:], *small.split())
    assert code == 0 and (out or err), (line, out, err)


def test_what_lines_name_exists():
    """Studies, figures, and files in examples."""
    for line in lines():
        for word in line.split(" "):
            assert not word.startswith("examples/") or (ROOT / word).exists(), line
        named = re.match(r"learnscope (?:run|verify) (\w+)(?:\.(\w+))?(?![.\w]*=)", line)
        if named and "--parts" not in line:
            study = ls.studies.get(named[1])
            assert not named[2] or study.figure(named[2]), line
