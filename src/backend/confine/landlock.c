/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of rights: bit, the ABI that brought it, whether a file can have it, and which kinds of access
 * contain it.  The masks are made from it.
 *
 * MAKE_CHAR and MAKE_BLOCK are handled and never granted: nobody in a sandbox makes device nodes.
 * IOCTL_DEV goes with writing: who may write to a device may control it, who may only read it may not.
 */
#include "backend/confine/landlock.h"

#include "base/fd.h"
#include "base/shield.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the headers of Debian 12 (Linux 6.1). */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif
#ifndef LANDLOCK_ACCESS_NET_BIND_TCP
#define LANDLOCK_ACCESS_NET_BIND_TCP (1ULL << 0)
#define LANDLOCK_ACCESS_NET_CONNECT_TCP (1ULL << 1)
#endif
#ifndef LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
#define LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define LANDLOCK_SCOPE_SIGNAL (1ULL << 1)
#endif
#ifndef LANDLOCK_RESTRICT_SELF_LOG_SUBDOMAINS_OFF
#define LANDLOCK_RESTRICT_SELF_LOG_SUBDOMAINS_OFF (1U << 2)
#endif

/* struct landlock_ruleset_attr as of ABI 6; older kernels are given the part that they know. */
struct landlock_attr {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};

/* Newer than the headers of Debian 12: struct landlock_net_port_attr, and its kind of rule. */
struct landlock_port_attr {
	uint64_t allowed_access;
	uint64_t port;
};
#define LANDLOCK_PORT_RULE 2

enum landlock_part {
	PART_NONE = 0,
	PART_READ = 1,
	PART_WRITE = 2,
	PART_EXEC = 4,
	PART_LIST = 8,
	PART_READ_OR_LIST = PART_READ | PART_LIST
};

struct landlock_right {
	const char *name;
	uint64_t bit;
	uint8_t abi;
	uint8_t part; /* of access */
	bool is_for_files;
};

static const struct landlock_right landlock_rights_table[] = {
#define RIGHT(name, id, abi, part, is_for_files)                                                   \
	{                                                                                          \
		name, LANDLOCK_ACCESS_FS_##id, abi, PART_##part, is_for_files                      \
	}
	RIGHT("execute", EXECUTE, 1, EXEC, true),
	RIGHT("write_file", WRITE_FILE, 1, WRITE, true),
	RIGHT("read_file", READ_FILE, 1, READ, true),
	RIGHT("read_dir", READ_DIR, 1, READ_OR_LIST, false),
	RIGHT("remove_dir", REMOVE_DIR, 1, WRITE, false),
	RIGHT("remove_file", REMOVE_FILE, 1, WRITE, false),
	RIGHT("make_char", MAKE_CHAR, 1, NONE, false),
	RIGHT("make_dir", MAKE_DIR, 1, WRITE, false),
	RIGHT("make_reg", MAKE_REG, 1, WRITE, false),
	RIGHT("make_sock", MAKE_SOCK, 1, WRITE, false),
	RIGHT("make_fifo", MAKE_FIFO, 1, WRITE, false),
	RIGHT("make_block", MAKE_BLOCK, 1, NONE, false),
	RIGHT("make_sym", MAKE_SYM, 1, WRITE, false),
	RIGHT("refer", REFER, LANDLOCK_ABI_REFER, WRITE, false),
	RIGHT("truncate", TRUNCATE, LANDLOCK_ABI_TRUNCATE, WRITE, true),
	RIGHT("ioctl_dev", IOCTL_DEV, LANDLOCK_ABI_IOCTL, WRITE, true),
#undef RIGHT
};

static const struct {
	const char *name;
	unsigned parts;
} landlock_accesses[] = {
	[LANDLOCK_READ] = {"read", PART_READ | PART_EXEC},
	[LANDLOCK_READ_NOEXEC] = {"read-noexec", PART_READ},
	[LANDLOCK_WRITE] = {"write", PART_READ | PART_WRITE | PART_EXEC},
	[LANDLOCK_WRITE_NOEXEC] = {"write-noexec", PART_READ | PART_WRITE},
	[LANDLOCK_LIST] = {"list", PART_LIST},
};
_Static_assert(ARRAY_LEN(landlock_accesses) == LANDLOCK_ACCESS_COUNT, "one row per access");

static int landlock_abi_ceiling = -1; /* of tests */

int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	int r = abi < 0 ? 0 : abi > LANDLOCK_ABI_KNOWN ? LANDLOCK_ABI_KNOWN : (int)abi;

	if (shield_landlock_abi() >= 0 && r > shield_landlock_abi())
		r = shield_landlock_abi();
	return landlock_abi_ceiling >= 0 && r > landlock_abi_ceiling ? landlock_abi_ceiling : r;
}

void landlock_set_abi_for_test(int abi)
{
	landlock_abi_ceiling = abi;
}

