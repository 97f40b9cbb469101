# Two commands do all set-up on a machine with Python (3.11 or later) and make:
#   make demo    a private release of bundled data, end to end; prints the path of a page
#   make test    linters, types, layers and every test
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= 2

.PHONY: demo demo-broken test lint types layers unit mutants docs figures benchmarks format clean

demo: $(VENV)/.base
	$(BIN)/holdfast demo --output out/demo

# A published error, taken apart: ends with a red banner and an error, as a refutation must.
demo-broken: $(VENV)/.base
	$(BIN)/holdfast refute bolt_on --broken --table

test: lint types layers unit refute mutants docs

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

unit: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# Every mechanism against its proof, and every known mistake caught.
refute: $(VENV)/.dev
	$(BIN)/holdfast refute --table

mutants: $(VENV)/.dev
	$(BIN)/python -m tests.mutants

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html

# Everything in the docs that a script makes: figures, command reference, tables, papers.
figures: $(VENV)/.dev
	$(BIN)/python docs/figures/make.py
	$(BIN)/python docs/walks.py --draw docs/figures/walks.svg
	$(BIN)/python docs/make_cli.py
	$(BIN)/python docs/make_tables.py
	$(BIN)/python docs/make_papers.py
	$(BIN)/python docs/make_public_names.py
	$(BIN)/python docs/rooms.py

benchmarks: $(VENV)/.dev
	for name in kernel noise accounting ledger data spark; do $(BIN)/python benchmarks/$$name.py --save || exit 1; done
	for name in attack duckdb_passes postgres postgres_sgd learn_speed learn_accuracy learn_peers learn_further; do \
	  $(BIN)/python -m benchmarks.$$name --save || exit 1; done
	$(BIN)/python -m benchmarks.synth

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.base: pyproject.toml setup.py | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.dev: pyproject.toml setup.py | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.base

clean:
	rm -rf $(VENV) build dist out docs/_build
