/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of plain words, which are read without the parser: whatever plain_tree() takes must be the parser's tree
 * node by node, so that everything which is made of it is the same.  Asked of examples, of the rules' own commands,
 * of every byte in every place of a word, and with $SHARED of some thousand real commands.  Likewise rules, which are
 * looked for one by one or by an index.
 */
#include "core_fixture.h"

#include "inspect/shell/plain.h"
#include "inspect/shell/rule.h"

#include <ctype.h>

static size_t taken;

static bool same_node(const struct shell_node *a, const struct shell_node *b)
{
	return a->kind == b->kind && a->is_named == b->is_named && a->start == b->start &&
	       a->end == b->end && a->first == b->first && a->next == b->next;
}

/* Is the text plain?  If so, both trees must be the same. */
static bool compare(const char *text, size_t len)
{
	struct arena arena = ARENA_INIT((size_t)64 << 20);
	struct shell_tree plain = {0}, full = {0};
	bool is_plain = plain_tree(text, len, &arena, &plain);

	if (is_plain) {
		taken++;
		assert_int_equal(shell_tree_parse_full(text, len, CLOCK_NEVER, &arena, &full), 0);
		if (full.has_error || full.is_cut || plain.n != full.n)
			fail_msg("'%.*s': %zu nodes instead of %zu", (int)len, text, plain.n,
				 full.n);
		for (size_t i = 0; i < full.n; i++)
			if (!same_node(&plain.nodes[i], &full.nodes[i]))
				fail_msg("'%.*s': node %zu is %u at %u instead of %u at %u",
					 (int)len, text, i, plain.nodes[i].kind,
					 plain.nodes[i].start, full.nodes[i].kind,
					 full.nodes[i].start);
		assert_ptr_equal(plain.text, text);
		assert_int_equal(plain.len, len);
		assert_false(plain.has_error || plain.is_cut);
	}
	arena_done(&arena);
	return is_plain;
}

static void test_examples(void **state)
{
	static const struct {
		const char *text;
		bool is_plain;
	} rows[] = {
		{"true", true},
		{"/usr/bin/true", true},
		{"git status -s", true},
		{"git  commit   -m 'a  message; with $words'", true},
		{"dd if=/dev/zero of=x bs=1 count=-5", true},
		{"head -20 x", true},
		{"sleep 5", true},
		{"env A=b make -j4", true},
		{"ls ~ ~/x a~b", true},
		{"sh -c 'rm -rf /'", true},
		{"echo ''", true},
		{"", false},
		{" ls", false},
		{"ls ", false},
		{"ls\n", false},
		{"ls\tx", false},
		{"'ls' -l", false},
		{"A=b make", false},
		{"A=b", false},
		{"12 x", false},
		{"-x", false},
		{"if x", false},
		{"echo if", false},
		{"for i in x", false},
		{"export A", false},
		{"unset A", false},
		{"[ -f x ]", false},
		{"! true", false},
		{"ls x;", false},
		{"ls | wc", false},
		{"ls && wc", false},
		{"ls > x", false},
		{"echo $HOME", false},
		{"echo `id`", false},
		{"echo \"x\"", false},
		{"echo a'b'", false},
		{"echo 'b'c", false},
		{"echo 'a", false},
		{"echo 'a\nb'", false},
		{"echo x\\y", false},
		{"echo *", false},
		{"echo {a,b}", false},
		{"echo #x", false},
		{"echo == x", false},
		{"echo =~ x", false},
		{"printf 0x41", false},
		{"echo \xc3\xa9", false},
		{"echo 'x\xff'", false},
	};
	const char hidden[] = "ls\0; rm x";

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (compare(rows[i].text, strlen(rows[i].text)) != rows[i].is_plain)
			fail_msg("'%s' is%s taken", rows[i].text, rows[i].is_plain ? " not" : "");
	assert_false(compare(hidden, sizeof(hidden) - 1));
}

static void test_rules(void **state)
{
	size_t before = taken;

	(void)state;
	for (size_t t = 0; t < SHELL_RULE_TABLES; t++)
		for (size_t k = 0; k < shell_rule_tables[t]->n; k++) {
			const struct shell_rule *rule = &shell_rule_tables[t]->rows[k];

			(void)compare(rule->hit, strlen(rule->hit));
			(void)compare(rule->miss, strlen(rule->miss));
		}
	assert_true(taken > before + 50);
}

struct found {
	const struct shell_rule *rules[64];
	size_t n;
};

static int note(void *arg, const struct shell_rule *rule, const struct shell_command *c)
{
	struct found *f = arg;

	(void)c;
	assert_true(f->n < ARRAY_LEN(f->rules));
	f->rules[f->n++] = rule;
	return 0;
}

static size_t compare_rules(const char *text)
{
	const struct inspect_context context = {0};
	struct shell_model m;
	size_t n = 0;

	assert_int_equal(shell_model_build(&context, text, strlen(text), &m), 0);
	rule_prepare(&m);
	for (size_t i = 0; i < m.n; i++) {
		struct found scanned = {0}, indexed = {0};

		assert_int_equal(rule_each_scanned(&m, &m.commands[i], note, &scanned), 0);
		assert_int_equal(rule_each(&m, &m.commands[i], note, &indexed), 0);
		assert_int_equal(scanned.n, indexed.n);
		assert_memory_equal(scanned.rules, indexed.rules, sizeof(scanned.rules));
		n += scanned.n;
	}
	shell_model_done(&m);
	return n;
}

