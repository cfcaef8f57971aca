/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets at the boundary, over arbitrary bytes.  Properties: without placeholders bytes go on unchanged; a value
 * is put in exactly once for each placeholder, and for none that is not allowed; an answer comes out the same however
 * it is cut, as long as it was, and without the value, and so does what leaves; and what the other program is told is read within its bounds,
 * and what was read can be written and read again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proxy/boundary.h"
#include "proxy/brief.h"
#include "proxy/exfil.h"

#define PLACEHOLDER "cordon-secret-x-0123456789abcdef"
#define VALUE "v=al/ue+1"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static size_t count(const char *text, size_t len, const char *what)
{
	size_t n = 0;
	size_t what_len = strlen(what);

	for (const char *p = text; (p = memmem(p, len - (size_t)(p - text), what, what_len));
	     p += what_len)
		n++;
	return n;
}

static void check_put(const struct boundary *b, const char *text, size_t len)
{
	static const bool yes[] = {true};
	static const bool no[] = {false};
	size_t n = len > 0 ? count(text, len, PLACEHOLDER) : 0;

	for (int place = 0; place < BOUNDARY_PLACE_COUNT; place++) {
		const struct boundary_secret *who = NULL;
		struct buf out = BUF_INIT(1024 * 1024);
		int r = boundary_put(b, yes, (enum boundary_place)place, text, len, &out, &who);

		must(r == (int)n);
		must(n > 0 || (out.len == len && memcmp(buf_cstr(&out), text, len) == 0));
		buf_clear(&out);
		r = boundary_put(b, no, (enum boundary_place)place, text, len, &out, &who);
		must(n > 0 ? r < 0 : r == 0);
		must(n == 0 || count(buf_cstr(&out), out.len, VALUE) <= count(text, len, VALUE));
		buf_clear(&out);
		(void)!boundary_put_field(b, yes, text, len, &out, &who);
		buf_done(&out);
	}
}

static void check_redact(const struct boundary *b, const char *text, size_t len, size_t step)
{
	struct boundary_stream whole = BOUNDARY_STREAM;
	struct boundary_stream cut = BOUNDARY_STREAM;
	struct boundary_scan scan = {0};
	struct buf a = BUF_INIT(1024 * 1024);
	struct buf c = BUF_INIT(1024 * 1024);
	bool found = false;

	must(boundary_redact(b, &whole, text, len, true, true, &a) >= 0);
	for (size_t i = 0; i < len; i += step) {
		size_t n = len - i < step ? len - i : step;

		must(boundary_redact(b, &cut, text + i, n, i + step >= len, true, &c) >= 0);
		found |= boundary_scan(b, &scan, text + i, n) != NULL;
	}
	must(a.len == len && c.len == len && memcmp(buf_cstr(&a), buf_cstr(&c), len) == 0);
	must(len == 0 || count(buf_cstr(&a), a.len, VALUE) == 0);
	must(found == (len > 0 && count(text, len, PLACEHOLDER) > 0));
	boundary_stream_done(&whole);
	boundary_stream_done(&cut);
	buf_done(&a);
	buf_done(&c);
}

static void check_exfil(const struct boundary *b, const char *text, size_t len, size_t step)
{
	static struct proxy_tally tally;
	static const struct authority authority;
	struct loop l = {.tally = &tally,
			 .boundary = b,
			 .authority = &authority,
			 .leaks = {.is_on = true, .has_rules = true, .action = SECRET_REDACT}};
	struct host host = {0};
	struct buf a = BUF_INIT(1024 * 1024);
	struct buf c = BUF_INIT(1024 * 1024);
	struct exfil *whole = exfil_new(&l, &host, 80);
	struct exfil *cut = exfil_new(&l, &host, 80);
	char name[HOST_TEXT_SIZE];
	size_t n = 0;

	must(whole && cut && exfil_prepare(&l) == 0);
	must(exfil_body(whole, text, len, true, &a) == 0);
	for (size_t i = 0; i < len; i += step)
		must(exfil_body(cut, text + i, len - i < step ? len - i : step, i + step >= len,
				&c) == 0);
	must(a.len == len && c.len == len && memcmp(buf_cstr(&a), buf_cstr(&c), len) == 0);
	must(len == 0 || count(buf_cstr(&a), a.len, VALUE) == 0);
	for (size_t i = 0; i < len && n + 1 < sizeof(name); i++)
		if (text[i] > ' ' && text[i] < 0x7f)
			name[n++] = text[i];
	name[n] = '\0';
	(void)exfil_name(&l, name, 0);
	exfil_free(whole);
	exfil_free(cut);
	grams_done(&l.grams);
	buf_done(&a);
	buf_done(&c);
}

static void check_brief(const uint8_t *data, size_t size)
{
	struct buf out = BUF_INIT(BRIEF_MAX);
	struct brief b;
	struct brief again;

	if (brief_read(data, size, &b) == 0) {
		brief_write(&b.options, &out);
		must(buf_error(&out) == 0);
		must(brief_read(out.data, out.len, &again) == 0);
		must(again.options.n_secrets == b.options.n_secrets &&
		     again.authority.n_rules == b.authority.n_rules);
		brief_done(&again);
	}
	brief_done(&b);
	buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct boundary_secret secret = {.name = "x",
						      .placeholder = PLACEHOLDER,
						      .value = VALUE,
						      .value_len = sizeof(VALUE) - 1};
	const char *text = (const char *)data;
	struct boundary b;

	if (size > 65536)
		return 0;
	check_brief(data, size);
	must(boundary_make(&secret, 1, &b) == 0);
	check_put(&b, text, size);
	check_redact(&b, text, size, size > 0 ? 1 + data[0] % 40 : 1);
	check_exfil(&b, text, size, size > 0 ? 1 + data[0] % 40 : 1);
	boundary_done(&b);
	return 0;
}
