/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of QEMU for one of our machines: pure. */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* The descriptors that the emulator is started with. */
enum machine_fd {
	MACHINE_FD_LINK = 10, /* to the machine's first process */
	MACHINE_FD_CONTROL,   /* QMP */
	MACHINE_FD_NETWORK,   /* its connections, if it has any */
	MACHINE_FD_KERNEL,
	MACHINE_FD_INITRD,
	MACHINE_FD_RAM,   /* of a template */
	MACHINE_FD_STATE, /* of a template's devices */
	MACHINE_FD_END
};

enum machine_start {
	MACHINE_BOOT,     /* for one call */
	MACHINE_TEMPLATE, /* to be saved: its memory is the file */
	MACHINE_RESUME,   /* from a template: its memory is the file, and what it writes its own */
};

struct machine {
	enum machine_start start;
	bool has_kvm; /* else the processor is emulated */
	unsigned memory_mb;
	bool has_system; /* the view has a VM_CALL_SYSTEM, which gets a share of its own */
};

#define MACHINE_PROGRAM "qemu-system-x86_64"
#define MACHINE_PACKAGE "qemu-system-x86 (apt install qemu-system-x86)"

/* What the machine needs beside what the call may use. */
#define MACHINE_OVERHEAD_MB 192
#define MACHINE_DEFAULT_MB 1024
#define MACHINE_MEMORY_MAX_MB (1024 * 1024)

/* How much memory a machine gets for a call with that limit (0: none): one of few sizes, so that templates fit. */
unsigned machine_memory_mb(uint64_t limit_bytes);
/* Appends the words, the name of the program first.  0 or -errno. */
CORDON_MUST_CHECK int machine_line(const struct machine *m, struct strv *out);
