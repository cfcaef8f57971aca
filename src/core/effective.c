/* SPDX-License-Identifier: Apache-2.0 */
/* See effective.h. */
#include "core/effective.h"

#include "base/env.h"
#include "base/path.h"
#include "core/checks.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int effective_init(const char *cwd, struct effective *ret, struct cordon_error *err)
{
	return effective_init_at(&(struct effective_places){.cwd = cwd}, ret, err);
}

static int effective_workspace(const char *cwd, char **ret, struct cordon_error *err)
{
	AUTO_FREE char *real = cwd ? realpath(cwd, NULL) : getcwd(NULL, 0);
	struct stat st;

	if (!real)
		return cordon_fail_errno(err, errno, "working directory '%s'", cwd ? cwd : ".");
	if (stat(real, &st) < 0 || !S_ISDIR(st.st_mode))
		return cordon_fail(err, CORDON_E_INVALID, "'%s' is not a directory", real);
	*ret = TAKE_PTR(real);
	return 0;
}

/* A place that the caller names, or the user's own.  0 or -errno. */
static int effective_dir(const char *given, int (*own)(char **ret), char **ret)
{
	if (!given)
		return own(ret);
	return given[0] == '/' ? path_normalise(given, ret) : -EINVAL;
}

static int effective_copy(const char *s, char **ret)
{
	if (!s)
		return 0;
	*ret = strdup(s);
	return *ret ? 0 : -ENOMEM;
}

static int effective_find(struct effective *e, const struct effective_places *places)
{
	int r = env_home(&e->home);

	if (r == 0 || r == -ENOENT)
		r = effective_dir(places->config_dir, env_config_dir, &e->config_dir);
	if (r == 0 || r == -ENOENT)
		r = effective_dir(places->state_dir, env_state_dir, &e->state_dir);
	return r == 0 ? effective_copy(env_get("VIRTUAL_ENV"), &e->venv) : r;
}

int effective_init_at(const struct effective_places *places, struct effective *ret,
		      struct cordon_error *err)
{
	struct effective e = {0};
	int r = effective_workspace(places->cwd, &e.workspace, err);

	if (r < 0)
		return r;
	r = effective_find(&e, places);
	if (r < 0) {
		r = cordon_hint(
			err, cordon_fail_leaf(err, r, "find the state directory"),
			"set HOME, or CORDON_STATE_DIR and CORDON_CONFIG_DIR to absolute paths");
		effective_done(&e);
		return r;
	}
	e.context = (struct policy_context){
		.workspace = e.workspace,
		.home = e.home,
		.venv = e.venv,
		.tmp = "/tmp",
		.checks = &core_checks,
	};
	*ret = e;
	return 0;
}

int effective_load(struct effective *e, const struct strv *files, const struct policy *options,
		   struct cordon_error *err)
{
	return effective_load_texts(e, files, /* texts= */ NULL, 0, options, err);
}

int effective_load_texts(struct effective *e, const struct strv *files,
			 const struct policy_text *texts, size_t n_texts,
			 const struct policy *options, struct cordon_error *err)
{
	struct policy_sources s = {
		.workspace = e->workspace,
		.home = e->home,
		.venv = e->context.venv,
		.system_dir = EFFECTIVE_SYSTEM_DIR,
		.config_dir = e->config_dir,
		.no_user = e->no_user,
		.no_project = e->no_project,
		.files = files,
		.texts = texts,
		.n_texts = n_texts,
		.options = options,
		.checks = &core_checks,
	};

	return policy_load(&s, &e->policy, err);
}

void effective_done(struct effective *e)
{
	policy_free(e->policy);
	free(e->workspace);
	free(e->home);
	free(e->venv);
	free(e->config_dir);
	free(e->state_dir);
	*e = (struct effective){0};
}
