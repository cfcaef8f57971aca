/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redaction of arbitrary bytes.  Property: a secret planted in one of the forms that redact.h promises
 * is never left over, whatever stands before the form and behind it; and the output is bounded by
 * the input.
 *
 * The first byte picks the form, the rest is the text around it, split in the middle.
 */
#include "secrets/redact.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PLANTED "pl4nted5ecret"

/* The byte before a form is a blank and the byte behind it too: inside other words and quotes there
 * is no name to know the secret by. */
static const char *const forms[] = {
	"PASSWORD=" PLANTED,
	"--password " PLANTED,
	"--password=" PLANTED,
	"{\"password\": \"" PLANTED "\"}",
	"{\"secret\":\"a" PLANTED "b\"}",
	"https://user:" PLANTED "@example.org/",
	"ghp_" PLANTED "abcdef",
	"glpat-" PLANTED,
	"-----BEGIN RSA PRIVATE KEY-----\n" PLANTED "\n-----END RSA PRIVATE KEY-----",
	"Authorization: Bearer " PLANTED,
	"api_key: " PLANTED,
	"DB_PASS='" PLANTED "'",
};

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* Around the form no quote may be open: it would hide where the form ends. */
static void add_context(struct buf *b, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		buf_char(b, memchr("\"'`\\", data[i], 4) ? '.' : (char)data[i]);
}

static void check_words(const uint8_t *data, size_t size)
{
	static char password[] = "--password";
	AUTO_FREE char *word = malloc(size + 1);
	char *argv[] = {password, word, NULL};
	struct buf b = BUF_INIT(1 << 24);

	if (!word)
		return;
	memcpy(word, data, size);
	word[size] = '\0';
	redact_words(&b, argv);
	check(buf_error(&b) == 0);
	/* Whatever the word is, nothing of it is left unless it looks like another option. */
	if (word[0] && strncmp(word, "--", 2) != 0)
		check(strcmp(buf_cstr(&b), "--password '[redacted]'") == 0);
	buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf text = BUF_INIT(1 << 20), out = BUF_INIT(1 << 24);
	size_t half;

	/* A fuzzer finds the planted word by itself and writes it where nothing gives it away. */
	if (size == 0 || size > 65536 || memmem(data, size, PLANTED, strlen(PLANTED)))
		return 0;
	redact_text(&out, (const char *)data, size);
	check(buf_error(&out) == 0 && out.len <= size * 10 + 10);
	buf_clear(&out);
	half = 1 + (size - 1) / 2;
	add_context(&text, data + 1, half - 1);
	buf_char(&text, ' ');
	buf_str(&text, forms[data[0] % ARRAY_LEN(forms)]);
	buf_char(&text, ' ');
	add_context(&text, data + half, size - half);
	redact_text(&out, buf_cstr(&text), text.len);
	check(buf_error(&out) == 0 && !memmem(out.data, out.len, PLANTED, strlen(PLANTED)));
	check_words(data, size);
	buf_done(&text);
	buf_done(&out);
	return 0;
}
