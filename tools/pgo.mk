# Release builds by profile: the programs run six scenarios, and the compiler optimises for what they did.
# docs/performance.md shows the gain. The Makefile includes this file.

PGO_DIR := $(abspath $(TARGET))/pgo
PGO_PROFILE := $(PGO_DIR)/layercast.profdata
# The programs to build: the command alone, or the benchmark as well, which has the engine compiled into it once more.
PGO_PROGRAMS ?= layercast
# A line for each run: program, arguments. Those of the benchmark have other sizes than those that it measures.
PGO_RUNS := tools/bench/training/runs.txt
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
# That of the compiler, since the format of profiles changes with LLVM.
PROFDATA = $(shell rustc --print sysroot)/lib/rustlib/$(HOST)/bin/llvm-profdata
# $(call pgo-build,FLAGS,FOLDER): with a target named, build scripts and macros are compiled without these flags.
pgo-build = set -e; for program in $(PGO_PROGRAMS); do \
	  workspace=; [ $$program = layercast ] || workspace="$(TOOLS)"; \
	  RUSTFLAGS="$(RUSTFLAGS) $(1)" $(CARGO) build $$workspace --release --locked --target $(HOST) --package $$program --target-dir $(2); \
	done

# $(call pgo-train,FOLDER OF THE PROGRAMS,RESULTS): all runs, on one thread, since threads lose counts.
# Of the results remains what must be the same in every build.
pgo-train = set -e; rm -rf $(2); number=0; while read -r program arguments; do \
	  [[ " $(PGO_PROGRAMS) " == *" $$program "* ]] || continue; \
	  echo "$$program $$arguments"; number=$$((number + 1)); \
	  if [ $$program = layercast ]; then \
	    $(1)/$$program $$arguments --quiet --jobs 1 --out $(2)/$$number >/dev/null; \
	    grep -vE '^ +"(wall_s|cpu_s|peak_rss_bytes)": ' $(2)/$$number/summary.json > $(2)/$$number/summary.txt; \
	    rm $(2)/$$number/report.html $(2)/$$number/summary.json; \
	  else $(1)/$$program $$arguments >/dev/null; fi; \
	done < $(PGO_RUNS)

.PHONY: profdata pgo

profdata: toolchain
	@[ -x "$(PROFDATA)" ] || { \
	  echo "llvm-profdata of this Rust is missing: $(PROFDATA)" >&2; \
	  echo "With rustup: rustup component add llvm-tools. Otherwise install the LLVM tools of the version that" >&2; \
	  echo "rustc -vV names, and run make pgo PROFDATA=/path/of/llvm-profdata." >&2; exit 1; }

pgo: profdata ## A release build by profile: target/pgo/layercast (two release builds and a minute)
	@$(call pgo-build,-Cprofile-generate=$(PGO_DIR)/raw,$(PGO_DIR)/instrumented)
	@rm -rf $(PGO_DIR)/raw
	@$(call pgo-train,$(PGO_DIR)/instrumented/$(HOST)/release,$(PGO_DIR)/trained)
	$(PROFDATA) merge --output=$(PGO_PROFILE) $(PGO_DIR)/raw
	@# Cargo does not see that a profile has changed.
	@rm -rf $(PGO_DIR)/optimised
	@$(call pgo-build,-Cprofile-use=$(PGO_PROFILE),$(PGO_DIR)/optimised)
	@echo "The same runs must give the same results:"
	@$(call pgo-train,$(PGO_DIR)/optimised/$(HOST)/release,$(PGO_DIR)/checked)
	@diff -r $(PGO_DIR)/trained $(PGO_DIR)/checked || { \
	  echo "The build by profile gives other results; it is in $(PGO_DIR)/optimised." >&2; exit 1; }
	@cp $(PGO_PROGRAMS:%=$(PGO_DIR)/optimised/$(HOST)/release/%) $(PGO_DIR)/
	@echo "Built, with the same results: $(PGO_PROGRAMS:%=$(PGO_DIR)/%)"
