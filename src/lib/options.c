/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policy options.  One table says for each option of `cordon run` which value of the policy it sets and
 * how its text is read; everything else (the typed functions, modes, configurations, the words of
 * cordon_wrap_command()) goes through it.
 */
#include "lib/lib.h"

#include "backend/info.h"
#include "backend/select.h"
#include "base/limits.h"
#include "base/parse.h"
#include "lib/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum option_kind {
	OPTION_TEXT, /* a word, a path, or one more entry of a list: the row's type tells */
	OPTION_INT,
	OPTION_SIZE,
	OPTION_DURATION,
	OPTION_READ,
	OPTION_WRITE,
	OPTION_ENV,
	OPTION_SECRET,
	OPTION_FILE,
	OPTION_BACKEND,
	OPTION_FLAG, /* the row is set to true; this and the following take no value */
	OPTION_ENFORCE,
	OPTION_DRY_RUN,
};

static const struct option_row {
	const char *name;
	enum option_kind kind;
	enum policy_row row;
} option_rows[] = {
	{"policy", OPTION_FILE, 0},
	{"level", OPTION_TEXT, POLICY_LEVEL},
	{"backend", OPTION_BACKEND, 0},
	{"image", OPTION_TEXT, POLICY_IMAGE},
	{"read", OPTION_READ, 0},
	{"write", OPTION_WRITE, 0},
	{"deny", OPTION_TEXT, POLICY_DENIED},
	{"fs", OPTION_TEXT, POLICY_FS_MODE},
	{"workspace", OPTION_TEXT, POLICY_WORKSPACE},
	{"cache", OPTION_TEXT, POLICY_CACHES},
	{"net", OPTION_TEXT, POLICY_NET_MODE},
	{"allow-host", OPTION_TEXT, POLICY_ALLOWED_HOSTS},
	{"allow-private", OPTION_TEXT, POLICY_ALLOW_PRIVATE},
	{"ask-hosts", OPTION_FLAG, POLICY_NET_ASK},
	{"publish", OPTION_TEXT, POLICY_PUBLISH},
	{"allow-socket", OPTION_TEXT, POLICY_SOCKETS},
	{"allow-port", OPTION_TEXT, POLICY_PORTS},
	{"memory", OPTION_SIZE, POLICY_MEMORY},
	{"cpu-shares", OPTION_INT, POLICY_CPU_SHARES},
	{"cpu-percent", OPTION_INT, POLICY_CPU_PERCENT},
	{"max-processes", OPTION_INT, POLICY_PROCESSES},
	{"max-open-files", OPTION_INT, POLICY_OPEN_FILES},
	{"timeout", OPTION_DURATION, POLICY_TIMEOUT},
	{"grace", OPTION_DURATION, POLICY_GRACE},
	{"max-output", OPTION_SIZE, POLICY_OUTPUT},
	{"env", OPTION_ENV, POLICY_ENV_PASS},
	{"secret", OPTION_SECRET, 0},
	{"device", OPTION_TEXT, POLICY_DEVICES},
	{"exec", OPTION_TEXT, POLICY_EXECUTABLE},
	{"deny-syscall", OPTION_TEXT, POLICY_DENIED_SYSCALLS},
	{"write-xor-execute", OPTION_FLAG, POLICY_WRITE_XOR_EXECUTE},
	{"allow-debug", OPTION_FLAG, POLICY_DEBUG},
	{"gpu", OPTION_FLAG, POLICY_GPU},
	{"enforce", OPTION_ENFORCE, 0},
	{"dry-run", OPTION_DRY_RUN, 0},
};

static int option_new(const struct effective_places *places, struct cordon_policy_options **ret,
		      struct cordon_error *err)
{
	AUTO(cordon_policy_options_freep) struct cordon_policy_options *o = NULL;
	int r;

	if (!ret)
		return lib_missing(err, "place for the options");
	o = calloc(1, sizeof(*o));
	if (o)
		o->layer = policy_new();
	if (!o || !o->layer)
		return cordon_nomem(err);
	r = effective_init_at(places, &o->places, err);
	if (r < 0)
		return r;
	if (places->config_dir || places->state_dir)
		o->unsayable = "directories other than the user's";
	*ret = TAKE_PTR(o);
	return 0;
}

int cordon_policy_options_new(const char *workspace, struct cordon_policy_options **ret,
			      struct cordon_error *err)
{
	lib_enter(err);
	return lib_leave(option_new(&(struct effective_places){.cwd = workspace}, ret, err), err);
}

int cordon_policy_options_new_at(const struct cordon_policy_places *places,
				 struct cordon_policy_options **ret, struct cordon_error *err)
{
	struct cordon_policy_places p = {0};
	int r = 0;

	lib_enter(err);
	if (places)
		r = lib_struct_in(&p, sizeof(p), places, "struct cordon_policy_places", err);
	if (r == 0)
		r = option_new(&(struct effective_places){.cwd = p.workspace,
							  .config_dir = p.config_dir,
							  .state_dir = p.state_dir},
			       ret, err);
	return lib_leave(r, err);
}

