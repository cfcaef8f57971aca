/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store as bytes.  Pure: bytes in, rows out and back; no files, and no key but where one is handed in.
 *
 *   "cordon-secrets" 0 1     the form of the file
 *   kind 0 0 0               where the key comes from
 *   passes, memory_kb        of argon2id; 0 for other keys
 *   salt[16] check[16]       check tells a wrong key from a damaged file
 *   count                    of rows, in the order of their names, each:
 *       head_len, head       name, time, hosts, methods, paths
 *       nonce[12] len cipher tag[16]
 *   mac[32]                  over everything before it
 *
 * Numbers are little endian.  The salt and the head are what a value's tag also covers, so that values cannot change
 * places in a store or between stores; the mac sees rows that went missing or were put back.  An older copy of
 * the whole file is not told from the newest.
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"
#include "secrets/crypt.h"
#include "secrets/locked.h"

enum vault_key {
	VAULT_KEY_FILE,       /* secrets.key beside the store */
	VAULT_KEY_PASSPHRASE, /* argon2id */
	VAULT_KEY_KEYRING,    /* the user's keyring of the kernel */
	VAULT_KEY_COUNT
};

/* "file", "passphrase", "keyring"; NULL-terminated. */
extern const char *const vault_key_names[VAULT_KEY_COUNT + 1];

/* Where a value may go; empty lists bind nothing. */
struct vault_binding {
	struct strv hosts;   /* as hostrule_format() writes them */
	struct strv methods; /* in capitals */
	struct strv paths;   /* globs */
};

void vault_binding_done(struct vault_binding *b);

struct vault_row {
	char *name;
	int64_t set_ms; /* since 1970 */
	struct vault_binding binding;
	struct crypt_sealed sealed;
	uint8_t *cipher;
	size_t len;
};

struct vault {
	enum vault_key key;
	uint32_t passes;
	uint32_t memory_kb;
	uint8_t salt[CRYPT_SALT_LEN];
	uint8_t check[CRYPT_TAG_LEN];
	struct vault_row *rows; /* by name */
	size_t n;
	size_t cap;
};

void vault_done(struct vault *v);

/* A new, empty one with a salt.  0 or -errno. */
CORDON_MUST_CHECK int vault_init(enum vault_key key, struct vault *ret);
/* Says with which key it is to be opened: check. */
void vault_mark(struct vault *v, const uint8_t key[static CRYPT_KEY_LEN]);
bool vault_is_key(const struct vault *v, const uint8_t key[static CRYPT_KEY_LEN]);

/* Reads the form, not the secrets.  0, -EINVAL for what is none, -E2BIG for one beyond a limit, -ENOMEM. */
CORDON_MUST_CHECK int vault_read(const char *bytes, size_t len, struct vault *ret);
/* Is this what was written with the key?  0 or -EBADMSG. */
CORDON_MUST_CHECK int vault_verify(const char *bytes, size_t len,
				   const uint8_t key[static CRYPT_KEY_LEN]);
void vault_write(const struct vault *v, const uint8_t key[static CRYPT_KEY_LEN], struct buf *out);

/* NULL when there is none. */
const struct vault_row *vault_find(const struct vault *v, const char *name);
/* Puts a value in, in place of an older one; takes the binding.  0 or -errno. */
CORDON_MUST_CHECK int vault_put(struct vault *v, const uint8_t key[static CRYPT_KEY_LEN],
				const char *name, int64_t set_ms, struct vault_binding *binding,
				const char *value, size_t len);
/* Puts everything that is in one into another with a key of its own.  0 or -errno. */
CORDON_MUST_CHECK int vault_copy(const struct vault *from,
				 const uint8_t from_key[static CRYPT_KEY_LEN], struct vault *to,
				 const uint8_t to_key[static CRYPT_KEY_LEN]);
bool vault_remove(struct vault *v, const char *name);
/* Writes row->len bytes.  0 or -EBADMSG; -ENOMEM. */
CORDON_MUST_CHECK int vault_open(const struct vault *v, const uint8_t key[static CRYPT_KEY_LEN],
				 const struct vault_row *row, char *value);

/* Letters, digits, '-', '_' and '.', a letter or '_' first. */
bool vault_is_name(const char *name);
