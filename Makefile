# make demo   sets everything up, poisons a real graph, cleans it and shows what happened
# make test   sets everything up and runs every check
# make bench  measures speed and quality against the figures in docs/benchmarks.md

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export FOCUSEDCLEANER_DATA ?= $(wildcard ../shared/data)

.PHONY: demo test lint types bench format clean

demo: $(READY)
	$(BIN)/focusedcleaner demo

test: $(READY) lint types
	$(BIN)/python -m pytest -q

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks
