/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a path means: how much is lost when it is deleted, whether it holds credentials, whether something is run
 * or trusted because of it.  Lexical and pure: the disk is not looked at.
 */
#pragma once

#include "inspect/context.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(id, text): classes of paths.  A path may have several. */
#define SHELL_PLACES(X)                                                                            \
	X(SEEN, "looked at")                                                                       \
	X(ROOT, "the whole file system")                                                           \
	X(TOP, "a top-level directory of the system")                                              \
	X(SYSTEM, "a file of the system")                                                          \
	X(HOME, "a whole home directory")                                                          \
	X(HOME_BELOW, "something in a home directory")                                             \
	X(CWD, "the whole working directory")                                                      \
	X(PARENT, "something above the working directory")                                         \
	X(ABSOLUTE, "an absolute path")                                                            \
	X(TEMPORARY, "a temporary file")                                                           \
	X(UNKNOWN, "a path that is not known")                                                     \
	X(GIT, "the history of a repository")                                                      \
	X(SECRET, "credentials")                                                                   \
	X(SECRET_DIR, "a directory of credentials")                                                \
	X(ENV_FILE, "a file of secrets for an application")                                        \
	X(SHADOW, "password hashes")                                                               \
	X(ACCOUNT, "the list of accounts")                                                         \
	X(ENVIRON, "the environment of a process")                                                 \
	X(BROWSER, "what a browser stores")                                                        \
	X(WALLET, "a wallet")                                                                      \
	X(HISTORY, "a history of commands")                                                        \
	X(STARTUP, "a start-up file of a shell")                                                   \
	X(CRON, "scheduled jobs")                                                                  \
	X(UNIT, "a unit of the service manager")                                                   \
	X(BOOT, "a script that runs at boot or log-in")                                            \
	X(AUTHORIZED, "the keys that may log in")                                                  \
	X(SUDOERS, "who may become root")                                                          \
	X(PAM, "how log-ins are checked")                                                          \
	X(PRELOAD, "what the loader loads into every program")                                     \
	X(GIT_HOOK, "a hook of a repository")                                                      \
	X(AGENT, "the configuration of an agent")                                                  \
	X(CORDON, "the configuration or state of cordon")                                          \
	X(LOG, "logs")                                                                             \
	X(DEVICE, "a block device")                                                                \
	X(KERNEL, "a switch of the kernel")                                                        \
	X(ENGINE, "the socket of a container engine")                                              \
	X(ESCAPE, "the file system of another process")                                            \
	X(SECURITY, "configuration of the firewall, the audit or access control")                  \
	X(DATABASE, "a database file")                                                             \
	X(PACKAGE_CONFIG, "configuration of a package manager")                                    \
	X(PROCESS, "facts about processes or the kernel")                                          \
	X(BINARY, "a directory of programs")                                                       \
	X(WEB, "what a web server serves")                                                         \
	X(RESOLVER, "how names are resolved")

enum shell_place_bit {
#define SHELL_PLACE_BIT(id, text) PLACE_BIT_##id,
	SHELL_PLACES(SHELL_PLACE_BIT)
#undef SHELL_PLACE_BIT
		PLACE_BIT_COUNT
};

#define PLACE(id) (UINT64_C(1) << PLACE_BIT_##id)

#define SHELL_PLACE_UNKNOWN 0x01 /* SHELL_UNKNOWN of model.h */

/* The classes of a path.  cwd: where cd went, may be NULL.  is_glob: * ? [ are the shell's. */
uint64_t place_of(const struct inspect_context *c, const char *path, const char *cwd, bool is_glob);
/* Writes the path without detours, homes as ~; gives its length, 0 when it does not fit. */
size_t place_canonical(const struct inspect_context *c, const char *path, const char *cwd,
		       char *ret, size_t size);
