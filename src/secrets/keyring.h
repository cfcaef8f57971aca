/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's keyring of this user as the place of the store's key.  The key is in no file and is gone when the
 * machine restarts or the user's last process ends, unless something puts it back: then the store stays shut.
 *
 * A key's name is KEYRING_NAME, a colon and the first bytes of its store's salt, so that several stores of one user
 * have one each and a store that gets another key never lacks the one that counts.  Whoever keeps the key elsewhere
 * can put it there under that name or, for the only store, under KEYRING_NAME alone.
 */
#pragma once

#include "secrets/crypt.h"

#define KEYRING_NAME "cordon:secrets"

/* 0 or -errno: -ENOKEY when it is not there, -EBADMSG when it is no key of ours, others where the kernel has no
 * keyrings or they are refused. */
CORDON_MUST_CHECK int keyring_get(const uint8_t salt[static CRYPT_SALT_LEN],
				  uint8_t ret[static CRYPT_KEY_LEN]);
CORDON_MUST_CHECK int keyring_put(const uint8_t salt[static CRYPT_SALT_LEN],
				  const uint8_t key[static CRYPT_KEY_LEN]);
/* The one under the store's own name, and the one under KEYRING_NAME alone if it is this key: otherwise it may be another
 * store's. */
void keyring_remove(const uint8_t salt[static CRYPT_SALT_LEN],
		    const uint8_t key[static CRYPT_KEY_LEN]);
