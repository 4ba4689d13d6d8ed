# What there is to do, and nothing else to remember. Needs Rust (https://rustup.rs); the rest of
# what a target needs is installed by tools/need where that is allowed, or named.

PAGE   ?= pages/article.har
LINE   ?= 20mbit,60ms,100p
TARGET := $(or $(CARGO_TARGET_DIR),target)
REPORT ?= $(TARGET)/demo/report.html
FOR_AGENT := clang=clang llvm-strip=llvm pkg-config=pkg-config /usr/include/libelf.h=libelf-dev \
	/usr/include/zlib.h=zlib1g-dev

.PHONY: image image-gateway test-image fmt test-contributing test-long test-kernels test-kernels-quick test-canary demo demo-kernel test lint bench bench-capture bench-trace bench-endpoint bench-agent build agent install uninstall clean

# Builds quickly, races a recorded page under several schemes and writes a report with pictures.
demo:
	@tools/need cc=gcc cc=libc6-dev
	cargo build --profile demo --locked --package headstart-cli
	@mkdir -p $(dir $(REPORT))
	$(TARGET)/demo/headstart race $(PAGE) --path $(LINE) --report $(REPORT)
	@echo "Open $(abspath $(REPORT)) in a browser."

# The second demo, as root: this machine's Linux as it comes and with an agent, first visits and repeated ones over new
# connections, by turns, behind an emulated link; the second request of a connection after two seconds; a page over four
# connections, also where the server says how much it sends. Ten minutes of real time.
AGENT_LINE := 20mbit,80ms,100p
AGENT_WITH := --on kernel --path $(AGENT_LINE) --repeat 7 --visits 2
AGENT_ALL := linux,linux-bbr,hs-cubic,hs-bbr,hs-session
AGENT_RACE := $(AGENT_WITH) --idle 0.5 --reconnect

demo-kernel: build agent
	$(TARGET)/release/headstart race 30kB $(AGENT_RACE) --schemes $(AGENT_ALL)
	$(TARGET)/release/headstart race 200kB $(AGENT_RACE) --client-window 1MB --schemes $(AGENT_ALL)
	$(TARGET)/release/headstart race 200kB $(AGENT_WITH) --idle 2 --schemes $(AGENT_ALL)
	$(TARGET)/release/headstart race $(PAGE) $(AGENT_RACE) --connections 4 --server builtin \
		--schemes $(AGENT_ALL),hs-cubic+size=on,hs-session+size=on

# All programs but the agent; `make gateway` and `make lab` build one of them.
build:
	@tools/need cc=gcc cc=libc6-dev
	cargo build --release --locked --package headstart-cli --package headstart-gateway-cli --package headstart-lab

.PHONY: gateway lab
gateway:
	@tools/need cc=gcc cc=libc6-dev
	cargo build --release --locked --package headstart-gateway-cli

lab:
	@tools/need cc=gcc cc=libc6-dev
	cargo build --release --locked --package headstart-lab

# The agent compiles programs for the kernel (docs/agent): a program of its own, found beside headstart.
agent:
	@tools/need cc=gcc cc=libc6-dev $(FOR_AGENT)
	cargo build --release --locked --package headstart-agent

