"""Is it ready to publish? Builds sdist and wheel, installs the wheel into an empty environment and
uses it there as a new user would.

    python .ci/release.py [--repository https://github.com/OWNER/NAME] [--python python3.12 ...]

The wheel is built from the sdist, so a file that the sdist lacks is found missing. An index page
shows no relative links: with --repository, those of the README become absolute and the project's
addresses are added; without it, the archives say nothing about addresses.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
DEMO_SECONDS = 60


def call(*command: object, cwd: Path, **more: str) -> str:
    """What a command prints; anything but success, or a warning, ends the check."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | more
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    said = " ".join(map(str, command[:4]))
    if done.returncode or "Warning" in done.stderr or "Traceback" in done.stderr:
        sys.exit(f"FAILED: {said}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def source(to: Path, repository: str | None) -> Path:
    """A copy of what git knows, with absolute links if there is an address."""
    files = call("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).splitlines()
    for name in filter(lambda name: (ROOT / name).is_file(), files):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, to / name)
    if repository:
        readme, project = to / "README.md", to / "pyproject.toml"
        address = repository.rstrip("/")
        readme.write_text(absolute(readme.read_text(), address))
        urls = f'[project.urls]\nSource = "{address}"\nIssues = "{address}/issues"\n\n'
        project.write_text(
            project.read_text().replace("[project.scripts]", f"{urls}[project.scripts]")
        )
    return to


def absolute(text: str, address: str) -> str:
    """Relative links as those of a repository, pictures as files, everything else as pages.

    >>> absolute("![a](docs/a.png) [b](docs/b.md#c)", "https://x.org/y")
    '![a](https://x.org/y/raw/main/docs/a.png) [b](https://x.org/y/blob/main/docs/b.md#c)'
    """
    text = re.sub(r'(<img src=")(?!https?:)', rf"\1{address}/raw/main/", text)
    text = re.sub(r"(!\[[^]]*\]\()(?!https?:)", rf"\1{address}/raw/main/", text)
    return re.sub(r"((?<!!)\[[^]!]*\]\()(?!https?:|#)", rf"\1{address}/blob/main/", text)


def built(scratch: Path, repository: str | None) -> Path:
    """The wheel, made from the sdist; both are in dist/ as well."""
    call(sys.executable, "-m", "venv", scratch / "build", cwd=scratch)
    python, made = scratch / "build/bin/python", scratch / "dist"
    call(python, "-m", "pip", "install", "-q", "hatchling>=1.27", cwd=scratch)
    tree = source(scratch / "tree", repository)
    call(python, "-m", "hatchling", "build", "-t", "sdist", "-d", made, cwd=tree)
    (sdist,) = made.glob("*.tar.gz")
    quiet = ("-q", "--no-deps", "--no-build-isolation")
    call(python, "-m", "pip", "wheel", *quiet, sdist, "-w", made, cwd=scratch)
    (wheel,) = made.glob("*.whl")
    (ROOT / "dist").mkdir(exist_ok=True)
    for file in (sdist, wheel):
        shutil.copy(file, ROOT / "dist")
        print(f"built dist/{file.name}, {file.stat().st_size / 1e6:.2f} MB")
    return wheel


def tried(wheel: Path, interpreter: str, scratch: Path) -> None:
    """Install the wheel into an empty environment, and use every command a new user meets first."""
    home = scratch / f"home-{Path(interpreter).name}"
    home.mkdir()
    call(interpreter, "-m", "venv", home / "env", cwd=home)
    python, command = home / "env/bin/python", home / "env/bin/learnscope"
    call(python, "-m", "pip", "install", "-q", wheel, cwd=home)
    call(python, "-m", "pip", "check", cwd=home)
    empty = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "MPLBACKEND": "Agg"}

    def learnscope(*words: str) -> str:
        return call(command, *words, cwd=home, **empty)

    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    shipped = len(list((ROOT / "examples").glob("*.toml")))
    checks = {
        "--version": learnscope("--version").strip() == f"learnscope {version}",
        "help": "Usage" in learnscope("--help"),
        "list": all(name in learnscope("list") for name in ("pegr", "kou", "SignalNoise")),
        "examples": "penalty.toml" in learnscope("examples"),
        "examples FOLDER": learnscope("examples", "mine").count("wrote") == shipped,
        "conditions": "holds" in learnscope("conditions", "mine/theorem.toml"),
    }  # fmt: skip
    begun, used = time.perf_counter(), os.times()
    said = learnscope("demo", "--no-open")
    seconds, now = time.perf_counter() - begun, os.times()
    cpu = now.children_user + now.children_system - used.children_user - used.children_system
    checks["demo"] = "test accuracy" in said and (home / "learnscope-out/demo.png").is_file()
    timed = f"demo cold in {seconds:.0f} s, {cpu:.0f} s of processor time (limit {DEMO_SECONDS} s)"
    checks[timed] = seconds < DEMO_SECONDS
    where = call(python, "-c", "import learnscope; print(learnscope.__path__[0])", cwd=home).strip()
    published = Path(where) / "views/explorer/ledger/published/ledger.json"
    checks["published ledger"] = bool(json.loads(published.read_text()))
    for name, good in checks.items():
        print(f"{interpreter}: {name}: {'ok' if good else 'FAILED'}")
    if not all(checks.values()):
        sys.exit(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])  # type: ignore[union-attr]
    parser.add_argument("--repository", help="where the project is published")
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="interpreters to try")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheel = built(Path(folder), asked.repository)
        for interpreter in asked.python:
            tried(wheel, interpreter, Path(folder))


if __name__ == "__main__":
    main()
