/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of `cordon check --jsonl` from arbitrary bytes.  Properties: what is accepted has a text; a failure leaves a
 * reason; an id is valid JSON, also of a line that was cut; the kind of any text can be guessed.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "core/checkline.h"
#include "inspect/kind.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* It is put into answers as it stands. */
static void check_id(const char *id)
{
	struct checkline again = {0};
	struct buf b = BUF_INIT(SIZE_MAX / 4);

	if (!id)
		return;
	buf_printf(&b, "{\"text\":\"\",\"id\":%s}", id);
	check(buf_error(&b) == 0 && checkline_parse(b.data, b.len, &again, NULL) == 0);
	check(again.id && strcmp(again.id, id) == 0);
	checkline_done(&again);
	buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(checkline_done) struct checkline line = {0};
	AUTO_FREE char *id = NULL;
	AUTO_FREE char *text = malloc(size + 1);
	struct cordon_error err = {0};

	check(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	check(kind_guess(text, size, NULL) < INSPECT_KIND_COUNT);
	check(checkline_id(text, size, &id) == 0);
	check_id(id);
	if (checkline_parse(text, size, &line, &err) < 0)
		check(err.code < 0 && err.message[0]);
	else
		check(line.text && line.text[line.text_len] == '\0');
	check_id(line.id);
	return 0;
}
