/* SPDX-License-Identifier: Apache-2.0 */
/* What of a command's output reaches a terminal: rows of sequences, each fed in every split. */
#include "run/vtfilter.h"

#include "base/clock.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define E "\x1b"

struct row {
	const char *what;
	const char *in;
	const char *want; /* NULL: the same */
	bool is_latin;
};

static const struct row rows[] = {
	{"text", "hello, world\r\n\ttabs\b \a", NULL},
	{"UTF-8", "gr\xc3\xbc\xc3\x9f \xe2\x80\x94 \xf0\x9f\x98\x80 \xe4\xb8\xad", NULL},
	{"no-break space", "a\xc2\xa0z", NULL},
	{"Latin-1 letters", "caf\xe9 \xe0 la", NULL},
	{"colours", E "[31mred" E "[0m" E "[38;2;1;2;3mx" E "[4:3m" E "[m", NULL},
	{"cursor", E "[2J" E "[H" E "[10;20H" E "[K" E "[5A" E "[s" E "[u" E "7" E "8", NULL},
	{"other screen", E "[?1049h" E "[22;0;0t" E "[?1049l" E "[23;0;0t", NULL},
	{"cursor position", E "[6n" E "[5n" E "[?6n", NULL},
	{"what terminal", E "[c" E "[0c" E "[>c" E "[>0q", NULL},
	{"background", E "]11;?\a" E "]10;?" E "\\", NULL},
	{"title", E "]0;a title \xe2\x80\x94 here\a" E "]2;x" E "\\", NULL},
	{"link", E "]8;;https://example.org/a?b=c" E "\\text" E "]8;;" E "\\", NULL},
	{"link with id", E "]8;id=1;http://example.org\atext" E "]8;;\a", NULL},
	{"line drawing", E "(0lqk" E "(B\x0e\x0f" E ")0", NULL},
	{"palette reset", E "]104\a" E "]104;1;2\a" E "]111" E "\\", NULL},
	{"bracketed paste", E "[?2004h" E "[?2004l", NULL},
	{"mouse", E "[?1000;1006h" E "[?1000;1006l", NULL},
	{"margins, style, soft reset", E "[2;20r" E "[r" E "[2 q" E "[0 q" E "[!p", NULL},

	{"clipboard", "a" E "]52;c;aGVsbG8=\az", "az"},
	{"clipboard, ST", "a" E "]52;c;aGVsbG8=" E "\\z", "az"},
	{"clipboard question", "a" E "]52;c;?\az", "az"},
	{"clipboard, leading zero", "a" E "]052;c;eA==\az", "az"},
	{"clipboard, eight bits",
	 "a\x9d"
	 "52;c;eA==\x9cz",
	 "a\xef\xbf\xbd"
	 "52;c;eA==\xef\xbf\xbdz"},
	{"clipboard, encoded eight bits",
	 "a\xc2\x9d"
	 "52;c;eA==\az",
	 "a\xef\xbf\xbd"
	 "52;c;eA==\az"},
	{"notifications", E "]9;hi\a" E "]777;notify;a;b\a" E "]99;;x" E "\\", ""},
	{"files", E "]1337;File=name=eA==;inline=1:eA==\a", ""},
	{"shell integration", E "]7;file://h/\a" E "]133;A\a" E "]633;E;rm\a", ""},
	{"palette", E "]4;1;rgb:0/0/0\a" E "]11;#000000\a" E "]12;red\a", ""},
	{"palette question", E "]4;1;?\a", ""},
	{"console palette", E "]P1ff0000text" E "]Rmore", "textmore"},
	{"title question", E "]0;?\a" E "]2;?" E "\\", ""},
	{"title with a control", E "]0;a\nb\a", ""},
	{"title with eight bits",
	 E "]0;a\xc2\x9b"
	   "31mb\a",
	 ""},
	{"screen's title", "a" E "kname" E "\\z", "az"},
	{"link to a file", E "]8;;file:///etc/passwd\atext" E "]8;;\a", "text" E "]8;;\a"},
	{"link to a program", E "]8;;ssh://-oProxyCommand=x/\atext", "text"},
	{"status request", E "P$qm" E "\\", ""},
	{"capability request", E "P+q544e" E "\\", ""},
	{"key programming", E "P0;1|17/0a" E "\\", ""},
	{"picture", E "Pq#0;2;0;0;0~" E "\\text", "text"},
	{"through tmux", "a" E "Ptmux;" E E "]52;c;eA==\a" E "\\z", "az"},
	{"kitty's pictures", "a" E "_Gt=f;L2V0Yy9wYXNzd2Q=" E "\\z", "az"},
	{"PM and SOS", "a" E "^x" E "\\b" E "Xy" E "\\z", "abz"},
	{"windows", E "[8;1;1t" E "[3;0;0t" E "[2t" E "[14t" E "[18t" E "[21t" E "[20t", ""},
	{"printer", E "[5i" E "[?5i" E "[i", ""},
	{"screen checksum", E "[1;1;1;1;9;9*y", ""},
	{"other answers",
	 E "[x" E "[=c" E "[?15n" E "[?25$p" E "[?u" E "Z"
	   "\x05",
	 ""},
	{"keyboard", E "[2h" E "[12h" E "[>4;2m" E "[>1u" E "[=5u" E "[1q", ""},
	{"modes not in the table", E "[?3h" E "[?40l" E "[?2048h" E "[?1001h", ""},
	{"modes mixed", E "[?3;25;4;1049h", E "[?25;1049h"},
	{"saved modes", E "[?1049s" E "[?1049r", ""},
	{"other encodings", E "%@" E "%G" E " G" E " F" E "[62;0\"p", ""},
	{"locking shifts", E "n" E "o" E "|" E "}" E "~" E "l" E "m", ""},
	{"console", E "[12;3]" E "[9;0]", ""},
	{"a count that takes long", E "[99999b" E "[100000X", ""},
	{"parameters that are none", E "[<1m" E "[1?m" E "[1 2m" E "[1-m", ""},
	{"two intermediates", E "[ !p" E "(%5", ""},
	{"control inside", E "[3\n1mx", "\n" E "[31mx"},
	{"ESC inside", E "[3" E "[32mx", E "[32mx"},
	{"CAN inside",
	 E "[3\x18"
	   "1mx",
	 "1mx"},
	{"SUB in a string",
	 E "]52;c;\x1a"
	   "text",
	 "text"},
	{"high byte inside", E "[3\xc3\xbcx", "\xc3\xbcx"},
	{"ESC ends a string", E "]52;c;eA==" E "[31mred", E "[31mred"},
	{"ESC ESC", E E "[31mx", E "[31mx"},
	{"zmodem",
	 "rz\r**\x18"
	 "B0000",
	 "rz\r**B0000"},
	{"eight-bit CSI",
	 "\x9b"
	 "31mx",
	 "\xef\xbf\xbd"
	 "31mx"},
	{"overlong", "\xc0\x9b\xe0\x82\x9bx", "\xc0\xef\xbf\xbd\xe0\xef\xbf\xbd\xef\xbf\xbdx"},
	{"cut character", "\xe2\x80" E "[31m\xe2x", NULL},
	{"surrogate", "\xed\xa0\x80x", "\xed\xa0\xef\xbf\xbdx"},
	{"Latin terminal",
	 "\xc3\x9f\xe9\x9b"
	 "5i",
	 "\xc3?\xe9?5i", true},
	{"Latin terminal, title", E "]0;\xc3\xbc\a", "", true},
};

