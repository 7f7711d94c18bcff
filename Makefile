# Everything runs from a virtual environment in the clone; the only things needed are Python >= 3.11 and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# As many processes as there are cores; one that has nothing left takes tests from the others.
PYTEST := -m pytest --ignore=tests/e2e --ignore=tests/browser --ignore=tests/blackbox --ignore=tests/fuzz --ignore=tests/site --numprocesses=auto --dist=worksteal
# The tests that $(1) runs, and those that failed once more, one at a time: what fails beside others only is printed, and passes.
alone_again = $(1) || { echo "what failed runs once more, alone ..." && $(1) --last-failed --last-failed-no-failures none --numprocesses=0; }
traced = { $(call alone_again,$(BIN)/coverage run $(PYTEST) -m $(UNIT)); } && { $(call alone_again,$(BIN)/coverage run $(PYTEST) -m integration); }
# End-to-end tests, and the files in which one failed once more: $(1) selects them. They mostly wait, so with $(2) three
# processes run on two cores; files with a control plane in common are all one process's (tests/e2e/shared_fixtures.py). What is
# timed runs in e2e-long, where nothing runs beside it.
once_more = $(BIN)/python -m pytest $(1) $(2) tests/e2e || { echo "files with failures run once more, alone ..." && files=$$($(BIN)/python -m tests.e2e.failed_files) && $(BIN)/python -m pytest $(1) $$files; }
UNIT   := "not integration"
# What the chart asks for unless it is told otherwise; IMAGE may name a registry.
IMAGE  ?= streams-placement
BUILDER ?= docker
# Tests are compiled once, and so is what each process runs that they start, even where Python is told to keep nothing.
export PYTHONDONTWRITEBYTECODE :=
VERSION := $(shell sed -n 's/^appVersion: //p' charts/streams-placement/Chart.yaml)

.PHONY: run serve test unit integration check golden histories browser blackbox fuzz docs refusals e2e versions oldest e2e-long nightly week memory fidelity cluster cluster-down format bench bench-e2e bench-jobs bench-clusters crds kinds conditions monitoring messages values reference pictures shells image lock dist release clean

run: $(VENV)/run.stamp                  ## the tour: real server, real TLS, every example in a table, no cluster
	$(BIN)/streams-placement tour

serve: $(VENV)/run.stamp                ## the same server, staying up on https://127.0.0.1:8443
	$(BIN)/streams-placement serve --snapshot examples/cluster --tls-self-signed

test: $(VENV)/dev.stamp                 ## all tests, with branch coverage
	$(BIN)/coverage erase
	$(traced)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --fail-under=100 || { echo "what no test has reached may depend on speed: all of them run once more ..." && $(traced) && $(BIN)/coverage combine --append --quiet && $(BIN)/coverage report --fail-under=100; }

unit: $(VENV)/dev.stamp                 ## what needs no server, process or clock: seconds
	$(BIN)/python $(PYTEST) -m $(UNIT)

integration: $(VENV)/dev.stamp          ## real servers, TLS, processes and signals
	@# These tests wait half of the time, so one worker more than there are cores.
	PYTEST_XDIST_AUTO_NUM_WORKERS=$$(($$(getconf _NPROCESSORS_ONLN) + 1)) $(BIN)/python $(PYTEST) -m integration

check: $(VENV)/dev.stamp                ## style, types, layers, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/codespell
	$(BIN)/hadolint Dockerfile

histories: $(VENV)/dev.stamp            ## 10,000 random histories of Jobs whose controllers die: ten minutes
	PROPERTY_TIMES=50 $(BIN)/python $(PYTEST) tests/controller/jobs/histories/test_random_job_history.py

browser: $(VENV)/browser.stamp $(VENV)/site.stamp ## the page of plans and the site in a real Chromium, which is installed with apt-get if there is none
	$(BIN)/python -m tests.browser.chromium
	$(BIN)/python -m pytest tests/browser

