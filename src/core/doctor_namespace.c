/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes inside fresh user, mount, pid and network namespaces.  Every mount is made by a child that
 * has first seen that its mount namespace is not the doctor's; without that proof it makes none.
 */
#include "core/doctor_linux.h"

#include "base/fd.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define NAMESPACE_APPARMOR "kernel/apparmor_restrict_unprivileged_userns"

/* The number in /proc/sys/NAME, or -1. */
static long namespace_sysctl(const char *name)
{
	AUTO_FREE char *text = NULL;
	char path[96];
	long value = 0;
	size_t len = 0;

	(void)snprintf(path, sizeof(path), "/proc/sys/%s", name);
	if (io_read_file_at(AT_FDCWD, path, 64, &text, &len) < 0 || len == 0)
		return -1;
	for (const char *s = text; *s >= '0' && *s <= '9' && value < 1000000; s++)
		value = value * 10 + (*s - '0');
	return value;
}

/* What forbids user namespaces here, as the command that allows them. */
static const char *namespace_fix(void)
{
	if (namespace_sysctl("user/max_user_namespaces") == 0)
		return "sysctl -w user.max_user_namespaces=15000";
	if (geteuid() != 0 && namespace_sysctl("kernel/unprivileged_userns_clone") == 0)
		return "sysctl -w kernel.unprivileged_userns_clone=1";
	if (geteuid() != 0 && namespace_sysctl(NAMESPACE_APPARMOR) > 0)
		return "give cordon an AppArmor profile with the line 'userns,', or: sysctl -w "
		       "kernel.apparmor_restrict_unprivileged_userns=0";
	return "allow clone3(2) with CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID and CLONE_NEWNET, and "
	       "mounts in them, in the seccomp or security profile of the container that we run "
	       "in; without it the landlock backend is what there is";
}

/* Takes errno as a value: to find the fix opens files, and so changes it. */
static void namespace_bad(struct doctor_row *ret, int error, const char *what)
{
	doctor_bad(ret, error, what, namespace_fix());
}

void doctor_no_namespaces(int error, struct doctor_row *ret)
{
	namespace_bad(ret, error, "new user, mount, pid and network namespaces");
}

static int namespace_write(const char *path, const char *text)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(text);

	if (fd < 0)
		return -errno;
	return write(fd, text, len) == (ssize_t)len ? 0 : -errno;
}

bool doctor_map(const struct doctor_context *c, struct doctor_row *ret)
{
	char map[64];
	int r = namespace_write("/proc/self/setgroups", "deny");

	(void)snprintf(map, sizeof(map), "%u %u 1\n", c->uid, c->uid);
	if (r == 0)
		r = namespace_write("/proc/self/uid_map", map);
	(void)snprintf(map, sizeof(map), "%u %u 1\n", c->gid, c->gid);
	if (r == 0)
		r = namespace_write("/proc/self/gid_map", map);
	if (r == 0 && (geteuid() != c->uid || getegid() != c->gid))
		r = -EPERM;
	if (r < 0)
		namespace_bad(ret, -r, "write the id maps of a new user namespace");
	return r == 0;
}

/*
 * Should: be the only way to a mount in this file.
 * Mustn't: let one happen in the namespace that we were started in.
 */
static bool namespace_enter(const struct doctor_context *c, struct doctor_row *ret)
{
	struct stat st;

	if (!doctor_map(c, ret))
		return false;
	if (c->mount_ns == 0 || stat("/proc/self/ns/mnt", &st) < 0 ||
	    (uint64_t)st.st_ino == c->mount_ns) {
		doctor_bad(ret, 0, "cannot see a mount namespace of its own; nothing was mounted",
			   "mount /proc");
		return false;
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		namespace_bad(ret, errno, "make the mounts private");
		return false;
	}
	return true;
}

/* A tmpfs over a directory that every system has; the child's directory is in it afterwards. */
static bool namespace_scratch(struct doctor_row *ret)
{
	if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=700") == 0 &&
	    chdir("/tmp") == 0)
		return true;
	namespace_bad(ret, errno, "mount a tmpfs");
	return false;
}

void doctor_try_namespaces(const struct doctor_context *c, struct doctor_row *ret)
{
	if (doctor_map(c, ret))
		doctor_good(ret, "user, mount, pid and network namespaces as uid %u", c->uid);
}

