# Duetime. `make run` and `make test` set themselves up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
INFRA_STAMP := $(VENV)/.installed-infra
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode

.PHONY: help setup run test test-dynamodb-local simulate check lint types format bench lock clean

help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-20s %s\n", $$1, $$2}'

setup: $(STAMP) ## Make .venv with the pinned versions

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Duetime needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Setting up $(VENV) (once; takes a minute) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $$(grep '^uv==' requirements-infra.lock)
	@$(INSTALL) -r requirements.lock
	@$(INSTALL) --no-deps --editable .
	@touch $@

setup-infra: $(INFRA_STAMP) ## Add the CDK, and what checks a stack

$(INFRA_STAMP): $(STAMP) requirements-infra.lock
	@echo "Adding the CDK to $(VENV) (once) ..."
	@$(INSTALL) -r requirements-infra.lock
	@touch $@

run: setup ## Start Duetime at http://127.0.0.1:8080 (ARGS="--port 9000 ..." for options)
	@$(BIN)/duetime local --handlers examples/handlers $(ARGS)

test: setup ## Run all tests (ARGS="-k races ..." for pytest)
	@$(BIN)/python -m pytest $(ARGS)

test-dynamodb-local: setup ## Run the contract suite on DynamoDB Local (needs Java and npm)
	@scripts/dynamodb-local $(BIN)/python -m pytest tests/contract -k dynamodb_endpoint

SEEDS ?= 1000
simulate: setup ## Try to break the protocol in a simulated world (SEEDS=1000, or SEED=4711 for one)
	@$(BIN)/python -m tests.simulation --seeds $(SEEDS) $(if $(SEED),--seed $(SEED)) $(ARGS)

check: lint types test ## Lint, types, tests

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup
	@$(BIN)/mypy

format: setup ## Put the code in order
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: setup ## Make the README's figures again (some minutes)
	@for script in drift throughput scale; do $(BIN)/python bench/$$script.py || exit 1; done

lock: ## Pin the newest versions that pyproject.toml allows (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --upgrade --extra dev --extra moto pyproject.toml -o requirements.lock

clean: ## Remove what setup and tests made; keeps .duetime/
	rm -rf $(VENV) .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis bench/results
