/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code verifier: its lists are consulted, its text is exact, and what was measured about its
 * predecessor holds: what that found is found, what it missed is found too.
 */
#include "inspect/code/verify.h"

#include "base/mem.h"
#include "policy_kit.h"

/* Three names of the library are also ours; none of the three is used here. */
#define json_object jansson_object
#define json_array jansson_array
#define json_null jansson_null
#include <jansson.h>
#undef json_object
#undef json_array
#undef json_null
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct inspect_context no_context;

static void verify(const struct code_verifier *v, const char *language, const char *text,
		   struct code_result *ret)
{
	struct cordon_error err = {0};
	int r = code_verify(v, &no_context, language, text, strlen(text), ret, &err);

	if (r < 0)
		print_message("%s\n", err.message);
	assert_int_equal(r, 0);
}

static bool has_violation(const struct code_result *r, const char *type, const char *reason,
			  int line)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct code_violation *v = &r->violations[i];

		if ((!type || strcmp(finding_type_name(v->type), type) == 0) &&
		    (!reason || strstr(v->reason, reason)) &&
		    (line <= 0 || v->line == (unsigned)line))
			return true;
	}
	return false;
}

/* {language, code, safe, type of a violation} */
static const struct {
	const char *language, *text;
	bool is_safe;
	const char *type, *reason;
	int line;
} rows[] = {
	{"python", "\nimport json\nprint(json.dumps(1))\n", true, NULL, NULL, 0},
	{"python", "\nx = input()\nresult = eval(x)\n", false, "blocked_function", "eval", 3},
	{"python", "import os\nos.system('ls')\n", false, "blocked_module", "os.system", 2},
	{"py", "import subprocess\nsubprocess.call('ls -la', shell=True)\n", false,
	 "blocked_module", NULL, 2},
	{"python", "import pickle\nd = pickle.loads(x)\n", false, "blocked_function", "pickle", 2},
	{"python", "m = __import__('os')\n", false, "blocked_module", "__import__", 1},
	{"python", "import socket\ns = socket.socket()\n", false, "network_access", NULL, 2},
	{"python", "import os\nos.remove('a')\n", false, "file_access", NULL, 2},
	{"python", "import os\nos.remove('/tmp/a')\n", true, NULL, NULL, 0},
	{"python", "import os\nos.remove('/tmp/../etc/passwd')\n", false, "file_access", NULL, 2},
	{"python", "import os\nos.kill(p, 9)\n", false, "blocked_function", "os.kill", 2},
	{"python", "print('{}'.format(1))\nformat(1)\n", true, NULL, NULL, 0},
	{"python", "# os.system('rm -rf /')\nx = 'eval(y)'\n", true, NULL, NULL, 0},
	{"python", "import hashlib\nhashlib.md5(x)\n", true, "dangerous_pattern", "weak hash", 2},
	{"go", "package p\nimport \"unsafe\"\nvar x unsafe.Pointer\n", false, "blocked_module",
	 "unsafe", 2},
	{"golang", "package p\nimport \"syscall\"\nfunc f() { syscall.Kill(1, 9) }\n", false,
	 "blocked_module", "syscall", 2},
	{"go",
	 "package p\nimport \"os/exec\"\nfunc f(c string) {\n\texec.Command(\"bash\", \"-c\", c)\n}\n",
	 false, "system_call", "exec.Command", 4},
	{"go", "package p\nimport e \"os/exec\"\nfunc f() { e.Command(\"ls\") }\n", false,
	 "system_call", "exec.Command", 3},
	{"go", "package p\nimport . \"os/exec\"\nfunc f() { Command(\"ls\") }\n", false,
	 "system_call", "exec.Command", 3},
	{"go", "package p\nimport \"os\"\nfunc f() { os.Exit(1) }\n", true, "system_call",
	 "os.Exit", 3},
	{"go", "this is not valid Go code\nos.system(\"something\")\n", false, NULL, NULL, 2},
	{"go", "package p\n\nimport \"C\"\n", false, "blocked_module", NULL, 3},
	{"bash", "rm x\n", false, "blocked_function", "rm", 1},
	{"bash", "rm /tmp/x\n", true, NULL, NULL, 0},
	{"bash", "sudo apt-get install x\n", false, "system_call", "sudo", 1},
	{"bash", "echo sudo\n", true, NULL, NULL, 0},
	{"bash", "pwd\n\\sudo id\n", false, "system_call", "sudo", 2},
	{"bash", "S=sudo\n$S id\n", false, "system_call", "sudo", 2},
	{"bash", "env A=1 doas id\n", false, "system_call", "doas", 1},
	{"bash", "ls | xargs sudo id\n", false, "system_call", "sudo", 1},
	{"bash", "echo 'sudo id' | sh\n", false, "system_call", "sudo", 1},
	{"bash", "f() {\n\tcommand pkexec id\n}\n", false, "system_call", "pkexec", 2},
	{"bash", "`which sudo` id\n", false, "system_call", "sudo", 1},
	{"bash", "runuser -u x id\n", false, "system_call", "runuser", 1},
	{"bash", "echo 'sudo id'; command -v sudo; man sudo\n", true, NULL, NULL, 0},
	{"bash", "M=777\nnice chmod $M f\n", false, "system_call", "chmod", 2},
	{"bash", "find . -exec chmod o+w {} +\n", false, "system_call", "chmod", 1},
	{"bash", "chmod a+rwx f\n", false, "system_call", "chmod", 1},
	{"bash", "chmod 0666 f\n", false, "system_call", "chmod", 1},
	{"bash", "chmod u+rwx f; chmod 755 f; chmod +x f\n", true, NULL, NULL, 0},
	{"sh", "echo rm x\n", true, NULL, NULL, 0},
	{"ruby", "os.system(\"whoami\")", false, "dangerous_pattern", NULL, 1},
	{"javascript", "const { execSync } = require('child_process');\n", false, NULL, NULL, 1},
	{"javascript", "export const add = (a, b) => a + b;", true, NULL, NULL, 0},
};

