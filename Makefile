# A newcomer needs two commands:
#   make demo    build, run the thesis's simulation 2, print its table, write the report
#   make test    what must hold before a change lands
# While you work, `make quick`; what takes longer is in `make test-long`.

SHELL := /bin/bash
.DEFAULT_GOAL := help
CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)
export CARGO_TARGET_DIR := $(abspath $(TARGET))
LAYERCAST := $(TARGET)/release/layercast
BENCH := $(TARGET)/release/layercast-bench
SKIPPED := $(abspath $(TARGET))/skipped.txt
# A workspace of its own, which shares the folder for builds: what measures the project.
TOOLS := --manifest-path tools/Cargo.toml
OUT ?= results
# The transport, what sends by it, and the emulator need Linux, and so do the fuzzing of readers and the trials.
without = $(if $(filter-out Linux,$(shell uname -s)),$(1:%=--exclude %))
export WORKSPACE := --workspace $(call without,layercast layercast-transport layercast-emulator layercast-outside)
TOOLS_ALL := $(TOOLS) --workspace $(call without,layercast-fuzz layercast-trials)
# What protocols are built on and judged by, without the tests that take seconds.
QUICK := $(patsubst %,--package layercast-%,core kit protocols simulator laboratory)
SLOW := allocations applications bbr bias capture compare contract convergence determinism dither ecn elm_sessions elm_strategies experiments fair_to \
  fingerprints flid marks nca notes probes properties::sequence rla_session rlm_session scoreboard single_rate smcc_session \
  tcp_rates tfmcc tfrc_sessions tide varying wei_zhang_session webrc why

include tools/pgo.mk
include packaging/package.mk
include tools/trials.mk

# Builds wait for each other anyway, and in order their words stay together.
.NOTPARALLEL:

.PHONY: help demo test quick test-long seldom tools tools-built toolchain build fmt clippy lean portable docs unit reproduce reproduce-thesis reproduce-flid reproduce-eflid reproduce-weizhang reproduce-amca readings scoreboard studies findings bench htsim thesis-times validate ns2 reference generated fingerprints release-laboratory gate instructions fuzz mutants python notebooks book

help: ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

demo: build ## Run the thesis's simulation 2 and write its report
	$(LAYERCAST) run thesis/simulation-2 --out $(OUT)/simulation-2

test: toolchain fmt unit skipped ## What must hold before a change lands
	@echo "Everything holds: format, lints, documentation, tests, licences."

quick: toolchain ## Test in a minute what protocols are built on and judged by: core, kit, protocols, simulator, laboratory
	@$(CARGO) test $(QUICK) --locked --lib --test all --no-run
	@LAYERCAST_SKIPPED=/dev/null $(CARGO) test $(QUICK) --locked --lib
	@LAYERCAST_SKIPPED=/dev/null $(CARGO) test $(QUICK) --locked --test all -- $(SLOW:%=--skip %)

# What is tested is linted, and documented, as it is compiled: nothing is checked a second time for that.
unit seldom python quick tools tools-built: export RUSTC_WORKSPACE_WRAPPER := $(abspath tools/lint.sh)
unit: export RUSTDOC := $(abspath tools/rustdoc.sh)
unit: export REFERENCE := $(CARGO_TARGET_DIR)/reference

# Cold builds take less without what makes the next one short.
test test-long: export CARGO_INCREMENTAL ?= 0

test-long: export LAYERCAST_LONG := 1
test-long: toolchain fmt unit lean docs tools release-laboratory gate skipped ## `make test` with what takes long, and the tools
	@echo "Everything holds, and what takes long."

# Experiments over long times, of which `make test` has the short ones, and clusters of processes. CI has the time.
seldom: toolchain
	LAYERCAST_LONG=1 $(TEST) --test all -- bias convergence elm_strategies without_phases
	./tools/python.sh $(TARGET) $(SKIPPED) seldom

tools-built: toolchain ## Compile and lint the tools and their tests
	$(CARGO) test $(TOOLS_ALL) --locked --no-run

tools: tools-built ## Lint and test what measures the project: reproduction, trials, validation, benchmarks, inputs of fuzzing
	$(CARGO) test $(WORKSPACE) --locked --test program --no-run
	LAYERCAST_SKIPPED=$(SKIPPED) $(CARGO) test $(TOOLS_ALL) --locked --no-fail-fast

