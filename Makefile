# Each target sets up what it needs first, system packages included; see docs/development.md.
#
#   VENV   virtual environment to use or make
#   BUILD  folder of the Release build; the sanitizer build goes beside it
#   JOBS   parallel compilations and test processes
VENV ?= .venv
BUILD ?= build
JOBS ?= 2

SHELL := /bin/bash
export VENV
export PATH := $(abspath $(VENV))/bin:$(PATH)
PYTHON := $(abspath $(VENV))/bin/python
# Tests find the package and the command line in the build folder.
RUN := PYTHONPATH="$(abspath $(BUILD))/python" SARDONYX_BUILD="$(abspath $(BUILD))"

CXX_FILES = $(shell git ls-files '*.h' '*.cpp')
# op.py has its types in op.pyi.
TYPED_FILES = $(shell git ls-files 'python/*.py' 'python/*.pyi' 'tools/*.py' \
    ':!python/sardonyx/op.py' \
    $(if $(wildcard python/sardonyx/__init__.py),'demo/*.py' 'bench/*.py'))

.PHONY: help setup build test test-fast check lint ctest sanitize pytest operators wheel wheels site test-examples demo bench bench-capture bench-cuda bench-kernels bench-large bench-makers bench-optimize bench-llm bench-quantize quantize-sweep bench-weights architectures hf-sweep libtorch detection node-models targets webgpu update-onnx sweep hunt fuzz threads compat aarch64 elsewhere capture-sweep browser-driver browser-tests wasm wasm-models page-screenshot format tidy clean

help:
	@echo "make demo      real models through Sardonyx and ONNX Runtime, compared with PyTorch"
	@echo "make test      everything continuous integration runs, and what each part took"
	@echo "make test-fast  most of it in two minutes, once built"
	@echo "make bench     speed, memory and node counts beside torch.onnx's"
	@echo "make bench-capture   fake-tensor tracing beside torch.export"
	@echo "make bench-kernels   operators of ONNX Runtime's own beside what they stand for"
	@echo "make bench-cuda      models on a GPU beside other makers; without one, nodes and answers"
	@echo "make bench-makers  from a module to a file, beside torch.onnx and OpenVINO"
	@echo "make bench-large  models of 5 GB through the optimizer and from TorchScript: memory (ARGS='--gigabytes 20')"
	@echo "make bench-optimize  our optimizer beside others (FULL=1 ARGS='--models bert')"
	@echo "make bench-llm  language models beside onnxruntime-genai's model builder"
	@echo "make bench-quantize  static quantization next to the tool of ONNX Runtime"
	@echo "make quantize-sweep  30 architectures of transformers, quantized and run (ARGS=--timm: of timm)"
	@echo "make bench-weights  casting, quantizing and writing weights beside cp (ARGS='--megabytes 512')"
	@echo "make operators  edge cases of every operator family, and a third of the sweep"
	@echo "make capture-sweep  fake-tensor tracing beside torch.export, program by program (long)"
	@echo "make sweep     every operator's sample inputs (long)"
	@echo "make node-models  the onnx package's node models, optimized and in every opset (ARGS='--names attention')"
	@echo "make update-onnx  tables of a new release of onnx or ONNX Runtime, and what it changed"
	@echo "make webgpu    small models on ONNX Runtime's WebGPU provider, in software"
	@echo "make targets   the rows of ONNX Runtime's tables, tried again in the installed release"
	@echo "make hf-sweep  folders of every architecture of a task, exported and run (long)"
	@echo "make architectures  a small model of every architecture in transformers (long)"
	@echo "make wheels    wheels that install elsewhere, without a compiler"
	@echo "make compat    environments of other releases of packages, tested (hours; ENVIRONMENTS=\"bare newest\")"
	@echo "make aarch64   the wheel for Linux on ARM, cross-compiled and run under qemu"
	@echo "make elsewhere  the wheel of make wheels on Debian 12 and Ubuntu 22.04 (as root)"
	@echo "make site      the documentation as a site, its links checked"
	@echo "make screenshots  what a newcomer to the site sees"
	@echo "make browser-tests  the viewer in headless Chromium"
	@echo "make wasm      the library as WebAssembly, the page without a server, and its tests"
	@echo "make wasm-models  100 models by the WebAssembly module and by the command: the same bytes"
	@echo "                (ARGS=--browser: on the page, in Chromium)"
	@echo "make test-examples   what is in examples/, run"
	@echo "make libtorch  the header for programs with libtorch, built and run (a minute of compiling)"
	@echo "make detection  torchvision's detection models, in an environment of their own (6 GB)"
	@echo "make build     the Release build, in $(BUILD)"
	@echo "make sanitize  the C++ tests under the address and undefined-behavior sanitizers"
	@echo "make hunt      random programs, graphs and programs of sizes, MINUTES=10 of them; goes on where it stopped"
	@echo "make fuzz      damaged files under sanitizers, MINUTES=10 for each reader"
	@echo "make threads   the library in several threads, under the thread sanitizer"
	@echo "make format    rewrite the sources as the formatters want them"
	@echo "make tidy      clang-tidy over the C++ sources"
	@echo "make clean     remove the build folders"

