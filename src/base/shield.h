/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layers of a sandbox overlap: what mounts hide Landlock refuses as well.  So that each can be shown to
 * hold by itself, one test program (tests/conformance/layers.c) is built with CORDON_TEST_LAYERS and can
 * leave single layers out.  Everywhere else shield_is_off() is the constant false, and neither the names nor
 * the code behind it are in the program (tests/cli/layers.bats).
 */
#pragma once

#include <stdbool.h>

/* X(ID, name, what is left out) */
#define SHIELD_TABLE(X)                                                                            \
	X(VIEW, "view", "the private root: the command sees the host's")                           \
	X(COVERS, "covers", "what is mounted over protected and denied names")                     \
	X(PLACEHOLDERS, "placeholders", "the overlay that holds missing names")                    \
	X(DISOWNED, "disowned", "that nobody owns what holds missing names")                       \
	X(READ_ONLY, "read-only", "the read-only attribute of mounts")                             \
	X(NO_SUID, "no-suid", "the nosuid attribute of mounts")                                    \
	X(NO_DEV, "no-dev", "the nodev attribute of mounts")                                       \
	X(PROC, "proc", "what closes parts of /proc")                                              \
	X(PUBLIC, "public", "the mount on which root owns nothing")                                \
	X(LANDLOCK, "landlock", "the Landlock domain")                                             \
	X(SECCOMP, "seccomp", "the system call filter")                                            \
	X(LISTENER, "listener", "that somebody hears what the filter refuses")                     \
	X(CAPABILITIES, "capabilities", "giving up capabilities")                                  \
	X(NO_NEW_PRIVS, "no-new-privs", "PR_SET_NO_NEW_PRIVS")                                     \
	X(DUMPABLE, "dumpable", "that the first process cannot be looked into")                    \
	X(NETNS, "netns", "the network namespace")                                                 \
	X(PIDNS, "pidns", "the pid namespace")                                                     \
	X(IPCNS, "ipcns", "the IPC namespace")                                                     \
	X(SCRUB, "scrub", "that only known variables are passed")                                  \
	X(CLOSE, "close", "closing descriptors")                                                   \
	X(TIE, "tie", "dying with the parent")                                                     \
	X(TOLD, "told", "the kernel's word about what the network rejects")                        \
	X(PIPES, "pipes", "the pipes of the proxy: bytes are copied")

enum shield {
#define SHIELD_ENUM(id, name, doc) SHIELD_##id,
	SHIELD_TABLE(SHIELD_ENUM)
#undef SHIELD_ENUM
		SHIELD_COUNT
};

#ifdef CORDON_TEST_LAYERS
bool shield_is_off(enum shield shield);
/* Is any?  Then a probe would find what is left out, and nothing could be tried. */
bool shield_any_off(void);
/* Keeps the capabilities over execve(), also for others than root. */
int shield_keep_capabilities(void);
/* The Landlock ABI that the kernel may have, or a negative number. */
int shield_landlock_abi(void);
/* Does what CORDON_TEST_FAULT asks for where the place has that name: dies, hangs. */
void shield_fault(const char *place);
struct buf;
/* Spoils an answer of the hook's worker. */
void shield_fault_frame(unsigned *magic, struct buf *out);
#else
#define shield_is_off(shield) false
#define shield_any_off() false
#define shield_keep_capabilities() 0
#define shield_landlock_abi() (-1)
#define shield_fault(place) ((void)0)
#define shield_fault_frame(magic, out) ((void)0)
#endif
