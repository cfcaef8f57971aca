/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option parser, on the real table of `run`: each row is a command line and either what it fills
 * or what the error says.  Then the tables themselves: no name twice, every row complete.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/table.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The tables name the bodies of their verbs; here only the tables are meant. */
#define BODY(name, options)                                                                        \
	__attribute__((weak)) int name(struct cli *cli, const struct options *o)                   \
	{                                                                                          \
		(void)cli;                                                                         \
		(void)o;                                                                           \
		return 0;                                                                          \
	}
#define BODY_WITHOUT_OPTIONS(name)                                                                 \
	__attribute__((weak)) int name(struct cli *cli)                                            \
	{                                                                                          \
		(void)cli;                                                                         \
		return 0;                                                                          \
	}
BODY(cmd_run_main, run_options)
BODY(cmd_backends_main, backends_options)
BODY(cmd_select_main, select_options)
BODY(cmd_doctor_main, doctor_options)
BODY(cmd_policy_validate_main, policy_options)
BODY(cmd_policy_show_main, policy_options)
BODY(cmd_policy_explain_main, policy_options)
BODY_WITHOUT_OPTIONS(cmd_policy_schema_main)
BODY(cmd_why_main, why_options)
BODY(cmd_audit_tail_main, audit_tail_options)
BODY(cmd_audit_show_main, audit_show_options)
BODY_WITHOUT_OPTIONS(cmd_audit_verify_main)
BODY(cmd_audit_export_main, audit_export_options)

#define ARGS_MAX 12
#define A5000 /* 5,000 letters */ A1000 A1000 A1000 A1000 A1000
#define A1000 A200 A200 A200 A200 A200
#define A200 A40 A40 A40 A40 A40
#define A40 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct row {
	const char *what;
	const char *args[ARGS_MAX];
	const char *want;    /* what was filled and which words are left; NULL: an error */
	const char *message; /* a part of the error's text */
};