# What `make build agent` has built (or BINARIES=folder has), below PREFIX: programs, their man pages, completions and
# documents, the header for applications, the unit for systemd, and its configuration, of which one that is there stays.
# DESTDIR=folder stands for the root of the file system. The programs write their own man pages and completions.
PREFIX   ?= /usr/local
DESTDIR  ?=
BINARIES ?= $(TARGET)/release
CONFIG   := /etc/headstart/agent.toml
UNIT     := lib/systemd/system/headstart-agent.service
UNIT_OF_GATEWAY := lib/systemd/system/headstart-gateway.service
UNIT_OF_OBSERVER := lib/systemd/system/headstart-observer.service
DOC      := share/doc/headstart
OF_AGENT := crates/agent
OF_GATEWAY := crates/gateway
OF_OBSERVER := crates/gateway-observe
MAN      := share/man/man1
BASH_COMPLETIONS ?= share/bash-completion/completions
ZSH_COMPLETIONS  ?= share/zsh/site-functions
FISH_COMPLETIONS ?= share/fish/vendor_completions.d
DOCUMENTS = README.md GLOSSARY.md CHANGELOG.md SECURITY.md scripts/README.md $(shell find docs -name '*.md' -o -name '*.json')
INTO      = $(DESTDIR)$(PREFIX)
PROGRAMS := headstart headstart-agent headstart-gateway headstart-lab
OTHERS   := $(filter-out headstart,$(PROGRAMS))
# For Prometheus and Grafana.
WATCHING := prometheus/headstart-agent.rules.yml grafana/headstart-agent.json
WATCHING_GATEWAY := prometheus/headstart-gateway.rules.yml grafana/headstart-gateway.json

install:
	@for program in $(PROGRAMS); do [ -x "$(BINARIES)/$$program" ] || \
		{ echo "no $(BINARIES)/$$program: make build agent" >&2; exit 1; }; done
	for program in $(PROGRAMS); do install -D "$(BINARIES)/$$program" "$(INTO)/bin/$$program" || exit 1; done
	umask 022 && for program in $(PROGRAMS); do \
		"$(INTO)/bin/$$program" man "$(INTO)/$(MAN)" --date "$$(date -u -r CHANGELOG.md +%F)" || exit 1; done
	cd "$(INTO)" && umask 022 && mkdir -p $(BASH_COMPLETIONS) $(ZSH_COMPLETIONS) $(FISH_COMPLETIONS) && \
		bin/headstart completions bash >$(BASH_COMPLETIONS)/headstart && \
		bin/headstart completions zsh >$(ZSH_COMPLETIONS)/_headstart && \
		bin/headstart completions fish >$(FISH_COMPLETIONS)/headstart.fish && \
		for other in $(OTHERS); do ln -sf headstart $(BASH_COMPLETIONS)/$$other && \
			ln -sf headstart.fish $(FISH_COMPLETIONS)/$$other.fish || exit 1; done
	install -D -m 644 $(OF_AGENT)/include/headstart.h "$(INTO)/include/headstart.h"
	install -D -m 644 $(OF_AGENT)/share/headstart-agent.service "$(INTO)/$(UNIT)"
	install -D -m 644 $(OF_GATEWAY)/share/headstart-gateway.service "$(INTO)/$(UNIT_OF_GATEWAY)"
	install -D -m 644 $(OF_OBSERVER)/share/headstart-observer.service "$(INTO)/$(UNIT_OF_OBSERVER)"
	sed -i 's|/usr/bin/|$(PREFIX)/bin/|; s|/usr/$(DOC)/|$(PREFIX)/$(DOC)/|' "$(INTO)/$(UNIT)" "$(INTO)/$(UNIT_OF_GATEWAY)" \
		"$(INTO)/$(UNIT_OF_OBSERVER)"
	install -D -m 644 $(OF_AGENT)/share/agent.toml "$(INTO)/$(DOC)/agent.toml"
	for file in $(WATCHING); do install -D -m 644 $(OF_AGENT)/share/$$file "$(INTO)/share/headstart/$$file" || exit 1; done
	for file in $(WATCHING_GATEWAY); do \
		install -D -m 644 $(OF_GATEWAY)/share/$$file "$(INTO)/share/headstart/$$file" || exit 1; done
	install -m 644 LICENSE-* "$(INTO)/$(DOC)"
	for file in $(DOCUMENTS); do install -D -m 644 $$file "$(INTO)/$(DOC)/$$file" || exit 1; done
	[ -e "$(DESTDIR)$(CONFIG)" ] || install -D -m 644 $(OF_AGENT)/share/agent.toml "$(DESTDIR)$(CONFIG)"

