/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the first process of a virtual machine has to know about a call, as one block of bytes: the time, entropy, who
 * the command is, its limits, what of the file system is made inside, and then the block that its launcher reads
 * (launch/image.h).  Written by our own process, read inside; both are of one build.
 */
#pragma once

#include "backend/view/program.h"
#include "base/buf.h"

#include <sys/ioctl.h>
#include <termios.h>

#define VM_CALL_MAX (24 * 1024 * 1024) /* more than LAUNCH_IMAGE_MAX and all places */
#define VM_CALL_MAGIC 0x63766d32u
#define VM_SEED_BYTES 64

/* What is made inside at a path; everything else is the share's. */
enum vm_place_kind {
	VM_PLACE_TMPFS,
	VM_PLACE_COPY, /* a file or link of the share, in a directory that was made inside: copied */
	VM_PLACE_SHARED, /* anything else of the share, in such a directory */
	VM_PLACE_DEV,
	VM_PLACE_PROC,
	VM_PLACE_CLOSED, /* in /proc */
	VM_PLACE_SYSTEM, /* programs and libraries, over a share of their own that may be cached */
	VM_PLACE_COUNT
};

struct vm_place {
	uint8_t kind;
	uint8_t is_noexec;
	uint16_t mode;
	uint32_t zero;
	uint64_t size_bytes; /* TMPFS; 0: the kernel's default */
};

struct vm_call_head {
	uint32_t magic;
	uint32_t n_places;
	uint32_t places_bytes;
	uint32_t image_bytes;
	uint32_t uid;
	uint32_t gid;
	uint32_t has_one_output; /* standard output and error are one thing outside, and stay one */
	uint32_t is_exec_separate; /* what is private cannot be executed */
	uint64_t memory_bytes;     /* these: 0 for no limit */
	uint64_t max_processes;
	uint64_t cpu_percent;
	int64_t time_ns; /* of day */
	uint8_t seed[VM_SEED_BYTES];
	uint32_t has_network; /* that of an allowlist: everything goes out over a stream of its own */
	uint32_t has_terminal; /* standard input and output, and error with has_one_output */
	struct termios settings;
	struct winsize size;
};

/* A place as read: borrows its path from the block. */
struct vm_call_place {
	struct vm_place place;
	const char *path; /* absolute */
};

struct vm_call {
	struct vm_call_head head;
	const char *places;
	const char *image;
};

/* Appends the block.  Time and seed are put in by vm_call_stamp(), as late as can be. */
CORDON_MUST_CHECK int vm_call_write(const struct view_program *p, const char *image,
				    size_t image_len, struct buf *out);
/* Programs and libraries that do not change while a call runs. */
#define VM_CALL_SYSTEM "/usr"
bool vm_call_has_system(const struct plan *plan);
/* Are standard output and error one file or pipe? */
bool vm_call_has_one_output(const struct plan *plan);
/* Puts the time and new entropy into a block.  0 or -errno. */
CORDON_MUST_CHECK int vm_call_stamp(char *block, size_t len);
/* 0 or -EINVAL for anything but a whole block. */
CORDON_MUST_CHECK int vm_call_read(const char *data, size_t len, struct vm_call *ret);
/* The place at *at, which is moved on.  False when there is none, or when it is not whole. */
bool vm_call_next(const struct vm_call *c, size_t *at, struct vm_call_place *ret);
