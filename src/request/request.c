/* SPDX-License-Identifier: Apache-2.0 */
/* See request.h. */
#include "request/request.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

void request_free(struct request *r)
{
	if (!r)
		return;
	free(r->caller_id);
	strv_done(&r->argv);
	strv_done(&r->arguments);
	free(r->text);
	free(r->cwd);
	free(r->tool);
	free(r->category);
	free(r->agent);
	free(r->session);
	free(r);
}

static int request_new_id(char ret_id[static REQUEST_ID_LEN])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char random[8];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	ret_id[0] = 'c';
	ret_id[1] = '-';
	for (size_t i = 0; i < sizeof(random); i++) {
		ret_id[2 + 2 * i] = digits[random[i] >> 4];
		ret_id[3 + 2 * i] = digits[random[i] & 15];
	}
	ret_id[REQUEST_ID_LEN - 1] = '\0';
	return 0;
}

/* Copies s unless it is NULL.  False when out of memory. */
static bool request_copy(char **slot, const char *s)
{
	if (!s)
		return true;
	*slot = strdup(s);
	return *slot != NULL;
}

static int request_new(const struct request_options *o, struct request **ret,
		       struct cordon_error *err)
{
	AUTO(request_freep) struct request *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return cordon_nomem(err);
	if (!o->cwd || o->cwd[0] != '/')
		return cordon_fail(err, CORDON_E_INVALID, "the working directory must be absolute");
	e = request_new_id(r->id);
	if (e < 0)
		return cordon_fail_leaf(err, e, "read random bytes");
	e = path_normalise(o->cwd, &r->cwd);
	if (e < 0)
		return cordon_fail_leaf(err, e, "working directory '%.200s'", o->cwd);
	if (!request_copy(&r->tool, o->tool ? o->tool : "Bash") ||
	    !request_copy(&r->category, o->category) || !request_copy(&r->agent, o->agent) ||
	    !request_copy(&r->session, o->session) || !request_copy(&r->caller_id, o->caller_id))
		return cordon_nomem(err);
	*ret = TAKE_PTR(r);
	return 0;
}

/* Sets text and the arguments that rules see. */
static int request_seal(struct request *r, struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_ARG_BYTES);
	int e;

	if (r->kind == REQUEST_SHELL) {
		buf_str(&b, r->argv.v[r->argv.n - 1]);
	} else {
		for (size_t i = 0; i < r->argv.n; i++)
			buf_printf(&b, "%s%s", i ? " " : "", r->argv.v[i]);
	}
	e = buf_take(&b, &r->text, &r->text_len);
	buf_done(&b);
	if (e == -E2BIG)
		return cordon_fail(err, CORDON_E_LIMIT, "a command of more than %d bytes",
				   LIMIT_ARG_BYTES);
	if (e < 0)
		return cordon_nomem(err);
	e = strv_addf(&r->arguments, "command=%s", r->text);
	return e < 0 ? cordon_nomem(err) : 0;
}

int request_from_argv(char *const *argv, const struct request_options *o, struct request **ret,
		      struct cordon_error *err)
{
	AUTO(request_freep) struct request *r = NULL;
	int e;

	if (!argv || !argv[0] || !argv[0][0])
		return cordon_fail(err, CORDON_E_INVALID, "no command given");
	e = request_new(o, &r, err);
	if (e < 0)
		return e;
	r->kind = REQUEST_ARGV;
	for (size_t i = 0; argv[i]; i++) {
		e = strv_add(&r->argv, argv[i]);
		if (e < 0)
			return cordon_fail_leaf(err, e, "command words");
	}
	e = request_seal(r, err);
	if (e < 0)
		return e;
	*ret = TAKE_PTR(r);
	return 0;
}

int request_from_shell(const char *command, const struct request_options *o, struct request **ret,
		       struct cordon_error *err)
{
	AUTO(request_freep) struct request *r = NULL;
	const char *shell = access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
	int e;

	if (!command[0])
		return cordon_fail(err, CORDON_E_INVALID, "no command given");
	e = request_new(o, &r, err);
	if (e < 0)
		return e;
	r->kind = REQUEST_SHELL;
	if (strv_add(&r->argv, shell) < 0 || strv_add(&r->argv, "-c") < 0 ||
	    strv_add(&r->argv, command) < 0)
		return cordon_nomem(err);
	e = request_seal(r, err);
	if (e < 0)
		return e;
	*ret = TAKE_PTR(r);
	return 0;
}

static int request_copy_words(struct strv *to, const struct strv *from)
{
	int e = 0;

	for (size_t i = 0; e == 0 && i < from->n; i++)
		e = strv_add(to, from->v[i]);
	return e;
}

int request_clone(const struct request *r, struct request **ret, struct cordon_error *err)
{
	AUTO(request_freep) struct request *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return cordon_nomem(err);
	memcpy(copy->id, r->id, sizeof(copy->id));
	copy->kind = r->kind;
	copy->text_len = r->text_len;
	/* All of it has been within its limits once: what can go wrong is memory. */
	if (!request_copy(&copy->caller_id, r->caller_id) || !request_copy(&copy->text, r->text) ||
	    !request_copy(&copy->cwd, r->cwd) || !request_copy(&copy->tool, r->tool) ||
	    !request_copy(&copy->category, r->category) || !request_copy(&copy->agent, r->agent) ||
	    !request_copy(&copy->session, r->session) ||
	    request_copy_words(&copy->argv, &r->argv) < 0 ||
	    request_copy_words(&copy->arguments, &r->arguments) < 0)
		return cordon_nomem(err);
	*ret = TAKE_PTR(copy);
	return 0;
}

int request_paths(const struct request *r, struct strv *ret, struct cordon_error *err)
{
	int e = strv_add(ret, r->cwd);

	for (size_t i = 0; e == 0 && r->kind == REQUEST_ARGV && i < r->argv.n; i++) {
		AUTO_FREE char *path = NULL;
		const char *word = r->argv.v[i];

		if (!strchr(word, '/') || strlen(word) >= LIMIT_PATH_BYTES)
			continue;
		e = path_join(r->cwd, word, &path);
		if (e == 0)
			e = strv_add(ret, path);
		else if (e == -ENAMETOOLONG)
			e = 0;
	}
	return e < 0 ? cordon_fail_leaf(err, e, "paths of the call") : 0;
}
