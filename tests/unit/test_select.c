/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selection as a table: a machine (which backends, what each can give), a request, and the answer.
 * The machine is text, so that branches which no single machine shows can all be reached.
 */
#include "backend/isolation.h"
#include "backend/registry.h"
#include "backend/select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define G(id) GUARANTEE_BIT(id)
#define BASIC (G(WALL_CLOCK) | G(OUTPUT_LIMIT) | G(OPEN_FILES) | G(ENV_SCRUB))
#define SCOPE (G(READ_SCOPE) | G(WRITE_SCOPE) | G(NET_DENY))
#define DEFAULTS (SCOPE | G(PRIVATE_TMP) | G(HIDE_METADATA))

/* What a machine's word after '=' stands for. */
static const struct {
	const char *word;
	bool is_available;
	guarantee_set guarantees;
} abilities[] = {
	{"all", true, GUARANTEE_ALL},
	{"basic", true, BASIC},
	{"scope", true, BASIC | SCOPE},
	{"nonet", true, GUARANTEE_ALL & ~G(NET_ALLOWLIST)},
	{"nomem", true, GUARANTEE_ALL & ~G(MEMORY_TREE)},
	{"notmp", true, GUARANTEE_ALL & ~(G(PRIVATE_TMP) | G(HIDE_METADATA))},
	{"off", false, GUARANTEE_NONE},
	/* A probe must not claim these while it says "not available"; select must not believe it. */
	{"liar", false, GUARANTEE_ALL},
};

static struct cordon_backend fakes[BACKEND_COUNT];

/* Reads "native=all docker=off". */
static size_t machine_read(const char *text, struct candidate ret[static BACKEND_COUNT])
{
	size_t count = 0;

	while (*text) {
		char name[32];
		char word[32];
		size_t name_len = strcspn(text, "=");
		size_t word_len;
		const struct backend_info *info;
		size_t i = 0;

		(void)snprintf(name, sizeof(name), "%.*s", (int)name_len, text);
		text += name_len + 1;
		word_len = strcspn(text, " ");
		(void)snprintf(word, sizeof(word), "%.*s", (int)word_len, text);
		text += word_len + strspn(text + word_len, " ");
		info = backend_info_find(name);
		assert_non_null(info);
		while (i < ARRAY_LEN(abilities) && strcmp(abilities[i].word, word) != 0)
			i++;
		assert_true(i < ARRAY_LEN(abilities));
		fakes[info->id].info = info;
		ret[count] = (struct candidate){.backend = &fakes[info->id]};
		ret[count].probe.is_available = abilities[i].is_available;
		ret[count].probe.guarantees = abilities[i].guarantees;
		(void)snprintf(ret[count].probe.reason, PROBE_REASON_MAX, "%s",
			       abilities[i].is_available ? "works" : "install the fake engine");
		count++;
	}
	return count;
}

struct row {
	const char *what;
	const char *machine;
	enum level floor;
	const char *backend;
	guarantee_set needs;
	guarantee_set give_up;
	int want_code;
	const char *want; /* the backend, or a part of the error */
	guarantee_set want_degraded;
};

#define FULL                                                                                       \
	"firecracker=all qemu=all gvisor=all docker=all podman=all wasm=all native=all bwrap=all landlock=notmp noop=basic"
#define NO CORDON_E_NO_BACKEND
#define BAD CORDON_E_INVALID