# A container image of the agent, as an archive too: target/image/headstart-agent.tar. Needs podman, docker or buildah.
IMAGE ?= headstart-agent

image: agent
	@tools/need podman=podman
	tools/image $(TARGET)/release/headstart-agent $(TARGET)/image $(IMAGE)

# The same of the gateway: target/image-gateway/headstart-gateway.tar.
image-gateway: gateway
	@tools/need podman=podman
	tools/image $(TARGET)/release/headstart-gateway $(TARGET)/image-gateway

# The agent in a container, by the tests that look at windows and leftovers. Skips plainly where no container can be run.
test-image: image
	HEADSTART_IMAGE=$(IMAGE) tools/test-image

# What `make install` with the same PREFIX and DESTDIR has put there; a configuration that was changed stays.
uninstall:
	cd "$(INTO)" && rm -f $(PROGRAMS:%=bin/%) include/headstart.h $(UNIT) $(UNIT_OF_GATEWAY) $(UNIT_OF_OBSERVER) $(DOC)/LICENSE-* \
		$(MAN)/headstart.1 $(MAN)/headstart-*.1 $(PROGRAMS:%=$(BASH_COMPLETIONS)/%) $(ZSH_COMPLETIONS)/_headstart \
		$(PROGRAMS:%=$(FISH_COMPLETIONS)/%.fish) $(DOC)/README.md $(DOC)/GLOSSARY.md $(DOC)/CHANGELOG.md \
		$(DOC)/SECURITY.md
	cd "$(INTO)" && rm -rf $(DOC)/docs $(DOC)/scripts && rm -f $(WATCHING:%=share/headstart/%) $(WATCHING_GATEWAY:%=share/headstart/%) && \
		rmdir --ignore-fail-on-non-empty -p share/headstart/prometheus share/headstart/grafana 2>/dev/null || true
	! cmp -s "$(INTO)/$(DOC)/agent.toml" "$(DESTDIR)$(CONFIG)" || rm -f "$(DESTDIR)$(CONFIG)"
	rm -f "$(INTO)/$(DOC)/agent.toml"
	rmdir --ignore-fail-on-non-empty "$(INTO)/$(DOC)" "$(DESTDIR)$(dir $(CONFIG))"

# Packages with all programs, in target/package: of what `make build agent` has built, or of BINARIES=folder. They take
# cargo-deb and cargo-generate-rpm, which `cargo install` builds. `make test-deb` installs the .deb in fresh Debian roots.
.PHONY: deb rpm test-deb
PACKAGED := target/package
IN_PACKAGE = $(MAKE) --no-print-directory install PREFIX=/usr DESTDIR="$(PACKAGED)" BINARIES="$(BINARIES)"

deb:
	@command -v cargo-deb >/dev/null || { echo "no cargo-deb: cargo install cargo-deb" >&2; exit 1; }
	@[ "$(BINARIES)" != "$(TARGET)/release" ] || $(MAKE) --no-print-directory build agent
	rm -rf "$(PACKAGED)/usr" "$(PACKAGED)/etc"
	$(IN_PACKAGE) ZSH_COMPLETIONS=share/zsh/vendor-completions
	cargo deb --quiet --locked --no-build $(DEB_FLAGS) --package headstart-agent --output "$(PACKAGED)/"

rpm:
	@command -v cargo-generate-rpm >/dev/null || { echo "no cargo-generate-rpm: cargo install cargo-generate-rpm" >&2; exit 1; }
	@[ "$(BINARIES)" != "$(TARGET)/release" ] || $(MAKE) --no-print-directory build agent
	rm -rf "$(PACKAGED)/usr" "$(PACKAGED)/etc"
	$(IN_PACKAGE)
	cargo generate-rpm --package crates/agent --output "$(PACKAGED)/"

# The .deb in a fresh root of Debian, of each of ROOTS: installed, run, upgraded, removed without trace. Needs root and
# debootstrap, and for the service systemd-nspawn; says what it skipped.
ROOTS ?= bookworm trixie

