/* SPDX-License-Identifier: Apache-2.0 */
/* What Apple's `container` is told.  Pure, but for a look whether a granted path is a directory. */
#include "backend/apple/apple.h"

#include "base/path.h"
#include "base/utf8.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLE_MIB (1024 * 1024)

static bool apple_is_dir(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Is the path in something that the container has? */
static bool apple_is_shown(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->op_count; i++)
		if ((plan->ops[i].kind == PLAN_OP_BIND_RO ||
		     plan->ops[i].kind == PLAN_OP_BIND_RW) &&
		    path_is_within(path, plan->ops[i].path))
			return true;
	return false;
}

/* 0, -EOPNOTSUPP for what cannot be held, -errno. */
static int apple_mount(const char *path, bool is_read_only, struct strv *out)
{
	int r;

	/* Its values end at a comma and have no escape. */
	if (!apple_is_dir(path) || strchr(path, ',') || !utf8_is_valid(path, strlen(path)))
		return -EOPNOTSUPP;
	r = strv_add(out, "--mount");
	return r == 0 ? strv_addf(out, "type=bind,source=%s,target=%s%s", path, path,
				  is_read_only ? ",readonly" : "")
		      : r;
}

static int apple_tmpfs(const char *path, struct strv *out)
{
	int r;

	if (strpbrk(path, ",:") || !utf8_is_valid(path, strlen(path)))
		return -EOPNOTSUPP;
	r = strv_add(out, "--tmpfs");
	return r == 0 ? strv_add(out, path) : r;
}

static int apple_op(const struct plan *plan, const struct plan_op *op, struct strv *out)
{
	switch (op->kind) {
	case PLAN_OP_SYSTEM: /* the image's */
	case PLAN_OP_DEV:
	case PLAN_OP_PROC:
		return 0;
	case PLAN_OP_SYMLINK: /* at the top it is the system's, and the image has its own */
		return strchr(op->path + 1, '/') ? -EOPNOTSUPP : 0;
	case PLAN_OP_BIND_RO:
	case PLAN_OP_BIND_RW:
		return op->is_noexec || op->is_sealed
			       ? -EOPNOTSUPP
			       : apple_mount(op->path, op->kind == PLAN_OP_BIND_RO, out);
	case PLAN_OP_TMPFS:
		return op->is_noexec ? -EOPNOTSUPP : apple_tmpfs(op->path, out);
	case PLAN_OP_DENY:
	case PLAN_OP_PROTECT: /* what is not there at all needs no cover */
		return apple_is_shown(plan, op->path) ? -EOPNOTSUPP : 0;
	case PLAN_OP_COW:
	case PLAN_OP_FILE:
	case PLAN_OP_SHOWN:
	case PLAN_OP_DEVICE:
	case PLAN_OP_CACHE:
	case PLAN_OP_SOCKET:
	case PLAN_OP_COUNT:
		break;
	}
	return -EOPNOTSUPP;
}

static int apple_limits(const struct plan *plan, struct strv *out)
{
	int r = 0;

	/* A machine has whole MiB: never more than was granted. */
	if (plan->memory_bytes.is_given) {
		if (plan->memory_bytes.value < APPLE_MIB)
			return -EOPNOTSUPP;
		r = strv_add(out, "--memory");
		if (r == 0)
			r = strv_addf(out, "%lluM",
				      (unsigned long long)(plan->memory_bytes.value / APPLE_MIB));
	}
	if (r == 0 && plan->max_open_files.is_given) {
		r = strv_add(out, "--ulimit");
		if (r == 0)
			r = strv_addf(out, "nofile=%llu:%llu",
				      (unsigned long long)plan->max_open_files.value,
				      (unsigned long long)plan->max_open_files.value);
	}
	return r;
}

/* What is the same for every call. */
static int apple_fixed(const char *program, const struct plan *plan, const char *name,
		       const char *env, struct strv *out)
{
	const char *const words[] = {
		program,        "run",         "--rm", "--interactive", "--progress",
		"none",         "--name",      name,   "--label",       "dev.cordon.call",
		"--read-only",  "--cap-drop",  "ALL",  "--no-dns",      "--network",
		"none",         "--env-file",  env,    "--workdir",     plan->cwd ? plan->cwd : "/",
		"--entrypoint", plan->argv[0],
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(words); i++)
		r = strv_add(out, words[i]);
	if (r == 0)
		r = strv_add(out, "--user");
	return r == 0 ? strv_addf(out, "%u:%u", (unsigned)geteuid(), (unsigned)getegid()) : r;
}

/* What the plan wants that no word can say, or NULL. */
static const char *apple_lacks(const struct plan *plan)
{
	if (!plan->image)
		return "a call without an image: programs of macOS do not run on Linux";
	if (plan->image[0] == '-' || plan->argv[0][0] == '-')
		return "an image or a command whose name begins with '-'";
	if (plan_image_is_directory(plan->image))
		return "a directory in the place of an image";
	if (plan->net != PLAN_NET_NONE || plan->n_ports > 0 || plan->n_publish > 0)
		return "any network";
	if (plan->cpu_shares.is_given || plan->cpu_percent.is_given)
		return "limits of processor time";
	if (plan->max_processes.is_given)
		return "a limit of processes";
	if (plan->terminal)
		return "a terminal of its own";
	if (plan->separates_exec || plan->denied_calls)
		return "limits of what a program does";
	if (plan->serves || plan->entry || plan->watch == PLAN_WATCH_PATHS)
		return "a sandbox that stays";
	return NULL;
}

int apple_line(const char *program, const struct plan *plan, const char *name, const char *env,
	       struct strv *out, struct cordon_error *err)
{
	const char *lacks = apple_lacks(plan);
	int r;

	if (lacks)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_UNSUPPORTED,
					       "apple-container cannot hold %s", lacks),
				   "use another backend");
	r = apple_fixed(program, plan, name, env, out);
	if (r == 0)
		r = apple_limits(plan, out);
	for (size_t i = 0; r == 0 && i < plan->op_count; i++) {
		r = apple_op(plan, &plan->ops[i], out);
		if (r == -EOPNOTSUPP)
			return cordon_hint(err,
					   cordon_fail(err, CORDON_E_UNSUPPORTED,
						       "apple-container cannot hold '%s'",
						       plan->ops[i].path),
					   "it takes directories only, and closes no names in "
					   "them; use another backend");
	}
	if (r == -EOPNOTSUPP)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "apple-container cannot hold so little memory");
	if (r == 0)
		r = strv_add(out, plan->image);
	for (char *const *word = plan->argv + 1; r == 0 && *word; word++)
		r = strv_add(out, *word);
	return r < 0 ? cordon_fail_leaf(err, r, "command line of " APPLE_PROGRAM) : 0;
}

int apple_env(const struct plan *plan, struct buf *out, struct cordon_error *err)
{
	for (char *const *e = plan->envp; *e; e++) {
		/* The file has lines and comments, and no way to quote. */
		if (strchr(*e, '\n') || strchr(*e, '\r') || (*e)[0] == '#' || (*e)[0] == '=' ||
		    !strchr(*e, '='))
			return cordon_hint(
				err,
				cordon_fail(err, CORDON_E_UNSUPPORTED,
					    "apple-container takes no variable like '%.*s'",
					    (int)strcspn(*e, "="), *e),
				"leave it out (sandbox.environment), or use another backend");
		buf_printf(out, "%s\n", *e);
	}
	return buf_error(out) < 0 ? cordon_fail_leaf(err, buf_error(out), "variables") : 0;
}
