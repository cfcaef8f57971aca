/* SPDX-License-Identifier: Apache-2.0 */
/* See rekey.h. */
#include "secrets/rekey.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "secrets/keyring.h"
#include "secrets/passphrase.h"
#include "secrets/store_key.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REKEY_SALT_DIGITS 16 /* that io_write_file_at() ends the name of an unfinished file with */
#define REKEY_KEY_BYTES ((size_t)2 * CRYPT_KEY_LEN + 1)

/* The order of the steps is the order on the disk too. */
static int rekey_sync(const struct store *s, struct cordon_error *err)
{
	return fsync(s->dir_fd) < 0 ? cordon_fail_errno(err, errno, "write '%.200s'", s->dir) : 0;
}

static int rekey_unlink(const struct store *s, const char *name, struct cordon_error *err)
{
	if (unlinkat(s->dir_fd, name, 0) < 0 && errno != ENOENT)
		return cordon_fail_errno(err, errno, "remove '%.200s/%s'", s->dir, name);
	return 0;
}

/* Overwrites a key where it stands.  A disk or file system that writes elsewhere keeps the old bytes: man page. */
static int rekey_wipe(const struct store *s, const char *name, struct cordon_error *err)
{
	static const char nothing[REKEY_KEY_BYTES] = {0};
	AUTO_CLOSE int fd = -1;
	int r = 0;

	if (fchmodat(s->dir_fd, name, 0600, 0) == 0)
		fd = openat(s->dir_fd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		r = -errno;
	if (r == 0)
		r = io_write(fd, nothing, sizeof(nothing), CLOCK_NEVER);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	return r < 0 ? cordon_fail_leaf(err, r, "overwrite '%.200s/%s'", s->dir, name) : 0;
}

/* Does the file hold the key of the store?  What cannot be read does not. */
static bool rekey_is_key(const struct store *s, const char *name)
{
	uint8_t key[CRYPT_KEY_LEN];
	bool is_key = s->vault.key == VAULT_KEY_FILE &&
		      store_key_read(s, name, key, /* err= */ NULL) == 0 &&
		      vault_is_key(&s->vault, key);

	explicit_bzero(key, sizeof(key));
	return is_key;
}

static bool rekey_has(const struct store *s, const char *name, struct stat *ret)
{
	return fstatat(s->dir_fd, name, ret, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Files that a killed writer had not yet given their name.  The lock is ours: nobody is writing one. */
static int rekey_sweep(const struct store *s, struct cordon_error *err)
{
	static const char *const stems[] = {STORE_FILE ".", STORE_KEY_FILE ".", STORE_KEY_NEW "."};
	int fd = openat(s->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int r = 0;

	if (!dir) {
		r = cordon_fail_errno(err, errno, "read '%.200s'", s->dir);
		(void)fd_close(fd);
		return r;
	}
	while (r == 0 && (e = readdir(dir)))
		for (size_t i = 0; r == 0 && i < ARRAY_LEN(stems); i++) {
			size_t len = strlen(stems[i]);

			if (strncmp(e->d_name, stems[i], len) != 0 ||
			    strlen(e->d_name) != len + REKEY_SALT_DIGITS ||
			    strspn(e->d_name + len, "0123456789abcdef") != REKEY_SALT_DIGITS)
				continue;
			if (i > 0)
				r = rekey_wipe(s, e->d_name, err);
			if (r == 0)
				r = rekey_unlink(s, e->d_name, err);
		}
	(void)closedir(dir); /* was only read */
	return r;
}

/* The old key is nobody's any more. */
static int rekey_forget_old(const struct store *s, struct cordon_error *err)
{
	struct stat old, now;
	int r;

	if (!rekey_has(s, STORE_KEY_OLD, &old))
		return 0;
	/* Killed before the store was replaced: it is the key, under a second name. */
	if (rekey_is_key(s, STORE_KEY_OLD))
		return rekey_unlink(s, STORE_KEY_OLD, err);
	r = rekey_wipe(s, STORE_KEY_OLD, err);
	if (r == 0 && rekey_has(s, STORE_KEY_FILE, &now) && now.st_dev == old.st_dev &&
	    now.st_ino == old.st_ino)
		r = rekey_unlink(s, STORE_KEY_FILE, err);
	return r < 0 ? r : rekey_unlink(s, STORE_KEY_OLD, err);
}

int store_finish(struct store *s, struct cordon_error *err)
{
	struct stat st;
	int r = 0;

	if (!rekey_has(s, STORE_KEY_NEW, &st) && !rekey_has(s, STORE_KEY_OLD, &st))
		return rekey_sweep(s, err);
	if (rekey_is_key(s, STORE_KEY_NEW)) {
		if (renameat(s->dir_fd, STORE_KEY_NEW, s->dir_fd, STORE_KEY_FILE) < 0)
			r = cordon_fail_errno(err, errno, "rename '%.200s/" STORE_KEY_NEW "'",
					      s->dir);
		if (r == 0)
			r = rekey_sync(s, err);
	} else {
		r = rekey_wipe(s, STORE_KEY_NEW, err);
		if (r == 0)
			r = rekey_unlink(s, STORE_KEY_NEW, err);
	}
	if (r == 0)
		r = rekey_forget_old(s, err);
	return r < 0 ? r : rekey_sweep(s, err);
}

/* The new vault and its key, which nothing on the disk knows yet. */
struct rekey {
	struct vault vault;
	struct locked key;
	struct locked phrase;
	size_t phrase_len;
};

static void rekey_done(struct rekey *k)
{
	vault_done(&k->vault);
	locked_done(&k->key);
	locked_done(&k->phrase);
}

/* All that can be done without the store. */
static int rekey_prepare(struct rekey *k, enum vault_key kind, struct cordon_error *err)
{
	int r = vault_init(kind, &k->vault);

	if (r == 0)
		r = locked_new(CRYPT_KEY_LEN, LOCKED_STAYS, &k->key);
	if (r < 0)
		return cordon_fail_leaf(err, r, "make a key");
	if (kind == VAULT_KEY_PASSPHRASE) {
		r = passphrase_get_new(&k->phrase, &k->phrase_len, err);
		if (r < 0)
			return r;
		r = crypt_passphrase(k->phrase.data, k->phrase_len, k->vault.salt, k->vault.passes,
				     k->vault.memory_kb, (uint8_t *)k->key.data);
	} else {
		r = crypt_random(k->key.data, CRYPT_KEY_LEN);
	}
	locked_done(&k->phrase);
	if (r < 0)
		return cordon_fail_leaf(err, r, "make a key");
	vault_mark(&k->vault, (const uint8_t *)k->key.data);
	return 0;
}

/* What has to be there before the store is replaced. */
static int rekey_before(const struct store *s, const struct rekey *k, struct cordon_error *err)
{
	const uint8_t *key = (const uint8_t *)k->key.data;
	int r = 0;

	if (s->vault.key == VAULT_KEY_FILE &&
	    linkat(s->dir_fd, STORE_KEY_FILE, s->dir_fd, STORE_KEY_OLD, 0) < 0)
		return cordon_fail_errno(err, errno, "link '%.200s/" STORE_KEY_OLD "'", s->dir);
	if (k->vault.key == VAULT_KEY_FILE)
		r = store_key_write(s, STORE_KEY_NEW, key, err);
	if (k->vault.key == VAULT_KEY_KEYRING) {
		r = keyring_put(k->vault.salt, key);
		r = r < 0 ? store_key_keyring_error(r, err) : 0;
	}
	return r < 0 ? r : rekey_sync(s, err);
}

/* The store was not replaced: nobody needs the new key.  One in a file is taken away by store_finish(). */
static void rekey_forget_new(const struct vault *vault, const struct locked *key)
{
	if (vault->key == VAULT_KEY_KEYRING)
		keyring_remove(vault->salt, (const uint8_t *)key->data);
}

/* s has the new vault and key.  old is the key that it had, with its salt if it was in the keyring. */
static int rekey_replace(struct store *s, const uint8_t *old_salt, const struct locked *old,
			 struct cordon_error *err)
{
	int r = store_save(s, err);

	if (r < 0) {
		rekey_forget_new(&s->vault, &s->key);
		return r;
	}
	r = rekey_sync(s, err);
	if (r < 0)
		return r; /* either of them may be the one that is on the disk */
	if (old_salt)
		keyring_remove(old_salt, (const uint8_t *)old->data);
	return store_finish(s, err);
}

static int rekey_commit(struct store *s, struct rekey *k, struct cordon_error *err)
{
	uint8_t old_salt[CRYPT_SALT_LEN];
	bool was_keyring = s->vault.key == VAULT_KEY_KEYRING;
	struct locked old;
	int r = vault_copy(&s->vault, (const uint8_t *)s->key.data, &k->vault,
			   (const uint8_t *)k->key.data);

	if (r < 0)
		return cordon_fail_leaf(err, r, "encrypt the values anew");
	memcpy(old_salt, s->vault.salt, sizeof(old_salt));
	r = rekey_before(s, k, err);
	if (r < 0) {
		rekey_forget_new(&k->vault, &k->key);
		(void)!store_finish(s,
				    /* err= */ NULL); /* what was put there is taken away again */
		return r;
	}
	vault_done(&s->vault);
	old = s->key;
	s->vault = k->vault;
	s->key = k->key;
	k->vault = (struct vault){0};
	k->key = (struct locked){0};
	r = rekey_replace(s, was_keyring ? old_salt : NULL, &old, err);
	locked_done(&old);
	return r;
}

int store_rekey(struct store *s, enum vault_key kind, struct cordon_error *err)
{
	struct rekey k = {0};
	int r;

	if (!store_exists(s))
		return cordon_hint(
			err, cordon_fail(err, CORDON_E_NOT_FOUND, "there is no store of secrets"),
			"'cordon secret set --key KIND' begins one");
	store_release(s); /* while a person says the new passphrase */
	r = rekey_prepare(&k, kind, err);
	if (r == 0)
		r = store_hold(s, err);
	if (r == 0)
		r = rekey_commit(s, &k, err);
	rekey_done(&k);
	return r;
}
