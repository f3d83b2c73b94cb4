# What a contributor types. Every target makes .venv and installs what it needs, again only when a pyproject.toml changed.
# ARGS are passed on: make test ARGS='tests/engine -x', make serve ARGS='--catalog catalog.yaml'.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help serve test test-clients check bench format generate lock sbom audit clean

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install
NEW_ENOUGH := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
# Another interpreter: make test PYTHON=/opt/python3.13/bin/python
PYTHON ?= $(firstword $(foreach one,python3 python3.14 python3.13 python3.12 python3.11,\
	$(shell $(one) -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && echo $(one))))

help: ## show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

serve: .venv/runtime ## answer on 127.0.0.1:50051 with the example catalogue; ARGS='--catalog PATH' for your own
	@exec $(BIN)/router-service serve $(ARGS)

test: .venv/test ## run all tests; ARGS='tests/engine -k price' for some of the Python ones
	@status=0; $(BIN)/python -m pytest $(ARGS) || status=$$?; \
		$(if $(ARGS),,$(BIN)/python tools/clients.py || status=$$?;) exit $$status

test-clients: .venv/test ## test the clients in Go, TypeScript and Java; ARGS='go' for one
	@$(BIN)/python tools/clients.py $(ARGS)

check: .venv/check .venv/supply/installed ## lint, types, layers, protos, stubs, Dockerfile; ARGS='mypy' for one step
	@$(BIN)/python tools/check.py $(ARGS)

bench: .venv/runtime ## measure; writes benchmarks/results.md; ARGS='wire --quick' for some, needs h2load (nghttp2-client)
	@$(BIN)/python -m benchmarks $(ARGS)

format: .venv/check ## put the code into its one form
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format . && $(BIN)/buf format --write

generate: .venv/check ## write the stubs again after a change of proto/
	@$(BIN)/python tools/generate.py

lock: .venv/check ## lock the newest versions that pyproject.toml allows; writes requirements.txt and docs/licences.md
	@$(BIN)/python tools/lock.py --write && $(PIP) --no-deps --require-hashes --requirement requirements.txt \
		&& $(BIN)/python tools/lock.py && $(BIN)/python tools/licences.py --write

sbom: .venv/check .venv/supply/installed ## write dist/sbom.cdx.json, the image's bill of materials (CycloneDX)
	@$(BIN)/python tools/sbom.py

audit: .venv/supply/installed ## look the locked packages up among known vulnerabilities; asks a public database, so it needs the internet
	@.venv/supply/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements.txt

clean: ## remove .venv, caches and what was built
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/pyvenv.cfg:
	@test -n '$(PYTHON)' || { echo 'make: needs Python 3.11 or newer with its venv module, and found none.' \
		'On Debian or Ubuntu: apt-get install python3 python3-venv. Elsewhere: make PYTHON=/path/to/python' >&2; exit 1; }
	@echo 'making .venv with $(PYTHON)'
	@rm -rf .venv && '$(PYTHON)' -m venv .venv

# What ships is what is locked, so that is what is tested and served; tools of tests and checks are by their bounds.
.venv/locked: requirements.txt .venv/pyvenv.cfg
	@$(PIP) --no-deps --require-hashes --requirement requirements.txt && touch $@

.venv/runtime: pyproject.toml .venv/locked
	@echo 'installing router-service'
	@$(PIP) --editable . && touch $@

.venv/test: pyproject.toml clients/python/pyproject.toml clients/openai_proxy/pyproject.toml .venv/locked
	@echo 'installing router-service, its client and what tests need'
	@$(PIP) --editable '.[test]' --editable clients/python --editable clients/openai_proxy && touch .venv/runtime $@

.venv/check: pyproject.toml clients/python/pyproject.toml clients/openai_proxy/pyproject.toml .venv/locked
	@echo 'installing router-service, its client and what tests and checks need'
	@$(PIP) --editable '.[check]' --editable clients/python --editable clients/openai_proxy && touch .venv/runtime .venv/test $@

.venv/supply/installed: tools/supply.txt .venv/pyvenv.cfg
	@echo 'installing the tools of the supply chain'
	@$(BIN)/python -m venv .venv/supply
	@.venv/supply/bin/python -m pip --disable-pip-version-check --quiet install --requirement tools/supply.txt && touch $@
