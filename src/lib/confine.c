/* SPDX-License-Identifier: Apache-2.0 */
/* Confining the calling process: the vocabulary of LandlockSandbox and ApplySeccomp. */
#include "backend/confine/landlock.h"
#include "backend/confine/seccomp.h"
#include "base/str.h"
#include "lib/border.h"

#include <stdlib.h>
#include <string.h>

struct cordon_landlock {
	char *project_dir;
	struct strv read_only;
	struct strv read_write;
};

DEFINE_FREEP(struct cordon_landlock, cordon_landlock_free)

int cordon_seccomp_profile(void **ret_bytes, size_t *ret_len, struct cordon_error *err)
{
	struct seccomp_policy policy = seccomp_self_policy();
	struct seccomp_program program;
	void *bytes;
	size_t len;
	int r;

	lib_enter(err);
	if (!ret_bytes || !ret_len)
		return lib_leave(lib_missing(err, "place for the filter"), err);
	r = seccomp_build(&policy, &program);
	if (r < 0)
		return lib_leave(
			cordon_fail(err, CORDON_E_UNSUPPORTED,
				    "there is no table of system calls for this architecture"),
			err);
	len = program.len * sizeof(program.insns[0]);
	bytes = malloc(len);
	if (!bytes)
		return lib_leave(cordon_nomem(err), err);
	memcpy(bytes, program.insns, len);
	*ret_bytes = bytes;
	*ret_len = len;
	return 0;
}

int cordon_seccomp_apply(struct cordon_error *err)
{
	lib_enter(err);
	return lib_leave(seccomp_restrict_self(err), err);
}

void cordon_landlock_free(struct cordon_landlock *l)
{
	if (!l)
		return;
	free(l->project_dir);
	strv_done(&l->read_only);
	strv_done(&l->read_write);
	free(l);
}

int cordon_landlock_new(const char *project_dir, struct cordon_landlock **ret,
			struct cordon_error *err)
{
	AUTO(cordon_landlock_freep) struct cordon_landlock *l = NULL;

	lib_enter(err);
	if (str_empty(project_dir) || !ret)
		return lib_leave(lib_missing(err, "project directory"), err);
	l = calloc(1, sizeof(*l));
	if (!l)
		return lib_leave(cordon_nomem(err), err);
	l->project_dir = strdup(project_dir);
	if (!l->project_dir)
		return lib_leave(cordon_nomem(err), err);
	*ret = TAKE_PTR(l);
	return 0;
}

static int confine_add(struct cordon_landlock *l, struct strv *list, const char *path,
		       struct cordon_error *err)
{
	int r;

	lib_enter(err);
	if (!l || str_empty(path))
		return lib_leave(lib_missing(err, "path"), err);
	r = strv_add(list, path);
	return lib_leave(r < 0 ? cordon_fail_leaf(err, r, "add '%.200s'", path) : 0, err);
}

int cordon_landlock_add_read_only(struct cordon_landlock *l, const char *path,
				  struct cordon_error *err)
{
	return confine_add(l, l ? &l->read_only : NULL, path, err);
}

int cordon_landlock_add_read_write(struct cordon_landlock *l, const char *path,
				   struct cordon_error *err)
{
	return confine_add(l, l ? &l->read_write : NULL, path, err);
}

int cordon_landlock_apply(const struct cordon_landlock *l, struct cordon_error *err)
{
	lib_enter(err);
	if (!l)
		return lib_leave(lib_missing(err, "rules"), err);
	return lib_leave(landlock_restrict_self(l->project_dir, &l->read_only, &l->read_write, err),
			 err);
}
