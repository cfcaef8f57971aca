/* SPDX-License-Identifier: Apache-2.0 */
/* See grants.h. */
#include "core/grants.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "core/fsgrant.h"
#include "workspace/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define SSH_AGENT_VARIABLE "SSH_AUTH_SOCK"

/* Character devices that are the machine itself, or somebody's keyboard.  minor -1: all. */
static const struct {
	int major;
	int minor;
	const char *what;
} device_refused[] = {
	{1, 1, "the machine's memory"},  {1, 2, "the kernel's memory"},
	{1, 4, "the machine's ports"},   {1, 11, "the kernel's log"},
	{4, -1, "a terminal"},           {5, -1, "a terminal"},
	{136, -1, "a terminal"},         {10, 223, "made-up input (uinput)"},
	{13, -1, "keyboards and mice"},  {10, 237, "loop devices"},
	{10, 236, "the device mapper"},  {10, 231, "the machine's memory image"},
	{21, -1, "raw disks"},           {202, -1, "the processor's registers"},
	{10, 234, "file systems"},       {10, 235, "mounts"},
	{10, 200, "network interfaces"}, {7, -1, "a console's screen"},
};

/* Where graphics processors stand: a directory, and how names in it begin. */
static const struct {
	const char *dir;
	const char *prefix;
} gpu_rows[] = {
	{"/dev/dri", ""}, {"/dev", "nvidia"}, {"/dev/nvidia-caps", ""},
	{"/dev", "kfd"},  {"/dev", "dxg"},
};

/* Sockets behind which stands somebody with more rights than the call, by the end of their path. */
static const struct {
	const char *end;
	const char *what;
} socket_mighty[] = {
	{"/docker.sock", "whoever reaches it is root on this machine"},
	{"/podman.sock", "whoever reaches it has all your files"},
	{"/containerd.sock", "whoever reaches it is root on this machine"},
	{"/crio.sock", "whoever reaches it is root on this machine"},
	{"/libvirt-sock", "whoever reaches it is root on this machine"},
	{"/systemd/private", "whoever reaches it can start programs as you"},
	{"/bus", "whoever reaches it can start programs as you"},
	{"/system_bus_socket", "services with more rights listen there"},
	{"/snapd.socket", "whoever reaches it may become root"},
	{"/S.gpg-agent", "the call can use your keys"},
};

/* The same where the numbers differ from machine to machine: raw access to disks and other machines. */
static const char *const device_refused_names[] = {"nvme", "ng",    "bsg",
						   "vfio", "vhost", "watchdog"};

static int device_check(const char *path, const struct stat *st, struct cordon_error *err)
{
	if (S_ISBLK(st->st_mode)) {
		/* The kernel knows best what is mounted, swapped to or part of something. */
		AUTO_CLOSE int fd = open(path, O_RDONLY | O_EXCL | O_NONBLOCK | O_CLOEXEC);

		if (fd < 0)
			return cordon_fail_errno(err, errno,
						 "device '%s': it is in use, or not yours", path);
		return 0;
	}
	if (!S_ISCHR(st->st_mode))
		return cordon_fail(err, CORDON_E_INVALID, "'%s' is not a device", path);
	for (size_t i = 0; i < ARRAY_LEN(device_refused); i++)
		if ((int)major(st->st_rdev) == device_refused[i].major &&
		    (device_refused[i].minor < 0 ||
		     (int)minor(st->st_rdev) == device_refused[i].minor))
			return cordon_fail(err, CORDON_E_INVALID,
					   "device '%s' cannot be granted: %s", path,
					   device_refused[i].what);
	for (size_t i = 0; i < ARRAY_LEN(device_refused_names); i++)
		if (str_starts(path + strlen("/dev/"), device_refused_names[i]))
			return cordon_fail(err, CORDON_E_INVALID,
					   "device '%s' cannot be granted: raw access to hardware",
					   path);
	return 0;
}

/* Calls make links there: what one names would be granted to the next. */
static int grants_led_out(const char *what, const char *name, struct cordon_error *err)
{
	return cordon_hint(err,
			   cordon_fail(err, CORDON_E_INVALID,
				       "%s '%s': a link leads out of the workspace", what, name),
			   "grant what it leads to by its own name");
}

