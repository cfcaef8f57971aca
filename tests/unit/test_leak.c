/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leak rules: every row finds what is made from it and leaves alone what is almost that; what the checks
 * of the providers say; findings show the place and never the secret.
 */
#include "base/mem.h"
#include "leak_example.h"
#include "secrets/leak.h"
#include "secrets/leak_judge.h"
#include "secrets/name.h"
#include "secrets/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEEDS = 40 };

static bool inspect_has(const struct buf *text, const char *rule, double at_least)
{
	struct findings f = {0};
	bool found = false;

	assert_int_equal(leak_inspect(buf_cstr(text), text->len, &f, NULL), 0);
	for (size_t i = 0; i < f.n; i++)
		found |= (!rule || strcmp(f.items[i].rule, rule) == 0) &&
			 f.items[i].confidence >= at_least;
	findings_done(&f);
	return found;
}

/* Names that are no credentials: told only to who asks for them. */
static const char *const notices[] = {"SECRET-BUCKET", "SECRET-BUCKET_PATH", "SECRET-TENANT",
				      "SECRET-ARN"};

static bool is_notice(const char *rule)
{
	for (size_t i = 0; i < ARRAY_LEN(notices); i++)
		if (strcmp(notices[i], rule) == 0)
			return true;
	return false;
}

/* Is that all that there is, and with the confidence that changes no verdict? */
static bool is_noticed(const struct buf *text, const char *rule)
{
	struct findings f = {0};
	bool found = false;

	assert_int_equal(leak_inspect_all(buf_cstr(text), text->len, &f, NULL), 0);
	for (size_t i = 0; i < f.n; i++)
		found |= (!rule || strcmp(f.items[i].rule, rule) == 0) &&
			 f.items[i].confidence <= LEAK_NOTICE && f.items[i].level == THREAT_LOW;
	findings_done(&f);
	return found && !inspect_has(text, NULL, 0);
}

/* Keyed rows may share words and shapes with an earlier one. */
static void test_rows_hit(void **state)
{
	struct buf text = BUF_INIT(1 << 20);
	size_t failed = 0;

	(void)state;
	for (size_t i = 0; i < leak_rules_n; i++) {
		const struct leak_rule *rule = &leak_rules[i];
		bool found = false;

		for (uint64_t seed = 1; seed <= SEEDS && !found; seed++) {
			example_text(&text, rule, seed, true);
			found = is_notice(rule->id) ? is_noticed(&text, rule->id)
				: rule->kind == LEAK_KIND_KEYED
					? inspect_has(&text, NULL, rule->confidence)
					: inspect_has(&text, rule->id, 0.3);
			/* A surer rule may stand for the same token. */
			if (!found && rule->kind == LEAK_KIND_TOKEN && seed > 5)
				found = inspect_has(&text, NULL, rule->confidence);
		}
		if (!found)
			print_error("%s finds nothing in '%s'\n", rule->id, buf_cstr(&text));
		failed += !found;
	}
	buf_done(&text);
	assert_int_equal(failed, 0);
}

static void test_rows_miss(void **state)
{
	struct buf text = BUF_INIT(1 << 20);

	(void)state;
	for (size_t i = 0; i < leak_rules_n; i++)
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			example_text(&text, &leak_rules[i], seed, false);
			if (inspect_has(&text, leak_rules[i].id, 0) ||
			    (is_notice(leak_rules[i].id) && is_noticed(&text, NULL)))
				fail_msg("%s finds '%s'", leak_rules[i].id, buf_cstr(&text));
		}
	buf_done(&text);
}

static void test_notices(void **state)
{
	static const struct {
		const char *text;
		bool is_noticed;
	} rows[] = {
		{"db_password = \"secret\"", true},
		{"postgres://user:password@localhost/db", true},
		{"psexec -u bob -p PASSWORD cmd", true},
		{"$password = goodspeed;", true},
		{"$password = DB_PASSWORD;", false},
		{"db_password = secret", false},
		{"password: !secret wifi_password", false},
		{"https://shop-backup.s3.amazonaws.com/", true},
		{"https://shop-backup.s3.amazonaws.com/release.tgz", false},
		{"arn:aws:sns:eu-west-1:210987654321:topic", false},
	};
	struct buf text = BUF_INIT(1 << 20);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		buf_clear(&text);
		buf_str(&text, rows[i].text);
		if (is_noticed(&text, NULL) != rows[i].is_noticed || inspect_has(&text, NULL, 0))
			fail_msg("'%s'", rows[i].text);
	}
	buf_done(&text);
}

