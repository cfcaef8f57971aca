/* SPDX-License-Identifier: Apache-2.0 */
/* See constrain.h. */
#include "core/constrain.h"

#include "backend/registry.h"
#include "base/path.h"
#include "core/needs.h"
#include "net/hostrule.h"
#include "policy/rules.h"

#include <stdio.h>
#include <string.h>

static const struct constraint *constrain_find(const struct policy *p, const char *tool)
{
	for (size_t i = 0; i < p->constraints.n; i++) {
		const struct constraint *c = p->constraints.records[i];

		if (strcmp(c->name, tool) == 0)
			return c;
	}
	return NULL;
}

/* Grants of the policy that enforcement.suspicious cannot name: a constrained call has none of them. */
static const enum policy_row constrain_dropped[] = {
	POLICY_SOCKETS,       POLICY_PUBLISH,       POLICY_PORTS,  POLICY_NET_ASK,
	POLICY_DEVICES,       POLICY_GPU,           POLICY_CACHES, POLICY_EGRESS,
	POLICY_ALLOW_PRIVATE, POLICY_SECRET_GRANTS, POLICY_DEBUG,  POLICY_EXECUTABLE,
};

/* May p's own grants be used at this path with this permission? */
static bool constrain_is_granted(const struct policy *p, const char *path, enum permission want)
{
	if (p->fs_mode == FS_FULL)
		return true;
	if (p->fs_mode == FS_DENY || (p->fs_mode == FS_READ_ONLY && want == PERMISSION_RW))
		return false;
	for (size_t i = 0; i < p->mounts.n; i++) {
		const struct mount *m = p->mounts.records[i];

		if (path_is_within(path, m->path) && (int)want <= m->permissions)
			return true;
	}
	return false;
}

static int constrain_mount(struct policy *to, const struct policy *from, const struct item *item,
			   enum permission permission)
{
	struct mount *m;

	if (!constrain_is_granted(from, item->text, permission))
		return 0;
	m = record_list_add(&to->mounts, shape_policy.fields[POLICY_MOUNTS].shape);
	if (!m)
		return -1;
	m->path = strdup(item->text);
	m->permissions = (int)permission;
	m->origin[MOUNT_PATH] = m->origin[MOUNT_PERMISSIONS] = item->origin;
	return m->path ? 0 : -1;
}

static int constrain_filesystem(struct policy *to, const struct policy *from,
				const struct item_list *writable, const struct item_list *readable)
{
	field_clear(&shape_policy, POLICY_MOUNTS, to);
	for (size_t i = 0; writable && i < writable->n; i++)
		if (constrain_mount(to, from, &writable->items[i], PERMISSION_RW) < 0)
			return -1;
	for (size_t i = 0; readable && i < readable->n; i++)
		if (constrain_mount(to, from, &readable->items[i], PERMISSION_RO) < 0)
			return -1;
	to->fs_mode = to->mounts.n ? FS_SCOPED : FS_DENY;
	return 0;
}

static bool constrain_host_is_granted(const struct policy *p, const char *host)
{
	struct hostrule want, have;

	if (p->net_mode == NET_ALLOW_ALL)
		return true;
	if (p->net_mode == NET_DENY || hostrule_parse(host, strlen(host), &want, NULL) < 0)
		return false;
	for (size_t i = 0; i < p->allowed_hosts.n; i++) {
		const char *text = p->allowed_hosts.items[i].text;

		if (hostrule_parse(text, strlen(text), &have, NULL) == 0 &&
		    hostrule_covers(&have, &want))
			return true;
	}
	return false;
}

static int constrain_network(struct policy *to, const struct policy *from,
			     const struct item_list *hosts)
{
	field_clear(&shape_policy, POLICY_ALLOWED_HOSTS, to);
	for (size_t i = 0; hosts && i < hosts->n; i++) {
		const struct item *item = &hosts->items[i];

		if (constrain_host_is_granted(from, item->text) &&
		    item_list_add(&to->allowed_hosts, item->text, item->raw, item->origin) < 0)
			return -1;
	}
	to->net_mode = to->allowed_hosts.n ? NET_ALLOWLIST : NET_DENY;
	return 0;
}

static int constrain_copy(const struct policy *from, struct policy *to)
{
	for (size_t row = 0; row < POLICY_ROWS; row++)
		if (policy_has(from, (enum policy_row)row) &&
		    field_copy(&shape_policy, row, to, from) < 0)
			return -1;
	for (size_t i = 0; i < from->files.n; i++)
		if (strv_add(&to->files, from->files.v[i]) < 0)
			return -1;
	return 0;
}

