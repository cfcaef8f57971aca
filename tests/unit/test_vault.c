/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store of secrets: published vectors, every bit flipped, every length cut, values that change places, and the
 * files under several writers.
 */
#include "core_fixture.h"

#include "base/limits.h"
#include "secrets/grant.h"
#include "secrets/keyring.h"
#include "secrets/rekey.h"

#include <dirent.h>
#include <errno.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define WRITERS 4
#define WRITES 5

static size_t unhex(const char *text, uint8_t *ret)
{
	size_t n = 0;

	for (; text[0] && text[1]; text += 2) {
		static const char digits[] = "0123456789abcdef";
		const char *high = strchr(digits, text[0]), *low = strchr(digits, text[1]);

		assert_true(high && low);
		ret[n++] = (uint8_t)((high - digits) << 4 | (low - digits));
	}
	return n;
}

/* The GCM specification, test case 16; RFC 2104 with a key of our length. */
static void test_vectors(void **state)
{
	uint8_t key[32], plain[64], head[32], want[64], want_tag[16], out[64], mac[32],
		want_mac[32];
	struct crypt_sealed sealed;
	size_t n, head_n;

	(void)state;
	(void)unhex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", key);
	n = unhex(
		"d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf"
		"0e2449a6b525b16aedf5aa0de657ba637b39",
		plain);
	head_n = unhex("feedfacedeadbeeffeedfacedeadbeefabaddad2", head);
	(void)unhex(
		"522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b"
		"08b1056828838c5f61e6393ba7a0abcc9f662",
		want);
	(void)unhex("76fc6ece0f4e1768cddf8853bb2d551b", want_tag);
	(void)unhex("cafebabefacedbaddecaf888", sealed.nonce);
	crypt_seal(key, head, head_n, plain, n, out, &sealed);
	assert_memory_equal(out, want, n);
	assert_memory_equal(sealed.tag, want_tag, sizeof(want_tag));
	memset(out, 0xff, sizeof(out));
	assert_int_equal(crypt_open(key, head, head_n, want, n, &sealed, out), 0);
	assert_memory_equal(out, plain, n);
	head[0] ^= 1;
	assert_int_equal(crypt_open(key, head, head_n, want, n, &sealed, out), -EBADMSG);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(out[i], 0);

	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)i;
	(void)unhex("099805f4ac310786968565c098db515cc50862b420ae31e20238312344bed36a", want_mac);
	crypt_mac(key, "what do ya want for nothing?", 28, mac);
	assert_memory_equal(mac, want_mac, sizeof(mac));
}

static void test_passphrase(void **state)
{
	uint8_t salt[CRYPT_SALT_LEN] = {1}, a[32], b[32];

	(void)state;
	assert_int_equal(crypt_passphrase("correct horse", 13, salt, 1, 64, a), 0);
	assert_int_equal(crypt_passphrase("correct horse", 13, salt, 1, 64, b), 0);
	assert_memory_equal(a, b, 32);
	assert_int_equal(crypt_passphrase("correct horse", 12, salt, 1, 64, b), 0);
	assert_memory_not_equal(a, b, 32);
	salt[0] = 2;
	assert_int_equal(crypt_passphrase("correct horse", 13, salt, 1, 64, b), 0);
	assert_memory_not_equal(a, b, 32);
	assert_int_equal(crypt_passphrase("x", 1, salt, 0, 64, b), -EINVAL);
}

static const uint8_t test_key[CRYPT_KEY_LEN] = "a key of thirty-two bytes, or so";

static void vault_fill(struct vault *v)
{
	struct vault_binding bound = {0}, none = {0};

	assert_int_equal(vault_init(VAULT_KEY_FILE, v), 0);
	vault_mark(v, test_key);
	assert_int_equal(strv_add(&bound.hosts, "api.example.org"), 0);
	assert_int_equal(strv_add(&bound.hosts, "*.example.net:8443"), 0);
	assert_int_equal(strv_add(&bound.methods, "GET"), 0);
	assert_int_equal(strv_add(&bound.paths, "/v1/*"), 0);
	assert_int_equal(
		vault_put(v, test_key, "TOKEN", 1700000000000, &bound, "value of token", 14), 0);
	assert_int_equal(vault_put(v, test_key, "DB", 5, &none, "value of db...", 14), 0);
	assert_int_equal(vault_put(v, test_key, "binary", 6, &none, "a\0b", 3), 0);
}

