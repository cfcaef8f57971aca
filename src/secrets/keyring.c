/* SPDX-License-Identifier: Apache-2.0 */
/* See keyring.h. */
#include "secrets/keyring.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The possessor and the user may look for, read and replace it; nobody else may do anything. */
#define KEYRING_PERMISSIONS 0x3f3f0000L

#define KEYRING_SALT_BYTES 8 /* in a name */
#define KEYRING_NAME_SIZE (sizeof(KEYRING_NAME) + 1 + 2 * KEYRING_SALT_BYTES)

static void keyring_name(const uint8_t *salt, char ret[static KEYRING_NAME_SIZE])
{
	int n = snprintf(ret, KEYRING_NAME_SIZE, KEYRING_NAME ":");

	for (size_t i = 0; i < KEYRING_SALT_BYTES; i++)
		n += snprintf(ret + n, KEYRING_NAME_SIZE - (size_t)n, "%02x", salt[i]);
}

static long keyring_search(const char *name)
{
	return syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", name, 0);
}

/* 0 or -errno. */
static int keyring_read(long id, uint8_t ret[static CRYPT_KEY_LEN])
{
	uint8_t key[CRYPT_KEY_LEN + 1];
	long n = syscall(SYS_keyctl, KEYCTL_READ, id, key, sizeof(key), 0);

	if (n < 0)
		return -errno;
	if (n == CRYPT_KEY_LEN)
		memcpy(ret, key, CRYPT_KEY_LEN);
	explicit_bzero(key, sizeof(key));
	return n == CRYPT_KEY_LEN ? 0 : -EBADMSG;
}

/* Where it cannot be taken out it goes with the next restart; it opens nothing any more. */
static void keyring_unlink(long id)
{
	(void)syscall(SYS_keyctl, KEYCTL_UNLINK, id, KEY_SPEC_USER_KEYRING, 0, 0);
}

int keyring_get(const uint8_t salt[static CRYPT_SALT_LEN], uint8_t ret[static CRYPT_KEY_LEN])
{
	char name[KEYRING_NAME_SIZE];
	long id;

	keyring_name(salt, name);
	id = keyring_search(name);
	if (id < 0 && errno == ENOKEY)
		id = keyring_search(KEYRING_NAME);
	return id < 0 ? -errno : keyring_read(id, ret);
}

int keyring_put(const uint8_t salt[static CRYPT_SALT_LEN], const uint8_t key[static CRYPT_KEY_LEN])
{
	char name[KEYRING_NAME_SIZE];
	long id;
	int r;

	keyring_name(salt, name);
	id = syscall(SYS_add_key, "user", name, key, (size_t)CRYPT_KEY_LEN, KEY_SPEC_USER_KEYRING);
	if (id < 0)
		return -errno;
	if (syscall(SYS_keyctl, KEYCTL_SETPERM, id, KEYRING_PERMISSIONS, 0, 0) == 0)
		return 0;
	r = -errno;
	keyring_unlink(id);
	return r;
}

void keyring_remove(const uint8_t salt[static CRYPT_SALT_LEN],
		    const uint8_t key[static CRYPT_KEY_LEN])
{
	uint8_t other[CRYPT_KEY_LEN];
	char name[KEYRING_NAME_SIZE];
	long id;

	keyring_name(salt, name);
	id = keyring_search(name);
	if (id >= 0)
		keyring_unlink(id);
	id = keyring_search(KEYRING_NAME);
	if (id >= 0 && keyring_read(id, other) == 0 && crypt_is_equal(other, key, sizeof(other)))
		keyring_unlink(id);
	explicit_bzero(other, sizeof(other));
}
