# `make demo` and `make test` are all a newcomer needs; both do their own set-up.

DEMO = testdata/demo
OUT ?= out
# Where cargo builds, also for those who have told it to build elsewhere.
TARGET = $(or $(CARGO_TARGET_DIR),target)
FUZZ_SECONDS ?= 600
FUZZ_TARGETS = $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))

# A toolchain of rustup is preferred to the distribution's.
export PATH := $(HOME)/.cargo/bin:$(PATH)

.PHONY: help demo test bench fuzz doc site lab clean

help:
	@echo "make demo    analyse a capture that ships with the project; table and HTML page"
	@echo "make test    everything the continuous integration checks"
	@echo "make bench   beside the neighbours: tcptrace, tshark, DPDK's reorder library, ns-3, SNAKES, simpn"
	@echo "make fuzz    every fuzz target for FUZZ_SECONDS ($(FUZZ_SECONDS))"
	@echo "make doc     the documentation of all crates"
	@echo "make site    the site with tutorials, concepts and reference, under target/site/html"
	@echo "make lab     record the captures under testdata/ anew (root, Debian 12, 15 minutes)"

demo:
	@tools/setup demo
	cargo build --quiet --profile quick -p inorder
	@mkdir -p $(OUT)
	$(TARGET)/quick/inorder analyze --html $(OUT)/demo.html --peer $(DEMO)/demo-receiver.pcap $(DEMO)/demo-sender.pcap
	@echo
	@echo "The same with charts: file://$(abspath $(OUT))/demo.html"

test:
	@tools/test

bench:
	@tools/setup test
	benches/run
	benches/ns3/run
	benches/petri/run

fuzz:
	@tools/setup test
	@cargo +nightly fuzz --version >/dev/null 2>&1 || \
		{ echo "fuzz: needs a nightly compiler and cargo-fuzz (cargo install cargo-fuzz)" >&2; exit 1; }
	@for target in $(FUZZ_TARGETS); do \
		echo "fuzz: $$target, $(FUZZ_SECONDS) s"; \
		(cd fuzz && cargo +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) -timeout=20) || exit 1; \
	done

doc:
	@tools/setup test
	cargo doc --workspace --no-deps

site:
	@tools/setup test
	tools/site/build

lab:
	testdata/lab/build-kernel
	testdata/lab/record --small --out $(OUT)/lab
	testdata/lab/publish $(OUT)/lab

clean:
	cargo clean
	rm -rf $(OUT)