uint64_t landlock_handled(int abi)
{
	uint64_t rights = 0;

	for (size_t i = 0; i < ARRAY_LEN(landlock_rights_table); i++)
		if (landlock_rights_table[i].abi <= abi)
			rights |= landlock_rights_table[i].bit;
	return rights;
}

uint64_t landlock_rights(int abi, enum landlock_access access, bool is_dir)
{
	uint64_t rights = 0;

	if ((unsigned)access >= LANDLOCK_ACCESS_COUNT)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(landlock_rights_table); i++) {
		const struct landlock_right *right = &landlock_rights_table[i];

		if (right->abi <= abi && (right->part & landlock_accesses[access].parts) &&
		    (is_dir || right->is_for_files))
			rights |= right->bit;
	}
	return rights;
}

const char *landlock_right_name(unsigned bit)
{
	for (size_t i = 0; i < ARRAY_LEN(landlock_rights_table); i++)
		if (bit < 64 && landlock_rights_table[i].bit == 1ULL << bit)
			return landlock_rights_table[i].name;
	return NULL;
}

const char *landlock_access_name(enum landlock_access access)
{
	return (unsigned)access < LANDLOCK_ACCESS_COUNT ? landlock_accesses[access].name
							: "unknown";
}

static size_t landlock_attr_size(int abi)
{
	if (abi >= LANDLOCK_ABI_SCOPES)
		return sizeof(struct landlock_attr);
	return abi >= LANDLOCK_ABI_TCP ? offsetof(struct landlock_attr, scoped)
				       : offsetof(struct landlock_attr, net);
}

static int landlock_attr_fill(const struct landlock_policy *p, struct landlock_attr *ret)
{
	struct landlock_attr attr = {.fs = landlock_handled(p->abi)};

	if (p->abi < 1 || p->abi > LANDLOCK_ABI_KNOWN)
		return -EOPNOTSUPP;
	if (p->denies_tcp)
		attr.net = LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP;
	if (p->scopes_signals)
		attr.scoped |= LANDLOCK_SCOPE_SIGNAL;
	if (p->scopes_abstract_unix)
		attr.scoped |= LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET;
	if ((attr.net && p->abi < LANDLOCK_ABI_TCP) ||
	    (attr.scoped && p->abi < LANDLOCK_ABI_SCOPES))
		return -EOPNOTSUPP;
	*ret = attr;
	return 0;
}

int landlock_set_rule(int set, const struct landlock_policy *p, const struct landlock_rule *rule)
{
	struct landlock_path_beneath_attr attr = {
		.allowed_access = landlock_rights(p->abi, rule->access, rule->is_dir),
		.parent_fd = rule->fd,
	};

	if (!attr.allowed_access)
		return -EINVAL;
	return syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0
		       ? -errno
		       : 0;
}

/*
 * Of the log flags of ABI 7 one is used.  By default the kernel records denials only until the next execve,
 * which is our own set-up and worth a record.  A command can make domains of its own and be denied in them
 * as often as it likes: those records would be its way to flood the machine's log.
 */
static unsigned landlock_restrict_flags(int abi)
{
	return abi >= LANDLOCK_ABI_LOG ? LANDLOCK_RESTRICT_SELF_LOG_SUBDOMAINS_OFF : 0;
}

/* The one port that may be connected to. */
static int landlock_set_port(int set, const struct landlock_policy *p)
{
	const struct landlock_port_attr attr = {
		.allowed_access = LANDLOCK_ACCESS_NET_CONNECT_TCP,
		.port = p->tcp_port,
	};

	if (!p->denies_tcp || p->tcp_port == 0)
		return 0;
	return syscall(SYS_landlock_add_rule, set, LANDLOCK_PORT_RULE, &attr, 0) < 0 ? -errno : 0;
}

int landlock_set_make(const struct landlock_policy *p)
{
	struct landlock_attr attr;
	int r = landlock_attr_fill(p, &attr);
	int set;

	if (r < 0)
		return r;
	set = (int)syscall(SYS_landlock_create_ruleset, &attr, landlock_attr_size(p->abi), 0);
	if (set < 0)
		return errno == ENOSYS ? -EOPNOTSUPP : -errno;
	r = landlock_set_port(set, p);
	if (r < 0) {
		(void)fd_close(set);
		return r;
	}
	return set;
}

int landlock_set_enforce(int set, const struct landlock_policy *p)
{
	if (shield_is_off(SHIELD_LANDLOCK))
		return 0;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return -EPERM;
	return syscall(SYS_landlock_restrict_self, set, landlock_restrict_flags(p->abi)) < 0
		       ? -errno
		       : 0;
}

