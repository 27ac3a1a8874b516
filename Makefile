# `make help` lists the targets. Builds only write to .venv/ and build/.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS ?= dev,docs,play,sb3,train,nes-py,dashboard,sweep
CMAKE := $(BIN)/cmake
CTEST := $(BIN)/ctest
GENERATOR := -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja)
NATIVE_SOURCES := $(shell find native cmake -name '*.cpp' -o -name '*.hpp' -o -name '*.h' \
	-o -name '*.cmake' -o -name CMakeLists.txt) CMakeLists.txt

.DEFAULT_GOAL := help
.PHONY: help setup native demo test test-native test-python test-browser lint format sanitize sanitize-threads fuzz bench soak sweep-soak \
	numpy1 reference wheel wheel-test matrix matrix-short release-check docs docs-test clean cluster-test cluster-soak cluster-nodes

help:  ## List the targets
	@grep -E '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

# Installs pinned build tools first, so that the build below needs no isolated environment: its
# persistent build folder would otherwise refer to one that pip has deleted.
$(VENV)/.tools: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade -c constraints.txt pip
	$(BIN)/python -m pip install --quiet -c constraints.txt scikit-build-core nanobind cmake ninja
	touch $@

# nes-py and gym are source distributions that need an isolated build environment.
$(VENV)/.nes-py: $(VENV)/.tools
	$(BIN)/python -m pip install --quiet -c constraints.txt --build-constraint constraints.txt \
		nes-py gym-super-mario-bros
	touch $@

$(VENV)/.installed: $(VENV)/.tools $(if $(findstring nes-py,$(EXTRAS)),$(VENV)/.nes-py) $(NATIVE_SOURCES)
	$(BIN)/python -m pip install --quiet -c constraints.txt --no-build-isolation -e '.[$(EXTRAS)]'
	touch $@

setup: $(VENV)/.installed  ## Create .venv, build and install the package, install the ROM
	@$(BIN)/warpzone rom status --path >/dev/null 2>&1 \
		&& $(BIN)/warpzone rom status --path --game lost-levels >/dev/null 2>&1 \
		|| $(BIN)/warpzone rom install --accept

native: $(VENV)/.tools  ## Rebuild only the C++ module (fastest after a C++ change)
	@build=build/editable-$$($(BIN)/python -c 'import sys; print(sys.implementation.cache_tag)'); \
	prefix=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))'); \
	if [ ! -f $$build/build.ninja ]; then echo "run \`make setup\` first" >&2; exit 1; fi; \
	$(CMAKE) --build $$build && $(CMAKE) --install $$build --prefix $$prefix >/dev/null
	@touch $(VENV)/.installed

# An interrupted demo resumes where it left off.
demo: setup  ## Train World 1-1 on the CPU in a few minutes, evaluate the policy, record a video
	@$(BIN)/warpzone quickstart --yes --runs demo

test: setup test-native test-python  ## Run the native and Python tests, except slow and reference tests

# The native tests that play the game skip without a ROM.
GAME = WARPZONE_ROM="$$($(BIN)/warpzone rom status --path)"

test-native: setup
	$(CMAKE) -S . -B build/tests $(GENERATOR) -DCMAKE_BUILD_TYPE=Release \
		-DWARPZONE_BINDINGS=OFF -DWARPZONE_NATIVE_TESTS=ON
	$(CMAKE) --build build/tests
	$(GAME) $(CTEST) --test-dir build/tests -j 2 --no-tests=error --output-on-failure

test-python: setup
	$(BIN)/python -m pytest -n auto --dist worksteal -m 'not slow and not reference and not browser'

test-browser: setup  ## Test the dashboard in Chromium (Debian: apt-get install chromium)
	$(BIN)/python -m pytest -m browser tests/browser

lint: $(VENV)/.installed  ## Check with ruff, mypy and clang-format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict src
	find native -name '*.cpp' -o -name '*.hpp' | xargs $(BIN)/clang-format --dry-run --Werror

format: $(VENV)/.installed  ## Apply ruff and clang-format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	find native -name '*.cpp' -o -name '*.hpp' | xargs $(BIN)/clang-format -i

sanitize: setup  ## Run the native tests with AddressSanitizer and UBSan
	$(CMAKE) -S . -B build/sanitize $(GENERATOR) -DCMAKE_BUILD_TYPE=Release \
		-DWARPZONE_BINDINGS=OFF -DWARPZONE_NATIVE_TESTS=ON -DWARPZONE_SANITIZE=ON
	$(CMAKE) --build build/sanitize
	$(GAME) $(CTEST) --test-dir build/sanitize -j 2 --no-tests=error --output-on-failure

# The parts with threads of their own. TSan reserves addresses that a randomized layout may use, so
# the layout is fixed where the tool for it exists.
THREADED_TESTS := common_task_queue_test vector_async_test policy_player_test policy_row_adam_test \
	policy_sparse_linear_test policy_image_blocks_test policy_image_convolutions_test