static const struct row rows[] = {
	/* auto: the strongest of the floor's level */
	{"auto none", FULL, LEVEL_NONE, "auto", 0, 0, 0, "noop", 0},
	{"auto process", FULL, LEVEL_PROCESS, "auto", SCOPE, 0, 0, "native", 0},
	{"auto wasm", FULL, LEVEL_WASM, "auto", SCOPE, 0, 0, "wasm", 0},
	{"auto container", FULL, LEVEL_CONTAINER, "auto", SCOPE, 0, 0, "gvisor", 0},
	{"auto vm", FULL, LEVEL_VM, "auto", SCOPE, 0, 0, "firecracker", 0},
	{"no name means auto", FULL, LEVEL_PROCESS, NULL, SCOPE, 0, 0, "native", 0},
	{"order of the list does not matter", "landlock=all bwrap=all native=all", LEVEL_PROCESS,
	 "auto", SCOPE, 0, 0, "native", 0},
	{"next in strength when the best is off", "native=off bwrap=all landlock=all",
	 LEVEL_PROCESS, "auto", SCOPE, 0, 0, "bwrap", 0},
	{"next in strength when the best lacks something", "native=nonet bwrap=nonet nsjail=all",
	 LEVEL_PROCESS, "auto", G(NET_ALLOWLIST), 0, 0, "nsjail", 0},
	{"docker before podman", "podman=all docker=all", LEVEL_CONTAINER, "auto", SCOPE, 0, 0,
	 "docker", 0},
	{"qemu when firecracker is off", "firecracker=off qemu=all", LEVEL_VM, "auto", SCOPE, 0, 0,
	 "qemu", 0},
	/* auto: the next level up */
	{"up from none when noop cannot hold it", "noop=basic native=all docker=all", LEVEL_NONE,
	 "auto", SCOPE, 0, 0, "native", 0},
	{"up from process to container", "native=off docker=all noop=basic", LEVEL_PROCESS, "auto",
	 SCOPE, 0, 0, "docker", 0},
	{"up by lack of a guarantee", "native=nomem landlock=nomem docker=all qemu=all",
	 LEVEL_PROCESS, "auto", G(MEMORY_TREE), 0, 0, "docker", 0},
	{"up two levels", "native=off docker=off qemu=all", LEVEL_PROCESS, "auto", SCOPE, 0, 0,
	 "qemu", 0},
	{"the next level up, not the highest", "native=off wasm=all docker=all qemu=all",
	 LEVEL_PROCESS, "auto", SCOPE, 0, 0, "wasm", 0},
	/* never down */
	{"not below the floor: process", "noop=basic", LEVEL_PROCESS, "auto", 0, 0, NO,
	 "noop: below the level floor 'process'", 0},
	{"not below the floor: vm", "native=all docker=all", LEVEL_VM, "auto", SCOPE, 0, NO,
	 "docker: below the level floor 'vm'", 0},
	{"not below the floor even with every guarantee", "noop=all", LEVEL_PROCESS, "auto", 0, 0,
	 NO, "noop: below", 0},
	{"noop does not hold a scope", "noop=basic", LEVEL_NONE, "auto", SCOPE, 0, NO,
	 "noop: cannot give read-scope, write-scope, net-deny", 0},
	{"noop does not hold a memory limit", "noop=basic", LEVEL_NONE, "auto", G(MEMORY_TREE), 0,
	 NO, "noop: cannot give memory-tree", 0},
	{"noop holds time, output, files, environment", "noop=basic", LEVEL_NONE, "auto", BASIC, 0,
	 0, "noop", 0},
	{"nothing built", "", LEVEL_NONE, "auto", 0, 0, NO, "no backends", 0},
	{"all off", "native=off docker=off", LEVEL_PROCESS, "auto", 0, 0, NO,
	 "native: not available: install the fake engine; docker: not available", 0},
	{"not available but claims guarantees", "native=liar", LEVEL_PROCESS, "auto", SCOPE, 0, NO,
	 "native: not available", 0},
	{"each candidate's own reason", "native=off landlock=scope noop=basic", LEVEL_PROCESS,
	 "auto", SCOPE | G(PIDS), 0, NO, "landlock: cannot give pids; noop: below", 0},
	/* strongest */
	{"strongest from none", FULL, LEVEL_NONE, "strongest", 0, 0, 0, "firecracker", 0},
	{"strongest from process", FULL, LEVEL_PROCESS, "strongest", SCOPE, 0, 0, "firecracker", 0},
	{"strongest that can hold it", "firecracker=nonet gvisor=nonet docker=all native=all",
	 LEVEL_PROCESS, "strongest", G(NET_ALLOWLIST), 0, 0, "docker", 0},
	{"strongest falls to noop at none", "native=off noop=basic", LEVEL_NONE, "strongest", 0, 0,
	 0, "noop", 0},
	{"strongest keeps the floor", "noop=basic native=all", LEVEL_CONTAINER, "strongest", 0, 0,
	 NO, "native: below the level floor 'container'", 0},
	{"strongest with nothing there", "native=off noop=basic", LEVEL_PROCESS, "strongest", 0, 0,
	 NO, "native: not available", 0},
	/* by name */
	{"named", FULL, LEVEL_PROCESS, "bwrap", SCOPE, 0, 0, "bwrap", 0},
	{"named above the floor", FULL, LEVEL_PROCESS, "qemu", SCOPE, 0, 0, "qemu", 0},
	{"named below the floor", FULL, LEVEL_CONTAINER, "native", SCOPE, 0, NO,
	 "backend native: below the level floor 'container'", 0},
	{"named noop below the floor", FULL, LEVEL_PROCESS, "noop", 0, 0, NO,
	 "backend noop: below the level floor 'process'", 0},
	{"named but off, others there", "native=all docker=off", LEVEL_PROCESS, "docker", SCOPE, 0,
	 NO, "backend docker: not available: install the fake engine", 0},
	{"named but lacks a guarantee, others have it", "native=all docker=nonet", LEVEL_PROCESS,
	 "docker", G(NET_ALLOWLIST), 0, NO, "backend docker: cannot give net-allowlist", 0},
	{"named but not in this build", "native=all", LEVEL_PROCESS, "docker", SCOPE, 0, NO,
	 "backend 'docker' is not part of this build", 0},
	{"named but unknown", "native=all", LEVEL_PROCESS, "dokcer", SCOPE, 0, BAD,
	 "unknown backend 'dokcer' (did you mean 'docker'?)", 0},
	{"unknown and near to nothing", "native=all", LEVEL_PROCESS, "kubernetes", SCOPE, 0, BAD,
	 "unknown backend 'kubernetes'", 0},
	{"mistyped auto", "native=all", LEVEL_PROCESS, "autp", SCOPE, 0, BAD, "did you mean 'auto'",
	 0},
	{"empty name", "native=all", LEVEL_PROCESS, "", SCOPE, 0, BAD, "unknown backend ''", 0},
	{"case counts", "native=all", LEVEL_PROCESS, "Native", SCOPE, 0, BAD,
	 "did you mean 'native'", 0},
	/* what the built-in default may give up */
	{"default gives up private-tmp and hide-metadata", "landlock=notmp", LEVEL_PROCESS, "auto",
	 DEFAULTS, SELECT_DEFAULT_GIVES_UP, 0, "landlock", G(PRIVATE_TMP) | G(HIDE_METADATA)},
	{"nothing given up where nothing is lacking", "native=all landlock=notmp", LEVEL_PROCESS,
	 "auto", DEFAULTS, SELECT_DEFAULT_GIVES_UP, 0, "native", 0},
	{"a written policy gives up nothing", "landlock=notmp", LEVEL_PROCESS, "auto", DEFAULTS, 0,
	 NO, "landlock: cannot give private-tmp, hide-metadata", 0},
	{"giving up covers nothing else", "landlock=notmp", LEVEL_PROCESS, "auto",
	 DEFAULTS | G(PRIVATE_TMP), G(HIDE_METADATA), NO, "landlock: cannot give private-tmp", 0},
	{"what is not needed is not degraded", "landlock=notmp", LEVEL_PROCESS, "auto", SCOPE,
	 SELECT_DEFAULT_GIVES_UP, 0, "landlock", 0},
	{"named may give up too", "native=all landlock=notmp", LEVEL_PROCESS, "landlock", DEFAULTS,
	 SELECT_DEFAULT_GIVES_UP, 0, "landlock", G(PRIVATE_TMP) | G(HIDE_METADATA)},
	{"the level is kept before nothing is given up", "landlock=notmp docker=all", LEVEL_PROCESS,
	 "auto", DEFAULTS, SELECT_DEFAULT_GIVES_UP, 0, "landlock",
	 G(PRIVATE_TMP) | G(HIDE_METADATA)},
	/* our own bugs stop the operation */
	{"a level that does not exist", FULL, LEVEL_COUNT, "auto", 0, 0, BAD, "no such level", 0},
	{"a guarantee that does not exist", FULL, LEVEL_NONE, "auto", (guarantee_set)1 << 63, 0,
	 BAD, "no such level or guarantee", 0},
};

