# SPDX-License-Identifier: BSD-2-Clause
#
# A thin front for meson; `make help` lists the targets.
BUILD	?= build
PYTHON	= /usr/bin/python3
MESON	= /usr/bin/meson
RELEASE	= $(BUILD)/release

.PHONY: all run test bench experiments install clean help
.PHONY: bench-mem bench-veth bench-callgrind bench-fib bench-epoch \
    bench-intr bench-netgraph bench-ngctl bench-gen

all: $(RELEASE)/build.ninja
	@ninja -C $(RELEASE) $(NINJAFLAGS)

$(RELEASE)/build.ninja:
	@scripts/packages build
	@$(MESON) setup -Dcpu=native -Dtests=disabled $(RELEASE) >/dev/null

# The router lab: three namespaces, real veths, traffic, a summary.
run:
	@scripts/packages build run
	@$(MAKE) -s all NINJAFLAGS=--quiet
	@$(PYTHON) tests/lab.py --build $(RELEASE) $(LAB)

# Everything that CI checks; the last line counts.
test:
	@scripts/packages build run test
	@$(PYTHON) tests/run.py --build $(BUILD)/test $(TEST)

# Figures beside those of the rivals; bench/README.md says how to read them.
bench bench-mem bench-veth bench-callgrind bench-fib bench-epoch \
    bench-intr bench-netgraph bench-ngctl bench-gen:
	@scripts/packages build run bench
	@bench/run $@

# The reviews' experiments, into docs/experiments; QUICK=1: to see them work.
experiments:
	@scripts/packages build run bench
	@bench/experiments/run

install: all
	@$(MESON) install -C $(RELEASE)

clean:
	rm -rf $(BUILD)

help:
	@echo "make            build into $(RELEASE)"
	@echo "make run        the router lab on real kernel interfaces"
	@echo "make test       all tests; TEST='--only debug' and the like"
	@echo "make bench      all benchmarks; also bench-mem, bench-veth, ..."
	@echo "make experiments   repeat the reviews', into docs/experiments"
	@echo "make install    DESTDIR and meson's prefix apply"
	@echo "make clean"
