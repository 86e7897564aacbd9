# The front door. Everything is done by xtask/setup.sh (packages) and the xtask crate (the rest); `make help` lists the targets.
PREFIX ?= /usr/local
XTASK := cargo run --quiet --package xtask --

.DEFAULT_GOAL := build
.PHONY: build demo test bench bench-rust fuzz test-pure fix install uninstall clean help setup setup-test

build: setup ## build in release; what users load goes to build/ (the default)
	@$(XTASK) build

demo: setup ## build, differentiate real programs, solve an inverse problem and draw it
	@$(XTASK) demo

test: setup-test ## every check there is, as .ci/run does
	@$(XTASK) ci

test-pure: ## build and test the crates that need no LLVM, on a machine that may have none
	@$(XTASK) pure

bench: setup ## build, then measure gradients against handwritten adjoints (BENCH='--quick gmm' for arguments)
	@$(XTASK) bench -- $(BENCH)

bench-rust: setup ## build, then measure gradients of Rust programs against adjoints by hand and dual numbers
	@$(XTASK) bench-rust

fuzz: setup ## build, then hunt with random programs and broken IR until done or interrupted (FUZZ='--programs 10000 --seed 2')
	@$(XTASK) fuzz $(FUZZ)

fix: ## repair what can be repaired by a program: formatting, generated documentation
	@$(XTASK) fix

install: setup ## build, then copy build/ to PREFIX (default /usr/local; DESTDIR is honoured)
	@$(XTASK) build
	@$(XTASK) install --prefix "$(PREFIX)" --destdir "$(DESTDIR)"

uninstall: setup ## remove from PREFIX what `make install` copied there (DESTDIR is honoured)
	@$(XTASK) uninstall --prefix "$(PREFIX)" --destdir "$(DESTDIR)"

clean: ## remove build/ and target/
	@rm -rf build target

help: ## this list
	@echo 'make [target]'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)$$/  \1\t\2/p' Makefile | expand -t 14
	@echo
	@echo 'LLVM 22 is taken from LLVM_CONFIG (a llvm-config program), LLVM_SYS_221_PREFIX (a folder), or the PATH.'

setup:
	@sh xtask/setup.sh build

setup-test:
	@sh xtask/setup.sh test
