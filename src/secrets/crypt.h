/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cryptography of the store, in the store's own words: AES-256-GCM for values, HMAC-SHA-256 for the file and
 * to make keys of one key, argon2id to make a key of a passphrase.  Nettle and libargon2 do the work: libcrypto would
 * add tens of thousands of relocations to every start of a program that seldom opens the store.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRYPT_KEY_LEN 32
#define CRYPT_NONCE_LEN 12
#define CRYPT_TAG_LEN 16
#define CRYPT_MAC_LEN 32
#define CRYPT_SALT_LEN 16

struct crypt_sealed {
	uint8_t nonce[CRYPT_NONCE_LEN];
	uint8_t tag[CRYPT_TAG_LEN];
};

/* 0 or -errno. */
CORDON_MUST_CHECK int crypt_random(void *ret, size_t len);
/* A key for one purpose from the one key. */
void crypt_subkey(const uint8_t key[static CRYPT_KEY_LEN], const char *purpose,
		  uint8_t ret[static CRYPT_KEY_LEN]);
/* head is bound to the value: crypt_open() with another one fails.  The nonce of ret is an input; cipher has len
 * bytes. */
void crypt_seal(const uint8_t key[static CRYPT_KEY_LEN], const void *head, size_t head_len,
		const void *plain, size_t len, uint8_t *cipher, struct crypt_sealed *ret);
/* 0 or -EBADMSG; plain holds zeroes then. */
CORDON_MUST_CHECK int crypt_open(const uint8_t key[static CRYPT_KEY_LEN], const void *head,
				 size_t head_len, const uint8_t *cipher, size_t len,
				 const struct crypt_sealed *sealed, void *plain);
void crypt_mac(const uint8_t key[static CRYPT_KEY_LEN], const void *data, size_t len,
	       uint8_t ret[static CRYPT_MAC_LEN]);
/* In a time that does not tell where they differ. */
bool crypt_is_equal(const void *a, const void *b, size_t len);
/* 0, -ENOMEM or -EINVAL.  One thread. */
CORDON_MUST_CHECK int crypt_passphrase(const char *text, size_t len,
				       const uint8_t salt[static CRYPT_SALT_LEN], uint32_t passes,
				       uint32_t memory_kb, uint8_t ret[static CRYPT_KEY_LEN]);
