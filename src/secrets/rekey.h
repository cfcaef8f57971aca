/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another key for a store, with all values encrypted anew.
 *
 * Theory of operation.  The store that counts is secrets.db, and it is replaced in one step; the key files around it
 * are brought into order before and after, so that at every moment the file that is there can be opened, by the old key
 * or by the new one:
 *
 *   secrets.key gets a second name, secrets.key.old     whose key that was can be told later
 *   the new key is written to secrets.key.new           or to the keyring, under the new store's name
 *   secrets.db is replaced                              from here on the new key counts
 *   secrets.key.new becomes secrets.key
 *   what secrets.key.old names is overwritten, and removed
 *
 * A writer that finds a step missing, because somebody was killed there, does it (store_finish()).
 */
#pragma once

#include "secrets/store.h"

/* Another key, of this kind, for a store that store_open_write() has opened.  It is not held while a passphrase is
 * asked for, and read again after that. */
CORDON_MUST_CHECK int store_rekey(struct store *s, enum vault_key kind, struct cordon_error *err);
/* Does what a writer before us left undone.  The store is open and held. */
CORDON_MUST_CHECK int store_finish(struct store *s, struct cordon_error *err);
