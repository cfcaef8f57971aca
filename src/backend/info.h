/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of all backends that cordon knows, whether this build has them or not, with their level
 * and strength.  A backend points to its row, so that the facts stand in one place; a name that is
 * in the table but not in the build gets an honest answer instead of "unknown".
 */
#pragma once

#include "policy/level.h"

/* X(ID, name, level, strength), strongest first */
#define BACKEND_TABLE(X)                                                                           \
	X(FIRECRACKER, "firecracker", VM, 100)                                                     \
	X(QEMU, "qemu", VM, 95)                                                                    \
	X(GVISOR, "gvisor", CONTAINER, 80)                                                         \
	X(APPLE_CONTAINER, "apple-container", CONTAINER, 75)                                       \
	X(DOCKER, "docker", CONTAINER, 70)                                                         \
	X(PODMAN, "podman", CONTAINER, 69)                                                         \
	X(WASM, "wasm", WASM, 60)                                                                  \
	X(NATIVE, "native", PROCESS, 50)                                                           \
	X(BWRAP, "bwrap", PROCESS, 45)                                                             \
	X(NSJAIL, "nsjail", PROCESS, 44)                                                           \
	X(LANDLOCK, "landlock", PROCESS, 40)                                                       \
	X(SEATBELT, "seatbelt", PROCESS, 30)                                                       \
	X(CHROOT, "chroot", PROCESS, 20)                                                           \
	X(NOOP, "noop", NONE, 0)

enum backend_id {
#define BACKEND_ENUM(id, name, level, strength) BACKEND_##id,
	BACKEND_TABLE(BACKEND_ENUM)
#undef BACKEND_ENUM
		BACKEND_COUNT
};

struct backend_info {
	enum backend_id id;
	const char *name;
	enum level level;
	int strength;
};

extern const struct backend_info backend_infos[BACKEND_COUNT];

/* The row of a name, or NULL. */
const struct backend_info *backend_info_find(const char *name);
/* The known name nearest to a mistyped one, "auto" and "strongest" included, or NULL. */
const char *backend_info_nearest(const char *name);