sanitize-threads: setup  ## Run the native tests of threaded code with ThreadSanitizer
	$(CMAKE) -S . -B build/sanitize-threads $(GENERATOR) -DCMAKE_BUILD_TYPE=Release \
		-DWARPZONE_BINDINGS=OFF -DWARPZONE_NATIVE_TESTS=ON -DWARPZONE_SANITIZE_THREADS=ON
	$(CMAKE) --build build/sanitize-threads --target $(THREADED_TESTS)
	$(GAME) $$(command -v setarch >/dev/null && echo "setarch --addr-no-randomize") \
		$(CTEST) --test-dir build/sanitize-threads --no-tests=error --output-on-failure \
		-R "^($$(echo $(THREADED_TESTS) | tr ' ' '|'))$$"

# Uses a separate package folder with the sanitized module. -S disables the import hook of the
# editable install, which would take precedence.
FUZZ_ARGUMENTS ?=
fuzz: setup  ## Fuzz ROMs, save states and actions with a sanitized module
	$(CMAKE) -S . -B build/fuzz $(GENERATOR) -DCMAKE_BUILD_TYPE=Release -DWARPZONE_SANITIZE=ON \
		-DPython_EXECUTABLE=$(abspath $(BIN)/python)
	$(CMAKE) --build build/fuzz
	rm -rf build/fuzz/package && mkdir -p build/fuzz/package
	cp -R src/warpzone build/fuzz/package/
	$(CMAKE) --install build/fuzz --prefix build/fuzz/package
	LD_PRELOAD="$$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libubsan.so)" \
	PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 \
	PYTHONPATH="build/fuzz/package:$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')" \
		$(BIN)/python -S tests/fuzz/run_fuzz.py $(FUZZ_ARGUMENTS)

bench: setup  ## Measure environment throughput
	$(BIN)/warpzone bench env

SOAK_MINUTES ?= 30
soak: setup  ## Train for half an hour with injected faults (SOAK_MINUTES=2 for a short run)
	$(BIN)/python tests/soak/run_soak.py --minutes $(SOAK_MINUTES)

sweep-soak: setup  ## Kill a sweep of 40 trials five times; every trial must run exactly once (takes minutes)
	$(BIN)/python -m pytest -m slow tests/sweep/test_sweep_kill.py

# Ray's wheel is large, so only these targets install it.
$(VENV)/.cluster: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet -c constraints.txt ray
	touch $@

cluster-test: setup $(VENV)/.cluster  ## Test torchrun ranks and Ray actors, with killed actors and nodes
	$(BIN)/python -m pytest -m 'slow or not slow' tests/cluster tests/training/test_ranks.py tests/training/test_torchrun.py

CLUSTER_MINUTES ?= 60
cluster-soak: setup $(VENV)/.cluster  ## Train for an hour with an actor killed every minute (CLUSTER_MINUTES=5)
	$(BIN)/python tests/soak/run_cluster_soak.py --minutes $(CLUSTER_MINUTES)

cluster-nodes: setup $(VENV)/.cluster  ## Train 1-1 on two local Ray nodes; one is killed, another one joins (takes minutes)
	$(BIN)/python benchmarks/cluster_nodes.py

numpy1: setup  ## Compare nes-py with NumPy 1.26, in a separate virtual environment (takes minutes)
	$(BIN)/python -m pytest -m slow tests/envs/backends/test_numpy1.py

reference: setup  ## Compare RAM with stable-retro on all 32 levels (installs it; takes minutes)
	$(BIN)/python tests/reference/compare_stable_retro.py

wheel: setup  ## Build sdist and wheels, check them, try each in a clean environment (takes minutes)
	$(BIN)/python tests/wheel/check_wheels.py

MATRIX_ARGUMENTS ?=
matrix: setup  ## Try the wheel with other Pythons, packages and compilers; rewrites docs/compatibility.md (takes an hour)
	$(BIN)/python tests/matrix/run_matrix.py $(MATRIX_ARGUMENTS)
	$(BIN)/python docs/generate.py

matrix-short: setup  ## Try the wheel with the oldest NumPy and Gymnasium
	$(BIN)/python tests/matrix/run_matrix.py --short

wheel-test: setup  ## Build the wheel and run the examples with it in a fresh environment (takes minutes)
	$(BIN)/python -m pytest -m slow tests/examples/test_wheel.py

# Builds from a clean copy of the commit, so nothing that is not committed gets into a release.
release-check: setup  ## Check pins, hashes, licenses and workflows; build, and install the wheel by hash (takes minutes)
	$(BIN)/python release/lock.py --check
	$(BIN)/python release/licenses.py --check
	$(BIN)/python release/workflows.py
	rm -rf build/release && mkdir -p build/release/source
	git archive HEAD | tar -x -C build/release/source
	$(BIN)/python -m build --no-isolation --outdir build/release/dist build/release/source
	$(BIN)/python release/sbom.py build/release/warpzone.cdx.json
	$(BIN)/python release/hashed_install.py build/release/dist/*.whl

docs: setup  ## Check the documentation and build it as a site in build/site
	$(BIN)/python docs/check_links.py
	$(BIN)/python docs/generate.py --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	$(BIN)/python docs/check_links.py --site build/site

docs-test: setup  ## Run every code block and notebook of the documentation (takes minutes)
	$(BIN)/python -m pytest -m 'slow or not slow' tests/test_doc_blocks.py

clean:  ## Remove build products and the virtual environment
	rm -rf build dist $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis src/warpzone/_native.pyi
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