static void test_select(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *row = &rows[i];
		struct candidate machine[BACKEND_COUNT];
		size_t count = machine_read(row->machine, machine);
		struct select_request request = {row->floor, row->backend, row->needs,
						 row->give_up};
		struct selection got = {0};
		struct cordon_error err = {0};
		int r = backend_select(machine, count, &request, &got, &err);
		const char *answer = r == 0 ? got.backend->info->name : err.message;
		bool is_right = r == row->want_code && got.degraded == row->want_degraded &&
				(r == 0 ? strcmp(answer, row->want) == 0 && got.reason[0] != '\0'
					: strstr(answer, row->want) != NULL && err.code == r);

		if (!is_right)
			fail_msg("%s: got %d '%s', want %d '%s'", row->what, r, answer,
				 row->want_code, row->want);
		if (r == 0)
			assert_true(got.guarantees & ~got.degraded || row->needs == 0);
	}
	assert_true(ARRAY_LEN(rows) >= 40);
}

/* Whatever the machine: an answer is at or above the floor, available, and gives all that is needed. */
static void test_select_never_weakens(void **state)
{
	static const enum backend_id ids[] = {BACKEND_QEMU, BACKEND_DOCKER, BACKEND_NATIVE,
					      BACKEND_LANDLOCK, BACKEND_NOOP};
	static const char *const requests[] = {"auto", "strongest", "native"};
	size_t combinations = 1;
	size_t answered = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ids); i++)
		combinations *= ARRAY_LEN(abilities);
	for (size_t n = 0; n < combinations * LEVEL_COUNT * ARRAY_LEN(requests); n++) {
		size_t rest = n;
		struct select_request request = {.needs = SCOPE | G(MEMORY_TREE)};
		struct candidate machine[BACKEND_COUNT];
		struct selection got = {0};

		request.floor = (enum level)(rest % LEVEL_COUNT);
		rest /= LEVEL_COUNT;
		request.backend = requests[rest % ARRAY_LEN(requests)];
		rest /= ARRAY_LEN(requests);
		for (size_t i = 0; i < ARRAY_LEN(ids); i++, rest /= ARRAY_LEN(abilities)) {
			fakes[ids[i]].info = &backend_infos[ids[i]];
			machine[i] = (struct candidate){.backend = &fakes[ids[i]]};
			machine[i].probe.is_available =
				abilities[rest % ARRAY_LEN(abilities)].is_available;
			machine[i].probe.guarantees =
				abilities[rest % ARRAY_LEN(abilities)].guarantees;
		}
		if (backend_select(machine, ARRAY_LEN(ids), &request, &got, NULL) < 0)
			continue;
		answered++;
		assert_true(got.backend->info->level >= request.floor);
		assert_int_equal(request.needs & ~got.guarantees, 0);
		for (size_t i = 0; i < ARRAY_LEN(ids); i++)
			if (machine[i].backend == got.backend)
				assert_true(machine[i].probe.is_available);
	}
	assert_true(answered > 0);
}

