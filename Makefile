# Shortcuts for common tasks; CMake builds (scripts/build.sh).  `make help` lists the targets.
# SPDX-License-Identifier: BSD-3-Clause
MPI ?= openmpi
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
REPORT = build/tutti-report.html
RUN ?= $(shell date -u +%Y-%m-%dT%H%M)
BUILDS = openmpi mpich asan tsan smpi
export JOBS V WERROR TIER DESTDIR

.PHONY: all run run-bipolar run-heat test test-full bench bench-papers lint format install uninstall dist html abi budget call-graph clean help
.NOTPARALLEL:

all: ## build the library and the command (MPI=openmpi|mpich)
	@scripts/build.sh $(MPI)

run: ## build and run a one-minute tour: comparison with the MPI library, a mesh, a resumed dataset; write a report
	@scripts/packages.sh run
	@scripts/build.sh openmpi all examples.step6_dataset
	@scripts/tour.py build/openmpi build/run $(REPORT)

run-bipolar: ## simulate a transistor in three dimensions, restarted from 2 on 4 ranks; plot its potential
	@scripts/packages.sh run
	@scripts/packages.sh bipolar || echo "using a mesh of bricks instead"
	@scripts/build.sh openmpi bipolar
	@mkdir -p build/run
	@examples/apps/bipolar/run.sh build/openmpi/tests/examples/bipolar build/run

run-heat: ## simulate transient heat conduction, restarted from 2 on 4 ranks; write Exodus, plot with ParaView
	@scripts/packages.sh run
	@scripts/build.sh openmpi heat
	@mkdir -p build/run
	@examples/apps/heat/run.sh build/openmpi/tests/examples/heat build/run

test: ## build for both MPI libraries, with sanitizers and for simulated machines; run all tests (CTESTFLAGS="-R name")
	@scripts/packages.sh run test optional
	@mkdir -p build
	@scripts/packages.sh tools $(if $(filter full,$(TIER)),long) >build/packages.log 2>&1 & packages=$$!; \
	for build in $(BUILDS); do \
	    scripts/build.sh $$build $$([ $$build != openmpi ] || echo all) tests || { wait $$packages; exit 1; }; \
	done; wait $$packages; cat build/packages.log
	@echo 'subdirs($(BUILDS))' > build/CTestTestfile.cmake
	@cd build && ctest -j$$((2 * $(JOBS) + 1)) --output-on-failure --no-label-summary $(CTESTFLAGS)

test-full: ## run test with the long tests and all combinations of parameters
	@$(MAKE) --no-print-directory test TIER=full

bench: ## repeat the measurements of docs/appendix/results-limits.md (20 minutes)
	@scripts/packages.sh run
	@scripts/build.sh openmpi
	@mkdir -p build/run
	@for n in 2 4 8; do scripts/mpirun.sh openmpi $$n build/openmpi/tutti bench --method auto $(BENCHFLAGS) \
	    --dir build/run,/dev/shm --json build/bench-$$n.json && \
	    experiments/tutti_experiments/__main__.py build/bench-$$n.json --html build/bench-$$n.html || exit 1; done
	@build/openmpi/experiments/plan_scaling > build/plan-scaling.json
	@experiments/tutti_experiments/results.py --page docs/appendix/results-limits.md build/bench-2.json build/bench-4.json build/bench-8.json \
	    --scaling build/plan-scaling.json
	@echo "written: docs/appendix/results-limits.md, build/bench-*.html"

bench-papers: ## repeat the experiments of the papers in build/papers/RUN; update docs/appendix/results.md (20 minutes)
	@scripts/packages.sh run
	@scripts/build.sh openmpi
	@scripts/bench_papers.sh build/openmpi/tutti-experiments build/openmpi/tutti build/run build/papers/$(RUN)
	@experiments/tutti_experiments/results.py --page docs/appendix/results.md $(sort $(wildcard build/papers/*) build/papers/$(RUN))
	@echo "written: docs/appendix/results.md from all runs in build/papers; reports: build/papers/$(RUN)/*.html"

lint: ## check format, clang-tidy, cppcheck, layers, headers, symbols, scripts, documentation, sizes
	@scripts/packages.sh run test lint
	@scripts/build.sh openmpi all tests
	@scripts/lint.sh build/openmpi

format: ## format the sources with clang-format
	@scripts/sources.sh | xargs clang-format -i

install: ## install into PREFIX (MPI=openmpi|mpich)
	@scripts/packages.sh run $(if $(filter mpich,$(MPI)),test)
	@scripts/build.sh $(MPI) installed
	@cmake --install build/$(MPI) --prefix "$$(realpath -ms "$(PREFIX)")"

uninstall: ## remove the files that `make install` installed in PREFIX (MPI=openmpi|mpich)
	@scripts/uninstall.sh "$$(realpath -ms "$(PREFIX)")" $(MPI)

dist: ## write build/tutti-VERSION.tar.gz, with the generated files: needs neither git nor Python to build
	@scripts/packages.sh run
	@scripts/build.sh openmpi generated
	@scripts/dist.sh build build/openmpi/generated

html: ## build the handbook, a static site with search, in build/html
	@scripts/packages.sh handbook
	@scripts/build.sh openmpi generated_man
	@scripts/handbook.py build/openmpi/generated/man build/html
	@echo "handbook to open: $(CURDIR)/build/html/index.html"

abi: ## check that this build is ABI-compatible with the release FROM=TAG
	@scripts/packages.sh abi
	@scripts/build.sh openmpi tutti
	@scripts/check_abi.sh --tag $(FROM) build/openmpi

call-graph: ## count the functions that a first collective write enters; fail if there are more than allowed
	@scripts/call_graph.py write --check

budget: ## list the longest functions and files, and the modules with many one-caller functions
	@python3 scripts/budget.py

clean: ## remove build/
	rm -rf build

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | expand -t 12
