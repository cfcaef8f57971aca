/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is spoken between our process beside a virtual machine and the first process inside it, over one stream of
 * bytes (a virtio serial port): frames of a type, a stream number and a length.
 *
 * The command's three streams go over it together.  None may hold up the others or the end, so each has a window: who
 * sends has credit for VM_WINDOW bytes, and who receives gives credit back as its bytes are taken.  A receiver whose
 * reader is gone says so, and the writer at the other end gets what a pipe would give it.
 *
 * Both ends are of one build.  The inner one is not trusted: what does not fit is the end of the call, never repaired.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VM_FRAME_MAX 16384   /* bytes that one frame carries */
#define VM_WINDOW 65536      /* bytes of one stream on their way */
#define VM_OUT_BYTES 131072  /* frames that wait to be sent */
#define VM_CREDIT_STEP 16384 /* how much is given back at once */
#define VM_TOLD_MAX 2048     /* of one message of the kernel */

enum vm_type {
	VM_READY,  /* from inside: it waits for a call; to it: does it? */
	VM_CALL,   /* to it: a part of the call (call.h); an empty one ends it */
	VM_DATA,   /* of a stream */
	VM_CREDIT, /* a uint32_t more of a stream may be sent */
	VM_EOF,    /* nothing more comes on the stream */
	VM_GONE,   /* nobody reads the stream any more */
	VM_SIGNAL, /* to it: one byte */
	VM_STAGE,  /* from inside: struct stage_message, before the command runs */
	VM_END,    /* from inside: struct vm_end; the last */
	VM_TOLD, /* from inside: what its network rejected, as its kernel tells it (net/trace.h) */
	VM_SIZE, /* to it: struct winsize of the command's terminal */
	VM_TYPE_COUNT
};

enum vm_stream { VM_STDIN, VM_STDOUT, VM_STDERR, VM_STREAM_COUNT };

struct vm_head {
	uint8_t type;
	uint8_t stream;
	uint16_t zero;
	uint32_t len;
};

/* How the command ended, and what it took. */
struct vm_end {
	int32_t status; /* as of wait() */
	uint32_t is_oom;
	uint32_t is_fork_refused;
	uint32_t zero;
	int64_t max_rss_kb;
	int64_t user_us;
	int64_t sys_us;
	int64_t memory_peak_kb; /* -1: not known */
};

/* One end of the stream of bytes; the descriptor does not block. */
struct vm_link {
	int fd;
	size_t in_len;
	size_t out_len;
	char in[sizeof(struct vm_head) + VM_FRAME_MAX];
	char out[VM_OUT_BYTES];
};

struct vm_frame {
	struct vm_head head;
	const char *data; /* until the next vm_link_next() */
};

/* Reads what there is, of one frame at most.  1 with *ret when a frame is whole, 0 when more has to come, -EPIPE at
 * the end, -EPROTO for what is no frame, -errno. */
CORDON_MUST_CHECK int vm_link_next(struct vm_link *l, struct vm_frame *ret);
/* Would a frame of that many bytes find room? */
bool vm_link_has_room(const struct vm_link *l, size_t len);
/* Events to poll it for: nothing is read while there may be no room for what has to be said to it. */
short vm_link_events(const struct vm_link *l);
/* Puts a frame into the buffer: there is room for it. */
void vm_link_put(struct vm_link *l, enum vm_type type, unsigned stream, const void *data,
		 size_t len);
/* Sends what it can without waiting.  0 or -errno. */
CORDON_MUST_CHECK int vm_link_flush(struct vm_link *l);

/* One end of a stream of the command, at a descriptor that is read (source) or written. */
struct vm_end_of_stream {
	int fd; /* -1: closed */
	bool is_source;
	bool is_finished; /* source: nothing more is sent; sink: nothing more comes */
	bool is_gone;     /* sink: nobody reads; what comes is thrown away */
	int error;        /* sink: why what came could not be written; 0 also when a reader went */
	uint32_t credit;  /* source: may be sent; sink: taken, and not yet given back */
	size_t begin;     /* sink: of what waits in data */
	size_t len;
	char data[VM_WINDOW];
};

void vm_stream_init(struct vm_end_of_stream *s, int fd, bool is_source);
/* Events to poll its descriptor for; 0 for none. */
short vm_stream_events(const struct vm_end_of_stream *s, const struct vm_link *l);
/* When one of them came.  Never waits. */
void vm_stream_move(struct vm_end_of_stream *s, unsigned number, struct vm_link *l);
/* A frame for it.  0 or -EPROTO. */
CORDON_MUST_CHECK int vm_stream_take(struct vm_end_of_stream *s, unsigned number,
				     const struct vm_frame *f, struct vm_link *l);
/* Is all over: sent to the end, or written out? */
bool vm_stream_is_over(const struct vm_end_of_stream *s);
