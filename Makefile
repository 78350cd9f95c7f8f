# The short way to everything; CMake does the work (scripts/build.sh).  `make help` lists the targets.
# SPDX-License-Identifier: BSD-3-Clause
MPI ?= openmpi
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
REPORT = build/tutti-report.html
RUN ?= $(shell date -u +%Y-%m-%dT%H%M)
BUILDS = openmpi mpich asan tsan
export JOBS V WERROR TIER DESTDIR

.PHONY: all run run-bipolar run-heat test test-full bench bench-papers lint format install uninstall dist html abi budget walk clean help
.NOTPARALLEL:

all: ## build the library and the command (MPI=openmpi|mpich)
	@scripts/build.sh $(MPI)

run: ## build, then in a minute: patterns beside the MPI library, a mesh, a dataset that goes on; a report with pictures
	@scripts/packages.sh run
	@scripts/build.sh openmpi all examples.step6_dataset
	@scripts/tour.py build/openmpi build/run $(REPORT)

run-bipolar: ## a transistor in three dimensions, on 2 and then on 4 ranks; ends with a picture of its potential
	@scripts/packages.sh run
	@scripts/packages.sh bipolar || echo "going on with a mesh of bricks"
	@scripts/build.sh openmpi bipolar
	@mkdir -p build/run
	@examples/apps/bipolar/run.sh build/openmpi/tests/examples/bipolar build/run

run-heat: ## transient heat on hexahedra and tetrahedra into an Exodus file, on 2 and then on 4 ranks; pictures by ParaView
	@scripts/packages.sh run
	@scripts/build.sh openmpi heat
	@mkdir -p build/run
	@examples/apps/heat/run.sh build/openmpi/tests/examples/heat build/run

test: ## build for both MPIs and with sanitizers; one ctest over all of it (CTESTFLAGS="-R name")
	@scripts/packages.sh run test optional
	@mkdir -p build
	@scripts/packages.sh tools $(if $(filter full,$(TIER)),long) >build/packages.log 2>&1 & packages=$$!; \
	for build in $(BUILDS); do \
	    scripts/build.sh $$build $$([ $$build != openmpi ] || echo all) tests || { wait $$packages; exit 1; }; \
	done; wait $$packages; cat build/packages.log
	@echo 'subdirs($(BUILDS))' > build/CTestTestfile.cmake
	@cd build && ctest -j$$((2 * $(JOBS) + 1)) --output-on-failure --no-label-summary $(CTESTFLAGS)

test-full: ## the same with the long tests and the full products
	@$(MAKE) --no-print-directory test TIER=full

bench: ## measure what docs/appendix/results-limits.md shows (20 minutes)
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

bench-papers: ## repeat the papers' experiments into build/papers/RUN, bring docs/appendix/results.md up to date (20 minutes)
	@scripts/packages.sh run
	@scripts/build.sh openmpi
	@scripts/bench_papers.sh build/openmpi/tutti-experiments build/openmpi/tutti build/run build/papers/$(RUN)
	@experiments/tutti_experiments/results.py --page docs/appendix/results.md $(sort $(wildcard build/papers/*) build/papers/$(RUN))
	@echo "written: docs/appendix/results.md from all runs in build/papers; reports: build/papers/$(RUN)/*.html"

lint: ## clang-format, clang-tidy, cppcheck, layers, headers, symbols, scripts, docs, sizes
	@scripts/packages.sh run test lint
	@scripts/build.sh openmpi all tests
	@scripts/lint.sh build/openmpi

format: ## rewrite the sources as clang-format wants them
	@scripts/sources.sh | xargs clang-format -i

install: ## into PREFIX, for MPI=openmpi|mpich
	@scripts/packages.sh run $(if $(filter mpich,$(MPI)),test)
	@scripts/build.sh $(MPI) installed
	@cmake --install build/$(MPI) --prefix "$$(realpath -ms "$(PREFIX)")"

uninstall: ## what `make install` put into PREFIX, for MPI=openmpi|mpich
	@scripts/uninstall.sh "$$(realpath -ms "$(PREFIX)")" $(MPI)

dist: ## build/tutti-VERSION.tar.gz with the generated files: builds without git and Python
	@scripts/packages.sh run
	@scripts/build.sh openmpi generated
	@scripts/dist.sh build build/openmpi/generated

html: ## the handbook, a static site with search: build/html/index.html
	@scripts/packages.sh handbook
	@scripts/build.sh openmpi generated_man
	@scripts/handbook.py build/openmpi/generated/man build/html
	@echo "handbook to open: $(CURDIR)/build/html/index.html"

abi: ## may this build take the place of the release FROM=TAG?
	@scripts/packages.sh abi
	@scripts/build.sh openmpi tutti
	@scripts/check_abi.sh --tag $(FROM) build/openmpi

walk: ## the functions that a first collective write goes through; fails if they have become more
	@scripts/walk.py write --check

budget: ## the longest functions and files, and where functions are cut too small
	@python3 scripts/budget.py

clean: ## remove all that was built
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | expand -t 12