blackbox: $(VENV)/blackbox.stamp        ## the REST interface, by requests that schemathesis makes up from its OpenAPI document
	$(BIN)/python -m pytest tests/blackbox

fuzz: SECONDS ?= 60
fuzz: $(VENV)/fuzz.stamp                ## every parser that a stranger can reach, SECONDS each under atheris (TARGET= one alone, CORPUS= a folder of more inputs)
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(addprefix --target ,$(TARGET)) $(if $(CORPUS),--corpus $(CORPUS))

docs: $(VENV)/site.stamp                ## the documentation as a site that needs no network, in the folder site; fails for dead links
	$(BIN)/python -m tools.site
	$(BIN)/python -m pytest --quiet tests/site

whole-jobs: $(VENV)/dev.stamp           ## 20,000 random Jobs judged as a whole against an exhaustive search: five minutes
	PROPERTY_TIMES=67 $(BIN)/python $(PYTEST) tests/placement/planning/test_random_jobs.py

refusals: COUNT ?= 4000
refusals: $(VENV)/dev.stamp             ## COUNT random pods, workloads, DaemonSets, devices, NUMA zones of pods and workloads, node groups, changes of nodes, Jobs, HostPools, quotas, applications and widths of regions that are refused (FIRST=): each fix is applied, each set checked, the advice followed to its end; ten minutes
	$(BIN)/python -m tests.refused --count $(COUNT) $(if $(FIRST),--first $(FIRST))

e2e: $(VENV)/dev.stamp                  ## a real control plane; the first time its programs are built (Go, twenty minutes)
	$(BIN)/python -m tests.e2e.programs.binaries all
	$(call once_more,-m "not long",--numprocesses=3 --dist=loadfile --no-loadscope-reorder)

# What tells whether the chart, admission, controllers and the policies of the API server get on with a version of Kubernetes.
SMOKE := tests/e2e/test_placement.py tests/e2e/jobs/test_submission.py tests/e2e/jobs/test_converted.py tests/e2e/jobs/test_why.py \
	tests/e2e/chart/policies/test_policies.py tests/e2e/chart/policies/test_policy_answers.py tests/e2e/chart/objects/test_pool_admission.py \
	tests/e2e/chart/workloads/test_workloads.py tests/e2e/chart/reviews/test_pod_subresources.py tests/e2e/chart/policies/test_rights.py \
	tests/e2e/chart/test_uninstall.py tests/e2e/controller/strangers/test_foreign_taints.py tests/e2e/upgrade

versions: $(VENV)/dev.stamp             ## unit tests with other Pythons and the oldest libraries, a part of e2e on the oldest and the newest Kubernetes; an hour the first time
	for python in $$($(BIN)/python -m tests.suite.interpreters); do \
	  $(MAKE) unit VENV=.cache/$$(basename $$python) PYTHON=$$python || exit 1; \
	done
	$(MAKE) oldest
	for version in oldest newest; do \
	  E2E_KUBERNETES=$$version $(BIN)/python -m tests.e2e.programs.binaries && \
	  E2E_KUBERNETES=$$version $(BIN)/python -m pytest $(SMOKE) || exit 1; \
	done

oldest: $(VENV)/dev.stamp               ## unit tests, but those of releases, with the oldest libraries that pyproject.toml allows
	mkdir -p .cache
	$(BIN)/uv pip compile --quiet --resolution lowest-direct --generate-hashes --no-emit-index-url --no-header pyproject.toml --output-file .cache/oldest.lock
	$(MAKE) .cache/oldest/dev.stamp VENV=.cache/oldest
	.cache/oldest/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --require-hashes --requirement .cache/oldest.lock
	.cache/oldest/bin/python $(PYTEST) --ignore=tests/tools/release -m $(UNIT)

