/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers that were made ahead.
 *
 * Theory of operation.  A call leaves behind it, where the policy says so, a container for the next one: started, with
 * the same grants and limits, and nothing in it but our first process, which waits.  One call takes it, and it ends with
 * that call: nothing that a call did, or found a way to do to the container, is there for another.  The container is not
 * asked for by name but by a key, a hash of all that the engine was asked for; what stands behind its mounts is compared
 * again (mark.h) when it is taken.
 *
 * Nobody keeps it.  Its first process listens on a socket in a scratch directory of the registry, holds the lock of that
 * (scratch.h), and goes when nobody comes in time; the engine then removes the container.  A directory whose lock is
 * free is removed by the next command.  The registry is outside every grant, so no call reaches the socket.
 *
 * Who connects hears one byte before anything is handed over: without that the call was given to nobody, and can have a
 * container of its own instead.
 */
#pragma once

#include "backend/container/mark.h"
#include "base/buf.h"
#include "base/proc.h"
#include "base/sha256.h"

struct plan;
struct scratch;

#define WARM_MAX 8            /* containers for one key */
#define WARM_TOTAL 16         /* for all keys of a registry: a caller can make new ones */
#define WARM_KEY_LEN 33       /* with the NUL */
#define WARM_GREETING_MS 1000 /* one that does not answer by then is left alone */

struct warm_key {
	char hex[WARM_KEY_LEN];
};

/* Of what the engine is asked for (without the names of one call), its socket, what is mounted below the marked places
 * and what they lie in, the plan's devices, and the files that are mounted without a mark: our program, and those of
 * spec_unmarked.  0 or -errno. */
CORDON_MUST_CHECK int warm_key(const struct buf *create, const char *socket,
			       const struct plan *plan, const struct marks *marks,
			       const char *inside, struct warm_key *ret);
/* How many there are, made or being made; of all keys for NULL. */
size_t warm_count(const char *registry, const struct warm_key *key);
/* A new directory for one, with its lock, which is shared with whoever inherits the descriptor.  0, -EDQUOT when
 * limit of its key or WARM_TOTAL are there, -errno. */
CORDON_MUST_CHECK int warm_place(const char *registry, const struct warm_key *key, size_t limit,
				 struct scratch *ret);
/* Takes one: the connection, and its first process in *ret_pidfd; -ENOENT when there is none. */
CORDON_MUST_CHECK int warm_take(const char *registry, const struct warm_key *key, int *ret_pidfd);
/* A child that ends when the process does, which ends after all others of its container.  0 or -errno. */
CORDON_MUST_CHECK int warm_follow(int pidfd, struct proc *ret);
