/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system call filter that the process backends share: classic BPF made by our own code from one
 * table (syscalls.def), so that no library is loaded or called on the way to a command.
 *
 * Building is pure and happens in the parent; installing is one system call in the child.
 */
#pragma once

#include "backend/confine/calls.h"
#include "base/buf.h"
#include "base/error.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which calls on files wait for an answer (notify.h) instead of being left to the kernel. */
enum seccomp_files {
	SECCOMP_FILES_KERNEL, /* none: mounts or Landlock decide */
	SECCOMP_FILES_WRITES, /* what creates, changes, moves or removes, and opens that could */
	SECCOMP_FILES_ALL,    /* these and every other open */
	SECCOMP_FILES_COUNT
};

/* All false is the tightest filter for a command in namespaces of its own. */
struct seccomp_policy {
	bool allows_inet; /* AF_INET and AF_INET6: TCP and UDP, no other protocol */
	/* AF_INET and AF_INET6: TCP whose connect() waits for an answer, and no other way to a peer (seccomp_socket.c);
	 * wins over allows_inet. */
	bool waits_connect;
	bool allows_unix; /* socket(AF_UNIX) and datagram pairs, not only connected pairs */
	bool allows_netlink_route; /* NETLINK_ROUTE: interfaces and addresses */
	bool allows_ptrace;        /* debuggers: ptrace and process_vm_* */
	bool takes_descriptors; /* pidfd_getfd(): whoever acts on behalf of callers; never a command */
	bool allows_userns; /* unshare() and clone() with CLONE_NEW*; not mount(), not setns() */
	bool has_host_ipc;  /* no IPC namespace: no System V IPC, no POSIX queues */
	bool has_host_pids; /* no pid namespace: no limits or priorities of other processes */
	bool denies_set_id; /* files that run as their owner; closes openat2, which hides its mode */
	bool lacks_link_attributes; /* the kernel below cannot look at them */
	bool guards_first; /* the kernel below lets a command kill the first process of its namespace */
	bool denies_memfd; /* memfd_create: where memory is limited without a cgroup, and W^X */
	/* What is refused is told first: whoever has the listener answers with seccomp_evaluate() of the same
	 * policy without this.  Calls that are not there (ENOSYS) are not told: libraries probe for them. */
	bool reports_refused;
	/* Calls that go on, but are told first: the listener answers "go on". */
	bool tells_connect; /* connect() */
	bool tells_paths; /* what names a path, and sendto() with an address; with denies_set_id */
	/* Other than KERNEL: also closes extended attributes and the file systems' own ioctls, which would
	 * change files past that. */
	enum seccomp_files files;
};

/* What the backends without namespaces need on top: everything that names the host's objects is closed. */
#define SECCOMP_POLICY_HOST ((struct seccomp_policy){.has_host_ipc = true, .has_host_pids = true})

enum seccomp_arch { SECCOMP_X86_64, SECCOMP_AARCH64, SECCOMP_RISCV64, SECCOMP_ARCH_COUNT };

#define SECCOMP_INSNS_MAX 1024

struct seccomp_program {
	struct sock_filter insns[SECCOMP_INSNS_MAX];
	unsigned short len;
};

/* The filter for the architecture that this program runs on.  Pure.  0, or -EOPNOTSUPP on an architecture
 * that the table does not know: there is no filter without a table. */
CORDON_MUST_CHECK int seccomp_build(const struct seccomp_policy *p, struct seccomp_program *ret);
/* The same for any architecture of the table.  -EINVAL for others. */
CORDON_MUST_CHECK int seccomp_build_for(enum seccomp_arch arch, const struct seccomp_policy *p,
					struct seccomp_program *ret);
/* A second filter, which refuses a set of calls with EPERM and nothing else: the kernel takes the strictest
 * answer of all filters, so that it can only tighten.  Pure. */
/* The name of a call on this architecture, or NULL. */
const char *seccomp_call_name(int nr);
/* One filter of both, for a listener: what `denied` (of seccomp_build_denied()) refuses is told as well. */
CORDON_MUST_CHECK int seccomp_join(const struct seccomp_program *denied,
				   const struct seccomp_program *told, struct seccomp_program *ret);
CORDON_MUST_CHECK int seccomp_build_denied(const struct callset *denied,
					   struct seccomp_program *ret);
/* Puts the filter on the calling thread, for good, and on everything that it starts.  Called in the child
 * between clone and execve: async-signal-safe, allocates nothing.  -EPERM when no_new_privs is not set,
 * also for root, who would get the filter without it and could then gain privileges under it. */
CORDON_MUST_CHECK int seccomp_install(const struct seccomp_program *p);

/* Sets no_new_privs and puts the filter on every thread of this process.  Irreversible. */
CORDON_MUST_CHECK int seccomp_load_self(const struct seccomp_program *p, struct cordon_error *err);
/* What a program of seccomp_build() answers to a call: SECCOMP_RET_*.  Pure. */
uint32_t seccomp_evaluate(const struct seccomp_program *p, const struct seccomp_data *data);

/* Lets calls that would be told just go on: for where nobody listens.  Allocates nothing. */
void seccomp_mute(struct seccomp_program *p);

/* For embedders: sets no_new_privs and puts SECCOMP_POLICY_HOST with AF_INET and AF_UNIX open on every
 * thread of this process.  Irreversible. */
CORDON_MUST_CHECK int seccomp_restrict_self(struct cordon_error *err);
/* The policy that seccomp_restrict_self() uses. */
struct seccomp_policy seccomp_self_policy(void);

/* The architecture that this program runs on; SECCOMP_ARCH_COUNT when it is not in the table. */
enum seccomp_arch seccomp_native_arch(void);
const char *seccomp_arch_name(enum seccomp_arch arch);
/* SECCOMP_ARCH_COUNT for a name that is in no row. */
enum seccomp_arch seccomp_arch_find(const char *name);

/* A row of syscalls.def, for listings and tests. */
struct seccomp_row {
	const char *name;
	int16_t nr[2]; /* x86_64, generic; -1: does not exist */
	uint8_t when;
	uint8_t action;
	const char *why;
};
/* NULL past the last. */
const struct seccomp_row *seccomp_row(size_t i);
/* The row's number on an architecture, or -1. */
int seccomp_row_nr(const struct seccomp_row *row, enum seccomp_arch arch);
/* The first row with the number on this machine, NULL when none has it. */
const struct seccomp_row *seccomp_row_of(int nr);
/* Does the policy put the row into the filter? */
bool seccomp_row_holds(const struct seccomp_row *row, const struct seccomp_policy *p);
/* "EPERM", "ENOSYS", "EOPNOTSUPP", "waits for an answer", "told" or "by argument". */
const char *seccomp_row_action(const struct seccomp_row *row);
/* The newest number that the table knows; anything above answers ENOSYS. */
unsigned seccomp_newest(enum seccomp_arch arch);

/* Appends a listing: each refused call with its reason, then the instructions with names. */
void seccomp_text(enum seccomp_arch arch, const struct seccomp_policy *p,
		  const struct seccomp_program *program, struct buf *out);