week: $(VENV)/dev.stamp                 ## a million events in months of virtual time: pools, Jobs, restarts, clocks that jump, certificates that run out; an hour
	@# pytest keeps what a test logs until its end, which would be gigabytes here.
	PROPERTY_TIMES=167 $(BIN)/python $(PYTEST) -p no:logging tests/controller/week tests/certs/managed/test_clock_jumps.py

memory: MINUTES ?= 60
memory: $(VENV)/dev.stamp               ## objects come and go in a real plane for MINUTES: whether the processes of webhook and controller keep anything of what is gone
	$(BIN)/python -m tests.e2e.programs.binaries
	MEMORY_MINUTES=$(MINUTES) $(BIN)/python -m pytest -m long --capture=no tests/e2e/jobs/test_memory.py

fidelity: N ?= 1000
fidelity: SEED ?= 2026
fidelity: DEVICES ?= 400
fidelity: DEVICE_GROUPS ?= 200
fidelity: APPLICATIONS ?= 400
fidelity: $(VENV)/dev.stamp             ## N random scenarios, DEVICES of devices, DEVICE_GROUPS of Jobs and HostPools with devices, APPLICATIONS of applications (SEED=, JOURNAL=, RESULTS=, MANIFESTS=): verdicts against the real scheduler; five a second
	$(BIN)/python -m tests.e2e.programs.binaries
	$(BIN)/python -m tests.e2e.fidelity --count $(N) --devices $(DEVICES) --device-groups $(DEVICE_GROUPS) --applications $(APPLICATIONS) --seed $(SEED) $(if $(JOURNAL),--journal $(JOURNAL)) $(if $(RESULTS),--results $(RESULTS)) $(if $(MANIFESTS),--manifests $(MANIFESTS))

nightly: $(VENV)/dev.stamp $(VENV)/fuzz.stamp ## all random examples, the worst reviews to the millisecond, and a minute of each parser under atheris, on an idle machine; fifty minutes
	PROPERTY_TIMES=1 $(BIN)/python $(PYTEST) -m "hypothesis or examples"
	PROPERTY_TIMES=1 $(BIN)/python $(PYTEST) tests/controller/jobs/test_fusion.py tests/controller/jobs/test_parallel_regions.py \
	  tests/placement/jobs/operators/test_fused_job.py tests/placement/planning/search/test_assignment.py tests/placement/planning/test_haste.py tests/cli/test_schemas.py \
	  tests/placement/planning/search/test_packing.py tests/placement/planning/test_counted_devices.py tests/placement/planning/test_planned_devices.py \
	  tests/placement/devices/test_random_worlds.py tests/placement/devices/test_decision_costs.py tests/placement/numa/test_alignment.py
	PROPERTY_TIMES=10 $(BIN)/python $(PYTEST) tests/placement/kinds/test_random_applications.py tests/placement/kinds/test_random_new_nodes.py
	$(BIN)/python -m tests.fuzz --seconds 60

e2e-long: $(VENV)/dev.stamp         ## 20,000 random clusters against a model of the scheduler, as many against the real one, node groups against Karpenter, a hundred ends of controllers, 30,000 reviews while processes and certificates change, what is promised for 5,000 nodes, other projects' operators that take long to build: an hour or two
	$(BIN)/python -m tests.e2e.programs.binaries
	PROPERTY_TIMES=25 $(BIN)/python $(PYTEST) tests/scheduling
	PROPERTY_TIMES=50 $(BIN)/python $(PYTEST) tests/controller/jobs/histories/test_random_job_history.py
	$(BIN)/python -m pytest -m long tests/e2e
	PROPERTY_TIMES=1 $(BIN)/python -m pytest tests/e2e/certificates/test_managed_certificates.py tests/e2e/chart/reviews/test_rollout.py tests/e2e/chart/managed/test_rotation.py tests/e2e/opinions tests/e2e/test_same_moment.py tests/e2e/fidelity \
	  tests/e2e/controller/strangers/test_foreign_taints.py tests/e2e/controller/strangers/test_pods_during_claims.py tests/e2e/jobs/test_races.py
	PROPERTY_TIMES=67 $(BIN)/python -m pytest tests/e2e/scheduling tests/e2e/controller/crashes/test_crashes.py tests/e2e/jobs/test_colocated_restarts.py tests/e2e/jobs/devices/test_planned_devices.py