int landlock_apply(const struct landlock_policy *p)
{
	AUTO_CLOSE int set = -1;
	int r;

	if (shield_is_off(SHIELD_LANDLOCK))
		return 0;
	/* as landlock_set_enforce(), before anything is made */
	if (p->abi >= 1 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return -EPERM;
	set = landlock_set_make(p);
	if (set < 0)
		return set;
	for (size_t i = 0; i < p->n; i++) {
		r = landlock_set_rule(set, p, &p->rules[i]);
		if (r < 0)
			return r;
	}
	return landlock_set_enforce(set, p);
}

static int landlock_scope(uint64_t scoped)
{
	const struct landlock_attr attr = {.scoped = scoped};
	AUTO_CLOSE int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);

	if (ruleset < 0)
		return errno == ENOSYS || errno == E2BIG ? -EOPNOTSUPP : -errno;
	if (syscall(SYS_landlock_restrict_self, ruleset, landlock_restrict_flags(landlock_abi())) <
	    0)
		return -errno;
	return 0;
}

int landlock_scope_signals(void)
{
	return landlock_scope(LANDLOCK_SCOPE_SIGNAL);
}

int landlock_step_below(void)
{
	return landlock_scope(LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET);
}

#define LANDLOCK_RULES_MAX 8192

void landlock_set_done(struct landlock_set *s)
{
	for (size_t i = 0; i < s->n; i++)
		(void)fd_close(s->rules[i].fd);
	free(s->rules);
}

int landlock_set_add(struct landlock_set *s, const char *path, enum landlock_access access,
		     bool may_be_missing, struct cordon_error *err)
{
	AUTO_CLOSE int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 && errno == ENOENT && may_be_missing)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return cordon_fail_leaf(err, -errno, "open '%s'", path);
	r = mem_grow((void **)&s->rules, &s->cap, s->n + 1, sizeof(s->rules[0]),
		     LANDLOCK_RULES_MAX);
	if (r < 0)
		return cordon_fail_leaf(err, r, "rules for %zu paths", s->n + 1);
	s->rules[s->n++] = (struct landlock_rule){
		.fd = TAKE_FD(fd), .is_dir = S_ISDIR(st.st_mode), .access = access};
	return 0;
}

/* What every program needs.  /dev is read-only, but for the nodes that swallow and make bytes and for the
 * terminal, or `> /dev/null` would fail. */
static const struct {
	const char *path;
	enum landlock_access access;
} landlock_self_paths[] = {
	{"/usr", LANDLOCK_READ},
	{"/lib", LANDLOCK_READ},
	{"/lib64", LANDLOCK_READ},
	{"/etc", LANDLOCK_READ},
	{"/bin", LANDLOCK_READ},
	{"/sbin", LANDLOCK_READ},
	{"/proc", LANDLOCK_READ},
	{"/dev", LANDLOCK_READ},
	{"/sys", LANDLOCK_READ},
	{"/tmp", LANDLOCK_WRITE},
	{"/dev/null", LANDLOCK_WRITE_NOEXEC},
	{"/dev/zero", LANDLOCK_WRITE_NOEXEC},
	{"/dev/full", LANDLOCK_WRITE_NOEXEC},
	{"/dev/tty", LANDLOCK_WRITE_NOEXEC},
};

static int landlock_set_fill(struct landlock_set *s, const char *project_dir,
			     const struct strv *read_only, const struct strv *read_write,
			     struct cordon_error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(landlock_self_paths); i++)
		r = landlock_set_add(s, landlock_self_paths[i].path, landlock_self_paths[i].access,
				     /* may_be_missing= */ true, err);
	if (r == 0)
		r = landlock_set_add(s, project_dir, LANDLOCK_WRITE, /* may_be_missing= */ false,
				     err);
	for (size_t i = 0; r == 0 && read_only && i < read_only->n; i++)
		r = landlock_set_add(s, read_only->v[i], LANDLOCK_READ, false, err);
	for (size_t i = 0; r == 0 && read_write && i < read_write->n; i++)
		r = landlock_set_add(s, read_write->v[i], LANDLOCK_WRITE, false, err);
	return r;
}

int landlock_set_restrict_self(const struct landlock_set *set, struct landlock_policy *policy,
			       struct cordon_error *err)
{
	int r;

	if (policy->abi < LANDLOCK_ABI_TRUNCATE)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_UNSUPPORTED,
					       "Landlock ABI %d cannot hold this: it needs 3",
					       policy->abi),
				   "Linux 6.2 or newer with landlock in the kernel's lsm= list");
	/* Succeeds, and does nothing, in a process of one thread only. */
	if (unshare(CLONE_THREAD) < 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_UNSUPPORTED,
					       "this process has several threads, and Landlock "
					       "would confine one"),
				   "call it before the first thread is started");
	policy->rules = set->rules;
	policy->n = set->n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return cordon_fail_errno(err, errno, "set no_new_privs");
	r = landlock_apply(policy);
	return r < 0 ? cordon_fail_errno(err, -r, "Landlock") : 0;
}

int landlock_restrict_self(const char *project_dir, const struct strv *read_only,
			   const struct strv *read_write, struct cordon_error *err)
{
	AUTO(landlock_set_done) struct landlock_set set = {0};
	struct landlock_policy policy = {.abi = landlock_abi()};
	int r = landlock_set_fill(&set, project_dir, read_only, read_write, err);

	return r < 0 ? r : landlock_set_restrict_self(&set, &policy, err);
}