static void vault_expect(const struct vault *v, const char *name, const char *value, size_t len)
{
	const struct vault_row *row = vault_find(v, name);
	char out[64] = "";

	assert_non_null(row);
	assert_int_equal(row->len, len);
	assert_int_equal(vault_open(v, test_key, row, out), 0);
	assert_memory_equal(out, value, len);
}

static void test_round(void **state)
{
	struct buf bytes = BUF_INIT(LIMIT_SECRETS_FILE);
	struct vault v, w;

	(void)state;
	vault_fill(&v);
	vault_write(&v, test_key, &bytes);
	assert_int_equal(buf_error(&bytes), 0);
	assert_null(memmem(bytes.data, bytes.len, "value of", 8));
	assert_int_equal(vault_read(bytes.data, bytes.len, &w), 0);
	assert_true(vault_is_key(&w, test_key));
	assert_int_equal(vault_verify(bytes.data, bytes.len, test_key), 0);
	assert_int_equal(w.n, 3);
	assert_string_equal(w.rows[0].name, "DB");
	vault_expect(&w, "TOKEN", "value of token", 14);
	vault_expect(&w, "DB", "value of db...", 14);
	vault_expect(&w, "binary", "a\0b", 3);
	assert_string_equal(vault_find(&w, "TOKEN")->binding.hosts.v[1], "*.example.net:8443");
	assert_string_equal(vault_find(&w, "TOKEN")->binding.paths.v[0], "/v1/*");
	assert_true(vault_remove(&w, "DB"));
	assert_false(vault_remove(&w, "DB"));
	assert_null(vault_find(&w, "DB"));
	vault_expect(&w, "TOKEN", "value of token", 14);
	buf_done(&bytes);
	vault_done(&v);
	vault_done(&w);
}

/* Is a damaged file found out before a value is used? */
static bool vault_notices(const char *bytes, size_t len)
{
	struct vault v;
	bool noticed;

	if (vault_read(bytes, len, &v) < 0)
		return true;
	noticed = !vault_is_key(&v, test_key) || vault_verify(bytes, len, test_key) < 0;
	vault_done(&v);
	return noticed;
}

static void test_tampered(void **state)
{
	struct buf bytes = BUF_INIT(LIMIT_SECRETS_FILE);
	AUTO_FREE char *copy = NULL;
	struct vault v;

	(void)state;
	vault_fill(&v);
	vault_write(&v, test_key, &bytes);
	assert_false(vault_notices(bytes.data, bytes.len));
	for (size_t i = 0; i < bytes.len; i++)
		for (int bit = 0; bit < 8; bit++) {
			bytes.data[i] ^= (char)(1 << bit);
			assert_true(vault_notices(bytes.data, bytes.len));
			bytes.data[i] ^= (char)(1 << bit);
		}
	/* A power cut may leave any beginning of it, or zeroes behind. */
	copy = calloc(1, bytes.len);
	assert_non_null(copy);
	for (size_t n = 0; n < bytes.len; n++) {
		struct vault w;

		if (n > 0)
			copy[n - 1] = bytes.data[n - 1];
		assert_true(vault_read(bytes.data, n, &w) < 0);
		assert_true(memcmp(copy, bytes.data, bytes.len) == 0 ||
			    vault_notices(copy, bytes.len));
	}
	buf_char(&bytes, 'x');
	assert_true(vault_notices(bytes.data, bytes.len));
	buf_done(&bytes);
	vault_done(&v);
}

/* Who has write access to the file but not the key cannot make one name give the value of another. */
static void test_swapped(void **state)
{
	struct vault v, other;
	struct vault_row *token, *db;
	uint8_t *cipher;
	struct crypt_sealed sealed;
	char out[64];

	(void)state;
	vault_fill(&v);
	vault_fill(&other);
	db = &v.rows[0];
	token = &v.rows[1];
	assert_string_equal(token->name, "TOKEN");
	assert_int_equal(token->len, db->len);
	cipher = token->cipher;
	sealed = token->sealed;
	token->cipher = db->cipher;
	token->sealed = db->sealed;
	db->cipher = cipher;
	db->sealed = sealed;
	assert_int_equal(vault_open(&v, test_key, token, out), -EBADMSG);
	assert_int_equal(vault_open(&v, test_key, db, out), -EBADMSG);
	/* the same row in another store with the same key */
	assert_int_equal(vault_open(&v, test_key, &other.rows[1], out), -EBADMSG);
	assert_int_equal(vault_open(&other, test_key, &other.rows[1], out), 0);
	/* another binding, another time */
	other.rows[1].binding.hosts.v[0][0] ^= 1;
	assert_int_equal(vault_open(&other, test_key, &other.rows[1], out), -EBADMSG);
	other.rows[1].binding.hosts.v[0][0] ^= 1;
	other.rows[1].set_ms++;
	assert_int_equal(vault_open(&other, test_key, &other.rows[1], out), -EBADMSG);
	vault_done(&v);
	vault_done(&other);
}