/* Random parts that are crossed out are no tokens, unless the row says that they are. */
static void test_rows_masked(void **state)
{
	struct buf text = BUF_INIT(1 << 20);

	(void)state;
	for (size_t i = 0; i < leak_rules_n; i++) {
		struct shape s;

		if (leak_rules[i].kind != LEAK_KIND_TOKEN || leak_rules[i].is_plain)
			continue;
		assert_int_equal(shape_parse(leak_rules[i].shape, &s), 0);
		buf_clear(&text);
		for (size_t k = 0; k < s.n; k++) {
			if (s.part[k].literal)
				buf_add(&text, s.part[k].literal, s.part[k].max);
			for (size_t n = 0; !s.part[k].literal && n < s.part[k].min; n++)
				buf_char(&text, shape_has(&s.part[k], 'x')   ? 'x'
						: shape_has(&s.part[k], 'X') ? 'X'
									     : '0');
		}
		if (example_last(&s) < s.n && s.part[example_last(&s)].min >= 20 &&
		    inspect_has(&text, leak_rules[i].id, 0))
			fail_msg("%s finds '%s'", leak_rules[i].id, buf_cstr(&text));
	}
	buf_done(&text);
}

static void test_rows_are_told_apart(void **state)
{
	(void)state;
	assert_true(leak_rule_count() >= 222);
	for (size_t i = 0; i < leak_rules_n; i++) {
		assert_true(leak_rules[i].what[0] && strlen(leak_rules[i].id) < 64);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(leak_rules[i].id, leak_rules[k].id);
	}
}

/* Each with a % where twenty random characters go. */
static const struct {
	const char *what, *text;
	double at_least; /* 0: nothing may be found */
} texts[] = {
	{"a password in code", "password = \"corr3ct-h0rse\"", 0.5},
	{"a word as a password", "db_password: \"centipede\"", 0.3},
	{"YAML without quotes", "password: corr3cth0rse!", 0.3},
	{"a token in JSON", "{\"accessToken\": \"%\"}", 0.5},
	{"a token in a string in a string", "\"{\\\"api_token\\\": \\\"%\\\"}\"", 0.5},
	{"a token in the environment", "export SERVICE_TOKEN=%", 0.5},
	{"a token in a query", "https://example.com/?api_key=%&x=1", 0.5},
	{"a connection string", "Server=a;User Id=b;Password=hunter;", 0.3},
	{"XML", "<apiKey>%</apiKey>", 0.5},
	{"a header", "X-Api-Key: %", 0.5},
	{"a call", "os.Setenv(\"API_SECRET\", \"%\")", 0.5},
	{"a login in a URL", "redis://:%@10.0.0.1/", 0.5},
	{"basic authorization", "Authorization: Basic YWRtaW46aHVudGVyMg==", 0.5},
	{"a variable", "password = \"$PASSWORD\"", 0},
	{"a template", "password: {{ vault_password }}", 0},
	{"a call for it", "password = getpass.getpass()", 0},
	{"a member", "token = request.session.token", 0},
	{"a stand-in", "api_key: YOUR_API_KEY_HERE", 0},
	{"crossed out", "api_key: xxxxxxxxxxxxxxxxxxxxxxxx", 0},
	{"the name of a file", "password_file: /run/secrets/db1a2b3c4d5e6f", 0},
	{"a public key", "public_key = \"%%\"", 0},
	{"a length", "key_length = 2048", 0},
	{"a hash of a package", "integrity sha512-%%%%", 0},
	{"a commit", "commit: 3b18e512dba79e4c8300dd08aeb37f8e728b8dad", 0},
	{"prose", "The token is then passed to the key manager: see the secret section.", 0},
	{"a URL with a port", "http://localhost:8080/a@b", 0},
	{"an identifier", "credentialsId: 'ff083f76-7804-4ef1-80e4-fe975bb9141b'", 0},
	{"a definition", "#define API_TOKEN \"%\"", 0.5},
	{"a setter", "client.set_token('%')", 0.5},
	{"a name in a call", "client.get_token('the-name-of-it-2026')", 0},
	{"a scheme of one provider", "Authorization: GenieKey %%", 0.5},
	{"a login for any program", "elasticsearch -u elastic:%", 0.5},
	{"a port for a program", "tool -u host:8080", 0},
	{"an address for a program", "pip install -U \"a @ https://example.com/%\"", 0},
	{"a property of Java",
	 "sonar-scanner -Dsonar.login=3b18e512dba79e4c8300dd08aeb37f8e728b8dad", 0.5},
	{"a type", "token: string; password: string", 0},
	{"a password prompt", "Password: ", 0},
	{"a certificate", "-----BEGIN CERTIFICATE-----\n%%%%\n-----END CERTIFICATE-----", 0},
	{"a key that is none", "-----BEGIN PRIVATE KEY-----\nhere\n-----END PRIVATE KEY-----", 0},
};

static void test_texts(void **state)
{
	struct buf text = BUF_INIT(1 << 20);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		bool found;

		buf_clear(&text);
		example_form(&text, texts[i].text, 3);
		found = inspect_has(&text, NULL, texts[i].at_least);
		if (found != (texts[i].at_least > 0))
			fail_msg("%s: '%s'", texts[i].what, buf_cstr(&text));
	}
	buf_done(&text);
}

