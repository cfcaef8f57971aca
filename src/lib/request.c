/* SPDX-License-Identifier: Apache-2.0 */
/* Requests as handles. */
#include "lib/lib.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* What is said about a call, with the working directory found. */
struct request_facts {
	struct request_options options;
	char *cwd;
};

static int request_cwd(const char *cwd, char **ret, struct cordon_error *err)
{
	*ret = cwd ? realpath(cwd, NULL) : getcwd(NULL, 0);
	return *ret ? 0
		    : cordon_fail_leaf(err, -errno, "working directory '%.200s'", cwd ? cwd : ".");
}

static int request_facts(const struct cordon_request_options *options, struct request_facts *ret,
			 struct cordon_error *err)
{
	struct cordon_request_options o = {0};
	int r = 0;

	if (options)
		r = lib_struct_in(&o, sizeof(o), options, "struct cordon_request_options", err);
	for (size_t i = 0; r == 0 && i < 5; i++) {
		const char *const texts[] = {o.tool, o.category, o.agent, o.session, o.caller_id};

		r = lib_text(texts[i], "request", err);
	}
	if (r == 0)
		r = request_cwd(o.cwd, &ret->cwd, err);
	ret->options = (struct request_options){
		.cwd = ret->cwd,
		.tool = o.tool,
		.category = o.category,
		.agent = o.agent,
		.session = o.session,
		.caller_id = o.caller_id,
	};
	return r;
}

/* Gives the handle of a request, which it takes. */
static int request_wrap(struct request *request, struct cordon_request **ret,
			struct cordon_error *err)
{
	struct cordon_request *r = calloc(1, sizeof(*r));

	if (!r) {
		request_free(request);
		return cordon_nomem(err);
	}
	r->request = request;
	*ret = r;
	return 0;
}

static int request_make(const char *const *argv, const char *command,
			const struct cordon_request_options *options, struct cordon_request **ret,
			struct cordon_error *err)
{
	struct request_facts facts = {0};
	struct request *request = NULL;
	char *const *words;
	int r;

	if (!ret || (!argv && !command))
		return lib_missing(err, ret ? "command" : "place for the request");
	memcpy(&words, &argv, sizeof(words)); /* like execve(): the words are only read */
	r = request_facts(options, &facts, err);
	if (r == 0)
		r = argv ? request_from_argv(words, &facts.options, &request, err)
			 : request_from_shell(command, &facts.options, &request, err);
	free(facts.cwd);
	return r < 0 ? r : request_wrap(request, ret, err);
}

int cordon_request_argv(const char *const *argv, const struct cordon_request_options *options,
			struct cordon_request **ret, struct cordon_error *err)
{
	lib_enter(err);
	return lib_leave(request_make(argv, /* command= */ NULL, options, ret, err), err);
}

int cordon_request_shell(const char *command, const struct cordon_request_options *options,
			 struct cordon_request **ret, struct cordon_error *err)
{
	lib_enter(err);
	return lib_leave(request_make(/* argv= */ NULL, command, options, ret, err), err);
}

int cordon_request_json(const char *json, size_t len, const char *default_cwd,
			struct cordon_request **ret, struct cordon_error *err)
{
	AUTO_FREE char *cwd = NULL;
	struct request *request = NULL;
	int r;

	lib_enter(err);
	if (!json || !ret)
		return lib_leave(lib_missing(err, json ? "place for the request" : "JSON"), err);
	r = request_cwd(default_cwd, &cwd, err);
	if (r == 0)
		r = request_from_json(json, len, cwd, &request, err);
	return lib_leave(r < 0 ? r : request_wrap(request, ret, err), err);
}

void cordon_request_free(struct cordon_request *r)
{
	if (!r)
		return;
	request_free(r->request);
	free(r);
}

const char *cordon_request_id(const struct cordon_request *r)
{
	return r ? r->request->id : NULL;
}

const char *cordon_request_text(const struct cordon_request *r)
{
	return r ? r->request->text : NULL;
}
