/* SPDX-License-Identifier: Apache-2.0 */
/* The program in containers that stay (hold.c): where it stands, and what its exit says. */
#pragma once

#define HOLD_NAME "cordon-hold"
#define HOLD_PATH "/.cordon/hold" /* in the container */
#define HOLD_NO_NETWORK "none"

/* X(ID, code, what the container is not) */
#define HOLD_EXIT_TABLE(X)                                                                         \
	X(PRIVILEGES, 90, "it lets programs gain privileges")                                      \
	X(SECCOMP, 91, "it has no filter of system calls")                                         \
	X(CAPABILITIES, 92, "it has capabilities")                                                 \
	X(WRITABLE, 93, "its root can be written")                                                 \
	X(NETWORK, 94, "it has a network")                                                         \
	X(TROUBLE, 95, "its first process could not work")

enum hold_exit {
#define HOLD_EXIT_ENUM(id, code, text) HOLD_EXIT_##id = (code),
	HOLD_EXIT_TABLE(HOLD_EXIT_ENUM)
#undef HOLD_EXIT_ENUM
};
