/* SPDX-License-Identifier: Apache-2.0 */
/* Policy options that stand for several others, and those that are not options of `cordon run`. */
#include "base/limits.h"
#include "lib/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void lib_text_done(struct policy_text *t)
{
	char *name, *text;

	/* The struct borrows where the loader fills it; here it owns. */
	memcpy(&name, &t->name, sizeof(name));
	memcpy(&text, &t->text, sizeof(text));
	free(name);
	free(text);
}

int cordon_policy_options_flags(struct cordon_policy_options *o, unsigned flags,
				struct cordon_error *err)
{
	struct cordon_error own = {0};
	int r = 0;

	lib_enter(err);
	if (!o)
		return lib_leave(lib_missing(err, "options"), err);
	if (flags & ~(unsigned)(CORDON_POLICY_NO_USER | CORDON_POLICY_NO_PROJECT))
		r = cordon_fail(&own, CORDON_E_UNSUPPORTED, "unknown policy flags");
	if (lib_options_end(o, r, &own) < 0) {
		if (err)
			*err = own;
		return lib_leave(r, err);
	}
	o->places.no_user = flags & CORDON_POLICY_NO_USER;
	o->places.no_project = flags & CORDON_POLICY_NO_PROJECT;
	if (flags)
		o->unsayable = "leaving a layer out";
	return 0;
}

static int options_add_text(struct cordon_policy_options *o, const char *text, size_t len,
			    const char *name, struct cordon_error *err)
{
	AUTO_FREE char *text_copy = NULL;
	AUTO_FREE char *name_copy = NULL;
	void *p = o->texts;
	int r;

	if (!text || !name || !*name)
		return lib_missing(err, "text or name");
	if (len > LIMIT_MANIFEST_BYTES)
		return cordon_fail(err, CORDON_E_LIMIT, "%.200s:1:1: larger than %d bytes", name,
				   LIMIT_MANIFEST_BYTES);
	r = lib_text(name, "name", err);
	if (r < 0)
		return r;
	text_copy = malloc(len + 1);
	name_copy = strdup(name);
	if (!text_copy || !name_copy)
		return cordon_nomem(err);
	memcpy(text_copy, text, len);
	text_copy[len] = '\0';
	r = mem_grow(&p, &o->texts_cap, o->n_texts + 1, sizeof(*o->texts), LIMIT_POLICY_FILES);
	o->texts = p;
	if (r < 0)
		return cordon_fail_leaf(err, r, "policy '%.200s'", name);
	o->texts[o->n_texts++] = (struct policy_text){
		.name = TAKE_PTR(name_copy), .text = TAKE_PTR(text_copy), .len = len};
	o->unsayable = "a policy that is not in a file";
	return 0;
}

int cordon_policy_options_text(struct cordon_policy_options *o, const char *text, size_t len,
			       const char *name, struct cordon_error *err)
{
	struct cordon_error own = {0};
	int r;

	lib_enter(err);
	if (!o)
		return lib_leave(lib_missing(err, "options"), err);
	r = lib_options_end(o, options_add_text(o, text, len, name, &own), &own);
	if (r < 0 && err)
		*err = own;
	return lib_leave(r, err);
}

/* A value of NULL stands for the workspace. */
struct mode_setting {
	const char *option;
	const char *value;
};

static const struct mode {
	const char *name;
	struct mode_setting settings[3]; /* ends early with option NULL */
} modes[] = {
	{"strict", {{"fs", "read-only"}, {"net", "deny"}}},
	{"workspace", {{"fs", "scoped"}, {"write", NULL}, {"net", "deny"}}},
	{"off", {{"level", "none"}}},
};

static const struct mode *mode_find(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_LEN(modes); i++)
		if (strcmp(modes[i].name, name) == 0)
			return &modes[i];
	return NULL;
}

int cordon_policy_options_mode(struct cordon_policy_options *o, const char *name,
			       struct cordon_error *err)
{
	const struct mode *mode = mode_find(name);
	struct cordon_error own = {0};
	int r = 0;

	lib_enter(err);
	if (!o)
		return lib_leave(lib_missing(err, "options"), err);
	if (!mode)
		r = cordon_hint(&own,
				cordon_fail(&own, CORDON_E_INVALID, "unknown mode '%.100s'",
					    name ? name : ""),
				"strict, workspace or off");
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(mode->settings) && mode->settings[i].option; i++)
		r = lib_options_set(o, mode->settings[i].option,
				    mode->settings[i].value ? mode->settings[i].value
							    : o->places.workspace,
				    &own);
	if (lib_options_end(o, r, &own) < 0) {
		if (err)
			*err = own;
		return lib_leave(r, err);
	}
	o->mode = mode->name;
	return 0;
}

