# A short front for meson.  `make` leaves the command at build/cordon.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
root = $(if $(DESTDIR),$(abspath $(DESTDIR)))
# Seconds per target of `make fuzz`.
FUZZ_SECONDS ?= 30

MAKEFLAGS += --no-print-directory
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
MESON_SETUP = meson setup --prefix '$(PREFIX)'
# By itself: the comma would be one of $(call).
ASAN_SETUP = CC=clang $(MESON_SETUP) -Dwerror=true -Db_sanitize=address,undefined -Db_lundef=false $(BUILD)-asan
# $(call quietly,COMMAND): meson says everything on standard output; of a failure its reason is shown, and how it is mostly mended.
quietly = said=$$({ $(1); } 2>&1) || { grep 'ERROR:' <<<"$$said" || tail -n 3 <<<"$$said"; \
	echo "make: if something is not there: 'tools/setup build' installs it (Debian, Ubuntu)"; exit 1; } >&2
# $(call ninja,DIR): says nothing when there is nothing to do.
ninja = $(call quietly,ninja -C $(1) build.ninja) && ninja -C $(1) --quiet -k 0 | sed '/^ninja: no work to do/d'
# $(call configured,OPTION,VALUE): is the build directory configured so?
configured = meson introspect --buildoptions $(BUILD) | python3 -c 'import json, sys; \
	sys.exit({o["name"]: str(o["value"]) for o in json.load(sys.stdin)}["$(1)"] != "$(2)")'

.DEFAULT_GOAL := build
.PHONY: build werror asan fuzz-build demo check lint format install uninstall bench soak quality guest mutate fuzz docs clean

build: $(BUILD)/build.ninja
	@$(call ninja,$(BUILD))

$(BUILD)/build.ninja:
	@$(call quietly,$(MESON_SETUP) $(BUILD))

# What `make check` builds: the same directory, from now on with warnings as errors.
werror: $(BUILD)/build.ninja
	@$(call configured,werror,True) || $(call quietly,meson configure -Dwerror=true $(BUILD))
	@$(call ninja,$(BUILD))

# clang, so that the tree is also clean under the other compiler.
asan: $(BUILD)-asan/build.ninja
	@$(call ninja,$(BUILD)-asan)

$(BUILD)-asan/build.ninja:
	@$(call quietly,$(ASAN_SETUP))

fuzz-build: $(BUILD)-fuzz/build.ninja
	@$(call ninja,$(BUILD)-fuzz)

$(BUILD)-fuzz/build.ninja:
	@$(call quietly,CC=clang $(MESON_SETUP) -Dfuzz=true -Db_lundef=false $(BUILD)-fuzz)

demo:
	@tools/setup build
	@$(MAKE) build
	@BUILDDIR='$(BUILD)' tools/demo

# tools/check builds too, so that a build that fails is counted like any failed test.
check:
	@tools/setup check || { echo '0 passed, 1 failed, 0 skipped'; exit 1; }
	@tools/check --build-dir '$(BUILD)'

lint:
	@tools/setup check
	@tools/check --build-dir '$(BUILD)' --no-build --only lint

format:
	@git ls-files -co --exclude-standard -- '*.c' '*.h' | xargs -r clang-format -i

# The prefix is fixed when meson is configured and stands in one file of the program: configure and build for the one that is asked for.
install: $(BUILD)/build.ninja
	@$(call configured,prefix,$(PREFIX)) || $(call quietly,meson configure --prefix '$(PREFIX)' $(BUILD))
	@$(call ninja,$(BUILD))
	@DESTDIR='$(root)' meson install -C $(BUILD) --no-rebuild --quiet

# Removes what an installation into an empty place puts there: no second list.
uninstall: $(BUILD)/build.ninja
	@$(call configured,prefix,$(PREFIX)) || { echo "make: $(BUILD) is not made for '$(PREFIX)'; name the PREFIX of the installation" >&2; exit 1; }
	@place=$$(mktemp -d) && trap 'rm -rf -- "$$place"' EXIT && \
	DESTDIR="$$place" meson install -C $(BUILD) --no-rebuild --quiet && cd '$(root)/' && \
	find "$$place" ! -type d -printf '%P\0' | xargs -0 rm -f -- && \
	find "$$place" -depth -type d -name cordon -printf '%P\0' | xargs -0 rmdir --ignore-fail-on-non-empty --

bench:
	@tools/setup bench
	@$(MAKE) build
	@BUILDDIR='$(BUILD)' tools/bench
	@CORDON='$(abspath $(BUILD))/cordon' tools/bench-engines
	@CORDON='$(abspath $(BUILD))/cordon' tools/bench-wasm
	@CORDON='$(abspath $(BUILD))/cordon' tools/bench-machines

soak quality: build
	@BUILDDIR='$(BUILD)' tools/$@

# A Debian 12 kernel under QEMU runs a part of the tests.
guest: build
	@ENGINES=all tools/setup check
	@ENGINES=all tools/check --no-build --build-dir '$(BUILD)' --only qemu

# Takes protections away one at a time; a test has to notice.  ONLY=N[,N...] tries some.
mutate:
	@tools/setup check
	@tests/mutation/run $(if $(ONLY),--only $(ONLY))

fuzz:
	@tools/setup check
	@$(MAKE) fuzz-build
	@tools/fuzz $(BUILD)-fuzz $(FUZZ_SECONDS)

docs: build
	@ls $(BUILD)/man/*.[0-9] $(BUILD)/completions/*

clean:
	@rm -rf -- $(BUILD) $(BUILD)-asan $(BUILD)-fuzz