static int device_add(const struct grants_input *in, const char *name, struct cordon_error *err)
{
	AUTO_FREE char *real = realpath(name, NULL);
	const struct plan_op op = {.kind = PLAN_OP_DEVICE, .path = real};
	struct stat st;
	int r;

	if (!real || stat(real, &st) < 0)
		return cordon_fail_errno(err, errno, "device '%s'", name);
	if (!path_is_within(real, "/dev"))
		return cordon_fail(err, CORDON_E_INVALID, "device '%s' is not in /dev", real);
	if (fsgrant_leads_out(in->workspace, name, real))
		return grants_led_out("device", name, err);
	r = device_check(real, &st, err);
	return r < 0 ? r : in->add(in->arg, &op);
}

/* Adds the character devices of one row; *found counts them. */
static int gpu_add(const struct grants_input *in, size_t row, size_t *found,
		   struct cordon_error *err)
{
	DIR *dir = opendir(gpu_rows[row].dir);
	const struct dirent *e;
	int r = 0;

	while (dir && r == 0 && (e = readdir(dir))) {
		AUTO_FREE char *path = NULL;
		struct stat st;

		if (e->d_name[0] == '.' || !str_starts(e->d_name, gpu_rows[row].prefix))
			continue;
		if (path_join(gpu_rows[row].dir, e->d_name, &path) < 0)
			r = cordon_nomem(err);
		else if (lstat(path, &st) == 0 && S_ISCHR(st.st_mode)) {
			r = device_add(in, path, err);
			++*found;
		}
	}
	if (dir)
		(void)closedir(dir);
	return r;
}

static int grants_add_devices(const struct grants_input *in, struct cordon_error *err)
{
	const struct item_list *devices = &in->policy->devices;
	size_t found = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < devices->n; i++)
		r = device_add(in, devices->items[i].text, err);
	if (!in->policy->gpu)
		return r;
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(gpu_rows); i++)
		r = gpu_add(in, i, &found, err);
	if (r == 0 && found == 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_NOT_FOUND,
					       "there is no graphics processor here"),
				   "looked for /dev/dri, /dev/nvidia*, /dev/kfd and /dev/dxg; its "
				   "driver may not be loaded");
	return r;
}

static int grants_add_caches(const struct grants_input *in, struct cordon_error *err)
{
	const struct item_list *caches = &in->policy->caches;
	int r = 0;

	for (size_t i = 0; r == 0 && i < caches->n; i++) {
		const struct cache_kind *kind = cache_find(caches->items[i].text);
		AUTO_FREE char *dir = NULL;
		AUTO_FREE char *place = NULL;
		struct plan_op op = {.kind = PLAN_OP_CACHE};

		if (!kind)
			return cordon_fail(err, CORDON_E_INVALID, "unknown cache '%s'",
					   caches->items[i].text);
		if (cache_dir(in->state_dir, in->workspace, kind->name, &dir) < 0 ||
		    path_join(CACHE_PLACE, kind->name, &place) < 0)
			return cordon_nomem(err);
		op.path = place;
		op.text = dir;
		r = in->add(in->arg, &op);
	}
	return r;
}

int grants_make_caches(const struct policy *p, const char *workspace, const char *state_dir,
		       struct cordon_error *err)
{
	AUTO_FREE char *real = NULL;
	int r = 0;

	if (p->caches.n == 0)
		return 0;
	if (path_resolve(workspace, &real) < 0)
		return cordon_nomem(err);
	for (size_t i = 0; r == 0 && i < p->caches.n; i++)
		r = cache_make(state_dir, real, p->caches.items[i].text, err);
	return r;
}

static int grants_add_sockets(const struct grants_input *in, struct cordon_error *err)
{
	const struct item_list *sockets = &in->policy->sockets;
	int r = 0;

	if (sockets->n > LIMIT_SOCKETS)
		return cordon_fail(err, CORDON_E_LIMIT, "more than %d sockets", LIMIT_SOCKETS);
	for (size_t i = 0; r == 0 && i < sockets->n; i++) {
		AUTO_FREE char *real = realpath(sockets->items[i].text, NULL);
		const struct plan_op op = {.kind = PLAN_OP_SOCKET, .path = real};
		struct stat st;

		if (!real || lstat(real, &st) < 0)
			return cordon_fail_errno(err, errno, "socket '%s'", sockets->items[i].text);
		if (!S_ISSOCK(st.st_mode))
			return cordon_fail(err, CORDON_E_INVALID, "'%s' is not a socket", real);
		if (fsgrant_leads_out(in->workspace, sockets->items[i].text, real))
			return grants_led_out("socket", sockets->items[i].text, err);
		if (path_is_within(real, in->state_dir))
			return cordon_fail(err, CORDON_E_INVALID, "'%s' cannot be granted", real);
		r = in->add(in->arg, &op);
	}
	return r;
}

