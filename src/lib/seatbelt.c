/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles for macOS; see seatbelt.h. */
#include <cordon/seatbelt.h>

#include "lib/lib.h"

#include "backend/seatbelt/sbpl.h"
#include "backend/seatbelt/seatbelt.h"

#include <stdlib.h>
#include <string.h>

static size_t seatbelt_count(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static int seatbelt_text(const struct cordon_seatbelt_policy *policy, struct buf *out,
			 struct cordon_error *err)
{
	size_t n_read = seatbelt_count(policy->readable_paths);
	size_t n_write = seatbelt_count(policy->writable_paths);
	AUTO_FREE struct sbpl_rule *rules = calloc(n_read + n_write + 1, sizeof(*rules));
	struct sbpl_profile p = {
		.allows_network = policy->allow_network,
		.allows_process = policy->allow_process,
		.allows_sysctl = policy->allow_sysctl,
		.rules = rules,
	};

	if (!rules)
		return cordon_nomem(err);
	for (size_t i = 0; i < n_read; i++)
		rules[p.n++] =
			(struct sbpl_rule){.kind = SBPL_READ, .path = policy->readable_paths[i]};
	for (size_t i = 0; i < n_write; i++)
		rules[p.n++] =
			(struct sbpl_rule){.kind = policy->allow_write ? SBPL_WRITE : SBPL_READ,
					   .path = policy->writable_paths[i]};
	return sbpl_write(&p, out, err);
}

static int seatbelt_check(const struct cordon_seatbelt_policy *policy, struct cordon_error *err)
{
	if (policy->struct_size != sizeof(*policy))
		return cordon_fail(err, CORDON_E_INVALID, "struct_size is not set");
	return 0;
}

int cordon_seatbelt_default(const char *work_dir, struct cordon_seatbelt_policy **ret,
			    struct cordon_error *err)
{
	struct {
		struct cordon_seatbelt_policy policy;
		const char *writable[2];
		char path[];
	} * made;

	lib_enter(err);
	if (!work_dir || !ret)
		return lib_leave(lib_missing(err, !work_dir ? "directory" : "place for the policy"),
				 err);
	if (work_dir[0] != '/')
		return lib_leave(cordon_fail(err, CORDON_E_INVALID, "path '%s' is not absolute",
					     work_dir),
				 err);
	made = calloc(1, sizeof(*made) + strlen(work_dir) + 1);
	if (!made)
		return lib_leave(cordon_nomem(err), err);
	memcpy(made->path, work_dir, strlen(work_dir));
	made->writable[0] = made->path;
	made->policy = (struct cordon_seatbelt_policy){
		.struct_size = sizeof(made->policy),
		.allow_write = 1,
		.writable_paths = made->writable,
		.allow_process = 1,
		.allow_sysctl = 1,
	};
	*ret = &made->policy;
	return 0;
}

int cordon_seatbelt_profile(const struct cordon_seatbelt_policy *policy, char **ret,
			    struct cordon_error *err)
{
	AUTO(buf_done) struct buf text = BUF_INIT(SBPL_MAX);
	size_t len;
	int r;

	lib_enter(err);
	if (!policy || !ret)
		return lib_leave(lib_missing(err, !policy ? "policy" : "place for the profile"),
				 err);
	r = seatbelt_check(policy, err);
	if (r == 0)
		r = seatbelt_text(policy, &text, err);
	if (r == 0 && buf_take(&text, ret, &len) < 0)
		r = cordon_nomem(err);
	return lib_leave(r, err);
}

int cordon_seatbelt_command(const char *command, const struct cordon_seatbelt_policy *policy,
			    char ***ret_argv, struct cordon_error *err)
{
	AUTO(buf_done) struct buf text = BUF_INIT(SBPL_MAX);
	AUTO(strv_done) struct strv words = {0};
	char shell[] = "/bin/sh", flag[] = "-c";
	AUTO_FREE char *copy = NULL;
	int r;

	lib_enter(err);
	if (!command || !policy || !ret_argv)
		return lib_leave(lib_missing(err, !command  ? "command"
						  : !policy ? "policy"
							    : "place for the words"),
				 err);
	copy = strdup(command);
	r = copy ? seatbelt_check(policy, err) : cordon_nomem(err);
	if (r == 0 && !policy->allow_process)
		r = cordon_fail(err, CORDON_E_INVALID,
				"a policy without processes lets no command start");
	if (r == 0)
		r = seatbelt_text(policy, &text, err);
	if (r == 0 && seatbelt_line("/usr/bin/" SEATBELT_PROGRAM, buf_cstr(&text),
				    (char *[]){shell, flag, copy, NULL}, &words) < 0)
		r = cordon_nomem(err);
	if (r == 0)
		r = lib_pack(&words, ret_argv, err);
	return lib_leave(r, err);
}
