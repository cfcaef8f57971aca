/* SPDX-License-Identifier: Apache-2.0 */
/* A file of a project: the first line is its path, the rest its text.  And .gitignore. */
#include "scan/document.h"

#include "base/mem.h"
#include "scan/ignore.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *end = memchr(data, '\n', size);
	struct scan_source source = {0};
	struct findings found = {0};
	struct cordon_error err = {0};
	struct ignore *ignore = NULL;
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *text = NULL;
	size_t len;

	if (!end || size > 65536)
		return 0;
	path = strndup((const char *)data, (size_t)(end - (const char *)data));
	len = size - (size_t)(end + 1 - (const char *)data);
	text = malloc(len + 1);
	if (!path || !text)
		return 0;
	memcpy(text, end + 1, len);
	text[len] = '\0';
	source.path = path;
	source.text = text;
	source.len = len;
	if (scan_document(&source, &found, &err) < 0 && err.code != CORDON_E_NOMEM)
		abort(); /* whatever it is, it is a finding */
	findings_done(&found);
	if (ignore_new(&ignore, &err) == 0 && ignore_add(ignore, "", text, len, &err) == 0)
		(void)ignore_match(ignore, path, false);
	ignore_free(ignore);
	return 0;
}
