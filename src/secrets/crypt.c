/* SPDX-License-Identifier: Apache-2.0 */
/* See crypt.h. */
#include "secrets/crypt.h"

#include <argon2.h>
#include <assert.h>
#include <errno.h>
#include <nettle/gcm.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <string.h>
#include <sys/random.h>

int crypt_random(void *ret, size_t len)
{
	char *at = ret;

	while (len > 0) {
		ssize_t n = getrandom(at, len, 0);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

void crypt_mac(const uint8_t key[static CRYPT_KEY_LEN], const void *data, size_t len,
	       uint8_t ret[static CRYPT_MAC_LEN])
{
	struct hmac_sha256_ctx c;

	hmac_sha256_set_key(&c, CRYPT_KEY_LEN, key);
	hmac_sha256_update(&c, len, data);
	hmac_sha256_digest(&c, CRYPT_MAC_LEN, ret);
	explicit_bzero(&c, sizeof(c));
}

void crypt_subkey(const uint8_t key[static CRYPT_KEY_LEN], const char *purpose,
		  uint8_t ret[static CRYPT_KEY_LEN])
{
	static_assert(CRYPT_KEY_LEN == CRYPT_MAC_LEN, "a key is one mac");
	crypt_mac(key, purpose, strlen(purpose), ret);
}

static void crypt_begin(struct gcm_aes256_ctx *c, const uint8_t *key, const uint8_t *nonce,
			const void *head, size_t head_len)
{
	gcm_aes256_set_key(c, key);
	gcm_aes256_set_iv(c, CRYPT_NONCE_LEN, nonce);
	gcm_aes256_update(c, head_len, head);
}

void crypt_seal(const uint8_t key[static CRYPT_KEY_LEN], const void *head, size_t head_len,
		const void *plain, size_t len, uint8_t *cipher, struct crypt_sealed *ret)
{
	struct gcm_aes256_ctx c;

	crypt_begin(&c, key, ret->nonce, head, head_len);
	gcm_aes256_encrypt(&c, len, cipher, plain);
	gcm_aes256_digest(&c, CRYPT_TAG_LEN, ret->tag);
	explicit_bzero(&c, sizeof(c));
}

int crypt_open(const uint8_t key[static CRYPT_KEY_LEN], const void *head, size_t head_len,
	       const uint8_t *cipher, size_t len, const struct crypt_sealed *sealed, void *plain)
{
	struct gcm_aes256_ctx c;
	uint8_t tag[CRYPT_TAG_LEN];
	bool is_ours;

	crypt_begin(&c, key, sealed->nonce, head, head_len);
	gcm_aes256_decrypt(&c, len, plain, cipher);
	gcm_aes256_digest(&c, CRYPT_TAG_LEN, tag);
	explicit_bzero(&c, sizeof(c));
	is_ours = crypt_is_equal(tag, sealed->tag, CRYPT_TAG_LEN);
	if (!is_ours)
		explicit_bzero(plain, len);
	return is_ours ? 0 : -EBADMSG;
}

bool crypt_is_equal(const void *a, const void *b, size_t len)
{
	return memeql_sec(a, b, len) != 0;
}

int crypt_passphrase(const char *text, size_t len, const uint8_t salt[static CRYPT_SALT_LEN],
		     uint32_t passes, uint32_t memory_kb, uint8_t ret[static CRYPT_KEY_LEN])
{
	int r = argon2id_hash_raw(passes, memory_kb, /* parallelism= */ 1, text, len, salt,
				  CRYPT_SALT_LEN, ret, CRYPT_KEY_LEN);

	if (r == ARGON2_MEMORY_ALLOCATION_ERROR)
		return -ENOMEM;
	return r == ARGON2_OK ? 0 : -EINVAL;
}