/* Feeds [0..cut), then the rest; without the end. */
static size_t filter(const char *in, size_t len, size_t cut, bool is_utf8, char *out)
{
	struct vtfilter f;
	size_t n;

	vtfilter_init(&f, is_utf8);
	n = vtfilter_feed(&f, in, cut, out);
	return n + vtfilter_feed(&f, in + cut, len - cut, out + n);
}

static void test_rows(void **state)
{
	char out[8192];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];
		const char *want = r->want ? r->want : r->in;
		size_t len = strlen(r->in);

		for (size_t cut = 0; cut <= len; cut++) {
			size_t n = filter(r->in, len, cut, !r->is_latin, out);

			if (n != strlen(want) || memcmp(out, want, n) != 0)
				fail_msg("%s, cut at %zu", r->what, cut);
		}
	}
}

static void test_single_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];
		const char *want = r->want ? r->want : r->in;
		struct vtfilter f;
		char out[8192];
		size_t n = 0;

		vtfilter_init(&f, !r->is_latin);
		for (size_t k = 0; r->in[k]; k++)
			n += vtfilter_feed(&f, &r->in[k], 1, out + n);
		if (n != strlen(want) || memcmp(out, want, n) != 0)
			fail_msg("%s", r->what);
	}
}

/* Where nobody reads answers no question passes, and everything else does. */
static void test_deaf(void **state)
{
	static const char *const questions[] = {E "[6n",  E "[5n", E "[c",      E "[>c",
						E "[?6n", E "[0c", E "]10;?\a", E "]11;?\a"};
	char out[8192];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
		struct vtfilter f;
		size_t len = strlen(questions[i]);

		vtfilter_init(&f, true);
		if (vtfilter_feed(&f, questions[i], len, out) == 0 || !f.has_asked)
			fail_msg("the control: question %zu", i);
		vtfilter_init(&f, true);
		f.is_deaf = true;
		if (vtfilter_feed(&f, questions[i], len, out) != 0 || f.has_asked)
			fail_msg("question %zu", i);
		assert_int_equal(vtfilter_feed(&f, E "[31mred", 8, out), 8);
	}
}

/* Each byte alone: text and the harmless controls pass, no other. */
static void test_bytes(void **state)
{
	(void)state;
	for (int c = 0; c < 0x80; c++) {
		char in = (char)c;
		char out[VTFILTER_ROOM(1)];
		bool passes = c >= 0x20 || c == 0 || (c >= 7 && c <= 15);

		assert_int_equal(filter(&in, 1, 1, true, out), passes);
	}
}

