# Two commands do all set-up on a machine with Python (3.11 or later) and make:
#   make demo    a private release of bundled data, end to end; prints the path of a page
#   make test    linters, types, layers, every test and every planted fault
# While working: make quick (under a minute). Before a release: make deep (studies at full size, results committed).
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= 2
# Without byte code pytest rewrites every assertion at every start, which takes longer than most tests.
export PYTHONDONTWRITEBYTECODE =
# The work is shared out to processes; threads of each would wait for one another (ten times slower where trees are fitted).
export OMP_NUM_THREADS ?= 1

.PHONY: demo demo-broken quick test deep lint types layers fast slow studies refute mutants docs durations coverage \
  lists figures notebooks benchmarks reproductions format clean

demo: $(VENV)/.base
	$(BIN)/holdfast demo --output out/demo

# Two faults: the demo with half of its noise, whose page gets a red banner, and a published error, taken apart. Each ends
# with an error, as a refutation must; so does this target.
demo-broken: $(VENV)/.base
	rm -rf out/demo-broken
	! $(BIN)/holdfast demo --broken --output out/demo-broken
	$(BIN)/holdfast refute bolt_on --broken --table

quick: lint types layers fast

# The site is built by a test (tests/docs), so not once more here.
# Types are checked by one process, beside the refutation's two.
test: lint layers coverage slow
	$(MAKE) -j 2 types refute
	$(MAKE) mutants

# Every study at its full size; what it finds is kept in tests/studies/results, with the commit it was made on.
deep: studies

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

# All but the mark slow (tests/pace.py).
fast: $(VENV)/.dev
	$(BIN)/python -m pytest -q -rfE -n $(JOBS) --dist worksteal -m "not slow" --durations=10

# The others; what `make refute` tries with more draws is left to it.
slow: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "slow and not refuted_later" --durations=30

studies: $(VENV)/.dev
	HOLDFAST_DEEP=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m study --durations=30

# Measures every test again: which are slow.
durations: $(VENV)/.dev
	$(BIN)/python -m pytest -q -rfE -n $(JOBS) --dist worksteal --write-durations --durations=30

# The fast tests, and which lines and branches they reach: the floor is in pyproject.toml. From Python 3.14 on, which can
# watch itself, this costs next to nothing.
coverage: $(VENV)/.dev
	$(BIN)/python -m pytest -q -rfE -n $(JOBS) --dist worksteal -m "not slow and not refuted_later" \
	  --cov --cov-report=term:skip-covered

# Every mechanism against its proof, and every known mistake caught.
refute: $(VENV)/.dev
	$(BIN)/holdfast refute --table

mutants: $(VENV)/.dev
	$(BIN)/python -m tests.mutants

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html

# Everything that lists what there is: after a method, a mechanism, a command or a public name was added.
lists: $(VENV)/.dev
	$(BIN)/python docs/make_lists.py

# Everything else in the docs that a script makes.
figures: lists
	$(BIN)/python docs/figures/make.py
	$(BIN)/python docs/walks.py --draw docs/figures/walks.svg
	$(BIN)/python docs/make_reproductions.py
	$(BIN)/python docs/make_gallery.py

# The notebooks run again and keep what they show.
notebooks: $(VENV)/.dev
	$(BIN)/python -m notebooks.execute

benchmarks: $(VENV)/.dev
	for name in kernel noise accounting ledger data spark; do $(BIN)/python studies/benchmarks/$$name.py --save || exit 1; done
	for name in attack duckdb_passes postgres postgres_sgd learn_speed; do \
	  $(BIN)/python -m studies.benchmarks.$$name --save || exit 1; done
	$(BIN)/python -m studies.benchmarks.synth

# Every figure and table of the sources, at their own sizes, resumable; QUICK=1 only shows that everything runs. Says
# first what it costs.
reproductions: $(VENV)/.dev
	$(BIN)/python -m studies.reproductions $(if $(QUICK),--quick)
	$(BIN)/python docs/make_reproductions.py

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
