/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See leak_judge.h.
 */
#include "secrets/leak_judge.h"

#include "base/mem.h"
#include "base/parse.h"
#include "secrets/name.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

bool leak_is_any(char c, const char *set)
{
	return c && strchr(set, c);
}

/* log2() to five digits, without the library of mathematics: the series of the area tangent. */
static double judge_log2(size_t n)
{
	int whole = 63 - __builtin_clzll(n);
	double m = (double)n / (double)(UINT64_C(1) << whole), t = (m - 1) / (m + 1), q = t * t;

	return whole +
	       2.8853900817779268 * t * (1 + q * (1 / 3.0 + q * (1 / 5.0 + q * (1 / 7.0 + q / 9))));
}

double leak_entropy(const char *s, size_t len)
{
	unsigned count[256] = {0};
	double sum = 0;

	if (len == 0)
		return 0;
	for (size_t i = 0; i < len; i++)
		count[(unsigned char)s[i]]++;
	for (size_t i = 0; i < ARRAY_LEN(count); i++)
		if (count[i] > 1)
			sum += (double)count[i] * judge_log2(count[i]);
	return judge_log2(len) - sum / (double)len;
}

bool leak_is_hex(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	return len > 0;
}

bool leak_is_uuid(const char *s, size_t len)
{
	if (len != 36)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_dash ? s[i] != '-' : !isxdigit((unsigned char)s[i]))
			return false;
	}
	return true;
}

/* What a word is made of. */
struct judge_mix {
	size_t digits, upper, lower, other, changes;
	size_t segment; /* the longest run of letters and digits */
	size_t word;    /* and of letters of one case */
};

static struct judge_mix judge_mix(const char *s, size_t len)
{
	struct judge_mix m = {0};
	size_t run = 0, word = 0;
	int before = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		int now = isdigit(c) ? 1 : isupper(c) ? 2 : islower(c) ? 3 : 4;

		m.digits += now == 1;
		m.upper += now == 2;
		m.lower += now == 3;
		m.other += now == 4;
		m.changes += now != before;
		run = now == 4 && c != '+' && c != '/' ? 0 : run + 1;
		if (run > m.segment)
			m.segment = run;
		word = now == before ? word + 1 : 1;
		if ((now == 2 || now == 3) && word > m.word)
			m.word = word;
		before = now;
	}
	return m;
}

bool leak_is_random(const char *s, size_t len)
{
	struct judge_mix m;

	if (len < 16 || len > 1024)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && !leak_is_any(s[i], "+/=_-.~!@#$%^*:"))
			return false;
	m = judge_mix(s, len);
	if (m.upper + m.lower == 0 || m.other * 4 > len)
		return false;
	/* What is cut by dashes is a name, but for what holds no word at all. */
	if (m.segment < 12 &&
	    (len < 20 || m.word > 4 || m.digits < 3 || m.upper < 3 || m.lower < 3))
		return false;
	/* Without digits only what changes more often than any name in camel case does. */
	if (m.digits < 2 && (len < 24 || m.other > 0 || m.changes * 2 < len))
		return false;
	if (leak_is_hex(s, len))
		return len >= 20 && leak_entropy(s, len) >= 2.8;
	/* Names with a number at the end change class once or twice. */
	return leak_entropy(s, len) >= 3.2 && m.changes * 6 >= len && m.changes >= 5;
}

bool leak_is_strong(const char *s, size_t len)
{
	struct judge_mix m = judge_mix(s, len);

	/* Names have dashes and dots, too. */
	for (size_t i = 0; i < len; i++)
		m.other -= leak_is_any(s[i], "-_./");
	return len >= 6 && len <= 128 && m.upper + m.lower > 0 && m.digits + m.other > 0 &&
	       leak_entropy(s, len) >= 2.2;
}

static bool judge_is_counting(const char *s, size_t len)
{
	size_t steps = 0, same = 0;

	for (size_t i = 1; i < len; i++) {
		steps += s[i] == s[i - 1] + 1;
		same += s[i] == s[i - 1];
	}
	return len >= 4 && (steps * 10 >= (len - 1) * 7 || same * 10 >= (len - 1) * 7);
}