static const struct {
	const char *what;
	const char *in;
	const char *end;
} ends[] = {
	{"nothing", "text" E "[31mred" E "[0m", ""},
	{"colours", E "[31m", E "[0m"},
	{"screen and cursor", E "[?1049h" E "[?25l", E "[?25h" E "[?1049l"},
	{"put back by the command", E "[?1049h" E "[?25l" E "[?25h" E "[?1049l", ""},
	{"mouse and paste", E "[?1000h" E "[?2004h", E "[?1000l" E "[?2004l"},
	{"synchronised", E "[?1h" E "[?2026h", E "[?2026l" E "[?1l"},
	{"margins", E "[2;5r", E "7" E "[r" E "8"},
	{"line drawing", E "(0", E "(B\x0f"},
	{"line drawing, ended", E "(0" E "(B", ""},
	{"keypad and style", E "=" E "[3 q", E ">" E "[0 q"},
	{"full reset", E "[31m" E "[?25l" E "c", ""},
	{"half a sequence", "x" E "]52;c;", ""},
	{"half a character", "\xc2", "\xc2"},
};

static void test_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		struct vtfilter f;
		char out[4096];
		size_t n;

		vtfilter_init(&f, true);
		(void)vtfilter_feed(&f, ends[i].in, strlen(ends[i].in), out);
		n = vtfilter_end(&f, out);
		if (n != strlen(ends[i].end) || memcmp(out, ends[i].end, n) != 0)
			fail_msg("%s: '%.*s'", ends[i].what, (int)n, out);
	}
}

/* All that can be left behind fits. */
static void test_end_is_bounded(void **state)
{
	struct vtfilter f;
	char out[VTFILTER_END_MAX];

	(void)state;
	vtfilter_init(&f, true);
	f.left = (struct vtfilter_left){UINT64_MAX, true, true, true, 15, true};
	f.left.modes &= ~(UINT64_C(1) << 4 | UINT64_C(1) << 7);
	assert_true(vtfilter_end(&f, out) < VTFILTER_END_MAX);
}

static void test_asked(void **state)
{
	struct vtfilter f;
	char out[1024];

	(void)state;
	vtfilter_init(&f, true);
	(void)vtfilter_feed(&f, E "[31m" E "[21t", 10, out);
	assert_false(f.has_asked);
	(void)vtfilter_feed(&f, E "[6n", 4, out);
	assert_true(f.has_asked);
}

/* Text comes back after a string without an end, and what is too long to hold is removed whole. */
static void test_long(void **state)
{
	size_t len = VTFILTER_STRING_MAX + 100;
	AUTO_FREE char *in = malloc(len);
	AUTO_FREE char *out = malloc(VTFILTER_ROOM(len));
	struct vtfilter f;
	size_t n;

	(void)state;
	assert_non_null(in);
	assert_non_null(out);
	memset(in, 'x', len);
	memcpy(in, E "]0;", 4);
	vtfilter_init(&f, true);
	n = vtfilter_feed(&f, in, len, out);
	assert_in_range(n, 1, 100);
	memset(in, '1', len);
	memcpy(in, E "[", 2);
	memcpy(in + len - 5, "mtext", 5);
	vtfilter_init(&f, true);
	n = vtfilter_feed(&f, in, len, out);
	assert_int_equal(n, 4);
	assert_memory_equal(out, "text", 4);
}

/* A figure, not a limit: the machine may be busy. */
static void test_throughput(void **state)
{
	static const char *const lines[] = {
		"make[1]: Entering directory '/home/me/project' and more ordinary text of a build\r\n",
		E "[32m  ok" E "[0m  a line of a test run with colours" E "[K\r\n",
		"\xe4\xb8\xad\xe6\x96\x87\xe6\x96\x87\xe6\x9c\xac \xd1\x82\xd0\xb5\xd0\xba\r\n",
	};
	enum { BLOCK = 16384, ROUNDS = 512 };
	AUTO_FREE char *out = malloc(VTFILTER_ROOM(BLOCK));
	AUTO_FREE char *in = malloc(BLOCK);

	(void)state;
	assert_non_null(in);
	assert_non_null(out);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct vtfilter f;
		int64_t start;
		double s;

		for (size_t k = 0; k < BLOCK; k++)
			in[k] = lines[i][k % strlen(lines[i])];
		vtfilter_init(&f, true);
		start = clock_ns();
		for (int r = 0; r < ROUNDS; r++)
			(void)vtfilter_feed(&f, in, BLOCK, out);
		s = (double)(clock_ns() - start) / 1e9;
		print_message("line %zu: %.0f MB/s\n", i, BLOCK / 1e6 * ROUNDS / s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),           cmocka_unit_test(test_single_bytes),
		cmocka_unit_test(test_bytes),          cmocka_unit_test(test_ends),
		cmocka_unit_test(test_end_is_bounded), cmocka_unit_test(test_asked),
		cmocka_unit_test(test_deaf),           cmocka_unit_test(test_long),
		cmocka_unit_test(test_throughput),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
