/* SPDX-License-Identifier: Apache-2.0 */
/* See devenv.h. */
#include "core/devenv.h"

#include "base/path.h"
#include "core/egress.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEVENV_ENGINE "docker"
#define DEVENV_DOCKERFILE "Dockerfile"

void devenv_room_done(struct devenv_room *room)
{
	fsplan_done(&room->view);
	request_free(room->request);
	strv_done(&room->writes);
	free(room->dockerfile);
}

static struct plan_limit devenv_limit(const struct policy *p, enum policy_row row)
{
	int64_t v = *(const int64_t *)field_value_const(&shape_policy.fields[row], p);

	return policy_has(p, row) ? PLAN_LIMIT((uint64_t)v) : (struct plan_limit){0};
}

/* What a call in the project would see, and its limits. */
static int devenv_plan(const struct effective *e, struct devenv_room *room,
		       struct cordon_error *err)
{
	static char word[] = "true";
	char *argv[] = {word, NULL};
	const struct policy *p = e->policy;
	struct fsplan_input in = {
		.policy = p,
		.envp = environ,
		.state_dir = e->state_dir,
		.config_dir = e->config_dir,
		.is_root = geteuid() == 0,
	};
	int r = request_from_argv(argv, &(struct request_options){.cwd = e->workspace},
				  &room->request, err);

	in.request = room->request;
	if (r == 0)
		r = fsplan_build(&in, &room->view, err);
	room->plan = (struct plan){
		.ops = room->view.ops,
		.op_count = room->view.n,
		.net = egress_is_needed(p)            ? PLAN_NET_PROXY
		       : p->net_mode == NET_ALLOW_ALL ? PLAN_NET_HOST
						      : PLAN_NET_NONE,
		.memory_bytes = devenv_limit(p, POLICY_MEMORY),
		.cpu_shares = devenv_limit(p, POLICY_CPU_SHARES),
		.cpu_percent = devenv_limit(p, POLICY_CPU_PERCENT),
		.max_processes = devenv_limit(p, POLICY_PROCESSES),
		.max_open_files = devenv_limit(p, POLICY_OPEN_FILES),
		.separates_exec = p->write_xor_execute,
		.runtime = p->container_runtime,
	};
	return r;
}

/* Its path from the project. */
static int devenv_dockerfile(const struct effective *e, const char *name, struct devenv_room *room,
			     struct cordon_error *err)
{
	AUTO_FREE char *path = NULL;
	int r = path_join(e->workspace, name, &path);

	if (r < 0)
		return cordon_fail_leaf(err, r, "'%.300s'", name);
	if (!path_is_within(path, e->workspace) || strcmp(path, e->workspace) == 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "'%.300s' is not in the project '%.300s'", path,
					       e->workspace),
				   "name the project with --cwd");
	room->dockerfile = strdup(path + strlen(e->workspace) + (e->workspace[1] != '\0'));
	return room->dockerfile ? 0 : cordon_nomem(err);
}

static int devenv_writes(const struct effective *e, const struct strv *from,
			 struct devenv_room *room, struct cordon_error *err)
{
	for (size_t i = 0; from && i < from->n; i++) {
		AUTO_FREE char *path = NULL;
		AUTO_FREE char *real = NULL;

		if (path_join(e->workspace, from->v[i], &path) < 0)
			return cordon_nomem(err);
		real = realpath(path, NULL);
		if (!real)
			return cordon_hint(err, cordon_fail_errno(err, errno, "'%.300s'", path),
					   "make the directory first");
		if (strv_add(&room->writes, real) < 0)
			return cordon_nomem(err);
	}
	return 0;
}

int devenv_room_open(const struct effective *e, const struct devenv_options *o,
		     struct devenv_room *ret, struct cordon_error *err)
{
	int r;

	*ret = (struct devenv_room){0};
	r = devenv_plan(e, ret, err);
	if (r == 0)
		r = devenv_dockerfile(e, o->dockerfile ? o->dockerfile : DEVENV_DOCKERFILE, ret,
				      err);
	if (r == 0)
		r = devenv_writes(e, o->writes, ret, err);
	if (r < 0)
		return r;
	ret->devenv = (struct devenv){
		.engine = o->engine ? o->engine : DEVENV_ENGINE,
		.project = e->workspace,
		.state_dir = e->state_dir,
		.dockerfile = ret->dockerfile,
		.plan = &ret->plan,
		.writes = &ret->writes,
	};
	return devenv_terms(&ret->devenv, err);
}

void devenv_room_enter(struct devenv_room *room, struct plan_entry *ret_entry,
		       struct selection *ret_held)
{
	*ret_entry = (struct plan_entry){.data = &room->devenv};
	*ret_held = (struct selection){
		.backend = strcmp(room->devenv.engine, DEVENV_ENGINE) == 0 ? &devenv_docker_backend
									   : &devenv_podman_backend,
		.guarantees = devenv_guarantees(&room->devenv),
	};
	(void)snprintf(ret_held->reason, sizeof(ret_held->reason), "the container of '%.400s'",
		       room->devenv.project);
}