# Rust may be assumed, but say clearly what is missing and how to get it.
toolchain:
	@command -v $(CARGO) >/dev/null 2>&1 || { \
	  echo "Rust is missing. Install it from https://rustup.rs, then run make again." >&2; exit 1; }
	@command -v cc >/dev/null 2>&1 || { \
	  echo "A C compiler is missing: Rust needs its linker. On Debian: apt-get install gcc" >&2; exit 1; }
	@for part in fmt clippy; do $(CARGO) $$part --version >/dev/null 2>&1 || { \
	  command -v rustup >/dev/null 2>&1 && rustup component add rustfmt clippy || { \
	  echo "cargo $$part is missing. Install the rustfmt and clippy components." >&2; exit 1; }; }; done

build: toolchain
	$(CARGO) build --release --locked --package layercast-cli

fmt: toolchain
	@$(CARGO) fmt $(TOOLS) --all --check & tools=$$!; $(CARGO) fmt --all --check; own=$$?; wait $$tools && exit $$own

clippy: toolchain
	$(CARGO) clippy $(WORKSPACE) --all-targets --locked -- -D warnings

lean: toolchain ## Lint the command without the features that it may be built without
	$(CARGO) clippy --package layercast-cli --no-default-features --locked -- -D warnings

# `rustup target add x86_64-pc-windows-gnu` brings what it needs.
portable: toolchain ## Check the command for another system than Linux, where it has neither transport nor emulator
	$(CARGO) check --locked --package layercast-cli --package layercast-transport --package layercast-emulator --target x86_64-pc-windows-gnu

docs: toolchain ## The reference of all crates, into target/doc
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(WORKSPACE) --no-deps --locked

# Instructions are counted, not seconds, so other programs do not disturb it. Without valgrind it is a skipped test.
gate: toolchain
	@if command -v valgrind >/dev/null 2>&1; then \
	  $(CARGO) build $(TOOLS) --release --locked --package layercast-bench && $(BENCH) gate goldens/instructions.txt; \
	elif [[ ",$(LAYERCAST_REQUIRE)," =~ ,(valgrind|all), ]]; then \
	  echo "valgrind is required (LAYERCAST_REQUIRE) and missing. On Debian: apt-get install valgrind" >&2; exit 1; \
	else echo "instructions per hop: valgrind is missing" >> $(SKIPPED); fi

instructions: toolchain ## Store instructions per hop again, after a change of speed that is meant
	$(CARGO) build $(TOOLS) --release --locked --package layercast-bench
	$(BENCH) gate --update goldens/instructions.txt

# The tests of the package compare it with the command.
python: toolchain ## Build the Python package as for tests and test it: pytest, stubs; LAYERCAST_LONG=1: mypy, notebooks
	./tools/python.sh $(TARGET) $(SKIPPED)

notebooks: toolchain ## Run the notebooks of docs/notebooks and the long one of examples/python, and keep them in target/notebooks
	./tools/book.sh $(TARGET) notebooks

book: docs ## Write the site into target/book: pages, notebooks, Python and Rust reference
	./tools/book.sh $(TARGET)

# Tests that wait for networks run while the others compute, many at a time and before them wherever both want a
# processor; what they print comes last. A test that cannot run on a machine adds a line to SKIPPED; LAYERCAST_REQUIRE
# makes it fail instead.
WAITING := --test network --test program
COMPUTING := --lib --test all
TEST := env LAYERCAST_SKIPPED=$(SKIPPED) $(CARGO) test $(WORKSPACE) --locked --no-fail-fast
unit: toolchain
	@mkdir -p $(TARGET) && rm -f $(SKIPPED)
	@./tools/python-packages.sh $(TARGET)/venv > /dev/null 2>&1 & installing=$$!; \
	$(CARGO) test $(WORKSPACE) --lib --test '*' --examples --locked --no-run; built=$$?; \
	wait $$installing; exit $$built
	@$(TEST) $(WAITING) -- --test-threads 12 > $(TARGET)/waiting.txt 2>&1 & waiting=$$!; \
	nice ./tools/python.sh $(TARGET) $(SKIPPED) > $(TARGET)/python.txt 2>&1 & python=$$!; \
	nice $(TEST) --doc > $(TARGET)/documented.txt 2>&1 & documenting=$$!; \
	nice $(TEST) $(COMPUTING); computed=$$?; \
	wait $$documenting; documented=$$?; cat $(TARGET)/documented.txt; \
	wait $$waiting; waited=$$?; cat $(TARGET)/waiting.txt; wait $$python; tested=$$?; cat $(TARGET)/python.txt; \
	exit $$((computed + documented + waited + tested))

skipped:
	@if [ -s $(SKIPPED) ]; then sort -u $(SKIPPED) | awk '{ lines[NR] = "  " $$0 } \
	  END { print NR (NR == 1 ? " test" : " tests") " skipped:"; for (at = 1; at <= NR; at++) print lines[at] }'; \
	  else echo "No test was skipped."; fi

reference: build ## Write the whole reference as Markdown into results/reference: commands, keys, options, scenarios
	$(LAYERCAST) reference --out $(OUT)/reference

