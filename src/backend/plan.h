/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: what is to be set up and run, as typed data.  The corridor writes it, a backend carries
 * it out, and neither looks at policy or request again.  A plan borrows everything it points to; its
 * maker keeps that alive until the call has ended.
 */
#pragma once

#include "backend/guarantee.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <termios.h>

/* A limit that somebody gave, or none. */
struct plan_limit {
	bool is_given;
	uint64_t value;
};

#define PLAN_LIMIT(v) ((struct plan_limit){.is_given = true, .value = (v)})

/* How private directories of our own begin, for files that no secret is in: a backend without mounts may give them
 * another place, if the environment and the files in there then say where. */
#define PLAN_OWN "/.cordon-"

/*
 * One step of setting up the file system, in the order in which the steps are given: a later one covers
 * an earlier one.  Every path is absolute and canonical (no link, "." or ".."), and is the same inside and
 * outside.  What no step grants is not there.  A backend refuses a plan with a kind it does not know.
 */
enum plan_op_kind {
	PLAN_OP_SYSTEM,  /* a directory of the system, read-only */
	PLAN_OP_BIND_RO, /* a file or directory of the host, read-only */
	/* A directory of the host, read and write: what is written goes to the change set in the directory `text`
	 * (workspace/cow/cow.h), which nobody else has mounted. */
	PLAN_OP_COW,
	PLAN_OP_BIND_RW, /* the same as BIND_RO, read and write */
	PLAN_OP_TMPFS,   /* a private, empty, writable directory in memory */
	PLAN_OP_SYMLINK, /* a symbolic link to `text` */
	PLAN_OP_FILE,    /* a file with the content `text`, in a private directory */
	PLAN_OP_SHOWN, /* a file with the content `text`, read-only, where the host has one of its own */
	PLAN_OP_DEV,     /* the minimal /dev, with a private shm */
	PLAN_OP_PROC,    /* a /proc that shows the call's own processes */
	PLAN_OP_DEVICE,  /* one device node of the host */
	PLAN_OP_CACHE,   /* the host's directory `text`, read and write, at path */
	PLAN_OP_SOCKET,  /* a socket on which we listen for one of the host's of the same path */
	PLAN_OP_PROTECT, /* cannot be written, replaced or, where it does not exist, created */
	PLAN_OP_DENY, /* can be neither read nor written; nothing of it can be seen but its name */
	PLAN_OP_COUNT
};

struct plan_op {
	enum plan_op_kind kind;
	const char *path;
	/* SYMLINK, FILE, SHOWN, CACHE, COW; SYSTEM: where it is outside, or NULL: at path; PROTECT: what a file holds that is not
	 * there, or NULL */
	const char *text;
	size_t text_len;    /* FILE: of text, which may hold NUL bytes then; 0: up to its NUL */
	const char *except; /* PROTECT: a directory directly in it that is left as it is, or NULL */
	unsigned mode;      /* TMPFS: 0 means 0755; FILE: 0 means 0644 */
	uint64_t size_bytes; /* TMPFS: 0 means the backend's default */
	bool is_dir;         /* PROTECT: what to put where nothing is */
	bool is_looked_for; /* PROTECT: programs look for it while they work; it seems not to be there */
	bool is_missing;  /* PROTECT: below the grant around it nothing of the path was there */
	bool is_standard; /* and it is one of protected_names, in the workspace */
	bool is_noexec;   /* BIND_*, COW, TMPFS */
	bool is_copied; /* COW: the change set stands on a copy in `text` instead of on the directory */
	bool is_sealed; /* BIND_*: nobody listens on the sockets in it */
	/* SYSTEM, as root: files that not everybody may read are closed although root owns them. */
	bool is_public_only;
};

/* The name of the machine that a call is on, where it has a name of its own. */
#define PLAN_HOSTNAME "cordon"
#define PLAN_HINT_TOO_MANY                                                                          \
	"each git directory below the workspace has some ten of them: remove git directories that " \
	"nobody needs, or run in a directory with fewer"

/* Something of the host's that can be written, or seems so. */
static inline bool plan_op_is_writable(enum plan_op_kind kind)
{
	return kind == PLAN_OP_BIND_RW || kind == PLAN_OP_COW;
}

/* Is what was named as an image the path of a directory?  No name of an image begins so. */
static inline bool plan_image_is_directory(const char *image)
{
	return image && (image[0] == '/' || image[0] == '.');
}

/* What of the network a call has. */
enum plan_net {
	PLAN_NET_NONE, /* nothing, not even the host's loopback or abstract sockets */
	PLAN_NET_PROXY, /* only the sockets of capture.h, which are given to who asked for the plan */
	PLAN_NET_HOST, /* the host's */
	PLAN_NET_COUNT
};

/* A pseudo-terminal for the command, which leads a job of its own there. */
struct plan_terminal {
	struct termios settings;
	struct winsize size;
	bool streams[3]; /* which of 0, 1 and 2 it becomes */
	/* The command has it from the start.  Otherwise it starts in the background and gets the
	 * foreground when it wants it. */
	bool is_foreground;
};

/* What a call's listener is to write down, where the backend can have one. */
enum plan_watch {
	PLAN_WATCH_NONE,    /* there is none */
	PLAN_WATCH_REFUSED, /* what the filter refuses, and addresses where there is no network */
	PLAN_WATCH_PATHS,   /* and every path that is asked for; slows file access down */
	PLAN_WATCH_COUNT
};

/* A port of the call's loopback that the host can reach. */
struct plan_publish {
	const char *name;               /* as it was written */
	const struct sockaddr *address; /* of the host */
	unsigned address_len;
	uint16_t port; /* inside */
};

struct cordon_error;