int grants_add(const struct grants_input *in, struct cordon_error *err)
{
	int r = grants_add_devices(in, err);

	if (r == 0)
		r = grants_add_caches(in, err);
	return r == 0 ? grants_add_sockets(in, err) : r;
}

int grants_seal(const struct grants_input *in, struct plan_op *ops, size_t n,
		struct cordon_error *err)
{
	if (in->policy->sockets.n == 0)
		return 0;
	if (in->policy->fs_mode == FS_FULL)
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_UNSUPPORTED,
				    "a socket cannot be granted in file system mode full"),
			"all others would be in reach; use mode scoped");
	for (size_t i = 0; i < n; i++) {
		struct stat st;

		if (lstat(ops[i].path, &st) == 0 && S_ISSOCK(st.st_mode))
			return cordon_hint(err,
					   cordon_fail(err, CORDON_E_INVALID, "'%s' is a socket",
						       ops[i].path),
					   "grant it with --allow-socket");
		ops[i].is_sealed = true;
	}
	return 0;
}

bool grants_has_socket(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->sockets.n; i++) {
		AUTO_FREE char *real = realpath(p->sockets.items[i].text, NULL);

		if (strcmp(p->sockets.items[i].text, path) == 0 ||
		    (real && strcmp(real, path) == 0))
			return true;
	}
	return false;
}

/* Gives where the caller's SSH agent really listens if that is granted, else NULL. */
static char *grants_ssh_agent(const struct policy *p, char *const *environ)
{
	size_t len = strlen(SSH_AGENT_VARIABLE);

	for (size_t i = 0; p->sockets.n > 0 && environ && environ[i]; i++) {
		AUTO_FREE char *real = NULL;

		if (strncmp(environ[i], SSH_AGENT_VARIABLE, len) != 0 || environ[i][len] != '=')
			continue;
		real = realpath(environ[i] + len + 1, NULL);
		return real && grants_has_socket(p, real) ? TAKE_PTR(real) : NULL;
	}
	return NULL;
}

static bool grants_is_set(const struct strv *env, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < env->n; i++)
		if (strncmp(env->v[i], name, len) == 0 && env->v[i][len] == '=')
			return true;
	return false;
}

int grants_environment(const struct policy *p, char *const *environ, struct strv *env)
{
	AUTO_FREE char *agent = grants_ssh_agent(p, environ);
	int r = 0;

	if (agent && !grants_is_set(env, SSH_AGENT_VARIABLE))
		r = strv_addf(env, SSH_AGENT_VARIABLE "=%s", agent);
	for (size_t i = 0; i < p->caches.n; i++) {
		const struct cache_kind *kind = cache_find(p->caches.items[i].text);

		for (size_t k = 0; r == 0 && kind && k < CACHE_VARIABLES_MAX; k++) {
			const char *name = kind->variables[k].name;

			if (name && !grants_is_set(env, name))
				r = strv_addf(env, "%s=" CACHE_PLACE "/%s%s", name, kind->name,
					      kind->variables[k].below);
		}
	}
	return r;
}

int grants_warnings(const struct policy *p, struct strv *ret)
{
	for (size_t i = 0; i < p->sockets.n; i++) {
		AUTO_FREE char *real = realpath(p->sockets.items[i].text, NULL);

		for (size_t k = 0; real && k < ARRAY_LEN(socket_mighty); k++) {
			int r;

			if (!str_ends(real, socket_mighty[k].end))
				continue;
			r = strv_addf(ret, "'%s' is granted: %s; no sandbox holds against that",
				      real, socket_mighty[k].what);
			if (r < 0)
				return r;
			break;
		}
	}
	return 0;
}

int grants_describe_caches(const struct policy *p, const char *workspace, const char *state_dir,
			   struct strv *ret)
{
	AUTO_FREE char *real = NULL;
	int r = path_resolve(workspace, &real);

	for (size_t i = 0; r == 0 && i < p->caches.n; i++) {
		const char *name = p->caches.items[i].text;
		AUTO_FREE char *dir = NULL;
		uint64_t bytes = 0;

		r = cache_dir(state_dir, real, name, &dir);
		if (r == 0 && cache_size(dir, &bytes, NULL) == 0)
			r = strv_addf(ret, "cache %s: '%s', %llu KiB", name, dir,
				      (unsigned long long)(bytes / 1024));
	}
	return r;
}
