/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a name promise that its value is a secret?  The one list of such words: redaction goes by the
 * promise alone, leak detection leaves out names that only speak about secrets.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum name_kind {
	NAME_PLAIN,
	NAME_PASSWORD, /* chosen by people: any word may be one */
	NAME_SECRET,   /* made by machines: random */
};

/* DB_PASS, --auth, userToken, apikey; not author, not $PWD. */
bool name_is_secret(const char *name, size_t len);
/* The same without PASSWORD_FILE, publicKey, tokenType, key_length and their kind. */
enum name_kind name_kind(const char *name, size_t len);
/* Is the word in the name, without regard to case? */
bool name_has(const char *name, size_t len, const char *word);
