/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store of secrets as bytes: what is read is within the limits and is read the same again when it is written;
 * no value opens with a key that it was not sealed with.
 */
#include "base/limits.h"
#include "secrets/vault.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int claim)
{
	if (!claim)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t key[CRYPT_KEY_LEN] = "no key of any seed, nor of ours.";
	struct buf out = BUF_INIT(LIMIT_SECRETS_FILE);
	struct vault v, w;

	if (vault_read((const char *)data, size, &v) < 0)
		return 0;
	require(v.n <= LIMIT_SECRETS);
	vault_write(&v, key, &out);
	require(buf_error(&out) == 0 && out.len == size);
	require(memcmp(out.data, data, size - CRYPT_MAC_LEN) == 0);
	require(vault_verify(out.data, out.len, key) == 0);
	require(vault_read(out.data, out.len, &w) == 0 && w.n == v.n);
	for (size_t i = 0; i < v.n; i++) {
		AUTO_FREE char *value = malloc(v.rows[i].len + 1);

		require(value != NULL && vault_is_name(v.rows[i].name));
		require(v.rows[i].len <= LIMIT_SECRET_BYTES);
		require(vault_find(&v, v.rows[i].name) == &v.rows[i]);
		require(vault_open(&v, key, &v.rows[i], value) < 0);
	}
	buf_done(&out);
	vault_done(&v);
	vault_done(&w);
	return 0;
}