test-deb:
	@tools/need debootstrap=debootstrap systemd-nspawn=systemd-container
	tools/packages/try-deb "$(PACKAGED)" $(ROOTS)

# Everything that has to hold: unit, property and scenario tests, the check against ns-2 included. What could not be
# tested on this machine is said at the end: tests that are skipped pass. With CI set they fail, but for tools/skips.allowed.
SKIPPED = $(abspath $(TARGET))/skipped

test:
	@tools/need cc=gcc cc=libc6-dev $(FOR_AGENT)
	@tools/need tshark=tshark capinfos=wireshark-common tcpdump=tcpdump tcptrace=tcptrace redis-server=redis-server \
		nginx=nginx-light curl=curl chromium=chromium ping=iputils-ping ip=iproute2 promtool=prometheus go=golang-go \
		python3=python3 /usr/lib/python3/dist-packages=python3-venv unshare=util-linux groff=groff-base mandoc=mandoc zsh=zsh fish=fish
	@mkdir -p "$(TARGET)" && : >"$(SKIPPED)"
	export HEADSTART_SKIPPED="$(SKIPPED)"; code=0; \
		tools/run-tests "$(abspath $(TARGET))" || code=$$?; tools/skipped "$(SKIPPED)"; exit $$code

# The Python package as a wheel in target/wheels, for any Python from 3.9 on; and its tests, in an environment of their own below
# target/python.
.PHONY: wheel test-python
WHEELS := $(abspath $(TARGET))/wheels
VENV   := $(abspath $(TARGET))/python