cluster: $(VENV)/dev.stamp              ## a local control plane with kwok nodes and the chart installed, until cluster-down
	$(BIN)/python -m tests.e2e up

cluster-down:                           ## end it
	$(BIN)/python -m tests.e2e down

golden: $(VENV)/dev.stamp               ## rewrite expected texts of tests, examples and pages; FORCE=1 despite changes, TESTS= some of the tests
	$(BIN)/python -m tests.golden $(if $(FORCE),--force) $(TESTS)

format: $(VENV)/dev.stamp               ## let the formatter have its way
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/run.stamp                ## throughput, latency and memory against a bare echo; needs wrk
	$(BIN)/python -m bench.command_line --results bench/RESULTS-command-line.md
	$(BIN)/python -m bench.rest --results bench/RESULTS-rest.md
	$(BIN)/python -m bench.watching
	$(BIN)/python -m bench.placementreviews
	$(BIN)/python -m bench

bench-e2e: $(VENV)/dev.stamp            ## through a real API server: what admission costs those who ask, and others, and how fast Jobs are; 40 minutes
	$(BIN)/python -m bench.e2e
	$(BIN)/python -m bench.e2e.bystanders --kinds --results bench/RESULTS-bystanders.md
	$(BIN)/python -m bench.e2e.jobs --results bench/RESULTS-jobs.md
	$(BIN)/python -m bench.e2e.leaders

bench-jobs: $(VENV)/dev.stamp           ## decisions about whole Jobs, hard ones too, and what they cost other reviews; five minutes
	$(BIN)/python -m bench.wholejobs --results bench/RESULTS-wholejobs.md
	$(BIN)/python -m bench.beside --results bench/RESULTS-beside.md

bench-clusters: $(VENV)/run.stamp       ## placement over 100 clusters of 1,000 nodes; half a minute
	$(BIN)/python -m bench.clusters --results bench/RESULTS-clusters.md

messages: $(VENV)/dev.stamp             ## write docs/messages.md, the list of all texts, from the code
	$(BIN)/python -m tools.messages

values: $(VENV)/dev.stamp               ## write the table of values in the README of the chart, with helm-docs
	$(BIN)/python -m tests.e2e.programs.binaries helm-docs
	$(BIN)/python -m tools.values "$$($(BIN)/python -m tests.e2e.programs.binaries helm-docs 2>&1 | sed -n 's/^helm-docs: //p')"

kinds: $(VENV)/dev.stamp                ## write what the chart and the docs say of the kinds of other operators, from their files
	$(BIN)/python -m tools.kinds

conditions: $(VENV)/dev.stamp           ## write docs/conditions.md, what the API server evaluates of the chart, with helm
	$(BIN)/python -m tests.e2e.programs.binaries
	$(BIN)/python -m tools.conditions "$$($(BIN)/python -m tests.e2e.programs.binaries 2>&1 | sed -n 's/^helm: //p')"

crds: $(VENV)/dev.stamp                 ## write the chart's CustomResourceDefinitions from their source in Python, the page of their fields, and the table of the fields of pods
	$(BIN)/python -m tools.crds
	$(BIN)/python -m tools.fields
	$(BIN)/python -m tools.pod_fields

monitoring: $(VENV)/dev.stamp           ## write the page of metrics and the chart's dashboard from the code
	$(BIN)/python -m tools.monitoring

reference: $(VENV)/dev.stamp            ## write schemas, the page of the command line and the table for completion, from their sources in Python
	$(BIN)/python -m tools.schemas
	$(BIN)/python -m tools.command_line

