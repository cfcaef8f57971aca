/* SPDX-License-Identifier: Apache-2.0 */
/* See effective.h. */
#include "core/effective.h"

#include "base/env.h"
#include "core/checks.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

int effective_init(const char *cwd, struct effective *ret, struct cordon_error *err)
{
	struct effective e = {0};
	struct stat st;
	int r;

	e.workspace = cwd ? realpath(cwd, NULL) : getcwd(NULL, 0);
	if (!e.workspace)
		return cordon_fail_errno(err, errno, "working directory '%s'", cwd ? cwd : ".");
	if (stat(e.workspace, &st) < 0 || !S_ISDIR(st.st_mode)) {
		r = cordon_fail(err, CORDON_E_INVALID, "'%s' is not a directory", e.workspace);
		effective_done(&e);
		return r;
	}
	r = env_home(&e.home);
	if (r == -ENOENT)
		r = 0;
	if (r == 0)
		r = env_config_dir(&e.config_dir);
	if (r == -ENOENT)
		r = 0;
	if (r == 0)
		r = env_state_dir(&e.state_dir);
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
		.venv = env_get("VIRTUAL_ENV"),
		.tmp = "/tmp",
		.checks = &core_checks,
	};
	*ret = e;
	return 0;
}

int effective_load(struct effective *e, const struct strv *files, const struct policy *options,
		   struct cordon_error *err)
{
	struct policy_sources s = {
		.workspace = e->workspace,
		.home = e->home,
		.venv = e->context.venv,
		.system_dir = EFFECTIVE_SYSTEM_DIR,
		.config_dir = e->config_dir,
		.files = files,
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
	free(e->config_dir);
	free(e->state_dir);
	*e = (struct effective){0};
}