void cordon_policy_options_free(struct cordon_policy_options *o)
{
	if (!o)
		return;
	effective_done(&o->places);
	policy_free(o->layer);
	strv_done(&o->files);
	for (size_t i = 0; i < o->n_texts; i++)
		lib_text_done(&o->texts[i]);
	free(o->texts);
	free(o->backend);
	strv_done(&o->words);
	free(o);
}

int lib_options_end(struct cordon_policy_options *o, int r, struct cordon_error *err)
{
	if (r < 0 && !o->spoilt.code)
		o->spoilt = *err;
	return r;
}

/* The number of an option's text.  0 or -errno. */
static int option_number(enum option_kind kind, const char *value, int64_t *ret)
{
	uint64_t bytes = 0;
	int r;

	if (kind == OPTION_INT)
		return parse_int(value, INT64_MIN, INT64_MAX, ret);
	if (kind == OPTION_DURATION)
		return parse_duration(value, ret);
	r = parse_size(value, &bytes);
	*ret = (int64_t)bytes; /* parse_size() stays within */
	return r;
}

static int option_set_number(struct policy *layer, const struct option_row *row, const char *value,
			     struct cordon_error *err)
{
	int64_t number = 0;

	if (option_number(row->kind, value, &number) < 0)
		return cordon_fail(err, CORDON_E_INVALID,
				   "%s: '%.100s' is not a number of this kind", row->name, value);
	return policy_option_int(layer, row->row, row->name, number, err);
}

/* NAME passes on, NAME=VALUE sets. */
static int option_set_env(struct cordon_policy_options *o, const char *value,
			  struct cordon_error *err)
{
	const struct policy_context *c = &o->places.context;
	const char *equals = strchr(value, '=');
	AUTO_FREE char *name = NULL;
	AUTO_FREE char *checked = NULL;
	int r;

	if (!equals)
		return policy_option_text(o->layer, POLICY_ENV_PASS, c, "env", value, err);
	name = strndup(value, (size_t)(equals - value));
	if (!name)
		return cordon_nomem(err);
	r = policy_check_text(c, &shape_policy.fields[POLICY_ENV_PASS], name, &checked, err);
	if (r < 0)
		return cordon_wrap(err, r, "env");
	return policy_option_env(o->layer, name, equals + 1, err);
}

static int option_set_backend(struct cordon_policy_options *o, const char *value,
			      struct cordon_error *err)
{
	char *copy;

	if (strcmp(value, "auto") != 0 && strcmp(value, "strongest") != 0 &&
	    !backend_info_find(value))
		return select_unknown_name(value, err);
	copy = strdup(value);
	if (!copy)
		return cordon_nomem(err);
	free(o->backend);
	o->backend = copy;
	return 0;
}

static int option_set_enforcement(struct policy *layer, bool enforces, struct cordon_error *err)
{
	int r = 0;

	if (enforces)
		r = policy_option_int(layer, POLICY_ENABLED, "enforce", 1, err);
	return r < 0 ? r
		     : policy_option_int(layer, POLICY_DRY_RUN, enforces ? "enforce" : "dry-run",
					 !enforces, err);
}

static int option_apply(struct cordon_policy_options *o, const struct option_row *row,
			const char *value, struct cordon_error *err)
{
	const struct policy_context *c = &o->places.context;

	switch (row->kind) {
	case OPTION_TEXT:
		return policy_option_text(o->layer, row->row, c, row->name, value, err);
	case OPTION_INT:
	case OPTION_SIZE:
	case OPTION_DURATION:
		return option_set_number(o->layer, row, value, err);
	case OPTION_READ:
		return policy_option_mount(o->layer, c, row->name, value, PERMISSION_RO, err);
	case OPTION_WRITE:
		return policy_option_mount(o->layer, c, row->name, value, PERMISSION_RW, err);
	case OPTION_ENV:
		return option_set_env(o, value, err);
	case OPTION_SECRET:
		return policy_option_secret(o->layer, c, value, err);
	case OPTION_FILE:
		if (o->files.n >= LIMIT_POLICY_FILES)
			return cordon_fail(err, CORDON_E_LIMIT, "more than %d policy files",
					   LIMIT_POLICY_FILES);
		return strv_add(&o->files, value) < 0 ? cordon_nomem(err) : 0;
	case OPTION_BACKEND:
		return option_set_backend(o, value, err);
	case OPTION_FLAG:
		return policy_option_int(o->layer, row->row, row->name, 1, err);
	case OPTION_ENFORCE:
		return option_set_enforcement(o->layer, true, err);
	case OPTION_DRY_RUN:
		return option_set_enforcement(o->layer, false, err);
	}
	return cordon_fail(err, CORDON_E_INTERNAL, "an option of no kind");
}