void doctor_try_tmpfs(const struct doctor_context *c, struct doctor_row *ret)
{
	AUTO_CLOSE int fd = -1;

	if (!namespace_enter(c, ret) || !namespace_scratch(ret))
		return;
	fd = open("file", O_CREAT | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	if (fd < 0 || write(fd, "x", 1) != 1)
		doctor_bad(ret, errno, "write to a tmpfs", "raise the memory limit around us");
	else
		doctor_good(ret, "mounted and written to");
}

void doctor_try_proc(const struct doctor_context *c, struct doctor_row *ret)
{
	char self[16] = "";

	if (!namespace_enter(c, ret) || !namespace_scratch(ret))
		return;
	if (mkdir("proc", 0700) < 0 ||
	    mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
		doctor_bad(ret, errno, "mount a fresh /proc",
			   "start the container around us with an unmasked /proc (docker: "
			   "--security-opt systempaths=unconfined)");
		return;
	}
	if (readlink("proc/self", self, sizeof(self) - 1) < 0 || strcmp(self, "1") != 0)
		doctor_bad(ret, 0, "a fresh /proc does not show the new pid namespace",
			   "report this with the kernel's version");
	else
		doctor_good(ret, "a fresh one shows only the new pid namespace");
}

static bool overlay_prepare(void)
{
	static const char *const dirs[] = {"lower", "upper", "work", "merged"};
	AUTO_CLOSE int fd = -1;

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (mkdir(dirs[i], 0700) < 0)
			return false;
	fd = open("lower/old", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	return fd >= 0;
}

void doctor_try_overlay(const struct doctor_context *c, struct doctor_row *ret)
{
	struct stat st;
	AUTO_CLOSE int fd = -1;

	if (!namespace_enter(c, ret) || !namespace_scratch(ret))
		return;
	if (!overlay_prepare() ||
	    mount("overlay", "merged", "overlay", MS_NOSUID | MS_NODEV,
		  "lowerdir=lower,upperdir=upper,workdir=work,userxattr") < 0) {
		doctor_bad(ret, errno, "mount an overlay with userxattr",
			   "modprobe overlay; it needs kernel 5.11 or newer. Without it workspaces "
			   "are copied");
		return;
	}
	fd = open("merged/new", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 || unlink("merged/old") < 0 || stat("upper/new", &st) < 0 ||
	    lstat("upper/old", &st) < 0 || stat("lower/old", &st) < 0)
		doctor_bad(ret, errno, "write and delete in an overlay",
			   "use a kernel in which overlayfs works in user namespaces, 5.11 or "
			   "newer. Without it workspaces are copied");
	else
		doctor_good(ret, "changes go to the upper layer, the lower one stays as it is");
}

/* Asks nf_tables for its generation: a reply shows that rules can be made here. */
static int nftables_ask(int fd)
{
	struct {
		struct nlmsghdr head;
		struct nfgenmsg body;
	} ask = {
		.head = {.nlmsg_len = sizeof(ask),
			 .nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETGEN,
			 .nlmsg_flags = NLM_F_REQUEST,
			 .nlmsg_seq = 1},
		.body = {.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0},
	};
	union {
		struct nlmsghdr head;
		char bytes[4096];
	} reply;
	struct nlmsgerr error;
	ssize_t n;

	if (send(fd, &ask, sizeof(ask), 0) != (ssize_t)sizeof(ask))
		return -errno;
	n = recv(fd, &reply, sizeof(reply), 0);
	if (n < 0)
		return -errno;
	if ((size_t)n < sizeof(reply.head))
		return -EPROTO;
	if (reply.head.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWGEN))
		return 0;
	if (reply.head.nlmsg_type != NLMSG_ERROR || (size_t)n < sizeof(reply.head) + sizeof(error))
		return -EPROTO;
	memcpy(&error, reply.bytes + sizeof(reply.head), sizeof(error));
	return error.error ? error.error : -EPROTO;
}

void doctor_try_nftables(const struct doctor_context *c, struct doctor_row *ret)
{
	const struct timeval wait = {.tv_usec = 500000};
	AUTO_CLOSE int fd = -1;
	int r;

	if (!doctor_map(c, ret))
		return;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
	r = fd < 0 ? -errno : 0;
	if (r == 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0)
		r = -errno;
	if (r == 0)
		r = nftables_ask(fd);
	if (r < 0)
		doctor_bad(ret, -r, "ask nf_tables in a new network namespace",
			   "modprobe nf_tables. Without it only programs that use a proxy by "
			   "themselves reach allowed hosts");
	else
		doctor_good(ret, "answers in a new network namespace");
}