wheel:
	@tools/need cc=gcc cc=libc6-dev python3=python3
	[ -x "$(VENV)/bin/maturin" ] || { python3 -m venv "$(VENV)" && "$(VENV)/bin/pip" install --quiet "maturin>=1.10,<2"; }
	rm -f $(WHEELS)/*.whl
	cd python && PATH="$(VENV)/bin:$$PATH" CARGO_TARGET_DIR="$(abspath $(TARGET))" maturin build --release --out "$(WHEELS)"

test-python:
	@tools/need cc=gcc cc=libc6-dev
	cargo build --quiet --locked --package headstart-cli --package headstart-lab
	tools/test-python "$(abspath $(TARGET))"

# What takes minutes and needs neither the right to namespaces nor other programs: verdicts on the papers' claims. Of all
# crates, as `make test` builds them, so that nothing is compiled twice.
test-long:
	@tools/need cc=gcc cc=libc6-dev
	members=$$(tools/members) && cargo test $$members --locked --quiet --test lab -- --ignored verdicts

# Tests that take minutes also in a release build: ensembles of flows, and crowds, gigabytes and patience at our endpoint, as root.
# What they print is in docs/validation.
.PHONY: test-slow
test-slow:
	@tools/need cc=gcc cc=libc6-dev curl=curl
	cargo test --release --locked --quiet --package headstart-netsim --test netsim -- --ignored --nocapture
	ulimit -n 4096 && cargo test --release --locked --quiet --package headstart-endpoint --test endpoint \
		--test kernel -- --ignored --nocapture --test-threads 1

# Whether tshark finds the segments that `headstart` finds in a capture of yours: CAPTURE=file.pcap.
.PHONY: test-capture
test-capture:
	@tools/need cc=gcc cc=libc6-dev tshark=tshark
	CAPTURE="$(abspath $(CAPTURE))" cargo test --locked --quiet --package headstart-capture --test capture -- --ignored a_capture_of_yours

# Random scripts in the model of TCP and in the running kernel: SCRIPTS of each kind from SEED on, and those that differ in FOUND.
# Needs root and TUN devices, and a minute of real time for every 2,000 scripts.
.PHONY: fuzz-kernel
SCRIPTS ?= 200
SEED    ?= 1
FOUND   ?= $(TARGET)/fuzz-kernel

fuzz-kernel:
	@tools/need cc=gcc cc=libc6-dev
	cargo build --release --locked --package headstart-lab
	$(TARGET)/release/headstart-lab check fuzz-kernel --scripts "$(SCRIPTS)" --seed "$(SEED)" --keep "$(FOUND)"

# Writes the inputs of fuzz targets that tests compute.
.PHONY: fuzz-corpus
fuzz-corpus:
	cargo test --locked --quiet --package headstart-capture --package headstart-gateway --package headstart-gateway-observe \
		--package headstart-wire -- --ignored write_corpus

# Tests of the agent that take too long for each change: cold starts, flows beside, sessions, scale, and a quick check. Needs
# root, and half an hour of real time.
.PHONY: test-agent-long
test-agent-long:
	@tools/need cc=gcc cc=libc6-dev $(FOR_AGENT)
	cargo test --locked --quiet --package headstart-agent --test kernel -- --ignored --nocapture --test-threads 1 \
		cold:: scale:: session:: stale::
	cargo test --locked --quiet --package headstart-agent --package headstart-lab -- --ignored --nocapture \
		a_quick_check_of_the_agent_holds

# Which changes of the modules in tools/mutants.list no test notices; survivors with a reason are in tools/mutants.accepted. Takes
# cargo-mutants. SHARD=2/8 takes the third eighth of each module, ONLY=codel the modules of that name, and the time is bounded; the next
# run goes on with what is left.
.PHONY: mutants
SHARD   ?= 0/1
MINUTES ?= 60
ONLY    ?=

mutants:
	@tools/need cc=gcc cc=libc6-dev python3=python3
	@tools/mutants --shard "$(SHARD)" --minutes "$(MINUTES)" --only "$(ONLY)" --into "$(abspath $(TARGET))/mutants"

# The agent on other kernels: Debian's, each booted in an emulated machine, with the tests of any kernel in it, which need
# no real time. Fetched from Debian's archives into target/kernels, nothing is installed but QEMU. KERNELS="6.1 newest"
# takes some of them; the quick target takes the oldest, Debian's stable one and the newest. About two minutes a kernel
# without KVM.
KERNELS ?= all
FOR_KERNELS := qemu-system-x86_64=qemu-system-x86 busybox=busybox-static cpio=cpio ldd=libc-bin strip=binutils \
	zstd=zstd /usr/share/keyrings/debian-archive-keyring.gpg=debian-archive-keyring

test-kernels:
	@tools/need cc=gcc cc=libc6-dev python3=python3 $(FOR_AGENT) $(FOR_KERNELS)
	tools/kernels/run $(KERNELS)

test-kernels-quick:
	@$(MAKE) --no-print-directory test-kernels KERNELS="6.1 6.12 newest"

# Upgrades of the agent under load: a hundred of them under 200 live transfers, and some under 1,000. Counts each start. Needs
# root, and some minutes of real time; the short ones are in `make test`.
.PHONY: test-upgrades
test-upgrades:
	@tools/need cc=gcc cc=libc6-dev $(FOR_AGENT)
	cargo test --locked --quiet --package headstart-agent --test kernel -- --ignored --nocapture --test-threads 1 live::

# Whether the agent is anywhere slower than stock Linux: about 80 cells of answers and paths, by the kernel. Needs root, the
# agent's control that no other agent holds, and about 40 minutes of real time. CELLS=10 takes the ten quickest cells, CELLS=loss
# those with random loss. `headstart lab check harm` simulates the same cells in less than a minute.
.PHONY: test-harm
test-harm: build agent
	$(TARGET)/release/headstart-lab check harm --on kernel $(CELLS:%=--cells "%")

# Cold starts with more than a stock window beside the kernel's CUBIC, by turns. Needs root, and minutes of real time.
.PHONY: test-cold
test-cold:
	@tools/need cc=gcc cc=libc6-dev $(FOR_AGENT)
	cargo test --locked --quiet --package headstart-agent --test kernel -- --ignored --nocapture wide::

# What a gateway gains: first visits to servers that know nothing of the visitor, whose network another server of the site knows,
# beside the physical limit. Needs root, and minutes of real time.
.PHONY: measure-gateway
measure-gateway:
	@tools/need cc=gcc cc=libc6-dev $(FOR_AGENT)
	cargo test --locked --quiet --package headstart-agent --test kernel -- --ignored --nocapture gateway::measured

# The same for four servers in namespaces of their own, path by path, beside the simulation of the same race, with the bounds that it has to keep:
# the table of docs/validation/site-gain.md. Needs root, and half an hour of real time.
.PHONY: measure-site
measure-site: build agent
	tools/site-gain --headstart $(TARGET)/release/headstart

# Whether forecasts from captures come true in the kernel: the table of docs/validation/forecasts.md. Needs root, and ten minutes of real time.
.PHONY: measure-forecast
measure-forecast: build agent
	tools/forecasts --headstart $(TARGET)/release/headstart

# The same where connections crowd a line: CUBIC's capture foretells BBR's times, and BBR's foretells CUBIC's. Needs root, and two minutes
# of real time.
.PHONY: measure-crowded
measure-crowded: build
	@tools/need nginx=nginx-light curl=curl tc=iproute2 ethtool=ethtool
	tools/crowded --headstart $(TARGET)/release/headstart

# What gateways cost that fail: killed a hundred times, cut off, far away, late; each beside an agent that has none. Needs root, and
# ten minutes of real time; the short one is in `make test`.
.PHONY: test-gateway-harm
test-gateway-harm:
	@tools/need cc=gcc cc=libc6-dev $(FOR_AGENT)
	cargo test --locked --quiet --package headstart-agent --test kernel -- --ignored --nocapture gateway::harm::measured

# How often the agent's canary would stop, or claim a gain, where warm starts change nothing: ten thousand operators who look
# for a month; the same for shapes of times that break means; and how soon it finds what warm starts do change, also on mixed
# sites. Half an hour of two processors; OPERATORS=500 is quicker.
OPERATORS ?= 10000

test-canary:
	@tools/need cc=gcc cc=libc6-dev
	cargo run --release --locked --quiet --package headstart-canary --example operators -- $(OPERATORS)

# Policies are modules that the list of their kind declares (`start_ups!`), which `cargo fmt` does not see.
LISTED := $(wildcard crates/policy/src/*/*.rs crates/policy/src/*/*/mod.rs)

