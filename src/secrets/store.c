/* SPDX-License-Identifier: Apache-2.0 */
/* See store.h. */
#include "secrets/store.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"
#include "secrets/rekey.h"
#include "secrets/store_key.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STORE_ROUNDS 2 /* when the key is changed while we ask for it */

void store_done(struct store *s)
{
	locked_done(&s->key);
	locked_done(&s->phrase);
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

int store_open_file(const struct store *s, const char *name, struct cordon_error *err)
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

/* What is there now, in place of what was read before. */
static int store_read(struct store *s, struct cordon_error *err)
{
	AUTO_CLOSE int fd = s->dir_fd < 0 ? -ENOENT : store_open_file(s, STORE_FILE, err);
	int r;

	vault_done(&s->vault);
	free(s->bytes);
	s->bytes = NULL;
	s->len = 0;
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

static int store_open_dir(const char *state_dir, bool makes, struct store *ret,
			  struct cordon_error *err)
{
	int r = 0;

	*ret = STORE_NONE;
	ret->dir = strdup(state_dir);
	if (!ret->dir)
		return cordon_nomem(err);
	if (makes)
		r = path_make_private_dir(state_dir, 0700);
	if (r < 0)
		return cordon_fail_leaf(err, r, "state directory '%.200s'", state_dir);
	ret->dir_fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOCTTY);
	if (ret->dir_fd < 0 && (errno != ENOENT || makes))
		return cordon_fail_errno(err, errno, "state directory '%.200s'", state_dir);
	return 0;
}

int store_open(const char *state_dir, struct store *ret, struct cordon_error *err)
{
	int r = store_open_dir(state_dir, /* makes= */ false, ret, err);

	return r < 0 ? r : store_read(ret, err);
}

int store_room(struct store *s, struct cordon_error *err)
{
	int r = s->key.data ? 0 : locked_new(CRYPT_KEY_LEN, LOCKED_STAYS, &s->key);

	return r < 0 ? cordon_fail_leaf(err, r, "memory for the key of the secrets") : 0;
}

/* Is s->key the key, and the file what was written with it? */
static int store_check(struct store *s, struct cordon_error *err)
{
	static const char *const wrong[VAULT_KEY_COUNT] = {
		[VAULT_KEY_FILE] = "'" STORE_KEY_FILE "' is not its key",
		[VAULT_KEY_PASSPHRASE] = "the passphrase is wrong",
		[VAULT_KEY_KEYRING] = "the key in the kernel's keyring is not its key",
	};
	const uint8_t *key = (const uint8_t *)s->key.data;

	if (!vault_is_key(&s->vault, key))
		return cordon_fail(err, CORDON_E_INVALID, "'%.200s/" STORE_FILE "': %s", s->dir,
				   wrong[s->vault.key]);
	if (vault_verify(s->bytes, s->len, key) < 0)
		return store_corrupt(s, "was changed by somebody without its key", err);
	return 0;
}

static int store_unlock_once(struct store *s, struct cordon_error *err)
{
	int r = store_room(s, err);

	if (r == 0)
		r = store_key_find(s, err);
	return r < 0 ? r : store_check(s, err);
}

/* What opens a vault, without what is in it. */
static struct vault store_header(const struct vault *v)
{
	struct vault header = *v;

	header.rows = NULL;
	header.n = header.cap = 0;
	return header;
}

/* Is the file opened as the one that was read before? */
static bool store_opens_alike(const struct vault *a, const struct vault *b)
{
	return a->key == b->key && a->passes == b->passes && a->memory_kb == b->memory_kb &&
	       memcmp(a->salt, b->salt, sizeof(a->salt)) == 0 &&
	       memcmp(a->check, b->check, sizeof(a->check)) == 0;
}

int store_unlock(struct store *s, struct cordon_error *err)
{
	int r = store_unlock_once(s, err);

	/* A reader holds nothing: the store may have got another key since it was read. */
	if (r == CORDON_E_INVALID || r == CORDON_E_NOT_FOUND) {
		struct vault before = store_header(&s->vault);

		if (store_read(s, /* err= */ NULL) == 0 && store_exists(s) &&
		    !store_opens_alike(&before, &s->vault))
			r = store_unlock_once(s, err);
	}
	if (r < 0)
		locked_done(&s->key);
	locked_done(&s->phrase);
	return r;
}

/* The vault as it will be opened: the one that is there, or a new one.  What a person has to say is asked for. */
static int store_prepare(struct store *s, const struct store_want *want, struct cordon_error *err)
{
	int r = store_read(s, err);

	if (r == 0 && !store_exists(s) && !want->may_begin)
		return 0;
	if (r == 0 && store_exists(s) && want->has_kind && want->kind != s->vault.key)
		r = cordon_hint(err,
				cordon_fail(err, CORDON_E_INVALID,
					    "--key: the key of this store comes from: %s",
					    vault_key_names[s->vault.key]),
				"'cordon secret rekey' gives it another one");
	if (r == 0)
		r = store_room(s, err);
	if (r == 0 && !store_exists(s) && vault_init(want->kind, &s->vault) < 0)
		r = cordon_fail(err, CORDON_E_SYSTEM, "random bytes");
	if (r == 0 && s->vault.key == VAULT_KEY_PASSPHRASE)
		r = store_key_phrase(s, /* is_new= */ !store_exists(s), err);
	return r;
}

void store_release(struct store *s)
{
	s->lock_fd = fd_close(s->lock_fd);
}

static int store_changed(const struct store *s, struct cordon_error *err)
{
	return cordon_hint(err,
			   cordon_fail(err, CORDON_E_BUSY,
				       "'%.200s/" STORE_FILE
				       "': its key was changed by somebody else meanwhile",
				       s->dir),
			   "nothing was changed here; try once more");
}

int store_hold(struct store *s, struct cordon_error *err)
{
	struct vault before = store_header(&s->vault);
	int r = store_lock(s, err);

	if (r == 0)
		r = store_read(s, err);
	if (r < 0)
		return r;
	if (!store_exists(s) || !store_opens_alike(&before, &s->vault))
		return store_changed(s, err);
	r = store_check(s, err);
	return r < 0 ? r : store_finish(s, err);
}

/* 1: it is open and held, 0: another one has to be opened than was prepared. */
static int store_round(struct store *s, const struct store_want *want, struct cordon_error *err)
{
	int r = store_prepare(s, want, err);
	struct vault prepared = store_header(&s->vault);
	bool was_there = store_exists(s);

	if (r == 0)
		r = store_lock(s, err);
	if (r == 0)
		r = store_read(s, err);
	if (r < 0)
		return r;
	if (store_exists(s) != was_there ||
	    (was_there && !store_opens_alike(&prepared, &s->vault))) {
		store_release(s);
		return 0;
	}
	if (!was_there && !want->may_begin)
		return 1;
	if (!was_there) {
		s->vault = prepared;
		if (prepared.key != VAULT_KEY_PASSPHRASE)
			r = store_key_make(s, err);
		if (r == 0)
			vault_mark(&s->vault, (const uint8_t *)s->key.data);
		return r < 0 ? r : 1;
	}
	if (prepared.key != VAULT_KEY_PASSPHRASE)
		r = store_key_find(s, err);
	if (r == 0)
		r = store_check(s, err);
	if (r == 0)
		r = store_finish(s, err);
	return r < 0 ? r : 1;
}

int store_open_write(const char *state_dir, const struct store_want *want, struct store *ret,
		     struct cordon_error *err)
{
	int r = store_open_dir(state_dir, /* makes= */ true, ret, err);

	if (r < 0)
		return r;
	for (int i = 0; i < STORE_ROUNDS && r == 0; i++)
		r = store_round(ret, want, err);
	if (r == 0)
		r = store_changed(ret, err);
	locked_done(&ret->phrase);
	if (r < 0)
		locked_done(&ret->key);
	return r < 0 ? r : 0;
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
