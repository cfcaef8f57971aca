/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The named guarantees: what a policy can need and a backend can give.  Both sides are sets of the
 * same names, so eligibility is one mask operation and nothing that was asked for can be dropped on
 * the way.  The names are part of the report and of `cordon backends --json`.
 */
#pragma once

#include "base/error.h"
#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

/* X(ID, name, what holds when it is given) */
#define GUARANTEE_TABLE(X)                                                                         \
	X(NATIVE_CODE, "native-code", "ordinary programs of this machine can run")                 \
	X(READ_SCOPE, "read-scope", "only the granted paths can be read")                          \
	X(WRITE_SCOPE, "write-scope", "only the granted paths can be changed")                     \
	X(DENY_INSIDE_ALLOW, "deny-inside-allow", "a denied path below a granted one stays shut")  \
	X(PROTECT_MISSING, "protect-missing", "a protected name that does not exist stays absent") \
	X(PRIVATE_TMP, "private-tmp", "/tmp belongs to the call alone")                            \
	X(HIDE_METADATA, "hide-metadata", "paths outside the scope cannot even be listed")         \
	X(NET_DENY, "net-deny", "no network can be reached")                                       \
	X(NET_ALLOWLIST, "net-allowlist", "only the granted hosts can be reached")                 \
	X(NET_SSRF, "net-ssrf", "private and other special addresses cannot be reached")           \
	X(MEMORY_TREE, "memory-tree", "memory of the whole process tree is bounded")               \
	X(MEMORY_PROCESS, "memory-process", "memory of each single process is bounded")            \
	X(PIDS, "pids", "the number of processes is bounded")                                      \
	X(CPU_SHARES, "cpu-shares", "processor time is weighted")                                  \
	X(CPU_PERCENT, "cpu-percent", "processor time is capped")                                  \
	X(OPEN_FILES, "open-files", "the open files of each process are bounded")                  \
	X(WALL_CLOCK, "wall-clock", "the call ends at its timeout")                                \
	X(OUTPUT_LIMIT, "output-limit", "the call ends when it has written too much output")       \
	X(KILL_TREE, "kill-tree", "no process outlives the call, wherever it hid")                 \
	X(ENV_SCRUB, "env-scrub", "the environment is exactly the planned one")                    \
	X(SYSCALL_FILTER, "syscall-filter", "system calls outside the set are refused")            \
	X(SECRET_ENV, "secret-env", "secrets can be given as environment variables")               \
	X(SECRET_FILE, "secret-file", "secrets can be given as files in memory")                   \
	X(SECRET_BOUNDARY, "secret-boundary", "secrets are put in outside and never seen inside")  \
	X(COW_WORKSPACE, "cow-workspace", "changes to the workspace are kept apart")               \
	X(SNAPSHOT, "snapshot", "the state can be saved")                                          \
	X(ROLLBACK, "rollback", "a saved state can be restored")                                   \
	X(PAUSE, "pause", "the whole call can be stopped and continued")                           \
	X(SOCKET_GRANT, "socket-grant", "one Unix socket of the host can be passed in")            \
	X(PORT_PUBLISH, "port-publish", "a port inside can be reached from the host")              \
	X(PORT_GRANT, "port-grant", "one port of the host's loopback can be passed in")            \
	X(CACHE_GRANT, "cache-grant", "a per-project cache can be kept")                           \
	X(DEVICE_GRANT, "device-grant", "a device of the host can be passed in")                   \
	X(IMAGE_ROOT, "image-root", "the root can be an image or another directory")               \
	X(WRITE_XOR_EXECUTE, "write-xor-execute", "what can be written cannot be executed")        \
	X(SYSCALL_LIST, "syscall-list", "further system calls can be refused by name")             \
	X(DEBUG_GRANT, "debug-grant", "the call's own processes can be traced")                    \
	X(WASM_CODE, "wasm-code", "WebAssembly modules can run")                                   \
	X(UNEMULATED, "unemulated", "the processor itself runs the code, no emulator does")

enum guarantee {
#define GUARANTEE_ENUM(id, name, doc) GUARANTEE_##id,
	GUARANTEE_TABLE(GUARANTEE_ENUM)
#undef GUARANTEE_ENUM
		GUARANTEE_COUNT
};

typedef uint64_t guarantee_set;

#define GUARANTEE_NONE ((guarantee_set)0)
#define GUARANTEE_BIT(id) ((guarantee_set)1 << GUARANTEE_##id)
#define GUARANTEE_ALL (((guarantee_set)1 << GUARANTEE_COUNT) - 1)

/* Borrows; "invalid" for a value outside the enum. */
const char *guarantee_name(enum guarantee g);
const char *guarantee_doc(enum guarantee g);
/* 0 or -EINVAL. */
CORDON_MUST_CHECK int guarantee_from_name(const char *name, enum guarantee *ret);
/* The first of need that have lacks, in the order of the table, or GUARANTEE_COUNT. */
enum guarantee guarantee_first_missing(guarantee_set need, guarantee_set have);
/* Appends "read-scope, net-deny", or "nothing" for the empty set. */
void guarantee_list(guarantee_set set, struct buf *out);
/* Writes an array of names; name is its key, NULL inside an array. */
void guarantee_json(guarantee_set set, const char *name, struct json *out);