int constrain_egress(const struct policy *p, struct policy **ret, struct cordon_error *err)
{
	AUTO(policy_freep) struct policy *copy = policy_new();

	if (!copy || constrain_copy(p, copy) < 0)
		return cordon_nomem(err);
	if (copy->net_mode == NET_ALLOW_ALL) {
		copy->net_mode = NET_DENY;
		/* Somebody decided this: at level none, too, it counts as written. */
		copy->origin[POLICY_NET_MODE].layer = LAYER_OPTION;
	}
	*ret = TAKE_PTR(copy);
	return 0;
}

/* The block of an adapter that the call would go to.  It can only tighten: its root is read-only in any case, what it
 * mounts the policy has to grant, at its own path, and its network is none or what the policy has. */
static int constrain_engine(struct policy *to, const struct policy *from, struct cordon_error *err)
{
	for (size_t i = 0; i < from->docker_mounts.n; i++) {
		const struct bind *b = from->docker_mounts.records[i];
		struct item item = {.text = b->source, .origin = b->origin[BIND_SOURCE]};
		bool is_writable = origin_is_set(&b->origin[BIND_READ_ONLY]) && !b->read_only;

		if (strcmp(b->source, b->target) != 0)
			return cordon_hint(err,
					   cordon_fail(err, CORDON_E_UNSUPPORTED,
						       "enforcement.docker.mounts: '%s' cannot be "
						       "mounted at '%s'",
						       b->source, b->target),
					   "a path is the same inside and outside");
		if (constrain_mount(to, from, &item, is_writable ? PERMISSION_RW : PERMISSION_RO) <
		    0)
			return cordon_nomem(err);
	}
	if (to->mounts.n)
		to->fs_mode = FS_SCOPED;
	if (policy_has(from, POLICY_DOCKER_NET) && from->docker_net == ENGINE_NET_NONE)
		to->net_mode = NET_DENY;
	if (!from->docker_image)
		return 0;
	free(to->image);
	to->image = strdup(from->docker_image);
	if (!to->image)
		return cordon_nomem(err);
	to->origin[POLICY_IMAGE] = from->origin[POLICY_DOCKER_IMAGE];
	return 0;
}

int constrain_policy(const struct policy *p, const char *tool, const char *backend,
		     struct policy **ret, struct cordon_error *err)
{
	AUTO(policy_freep) struct policy *copy = policy_new();
	const struct constraint *c = constrain_find(p, tool);
	struct origin why = p->origin[POLICY_ACTION_SUSPICIOUS];
	/* The adapter page's block says the same for every tool. */
	const struct item_list *writable = c ? &c->writable : &p->landlock_write;
	const struct item_list *readable = c ? &c->readable : &p->landlock_read;
	bool net_open = !c && policy_has(p, POLICY_LANDLOCK_NET) &&
			p->landlock_net == SIMPLE_NET_ALLOW;
	int r;

	if (!copy || constrain_copy(p, copy) < 0)
		return cordon_nomem(err);
	if (constrain_filesystem(copy, p, writable, readable) < 0 ||
	    (!net_open && constrain_network(copy, p, c ? &c->network : NULL) < 0))
		return cordon_nomem(err);
	r = strcmp(backend, "docker") == 0 ? constrain_engine(copy, p, err) : 0;
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_LEN(constrain_dropped); i++)
		field_clear(&shape_policy, constrain_dropped[i], copy);
	/* Somebody decided this: at level none, too, it counts as written. */
	why.layer = why.layer > LAYER_BUILTIN ? why.layer : LAYER_OPTION;
	copy->origin[POLICY_FS_MODE] = copy->origin[POLICY_MOUNTS] = copy->origin[POLICY_NET_MODE] =
		why;
	if (copy->level < LEVEL_PROCESS)
		copy->level = LEVEL_PROCESS;
	*ret = TAKE_PTR(copy);
	return 0;
}

int constrain_inside(const struct policy *p, const char *tool, const char *agent,
		     struct policy **ret, struct cordon_error *err)
{
	AUTO(policy_freep) struct policy *copy = policy_new();
	enum adapter a = policy_adapter(p, tool, agent);