pictures: $(VENV)/browser.stamp         ## take the pictures of the documentation in a real Chromium, which is installed with apt-get if there is none
	$(BIN)/python -m tests.browser.chromium
	$(BIN)/python -m tests.browser.picture

shells: $(VENV)/dev.stamp               ## completion in bash, zsh and fish, which are installed with apt-get if they are not there
	$(BIN)/python -m tests.cli.completion.shells
	REQUIRE_SHELLS=1 $(BIN)/python -m pytest tests/cli/completion/test_shells.py

image:                                  ## the container image, with the version of the chart as its tag; needs docker, or BUILDER=podman
	$(BUILDER) build --build-arg VERSION=$(VERSION) --build-arg REVISION=$$(git describe --always --abbrev=40 --dirty --exclude '*') --build-arg SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) --tag $(IMAGE):$(VERSION) .

dist: $(VENV)/dev.stamp                 ## packages, bill of materials, provenance and checksums of the last commit, in the folder dist; docs/releasing.md has HOMEPAGE=, URL=, KEY=, ADVISORIES=
	$(BIN)/python -m tools.release $(if $(URL),--url $(URL)) $(if $(HOMEPAGE),--homepage $(HOMEPAGE)) $(if $(KEY),--key $(KEY)) $(if $(ADVISORIES),--advisories $(ADVISORIES))

release: $(VENV)/dev.stamp              ## VERSION=0.2.0 in all places, with a section of the changelog; commit it, tag it, make dist
	$(BIN)/python -m tools.release.version $(VERSION)
	$(BIN)/python -m tools.release.sbom

lock: $(VENV)/dev.stamp                 ## pin every dependency again, with hashes
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --upgrade pyproject.toml --group build --output-file requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --upgrade pyproject.toml --group dev --extra mcp --constraint requirements.lock --output-file requirements-dev.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --upgrade pyproject.toml --extra mcp --constraint requirements-dev.lock --output-file requirements-mcp.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --upgrade --group browser --constraint requirements-dev.lock --output-file tests/browser/requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --upgrade --group blackbox --constraint requirements-dev.lock --output-file tests/blackbox/requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --upgrade --group fuzz --constraint requirements-dev.lock --output-file tests/fuzz/requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --upgrade --group site --constraint requirements-dev.lock --output-file tools/site/requirements.lock
	$(BIN)/python -m tools.release.sbom

$(VENV)/blackbox.stamp: $(VENV)/dev.stamp tests/blackbox/requirements.lock
	@echo "installing what makes requests up ..."
	$(PIP) install --require-hashes --requirement tests/blackbox/requirements.lock
	@touch $@

$(VENV)/fuzz.stamp: $(VENV)/dev.stamp tests/fuzz/requirements.lock
	@echo "installing what fuzzes ..."
	$(PIP) install --require-hashes --requirement tests/fuzz/requirements.lock
	@touch $@

$(VENV)/site.stamp: $(VENV)/dev.stamp tools/site/requirements.lock
	@echo "installing the generator of the site ..."
	$(PIP) install --require-hashes --requirement tools/site/requirements.lock
	@touch $@

clean:                                  ## forget everything that was made here
	rm -rf $(VENV) .cache site .coverage* htmlcov .hypothesis .mypy_cache .pytest_cache .ruff_cache .certs build dist *.egg-info

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@echo "making $(VENV) ..."
	$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: $(VENV)/bin/python requirements.lock pyproject.toml
	@echo "installing pinned dependencies ..."
	$(PIP) install --require-hashes --requirement requirements.lock
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp requirements-dev.lock
	@echo "installing pinned development tools ..."
	$(PIP) install --require-hashes --requirement requirements-dev.lock
	@touch $@

$(VENV)/browser.stamp: $(VENV)/dev.stamp tests/browser/requirements.lock
	@echo "installing what drives the browser ..."
	$(PIP) install --require-hashes --requirement tests/browser/requirements.lock
	@touch $@