# Only cargo-fuzz links fuzz targets, so checks of them compile no libFuzzer: there is no library of this name.
NO_LIBFUZZER := CUSTOM_LIBFUZZER_PATH=/nowhere/libfuzzer.a

# An example among what is documented brings the features of the tests, with which clippy has checked all dependencies.
lint:
	@tools/need python3=python3
	tools/prose --self-test && tools/prose && tools/prose --subjects
	tools/circles --self-test && tools/circles
	tools/names --self-test && tools/names
	tools/signatures --self-test && tools/signatures
	tools/mutants --self-test
	tools/ignored
	cargo fmt --all --check
	rustfmt --check $(LISTED)
	members=$$(tools/members all) && $(NO_LIBFUZZER) cargo clippy $$members --all-targets --locked --quiet -- -D warnings
	members=$$(tools/members) && RUSTDOCFLAGS="-D warnings" cargo doc $$members --lib --bins --example read --no-deps --locked --quiet
	@if command -v cargo-deny >/dev/null; then cargo deny --offline check --hide-inclusion-graph bans licenses sources; \
		else echo "left out: licences and sources of packages (deny.toml), no cargo-deny: cargo install cargo-deny" >&2; fi

# The fuzz targets alone, as lint has them with all other code.
.PHONY: fuzz-build
fuzz-build:
	$(NO_LIBFUZZER) cargo clippy --package headstart-fuzz --bins --locked --quiet -- -D warnings

# Sections of RFCs that comments cite, with the lines: RFC="6675 8985", or all.
.PHONY: spec
spec:
	@tools/need python3=python3
	@tools/spec $(RFC)

