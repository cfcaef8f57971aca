/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the store's key is: read, asked for, made and put away.  For store.c and rekey.c alone.
 *
 * A key in a file has three names.  The store that is there is opened by one of the first two, always:
 *
 *   secrets.key       the key
 *   secrets.key.new   of a store that is about to be written, or was written a moment ago
 *   secrets.key.old   a second name of the file that is to be wiped when the new store stands
 */
#pragma once

#include "secrets/store.h"

#define STORE_KEY_NEW STORE_KEY_FILE ".new"
#define STORE_KEY_OLD STORE_KEY_FILE ".old"

/* A file of ours that nobody else can have read or written.  The descriptor, -ENOENT for none, or an error in err. */
CORDON_MUST_CHECK int store_open_file(const struct store *s, const char *name,
				      struct cordon_error *err);
/* Room for s->key. */
CORDON_MUST_CHECK int store_room(struct store *s, struct cordon_error *err);

/* What is in a file of the key.  0, -ENOENT for no such file, or an error in err. */
CORDON_MUST_CHECK int store_key_read(const struct store *s, const char *name, uint8_t *ret,
				     struct cordon_error *err);
CORDON_MUST_CHECK int store_key_write(const struct store *s, const char *name, const uint8_t *key,
				      struct cordon_error *err);
/* The key of the vault that was read, into s->key; a passphrase is asked for unless s->phrase is one. */
CORDON_MUST_CHECK int store_key_find(struct store *s, struct cordon_error *err);
/* One for a store that is begun; a passphrase is asked for twice unless s->phrase is one. */
CORDON_MUST_CHECK int store_key_make(struct store *s, struct cordon_error *err);
/* argon2id of s->phrase for the vault; asks for it if there is none, twice for a new one. */
CORDON_MUST_CHECK int store_key_phrase(struct store *s, bool is_new, struct cordon_error *err);
/* Why the kernel's keyring did not do it. */
int store_key_keyring_error(int r, struct cordon_error *err);