static void test_nonces(void **state)
{
	struct vault_binding none = {0};
	struct vault v;
	struct crypt_sealed first;

	(void)state;
	vault_fill(&v);
	first = vault_find(&v, "DB")->sealed;
	assert_int_equal(vault_put(&v, test_key, "DB", 5, &none, "value of db...", 14), 0);
	assert_memory_not_equal(&first, &vault_find(&v, "DB")->sealed, sizeof(first));
	vault_done(&v);
}

static void test_limits(void **state)
{
	AUTO_FREE char *large = calloc(1, LIMIT_SECRET_BYTES + 1);
	struct vault_binding none = {0};
	struct vault v;

	(void)state;
	vault_fill(&v);
	assert_int_equal(vault_put(&v, test_key, "L", 0, &none, large, LIMIT_SECRET_BYTES + 1),
			 -E2BIG);
	for (int i = 0; v.n < LIMIT_SECRETS; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(vault_put(&v, test_key, name, 0, &none, "x", 1), 0);
	}
	assert_int_equal(vault_put(&v, test_key, "more", 0, &none, "x", 1), -E2BIG);
	assert_int_equal(vault_put(&v, test_key, "TOKEN", 0, &none, "y", 1), 0);
	vault_expect(&v, "TOKEN", "y", 1);
	for (size_t i = 1; i < v.n; i++)
		assert_true(strcmp(v.rows[i - 1].name, v.rows[i].name) < 0);
	vault_done(&v);
	assert_true(vault_is_name("A.b-c_9"));
	assert_false(vault_is_name(""));
	assert_false(vault_is_name("9a"));
	assert_false(vault_is_name("../x"));
	assert_false(vault_is_name("a/b"));
	assert_false(vault_is_name("a=b"));
}

static int store_add(const char *dir, const char *name, const char *value, struct cordon_error *err)
{
	struct vault_binding none = {0};
	struct store s;
	const struct store_want want = {.may_begin = true};
	int r = store_open_write(dir, &want, &s, err);

	if (r == 0)
		r = vault_put(&s.vault, (const uint8_t *)s.key.data, name, 0, &none, value,
			      strlen(value));
	if (r == 0)
		r = store_save(&s, err);
	store_done(&s);
	return r;
}

