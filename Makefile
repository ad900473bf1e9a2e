# learnscope: `make run` shows what it does, `make test` checks that it does it.
# Only these two variables are meant to be set: make PYTHON=python3.12 WORKERS=4 test
# (and REPOSITORY=https://... for `make release`, where the project is published).

PYTHON ?= python3
WORKERS ?= 2

BIN := .venv/bin
TYPES := $(BIN)/pyright --pythonpath $(BIN)/python
BENCHMARKS := $(filter-out benchmarks/page.py benchmarks/torch_%.py,$(wildcard benchmarks/*.py))

# Each worker computes on one thread, or the workers' thread pools fight over the cores. XLA takes
# the size of its pool from NPROC (--xla_cpu_multi_thread_eigen=false no longer has an effect).
# Tests of one file go to one worker (--dist loadscope): what a file's tests share is made once. Files
# are taken in order, the longest first (tests/conftest.py).
SLOWEST := --durations=12 --durations-min=5
SHARED := -n $(WORKERS) --dist loadscope --no-loadscope-reorder $(SLOWEST)
TEST_ENV := PYTHONDONTWRITEBYTECODE= JAX_PLATFORMS=cpu MPLBACKEND=Agg NPROC=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
# A test's programs run once or twice, so most tests compile them quickly, not well: that takes a
# third off the time of all tests. `tests/reference` (every paper against NumPy, in double precision)
# and the slow tests compile as a user's run does. XLA stops at a flag that it does not know, as a
# later one may not: such a flag is left out.
QUICKLY := --xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1
KNOWN = XLA_FLAGS="$$flags $$flag" $(BIN)/python -c 'import jax; jax.devices()' >/dev/null 2>&1

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run test explore lint style format slow docs bench release clean

help: ## say what can be made
	@sed -n 's/^\([a-z]*\): .*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

run: .venv/.ready-run ## install, then reproduce the papers: figures and ledger in learnscope-out
	$(BIN)/learnscope run --out learnscope-out --workers $(WORKERS)

# Chromium is installed beside the packages. Types, then the papers against NumPy, are checked beside
# all other tests: their output is shown at once if they fail, else at the end.
test: .venv/.created ## install for development, then lint, check types and run the tests
	@$(MAKE) --no-print-directory .venv/.ready-browser & browser=$$!; \
	$(MAKE) --no-print-directory style; style=$$?; wait $$browser && exit $$style
	@{ $(TYPES) && $(TEST_ENV) $(BIN)/python -m pytest $(SLOWEST) tests/reference; } >.venv/first.log 2>&1 || \
	{ cat .venv/first.log; exit 1; } & first=$$!; \
	flags=; for flag in $(QUICKLY); do if $(TEST_ENV) $(KNOWN); then flags="$$flags $$flag"; fi; done; set -x; \
	$(TEST_ENV) XLA_FLAGS="$$flags" $(BIN)/python -m pytest $(SHARED) --ignore tests/reference; tests=$$?; \
	{ set +x; } 2>/dev/null; wait $$first && cat .venv/first.log && exit $$tests

explore: .venv/.ready-explorer ## install, then open the explorer in a browser
	$(BIN)/learnscope explore

lint: style ## check style and types
	$(TYPES)

style: .venv/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: .venv/.ready-dev ## apply the style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

slow: .venv/.ready-dev .venv/.ready-browser ## run the tests that run on request
	$(TEST_ENV) $(BIN)/python -m pytest $(SHARED) -m slow

docs: .venv/.ready-docs ## build the documentation into site/; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "open site/index.html"

bench: .venv/.ready-bench .venv/.ready-browser ## install the yardstick (PyTorch), then print every benchmark's ratios
	@set -e; for benchmark in $(BENCHMARKS); do echo "== $$benchmark"; $(BIN)/python $$benchmark; done

release: .venv/.created ## build sdist and wheel into dist/, try the wheel in an empty environment
	$(BIN)/python .ci/release.py $(if $(REPOSITORY),--repository $(REPOSITORY))

clean: ## remove .venv, builds and caches; results stay
	rm -rf .venv build dist .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What is installed is remembered by a stamp that is older or newer than pyproject.toml.

.venv/.created:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  found=$$("$(PYTHON)" --version 2>&1) || found="not found"; \
	  echo "learnscope needs Python 3.11 or newer, and '$(PYTHON)' is $$found; name another: make PYTHON=python3.12 ..." >&2; \
	  exit 1; }
	"$(PYTHON)" -m venv --clear .venv
	@touch $@

.venv/.ready-run: .venv/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[cluster]'
	@touch $@

# Most modules of the packages are never imported: those that are get compiled then.
.venv/.ready-dev: .venv/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[dev]'
	@touch .venv/.ready-run $@

# Pages are tested in the system's Chromium. Where it is missing and may be installed, it is;
# elsewhere those tests are skipped, and say so.
.venv/.ready-browser: .venv/.created
	@if { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  { apt-get update -q && apt-get install -q -y --no-install-recommends chromium; } >/dev/null || \
	  echo "Chromium could not be installed: tests of pages will be skipped." >&2; \
	else echo "no Chromium: tests of pages will be skipped (Debian: apt-get install chromium)." >&2; fi
	@touch $@

.venv/.ready-docs: .venv/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[cluster,docs]'
	@touch .venv/.ready-run $@

.venv/.ready-explorer: .venv/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[cluster,explorer]'
	@touch .venv/.ready-run $@

.venv/.ready-bench: .venv/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[benchmark,cluster,explorer]'
	@touch .venv/.ready-run $@
