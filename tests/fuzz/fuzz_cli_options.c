/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines of `run` from arbitrary bytes, words separated by newlines.  Properties: a failure is
 * one of the named codes and has a message; what is left are words of the input, in their order and
 * NULL-terminated; numbers lie within their rows' ranges.
 */
#include "cli/cli.h"
#include "cli/run_options.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_WORDS_MAX 64

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_words(const struct option_result *result, char *const *given, size_t n_given)
{
	size_t at = 0;

	must(result->n_words <= n_given);
	must(result->words[result->n_words] == NULL);
	for (size_t i = 0; i < result->n_words; i++, at++)
		while (must(at < n_given), result->words[i] != given[at])
			at++;
}

static void check_number(const struct option_number *n, int64_t min, int64_t max)
{
	must(n->is_given ? n->value >= min && n->value <= max : n->value == 0);
}

static void parse_once(char *text, bool stops_at_word)
{
	char *argv[FUZZ_WORDS_MAX + 1] = {0}, *given[FUZZ_WORDS_MAX + 1];
	struct run_options options = {0};
	struct cli_common common = {.verbosity = -1};
	struct option_request request = {.tables = {{run_option_rows, &options},
						    {verb_common_options, &common}},
					 .stops_at_word = stops_at_word,
					 .argv = argv};
	struct option_result result = {0};
	struct cordon_error err = {0};
	int r;

	for (char *p = text; p && request.argc < FUZZ_WORDS_MAX;) {
		argv[request.argc++] = p;
		p = strchr(p, '\n');
		if (p)
			*p++ = '\0';
	}
	memcpy(given, argv, sizeof(given));
	r = option_parse(&request, &result, &err);
	if (r == 0) {
		check_words(&result, given, request.argc);
		check_number(&options.memory_bytes, 1, INT64_MAX);
		check_number(&options.cpu_shares, 2, 262144);
		check_number(&options.timeout_ms, 1, INT64_MAX);
		r = run_options_check(&options, &err);
		must(r == 0 || (r == CORDON_E_INVALID && err.message[0]));
	} else {
		must((r == CORDON_E_INVALID || r == CORDON_E_LIMIT) && err.message[0]);
	}
	run_options_done(&options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int stops = 0; stops < 2; stops++) {
		char *text = calloc(1, size + 1);

		must(text != NULL);
		if (size > 0)
			memcpy(text, data, size);
		parse_once(text, stops);
		free(text);
	}
	return 0;
}
