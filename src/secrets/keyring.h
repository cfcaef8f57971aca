/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's keyring of this user as the place of the store's key.  The key is in no file and is gone when the
 * machine restarts or the user's last process ends, unless something puts it back: then the store stays shut.
 * Whoever keeps the key elsewhere can put it there under the same name (KEYRING_NAME) before.
 */
#pragma once

#include "secrets/crypt.h"

#define KEYRING_NAME "cordon:secrets"

/* 0 or -errno: -ENOKEY when it is not there, -EBADMSG when it is no key of ours, others where the kernel has no
 * keyrings or they are refused. */
CORDON_MUST_CHECK int keyring_get(uint8_t ret[static CRYPT_KEY_LEN]);
CORDON_MUST_CHECK int keyring_put(const uint8_t key[static CRYPT_KEY_LEN]);
