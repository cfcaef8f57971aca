/* SPDX-License-Identifier: Apache-2.0 */
/* See store.h. */
#include "secrets/store.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"
#include "secrets/keyring.h"
#include "secrets/passphrase.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STORE_HEX_LEN ((size_t)2 * CRYPT_KEY_LEN)

void store_done(struct store *s)
{
	locked_done(&s->key);
	vault_done(&s->vault);
	free(s->bytes);
	free(s->dir);
	s->lock_fd = fd_close(s->lock_fd);
	s->dir_fd = fd_close(s->dir_fd);
	*s = STORE_NONE;
}

bool store_exists(const struct store *s)
{
	return s->bytes != NULL;
}

/* A file of ours that nobody else can have read or written.  The descriptor, -ENOENT for none, or an error in err. */
static int store_open_file(const struct store *s, const char *name, struct cordon_error *err)
{
	AUTO_CLOSE int fd =
		openat(s->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0 || fstat(fd, &st) < 0)
		return cordon_fail_errno(err, errno, "open '%.200s/%s'", s->dir, name);
	if (!S_ISREG(st.st_mode))
		return cordon_fail(err, CORDON_E_INVALID, "'%.200s/%s' is not a plain file", s->dir,
				   name);
	if (st.st_uid != geteuid())
		return cordon_fail(err, CORDON_E_INVALID,
				   "'%.200s/%s' belongs to another user (%u, we are %u)", s->dir,
				   name, st.st_uid, geteuid());
	if (st.st_mode & 077)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "'%.200s/%s' is open to others (mode %03o)", s->dir,
					       name, st.st_mode & 0777),
				   "look who may have changed it; then chmod 600");
	return TAKE_FD(fd);
}

static int store_corrupt(const struct store *s, const char *what, struct cordon_error *err)
{
	return cordon_hint(
		err, cordon_fail(err, CORDON_E_CORRUPT, "'%.200s/" STORE_FILE "' %s", s->dir, what),
		"nothing was changed; put back a copy of it, or move it away and set "
		"the secrets again");
}

static int store_read(struct store *s, struct cordon_error *err)
{
	AUTO_CLOSE int fd = store_open_file(s, STORE_FILE, err);
	int r;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	r = io_read_all(fd, LIMIT_SECRETS_FILE, CLOCK_NEVER, &s->bytes, &s->len);
	if (r < 0)
		return cordon_fail_leaf(err, r, "read '%.200s/" STORE_FILE "'", s->dir);
	r = vault_read(s->bytes, s->len, &s->vault);
	if (r == -EINVAL)
		return store_corrupt(s, "is damaged, cut short or no store of secrets", err);
	return r < 0 ? cordon_fail_leaf(err, r, "read '%.200s/" STORE_FILE "'", s->dir) : 0;
}

static int store_lock(struct store *s, struct cordon_error *err)
{
	int r;

	s->lock_fd = openat(s->dir_fd, STORE_LOCK_FILE,
			    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	if (s->lock_fd < 0)
		return cordon_fail_errno(err, errno, "open '%.200s/" STORE_LOCK_FILE "'", s->dir);
	r = fd_flock(s->lock_fd, LOCK_EX, clock_deadline(LIMIT_SECRETS_LOCK_MS));
	if (r == -ETIMEDOUT)
		return cordon_fail(err, CORDON_E_BUSY,
				   "'%.200s/" STORE_FILE "': another process holds it", s->dir);
	return r < 0 ? cordon_fail_leaf(err, r, "lock '%.200s/" STORE_LOCK_FILE "'", s->dir) : 0;
}

int store_open(const char *state_dir, enum store_mode mode, struct store *ret,
	       struct cordon_error *err)
{
	int r = 0;

	*ret = STORE_NONE;
	ret->dir = strdup(state_dir);
	if (!ret->dir)
		return cordon_nomem(err);
	if (mode == STORE_WRITE)
		r = path_make_private_dir(state_dir, 0700);
	if (r < 0)
		return cordon_fail_leaf(err, r, "state directory '%.200s'", state_dir);
	ret->dir_fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOCTTY);
	if (ret->dir_fd < 0 && errno == ENOENT && mode == STORE_READ)
		return 0;
	if (ret->dir_fd < 0)
		return cordon_fail_errno(err, errno, "state directory '%.200s'", state_dir);
	if (mode == STORE_WRITE)
		r = store_lock(ret, err);
	return r < 0 ? r : store_read(ret, err);
}

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

/* 0, -ENOENT for no such file, or an error in err. */
static int store_key_read(struct store *s, uint8_t *ret, struct cordon_error *err)
{
	AUTO_CLOSE int fd = store_open_file(s, STORE_KEY_FILE, err);
	struct locked text = {0};
	size_t len = 0;
	int r;

	if (fd < 0)
		return fd;
	r = locked_read(fd, STORE_HEX_LEN + 1, &text, &len);
	if (r == 0)
		r = store_key_parse(text.data, len, ret);
	locked_done(&text);
	return r < 0 ? cordon_fail(err, CORDON_E_CORRUPT, "'%.200s/" STORE_KEY_FILE "' is no key",
				   s->dir)
		     : 0;
}

static int store_key_write(struct store *s, const uint8_t *key, struct cordon_error *err)
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
		r = io_write_file_at(s->dir_fd, STORE_KEY_FILE, text.data, STORE_HEX_LEN + 1, 0400);
		locked_done(&text);
	}
	return r < 0 ? cordon_fail_leaf(err, r, "write '%.200s/" STORE_KEY_FILE "'", s->dir) : 0;
}