generated: toolchain ## Rewrite the pages and schemas that come from code
	UPDATE_GENERATED=1 $(CARGO) test $(WORKSPACE) --locked generated

# Experiments that take a development build too long. Both builds compare fingerprints, so both give the same results.
release-laboratory: toolchain
	LAYERCAST_SKIPPED=$(SKIPPED) $(CARGO) test --release --locked --package layercast-laboratory --test all

# A switch of its own: a change of results must not slip in with a change of pages.
fingerprints: toolchain ## Write the numbers of goldens/fingerprints.txt again, after a change of results that is meant
	UPDATE_FINGERPRINTS=1 $(CARGO) test --release --locked --package layercast-laboratory --test all fingerprints

# Papers in the order of their cost.
PAPERS := weizhang amca eflid flid thesis

reproduce: build ## Run every built-in scenario and every paper in full, from an empty folder to HTML pages (hours of processor time)
	@for scenario in $$($(LAYERCAST) list --scenarios --plain); do \
	  $(LAYERCAST) run $$scenario --out $(OUT)/$$scenario || exit 1; done
	@for paper in $(PAPERS); do $(MAKE) reproduce-$$paper || exit 1; done

# Goes on after an interruption. BRIEF=1 for the brief version.
scoreboard: build ## Judge every protocol in the built-in suite (hours; minutes with BRIEF=1)
	$(LAYERCAST) scoreboard $(if $(BRIEF),--brief) --out $(OUT)/scoreboard$(if $(BRIEF),-brief)

# The sweeps behind docs/findings.md. Windows begin with the bursts of simulation 5.
FINDINGS := $(OUT)/findings
FINDINGS_SWEEP = $(LAYERCAST) sweep $(1) --replications 15 --metric throughput_kbps,loss_rate,lost_packets,mean_level \
  --metric joins_per_min,level_changes_per_min,fair_level_after_s,fell_after_s,recovered_after_s,jain_index $(FINDINGS_OPTIONS)
ELM_VARIANTS = --vary 'session.elm.options=$(shell paste -sd, crates/laboratory/examples/findings/variants.txt)'
ELM_DELAYS = --vary 'session.elm.t_join_max=5 s,10 s,25 s,60 s' --vary 'session.elm.t_leave_max=5 s,10 s,25 s,60 s'
BURSTS = --set 'windows=[["30 s","end"],["100 s","200 s"],["200 s","230 s"],["230 s","end"],["200 s","end"]]'

findings: build ## Run the sweeps behind docs/findings.md and write their tables into results/findings/tables.html (13 minutes of processor time)
	$(call FINDINGS_SWEEP,thesis/simulation-2) $(ELM_VARIANTS) --out $(FINDINGS)/variants-lossy
	$(call FINDINGS_SWEEP,elm/transient) $(ELM_VARIANTS) --out $(FINDINGS)/variants-transient
	$(call FINDINGS_SWEEP,thesis/simulation-2) $(ELM_DELAYS) --out $(FINDINGS)/delays-lossy
	$(call FINDINGS_SWEEP,thesis/simulation-3-elm) $(ELM_DELAYS) $(BURSTS) --out $(FINDINGS)/delays-shared
	$(call FINDINGS_SWEEP,thesis/simulation-5-elm) $(ELM_DELAYS) $(BURSTS) --out $(FINDINGS)/delays-burst
	$(call FINDINGS_SWEEP,elm/transient) $(ELM_DELAYS) --out $(FINDINGS)/delays-transient
	$(CARGO) run --release --locked --quiet --package layercast-laboratory --example findings -- \
	  $(FINDINGS) crates/laboratory/examples/findings/tables.md $(FINDINGS)/tables.html

# The page of a paper, its row in the table of all, and its HTML with every figure.
REPRODUCE = $(CARGO) run $(TOOLS) --release --locked --quiet --package layercast-reproduction -- $(1) --out $(OUT)/reproduction \
  --page docs/reproduction/$(1).md --summary docs/reproduction.md $(REPRODUCTION_OPTIONS)

reproduce-thesis: toolchain ## Judge the claims of Colussi's thesis, draw its figures and write docs/reproduction/thesis.md (more than an hour of processor time)
	$(call REPRODUCE,thesis)

reproduce-flid: toolchain ## Judge the claims of the FLID-DL paper, draw its figures and write docs/reproduction/flid.md
	$(call REPRODUCE,flid)

reproduce-eflid: toolchain ## Judge the claims of the E-FLID-DL paper, draw its figures and write docs/reproduction/e-flid.md
	$(call REPRODUCE,e-flid)