setup:
	@tools/setup.sh

configure = cmake -S . -B $(1) -G Ninja $(2)

# JOIN=OFF is quicker where one file is compiled again and again.
JOIN ?= ON

build: setup
	@[ -f "$(BUILD)/build.ninja" ] || $(call configure,"$(BUILD)",-DCMAKE_BUILD_TYPE=Release \
	    -DSARDONYX_JOIN=$(JOIN) -DPython_EXECUTABLE="$(PYTHON)")
	ninja -C "$(BUILD)" -j$(JOBS) --quiet
	@$(PYTHON) -m compileall -q python/sardonyx

# Fails early on what is quick to see, then goes from the inside out. The C++ tests run under the
# sanitizers alone.
test:
	+@tools/run_parts.sh "$(MAKE)" setup check build sanitize wheel pytest

# Between two changes: no sweep of operators and modules, few whole models, one row in six.
test-fast: build ctest
	$(RUN) OMP_NUM_THREADS=1 SARDONYX_ROWS_EVERY=6 SARDONYX_LONG_EVERY=4 \
	    $(PYTHON) -m pytest -q -n $(JOBS) tests \
	    $(addprefix --ignore=tests/,opinfo architectures models modules installed \
	    surface/test_fake_mode.py)

check: setup
	$(PYTHON) tools/check_tree.py
	$(PYTHON) tools/check_layers.py
	$(PYTHON) tools/check_packages.py
	$(PYTHON) tools/check_torch_private.py
	$(PYTHON) tools/check_private_names.py
	$(PYTHON) tools/check_diagnostics.py
	$(PYTHON) tools/check_words.py
	clang-format --dry-run --Werror $(CXX_FILES)
	ruff check .
	ruff format --check .
	oxlint --quiet $(shell git ls-files '*.js' '*.mjs')
	mypy $(TYPED_FILES)

libtorch: build
	cmake --install "$(BUILD)" --prefix "$(BUILD)/installed"
	$(RUN) SARDONYX_INSTALLED="$(abspath $(BUILD))/installed" $(PYTHON) -m pytest -q \
	    tests/torchscript/test_libtorch.py

DETECTION ?= .cache/detection

detection: build
	DETECTION="$(DETECTION)" tools/setup_detection.sh
	PYTHONPATH="$(abspath $(BUILD))/python" "$(DETECTION)/bin/python" -m pytest -q tests/detection

ctest: build
	ninja -C "$(BUILD)" -j$(JOBS) --quiet sardonyx_tests
	ctest --test-dir "$(BUILD)" -j$(JOBS) --output-on-failure

sanitize: setup
	@[ -f "$(BUILD)-sanitize/build.ninja" ] || $(call configure,"$(BUILD)-sanitize",--preset sanitize)
	ninja -C "$(BUILD)-sanitize" -j$(JOBS) --quiet sardonyx_tests
	ctest --test-dir "$(BUILD)-sanitize" -j$(JOBS) --output-on-failure

# With a sixth of the operators' edge cases, a sixth of these with fixed sizes, too, and samples of
# the sweep; `make operators` takes all, and a third of the sweep.
pytest: build
	ninja -C "$(BUILD)" -j$(JOBS) --quiet proto_test
	$(RUN) OMP_NUM_THREADS=1 SARDONYX_ROWS_EVERY=6 SARDONYX_FIXED_EVERY=6 \
	    SARDONYX_OPERATORS_EVERY=12 SARDONYX_LONG_EVERY=4 $(PYTHON) -m pytest -n $(JOBS) tests

