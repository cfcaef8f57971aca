/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The container of a project: no capability, nothing to gain any, the engine's filter of system calls or ours, a root that
 * cannot be written, a /tmp of its own, the limits of the policy.  The project is there at its path and cannot be
 * written but for the directories that were named; none of those may hold a protected or denied name, because mounts of
 * an engine cannot keep a name from being made, or a directory above one from being moved.  hold.c looks whether it is so.
 */
#include "backend/devenv/client.h"

#include "backend/container/spec.h"
#include "backend/devenv/hold.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/libexec.h"
#include "base/path.h"
#include "base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TERMS_OWN_PROCESSES 2 /* the container's own, and that of each command */
#define TERMS_BYTES (4 * 1024 * 1024)
#define TERMS_EMPTY "ro,nosuid,nodev,noexec,notmpcopyup" /* for podman */

static const char *const terms_podman_adds[] = {"/run", "/var/tmp"};

static bool terms_is_podman(const struct devenv *d)
{
	return strcmp(d->engine, "podman") == 0;
}

/* Can the engine be told it as what it is? */
static int terms_check_path(const struct devenv *d, const char *path, struct cordon_error *err)
{
	const char *is = NULL;

	if (!utf8_is_valid(path, strlen(path)))
		is = "a container engine takes no path that is not UTF-8";
	else if (terms_is_podman(d) && strpbrk(path, SPEC_PODMAN_PARTS))
		is = "podman takes no path with a comma, a quotation mark or a line break";
	return is ? cordon_hint(err,
				cordon_fail(err, CORDON_E_UNSUPPORTED, "%s: '%.300s'", is, path),
				"rename it")
		  : 0;
}

static int terms_hold(char ret[static PATH_MAX], struct cordon_error *err)
{
	AUTO_CLOSE int fd = libexec_open(HOLD_NAME, /* writable= */ NULL);
	char link[32];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = fd < 0 ? -1 : readlink(link, ret, PATH_MAX - 1);
	if (n > 0) {
		ret[n] = '\0';
		return 0;
	}
	return cordon_hint(err, cordon_fail_leaf(err, fd < 0 ? fd : -ENOENT, "open " HOLD_NAME),
			   "containers need that program in %s or beside the command, where nobody "
			   "else can write",
			   libexec_dir);
}

static void terms_bind(struct json *j, const char *source, const char *target, bool is_read_only)
{
	json_object(j, NULL);
	json_str(j, "Type", "bind");
	json_str(j, "Source", source);
	json_str(j, "Target", target);
	json_bool(j, "ReadOnly", is_read_only);
	json_object(j, "BindOptions");
	json_bool(j, "NonRecursive", true); /* a mount below could be written */
	json_end_object(j);
	json_end_object(j);
}

/* Something that is there and that nobody may read.  Podman would copy what is below into a tmpfs, unless it is told not to where
 * it takes words (terms_tmpfs()). */
static void terms_deny(struct json *j, const struct devenv *d, const char *path, bool is_dir)
{
	if (is_dir && terms_is_podman(d))
		return;
	if (!is_dir) {
		terms_bind(j, "/dev/null", path, /* is_read_only= */ true);
		return;
	}
	json_object(j, NULL);
	json_str(j, "Type", "tmpfs");
	json_str(j, "Target", path);
	json_bool(j, "ReadOnly", true);
	json_object(j, "TmpfsOptions");
	json_int(j, "Mode", 0);
	json_end_object(j);
	json_end_object(j);
}

static int terms_write_dirs(struct json *j, const struct devenv *d, struct cordon_error *err)
{
	for (size_t i = 0; d->writes && i < d->writes->n; i++) {
		const char *dir = d->writes->v[i];
		int r;

		if (!path_is_within(dir, d->project) || strcmp(dir, d->project) == 0)
			return cordon_hint(err,
					   cordon_fail(err, CORDON_E_UNSUPPORTED,
						       "'%.300s' cannot be written in a container",
						       dir),
					   "name a directory inside the project, not the project");
		for (size_t k = 0; k < d->plan->op_count; k++) {
			const struct plan_op *op = &d->plan->ops[k];

			if ((op->kind != PLAN_OP_PROTECT && op->kind != PLAN_OP_DENY) ||
			    (!path_is_within(op->path, dir) && !path_is_within(dir, op->path)))
				continue;
			return cordon_hint(
				err,
				cordon_fail(
					err, CORDON_E_UNSUPPORTED,
					"'%.300s' cannot be written in a container: '%.300s' %s",
					dir, op->path,
					op->kind == PLAN_OP_DENY ? "is denied" : "is protected"),
				"name another directory");
		}
		r = terms_check_path(d, dir, err);
		if (r < 0)
			return r;
		terms_bind(j, dir, dir, /* is_read_only= */ false);
	}
	return 0;
}

static int terms_mounts(struct json *j, const struct devenv *d, const char *hold,
			struct cordon_error *err)
{
	int r = terms_check_path(d, d->project, err);

	if (r < 0)
		return r;
	json_array(j, "Mounts");
	terms_bind(j, hold, HOLD_PATH, /* is_read_only= */ true);
	terms_bind(j, d->project, d->project, /* is_read_only= */ true);
	for (size_t i = 0; r == 0 && i < d->plan->op_count; i++) {
		const struct plan_op *op = &d->plan->ops[i];
		struct stat st;

		if (op->kind != PLAN_OP_DENY || !path_is_within(op->path, d->project))
			continue;
		/* What is not there can come only from outside, and then the terms are other ones. */
		if (lstat(op->path, &st) < 0)
			r = errno == ENOENT ? 0 : cordon_fail_errno(err, errno, "'%s'", op->path);
		else if (strcmp(op->path, d->project) == 0)
			r = cordon_fail(err, CORDON_E_UNSUPPORTED,
					"'%.300s' is denied and cannot be hidden", op->path);
		else if ((r = terms_check_path(d, op->path, err)) == 0)
			terms_deny(j, d, op->path, S_ISDIR(st.st_mode));
	}
	if (r == 0)
		r = terms_write_dirs(j, d, err);
	json_end_array(j);
	return r;
}