static const struct option_row *option_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(option_rows); i++)
		if (strcmp(option_rows[i].name, name) == 0)
			return &option_rows[i];
	return NULL;
}

static int option_set(struct cordon_policy_options *o, const char *name, const char *value,
		      struct cordon_error *err)
{
	const struct option_row *row = option_find(name);
	bool is_flag = row && row->kind >= OPTION_FLAG;
	int r = 0;

	if (!row)
		return cordon_fail(err, CORDON_E_INVALID, "unknown option '%.100s'", name);
	if (is_flag ? value != NULL : !value || !*value)
		return cordon_fail(err, CORDON_E_INVALID, "%s: %s", name,
				   is_flag ? "takes no value" : "needs a value");
	if (value)
		r = lib_text(value, name, err);
	if (r == 0)
		r = option_apply(o, row, value, err);
	if (r < 0)
		return r;
	r = value ? strv_addf(&o->words, "--%s=%s", name, value)
		  : strv_addf(&o->words, "--%s", name);
	return r < 0 ? cordon_fail_leaf(err, r, "%s", name) : 0;
}

int lib_options_set(struct cordon_policy_options *o, const char *option, const char *value,
		    struct cordon_error *err)
{
	struct cordon_error own = {0};
	int r;

	if (!o)
		return lib_missing(err, "options");
	r = lib_options_end(
		o, option ? option_set(o, option, value, &own) : lib_missing(&own, "option"), &own);
	if (r < 0 && err)
		*err = own;
	return r;
}

int cordon_policy_options_set(struct cordon_policy_options *o, const char *option,
			      const char *value, struct cordon_error *err)
{
	lib_enter(err);
	return lib_leave(lib_options_set(o, option, value, err), err);
}

/* One line per option that takes a text. */
#define OPTION_TEXT_FUNCTION(function, option)                                                     \
	int cordon_policy_options_##function(struct cordon_policy_options *o, const char *value,   \
					     struct cordon_error *err)                             \
	{                                                                                          \
		return cordon_policy_options_set(o, option, value, err);                           \
	}

OPTION_TEXT_FUNCTION(file, "policy")
OPTION_TEXT_FUNCTION(level, "level")
OPTION_TEXT_FUNCTION(backend, "backend")
OPTION_TEXT_FUNCTION(fs, "fs")
OPTION_TEXT_FUNCTION(read, "read")
OPTION_TEXT_FUNCTION(write, "write")
OPTION_TEXT_FUNCTION(deny, "deny")
OPTION_TEXT_FUNCTION(net, "net")
OPTION_TEXT_FUNCTION(allow_host, "allow-host")

/* And per option that takes a number, as that would be typed. */
#define OPTION_NUMBER_FUNCTION(function, option, type, format)                                     \
	int cordon_policy_options_##function(struct cordon_policy_options *o, type value,          \
					     struct cordon_error *err)                             \
	{                                                                                          \
		char text[32];                                                                     \
                                                                                                   \
		(void)snprintf(text, sizeof(text), format, value);                                 \
		return cordon_policy_options_set(o, option, text, err);                            \
	}

OPTION_NUMBER_FUNCTION(memory, "memory", uint64_t, "%" PRIu64)
OPTION_NUMBER_FUNCTION(max_output, "max-output", uint64_t, "%" PRIu64)
OPTION_NUMBER_FUNCTION(cpu_shares, "cpu-shares", int64_t, "%" PRId64)
OPTION_NUMBER_FUNCTION(cpu_percent, "cpu-percent", int64_t, "%" PRId64)
OPTION_NUMBER_FUNCTION(max_processes, "max-processes", int64_t, "%" PRId64)
OPTION_NUMBER_FUNCTION(max_open_files, "max-open-files", int64_t, "%" PRId64)
OPTION_NUMBER_FUNCTION(timeout_ms, "timeout", int64_t, "%" PRId64 "ms")

int cordon_policy_options_enforce(struct cordon_policy_options *o, int enforce,
				  struct cordon_error *err)
{
	return cordon_policy_options_set(o, enforce ? "enforce" : "dry-run", NULL, err);
}

int cordon_policy_options_env(struct cordon_policy_options *o, const char *name, const char *value,
			      struct cordon_error *err)
{
	AUTO_FREE char *text = NULL;

	lib_enter(err);
	if (!o || !name)
		return cordon_policy_options_set(o, name ? "env" : NULL, NULL, err);
	if (strchr(name, '=')) /* whose value would it be? */
		return cordon_policy_options_set(o, "env", "=", err);
	if (!value)
		return cordon_policy_options_set(o, "env", name, err);
	if (asprintf(&text, "%s=%s", name, value) < 0) {
		struct cordon_error own = {0};

		text = NULL;
		(void)cordon_nomem(&own);
		if (err)
			*err = own;
		return lib_leave(lib_options_end(o, own.code, &own), err);
	}
	return cordon_policy_options_set(o, "env", text, err);
}
