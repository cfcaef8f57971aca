/* SPDX-License-Identifier: Apache-2.0 */
/* WrapCommand: the words that run a shell command through the program. */
#include "lib/lib.h"

#include <string.h>

int lib_pack(const struct strv *words, char ***ret, struct cordon_error *err)
{
	size_t bytes = (words->n + 1) * sizeof(char *);
	char **argv;
	char *at;

	for (size_t i = 0; i < words->n; i++)
		bytes += strlen(words->v[i]) + 1;
	argv = malloc(bytes);
	if (!argv)
		return cordon_nomem(err);
	at = (char *)(argv + words->n + 1);
	for (size_t i = 0; i < words->n; i++) {
		size_t len = strlen(words->v[i]) + 1;

		memcpy(at, words->v[i], len);
		argv[i] = at;
		at += len;
	}
	argv[words->n] = NULL;
	*ret = argv;
	return 0;
}

static int wrap_words(const char *command, const struct cordon_policy_options *o,
		      struct strv *words)
{
	int r = strv_add(words, "cordon");

	if (r == 0)
		r = strv_add(words, "run");
	if (r == 0)
		r = strv_addf(words, "--cwd=%s", o->places.workspace);
	for (size_t i = 0; r == 0 && i < o->words.n; i++)
		r = strv_add(words, o->words.v[i]);
	if (r == 0)
		r = strv_add(words, "-c");
	return r == 0 ? strv_add(words, command) : r;
}

static int wrap_command(const char *command, const struct cordon_policy_options *o, char ***ret,
			struct cordon_error *err)
{
	struct strv words = {0};
	int r;

	if (o->spoilt.code) {
		if (err)
			*err = o->spoilt;
		return cordon_wrap(err, o->spoilt.code, "an option was refused before");
	}
	if (o->unsayable)
		return cordon_fail(err, CORDON_E_UNSUPPORTED, "%s cannot be said as an option",
				   o->unsayable);
	if (!*command)
		return cordon_fail(err, CORDON_E_INVALID, "no command given");
	r = wrap_words(command, o, &words);
	r = r < 0 ? cordon_fail_leaf(err, r, "wrap a command") : lib_pack(&words, ret, err);
	strv_done(&words);
	return r;
}

int cordon_wrap_command(const char *command, const struct cordon_policy_options *options,
			char ***ret_argv, struct cordon_error *err)
{
	lib_enter(err);
	if (!command || !options || !ret_argv)
		return lib_leave(lib_missing(err, !command   ? "command"
						  : !options ? "options"
							     : "place for the words"),
				 err);
	return lib_leave(wrap_command(command, options, ret_argv, err), err);
}