static const struct row rows[] = {
	/* values, all the ways to write them */
	{"nothing", {NULL}, "", NULL},
	{"long with =", {"--level=vm"}, "level=vm", NULL},
	{"long with a word", {"--level", "vm"}, "level=vm", NULL},
	{"short with a word", {"-l", "vm"}, "level=vm", NULL},
	{"short attached", {"-lvm"}, "level=vm", NULL},
	{"a value with = in it", {"--env=A=b=c"}, "env=A=b=c", NULL},
	{"a short value with = in it", {"-e", "A=b"}, "env=A=b", NULL},
	{"attached with = further on", {"-eA=b"}, "env=A=b", NULL},
	{"a flag", {"--json"}, "json", NULL},
	{"two flags", {"--json", "--gpu"}, "gpu json", NULL},
	{"a value that is one dash", {"--report", "-"}, "report=-", NULL},
	{"a value with one dash in front", {"-r", "-odd"}, "read=-odd", NULL},
	{"a value with two, after =", {"--read=--odd"}, "read=--odd", NULL},
	{"blanks stay", {"--policy", " a b "}, "policy= a b ", NULL},
	{"bytes that are not UTF-8 stay", {"-r", "/\xff\xfe"}, "read=/\xff\xfe", NULL},
	/* clusters */
	{"a cluster of flags", {"-qq"}, "quiet", NULL},
	{"a cluster that ends in a value", {"-vt5s"}, "timeout=5000 verbose", NULL},
	{"a cluster whose value is a word", {"-vt", "5s"}, "timeout=5000 verbose", NULL},
	{"a cluster with an unknown letter", {"-vZ"}, NULL, "unknown option '-Z' in '-vZ'"},
	{"a letter after a value belongs to it", {"-t5sv"}, NULL, "'5sv' is not a duration"},
	{"= after a letter", {"-l=vm"}, NULL, "option '-l': write '-l LEVEL' or '--level=LEVEL'"},
	/* lists */
	{"a list of one", {"-p", "a"}, "policy=a", NULL},
	{"a list in order",
	 {"-pa", "--policy=b", "--policy", "c"},
	 "policy=a policy=b policy=c",
	 NULL},
	{"the same twice is two", {"-r/a", "-r/a"}, "read=/a read=/a", NULL},
	{"a list with names", {"--cache", "npm", "--cache=go"}, "cache=npm cache=go", NULL},
	{"a list with a wrong name",
	 {"--cache=maven"},
	 NULL,
	 "option '--cache': 'maven' is not one of npm, pip, cargo, go"},
	/* words */
	{"a command", {"ls"}, "[ls]", NULL},
	{"its options are its own", {"ls", "-l", "--json"}, "[ls][-l][--json]", NULL},
	{"options, then a command", {"-lvm", "ls", "-l"}, "level=vm [ls][-l]", NULL},
	{"-- ends options", {"--", "--json"}, "[--json]", NULL},
	{"-- after options", {"--json", "--", "-x", "y"}, "json [-x][y]", NULL},
	{"the second -- is a word", {"--", "--", "a"}, "[--][a]", NULL},
	{"-- inside a command", {"a", "--", "b"}, "[a][--][b]", NULL},
	{"one dash is a word", {"-", "--json"}, "[-][--json]", NULL},
	{"an empty word is a command", {"", "x"}, "[][x]", NULL},
	{"-- alone", {"--"}, "", NULL},
	/* missing and empty values */
	{"long at the end", {"--level"}, NULL, "option '--level': needs a value (LEVEL)"},
	{"short at the end", {"-l"}, NULL, "option '-l': needs a value (LEVEL)"},
	{"an option instead of a value",
	 {"-p", "--json"},
	 NULL,
	 "option '-p': needs a value (FILE) but '--json' follows; if that is meant, write '--policy=--json'"},
	{"-- instead of a value", {"--policy", "--", "ls"}, NULL, "but '--' follows"},
	{"empty after =", {"--policy="}, NULL, "option '--policy': the value (FILE) is empty"},
	{"an empty word as value", {"-p", ""}, NULL, "option '-p': the value (FILE) is empty"},
	{"an empty name", {"--level="}, NULL, "the value (LEVEL) is empty"},
	{"an empty number", {"--memory="}, NULL, "the value (SIZE) is empty"},
	{"an empty shell string is one", {"-c", ""}, "command=", NULL},
	{"the same after =", {"--command="}, "command=", NULL},
	{"a value for a flag", {"--json=yes"}, NULL, "option '--json': takes no value"},
	{"an empty value for a flag", {"--json="}, NULL, "option '--json': takes no value"},
	/* unknown names */
	{"unknown", {"--wibblewobble"}, NULL, "unknown option '--wibblewobble'"},
	{"unknown, near",
	 {"--lvel", "vm"},
	 NULL,
	 "unknown option '--lvel'; did you mean '--level'?"},
	{"unknown with a value, near", {"--memroy=1G"}, NULL, "did you mean '--memory'?"},
	{"an abbreviation is refused",
	 {"--rep", "f"},
	 NULL,
	 "unknown option '--rep'; did you mean '--report'?"},
	{"an ambiguous one names all",
	 {"--max=1"},
	 NULL,
	 "one of '--max-processes', '--max-open-files', '--max-output'?"},
	{"unknown letter", {"-Z"}, NULL, "unknown option '-Z'"},
	{"a number is no option", {"-5"}, NULL, "unknown option '-5'"},
	{"an option named nothing", {"--=x"}, NULL, "unknown option '--'"},
	{"upper case is another name", {"--LEVEL=vm"}, NULL, "unknown option '--LEVEL'"},
	{"three dashes", {"---json"}, NULL, "unknown option '---json'"},
	{"a huge name", {"--" A5000}, NULL, "unknown option '--aaa"},
	/* repeated and contradicting */
	{"a value twice", {"-lvm", "--level=vm"}, NULL, "option '--level': given more than once"},
	{"a flag twice", {"--json", "--json"}, NULL, "option '--json': given more than once"},
	{"a number twice", {"-m1G", "-m1G"}, NULL, "option '-m': given more than once"},
	{"enforce", {"--enforce"}, "enforce", NULL},
	{"dry run", {"--dry-run"}, "dry-run", NULL},
	{"both", {"--enforce", "--dry-run"}, NULL, "option '--dry-run': contradicts '--enforce'"},
	{"both the other way", {"--dry-run", "--enforce"}, NULL, "contradicts '--dry-run'"},
	{"quiet and verbose", {"-qv"}, NULL, "option '-v': contradicts '--quiet'"},
	{"verbose twice is verbose", {"-v", "--verbose"}, "verbose", NULL},
	/* names */
	{"a wrong name, near",
	 {"--level=proces"},
	 NULL,
	 "'proces' is not one of none, process, wasm, container, vm; did you mean 'process'?"},
	{"a wrong name, far", {"--net=x"}, NULL, "'x' is not one of deny, allowlist, allow-all"},
	{"names have one spelling", {"--net=DENY"}, NULL, "'DENY' is not one of"},
	{"a name and more", {"--net=deny "}, NULL, "'deny ' is not one of"},
	{"every backend by name", {"-bapple-container"}, "backend=apple-container", NULL},
	/* whole numbers */
	{"a number", {"--max-processes=64"}, "max-processes=64", NULL},
	{"the least", {"--cpu-shares=2"}, "cpu-shares=2", NULL},
	{"below the least", {"--cpu-shares=1"}, NULL, "'1' is too small (least: 2)"},
	{"the greatest", {"--cpu-shares=262144"}, "cpu-shares=262144", NULL},
	{"above the greatest", {"--cpu-shares=262145"}, NULL, "too large (greatest: 262144)"},
	{"negative", {"--max-processes=-1"}, NULL, "'-1' is too small (least: 1)"},
	{"negative as a word", {"--max-processes", "-1"}, NULL, "'-1' is too small"},
	{"beyond 64 bits", {"--max-processes=99999999999999999999"}, NULL, "is too large"},
	{"not a number", {"--max-processes=many"}, NULL, "'many' is not a whole number"},
	{"a number and more", {"--max-processes=5x"}, NULL, "'5x' is not a whole number"},
	{"with a plus", {"--max-processes=+5"}, NULL, "not a whole number"},
	{"with a blank", {"--max-processes= 5"}, NULL, "not a whole number"},
	{"octal or decimal", {"--max-processes=010"}, NULL, "not a whole number"},
	{"hexadecimal", {"--max-processes=0x10"}, NULL, "not a whole number"},
	{"a huge value is cut in the message",
	 {"--max-processes=" A5000},
	 NULL,
	 "aaa' is not a whole"},
	/* sizes */
	{"bytes", {"--memory=4096"}, "memory=4096", NULL},
	{"mebibytes", {"-m512M"}, "memory=536870912", NULL},
	{"GiB", {"-m", "2GiB"}, "memory=2147483648", NULL},
	{"no memory at all", {"-m0"}, NULL, "'0' is too small (least: 1)"},
	{"output may be none", {"--max-output=0"}, "max-output=0", NULL},
	{"an unknown unit", {"-m1X"}, NULL, "option '-m': '1X' is not a size such as 512M or 2G"},
	{"a negative size", {"--memory=-1"}, NULL, "not a size"},
	{"a size with a fraction", {"--memory=1.5G"}, NULL, "not a size"},
	{"a size beyond 63 bits", {"--memory=99999999T"}, NULL, "'99999999T' is too large"},
	/* durations */
	{"seconds without unit", {"-t30"}, "timeout=30000", NULL},
	{"milliseconds", {"--timeout=250ms"}, "timeout=250", NULL},
	{"a fraction", {"--timeout=1.5s"}, "timeout=1500", NULL},
	{"minutes", {"-t", "5m"}, "timeout=300000", NULL},
	{"no time at all", {"-t0"}, NULL, "'0' is too small (least: 1ms)"},
	{"no grace is allowed", {"--grace=0"}, "grace=0", NULL},
	{"words for a duration",
	 {"-t", "5 minutes"},
	 NULL,
	 "not a duration such as 250ms, 30s or 5m"},
	{"a negative duration", {"-t", "-5s"}, NULL, "not a duration"},
	{"a duration beyond 63 bits", {"-t99999999999999999d"}, NULL, "too large"},
	/* final options */
	{"help ends it", {"--help", "--wibble"}, "help [--wibble]", NULL},
	{"help in a cluster", {"-hZ"}, "help", NULL},
	{"an error before help", {"--wibble", "--help"}, NULL, "unknown option"},
};

