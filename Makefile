# Two commands do everything: `make demo` and `make test`. Each target makes what it needs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt

# The build tools are in the environment: an own environment for each build would compile everything again.
INSTALL := $(PIP) --no-build-isolation
# The laws of what is in the native core.
NATIVE_LAWS := $(patsubst %,tests/oracles/test_%.py,nearest_centers sparse_rows distance_sums kernel_sums tree_sums tail_sums local_windows) \
	$(patsubst %,tests/test_%.py,kmeans kernel_density smoothed_empirical native_core)
NO_COMPILER := No C++ compiler was found: the native core is left out. Everything works, more slowly.

export PYTHONHASHSEED := 0
export MPLBACKEND := Agg
# Where it is set, every worker and every command that the tests start would compile all modules again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test quick-tests test-all test-pure test-sanitized test-tensors test-gpu test-browser mutants lint style types bench bench-gpu bench-page docs index constraints clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' Makefile | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

# The environment is renewed when what it is made from changes, and only then.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed: make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# What compiles the native core stays in the environment, so that only what changed is compiled again.
$(VENV)/build.stamp: constraints.txt | $(VENV)/bin/python
	@echo "Setting up $(VENV) …"
	@$(PIP) scikit-build-core nanobind cmake ninja
	@touch $@

NATIVE := cmake/CMakeLists.txt $(wildcard src/native/*)

# Compiles the core for this processor, into the source tree, and says so where there is no compiler.
$(VENV)/core.stamp: pyproject.toml $(NATIVE) $(VENV)/build.stamp
	@echo "Compiling the native core for this processor: about half a minute, once, and later what has changed …"
	@$(INSTALL) --no-deps --editable .
	@$(BIN)/python -c 'import tractable._core.processor' 2>/dev/null || echo "$(NO_COMPILER)"
	@touch $@

$(VENV)/run.stamp: pyproject.toml constraints.txt | $(VENV)/core.stamp
	@$(INSTALL) --editable .
	@touch $@

# What the tests import is compiled when they import it, which is a small part of all that is installed.
$(VENV)/lint.stamp: pyproject.toml constraints.txt | $(VENV)/core.stamp
	@echo "Setting up $(VENV) with the test tools …"
	@$(INSTALL) --no-compile --editable '.[lint]'
	@touch $(VENV)/run.stamp $@

$(VENV)/dev.stamp: $(VENV)/lint.stamp
	@$(INSTALL) --no-compile --editable '.[dev]'
	@touch $@

$(VENV)/bench.stamp: pyproject.toml constraints.txt $(VENV)/dev.stamp
	@$(INSTALL) --editable '.[bench]'
	@touch $@

# Torch is large, and needed for tensors alone: a version that is there, perhaps for a GPU, is kept.
$(VENV)/tensors.stamp: constraints.txt $(VENV)/dev.stamp
	@$(BIN)/python -c 'import torch' 2>/dev/null || { echo "Installing torch …"; $(PIP) torch; }
	@$(PIP) jax
	@touch $@

$(VENV)/docs.stamp: pyproject.toml constraints.txt $(VENV)/dev.stamp
	@$(INSTALL) --editable '.[docs]'
	@touch $@

demo: $(VENV)/run.stamp ## set up, write a report on a bundled table of penguins: open demo/report.html
	@mkdir -p demo
	@$(BIN)/tractable report --target species -o demo/report.html

# Types take one core for half a minute, and are checked while the test tools are installed.
test: style ## set up, then lint, types, layers, doctests, README and the laws
	@$(MAKE) --no-print-directory -j 2 types quick-tests

# Tests of one file stay together in a worker, which fits and draws once what they share.
quick-tests: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest -n auto --dist worksteal -m 'not slow'

test-all: lint $(VENV)/dev.stamp ## the same with the heavier checks and wide, random Hypothesis examples
	@TRACTABLE_HYPOTHESIS=nightly $(BIN)/python -m pytest -n auto --dist worksteal

test-tensors: $(VENV)/tensors.stamp ## the laws of devices on tensors of torch, and arrays of JAX, on the host: installs both
	@$(BIN)/python -m pytest -n auto --dist worksteal -m 'not slow' -k 'torch or tensor or device'

test-gpu: $(VENV)/dev.stamp ## every law that has tensors on a GPU, where torch finds one
	@$(BIN)/python -c "import torch; assert torch.cuda.is_available(), 'torch finds no GPU'"
	@$(BIN)/python -m pytest -k gpu

test-sanitized: $(VENV)/dev.stamp ## the pool of the native core and the laws of its kernels under the sanitizers of gcc: some minutes
	@PYTHON=$(BIN)/python tests/native/sanitize.sh

test-pure: $(VENV)/dev.stamp ## the laws of the loops in the native core without it: in the array API alone
	@TRACTABLE_LEVEL=0 $(BIN)/python -m pytest -n auto --dist worksteal -m 'not slow' $(NATIVE_LAWS)

test-browser: $(VENV)/run.stamp ## the report in headless Chromium (Debian's package chromium): nothing fetched, all seen, phone width
	@$(BIN)/python -m tools.browser_check

# One run of the quick tests records which of them reach which functions: MAP=1 does so again.
mutants: $(VENV)/dev.stamp ## change the library at random places, and say what no test notices; N=60 SEED=0 ONLY=path MINUTES=60 MAP=1
	@PYTHONPATH=. $(BIN)/python -m tools.mutants --number $(or $(N),60) --seed $(or $(SEED),0) $(if $(ONLY),--only $(ONLY)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(MAP),--map)

lint: style types ## formatting, lint, types, the layer contract

style: $(VENV)/lint.stamp
	@$(BIN)/ruff format --check --quiet . || { echo "run: $(BIN)/ruff format ."; exit 1; }
	@$(BIN)/ruff check --quiet .

types: $(VENV)/lint.stamp
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

bench: $(VENV)/bench.stamp ## ours and the peers, interleaved; ONLY=name or SKIP=name for some rows, PAIRS=3, MINUTES=20
	@set -f; $(BIN)/python -m benchmarks $(if $(ONLY),--only $(ONLY)) $(if $(SKIP),--skip $(SKIP)) $(if $(PAIRS),--pairs $(PAIRS)) $(if $(MINUTES),--minutes $(MINUTES))

bench-gpu: $(VENV)/bench.stamp ## models on a GPU beside bare tensor operations; ONLY=name for some rows, ARGS=--small to try them
	@set -f; $(BIN)/python -m benchmarks.device $(if $(ONLY),--only $(ONLY)) $(ARGS)

bench-page: $(VENV)/dev.stamp ## write docs/benchmarks.md and the table of README.md from what make bench measured
	@$(BIN)/python -m benchmarks.page

docs: $(VENV)/docs.stamp ## build the documentation, gallery included, into docs/_build/html
	@$(BIN)/python -m sphinx -W --keep-going -q -j auto -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

index: $(VENV)/dev.stamp ## renew docs/method_index.md from the tests and the public names
	@$(BIN)/python tools/method_index.py

constraints: $(VENV)/docs.stamp $(VENV)/bench.stamp ## write down the versions of this environment
	@{ echo "# Versions that were tested together; regenerate with: make constraints"; \
	   $(BIN)/python -m pip freeze --exclude-editable; } > constraints.txt

clean: ## remove what the other commands made
	rm -rf $(VENV) demo docs/_build docs/auto_examples docs/generated
	find cmake -mindepth 1 -not -name CMakeLists.txt -delete
	rm -f src/tractable/_core/*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