/* Four of the same letter, dot or star, as people write for "something". */
static bool judge_has_run(const char *s, size_t len)
{
	size_t run = 1;

	for (size_t i = 1; i < len; i++) {
		run = s[i] == s[i - 1] ? run + 1 : 1;
		if (run >= 4 && leak_is_any(s[i], "xX*.#_-0"))
			return true;
		if (run >= 8)
			return true;
	}
	return false;
}

bool leak_is_example(const char *s, size_t len)
{
	static const char *const words[] = {"EXAMPLE", "XXXX", "REDACTED"};

	/* In long tokens they come by chance, or somebody hid a part. */
	for (size_t i = 0; i < ARRAY_LEN(words) && len <= 80; i++)
		if (memmem(s, len, words[i], strlen(words[i])))
			return true;
	return false;
}

bool leak_is_published(const char *s, size_t len)
{
	/* FNV-1a of each, in order: a list of the keys themselves would be found by every scanner. */
	static const uint64_t known[] = {
		UINT64_C(0x08b545962adc7d8b), UINT64_C(0x12113c2e6979f447),
		UINT64_C(0x294c63f8344d5df1), UINT64_C(0x29a336c7244f48dd),
		UINT64_C(0x515cb771a4238032), UINT64_C(0x6835e0f288832a40),
		UINT64_C(0x6acbd824bd32bbd4), UINT64_C(0x816cd10fdb11ead0),
		UINT64_C(0x828818f833257868), UINT64_C(0xadbd04e3fe1b6d49),
		UINT64_C(0xc73f1e61952e6987), UINT64_C(0xdb9422f1dd332dcc),
		UINT64_C(0xe754678ea2b14ef1), UINT64_C(0xe7666dbb286c6c2e),
	};
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (known[i] == h)
			return true;
	return false;
}

bool leak_is_masked(const char *s, size_t len)
{
	static const char *const words[] = {"EXAMPLE", "example",  "xxxx",
					    "XXXX",    "REDACTED", "redacted"};

	for (size_t i = 0; i < ARRAY_LEN(words) && len <= 80; i++)
		if (memmem(s, len, words[i], strlen(words[i])))
			return true;
	return (judge_has_run(s, len) && leak_entropy(s, len) < 4) || judge_is_counting(s, len);
}

bool leak_is_placeholder(const char *s, size_t len)
{
	static const char *const words[] = {
		"example",     "sample",       "dummy",    "placeholder", "changeme",   "change_me",
		"change-me",   "change_in",    "your",     "insert",      "replace",    "xxxx",
		"todo",        "fake",         "redacted", "mock",        "foobar",     "undefined",
		"process.env", "environ",      "getenv",   "env.",        "os.env",     "...",
		"****",        "not_",         "not-a-",   "not-real",    "notasecret", "hunter2",
		"enter_",      "enter-",       "put_",     "my_secret",   "my-secret",  "mysecret",
		"some_",       "_here",        "-here",    "<",           ">",          "{{",
		"}}",          "${",           "$(",       "#{",          "%(",         "%s",
		"%d",          "%v",           "\\u",      "secretkey",   "apikey",     "api_key",
		"api-key",     "access_token", "required", "deadbeef",    "n/a",        "1234567",
		"1234-",       "abcdefg",      "a1b2c3",   "vault:v",     "do-not-use",
	};

	if (len == 0 || s[0] == '$' || s[0] == '%' || s[0] == '@' || s[0] == '[' || s[0] == '(' ||
	    s[0] == '{' || s[0] == '&')
		return true;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (name_has(s, len, words[i]))
			return true;
	return judge_has_run(s, len) || judge_is_counting(s, len);
}

