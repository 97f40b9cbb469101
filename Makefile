# Two commands do all set-up on a machine with Python (3.11 or later) and make:
#   make demo    a private release of bundled data, end to end; prints the path of a page
#   make test    linters, types, layers, the suite with every planted fault and the refutation
# While working: make quick (a minute). Before a release: make deep (everything at full size, results committed).
# docs/decisions/rings.md says what is in which.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Without byte code pytest rewrites every assertion at every start, which takes longer than most tests.
export PYTHONDONTWRITEBYTECODE =
# The work is shared out to processes; threads of each would wait for one another (ten times slower where trees are fitted).
export OMP_NUM_THREADS ?= 1

# Every run says what each step and each room of tests cost, in processor seconds.
METER = $(BIN)/python -m tests.step_cost
# Processes that share out the tests, for two cores. Of `make test` a fifth is waiting for servers, browsers and processes
# that are killed, so that there are three: about one GiB each. JOBS=4 on the command line says how many for both.
QUICK_JOBS = $(or $(JOBS),2)
TEST_JOBS  = $(or $(JOBS),3)
SHARED = --dist worksteal --rooms
SUITE = $(BIN)/python -m pytest -q -rfE -n $(TEST_JOBS) $(SHARED)

.PHONY: demo demo-broken quick test deep lint types layers fast suite slow studies refute mutants mutation docs durations coverage \
  lists figures notebooks benchmarks reproductions format clean

demo: $(VENV)/.base
	$(BIN)/holdfast demo --output out/demo

# Two faults: the demo with half of its noise, whose page gets a red banner, and a published error, taken apart. Each ends
# with an error, as a refutation must; so does this target.
demo-broken: $(VENV)/.base
	rm -rf out/demo-broken
	! $(BIN)/holdfast demo --broken --output out/demo-broken
	$(BIN)/holdfast refute bolt_on --broken --table

quick: lint layers types fast

# One process checks the types beside the suite's.
test: lint layers
	$(MAKE) -j 2 types suite

# All that there is: studies at their full size (what they find is kept in tests/studies/results, with the commit it was
# made on), with the lines that are reached; all again as another kind of processor adds up; the refutation by its command.
deep: lint layers types
	HOLDFAST_DEEP=1 $(SUITE) --durations=30 --cov --cov-report=term:skip-covered
	OPENBLAS_CORETYPE=Haswell $(SUITE) --deselect tests/mutants/test_faults.py
	$(MAKE) refute

lint: $(VENV)/.dev
	$(METER) lines $(BIN)/ruff check .
	$(METER) format $(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(METER) types $(BIN)/mypy

layers: $(VENV)/.dev
	$(METER) layers $(BIN)/lint-imports

# What takes a moment (tests/pace.py).
fast: $(VENV)/.dev
	$(BIN)/python -m pytest -q -rfE -n $(QUICK_JOBS) $(SHARED) -m "not slow and not deep"

# What `make test` runs beside linters, layers and types: contracts, refutation, planted faults, docs, servers, browser.
suite: $(VENV)/.dev
	$(SUITE) -m "not deep" --durations=20

slow: $(VENV)/.dev
	$(SUITE) -m "slow and not deep" --durations=30

studies: $(VENV)/.dev
	HOLDFAST_DEEP=1 $(SUITE) -m study --durations=30

# Measures every test again: which are slow.
durations: $(VENV)/.dev
	$(SUITE) --write-durations --durations=30

# The fast tests, and which lines and branches they reach: the floor is in pyproject.toml, and `make deep` has it, too.
coverage: $(VENV)/.dev
	$(SUITE) -m "not slow and not deep" --cov --cov-report=term:skip-covered

# Every mechanism against its proof, and every known mistake caught.
refute: $(VENV)/.dev
	$(BIN)/holdfast refute --table

mutants: $(VENV)/.dev
	$(BIN)/python -m tests.mutants

# Drawn faults in code that pays: goes on where it ended, and may be ended at any time (docs/decisions/mutation.md).
mutation: $(VENV)/.dev
	$(BIN)/python -m tests.mutation

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
	for name in kernel noise accounting ledger ledger_growth data spark; do $(BIN)/python studies/benchmarks/$$name.py --save || exit 1; done
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