# The onnx package's node models at their own opset and at every other one.
node-models: build
	$(RUN) OMP_NUM_THREADS=1 $(PYTHON) -m tests.node_models --jobs $(JOBS) $(ARGS)

# After a new release of onnx or ONNX Runtime was installed: everything that is generated of them,
# what the newest opset changed, and the tests of both.
update-onnx: setup
	$(PYTHON) tools/generate_emitter.py
	$(PYTHON) tools/generate_op_stub.py
	+$(MAKE) build
	$(RUN) $(PYTHON) tools/generate_kernels.py
	+$(MAKE) build
	$(RUN) $(PYTHON) tools/generate_targets.py
	$(PYTHON) tools/list_opset_changes.py \
	    $$($(PYTHON) -c "import onnx; print(onnx.defs.onnx_opset_version())")
	$(RUN) OMP_NUM_THREADS=1 $(PYTHON) -m pytest -q -n $(JOBS) tests/emitter tests/opset_changes
	+$(MAKE) node-models targets

# What the installed release of ONNX Runtime still needs, and what it computes otherwise.
# SARDONYX_WEBGPU: a folder with the package onnxruntime-webgpu; the Vulkan is Chromium's.
webgpu: build
	$(RUN) $(PYTHON) -m tests.webgpu $(ARGS)

targets: build
	$(RUN) OMP_NUM_THREADS=1 $(PYTHON) tools/try_targets.py

# Edge cases of every operator family, and a third of the operator sweep.
operators: build
	$(RUN) OMP_NUM_THREADS=1 SARDONYX_OPINFO_EVERY=3 $(PYTHON) -m pytest -n $(JOBS) \
	    tests/operators tests/opinfo

# The package as users get it, installed apart and imported from there.
wheel: build
	tools/check_wheel.sh "$(PYTHON)" "$(BUILD)"

# Wheels for other machines, by the Pythons named: make wheels WHEEL_PYTHONS="python3.11 python3.12".
WHEEL_PYTHONS ?= $(PYTHON)
wheels: build
	CXX="$$(sed -n 's/^CMAKE_CXX_COMPILER:[^=]*=//p' "$(BUILD)/CMakeCache.txt")" JOBS=$(JOBS) \
	    tools/build_wheels.sh "$(BUILD)" $(WHEEL_PYTHONS)

# Environments of other releases of torch, transformers, ONNX Runtime, onnx and Python, one at a time;
# KEEP=1 leaves them in .cache/compat. What is installed there are CUDA builds of torch, of about 6 GB.
ENVIRONMENTS ?=
compat: setup
	$(PYTHON) -m tools.compat run $(if $(KEEP),--keep) $(ENVIRONMENTS)
	$(PYTHON) -m tools.compat generate

# The wheel for Linux on ARM, cross-compiled and run under qemu.
aarch64: build
	tools/setup.sh --aarch64
	JOBS=$(JOBS) tools/build_aarch64.sh "$(PYTHON)" "$(BUILD)"

# The wheel of `make wheels` on other systems, each in a folder of its own.
elsewhere:
	tools/setup.sh --elsewhere
	tools/try_elsewhere.sh "$(PYTHON)" "$$(ls "$(BUILD)"-wheels/dist/*cp311*x86_64.whl)"

# The viewer in headless Chromium. Playwright goes into a folder of its own.
BROWSER_PACKAGES ?= .cache/browser
browser-driver:
	tools/setup.sh --browser
	test -d "$(BROWSER_PACKAGES)" || \
	  $(PYTHON) -m pip install -qq --target "$(BROWSER_PACKAGES)" playwright==1.65.2
browser-tests: build browser-driver
	PYTHONPATH="$(abspath $(BROWSER_PACKAGES)):$(abspath $(BUILD))/python" SARDONYX_BUILD="$(abspath $(BUILD))" \
	  $(PYTHON) -m pytest -q -rs -s tests/viewer/browser