/* The way into a sandbox that stays (native/serve.h). */
struct plan_entry {
	/* Called when the command is to start, and not before: the keeper does not wait for who is still being judged.
	 * Returns a socket on which the keeper takes one request, or a code.  The socket stays the callee's, who closes it
	 * when the call has ended: by that the keeper knows. */
	int (*reach)(void *data, struct cordon_error *err);
	/* That socket, once it was reached: on which questions of the sandbox's proxy come. */
	int (*channel)(void *data);
	void *data;
};

struct callset;
struct cgroup;
struct doors;
struct restrict_room;
struct sockaddr;
struct seen;

struct plan {
	const char *id;    /* of the call: letters, digits and dashes; only limits need it */
	char *const *argv; /* NULL-terminated, at least one word */
	char *const *envp; /* NULL-terminated, exactly the environment of the command */
	const char *cwd;   /* absolute; NULL stays where we are */
	int stdin_fd;      /* these become 0, 1 and 2; always >= 0 */
	int stdout_fd;
	int stderr_fd;
	/* The command stays in our process group: it is the foreground job of a terminal.  Otherwise
	 * it leads a group of its own, which can be ended as a whole. */
	bool keeps_group;
	/* NULL: none.  Given only to a backend that takes one (backend.h); keeps_group is false then. */
	const struct plan_terminal *terminal;
	struct plan_limit memory_bytes;
	struct plan_limit cpu_shares;
	struct plan_limit cpu_percent; /* of one processor */
	struct plan_limit max_processes;
	struct plan_limit max_open_files;
	struct plan_limit fuel; /* instructions of a WebAssembly module; others have none to count */
	bool compiles; /* a WebAssembly module becomes code of this machine before it runs */
	const struct plan_op *ops;
	size_t op_count;
	/* The group that holds memory, processor time and processes; NULL when none of them is limited.
	 * Made by the supervisor for a backend with takes_cgroup; the command is to be born in it, or to
	 * enter it before anything else (cgroup/cgroup.h). */
	const struct cgroup *cgroup;
	guarantee_set by_rlimit; /* limits without a control group: see limits.h */
	enum plan_net net;
	/* With PLAN_NET_PROXY: takes the sockets of the call's network and returns when somebody serves them; the command
	 * does not start before (doors_take()).  0, or an error, with which the call ends.  They are closed here after it.
	 * NULL: nobody serves them. */
	int (*take_network)(void *data, const struct doors *doors, struct cordon_error *err);
	void *network_data;
	/* With a network of its own: ports of the host's loopback that stand at the same place inside, and ports inside that
	 * the host can reach. */
	const uint16_t *ports;
	size_t n_ports;
	const struct plan_publish *publish;
	size_t n_publish;
	bool seals_unix; /* no Unix sockets but pairs: one of the host's could be reached by path */
	/* What can be written cannot be executed, but where an op says otherwise: also not /dev/shm and
	 * memory files.  Every writable op has is_noexec or is exempt. */
	bool separates_exec;
	bool allows_ptrace;                 /* the command's processes may trace one another */
	const struct callset *denied_calls; /* beside those that are always refused; NULL for none */
	const char *platform;               /* of gVisor: the one that somebody wants, or NULL */
	const char *seatbelt;               /* which of its profiles (seatbelt.h), or NULL */
	const char *scratch_dir; /* ours, outside every grant, for what a mount needs; or NULL */
	unsigned warm;           /* containers to be kept ready for calls like this one */
	unsigned warm_idle_s;    /* and how long each waits */
	const char *runtime;     /* of a container engine: the one that somebody wants, or NULL */
	const char *image;       /* NULL, or what stands for the host's system: IMAGE_ROOT */
	/* NULL, or a directory of the root in which writable grants stand a second time, at their paths below it, with
	 * something beside them on the same mount: where each grant is a mount of its own. */
	const char *aside;
	/* NULL, or for each step that is_public_only, in order, a descriptor of view_public_tree(): for who carries a plan
	 * out where nobody may make one. */
	const int *public_trees;
	size_t n_public_trees;
	struct restrict_room *room; /* of the adapter operations (restrict.h); else NULL */
	enum plan_watch watch;
	/* The sandbox stays, and its commands come later: there is no argv. */
	bool serves;
	/* NULL: a sandbox is made.  Otherwise the command is started in this one, and of the plan only the command,
	 * its streams, its terminal and its limit of open files count: everything else was decided when it was made. */
	const struct plan_entry *entry;
	bool seals_net; /* with an entry: this command gets no socket of the sandbox's network */
	bool is_alone; /* with an entry: CORDON_E_LIMIT while other processes live in the sandbox */
	/* With an entry: its environment holds secrets, and what it prints when nobody takes them out is not kept. */
	bool has_secrets;
	bool answers;        /* with an entry: its caller answers what the sandbox's proxy asks */
	bool is_tainted;     /* with an entry: from now on nobody there is asked for hosts */
	struct seen *seen;   /* where it is written down; may be NULL with PLAN_WATCH_NONE only */
	guarantee_set needs; /* a backend that cannot give one of them refuses to spawn */
	/* Only for backends that say so (asks_late), else NULL: called once while the sandbox is built and before the command
	 * can begin, which it does not when the answer is an error. */
	int (*before)(void *arg, struct cordon_error *err);
	void *before_arg;
};

/* The plan's limits that are held without a control group. */
static inline bool plan_memory_by_process(const struct plan *plan)
{
	return plan->memory_bytes.is_given && plan->by_rlimit & GUARANTEE_BIT(MEMORY_PROCESS);
}

static inline bool plan_pids_by_user(const struct plan *plan)
{
	return plan->max_processes.is_given && plan->by_rlimit & GUARANTEE_BIT(PIDS);
}
