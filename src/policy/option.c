/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a command line as a policy layer: the same rows, the same checks. */
#include "policy/load.h"

#include "base/str.h"

#include <errno.h>
#include <string.h>

#define OPTION_PAGE 4096 /* bytes */

static const struct origin option_origin = {.layer = LAYER_OPTION};

int policy_option_text(struct policy *layer, enum policy_row row, const struct policy_context *c,
		       const char *option, const char *text, struct cordon_error *err)
{
	const struct field *f = &shape_policy.fields[row];
	AUTO_FREE char *checked = NULL;
	int r;

	if (f->type == FIELD_ENUM) {
		int i = names_find(f->names, text);

		if (i < 0)
			return cordon_fail(err, CORDON_E_INVALID,
					   "%s: '%.100s' is not a value of '%s'", option, text,
					   f->path);
		*(int *)field_value(f, layer) = i;
		layer->origin[row] = option_origin;
		return 0;
	}
	r = policy_check_text(c, f, text, &checked, err);
	if (r == 1)
		return cordon_fail(err, CORDON_E_INVALID,
				   "%s: '%.100s' names a variable that is not set", option, text);
	if (r < 0)
		return cordon_wrap(err, r, "%s", option);
	if (f->type == FIELD_STRING) {
		field_clear(&shape_policy, row, layer);
		*(char **)field_value(f, layer) = TAKE_PTR(checked);
	} else if (f->type == FIELD_LIST) {
		r = item_list_add(field_value(f, layer), checked, text, option_origin);
		if (r < 0)
			return cordon_fail_leaf(err, r, "%s", option);
	} else {
		return cordon_fail(err, CORDON_E_INTERNAL, "%s: not a text option", option);
	}
	layer->origin[row] = option_origin;
	return 0;
}

int policy_option_int(struct policy *layer, enum policy_row row, const char *option, int64_t value,
		      struct cordon_error *err)
{
	const struct field *f = &shape_policy.fields[row];
	int64_t scale = f->scale ? f->scale : 1;
	/* Of memory nothing is smaller than a page: 512 is meant to be larger. */
	int64_t least = scale > 1 ? OPTION_PAGE : f->min;

	if (f->type == FIELD_BOOL) {
		*(bool *)field_value(f, layer) = value != 0;
		layer->origin[row] = option_origin;
		return 0;
	}
	/* Options may be finer than the file's unit (bytes for memory), never above its range. */
	if (value < least || value > f->max * scale)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID, "%s is out of range: %lld",
					       option, (long long)value),
				   "from %lld to %lld%s", (long long)least,
				   (long long)(f->max * scale),
				   scale > 1                  ? " bytes; 512M are 512 times 1048576"
				   : str_ends(f->path, "_ms") ? " milliseconds"
							      : "");
	*(int64_t *)field_value(f, layer) = value;
	layer->origin[row] = option_origin;
	return 0;
}

int policy_option_mount(struct policy *layer, const struct policy_context *c, const char *option,
			const char *path, enum permission permission, struct cordon_error *err)
{
	const struct shape *s = shape_policy.fields[POLICY_MOUNTS].shape;
	AUTO_FREE char *checked = NULL;
	struct mount *m;
	int r = policy_check_text(c, &s->fields[MOUNT_PATH], path, &checked, err);

	if (r == 1)
		return cordon_fail(err, CORDON_E_INVALID,
				   "%s: '%.100s' names a variable that is not set", option, path);
	if (r < 0)
		return cordon_wrap(err, r, "%s", option);
	m = record_list_add(&layer->mounts, s);
	if (!m)
		return cordon_nomem(err);
	m->path = TAKE_PTR(checked);
	m->permissions = (int)permission;
	m->origin[MOUNT_PATH] = m->origin[MOUNT_PERMISSIONS] = option_origin;
	layer->origin[POLICY_MOUNTS] = option_origin;
	return 0;
}

int policy_option_env(struct policy *layer, const char *name, const char *value,
		      struct cordon_error *err)
{
	struct word *w =
		record_list_add(&layer->env_set, shape_policy.fields[POLICY_ENV_SET].shape);

	if (!w)
		return cordon_nomem(err);
	w->name = strdup(name);
	w->value = strdup(value);
	if (!w->name || !w->value)
		return cordon_nomem(err);
	w->origin[WORD_NAME] = w->origin[WORD_VALUE] = option_origin;
	layer->origin[POLICY_ENV_SET] = option_origin;
	return 0;
}

int policy_option_secret(struct policy *layer, const struct policy_context *c, const char *text,
			 struct cordon_error *err)
{
	const struct shape *s = shape_policy.fields[POLICY_SECRET_GRANTS].shape;
	AUTO_FREE char *copy = strdup(text);
	struct grant *g;
	char *hosts, *next;
	int r;

	if (!copy)
		return cordon_nomem(err);
	hosts = strchr(copy, '@');
	if (hosts)
		*hosts++ = '\0';
	g = record_list_add(&layer->secret_grants, s);
	if (!g)
		return cordon_nomem(err);
	r = policy_check_text(c, &s->fields[GRANT_NAME], copy, &g->name, err);
	if (r < 0)
		return cordon_wrap(err, r, "--secret");
	g->origin[GRANT_NAME] = layer->origin[POLICY_SECRET_GRANTS] = option_origin;
	for (char *host = hosts; host; host = next) {
		AUTO_FREE char *checked = NULL;

		next = strchr(host, ',');
		if (next)
			*next++ = '\0';
		r = policy_check_text(c, &s->fields[GRANT_HOSTS], host, &checked, err);
		if (r < 0)
			return cordon_wrap(err, r, "--secret");
		if (item_list_add(&g->hosts, checked, host, option_origin) < 0)
			return cordon_nomem(err);
		g->origin[GRANT_HOSTS] = option_origin;
	}
	return 0;
}