# Has git check the subject of each commit, as lint does. Leaves a hook of another origin as it is.
.PHONY: hooks
hooks:
	@hook="$$(git rev-parse --git-path hooks)/commit-msg"; \
		if [ -e "$$hook" ] && ! grep -q "tools/prose --message" "$$hook"; then \
			echo "$$hook exists: let it run tools/commit-msg" >&2; exit 1; fi; \
		install -D -m 755 tools/commit-msg "$$hook"

fmt:
	cargo fmt --all
	rustfmt $(LISTED)

# Adds the start-up of CONTRIBUTING.md to a copy of the sources, as its text says, and looks for it wherever policies are listed.
test-contributing:
	@tools/need cc=gcc cc=libc6-dev python3=python3
	tools/adds-a-start-up "$(abspath $(TARGET))"

# CPU time of three dumbbells and of short flows beside ns-2's in the same run; what the emulator
# moves and how exactly, where there are TUN devices and the right to them.
bench:
	cargo build --release --locked --quiet --package headstart-netsim --examples
	cargo build --release --locked --quiet --package headstart-emulator --examples
	@tools/bench/simulator $(TARGET)/release/examples
	@$(TARGET)/release/examples/real_time

# Speed of the endpoint towards the kernel's TCP, beside smoltcp's in the same run. Needs root.
bench-endpoint:
	cargo run --release --locked --quiet --package headstart-endpoint --example speed

# What reading a capture takes, beside tcptrace, capinfos and tshark in the same run: CAPTURE=file.pcap, or those of the tests.
bench-capture:
	@tools/need capinfos=wireshark-common tcptrace=tcptrace zstd=zstd
	cargo build --release --locked --quiet --package headstart-capture --example read
	@tools/bench/capture $(TARGET)/release/examples/read $(CAPTURE)

# What rebuilding all senders of a capture takes, beside tcptrace and tshark in the same run: CAPTURE=file.pcap, or those of the tests.
bench-trace:
	@tools/need capinfos=wireshark-common tcptrace=tcptrace tshark=tshark zstd=zstd
	cargo build --release --locked --quiet --package headstart-trace --example trace_speed
	@tools/bench/trace $(TARGET)/release/examples/trace_speed $(CAPTURE)

# What a gateway takes and answers in a second of processor time, beside Redis in the same run; and how long a restart with ten
# million networks takes, and how much memory.
.PHONY: bench-gateway
bench-gateway:
	@tools/need cc=gcc cc=libc6-dev redis-server=redis-server
	cargo run --release --locked --quiet --package headstart-gateway --example gateway_load
	cargo run --release --locked --quiet --package headstart-memory --example site_memory

# How large a fleet a gateway serves: the reports, questions and comparisons of a site's servers against the gateway's engine, for half
# an hour of simulated time, with room for all networks and with less. A site of 10,000 servers, 100 sites and 50 million networks:
# SHARE="1 100 500000 15 1800 2000000".
SHARE ?= 1 20 100000 15 1800 400000,100000,25000
.PHONY: size-gateway
size-gateway:
	cargo run --release --locked --quiet --package headstart-gateway --example gateway_size -- $(SHARE)

# Three gateways over one Redis server, which are killed one after the other while six agents send 20,000 reports and ask 2,000
# questions a second: how long an agent goes without an answer, and which reports count how often. A minute.
.PHONY: bench-gateway-failover
bench-gateway-failover:
	@tools/need cc=gcc cc=libc6-dev redis-server=redis-server
	cargo run --release --locked --quiet --package headstart-gateway --example gateway_failover

# Bulk data through the agent's congestion controls beside the kernel's own in the same run, by turns. Needs root.
bench-agent:
	@tools/need cc=gcc cc=libc6-dev $(FOR_AGENT)
	cargo test --locked --quiet --package headstart-agent --test kernel -- --ignored --nocapture bulk

clean:
	cargo clean
