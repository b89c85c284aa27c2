# make demo       sets everything up, poisons a real graph, cleans it and shows what happened
# make test       sets everything up and runs every check
# make check      lint, types, layers and the fast tests without the hostile ones: about a minute once everything is set up
# make test-data  the tests that need the real graphs in FOCUSEDCLEANER_DATA
# make docs       builds the documentation site into docs/_build/html, runs its examples, and looks at every page
# make package    builds the package into dist/, installs it into an empty environment and runs the quick start there
# make hostile    the long campaign: hostile files, kills at every disk step, load; figures in docs/reliability.md
# make bench      measures speed and quality against the figures in docs/benchmarks.md
# make reproduce  computes what is missing of the paper's tables and figures: hours, resumable

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Every worker computes with one thread.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q --numprocesses auto --maxprocesses 4 --dist worksteal

.PHONY: demo test check test-data docs hostile browser lint types layers package bench reproduce format clean

demo: $(READY)
	$(BIN)/focusedcleaner demo

test: $(READY) lint types layers browser
	$(PYTEST)

check: $(READY) lint types layers
	$(PYTEST) -m "not slow and not browser and not data" --ignore tests/hostile --ignore tests/faults

test-data: $(READY)
	$(PYTEST) -m data

docs: $(VENV)/.docs browser
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -b html docs docs/_build/html
	$(PYTEST) --site tests/site

hostile: $(READY)
	$(PYTEST) --campaign -m "not browser and not data" tests/hostile tests/faults tests/review

# Debian's chromium for the tests of the review page; without it they are skipped.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
	  test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  apt-get update -qq -o Acquire::http::Timeout=20 && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; \
	} || echo "note: chromium is missing and can't be installed, so the browser tests are skipped"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports --no-logo

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

package: $(READY)
	$(BIN)/python -m tests.package.check

bench: $(READY)
	$(BIN)/python -m benchmarks

reproduce: $(READY)
	$(BIN)/focusedcleaner reproduce --all

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

$(VENV)/.docs: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch $(VENV)/.docs

clean:
	rm -rf $(VENV) docs/_build build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks .import_linter_cache