static void dump_list(struct buf *b, const char *name, const struct strv *list)
{
	for (size_t i = 0; i < list->n; i++)
		buf_printf(b, " %s=%s", name, list->v[i]);
}

static void dump_text(struct buf *b, const char *name, const char *value)
{
	if (value)
		buf_printf(b, " %s=%s", name, value);
}

static void dump_number(struct buf *b, const char *name, const struct option_number *n)
{
	if (n->is_given)
		buf_printf(b, " %s=%lld", name, (long long)n->value);
}

/* What was filled, in one line, in a fixed order. */
static void dump(struct buf *b, const struct run_options *o, const struct cli_common *common,
		 const struct option_result *result)
{
	dump_text(b, "command", o->command);
	dump_list(b, "policy", &o->policies);
	dump_text(b, "level", o->level);
	dump_text(b, "backend", o->backend);
	dump_list(b, "read", &o->read);
	dump_list(b, "env", &o->env);
	dump_list(b, "cache", &o->cache);
	dump_number(b, "memory", &o->memory_bytes);
	dump_number(b, "cpu-shares", &o->cpu_shares);
	dump_number(b, "max-processes", &o->max_processes);
	dump_number(b, "max-output", &o->max_output_bytes);
	dump_number(b, "timeout", &o->timeout_ms);
	dump_number(b, "grace", &o->grace_ms);
	dump_text(b, "report", o->report);
	buf_str(b, o->gpu ? " gpu" : "");
	buf_str(b, o->json ? " json" : "");
	buf_str(b, o->enforcement == RUN_ENFORCE   ? " enforce"
		   : o->enforcement == RUN_DRY_RUN ? " dry-run"
						   : "");
	buf_str(b, common->verbosity == 0 ? " quiet" : common->verbosity == 2 ? " verbose" : "");
	buf_str(b, common->wants_help ? " help" : "");
	buf_str(b, result->n_words ? " " : "");
	for (size_t i = 0; i < result->n_words; i++)
		buf_printf(b, "[%s]", result->words[i]);
}

