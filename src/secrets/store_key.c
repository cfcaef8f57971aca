/* SPDX-License-Identifier: Apache-2.0 */
/* See store_key.h. */
#include "secrets/store_key.h"

#include "base/fd.h"
#include "base/io.h"
#include "secrets/keyring.h"
#include "secrets/passphrase.h"

#include <errno.h>
#include <string.h>

#define STORE_HEX_LEN ((size_t)2 * CRYPT_KEY_LEN)

static int store_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int store_key_parse(const char *text, size_t len, uint8_t *ret)
{
	if (len != STORE_HEX_LEN && !(len == STORE_HEX_LEN + 1 && text[len - 1] == '\n'))
		return -EINVAL;
	for (size_t i = 0; i < CRYPT_KEY_LEN; i++) {
		int high = store_digit(text[2 * i]), low = store_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		ret[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

int store_key_read(const struct store *s, const char *name, uint8_t *ret, struct cordon_error *err)
{
	AUTO_CLOSE int fd = store_open_file(s, name, err);
	struct locked text = {0};
	size_t len = 0;
	int r;

	if (fd < 0)
		return fd;
	r = locked_read(fd, STORE_HEX_LEN + 1, &text, &len);
	if (r == 0)
		r = store_key_parse(text.data, len, ret);
	locked_done(&text);
	return r < 0 ? cordon_fail(err, CORDON_E_CORRUPT, "'%.200s/%s' is no key", s->dir, name)
		     : 0;
}

int store_key_write(const struct store *s, const char *name, const uint8_t *key,
		    struct cordon_error *err)
{
	static const char digits[] = "0123456789abcdef";
	struct locked text;
	int r = locked_new(STORE_HEX_LEN + 1, LOCKED_STAYS, &text);

	if (r == 0) {
		for (size_t i = 0; i < CRYPT_KEY_LEN; i++) {
			text.data[2 * i] = digits[key[i] >> 4];
			text.data[2 * i + 1] = digits[key[i] & 15];
		}
		text.data[STORE_HEX_LEN] = '\n';
		r = io_write_file_at(s->dir_fd, name, text.data, STORE_HEX_LEN + 1, 0400);
		locked_done(&text);
	}
	return r < 0 ? cordon_fail_leaf(err, r, "write '%.200s/%s'", s->dir, name) : 0;
}

int store_key_phrase(struct store *s, bool is_new, struct cordon_error *err)
{
	int r = s->phrase.data ? 0 : passphrase_get(is_new, &s->phrase, &s->phrase_len, err);

	if (r < 0)
		return r;
	r = crypt_passphrase(s->phrase.data, s->phrase_len, s->vault.salt, s->vault.passes,
			     s->vault.memory_kb, (uint8_t *)s->key.data);
	return r < 0 ? cordon_fail_leaf(err, r, "make a key of the passphrase") : 0;
}

int store_key_keyring_error(int r, struct cordon_error *err)
{
	return r == -ENOKEY || r == -EKEYEXPIRED || r == -EKEYREVOKED
		       ? cordon_hint(err,
				     cordon_fail(err, CORDON_E_NOT_FOUND,
						 "the key of the secrets is not in the kernel's "
						 "keyring"),
				     "it is gone after a restart; put it back as user key "
				     "'" KEYRING_NAME "', or move " STORE_FILE
				     " away and set the secrets again")
		       : cordon_hint(err, cordon_fail_leaf(err, r, "the kernel's keyring"),
				     "where it cannot be used there are --key file and --key "
				     "passphrase");
}

/* While a store gets another key the file may have its second name. */
static int store_key_find_file(const struct store *s, uint8_t *key, struct cordon_error *err)
{
	static const char *const names[] = {STORE_KEY_FILE, STORE_KEY_NEW};
	bool is_there = false;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		int r = store_key_read(s, names[i], key, err);

		if (r < 0 && r != -ENOENT)
			return r;
		if (r == 0 && vault_is_key(&s->vault, key))
			return 0;
		is_there = is_there || r == 0;
	}
	if (is_there)
		return 0; /* and is not the key: who asked looks at it */
	return cordon_hint(err,
			   cordon_fail(err, CORDON_E_NOT_FOUND,
				       "'%.200s/" STORE_KEY_FILE
				       "', the key of the secrets, is not there",
				       s->dir),
			   "put it back; without it the values cannot be read");
}

int store_key_find(struct store *s, struct cordon_error *err)
{
	uint8_t *key = (uint8_t *)s->key.data;
	int r;

	switch (s->vault.key) {
	case VAULT_KEY_FILE:
		return store_key_find_file(s, key, err);
	case VAULT_KEY_PASSPHRASE:
		return store_key_phrase(s, /* is_new= */ false, err);
	case VAULT_KEY_KEYRING:
		r = keyring_get(s->vault.salt, key);
		return r < 0 ? store_key_keyring_error(r, err) : 0;
	case VAULT_KEY_COUNT:
		break;
	}
	return cordon_fail(err, CORDON_E_INTERNAL, "an unknown kind of key");
}

int store_key_make(struct store *s, struct cordon_error *err)
{
	uint8_t *key = (uint8_t *)s->key.data;
	int r;

	switch (s->vault.key) {
	case VAULT_KEY_FILE:
		r = store_key_read(s, STORE_KEY_FILE, key, err);
		if (r != -ENOENT)
			return r;
		r = crypt_random(key, CRYPT_KEY_LEN);
		return r < 0 ? cordon_fail_leaf(err, r, "random bytes")
			     : store_key_write(s, STORE_KEY_FILE, key, err);
	case VAULT_KEY_PASSPHRASE:
		return store_key_phrase(s, /* is_new= */ true, err);
	case VAULT_KEY_KEYRING:
		r = crypt_random(key, CRYPT_KEY_LEN);
		if (r == 0)
			r = keyring_put(s->vault.salt, key);
		return r < 0 ? store_key_keyring_error(r, err) : 0;
	case VAULT_KEY_COUNT:
		break;
	}
	return cordon_fail(err, CORDON_E_INTERNAL, "an unknown kind of key");
}