/* The coarse net of redact.h, which has no rules, catches what the sure rules know. */
static void test_redaction_is_in_step(void **state)
{
	struct buf token = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
	size_t failed = 0;

	(void)state;
	for (size_t i = 0; i < leak_rules_n; i++) {
		if (leak_rules[i].kind != LEAK_KIND_TOKEN || leak_rules[i].confidence < 0.9 ||
		    !strchr("}", leak_rules[i].shape[strlen(leak_rules[i].shape) - 1]))
			continue;
		buf_clear(&token);
		buf_clear(&out);
		example_shape(&token, leak_rules[i].shape, 21, false);
		redact_text(&out, token.data, token.len);
		if (memmem(out.data, out.len, token.data + token.len - 12, 12)) {
			print_error("%s is left: '%s'\n", leak_rules[i].id, buf_cstr(&out));
			failed++;
		}
	}
	buf_done(&token);
	buf_done(&out);
	assert_int_equal(failed, 0);
}

static void test_place_and_snippet(void **state)
{
	struct buf text = BUF_INIT(1 << 20), secret = BUF_INIT(1 << 20);
	struct findings f = {0};

	(void)state;
	example_shape(&secret, "%w{36}", 7, false);
	buf_printf(&text, "one\ntwo\n  token ghp_%s and more\n", buf_cstr(&secret));
	assert_int_equal(leak_inspect(buf_cstr(&text), text.len, &f, NULL), 0);
	assert_int_equal(f.n, 1);
	assert_string_equal(f.items[0].rule, "SECRET-GITHUB_PAT");
	assert_string_equal(f.items[0].message, "GitHub personal access token in the text");
	assert_string_equal(f.items[0].snippet, "  token [redacted]");
	assert_int_equal(f.items[0].line, 3);
	assert_int_equal(f.items[0].column, 9);
	assert_int_equal(f.items[0].type, FINDING_DATA_LEAK);
	assert_int_equal(f.items[0].level, THREAT_HIGH);
	findings_done(&f);
	buf_done(&text);
	buf_done(&secret);
}

/* The checksum makes sure; a wrong one does not. */
static void test_checksum(void **state)
{
	char token[] = "npm_000000000000000000000000000000000000";

	(void)state;
	for (int i = 0; i < 2; i++) {
		int want = i == 0;

		if (want) {
			static const char digits[] =
				"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
			uint32_t crc = UINT32_MAX;

			for (int k = 0; k < 30; k++) {
				crc ^= '0';
				for (int b = 0; b < 8; b++)
					crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
			}
			crc = ~crc;
			for (int k = 39; k >= 34; k--, crc /= 62)
				token[k] = digits[crc % 62];
		} else {
			token[39] = token[39] == 'a' ? 'b' : 'a';
		}
		assert_int_equal(leak_verify(LEAK_CHECK_CRC, token, 40), want);
	}
	/* Account 0 may exist, 2^40 - 1 has thirteen digits. */
	assert_int_equal(leak_verify(LEAK_CHECK_AWS, "AKIAAAAAAAAAAAAAAAAA", 20), 0);
	assert_int_equal(leak_verify(LEAK_CHECK_AWS, "AKIA7777777777777777", 20), -1);
}

static const struct {
	const char *name;
	enum name_kind kind;
} names[] = {
	{"password", NAME_PASSWORD},   {"DB_PASS", NAME_PASSWORD},    {"userPwd", NAME_PASSWORD},
	{"api_key", NAME_SECRET},      {"clientSecret", NAME_SECRET}, {"X-Auth-Token", NAME_SECRET},
	{"author", NAME_PLAIN},        {"PWD", NAME_PLAIN},           {"keyboard", NAME_PLAIN},
	{"PASSWORD_FILE", NAME_PLAIN}, {"publicKey", NAME_PLAIN},     {"tokenType", NAME_PLAIN},
	{"csrf_token", NAME_PLAIN},    {"key_length", NAME_PLAIN},    {"", NAME_PLAIN},
};

/* A key of public samples is left alone; one that differs in one letter is not.  In two parts, for other scanners. */
static void test_published(void **state)
{
	struct buf text = BUF_INIT(256);

	(void)state;
	buf_str(&text, "AIzaSyCkEhVjf3pduRDt6d1yKO");
	buf_str(&text, "MitrUEke8agEM");
	assert_false(inspect_has(&text, NULL, 0));
	text.data[text.len - 1] = 'N';
	assert_true(inspect_has(&text, NULL, 0.5));
	buf_done(&text);
}

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (name_kind(names[i].name, strlen(names[i].name)) != names[i].kind)
			fail_msg("'%s'", names[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_hit),
		cmocka_unit_test(test_rows_miss),
		cmocka_unit_test(test_notices),
		cmocka_unit_test(test_rows_masked),
		cmocka_unit_test(test_rows_are_told_apart),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_place_and_snippet),
		cmocka_unit_test(test_checksum),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_redaction_is_in_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