static int store_key_passphrase(struct store *s, bool is_new, struct cordon_error *err)
{
	struct locked text = {0};
	size_t len = 0;
	int r = passphrase_get(is_new, &text, &len, err);

	if (r < 0)
		return r;
	r = crypt_passphrase(text.data, len, s->vault.salt, s->vault.passes, s->vault.memory_kb,
			     (uint8_t *)s->key.data);
	locked_done(&text);
	return r < 0 ? cordon_fail_leaf(err, r, "make a key of the passphrase") : 0;
}

static int store_key_keyring(int r, struct cordon_error *err)
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

static int store_room(struct store *s, struct cordon_error *err)
{
	int r = s->key.data ? 0 : locked_new(CRYPT_KEY_LEN, LOCKED_STAYS, &s->key);

	return r < 0 ? cordon_fail_leaf(err, r, "memory for the key of the secrets") : 0;
}

static int store_find_key(struct store *s, struct cordon_error *err)
{
	uint8_t *key = (uint8_t *)s->key.data;
	int r;

	switch (s->vault.key) {
	case VAULT_KEY_FILE:
		r = store_key_read(s, key, err);
		if (r != -ENOENT)
			return r;
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_NOT_FOUND,
					       "'%.200s/" STORE_KEY_FILE
					       "', the key of the secrets, is not there",
					       s->dir),
				   "put it back; without it the values cannot be read");
	case VAULT_KEY_PASSPHRASE:
		return store_key_passphrase(s, /* is_new= */ false, err);
	case VAULT_KEY_KEYRING:
		r = keyring_get(key);
		return r < 0 ? store_key_keyring(r, err) : 0;
	case VAULT_KEY_COUNT:
		break;
	}
	return cordon_fail(err, CORDON_E_INTERNAL, "an unknown kind of key");
}

int store_unlock(struct store *s, struct cordon_error *err)
{
	static const char *const wrong[VAULT_KEY_COUNT] = {
		[VAULT_KEY_FILE] = "'" STORE_KEY_FILE "' is not its key",
		[VAULT_KEY_PASSPHRASE] = "the passphrase is wrong",
		[VAULT_KEY_KEYRING] = "the key in the kernel's keyring is not its key",
	};
	const uint8_t *key;
	int r = store_room(s, err);

	if (r == 0)
		r = store_find_key(s, err);
	key = (const uint8_t *)s->key.data;
	if (r == 0 && !vault_is_key(&s->vault, key))
		r = cordon_fail(err, CORDON_E_INVALID, "'%.200s/" STORE_FILE "': %s", s->dir,
				wrong[s->vault.key]);
	if (r == 0 && vault_verify(s->bytes, s->len, key) < 0)
		r = store_corrupt(s, "was changed by somebody without its key", err);
	if (r < 0)
		locked_done(&s->key);
	return r;
}

static int store_make_key(struct store *s, struct cordon_error *err)
{
	uint8_t *key = (uint8_t *)s->key.data;
	int r;

	switch (s->vault.key) {
	case VAULT_KEY_FILE:
		r = store_key_read(s, key, err);
		if (r != -ENOENT)
			return r;
		r = crypt_random(key, CRYPT_KEY_LEN);
		return r < 0 ? cordon_fail_leaf(err, r, "random bytes")
			     : store_key_write(s, key, err);
	case VAULT_KEY_PASSPHRASE:
		return store_key_passphrase(s, /* is_new= */ true, err);
	case VAULT_KEY_KEYRING:
		r = keyring_get(key);
		if (r == -ENOKEY) {
			r = crypt_random(key, CRYPT_KEY_LEN);
			if (r == 0)
				r = keyring_put(key);
		}
		return r < 0 ? store_key_keyring(r, err) : 0;
	case VAULT_KEY_COUNT:
		break;
	}
	return cordon_fail(err, CORDON_E_INTERNAL, "an unknown kind of key");
}

int store_begin(struct store *s, enum vault_key key, struct cordon_error *err)
{
	int r = store_room(s, err);

	if (r < 0)
		return r;
	r = vault_init(key, &s->vault);
	if (r < 0)
		return cordon_fail_leaf(err, r, "random bytes");
	r = store_make_key(s, err);
	if (r == 0)
		vault_mark(&s->vault, (const uint8_t *)s->key.data);
	return r;
}

int store_save(struct store *s, struct cordon_error *err)
{
	struct buf out = BUF_INIT(LIMIT_SECRETS_FILE);
	int r;

	vault_write(&s->vault, (const uint8_t *)s->key.data, &out);
	r = buf_error(&out);
	if (r == 0)
		r = io_write_file_at(s->dir_fd, STORE_FILE, out.data, out.len, 0600);
	buf_done(&out);
	return r < 0 ? cordon_fail_leaf(err, r, "write '%.200s/" STORE_FILE "'", s->dir) : 0;
}

int store_value(const struct store *s, const struct vault_row *row, size_t before,
		enum locked_fork fork, struct locked *ret, struct cordon_error *err)
{
	struct locked m;
	int r = locked_new(before + row->len + 1, fork, &m);

	if (r < 0)
		return cordon_fail_leaf(err, r, "memory for secret '%s'", row->name);
	r = vault_open(&s->vault, (const uint8_t *)s->key.data, row, m.data + before);
	if (r < 0) {
		locked_done(&m);
		return r == -EBADMSG ? store_corrupt(s, "holds a value that was changed", err)
				     : cordon_fail_leaf(err, r, "secret '%s'", row->name);
	}
	*ret = m;
	return 0;
}