static void test_writers(void **state)
{
	const char *dir = fixture_path("writers");
	struct store s;

	(void)state;
	for (int w = 0; w < WRITERS; w++)
		if (fork() == 0) {
			for (int i = 0; i < WRITES; i++) {
				char name[32];

				(void)snprintf(name, sizeof(name), "w%d_%d", w, i);
				if (store_add(dir, name, name, NULL) < 0)
					_exit(1);
			}
			_exit(0);
		}
	for (int w = 0; w < WRITERS; w++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(store_open(dir, &s, NULL), 0);
	assert_int_equal(store_unlock(&s, NULL), 0);
	assert_int_equal(s.vault.n, WRITERS * WRITES);
	for (size_t i = 0; i < s.vault.n; i++) {
		struct locked value;

		assert_int_equal(store_value(&s, &s.vault.rows[i], 0, LOCKED_STAYS, &value, NULL),
				 0);
		assert_string_equal(value.data, s.vault.rows[i].name);
		locked_done(&value);
	}
	store_done(&s);
}

/* Opens and unlocks; gives the error's message. */
static int store_try(const char *dir, struct cordon_error *err)
{
	struct store s;
	int r = store_open(dir, &s, err);

	if (r == 0)
		r = store_unlock(&s, err);
	store_done(&s);
	return r;
}

static void test_files(void **state)
{
	char db[1024], key[1024], dir[1024];
	struct cordon_error err = {0};
	struct stat st;

	(void)state;
	(void)snprintf(dir, sizeof(dir), "%s", fixture_path("files"));
	(void)snprintf(db, sizeof(db), "%s", fixture_path("files/secrets.db"));
	(void)snprintf(key, sizeof(key), "%s", fixture_path("files/secrets.key"));
	assert_int_equal(store_add(dir, "A", "x", &err), 0);
	assert_int_equal(stat(db, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(key, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0400);
	assert_int_equal(store_try(dir, &err), 0);

	assert_int_equal(chmod(db, 0640), 0);
	assert_int_equal(store_try(dir, &err), CORDON_E_INVALID);
	assert_non_null(strstr(err.message, "open to others"));
	assert_int_equal(chmod(db, 0600), 0);

	if (geteuid() == 0) {
		assert_int_equal(chown(db, 12345, 12345), 0);
		assert_int_equal(store_try(dir, &err), CORDON_E_INVALID);
		assert_non_null(strstr(err.message, "another user"));
		assert_int_equal(chown(db, 0, 0), 0);
	}

	/* another store's key */
	assert_int_equal(store_add(fixture_path("others"), "A", "x", &err), 0);
	assert_int_equal(rename(key, fixture_path("files/kept")), 0);
	assert_int_equal(store_try(dir, &err), CORDON_E_NOT_FOUND);
	assert_int_equal(store_add(dir, "B", "x", &err), CORDON_E_NOT_FOUND);
	assert_int_equal(rename(fixture_path("others/secrets.key"), key), 0);
	assert_int_equal(store_try(dir, &err), CORDON_E_INVALID);
	assert_non_null(strstr(err.message, "not its key"));
	assert_int_equal(store_add(dir, "B", "x", &err), CORDON_E_INVALID);
	assert_int_equal(rename(fixture_path("files/kept"), key), 0);
	assert_int_equal(store_try(dir, &err), 0);

	/* through a link: somebody else's file under our name */
	assert_int_equal(rename(db, fixture_path("files/kept")), 0);
	assert_int_equal(symlink("kept", db), 0);
	assert_true(store_try(dir, &err) < 0);
	assert_int_equal(unlink(db), 0);
	assert_int_equal(rename(fixture_path("files/kept"), db), 0);

	assert_int_equal(stat(db, &st), 0);
	assert_int_equal(truncate(db, st.st_size - 1), 0);
	assert_int_equal(store_try(dir, &err), CORDON_E_CORRUPT);
	/* and what is damaged is not written over */
	assert_int_equal(store_add(dir, "B", "x", &err), CORDON_E_CORRUPT);
	assert_int_equal(stat(db, &st), 0);
	assert_true(st.st_size > 0);
}

static int store_rekey_at(const char *dir, enum vault_key kind, struct cordon_error *err)
{
	const struct store_want want = {0};
	struct store s;
	int r = store_open_write(dir, &want, &s, err);

	if (r == 0)
		r = store_rekey(&s, kind, err);
	store_done(&s);
	return r;
}

/* What is there, opened by whatever key is there; gives the key. */
static void store_expect(const char *dir, const char *value, uint8_t *ret_key)
{
	struct cordon_error err = {0};
	struct locked got;
	struct store s;
	int r = store_open(dir, &s, &err);

	if (r == 0)
		r = store_unlock(&s, &err);
	if (r < 0)
		fail_msg("%s", err.message);
	assert_int_equal(s.vault.n, 2);
	assert_string_equal(s.vault.rows[0].binding.hosts.v[0], "a.example");
	assert_int_equal(store_value(&s, &s.vault.rows[0], 0, LOCKED_STAYS, &got, NULL), 0);
	assert_string_equal(got.data, value);
	locked_done(&got);
	memcpy(ret_key, s.key.data, CRYPT_KEY_LEN);
	store_done(&s);
}

/* Nothing but what belongs to a store, and the key in no file. */
static void store_expect_clean(const char *dir, const uint8_t *old_key)
{
	DIR *d = opendir(dir);
	char hex[2 * CRYPT_KEY_LEN + 1];
	struct dirent *e;

	assert_non_null(d);
	for (size_t i = 0; i < CRYPT_KEY_LEN; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", old_key[i]);
	while ((e = readdir(d))) {
		char path[2048], text[200] = "";
		FILE *f;

		if (e->d_name[0] == '.')
			continue;
		if (strcmp(e->d_name, STORE_FILE) != 0 && strcmp(e->d_name, STORE_KEY_FILE) != 0 &&
		    strcmp(e->d_name, STORE_LOCK_FILE) != 0)
			fail_msg("'%s' was left", e->d_name);
		(void)snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		f = fopen(path, "re");
		assert_non_null(f);
		(void)!fread(text, 1, sizeof(text) - 1, f);
		assert_null(strstr(text, hex));
		(void)fclose(f);
	}
	(void)closedir(d);
}

static void store_fill(const char *dir)
{
	const struct store_want want = {.may_begin = true};
	struct vault_binding binding = {0}, none = {0};
	struct store s;

	assert_int_equal(store_open_write(dir, &want, &s, NULL), 0);
	assert_int_equal(strv_add(&binding.hosts, "a.example"), 0);
	assert_int_equal(vault_put(&s.vault, (const uint8_t *)s.key.data, "A", 7, &binding,
				   "the value", 9),
			 0);
	assert_int_equal(vault_put(&s.vault, (const uint8_t *)s.key.data, "B", 8, &none, "x", 1),
			 0);
	assert_int_equal(store_save(&s, NULL), 0);
	store_done(&s);
}

/* Gives the store another key in a child that is killed when it is about to make its n-th system call.  False: it made
 * fewer, and ended well. */
static bool store_rekey_killed(const char *dir, enum vault_key kind, int n)
{
	pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 || raise(SIGSTOP) != 0)
			_exit(2);
		_exit(store_rekey_at(dir, kind, NULL) < 0 ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (int i = 0; i < 2 * n - 1 && WIFSTOPPED(status); i++) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	if (WIFEXITED(status)) {
		assert_int_equal(WEXITSTATUS(status), 0);
		return false;
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	return true;
}

static void rekey_killed_everywhere(const char *dir, enum vault_key kind)
{
	uint8_t before[CRYPT_KEY_LEN], after[CRYPT_KEY_LEN], last[CRYPT_KEY_LEN];
	int n_old = 0, n_new = 0;
	const struct store_want want = {0};

	for (int n = 1; n < 5000; n++) {
		struct store s;
		bool is_killed;

		store_expect(dir, "the value", before);
		is_killed = store_rekey_killed(dir, kind, n);
		store_expect(dir, "the value", after);
		if (memcmp(before, after, sizeof(before)) == 0)
			n_old++;
		else
			n_new++;
		/* And the next writer does what is left to do. */
		assert_int_equal(store_open_write(dir, &want, &s, NULL), 0);
		store_done(&s);
		store_expect(dir, "the value", last);
		assert_memory_equal(after, last, sizeof(last));
		if (memcmp(before, after, sizeof(before)) != 0)
			store_expect_clean(dir, before);
		if (!is_killed)
			break;
	}
	/* The kills fell on both sides of the step that counts. */
	assert_true(n_old > 10);
	assert_true(n_new > 3);
}

static void test_rekey(void **state)
{
	char dir[1024];
	uint8_t before[CRYPT_KEY_LEN], after[CRYPT_KEY_LEN];
	struct cordon_error err = {0};

	(void)state;
	(void)snprintf(dir, sizeof(dir), "%s", fixture_path("rekey"));
	assert_int_equal(store_rekey_at(dir, VAULT_KEY_FILE, &err), CORDON_E_NOT_FOUND);
	store_fill(dir);
	store_expect(dir, "the value", before);
	if (store_rekey_at(dir, VAULT_KEY_FILE, &err) < 0)
		fail_msg("%s", err.message);
	store_expect(dir, "the value", after);
	assert_memory_not_equal(before, after, sizeof(before));
	store_expect_clean(dir, before);
}

static void test_rekey_killed(void **state)
{
	char dir[1024];

	(void)state;
	(void)snprintf(dir, sizeof(dir), "%s", fixture_path("killed"));
	store_fill(dir);
	rekey_killed_everywhere(dir, VAULT_KEY_FILE);
}

static void need_keyring(const uint8_t *salt, uint8_t *key)
{
	if (keyring_put(salt, key) == 0 && keyring_get(salt, key) == 0)
		return;
	print_message("# skip: no keyring of the kernel here\n");
	skip();
}

static void test_rekey_keyring(void **state)
{
	uint8_t salt[CRYPT_SALT_LEN] = {0}, key[CRYPT_KEY_LEN] = {1}, before[CRYPT_KEY_LEN];
	char dir[1024];
	struct store s;

	(void)state;
	(void)snprintf(dir, sizeof(dir), "%s", fixture_path("keyring"));
	need_keyring(salt, key);
	keyring_remove(salt, key);
	assert_int_equal(keyring_get(salt, key), -ENOKEY);
	store_fill(dir);
	store_expect(dir, "the value", before);
	assert_int_equal(store_rekey_at(dir, VAULT_KEY_KEYRING, NULL), 0);
	store_expect_clean(dir, before);
	assert_true(access(fixture_path("keyring/secrets.key"), F_OK) < 0);
	rekey_killed_everywhere(dir, VAULT_KEY_KEYRING);
	rekey_killed_everywhere(dir, VAULT_KEY_FILE);
	store_fill(dir);
	assert_int_equal(store_rekey_at(dir, VAULT_KEY_KEYRING, NULL), 0);
	assert_int_equal(store_open(dir, &s, NULL), 0);
	memcpy(salt, s.vault.salt, sizeof(salt));
	store_done(&s);
	assert_int_equal(keyring_get(salt, key), 0);
	keyring_remove(salt, key);
}

static long keyring_plain(void)
{
	return syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", KEYRING_NAME, 0);
}

static long keyring_count(void)
{
	int32_t ids[4096];

	return syscall(SYS_keyctl, KEYCTL_READ, KEY_SPEC_USER_KEYRING, ids, sizeof(ids), 0);
}

/* The only store's key may stand under the plain name: it goes with the store's own, and another store's stays. */
static void test_rekey_plain_name(void **state)
{
	static const uint8_t others[CRYPT_KEY_LEN] = {7};
	uint8_t salt[CRYPT_SALT_LEN] = {0}, key[CRYPT_KEY_LEN] = {1};
	char dir[1024];

	(void)state;
	(void)snprintf(dir, sizeof(dir), "%s", fixture_path("plain"));
	need_keyring(salt, key);
	keyring_remove(salt, key);
	if (keyring_plain() >= 0) {
		print_message("# skip: the keyring holds somebody's key\n");
		skip();
	}
	store_fill(dir);
	for (unsigned is_ours = 0; is_ours < 2; is_ours++) {
		struct store s;

		assert_int_equal(store_rekey_at(dir, VAULT_KEY_KEYRING, NULL), 0);
		assert_int_equal(store_open(dir, &s, NULL), 0);
		memcpy(salt, s.vault.salt, sizeof(salt));
		store_done(&s);
		assert_int_equal(keyring_get(salt, key), 0);
		if (is_ours)
			keyring_remove(salt, key);
		assert_true(syscall(SYS_add_key, "user", KEYRING_NAME, is_ours ? key : others,
				    sizeof(key), KEY_SPEC_USER_KEYRING) >= 0);
		assert_int_equal(store_rekey_at(dir, VAULT_KEY_FILE, NULL), 0);
		assert_int_equal(keyring_plain() >= 0, !is_ours);
		keyring_remove(salt, others);
		assert_true(keyring_plain() < 0);
	}
}

/* A new key that no store has does not stay. */
static void test_rekey_keyring_refused(void **state)
{
	uint8_t salt[CRYPT_SALT_LEN] = {0}, key[CRYPT_KEY_LEN] = {1};
	struct rlimit was, none;
	void (*on_limit)(int);
	char dir[1024];
	long before;
	int r;

	(void)state;
	(void)snprintf(dir, sizeof(dir), "%s", fixture_path("refused"));
	need_keyring(salt, key);
	keyring_remove(salt, key);
	store_fill(dir);
	before = keyring_count();
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	none = (struct rlimit){0, was.rlim_max};
	on_limit = signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	r = store_rekey_at(dir, VAULT_KEY_KEYRING, NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	(void)signal(SIGXFSZ, on_limit);
	assert_true(r < 0);
	assert_int_equal(keyring_count(), before);
	store_expect(dir, "the value", key);
}

static void test_locked(void **state)
{
	struct locked m;
	int fds[2];
	size_t len;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "hello", 5), 5);
	(void)close(fds[1]);
	assert_int_equal(locked_read(fds[0], 5, &m, &len), 0);
	assert_int_equal(len, 5);
	assert_string_equal(m.data, "hello");
	(void)close(fds[0]);
	locked_done(&m);
	assert_null(m.data);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "hello!", 6), 6);
	(void)close(fds[1]);
	assert_int_equal(locked_read(fds[0], 5, &m, &len), -EFBIG);
	(void)close(fds[0]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_passphrase),
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_tampered),
		cmocka_unit_test(test_swapped),
		cmocka_unit_test(test_nonces),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_writers),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_rekey),
		cmocka_unit_test(test_rekey_killed),
		cmocka_unit_test(test_rekey_keyring),
		cmocka_unit_test(test_rekey_plain_name),
		cmocka_unit_test(test_rekey_keyring_refused),
		cmocka_unit_test(test_locked),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
