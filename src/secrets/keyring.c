/* SPDX-License-Identifier: Apache-2.0 */
/* See keyring.h. */
#include "secrets/keyring.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The possessor and the user may look for, read and replace it; nobody else may do anything. */
#define KEYRING_PERMISSIONS 0x3f3f0000L

int keyring_get(uint8_t ret[static CRYPT_KEY_LEN])
{
	uint8_t key[CRYPT_KEY_LEN + 1];
	long id =
		syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", KEYRING_NAME, 0);
	long n;

	if (id < 0)
		return -errno;
	n = syscall(SYS_keyctl, KEYCTL_READ, id, key, sizeof(key), 0);
	if (n < 0)
		return -errno;
	if (n == CRYPT_KEY_LEN)
		memcpy(ret, key, CRYPT_KEY_LEN);
	explicit_bzero(key, sizeof(key));
	return n == CRYPT_KEY_LEN ? 0 : -EBADMSG;
}

int keyring_put(const uint8_t key[static CRYPT_KEY_LEN])
{
	long id = syscall(SYS_add_key, "user", KEYRING_NAME, key, (size_t)CRYPT_KEY_LEN,
			  KEY_SPEC_USER_KEYRING);

	if (id < 0)
		return -errno;
	return syscall(SYS_keyctl, KEYCTL_SETPERM, id, KEYRING_PERMISSIONS, 0, 0) < 0 ? -errno : 0;
}
