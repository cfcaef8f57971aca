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
	struct locked key;    /* empty while it is shut */
	struct locked phrase; /* that was said, until it is open */
	size_t phrase_len;
};

#define STORE_NONE ((struct store){.dir_fd = -1, .lock_fd = -1})

/* Reads the file and shuts nothing open.  No file is an empty store.  *ret is always set up. */
CORDON_MUST_CHECK int store_open(const char *state_dir, struct store *ret,
				 struct cordon_error *err);
void store_done(struct store *s);
bool store_exists(const struct store *s);

/* Gets the key and looks whether the file is what was written with it. */
CORDON_MUST_CHECK int store_unlock(struct store *s, struct cordon_error *err);

/* What a writer expects. */
struct store_want {
	bool may_begin; /* where there is no store: a new one; else it stays empty and without a key */
	bool has_kind;       /* a store with another kind of key is an error */
	enum vault_key kind; /* of the key of a new one */
};

/* For a writer: makes the directory, asks for what only a person knows while it holds nothing, then waits for other
 * writers and opens the store as it is then.  With another key than the one that was asked for it begins anew, once.
 * Nothing is written but a new key.  *ret is always set up. */
CORDON_MUST_CHECK int store_open_write(const char *state_dir, const struct store_want *want,
				       struct store *ret, struct cordon_error *err);
/* Lets other writers in; the key is kept. */
void store_release(struct store *s);
/* Waits for other writers and reads the file again; it must be opened by the key that we have. */
CORDON_MUST_CHECK int store_hold(struct store *s, struct cordon_error *err);
/* Writes what is in s->vault. */
CORDON_MUST_CHECK int store_save(struct store *s, struct cordon_error *err);
/* The value, of memory that is fork's, after `before` bytes of room and with a NUL behind. */
CORDON_MUST_CHECK int store_value(const struct store *s, const struct vault_row *row, size_t before,
				  enum locked_fork fork, struct locked *ret,
				  struct cordon_error *err);