static void test_rows(void **state)
{
	AUTO(code_verifier_done) struct code_verifier v = {0};
	unsigned failed = 0;

	(void)state;
	assert_int_equal(code_verifier_init(&v, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(code_result_done) struct code_result r = {0};

		verify(&v, rows[i].language, rows[i].text, &r);
		if (r.is_safe == rows[i].is_safe &&
		    ((!rows[i].type && rows[i].line == 0) ||
		     has_violation(&r, rows[i].type, rows[i].reason, rows[i].line)))
			continue;
		print_message("row %zu: safe %d, %zu violations, first '%s': %s\n", i, r.is_safe,
			      r.n, r.n ? r.violations[0].reason : "", rows[i].text);
		failed++;
	}
	assert_int_equal(failed, 0);
}

/* Each list is asked: the same code is safe without the entry and unsafe with it. */
static void test_lists(void **state)
{
	static const struct {
		const char *what, *entry, *language, *text, *type;
	} lists[] = {
		{"module", "json", "python", "import json\n", "blocked_module"},
		{"module", "json", "python", "import json.tool as t\n", "blocked_module"},
		{"module", "xml.dom", "python", "from xml.dom import minidom\n", "blocked_module"},
		{"module", "net/http", "go", "package p\nimport \"net/http\"\n", "blocked_module"},
		{"module", "math.sqrt", "python", "import math as m\nm.sqrt(2)\n",
		 "blocked_module"},
		{"function", "frob", "python", "frob(1)\n", "blocked_function"},
		{"function", "math.sqrt", "python", "from math import sqrt as s\ns(2)\n",
		 "blocked_function"},
		{"function", "ls", "bash", "/bin/ls -l\n", "blocked_function"},
		{"function", "frob", "bash", "\"fr\"ob x\n", "blocked_function"},
		{"function", "frob", "bash", "pwd\n\\frob x\n", "blocked_function"},
		{"function", "frob", "bash", "env A=1 frob x\n", "blocked_function"},
		{"function", "frob", "bash", "X=frob; $X x\n", "blocked_function"},
		{"function", "frob", "bash", "sh -c 'frob x'\n", "blocked_function"},
		{"module", "json", "python",
		 "import importlib\nimportlib.import_module('js' + 'on')\n", "blocked_module"},
		{"pattern", "dangerous_call\\(", "python", "x = 1\ndangerous_call(2)\n",
		 "dangerous_pattern"},
		{"pattern", "TODO", "go", "package p\nvar x = \"TODO\"\n", "dangerous_pattern"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		AUTO(code_verifier_done) struct code_verifier v = {0};
		AUTO(code_result_done) struct code_result before = {0}, after = {0};

		assert_int_equal(code_verifier_init(&v, NULL), 0);
		verify(&v, lists[i].language, lists[i].text, &before);
		if (lists[i].what[0] == 'm')
			assert_int_equal(strv_add(&v.modules, lists[i].entry), 0);
		else if (lists[i].what[0] == 'f')
			assert_int_equal(strv_add(&v.functions, lists[i].entry), 0);
		else
			assert_int_equal(code_verifier_add_pattern(&v, lists[i].entry, NULL), 0);
		verify(&v, lists[i].language, lists[i].text, &after);
		if (!before.is_safe || after.is_safe ||
		    !has_violation(&after, lists[i].type, NULL, 0))
			fail_msg("%s %s: %s", lists[i].what, lists[i].entry, lists[i].text);
	}
}

static void test_paths(void **state)
{
	static const struct {
		const char *language, *text;
		bool is_allowed;
	} places[] = {
		{"python", "import shutil\nshutil.rmtree('/srv/work/x')\n", true},
		{"python", "import shutil\nshutil.rmtree('/srv/work/../x')\n", false},
		{"bash", "rm -rf /srv/work/x\n", true},
		{"bash", "rm -rf /srv/work/../x\n", false},
		{"bash", "rm -rf /srv/work/x /srv/y\n", false},
		{"bash", "rm -rf /srv/work/$X\n", false},
		{"bash", "rm -rf /srv/workx\n", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		AUTO(code_verifier_done) struct code_verifier v = {0};
		AUTO(code_result_done) struct code_result before = {0}, after = {0};

		assert_int_equal(code_verifier_init(&v, NULL), 0);
		verify(&v, places[i].language, places[i].text, &before);
		assert_false(before.is_safe);
		assert_int_equal(strv_add(&v.paths, "/srv/work"), 0);
		verify(&v, places[i].language, places[i].text, &after);
		if (after.is_safe != places[i].is_allowed)
			fail_msg("%s is %s", places[i].text, after.is_safe ? "SAFE" : "not SAFE");
	}
}

static void test_patterns(void **state)
{
	AUTO(code_verifier_done) struct code_verifier v = {0};

	(void)state;
	assert_int_equal(code_verifier_init(&v, NULL), 0);
	assert_true(code_verifier_add_pattern(&v, "[invalid", NULL) < 0);
	assert_true(code_verifier_add_pattern(&v, "(a+)+$", NULL) < 0);
	assert_int_equal(code_verifier_add_pattern(&v, "dangerous_call\\(", NULL), 0);
}

#define RULE "─────────────────────────"

static void test_format(void **state)
{
	static const struct {
		const char *text, *want;
	} formats[] = {
		{"import json\n", "Code Verification: SAFE\n" RULE "\nNo violations detected."},
		{"\n\nimport os\nos.umask(0)\n",
		 "Code Verification: SAFE\n" RULE
		 "\n⚠ L4: os.umask: changes who the program is or what others may do\n\n"
		 "0 violations, 1 warning — execution allowed"},
		{"import yaml\n\nyaml.load(x)\neval(y)\nassert y\n",
		 "Code Verification: UNSAFE\n" RULE
		 "\n✗ L3: yaml.load: YAML of this kind can make any object\n"
		 "✗ L4: eval: runs code that is made while the program runs\n"
		 "⚠ L5: assert y: a check that vanishes with optimisation\n\n"
		 "2 violations, 1 warning — execution blocked"},
	};
	AUTO(code_verifier_done) struct code_verifier v = {0};

	(void)state;
	assert_int_equal(code_verifier_init(&v, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		AUTO(code_result_done) struct code_result r = {0};
		struct buf b = BUF_INIT(65536);

		verify(&v, "python", formats[i].text, &r);
		code_result_format(&r, &b);
		assert_string_equal(buf_cstr(&b), formats[i].want);
		buf_done(&b);
	}
}

/* ---- what was measured about the predecessor ---- */

static unsigned vectors_failed;

static const char *string_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void vector_code(const struct code_verifier *v, const json_t *line)
{
	const json_t *expect = json_object_get(line, "expect");
	const json_t *safe = json_object_get(expect, "safe");
	AUTO(code_result_done) struct code_result r = {0};
	json_int_t want_line = json_integer_value(json_object_get(expect, "line"));
	bool ok;

	if (!safe)
		safe = json_object_get(expect, "should_be_safe");
	assert_non_null(safe);
	verify(v, string_of(line, "language"), string_of(line, "code"), &r);
	ok = r.is_safe == json_is_true(safe);
	if (string_of(expect, "type") || string_of(expect, "reason_contains") || want_line)
		ok = ok && has_violation(&r, string_of(expect, "type"),
					 string_of(expect, "reason_contains"), (int)want_line);
	if (string_of(expect, "code"))
		ok = ok && has_violation(&r, NULL, string_of(expect, "code"), 0);
	if (ok)
		return;
	print_message("%s: safe %d, first '%s': %s\n", string_of(line, "name"), r.is_safe,
		      r.n ? r.violations[0].reason : "", string_of(line, "code"));
	vectors_failed++;
}

static void vector_pattern(const json_t *line)
{
	AUTO(code_verifier_done) struct code_verifier v = {0};
	bool want = json_is_true(json_object_get(json_object_get(line, "expect"), "error"));

	assert_int_equal(code_verifier_init(&v, NULL), 0);
	assert_int_equal(code_verifier_add_pattern(&v, string_of(line, "pattern"), NULL) < 0, want);
}

static void test_vectors(void **state)
{
	AUTO(code_verifier_done) struct code_verifier v = {0};
	const char *path = kit_shared("spec/hawk/vectors.jsonl");
	AUTO_FREE char *all = path ? kit_read(path, NULL) : NULL;
	size_t n = 0;

	(void)state;
	if (!all) {
		print_message("# skip: ../shared not there\n");
		skip();
		return;
	}
	assert_int_equal(code_verifier_init(&v, NULL), 0);
	for (char *line = all, *end; *line; line = end) {
		json_t *object;

		end = line + strcspn(line, "\n");
		object = json_loadb(line, (size_t)(end - line), 0, NULL);
		end += *end == '\n';
		if (object && string_of(object, "suite") &&
		    strncmp(string_of(object, "suite"), "code_verifier", 13) == 0) {
			n++;
			if (string_of(object, "pattern"))
				vector_pattern(object);
			else
				vector_code(&v, object);
		}
		json_decref(object);
	}
	assert_int_equal(vectors_failed, 0);
	assert_true(n >= 38);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),   cmocka_unit_test(test_lists),
		cmocka_unit_test(test_paths),  cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_format), cmocka_unit_test(test_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