static void check_row(const struct row *row)
{
	char *argv[ARGS_MAX + 1] = {0};
	struct run_options options = {0};
	struct cli_common common = {.verbosity = -1};
	struct option_request request = {.tables = {{run_option_rows, &options},
						    {verb_common_options, &common}},
					 .stops_at_word = true,
					 .argv = argv};
	struct option_result result = {0};
	struct cordon_error err = {0};
	struct buf got = BUF_INIT(65536);
	int r;

	for (; row->args[request.argc]; request.argc++)
		argv[request.argc] = strdup(row->args[request.argc]);
	r = option_parse(&request, &result, &err);
	if (row->want) {
		if (r < 0)
			fail_msg("%s: %s", row->what, err.message);
		dump(&got, &options, &common, &result);
		if (strcmp(buf_cstr(&got) + (got.len > 0), row->want) != 0)
			fail_msg("%s: got '%s'", row->what, buf_cstr(&got));
		assert_null(result.words[result.n_words]);
	} else {
		if (r != CORDON_E_INVALID || !strstr(err.message, row->message))
			fail_msg("%s: %d '%s'", row->what, r, err.message);
		assert_null(strchr(err.message, '\n'));
	}
	run_options_done(&options);
	buf_done(&got);
	for (size_t i = 0; i < request.argc; i++)
		free(argv[i]);
}

static void test_rows(void **state)
{
	(void)state;
	assert_true(ARRAY_LEN(rows) >= 60);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check_row(&rows[i]);
}

