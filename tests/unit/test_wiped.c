/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call printed of its secrets is not left behind in memory: no block that is given back while a stream is
 * searched, or after it, still has a word of the value.  Linked with --wrap for free() and realloc(), which look.
 */
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "core/screen.h"
#include "run/relay.h"
#include "run/vtfilter.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define VALUE "ghp_x7Kd9QmPz3LvN2wYb8RtC5sJfA1uEhG4oX6"
#define WORD "mPz3LvN2wYb8" /* of it */

void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);

/* The compiler knows of free() that it changes no variables. */
static volatile bool is_watching;
static volatile size_t blocks, unwiped;

static void look(const void *p)
{
	if (!is_watching || !p)
		return;
	blocks++;
	unwiped += memmem(p, malloc_usable_size((void *)(uintptr_t)p), WORD, strlen(WORD)) != NULL;
}

void *__wrap_realloc(void *p, size_t size)
{
	look(p); /* it may stay where it is, and it may not */
	return __real_realloc(p, size);
}

void __wrap_free(void *p)
{
	look(p);
	__real_free(p);
}

static void watch(void)
{
	blocks = unwiped = 0;
	is_watching = true;
}

static void watched(const char *what)
{
	is_watching = false;
	assert_true(blocks > 0);
	if (unwiped > 0)
		fail_msg("%s: %zu of %zu blocks", what, unwiped, blocks);
}

static struct secret_grant item = {.name = (char *)(uintptr_t) "NAME", .value = VALUE};
static struct secret_grants grants = {.items = &item, .n = 1};

static int stage_feed(void *data, const char *bytes, size_t len, struct buf *out)
{
	return needle_feed(data, bytes, len, out);
}

static int stage_quiet(void *data, struct buf *out)
{
	return needle_quiet(data, out);
}

static int stage_end(void *data, struct buf *out)
{
	return needle_end(data, out);
}

static int stage_cut(void *data, struct buf *out)
{
	return needle_cut(data, out);
}

static size_t stage_held(const void *data)
{
	return needle_held(data);
}

/* The test's own eyes. */
static void test_control(void **state)
{
	void (*volatile give_back)(void *) = free; /* or the compiler sees that nobody reads it */
	char *p = malloc(64);

	(void)state;
	assert_non_null(p);
	memcpy(p, VALUE, sizeof(VALUE));
	watch();
	give_back(p);
	is_watching = false;
	assert_int_equal(unwiped, 1);
}

static void test_needle(void **state)
{
	struct needle_screen *s = NULL;
	struct needles *n = NULL;
	struct buf out = BUF_INIT(1 << 20);
	char padding[LIMIT_NEEDLE_PIECE] = "";

	(void)state;
	assert_int_equal(needles_new(&grants, &n), 0);
	assert_int_equal(needle_screen_new(n, SECRET_REDACT, &s), 0);
	watch();
	assert_int_equal(needle_feed(s, VALUE, strlen(VALUE) - 1, &out), 0);
	assert_int_equal(needle_feed(s, padding, sizeof(padding), &out), 0);
	is_watching = false; /* what was none after all has gone on into out */
	buf_done(&out);
	is_watching = true;
	needle_screen_free(s);
	needles_free(n);
	watched("needle");
}

enum way { WAY_END, WAY_DROP, WAY_COUNT };

static void relay_through(bool is_terminal, enum scan_action action, enum way way)
{
	struct needle_screen *s = NULL;
	struct needles *n = NULL;
	struct stage stage = {.feed = stage_feed,
			      .quiet = stage_quiet,
			      .end = stage_end,
			      .cut = stage_cut,
			      .held = stage_held};
	struct relay_budget budget = {0};
	struct vtfilter filter;
	struct relay relay;
	int ends[2] = {-1, -1};
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	assert_true(null >= 0);
	assert_int_equal(needles_new(&grants, &n), 0);
	assert_int_equal(needle_screen_new(n, action, &s), 0);
	stage.data = s;
	if (is_terminal) {
		vtfilter_init(&filter, true);
		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		assert_int_equal(relay_init_terminal(&relay, ends[0], null, NULL, &budget, &filter),
				 0);
	} else {
		assert_int_equal(relay_init(&relay, null, NULL, &budget, &ends[1]), 0);
	}
	relay.stage = &stage;
	watch();
	assert_int_equal(io_write(ends[1], "it is " VALUE "\n", strlen(VALUE) + 7, CLOCK_NEVER), 0);
	assert_int_equal(relay_move(&relay, POLLIN), 0);
	assert_int_equal(io_write(ends[1], "-\n", 2, CLOCK_NEVER), 0);
	assert_int_equal(relay_move(&relay, POLLIN), 0);
	if (way == WAY_DROP)
		relay_drop(&relay);
	relay_done(&relay);
	needle_screen_free(s);
	needles_free(n);
	watched(is_terminal ? "terminal" : "pipe");
	(void)fd_close(ends[1]);
	(void)fd_close(null);
}

static void test_relay(void **state)
{
	(void)state;
	for (int way = 0; way < WAY_COUNT; way++)
		for (int is_terminal = 0; is_terminal < 2; is_terminal++) {
			relay_through(is_terminal, SECRET_REDACT, (enum way)way);
			relay_through(is_terminal, SECRET_WARN, (enum way)way);
		}
}

/* What looks like a credential stands between the two searches; a shorter line comes behind it. */
static void test_screen(void **state)
{
	struct secret_grant other_item = {
		.name = (char *)(uintptr_t) "OTHER", .value = "hunter2-secret", .len = 14};
	struct secret_grants other = {.items = &other_item, .n = 1};
	const struct stage *stages[STAGE_STREAM_COUNT] = {0};
	struct policy policy = {.leak_detection = true};
	struct buf out = BUF_INIT(1 << 20);
	struct cordon_error err = {0};
	struct screen screen = {0};

	(void)state;
	assert_int_equal(screen_begin(&policy, &other, &screen, stages, &err), 0);
	for (size_t i = 0; i < STAGE_STREAM_COUNT; i++) {
		assert_non_null(stages[i]);
		assert_int_equal(stages[i]->feed(stages[i]->data, "token: " VALUE "\n",
						 strlen(VALUE) + 8, &out),
				 0);
		assert_int_equal(stages[i]->feed(stages[i]->data, "-\n", 2, &out), 0);
		assert_int_equal(stages[i]->end(stages[i]->data, &out), 0);
	}
	assert_non_null(strstr(out.data, "[hidden: "));
	assert_null(strstr(out.data, WORD));
	watch();
	screen_done(&screen);
	watched("screen");
	buf_done(&out);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_control),
		cmocka_unit_test(test_needle),
		cmocka_unit_test(test_relay),
		cmocka_unit_test(test_screen),
	};

	item.len = strlen(VALUE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
