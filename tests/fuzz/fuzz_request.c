/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests from arbitrary bytes.  Properties: what is accepted has a command, an absolute directory
 * and no NUL; its paths are absolute; a failure leaves a reason and no request.
 */
#include "base/limits.h"
#include "request/request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(request_freep) struct request *r = NULL;
	struct cordon_error err = {0};
	struct strv paths = {0};

	if (request_from_json((const char *)data, size, "/default", &r, &err) < 0) {
		check(!r && err.code < 0 && err.message[0]);
		return 0;
	}
	check(r->argv.n > 0 && r->argv.v[0][0] && !r->argv.v[r->argv.n]);
	check(r->cwd[0] == '/' && strlen(r->cwd) < LIMIT_PATH_BYTES);
	check(strlen(r->text) == r->text_len && r->text_len > 0);
	check(strlen(r->tool) <= LIMIT_NAME_BYTES && strlen(r->id) == REQUEST_ID_LEN - 1);
	check(r->kind == REQUEST_ARGV || (r->argv.n == 3 && strcmp(r->argv.v[2], r->text) == 0));
	check(request_paths(r, &paths, &err) == 0);
	for (size_t i = 0; i < paths.n; i++)
		check(paths.v[i][0] == '/' && !strstr(paths.v[i], "/../"));
	strv_done(&paths);
	return 0;
}