reproduce-weizhang: toolchain ## Judge the claims of Wei and Zhang's report, draw its figures and write docs/reproduction/wei-zhang.md
	$(call REPRODUCE,wei-zhang)

reproduce-amca: toolchain ## Judge the claims of the AMCA report, draw its figures and write docs/reproduction/amca.md (two minutes of processor time)
	$(call REPRODUCE,amca)

readings: toolchain ## Run every experiment at a drop-tail queue in each reading, plain by phase, jittered, together, and write the table of docs/readings.md
	$(CARGO) run $(TOOLS) --release --locked --quiet --package layercast-reproduction -- readings \
	  --out $(OUT) --page docs/readings.md $(REPRODUCTION_OPTIONS)

studies: toolchain ## Run the studies across papers (open values, one fit for ELM and RLC, late starters of AMCA) and write the tables of docs/studies.md
	$(CARGO) run $(TOOLS) --release --locked --quiet --package layercast-reproduction -- studies \
	  --out $(OUT) --page docs/studies.md $(REPRODUCTION_OPTIONS)

# PGO=1 measures the builds by profile as well. HTSIM=/path names a checkout of csg-htsim.
bench thesis-times: PGO_PROGRAMS = layercast layercast-bench

bench: toolchain $(if $(PGO),pgo) $(if $(HTSIM),htsim) ## Packet hops per CPU second against csg-htsim (HTSIM=/path) and ns-2, added to the history
	$(CARGO) build $(TOOLS) --release --locked --quiet --package layercast-bench
	$(BENCH) run --history docs/performance-history.tsv $(if $(PGO),--by-profile $(PGO_DIR)/layercast-bench) \
	  $(if $(HTSIM),--htsim $(HTSIM_DUMBBELL)) $(BENCH_OPTIONS)

# Its library as its own makefile builds it, and our program for it.
HTSIM_DUMBBELL := $(abspath $(TARGET))/htsim-dumbbell
htsim:
	@[ -f "$(HTSIM)/sim/eventlist.h" ] || { \
	  echo "There is no csg-htsim in HTSIM=$(HTSIM). Get it by git clone https://github.com/Broadcom/csg-htsim" >&2; exit 1; }
	@command -v g++ >/dev/null 2>&1 || { echo "g++ is missing. On Debian: apt-get install g++" >&2; exit 1; }
	$(MAKE) -C $(HTSIM)/sim libhtsim.a
	g++ -std=c++11 -O3 -I$(HTSIM)/sim tools/bench/htsim/dumbbell.cpp $(HTSIM)/sim/libhtsim.a -o $(HTSIM_DUMBBELL)

thesis-times: build $(if $(PGO),pgo) ## The simulations of the thesis in full: processor time and wall time (PGO=1: by profile as well)
	$(CARGO) build $(TOOLS) --release --locked --quiet --package layercast-bench
	$(BENCH) thesis $(LAYERCAST) $(if $(PGO),$(PGO_DIR)/layercast) $(BENCH_OPTIONS)

validate: toolchain ns2 ## Run ns-2 and the simulator on the same set-ups and write docs/validation.md (minutes)
	$(CARGO) run $(TOOLS) --release --locked --quiet --package layercast-validation -- \
	  --page docs/validation.md --raw $(OUT)/validation.json

# Coverage needs flags of the compiler that only nightly has, or a stable one that is asked to act as nightly.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
FUZZ = $(shell command -v rustup >/dev/null 2>&1 && rustup toolchain list | grep -q ^nightly \
  && echo "$(CARGO) +nightly" || echo "RUSTC_BOOTSTRAP=1 $(CARGO)") fuzz

mutants: toolchain ## Plant mistakes in the delivery layer and let the explorer find them
	./tools/mutants.sh

fuzz: toolchain ## Feed random inputs to the readers of packets and texts, FUZZ_SECONDS (60) for each
	@$(CARGO) fuzz --version >/dev/null 2>&1 || $(CARGO) install cargo-fuzz --locked
	$(FUZZ) build --sanitizer none
	@for name in $(FUZZ_TARGETS); do mkdir -p $(OUT)/fuzz/$$name; \
	  $(FUZZ) run --sanitizer none $$name $(OUT)/fuzz/$$name fuzz/corpus/$$name -- \
	    -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -max_len=8192 || exit 1; done

# Installs ns-2 where that is possible without a question, and says what is missing otherwise.
ns2:
	@command -v ns >/dev/null 2>&1 || { \
	  sudo=; [ "$$(id -u)" = 0 ] || sudo="sudo -n"; \
	  command -v apt-get >/dev/null 2>&1 && $$sudo apt-get install --yes ns2 || { \
	  echo "ns-2 2.35 is missing and could not be installed. On Debian, as root: apt-get install ns2" >&2; exit 1; }; }