static void test_index(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++)
		(void)compare_rules("rm -rf /"); /* until the index is made */
	for (size_t t = 0; t < SHELL_RULE_TABLES; t++)
		for (size_t k = 0; k < shell_rule_tables[t]->n; k++) {
			assert_true(compare_rules(shell_rule_tables[t]->rows[k].hit) > 0);
			(void)compare_rules(shell_rule_tables[t]->rows[k].miss);
		}
}

/* Every byte, and every pair of what is not a letter, at each place of the first word and of a later one. */
static void test_bytes(void **state)
{
	static const struct {
		const char *before, *after;
	} forms[] = {
		{"", ""},       {"", "x"},     {"x", ""},      {"x", "x"},     {"a ", ""},
		{"a ", "x"},    {"a x", ""},   {"a x", "x"},   {"a 1", ""},    {"a ", "1"},
		{"a -", ""},    {"a 1", "1"},  {"a ", " b"},   {"a x", "= b"}, {"a '", "'"},
		{"a '", "' b"}, {"a --", "="}, {"a b=", " c"}, {"x", " y=z"},  {"a -1", ""},
	};
	char unit[3] = "", text[32];
	size_t before = taken;

	(void)state;
	for (unsigned one = 1; one < 256; one++)
		for (unsigned two = 0; two < 127; two = two ? two + 1 : '!') {
			unit[0] = (char)one;
			unit[1] = (char)two;
			if (two && (isalpha((int)one) || isalpha((int)two)))
				continue;
			for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
				int n = snprintf(text, sizeof(text), "%s%s%s", forms[i].before,
						 unit, forms[i].after);

				assert_true(n > 0 && n < (int)sizeof(text));
				(void)compare(text, (size_t)n);
			}
		}
	assert_true(taken > before + 2000);
}

/* Words at random out of what is plain and of what only looks so. */
static void test_random(void **state)
{
	static const char bytes[] = "aabcx019_./:,@%+=-~'  '-";
	static const char *const words[] = {"if", "in", "do",   "x", "--",   "-1", "a=b", "0",
					    "[",  "]",  "test", "{", "time", "}",  "!",   "=="};
	uint32_t random = 1;
	size_t before = taken;

	(void)state;
	for (unsigned round = 0; round < 100000; round++) {
		char text[64];
		size_t n = 0;

		do {
			random = random * 1664525 + 1013904223;
			n += (size_t)(random >> 28
					      ? snprintf(text + n, 2, "%c",
							 bytes[(random >> 16) % (sizeof(bytes) - 1)])
					      : snprintf(text + n, 8, " %s ",
							 words[(random >> 16) % 16]));
		} while (n < 24 && random >> 29);
		(void)compare(text, n);
	}
	assert_true(taken > before + 1000);
}

static void test_limits(void **state)
{
	AUTO_FREE char *text = malloc(10000);

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < 10000; i++)
		text[i] = i % 2 ? ' ' : 'a';
	assert_true(compare(text, 511));
	assert_false(compare(text, 513)); /* 257 words */
	memset(text, 'a', 10000);
	assert_true(compare(text, 4096));
	assert_false(compare(text, 4097));
}

/* The value of "text" in a line of JSON, in place.  What stands for bytes that no plain command has is left as it is. */
static char *text_of(char *line)
{
	char *from = strstr(line, "\"text\": \""), *to = line;

	if (!from)
		return NULL;
	for (from += 9; *from && *from != '"'; from++) {
		if (*from == '\\' && from[1] && from[1] != 'u') {
			from++;
			*to++ = *from == 'n' ? '\n' : *from == 't' ? '\t' : *from;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	return line;
}

/* The commands of a file, line by line. */
static void compare_file(const char *shared, const char *name)
{
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *line = NULL;
	size_t cap = 0;
	FILE *in;

	assert_true(asprintf(&path, "%s/corpora/%s/dev.jsonl", shared, name) > 0);
	in = fopen(path, "re");
	assert_non_null(in);
	while (getline(&line, &cap, in) > 0)
		for (const char *at = text_of(line); at && *at;) {
			size_t n = strcspn(at, "\n");

			(void)compare(at, n);
			at += n + (at[n] == '\n');
		}
	(void)fclose(in);
}

static void test_corpora(void **state)
{
	static const char *const names[] = {"b_tldr", "b_nl2bash", "b_agent_commands_tb",
					    "c_dcg",  "c_nah",     "c_gtfobins",
					    "c_sage", "c_patt",    "h_bash_syntax"};
	const char *shared = getenv("SHARED");
	size_t before = taken;

	(void)state;
	if (!shared || !*shared) {
		print_message("# skip: ../shared not there\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		compare_file(shared, names[i]);
	print_message("# %zu commands compared\n", taken - before);
	assert_true(taken > before + 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples), cmocka_unit_test(test_rules),
		cmocka_unit_test(test_bytes),    cmocka_unit_test(test_random),
		cmocka_unit_test(test_limits),   cmocka_unit_test(test_corpora),
		cmocka_unit_test(test_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