# In build-wasm: sardonyx.wasm, page/ (to be put on any web server) and npm/.
WASM ?= .cache/wasm
wasm: build
	tools/setup.sh --wasm
	WASM="$(WASM)" JOBS=$(JOBS) tools/wasm/setup.sh
	@[ -f build-wasm/build.ninja ] || $(call configure,build-wasm,--preset wasm \
	    -DSARDONYX_WASM_TOOLS="$(abspath $(WASM))")
	ninja -C build-wasm -j$(JOBS) --quiet
	$(RUN) $(PYTHON) -m pytest -q -rs tests/wasm

wasm-models: wasm $(if $(findstring --browser,$(ARGS)),browser-driver)
	PYTHONPATH="$(abspath $(BROWSER_PACKAGES)):$(abspath $(BUILD))/python" \
	  SARDONYX_BUILD="$(abspath $(BUILD))" OMP_NUM_THREADS=1 $(PYTHON) -m tests.wasm $(ARGS)

# The site, in build-site/site, by tools of an environment of its own.
SITE_VENV ?= .venv-site
site: build
	tools/setup.sh --site
	@"$(SITE_VENV)/bin/python" -c "import mkdocstrings_handlers" 2>/dev/null || { $(PYTHON) -m venv "$(SITE_VENV)" && \
	    "$(SITE_VENV)/bin/pip" install -q 'mkdocs-material>=9.6,<10' 'mkdocstrings[python]>=1,<2' ruff; }
	$(RUN) SARDONYX_PYTHON="$(PYTHON)" $(PYTHON) tools/build_site.py "$(abspath $(BUILD))/bin/sardonyx" \
	    "$(abspath $(SITE_VENV))/bin/mkdocs"
	$(PYTHON) -m pytest -q tests/site

# What a newcomer to the site sees, in docs/screenshots.
screenshots: site
	tools/setup.sh --screenshots
	$(RUN) PYTHON="$(PYTHON)" tools/take_screenshots.sh
	$(RUN) PYTHON="$(PYTHON)" tools/take_viewer_screenshots.sh

page-screenshot: wasm browser-driver
	tools/setup.sh --screenshots
	PYTHONPATH="$(abspath $(BROWSER_PACKAGES)):$(abspath $(BUILD))/python" \
	  SARDONYX_BUILD="$(abspath $(BUILD))" $(PYTHON) -m tests.wasm.picture

# The examples, run and checked; those that need a package that is missing say so.
test-examples: build
	$(PYTHON) -m pip install -q -r examples/requirements.txt
	$(RUN) OMP_NUM_THREADS=1 $(PYTHON) -m pytest -q examples

demo: build
	$(RUN) $(PYTHON) demo/run.py

bench: build
	$(RUN) $(PYTHON) -m bench

# Fake-tensor tracing and torch.export by turns.
bench-capture: build
	$(RUN) OMP_NUM_THREADS=1 $(PYTHON) -m bench.capture $(ARGS)

bench-kernels:
	$(PYTHON) -m bench.kernels $(if $(PROVIDER),--provider $(PROVIDER)) $(FUSIONS)

# On a GPU next to other makers; without one the same models are made small and checked.
bench-cuda: build
	$(RUN) OMP_NUM_THREADS=1 $(PYTHON) -m bench.cuda --peers "$(PEERS)/bin/python" $(ARGS)

# Needs room for two such models.
bench-large: build
	$(RUN) $(PYTHON) -m bench.large $(ARGS)

# Other makers and optimizers live in an environment of their own, PEERS.
PEERS ?= .venv-peers
bench-makers: build
	PEERS="$(PEERS)" tools/setup_peers.sh
	$(RUN) OMP_NUM_THREADS=1 "$(PEERS)/bin/python" -m bench.makers $(ARGS)

bench-optimize: build
	PEERS="$(PEERS)" tools/setup_peers.sh
	$(RUN) OMP_NUM_THREADS=1 $(PYTHON) -m bench.optimizers --peers "$(PEERS)/bin/python" \
	    $(if $(FULL),--size full) $(ARGS)

# Beside onnxruntime-genai's model builder, which lives with the peers.
bench-llm: build
	PEERS="$(PEERS)" tools/setup_peers.sh
	$(RUN) $(PYTHON) -m bench.llm --peers "$(PEERS)/bin/python" $(ARGS)

# Static quantization next to ONNX Runtime's own tool, on small models that are trained first.
bench-quantize: build
	$(RUN) $(PYTHON) -m bench.quantize $(ARGS)