static void terms_limits(struct json *j, const struct plan *plan)
{
	spec_limits(j, plan, TERMS_OWN_PROCESSES);
	if (plan->max_open_files.is_given) {
		json_array(j, "Ulimits");
		json_object(j, NULL);
		json_str(j, "Name", "nofile");
		json_int(j, "Soft", (int64_t)plan->max_open_files.value);
		json_int(j, "Hard", (int64_t)plan->max_open_files.value);
		json_end_object(j);
		json_end_array(j);
	}
}

/* Is it a directory that has to be hidden, and by words? */
static bool terms_hides(const struct devenv *d, const struct plan_op *op)
{
	struct stat st;

	return terms_is_podman(d) && op->kind == PLAN_OP_DENY &&
	       path_is_within(op->path, d->project) && lstat(op->path, &st) == 0 &&
	       S_ISDIR(st.st_mode);
}

static int terms_tmpfs(struct json *j, const struct devenv *d, struct cordon_error *err)
{
	int r = 0;

	json_object(j, "Tmpfs");
	json_str(j, "/tmp",
		 d->plan->separates_exec ? "rw,nosuid,nodev,noexec,mode=1777"
					 : "rw,nosuid,nodev,exec,mode=1777");
	/* podman puts private directories that can be written over a read-only root, where it is told nothing else. */
	for (size_t i = 0; terms_is_podman(d) && i < ARRAY_LEN(terms_podman_adds); i++)
		json_str(j, terms_podman_adds[i], TERMS_EMPTY);
	for (size_t i = 0; r == 0 && i < d->plan->op_count; i++) {
		const char *path = d->plan->ops[i].path;

		if (!terms_hides(d, &d->plan->ops[i]))
			continue;
		if (strchr(path, ':'))
			r = cordon_hint(
				err,
				cordon_fail(err, CORDON_E_UNSUPPORTED,
					    "podman cannot hide a directory with a colon in "
					    "its path: '%.300s'",
					    path),
				"rename it, or use docker");
		else
			json_str(j, path, TERMS_EMPTY);
	}
	json_end_object(j);
	return r;
}

static int terms_host(struct json *j, const struct devenv *d, const char *hold,
		      struct cordon_error *err)
{
	int r;

	json_object(j, "HostConfig");
	if (d->plan->runtime)
		json_str(j, "Runtime", d->plan->runtime);
	json_str(j, "NetworkMode", d->plan->net == PLAN_NET_HOST ? "host" : "none");
	json_str(j, "IpcMode", "private");
	json_bool(j, "ReadonlyRootfs", true);
	json_array(j, "CapDrop");
	json_str(j, NULL, "ALL");
	json_end_array(j);
	json_array(j, "SecurityOpt");
	json_str(j, NULL, "no-new-privileges");
	json_end_array(j);
	json_object(j, "LogConfig");
	json_str(j, "Type", "none");
	json_end_object(j);
	r = terms_tmpfs(j, d, err);
	terms_limits(j, d->plan);
	if (r == 0)
		r = terms_mounts(j, d, hold, err);
	json_end_object(j);
	return r;
}

int devenv_write(const struct devenv *d, struct buf *out, struct cordon_error *err)
{
	struct json j = JSON_INIT(out);
	char hold[PATH_MAX];
	char user[32];
	int r = terms_hold(hold, err);

	if (r < 0)
		return r;
	if (d->plan->net == PLAN_NET_PROXY)
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_UNSUPPORTED,
				    "a container that stays cannot have a list of hosts"),
			"deny the network, allow all of it, or use 'cordon run --image'");
	if (d->plan->runtime && strcmp(d->engine, "docker") != 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_UNSUPPORTED,
					       "%s takes no runtime '%s' from a policy", d->engine,
					       d->plan->runtime),
				   "name it in containers.conf, or use docker");
	(void)snprintf(user, sizeof(user), "%u:%u", (unsigned)geteuid(), (unsigned)getegid());
	json_object(&j, NULL);
	json_str(&j, "User", user);
	json_str(&j, "WorkingDir", d->project);
	json_str(&j, "Hostname", PLAN_HOSTNAME);
	json_array(&j, "Entrypoint");
	json_str(&j, NULL, HOLD_PATH);
	json_end_array(&j);
	json_array(&j, "Cmd");
	json_str(&j, NULL, d->plan->net == PLAN_NET_HOST ? "host" : HOLD_NO_NETWORK);
	json_end_array(&j);
	json_array(&j, "Env");
	json_str(&j, NULL, "HOME=/tmp");
	json_end_array(&j);
	r = terms_host(&j, d, hold, err);
	json_end_object(&j);
	if (r == 0 && buf_error(out) < 0)
		r = cordon_fail_leaf(err, buf_error(out), "describe the container");
	return r;
}

int devenv_terms(struct devenv *d, struct cordon_error *err)
{
	struct devenv all = *d;
	struct buf body = BUF_INIT(TERMS_BYTES);
	int r;

	all.writes = NULL;
	r = devenv_write(&all, &body, err);
	if (r == 0)
		sha256_hex(buf_cstr(&body), body.len, d->terms);
	buf_done(&body);
	return r;
}
