/* SPDX-License-Identifier: Apache-2.0 */
/* cordon-share: the parts of messages, and what the machine's kernel remembers. */
#pragma once

#include "backend/vm/share.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct share_fid {
	char *path; /* relative, "" for the directory itself; NULL: not in use */
	int file;   /* open, or -1 */
};

struct share {
	int root;
	int link;
	bool is_readonly;
	size_t message_max;
	struct share_fid *fids;
	size_t n_fids;
	size_t path_bytes;
	const uint8_t *in; /* what is left of the request */
	size_t in_left;
	bool is_bad; /* it was shorter than it says */
	size_t out_len;
	uint8_t out[SHARE_MESSAGE_MAX];
	uint8_t message[SHARE_MESSAGE_MAX];
};

/* A number of the request; 0, and it is bad, when there is none. */
uint64_t share_take(struct share *s, unsigned bytes);
/* A string without NUL; "" when there is none that fits. */
void share_take_text(struct share *s, size_t size, char *ret);
/* The name of something in a directory.  0 or -EINVAL. */
CORDON_MUST_CHECK int share_take_name(struct share *s, char ret[static NAME_MAX + 1]);
void share_put(struct share *s, uint64_t value, unsigned bytes);
void share_put_text(struct share *s, const char *text, size_t len);
/* Which file it is. */
void share_put_qid(struct share *s, const struct stat *st);

/* Opens a path of the shared directory, never anything else.  The descriptor or -errno. */
CORDON_MUST_CHECK int share_at(const struct share *s, const char *path, int flags, mode_t mode);
/* What a number of the request stands for, or NULL. */
struct share_fid *share_fid(struct share *s);
/* An O_PATH descriptor of it, or -errno. */
CORDON_MUST_CHECK int share_fid_at(struct share *s);
void share_forget(struct share *s, struct share_fid *f);
CORDON_MUST_CHECK int share_set_path(struct share *s, struct share_fid *f, const char *path);
/* Remembers a path under a number that is not in use. */
CORDON_MUST_CHECK int share_remember(struct share *s, uint64_t number, const char *path);
CORDON_MUST_CHECK int share_join(const char *dir, const char *name, char ret[static PATH_MAX]);