quantize-sweep: build
	$(RUN) OMP_NUM_THREADS=1 $(PYTHON) -m tests.quantization $(ARGS)

bench-weights: build
	$(RUN) $(PYTHON) -m bench.weights $(ARGS)

# Captures about 500 small models the first time, which takes an hour; goes on from where it was.
architectures: build
	$(RUN) OMP_NUM_THREADS=1 $(PYTHON) -m tests.architectures all --jobs $(JOBS)

# ARGS="--task text2text-generation-with-past --models t5,bart"
# A few architectures want packages that nothing else here does; they lie apart from the others.
hf-sweep: build
	@[ -d .cache/hf-sweep ] || $(PYTHON) -m pip install -q --no-deps --target .cache/hf-sweep \
	    scipy pillow
	$(RUN) PYTHONPATH="$(abspath $(BUILD))/python:$(CURDIR)/.cache/hf-sweep" OMP_NUM_THREADS=1 \
	    $(PYTHON) -m bench.hf --jobs $(JOBS) $(ARGS)

# Fake-tensor tracing held against torch.export, whose programs are kept from one run to the next.
capture-sweep: build
	$(RUN) OMP_NUM_THREADS=1 SARDONYX_RULE_ROWS_EVERY=1 $(PYTHON) -m pytest -q -n $(JOBS) \
	    tests/capture/test_rules.py
	$(RUN) OMP_NUM_THREADS=1 $(PYTHON) -m tests.capture --jobs $(JOBS) $(ARGS)

sweep: build
	$(RUN) OMP_NUM_THREADS=1 $(PYTHON) -m tests.opinfo --resume --jobs $(JOBS) \
	    --opsets 13,14,15,16,17,18,19,20,21,22,23,24,25,26 \
	    --report docs/operators.md

MINUTES ?= 10
hunt: build
	$(RUN) OMP_NUM_THREADS=1 $(PYTHON) -m tests.hunt --minutes $(MINUTES) --state .cache/hunt.json

# Reading, converting, optimizing and writing in threads, under the thread sanitizer.
threads: setup
	@[ -f build-threads/build.ninja ] || $(call configure,build-threads,--preset threads)
	ninja -C build-threads -j$(JOBS) --quiet api_test
	build-threads/src/api/api_test

# Coverage-guided. Goes on from what it found worth keeping, in build-fuzz/corpus; ends at the first
# finding, which stands in build-fuzz/findings.
READERS ?= srepr pickle zip json pt2 torchscript-source torchscript plugin onnx optimize targets \
    safetensors-header shard-index gguf-header distributed-metadata distributed-piece $(CHECKPOINTS)
# Whole checkpoints, by way of Python: without sanitizers.
CHECKPOINTS ?= safetensors index gguf distributed
fuzz: build
	tools/setup.sh --fuzz
	[ -f build-fuzz/build.ninja ] || $(call configure,build-fuzz,--preset fuzz)
	ninja -C build-fuzz -j$(JOBS) --quiet sardonyx_fuzz
	for reader in $(filter-out $(CHECKPOINTS),$(READERS)); do \
	    tools/fuzz.sh $$reader $(MINUTES) || exit 1; done
	for format in $(filter $(CHECKPOINTS),$(READERS)); do \
	    $(RUN) OMP_NUM_THREADS=1 $(PYTHON) -m tests.fuzz.checkpoints $$format $(MINUTES) || exit 1; done

format: setup
	clang-format -i $(CXX_FILES)
	ruff check --fix-only .
	ruff format .

# Over the flags of a build without the precompiled header, which is GCC's; nothing is compiled.
tidy: setup
	tools/setup.sh --tidy
	@$(call configure,"$(BUILD)-tidy",--preset dev -DSARDONYX_PCH=OFF \
	    -DPython_EXECUTABLE="$(PYTHON)") >/dev/null
	git ls-files 'src/*.cpp' 'python/*.cpp' | \
	    xargs -P $(JOBS) -n 2 clang-tidy --quiet -p "$(BUILD)-tidy" --extra-arg=-Wno-unknown-warning-option

clean:
	rm -rf "$(BUILD)" "$(BUILD)-sanitize" "$(BUILD)-tidy" "$(BUILD)-wheel" "$(BUILD)-wheels" build-site
