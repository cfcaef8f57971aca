/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store of secrets: secrets.db in the state directory, written whole and renamed into place by one writer at a
 * time (secrets.lock), so that a reader sees one state or the other whatever happens.  What is in it is vault.h's
 * business; this is where it lies, who may have written it and where its key is.
 */
#pragma once

#include "secrets/vault.h"

#define STORE_FILE "secrets.db"
#define STORE_KEY_FILE "secrets.key"
#define STORE_LOCK_FILE "secrets.lock"

struct store {
	int dir_fd;
	int lock_fd; /* a writer's, or -1 */
	char *dir;
	char *bytes; /* the file as it was read; NULL: there is none */
	size_t len;
	struct vault vault;
	struct locked key; /* empty while it is shut */
};

#define STORE_NONE ((struct store){.dir_fd = -1, .lock_fd = -1})

enum store_mode {
	STORE_READ,
	STORE_WRITE /* waits for other writers; makes the directory */
};

/* Reads the file and shuts nothing open.  No file is an empty store.  *ret is always set up. */
CORDON_MUST_CHECK int store_open(const char *state_dir, enum store_mode mode, struct store *ret,
				 struct cordon_error *err);
void store_done(struct store *s);
bool store_exists(const struct store *s);

/* Gets the key and looks whether the file is what was written with it. */
CORDON_MUST_CHECK int store_unlock(struct store *s, struct cordon_error *err);
/* Begins a store that does not exist, with a new key: made, asked for or found.  Nothing is written but a new key. */
CORDON_MUST_CHECK int store_begin(struct store *s, enum vault_key key, struct cordon_error *err);
/* Writes what is in s->vault. */
CORDON_MUST_CHECK int store_save(struct store *s, struct cordon_error *err);
/* The value, of memory that is fork's, after `before` bytes of room and with a NUL behind. */
CORDON_MUST_CHECK int store_value(const struct store *s, const struct vault_row *row, size_t before,
				  enum locked_fork fork, struct locked *ret,
				  struct cordon_error *err);
