/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as python, go and bash: the walk and the verifier end, and agree that what is safe has
 * no error.  The first byte picks the language.
 */
#include "inspect/code/verify.h"

#include "base/mem.h"
#include "inspect/code.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"python", "go", "bash", "other"};
	static struct code_verifier verifier;
	static bool is_ready;
	struct inspect_context context = {0};
	AUTO(findings_done) struct findings found = {0};
	AUTO(code_result_done) struct code_result result = {0};
	struct buf text = BUF_INIT(1 << 24);
	unsigned which;
	size_t errors = 0;

	if (size == 0 || size > 65536)
		return 0;
	if (!is_ready)
		check(code_verifier_init(&verifier, NULL) == 0);
	is_ready = true;
	which = data[0] % 4u;
	if (which < 2)
		check(code_inspect(&context, which ? CODE_GO : CODE_PYTHON, (const char *)data + 1,
				   size - 1, &found, NULL) == 0);
	for (size_t i = 0; i < found.n; i++)
		check(found.items[i].rule[0] && found.items[i].confidence > 0);
	check(code_verify(&verifier, &context, names[which], (const char *)data + 1, size - 1, &result,
			  NULL) == 0);
	for (size_t i = 0; i < result.n; i++)
		errors += result.violations[i].is_error;
	check(result.is_safe == (result.n_errors == 0) && result.n_errors >= errors);
	code_result_format(&result, &text);
	check(buf_error(&text) == 0);
	buf_done(&text);
	return 0;
}
