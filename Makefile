# The single door: everything that people do here is a target.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PLUGIN_DIR ?= $(HOME)/.local/bin

help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

demo: ## Play both stories, no cluster needed
	cargo run --release -- demo

build: ## Build the release binary
	cargo build --release --locked

test: lint unit e2e ## Pass every test, end-to-end ones included

lint: ## Formatting and lints
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings

unit: ## Tests that need no cluster
	cargo test --locked

control-plane: ## Build a real Kubernetes control plane and kubelets from Go modules (once, then cached)
	e2e/control-plane/build

e2e: control-plane ## Tests against a real API server: its own, or the one in KUBECONFIG
	cargo test --locked --test e2e

golden: ## Make the golden files again with Go's own code
	cd e2e/golden && go run . ../../tests/golden

plugin: build ## Link the release binary as a kubectl plugin, in ~/.local/bin or PLUGIN_DIR
	mkdir -p $(PLUGIN_DIR)
	ln -sf $(CURDIR)/target/release/elbowroom $(PLUGIN_DIR)/kubectl-elbowroom

compare: control-plane ## Play the scenario files with kube-scheduler and with elbowroom: CASES="g c37", or all
	@cargo test --quiet --locked --test compare -- $(CASES)

bench: control-plane build ## Measure beside kube-scheduler, in one sitting
	e2e/bench

deny: ## Licences, sources and duplicate crates (needs cargo-deny)
	cargo deny check

image: ## Build the container image (needs a Docker engine)
	docker build -t elbowroom:0.1.0 .

kind: ## The same end-to-end tests on kind (needs a Docker engine and kind)
	e2e/kind/run

.PHONY: help demo build test lint unit control-plane e2e golden plugin compare bench deny image kind