	if (constrain_find(p, tool) || p->landlock_write.n > 0 || p->landlock_read.n > 0 ||
	    policy_has(p, POLICY_LANDLOCK_NET) ||
	    (a != ADAPTER_AUTO && strcmp(names_word(&names_adapter, (int)a), "native") != 0))
		return cordon_fail(err, CORDON_E_REFUSED,
				   "a sandbox that stays cannot be held to what the policy names "
				   "for SUSPICIOUS calls");
	if (!copy || constrain_copy(p, copy) < 0)
		return cordon_nomem(err);
	field_clear(&shape_policy, POLICY_ALLOWED_HOSTS, copy);
	for (size_t i = 0; i < ARRAY_LEN(constrain_dropped); i++)
		field_clear(&shape_policy, constrain_dropped[i], copy);
	copy->net_mode = NET_DENY;
	copy->origin[POLICY_NET_MODE] = p->origin[POLICY_ACTION_SUSPICIOUS];
	*ret = TAKE_PTR(copy);
	return 0;
}

const char *constrain_backend(const struct policy *p, const char *tool, const char *agent,
			      const char *chosen)
{
	enum adapter a = policy_adapter(p, tool, agent);

	if (chosen && strcmp(chosen, "auto") != 0)
		return chosen;
	return a == ADAPTER_AUTO ? "strongest" : names_word(&names_adapter, (int)a);
}

void constrained_done(struct constrained *c)
{
	policy_free(c->policy);
	*c = (struct constrained){0};
}

int constrain_plan(const struct policy *p, const char *tool, const char *agent, const char *chosen,
		   struct constrained *ret, struct cordon_error *err)
{
	struct candidate candidates[BACKEND_COUNT];
	struct cordon_error why = {0};
	struct select_request request = {0};
	struct needs needs;
	int r = constrain_policy(p, tool, constrain_backend(p, tool, agent, chosen), &ret->policy,
				 &why);

	/* The block of the adapter asks for what cannot be: shown like an adapter that is not there. */
	if (r == CORDON_E_UNSUPPORTED) {
		(void)snprintf(ret->problem, sizeof(ret->problem), "%.250s", why.message);
		ret->requested = constrain_backend(p, tool, agent, chosen);
		return constrain_policy(p, tool, "auto", &ret->policy, err);
	}
	if (r < 0 && err)
		*err = why;
	if (r == 0)
		r = needs_of(ret->policy, &needs, err);
	if (r < 0)
		return r;
	ret->requested = constrain_backend(ret->policy, tool, agent, chosen);
	request = (struct select_request){
		.floor = (enum level)ret->policy->level,
		.backend = ret->requested,
		.needs = needs.guarantees,
		.may_give_up = needs.may_give_up,
	};
	r = backend_select(candidates, registry_probe_for(PROBE_QUICK, &request, candidates),
			   &request, &ret->selection, &why);
	if (r == CORDON_E_NO_BACKEND || r == CORDON_E_INVALID) {
		ret->selection = (struct selection){0};
		(void)snprintf(ret->problem, sizeof(ret->problem), "%.250s", why.message);
		return 0;
	}
	if (r < 0 && err)
		*err = why;
	return r;
}

static void constrained_paths(const struct policy *p, const char *name, enum permission permission,
			      struct json *out)
{
	json_array(out, name);
	for (size_t i = 0; i < p->mounts.n; i++) {
		const struct mount *m = p->mounts.records[i];

		if (m->permissions == (int)permission)
			json_str(out, NULL, m->path);
	}
	json_end_array(out);
}

void constrained_json(const struct constrained *c, const char *name, struct json *out)
{
	const struct policy *p = c->policy;

	json_object(out, name);
	json_str(out, "requested", c->requested);
	json_str(out, "backend", c->selection.backend ? c->selection.backend->info->name : NULL);
	if (!c->selection.backend)
		json_str(out, "problem", c->problem);
	json_str(out, "network", names_word(&names_net_mode, p->net_mode));
	json_array(out, "hosts");
	for (size_t i = 0; i < p->allowed_hosts.n; i++)
		json_str(out, NULL, p->allowed_hosts.items[i].text);
	json_end_array(out);
	json_str(out, "filesystem", names_word(&names_fs_mode, p->fs_mode));
	constrained_paths(p, "writable", PERMISSION_RW, out);
	constrained_paths(p, "readable", PERMISSION_RO, out);
	json_end_object(out);
}
