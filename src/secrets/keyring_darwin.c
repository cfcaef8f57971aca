/* SPDX-License-Identifier: Apache-2.0 */
/* See keyring.h: macOS's kernel has no keyring, and its keychain is another thing; the key is in a file or a passphrase. */
#include "secrets/keyring.h"

#include <errno.h>

int keyring_get(const uint8_t salt[static CRYPT_SALT_LEN], uint8_t ret[static CRYPT_KEY_LEN])
{
	(void)salt;
	(void)ret;
	return -ENOSYS;
}

int keyring_put(const uint8_t salt[static CRYPT_SALT_LEN], const uint8_t key[static CRYPT_KEY_LEN])
{
	(void)salt;
	(void)key;
	return -ENOSYS;
}

void keyring_remove(const uint8_t salt[static CRYPT_SALT_LEN],
		    const uint8_t key[static CRYPT_KEY_LEN])
{
	(void)salt;
	(void)key;
}
