/* SPDX-License-Identifier: Apache-2.0 */
/* The body of `cordon verify`: read the file, ask the verifier, print its answer. */
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/fd.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "base/limits.h"
#include "inspect/code/verify.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define VERIFY_EXIT_UNSAFE 2

static int verify_read(const char *path, char **ret_text, size_t *ret_len, struct cordon_error *err)
{
	int r;

	/* One byte more than what is looked at: then the verifier says so. */
	if (strcmp(path, "-") == 0)
		r = io_read_all(STDIN_FILENO, LIMIT_REQUEST_BYTES, CLOCK_NEVER, ret_text, ret_len);
	else
		r = io_read_file_at(AT_FDCWD, path, LIMIT_REQUEST_BYTES, ret_text, ret_len);
	return r < 0 ? cordon_fail_leaf(err, r, "read '%.200s'", path) : 0;
}

static int verify_lists(struct code_verifier *v, const struct verify_options *o,
			struct cordon_error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < o->modules.n; i++)
		r = strv_add(&v->modules, o->modules.v[i]);
	for (size_t i = 0; r == 0 && i < o->functions.n; i++)
		r = strv_add(&v->functions, o->functions.v[i]);
	if (r < 0)
		return cordon_fail_leaf(err, r, "verifier");
	for (size_t i = 0; r == 0 && i < o->paths.n; i++) {
		if (o->paths.v[i][0] != '/')
			return cordon_fail(err, CORDON_E_INVALID,
					   "option '--allow-path': '%.200s' is not absolute",
					   o->paths.v[i]);
		r = strv_add(&v->paths, o->paths.v[i]);
		if (r < 0)
			return cordon_fail_leaf(err, r, "verifier");
	}
	for (size_t i = 0; r == 0 && i < o->patterns.n; i++)
		r = code_verifier_add_pattern(v, o->patterns.v[i], err);
	return r;
}

static void verify_json(const struct code_result *result, struct json *j)
{
	json_object(j, NULL);
	json_bool(j, "safe", result->is_safe);
	json_str(j, "language", result->language);
	json_array(j, "violations");
	for (size_t i = 0; i < result->n; i++) {
		const struct code_violation *v = &result->violations[i];

		json_object(j, NULL);
		json_str(j, "type", finding_type_name(v->type));
		json_int(j, "line", v->line);
		json_str(j, "code", v->code);
		json_str(j, "reason", v->reason);
		json_str(j, "severity", v->is_error ? "error" : "warning");
		json_end_object(j);
	}
	json_end_array(j);
	json_array(j, "warnings");
	for (size_t i = 0; i < result->warnings.n; i++)
		json_str(j, NULL, result->warnings.v[i]);
	json_end_array(j);
	json_end_object(j);
}

static int verify_print(struct cli *cli, const struct code_result *result, bool as_json,
			struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct json j = JSON_INIT(&b);
	int r;

	if (as_json)
		verify_json(result, &j);
	else
		code_result_format(result, &b);
	buf_char(&b, '\n');
	r = buf_error(&b);
	out_add(&cli->out, buf_cstr(&b), b.len);
	buf_done(&b);
	return r < 0 ? cordon_fail_leaf(err, r, "result") : 0;
}

int cmd_verify_main(struct cli *cli, const struct verify_options *options)
{
	AUTO(code_verifier_done) struct code_verifier verifier = {0};
	AUTO(code_result_done) struct code_result result = {0};
	struct inspect_context context = {.path = cli->words[0]};
	struct cordon_error err = {0};
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = code_verifier_init(&verifier, &err);

	if (r == 0)
		r = verify_lists(&verifier, options, &err);
	if (r == 0)
		r = verify_read(cli->words[0], &text, &len, &err);
	if (r == 0)
		r = code_verify(&verifier, &context, options->language, text, len, &result, &err);
	if (r == 0)
		r = verify_print(cli, &result, options->json, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	return result.is_safe ? 0 : VERIFY_EXIT_UNSAFE;
}
