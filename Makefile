# Two commands: `make demo` runs the main job, `make test` the tests. Both set everything up first.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin

unexport PYTHONDONTWRITEBYTECODE  # where it is set, every process would compile libraries anew, for ten seconds and more

.PHONY: demo test lint setup clean

demo: setup
	$(BIN)/rebind demo

test: $(VENV)/.stores
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup

lint: $(VENV)/.stores  # the two type checkers side by side: they take minutes each
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright & other=$$!; $(BIN)/mypy; mine=$$?; wait $$other && exit $$mine

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Rebind needs Python 3.11, 3.12 or 3.13 on PATH (or: make PYTHON=/path/to/python)"; exit 2; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt 'torch==2.13.0'
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[local,retrieval,osu,shard,sites,miniwob,dev]'
	LITELLM_LOCAL_MODEL_COST_MAP=True $(BIN)/python -c 'import django, litellm, playwright.async_api, sentence_transformers'  # compiled once, here
	touch $@

$(VENV)/.stores: $(VENV)/.ready  # vector databases and Ray: what the demo does not need
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[stores,ray]'
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