bool leak_is_stock_word(const char *s, size_t len)
{
	static const char *const words[] = {
		"password",    "passwd",     "pass",     "pwd",       "secret",   "token",
		"test",        "testing",    "key",      "value",     "string",   "none",
		"null",        "true",       "false",    "admin",     "root",     "user",
		"guest",       "foo",        "bar",      "baz",       "qux",      "username",
		"required",    "optional",   "hidden",   "unknown",   "default",  "empty",
		"auto",        "plain",      "text",     "p@ssw0rd",  "passw0rd", "password1",
		"password123", "changeit",   "postgres", "mysql",     "redis",    "str",
		"bytes",       "number",     "integer",  "object",    "boolean",  "the_password",
		"my_password", "mypassword", "mypass",   "pass123",   "s3cret",   "s3cr3t",
		"apitoken",    "bearer",     "basic",    "authtoken", "letmein",  "login",
		"name",        "api",
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (len == strlen(words[i]) && strncasecmp(s, words[i], len) == 0)
			return true;
	return false;
}

size_t leak_base64(const char *s, size_t len, char *out, size_t max)
{
	unsigned bits = 0, have = 0;
	size_t n = 0;

	for (size_t i = 0; i < len && n < max; i++) {
		int v = parse_base64_digit(s[i]);

		if (v < 0)
			break;
		bits = (bits << 6 | (unsigned)v) & 0xffff;
		have += 6;
		if (have >= 8) {
			have -= 8;
			out[n++] = (char)(bits >> have & 0xff);
		}
	}
	return n;
}

static uint32_t judge_crc32(const char *s, size_t len)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < len; i++) {
		crc ^= (unsigned char)s[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
	}
	return ~crc;
}

/* GitHub and npm: prefix_ + 30 random characters + the CRC-32 of those in six digits of base 62. */
static int judge_crc(const char *token, size_t len)
{
	static const char digits[] =
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	uint32_t crc;

	if (len < 36)
		return 0;
	crc = judge_crc32(token + len - 36, 30);
	for (size_t i = 1; i <= 6; i++, crc /= 62)
		if (token[len - i] != digits[crc % 62])
			return 0;
	return 1;
}

/* The id is base32; 40 bits behind the first are the account, of twelve decimal digits. */
static int judge_aws(const char *token, size_t len)
{
	uint64_t account = 0;

	for (size_t i = 4; i < len && i < 14; i++) {
		char c = token[i];

		account = account << 5 | (uint64_t)(c >= 'A' ? c - 'A' : c - '2' + 26);
	}
	/* 50 bits were read, of which 48 are the first six bytes; the account is in bits 1 to 40. */
	account = account >> 2 >> 7 & ((UINT64_C(1) << 40) - 1);
	return account < UINT64_C(1000000000000) ? 0 : -1;
}

/* The letters and digits at the end of the token: as many digits as chance gives, and no words. */
static int judge_random(const char *token, size_t len)
{
	size_t from = len;
	struct judge_mix m;

	while (from > 0 && isalnum((unsigned char)token[from - 1]))
		from--;
	token += from;
	len -= from;
	m = judge_mix(token, len);
	if (leak_is_hex(token, len))
		return len >= 32 && m.digits >= 4 ? 0 : -1;
	if (m.digits < 2 || m.lower < 3 || m.word > 8)
		return -1;
	/* Names in camel case change between half and a third of the places, and have few digits. */
	return m.changes * (m.digits * 14 >= len ? 5 : 4) >= len * 2 ? 0 : -1;
}

int leak_verify(enum leak_check check, const char *token, size_t len)
{
	struct judge_mix m;

	switch (check) {
	case LEAK_CHECK_NONE:
		return 0;
	case LEAK_CHECK_CRC:
		return judge_crc(token, len);
	case LEAK_CHECK_AWS:
		return judge_aws(token, len);
	case LEAK_CHECK_RANDOM:
		return judge_random(token, len);
	case LEAK_CHECK_MIXED:
		m = judge_mix(token + 2, len - 2);
		return m.digits >= 2 && m.upper >= 2 && m.lower >= 2 ? 0 : -1;
	}
	return -1;
}