const char *cordon_policy_options_get_mode(const struct cordon_policy_options *o)
{
	return o ? o->mode : NULL;
}

static const struct {
	const char *type;
	const char *level;
	const char *backend; /* or NULL */
} config_types[] = {
	{"namespace", "process", "native"},    {"docker", "container", "docker"},
	{"chroot", "process", "chroot"},       {"seatbelt", "process", "seatbelt"},
	{"none", "none", /* backend= */ NULL},
};

int cordon_config_default(struct cordon_config *ret, struct cordon_error *err)
{
	const struct cordon_config config = {
		.struct_size = sizeof(config),
		.type = "none",
		.allow_network = 1,
		.allow_write = 1,
		.max_memory_mb = 512,
		.max_cpu_pct = 50,
	};
	int r;

	lib_enter(err);
	r = lib_struct_check(ret, "struct cordon_config", err);
	if (r == 0)
		lib_struct_out(ret, &config, sizeof(config));
	return lib_leave(r, err);
}

static int config_type(struct cordon_policy_options *o, const char *type, struct cordon_error *err)
{
	for (size_t i = 0; type && i < ARRAY_LEN(config_types); i++) {
		int r;

		if (strcmp(config_types[i].type, type) != 0)
			continue;
		r = lib_options_set(o, "level", config_types[i].level, err);
		if (r == 0 && config_types[i].backend)
			r = lib_options_set(o, "backend", config_types[i].backend, err);
		return r;
	}
	return cordon_hint(err,
			   cordon_fail(err, CORDON_E_INVALID, "unknown sandbox type '%.100s'",
				       type ? type : ""),
			   "namespace, docker, chroot, seatbelt or none");
}

static int config_dirs(struct cordon_policy_options *o, const char *option, const char *const *dirs,
		       struct cordon_error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && dirs && dirs[i]; i++)
		r = lib_options_set(o, option, dirs[i], err);
	return r;
}

static int config_limit(struct cordon_policy_options *o, const char *option, int64_t value,
			const char *unit, struct cordon_error *err)
{
	char text[32];

	if (value == 0)
		return 0;
	if (value < 0)
		return cordon_fail(err, CORDON_E_INVALID, "%s: a negative limit", option);
	(void)snprintf(text, sizeof(text), "%" PRId64 "%s", value, unit);
	return lib_options_set(o, option, text, err);
}

static int config_apply(struct cordon_policy_options *o, const struct cordon_config *c,
			struct cordon_error *err)
{
	int r;

	if (!c->enabled)
		return lib_options_set(o, "level", "none", err);
	if (!c->allow_write && c->writable_dirs && c->writable_dirs[0])
		return cordon_fail(err, CORDON_E_INVALID,
				   "writable_dirs contradicts allow_write = 0");
	r = config_type(o, c->type, err);
	if (r == 0)
		r = lib_options_set(o, "net", c->allow_network ? "allow-all" : "deny", err);
	if (r == 0)
		r = lib_options_set(o, "fs", c->allow_write ? "scoped" : "read-only", err);
	if (r == 0 && c->allow_write)
		r = lib_options_set(o, "write", o->places.workspace, err);
	if (r == 0)
		r = config_dirs(o, "read", c->read_only_dirs, err);
	if (r == 0)
		r = config_dirs(o, "write", c->writable_dirs, err);
	if (r == 0)
		r = config_limit(o, "memory", c->max_memory_mb, "M", err);
	return r == 0 ? config_limit(o, "cpu-percent", c->max_cpu_pct, "", err) : r;
}

int cordon_policy_options_config(struct cordon_policy_options *o,
				 const struct cordon_config *config, struct cordon_error *err)
{
	struct cordon_error own = {0};
	struct cordon_config c;
	int r;

	lib_enter(err);
	if (!o)
		return lib_leave(lib_missing(err, "options"), err);
	r = config ? lib_struct_in(&c, sizeof(c), config, "struct cordon_config", &own)
		   : lib_missing(&own, "configuration");
	if (r == 0)
		r = config_apply(o, &c, &own);
	if (lib_options_end(o, r, &own) < 0 && err)
		*err = own;
	return lib_leave(r, err);
}

int cordon_policy_from_config(const struct cordon_config *config, const char *workspace,
			      struct cordon_policy **ret, struct cordon_error *err)
{
	AUTO(cordon_policy_options_freep) struct cordon_policy_options *o = NULL;
	int r = cordon_policy_options_new(workspace, &o, err);

	if (r == 0)
		r = cordon_policy_options_flags(o, CORDON_POLICY_NO_USER | CORDON_POLICY_NO_PROJECT,
						err);
	if (r == 0)
		r = cordon_policy_options_config(o, config, err);
	return r == 0 ? cordon_policy_load(o, ret, err) : r;
}
