# Duetime. `make run` and `make test` set themselves up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
INFRA_STAMP := $(VENV)/.installed-infra
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode

# Tests start hundreds of interpreters, and pytest rewrites every test module it has not cached.
unexport PYTHONDONTWRITEBYTECODE

STAGE ?= dev
CDK := npx --yes aws-cdk@2.1147.0

.PHONY: help setup setup-infra run test test-long test-rest test-cuts test-console test-all test-dynamodb-local simulate check lint types format \
  bootstrap console synth diff deploy destroy has-node has-npm has-credentials bench bench-peers lock clean

help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-20s %s\n", $$1, $$2}'

setup: $(STAMP) ## Make .venv with the pinned versions

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Duetime needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Setting up $(VENV) (once; takes a minute) ..."
	@$(PYTHON) -m venv $(VENV)
	@sed -n '/^uv==/,/[^\\]$$/p' requirements-infra.lock > $(VENV)/uv.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(VENV)/uv.txt
	@$(INSTALL) --require-hashes -r requirements.lock
# compat: a plain path, which Python prefers to a folder `duetime` beside your script
	@$(INSTALL) --no-deps --require-build-hashes --build-constraints requirements.lock \
	  --config-setting editable_mode=compat --editable .
	@touch $@

setup-infra: $(INFRA_STAMP) ## Add the CDK, and what checks a stack

$(INFRA_STAMP): $(STAMP) requirements-infra.lock
	@echo "Adding the CDK to $(VENV) (once) ..."
	@$(INSTALL) --require-hashes -r requirements-infra.lock
	@touch $@

run: setup ## Start Duetime at http://127.0.0.1:8080 (ARGS="--port 9000 ..." for options)
	@$(BIN)/duetime local --handlers examples/handlers $(ARGS)

# One process for each core. With loadfile, files in their order: sorted by how many tests they
# have, the longest would come last.
TEST := $(BIN)/python -m pytest -n auto

test: setup-infra ## Run the tests, but for the long ones (ARGS="-k races ..." for pytest)
	@$(if $(ARGS),$(BIN)/python -m pytest $(ARGS),$(TEST) --dist loadfile --no-loadscope-reorder -m "not long and not moto_cuts and not console")

test-long: setup-infra ## Run what `make test` leaves out: every cut on SQLite, more mutants, more examples
	@HYPOTHESIS_PROFILE=long $(TEST) --dist worksteal -m "(long or hypothesis) and not moto_cuts and not console"

test-cuts: setup-infra ## Make every cut on moto, too
	@$(TEST) --dist worksteal -m moto_cuts

# One run, so that both cores are busy until its end: a page of the console waits for its browser.
test-rest: setup-infra ## Run what `make test` leaves out as the gate does: the long tests, and the console once
	@HYPOTHESIS_PROFILE=long $(TEST) --dist loadfile --no-loadscope-reorder \
	  -m "((long and not console) or (console and not long)) and not moto_cuts" $(ARGS)

CONSOLE := tests/console tests/bench/test_scripts.py
test-console: setup ## Test the web console in Chromium (SCREENSHOTS=1 writes those of the docs)
	@$(if $(SCREENSHOTS),DUETIME_SCREENSHOTS=docs/console )$(TEST) --dist loadfile -m console $(CONSOLE) $(ARGS)

console: has-npm ## Build the web console from console/ into duetime/console/static
	@cd console && npm ci --silent --no-audit --no-fund && npm run --silent build

test-all: test test-long test-cuts test-console ## Run all tests

test-dynamodb-local: setup ## Run the contract suite on DynamoDB Local (needs Java and npm)
	@scripts/dynamodb-local $(BIN)/python -m pytest tests/contract -k dynamodb_endpoint

SEEDS ?= 1000
simulate: setup ## Try to break the protocol in a simulated world (SEEDS=1000, or SEED=4711 for one)
	@$(BIN)/python -m tests.simulation --seeds $(SEEDS) $(if $(SEED),--seed $(SEED)) $(ARGS)

check: lint types test ## Lint, types, tests

lint: setup-infra
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup-infra
	@$(BIN)/mypy

format: setup ## Put the code in order
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bootstrap: setup-infra has-node has-credentials ## Prepare an AWS account and region for the CDK, once
	@$(CDK) bootstrap -c stage=$(STAGE) $(ARGS)

synth: setup-infra has-node ## Make the stack's template in cdk.out (STAGE=dev, or prod); asks AWS nothing
	@$(CDK) synth --quiet -c stage=$(STAGE) $(ARGS)
	@echo "cdk.out/duetime-$(STAGE).template.json"

diff: setup-infra has-node has-credentials ## What a deployment would change
	@$(CDK) diff -c stage=$(STAGE) $(ARGS)

deploy: setup-infra has-node has-credentials ## Put Duetime into your AWS account (STAGE=dev, or prod)
	@$(BIN)/python scripts/check-quota $(STAGE)
	@$(CDK) deploy -c stage=$(STAGE) $(ARGS)

destroy: setup-infra has-node has-credentials ## Take it out again; a stage that keeps its data keeps the table
	@$(CDK) destroy -c stage=$(STAGE) $(ARGS)

has-credentials: setup
	@$(BIN)/python scripts/has-credentials

has-npm:
	@command -v npm >/dev/null || { echo "The build of the console needs Node.js 20 or newer, with npm: nodejs.org"; exit 1; }

has-node:
	@command -v npx >/dev/null || { echo "The CDK needs Node.js 22 or newer, with npm: nodejs.org"; exit 1; }

bench: setup-infra ## Make the README's figures again (some minutes)
	@for script in drift throughput counting fairness retention scale schedules crashes bulk listing coldstart tls cpu client testkit workflows live burst cores; do $(BIN)/python bench/$$script.py || exit 1; done
	@$(BIN)/python bench/limits.py --backend embedded
	@$(BIN)/python -m bench.cost
	@$(BIN)/python -m bench.aws_scale
	@$(BIN)/python bench/console.py
	@$(BIN)/python bench/api.py
	@$(BIN)/python bench/api.py --lists --tasks 1000000
	@$(BIN)/python bench/console.py --tasks 1000000 --minutes 10

bench-peers: setup-infra ## Compare with BullMQ, Celery, Dramatiq, huey and procrastinate (installs them in .cache)
	@$(BIN)/python bench/peers.py $(ARGS)

LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade --extra dev --extra moto
lock: setup ## Pin the newest versions that pyproject.toml allows, with their hashes
	$(LOCK) pyproject.toml -o requirements.lock
	$(LOCK) --extra infra pyproject.toml -c requirements.lock -o requirements-infra.lock

clean: ## Remove what setup and tests made; keeps .duetime/
	rm -rf $(VENV) .cache cdk.out .pytest_cache .mypy_cache .ruff_cache .hypothesis bench/results