/* Without a command, options may follow words; what is left keeps its order. */
static void test_words_between_options(void **state)
{
	static const struct {
		const char *what;
		const char *args[ARGS_MAX];
		const char *want;
	} cases[] = {
		{"none", {NULL}, ""},
		{"words only", {"a", "b"}, "[a][b]"},
		{"option first", {"--json", "a"}, "json [a]"},
		{"option last", {"a", "b", "--json"}, "json [a][b]"},
		{"option between", {"a", "-lvm", "b"}, "level=vm [a][b]"},
		{"its value is no word", {"a", "-l", "vm", "b"}, "level=vm [a][b]"},
		{"-- between", {"a", "--", "--json", "b"}, "[a][--json][b]"},
		{"-- first", {"--", "a", "--json"}, "[a][--json]"},
		{"a dash is a word", {"-", "--json"}, "json [-]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char words[ARGS_MAX][16] = {0};
		char *argv[ARGS_MAX + 1] = {0};
		struct run_options options = {0};
		struct cli_common common = {.verbosity = -1};
		struct option_request request = {.tables = {{run_option_rows, &options},
							    {verb_common_options, &common}},
						 .argv = argv};
		struct option_result result = {0};
		struct cordon_error err = {0};
		struct buf got = BUF_INIT(4096);

		for (; cases[i].args[request.argc]; request.argc++) {
			memcpy(words[request.argc], cases[i].args[request.argc],
			       strlen(cases[i].args[request.argc]));
			argv[request.argc] = words[request.argc];
		}
		assert_int_equal(option_parse(&request, &result, &err), 0);
		dump(&got, &options, &common, &result);
		if (strcmp(buf_cstr(&got) + (got.len > 0), cases[i].want) != 0)
			fail_msg("%s: got '%s'", cases[i].what, buf_cstr(&got));
		assert_null(result.words[result.n_words]);
		run_options_done(&options);
		buf_done(&got);
	}
}

static void test_required(void **state)
{
	char option[] = "--isolation=off", help[] = "-h";
	struct select_options options = {0};
	struct cli_common common = {0};
	char *argv[2] = {0};
	struct option_request request = {.tables = {{verb_select.options, &options},
						    {verb_common_options, &common}},
					 .argv = argv};
	struct option_result result = {0};
	struct cordon_error err = {0};

	(void)state;
	assert_int_equal(option_parse(&request, &result, &err), CORDON_E_INVALID);
	assert_string_equal(err.message, "needs '--isolation LEVEL'");
	request.argc = 1;
	argv[0] = option;
	assert_int_equal(option_parse(&request, &result, NULL), 0);
	assert_string_equal(options.isolation, "off");
	argv[0] = help; /* does not ask for what it is about to explain */
	assert_int_equal(option_parse(&request, &result, NULL), 0);
	assert_true(result.is_final);
}

static void test_too_many_words(void **state)
{
	static char word[] = "x";
	char **argv = calloc(LIMIT_ARGV + 2, sizeof(*argv));
	struct run_options options = {0};
	struct option_request request = {.tables = {{run_option_rows, &options}}, .argv = argv};
	struct option_result result = {0};

	(void)state;
	assert_non_null(argv);
	for (size_t i = 0; i < LIMIT_ARGV + 1; i++)
		argv[i] = word;
	request.argc = LIMIT_ARGV;
	assert_int_equal(option_parse(&request, &result, NULL), 0);
	assert_int_equal(result.n_words, LIMIT_ARGV);
	request.argc = LIMIT_ARGV + 1;
	assert_int_equal(option_parse(&request, &result, NULL), CORDON_E_LIMIT);
	free(argv);
}

/* What run_options_check() adds to the rows. */
static void test_run_check(void **state)
{
	static const struct {
		const char *what;
		const char *option;
		const char *value;
		const char *message; /* NULL: fine */
	} cases[] = {
		{"a variable", "--env", "PATH", NULL},
		{"a variable with value", "--env", "_A9=x=y", NULL},
		{"an empty variable name", "--env", "=x", "'' is not a variable name"},
		{"a digit first", "--env", "9A=x", "'9A' is not a variable name"},
		{"a blank in the name", "--env", "A B=x", "'A B' is not a variable name"},
		{"a port", "--publish", "65535", NULL},
		{"port 0", "--publish", "0", "'0' is not a port"},
		{"port 65536", "--publish", "65536", "'65536' is not a port"},
		{"a port by name", "--publish", "http", "'http' is not a port"},
		{"another port of the host", "--publish", "8080:80", NULL},
		{"an address of the host", "--publish", "10.0.0.1:8080:80", NULL},
		{"an IPv6 address", "--publish", "[::1]:8080:80", NULL},
		{"an IPv6 address without brackets", "--publish", "::1:8080:80", "is not a port"},
		{"no port of the host", "--publish", "10.0.0.1::80", "is not a port"},
		{"nothing before", "--publish", ":80", "is not a port"},
		{"nothing after", "--publish", "80:", "is not a port"},
		{"a host by name", "--publish", "localhost:8080:80", "is not a port"},
		{"an address that is none", "--publish", "300.0.0.1:8080:80", "is not a port"},
		{"one too many", "--publish", "1.2.3.4:1:2:3", "is not a port"},
		{"a granted port", "--allow-port", "5432", NULL},
		{"a granted port 0", "--allow-port", "0", "'0' is not a port"},
		{"a granted port elsewhere", "--allow-port", "10.0.0.1:80", "is not a port"},
		{"a report file", "--report", "fd", NULL},
		{"a report descriptor", "--report", "fd:3", NULL},
		{"a bad report descriptor", "--report", "fd:x", "'fd:x' is not a descriptor"},
		{"a negative one", "--report", "fd:-1", "'fd:-1' is not a descriptor"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct run_options options = {0};
		char option[32] = {0}, value[32] = {0};
		char *argv[] = {option, value, NULL};
		struct option_request request = {
			.tables = {{run_option_rows, &options}}, .argv = argv, .argc = 2};
		struct option_result result = {0};
		struct cordon_error err = {0};
		int r;

		memcpy(option, cases[i].option, strlen(cases[i].option));
		memcpy(value, cases[i].value, strlen(cases[i].value));
		assert_int_equal(option_parse(&request, &result, &err), 0);
		r = run_options_check(&options, &err);
		if (cases[i].message
			    ? r != CORDON_E_INVALID || !strstr(err.message, cases[i].message)
			    : r != 0)
			fail_msg("%s: %d '%s'", cases[i].what, r, err.message);
		run_options_done(&options);
	}
}

static void test_run_net(void **state)
{
	struct run_options options = {0};
	struct cordon_error err = {0};

	(void)state;
	options.net = "deny";
	assert_int_equal(run_options_check(&options, &err), 0);
	assert_int_equal(strv_add(&options.allow_host, "example.org"), 0);
	assert_int_equal(run_options_check(&options, &err), CORDON_E_INVALID);
	assert_string_equal(err.message, "option '--allow-host': contradicts '--net deny'");
	options.net = NULL;
	assert_int_equal(run_options_check(&options, NULL), 0);
	run_options_done(&options);
}

static const struct verb *const all_verbs[] = {
	&verb_audit, &verb_backends, &verb_completion, &verb_doctor, &verb_help, &verb_policy,
	&verb_run,   &verb_select,   &verb_version,    &verb_why,    NULL,
};

static bool is_plain(const char *s)
{
	return *s && s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static void check_option(const struct verb *verb, const struct option *o, size_t position)
{
	const struct option *other;

	if (!is_plain(o->long_name) || !o->help || !*o->help || strchr(o->help, '\n'))
		fail_msg("%s --%s: name or help", verb->name, o->long_name);
	if (!o->argument != (o->kind == OPTION_FLAG || o->kind == OPTION_SET))
		fail_msg("%s --%s: argument and kind", verb->name, o->long_name);
	if ((o->kind == OPTION_ENUM) > (o->names != NULL))
		fail_msg("%s --%s: no names", verb->name, o->long_name);
	for (size_t i = 0; o->names && o->names[i]; i++)
		assert_true(is_plain(o->names[i]));
	while ((other = verb_next_option(verb, &position)))
		if (strcmp(other->long_name, o->long_name) == 0 ||
		    (o->short_name && other->short_name == o->short_name))
			fail_msg("%s --%s: twice", verb->name, o->long_name);
}

static void check_verb(const struct verb *verb)
{
	const struct option *o;
	size_t position = 0;

	assert_true(is_plain(verb->name));
	assert_true(verb->summary && verb->description && verb->synopsis && verb->synopsis[0]);
	assert_int_equal(verb->run == NULL, verb->subverbs != NULL);
	while ((o = verb_next_option(verb, &position)))
		check_option(verb, o, position);
	assert_true(position < OPTION_ROWS_MAX);
	for (size_t i = 0; verb->subverbs && verb->subverbs[i]; i++)
		check_verb(verb->subverbs[i]);
}

static void test_tables(void **state)
{
	(void)state;
	for (size_t i = 0; all_verbs[i]; i++)
		check_verb(all_verbs[i]);
}

/* Nothing that a table cell holds can steer the terminal, and columns line up by characters. */
static void test_table(void **state)
{
	char got[256] = {0};
	struct table table;
	struct out out = OUT_INIT(-1);
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	out.fd = fds[1];
	table_init(&table, 2, (const char *const[]){"NAME", "WHAT"});
	table_cell(&table, "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4");
	table_styled_cell(&table, OUT_RED, "one");
	table_cell(&table, "a\033[2J");
	table_cell(&table, "");
	assert_int_equal(table_print(&table, &out), 0);
	table_done(&table);
	assert_int_equal(out_finish(&out), 0);
	assert_true(read(fds[0], got, sizeof(got) - 1) > 0);
	assert_string_equal(got, "NAME      WHAT\n"
				 "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4     one\n"
				 "a\\x1b[2J\n");
	close(fds[0]);
	close(fds[1]);
}

static void test_out_error_sticks(void **state)
{
	struct out out = OUT_INIT(-1);

	(void)state;
	out_str(&out, "x");
	out_flush(&out);
	out_str(&out, "y");
	assert_int_equal(out_finish(&out), -EBADF);
}

/* What progress writes when stderr is fd: two steps and the end. */
static void show_progress(int fd, const char *term)
{
	pid_t pid = fork();
	int status = -1;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct progress progress;

		if (dup3(fd, STDERR_FILENO, 0) < 0 || setenv("TERM", term, 1) < 0)
			_exit(1);
		progress_begin(&progress);
		progress_step(&progress, 1, 2, "probing a\033[2J");
		progress_step(&progress, 2, 2, "b");
		progress_clear(&progress);
		progress_clear(&progress);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_progress(void **state)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	const char *want = "\r[1/2] probing a\\x1b[2J\033[K\r[2/2] b\033[K\r\033[K";
	char got[256] = {0};
	int slave, fds[2];

	(void)state;
	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(slave >= 0);
	show_progress(slave, "dumb");
	assert_int_equal(read(master, got, sizeof(got) - 1), -1);
	assert_int_equal(errno, EAGAIN);
	show_progress(slave, "xterm");
	/* A terminal passes on what was written in parts, in its own time. */
	for (size_t len = 0; len < strlen(want);) {
		struct pollfd p = {.fd = master, .events = POLLIN};
		ssize_t n;

		assert_int_equal(poll(&p, 1, 5000), 1);
		n = read(master, got + len, sizeof(got) - 1 - len);
		assert_true(n > 0);
		len += (size_t)n;
	}
	assert_string_equal(got, want);
	close(slave);
	close(master);

	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	show_progress(fds[1], "xterm");
	assert_int_equal(read(fds[0], got, sizeof(got)), -1);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_words_between_options),
		cmocka_unit_test(test_required),
		cmocka_unit_test(test_too_many_words),
		cmocka_unit_test(test_run_check),
		cmocka_unit_test(test_run_net),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_out_error_sticks),
		cmocka_unit_test(test_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