static const struct {
	const char *what;
	const char *machine;
	enum isolation isolation;
	const char *want;
	const char *want_reason;
} isolation_rows[] = {
	{"off", "landlock=all docker=all", ISOLATION_OFF, "none", "sandbox disabled by user"},
	{"off with nothing", "", ISOLATION_OFF, "none", "sandbox disabled by user"},
	{"maximum with docker", "landlock=all docker=all", ISOLATION_MAXIMUM, "docker",
	 "maximum isolation via container"},
	{"container with docker", "landlock=all docker=all", ISOLATION_CONTAINER, "docker",
	 "container isolation requested"},
	{"maximum without docker", "landlock=all docker=off", ISOLATION_MAXIMUM, "landlock",
	 "Linux Landlock + seccomp (zero overhead)"},
	{"container without docker", "landlock=all", ISOLATION_CONTAINER, "landlock",
	 "Linux Landlock + seccomp (zero overhead)"},
	{"default", "landlock=all nsjail=all bwrap=all docker=all", ISOLATION_DEFAULT, "landlock",
	 "Linux Landlock + seccomp (zero overhead)"},
	{"enhanced", "landlock=all nsjail=all bwrap=all docker=all", ISOLATION_ENHANCED, "landlock",
	 "Linux Landlock + seccomp (zero overhead)"},
	{"native in landlock's place", "native=all landlock=all docker=all", ISOLATION_DEFAULT,
	 "native", "Linux namespaces + Landlock + seccomp"},
	{"native off", "native=off landlock=all", ISOLATION_DEFAULT, "landlock",
	 "Linux Landlock + seccomp (zero overhead)"},
	{"native in landlock's place, no docker for maximum", "native=all docker=off",
	 ISOLATION_MAXIMUM, "native", "Linux namespaces + Landlock + seccomp"},
	{"nsjail", "landlock=off nsjail=all bwrap=all docker=all", ISOLATION_DEFAULT, "nsjail",
	 "nsjail (namespaces + seccomp + cgroups)"},
	{"bwrap", "landlock=off nsjail=off bwrap=all docker=all", ISOLATION_DEFAULT, "bwrap",
	 "bubblewrap (user namespaces)"},
	{"docker last", "landlock=off docker=all", ISOLATION_DEFAULT, "docker",
	 "Docker container (fallback)"},
	{"docker last for enhanced", "docker=all noop=basic", ISOLATION_ENHANCED, "docker",
	 "Docker container (fallback)"},
	{"nothing", "landlock=off nsjail=off bwrap=off docker=off", ISOLATION_DEFAULT, "none",
	 "no sandbox backend available"},
	{"noop is no sandbox", "noop=basic", ISOLATION_MAXIMUM, "none",
	 "no sandbox backend available"},
};

static void test_isolation(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(isolation_rows); i++) {
		struct candidate machine[BACKEND_COUNT];
		size_t count = machine_read(isolation_rows[i].machine, machine);
		struct isolation_choice got =
			select_isolation(isolation_rows[i].isolation, machine, count);

		if (strcmp(got.backend, isolation_rows[i].want) != 0 ||
		    strcmp(got.reason, isolation_rows[i].want_reason) != 0)
			fail_msg("%s: got %s '%s'", isolation_rows[i].what, got.backend,
				 got.reason);
	}
}

static void test_isolation_names(void **state)
{
	enum isolation isolation;

	(void)state;
	for (int i = 0; i < ISOLATION_COUNT; i++) {
		assert_int_equal(isolation_from_name(isolation_name((enum isolation)i), &isolation),
				 0);
		assert_int_equal(isolation, i);
	}
	assert_true(isolation_from_name("most", &isolation) < 0);
	assert_string_equal(isolation_name(ISOLATION_COUNT), "invalid");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_select_never_weakens),
		cmocka_unit_test(test_isolation),
		cmocka_unit_test(test_isolation_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
