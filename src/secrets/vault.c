/* SPDX-License-Identifier: Apache-2.0 */
/* See vault.h. */
#include "secrets/vault.h"

#include "base/limits.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define VAULT_MAGIC "cordon-secrets\0\1"
#define VAULT_MAGIC_LEN 16
#define VAULT_PASSES 3
#define VAULT_MEMORY_KB (64 * 1024)

static_assert(sizeof(VAULT_MAGIC) == VAULT_MAGIC_LEN + 1, "all of it");

const char *const vault_key_names[VAULT_KEY_COUNT + 1] = {"file", "passphrase", "keyring", NULL};

void vault_binding_done(struct vault_binding *b)
{
	strv_done(&b->hosts);
	strv_done(&b->methods);
	strv_done(&b->paths);
}

static void vault_row_done(struct vault_row *row)
{
	free(row->name);
	free(row->cipher);
	vault_binding_done(&row->binding);
	*row = (struct vault_row){0};
}

void vault_done(struct vault *v)
{
	for (size_t i = 0; i < v->n; i++)
		vault_row_done(&v->rows[i]);
	free(v->rows);
	*v = (struct vault){0};
}

int vault_init(enum vault_key key, struct vault *ret)
{
	struct vault v = {.key = key};
	int r = crypt_random(v.salt, sizeof(v.salt));

	if (r < 0)
		return r;
	if (key == VAULT_KEY_PASSPHRASE) {
		v.passes = VAULT_PASSES;
		v.memory_kb = VAULT_MEMORY_KB;
	}
	*ret = v;
	return 0;
}

static void vault_check(const struct vault *v, const uint8_t *key, uint8_t ret[CRYPT_MAC_LEN])
{
	uint8_t sub[CRYPT_KEY_LEN];

	crypt_subkey(key, "cordon secrets: check", sub);
	crypt_mac(sub, v->salt, sizeof(v->salt), ret);
	explicit_bzero(sub, sizeof(sub));
}

void vault_mark(struct vault *v, const uint8_t key[static CRYPT_KEY_LEN])
{
	uint8_t mac[CRYPT_MAC_LEN];

	vault_check(v, key, mac);
	memcpy(v->check, mac, sizeof(v->check));
}

bool vault_is_key(const struct vault *v, const uint8_t key[static CRYPT_KEY_LEN])
{
	uint8_t mac[CRYPT_MAC_LEN];

	vault_check(v, key, mac);
	return crypt_is_equal(v->check, mac, sizeof(v->check));
}

bool vault_is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	size_t n = strlen(name);

	return n > 0 && n <= LIMIT_SECRET_NAME && strchr(letters, name[0]) &&
	       name[strspn(name,
			   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")] ==
		       '\0';
}

/* What is left to read.  The first error sticks. */
struct vault_view {
	const uint8_t *at;
	size_t left;
	int error;
};

static const void *view_bytes(struct vault_view *in, size_t n)
{
	const void *p = in->at;

	if (in->error == 0 && n > in->left)
		in->error = -EINVAL;
	if (in->error < 0)
		return NULL;
	in->at += n;
	in->left -= n;
	return p;
}

static uint64_t view_number(struct vault_view *in, size_t n)
{
	const uint8_t *p = view_bytes(in, n);
	uint64_t v = 0;

	for (size_t i = n; p && i > 0; i--)
		v = v << 8 | p[i - 1];
	return v;
}

static void view_copy(struct vault_view *in, void *ret, size_t n)
{
	const void *p = view_bytes(in, n);

	if (p)
		memcpy(ret, p, n);
}

/* A string of its own with a limit; no NUL in it. */
static char *view_string(struct vault_view *in, size_t max)
{
	size_t n = (size_t)view_number(in, 2);
	const char *p = view_bytes(in, n);
	char *copy;

	if (!p)
		return NULL;
	if (n == 0 || n > max || memchr(p, '\0', n)) {
		in->error = n > max ? -E2BIG : -EINVAL;
		return NULL;
	}
	copy = strndup(p, n);
	if (!copy)
		in->error = -ENOMEM;
	return copy;
}

static void view_list(struct vault_view *in, struct strv *ret)
{
	size_t n = (size_t)view_number(in, 2);

	if (n > LIMIT_SECRET_BINDINGS)
		in->error = in->error ? in->error : -E2BIG;
	for (size_t i = 0; i < n && in->error == 0; i++) {
		AUTO_FREE char *s = view_string(in, LIMIT_SECRET_HEAD);

		if (s && in->error == 0)
			in->error = strv_add(ret, s);
	}
}

static void view_row(struct vault_view *in, struct vault_row *row)
{
	size_t head_len = (size_t)view_number(in, 4);
	struct vault_view head = {.left = head_len};

	head.at = view_bytes(in, head_len);
	if (in->error == 0 && head_len > LIMIT_SECRET_HEAD)
		in->error = -E2BIG;
	if (in->error < 0)
		return;
	row->name = view_string(&head, LIMIT_SECRET_NAME);
	row->set_ms = (int64_t)view_number(&head, 8);
	view_list(&head, &row->binding.hosts);
	view_list(&head, &row->binding.methods);
	view_list(&head, &row->binding.paths);
	if (head.error == 0 && (head.left > 0 || !vault_is_name(row->name)))
		head.error = -EINVAL;
	in->error = head.error;
	view_copy(in, row->sealed.nonce, sizeof(row->sealed.nonce));
	row->len = (size_t)view_number(in, 4);
	if (in->error == 0 && row->len > LIMIT_SECRET_BYTES)
		in->error = -E2BIG;
	if (in->error == 0 && row->len <= in->left) {
		row->cipher = malloc(row->len + 1);
		if (!row->cipher)
			in->error = -ENOMEM;
	}
	view_copy(in, row->cipher, row->len);
	view_copy(in, row->sealed.tag, sizeof(row->sealed.tag));
}

static struct vault_row *vault_room(struct vault *v, int *ret_error)
{
	void *rows = v->rows;
	int r = mem_grow(&rows, &v->cap, v->n + 1, sizeof(*v->rows), LIMIT_SECRETS);

	v->rows = rows;
	*ret_error = r;
	if (r < 0)
		return NULL;
	v->rows[v->n] = (struct vault_row){0};
	return &v->rows[v->n++];
}

static void view_vault(struct vault_view *in, struct vault *v)
{
	const char *magic = view_bytes(in, VAULT_MAGIC_LEN);
	uint64_t kind = view_number(in, 4), count;

	if (in->error == 0 &&
	    (memcmp(magic, VAULT_MAGIC, VAULT_MAGIC_LEN) != 0 || kind >= VAULT_KEY_COUNT))
		in->error = -EINVAL;
	v->key = (enum vault_key)kind;
	v->passes = (uint32_t)view_number(in, 4);
	v->memory_kb = (uint32_t)view_number(in, 4);
	if (in->error == 0 && v->key != VAULT_KEY_PASSPHRASE && (v->passes || v->memory_kb))
		in->error = -EINVAL;
	/* They are read before anything is known to be ours. */
	if (in->error == 0 &&
	    (v->passes > LIMIT_ARGON_PASSES || v->memory_kb > LIMIT_ARGON_MEMORY_KB))
		in->error = -E2BIG;
	view_copy(in, v->salt, sizeof(v->salt));
	view_copy(in, v->check, sizeof(v->check));
	count = view_number(in, 4);
	if (in->error == 0 && count > LIMIT_SECRETS)
		in->error = -E2BIG;
	for (uint64_t i = 0; i < count && in->error == 0; i++) {
		struct vault_row *row = vault_room(v, &in->error);

		if (row)
			view_row(in, row);
		if (in->error == 0 && i > 0 && strcmp(row[-1].name, row->name) >= 0)
			in->error = -EINVAL;
	}
	(void)view_bytes(in, CRYPT_MAC_LEN); /* vault_verify() reads it */
	if (in->error == 0 && in->left > 0)
		in->error = -EINVAL;
}

int vault_read(const char *bytes, size_t len, struct vault *ret)
{
	struct vault_view in = {.at = (const uint8_t *)bytes, .left = len};
	struct vault v = {0};

	view_vault(&in, &v);
	if (in.error < 0) {
		vault_done(&v);
		return in.error;
	}
	*ret = v;
	return 0;
}

static void vault_file_mac(const char *bytes, size_t len, const uint8_t *key,
			   uint8_t ret[CRYPT_MAC_LEN])
{
	uint8_t sub[CRYPT_KEY_LEN];

	crypt_subkey(key, "cordon secrets: file", sub);
	crypt_mac(sub, bytes, len, ret);
	explicit_bzero(sub, sizeof(sub));
}

int vault_verify(const char *bytes, size_t len, const uint8_t key[static CRYPT_KEY_LEN])
{
	uint8_t mac[CRYPT_MAC_LEN];

	if (len < CRYPT_MAC_LEN)
		return -EBADMSG;
	vault_file_mac(bytes, len - CRYPT_MAC_LEN, key, mac);
	return crypt_is_equal(mac, bytes + len - CRYPT_MAC_LEN, CRYPT_MAC_LEN) ? 0 : -EBADMSG;
}

static void put_number(struct buf *out, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_char(out, (char)(v >> (8 * i) & 0xff));
}

static void put_string(struct buf *out, const char *s)
{
	put_number(out, strlen(s), 2);
	buf_str(out, s);
}

static void put_list(struct buf *out, const struct strv *list)
{
	put_number(out, list->n, 2);
	for (size_t i = 0; i < list->n; i++)
		put_string(out, list->v[i]);
}

static void put_head(struct buf *out, const struct vault_row *row)
{
	put_string(out, row->name);
	put_number(out, (uint64_t)row->set_ms, 8);
	put_list(out, &row->binding.hosts);
	put_list(out, &row->binding.methods);
	put_list(out, &row->binding.paths);
}

void vault_write(const struct vault *v, const uint8_t key[static CRYPT_KEY_LEN], struct buf *out)
{
	struct buf head = BUF_INIT(LIMIT_SECRET_HEAD);
	uint8_t mac[CRYPT_MAC_LEN];

	buf_add(out, VAULT_MAGIC, VAULT_MAGIC_LEN);
	put_number(out, v->key, 4);
	put_number(out, v->passes, 4);
	put_number(out, v->memory_kb, 4);
	buf_add(out, v->salt, sizeof(v->salt));
	buf_add(out, v->check, sizeof(v->check));
	put_number(out, v->n, 4);
	for (size_t i = 0; i < v->n; i++) {
		const struct vault_row *row = &v->rows[i];

		buf_clear(&head);
		put_head(&head, row);
		if (buf_error(&head) < 0)
			out->error = buf_error(&head);
		put_number(out, head.len, 4);
		buf_add(out, buf_cstr(&head), head.len);
		buf_add(out, row->sealed.nonce, sizeof(row->sealed.nonce));
		put_number(out, row->len, 4);
		buf_add(out, row->cipher, row->len);
		buf_add(out, row->sealed.tag, sizeof(row->sealed.tag));
	}
	buf_done(&head);
	if (buf_error(out) < 0)
		return;
	vault_file_mac(out->data, out->len, key, mac);
	buf_add(out, mac, sizeof(mac));
}

/* What the tag of a value covers beside it. */
static int vault_bound(const struct vault *v, const struct vault_row *row, struct buf *ret)
{
	buf_add(ret, v->salt, sizeof(v->salt));
	put_head(ret, row);
	return buf_error(ret);
}

static void vault_value_key(const uint8_t *key, uint8_t ret[CRYPT_KEY_LEN])
{
	crypt_subkey(key, "cordon secrets: value", ret);
}

const struct vault_row *vault_find(const struct vault *v, const char *name)
{
	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->rows[i].name, name) == 0)
			return &v->rows[i];
	return NULL;
}

static int vault_seal(const struct vault *v, const uint8_t *key, struct vault_row *row,
		      const char *value)
{
	struct buf bound = BUF_INIT(LIMIT_SECRET_HEAD);
	uint8_t sub[CRYPT_KEY_LEN];
	int r = vault_bound(v, row, &bound);

	row->cipher = malloc(row->len + 1);
	if (r == 0 && !row->cipher)
		r = -ENOMEM;
	if (r == 0)
		r = crypt_random(row->sealed.nonce, sizeof(row->sealed.nonce));
	if (r == 0) {
		vault_value_key(key, sub);
		crypt_seal(sub, bound.data, bound.len, value, row->len, row->cipher, &row->sealed);
		explicit_bzero(sub, sizeof(sub));
	}
	buf_done(&bound);
	return r;
}

int vault_put(struct vault *v, const uint8_t key[static CRYPT_KEY_LEN], const char *name,
	      int64_t set_ms, struct vault_binding *binding, const char *value, size_t len)
{
	struct vault_row row = {
		.name = strdup(name), .set_ms = set_ms, .binding = *binding, .len = len};
	size_t at = 0;
	int r = row.name ? 0 : -ENOMEM;

	*binding = (struct vault_binding){0};
	if (r == 0 && (len > LIMIT_SECRET_BYTES || row.binding.hosts.n > LIMIT_SECRET_BINDINGS ||
		       row.binding.methods.n > LIMIT_SECRET_BINDINGS ||
		       row.binding.paths.n > LIMIT_SECRET_BINDINGS))
		r = -E2BIG;
	if (r == 0)
		r = vault_seal(v, key, &row, value);
	if (r == 0 && !vault_remove(v, name) && v->n == LIMIT_SECRETS)
		r = -E2BIG;
	if (r == 0 && vault_room(v, &r)) {
		while (at < v->n - 1 && strcmp(v->rows[at].name, name) < 0)
			at++;
		memmove(&v->rows[at + 1], &v->rows[at], (v->n - 1 - at) * sizeof(row));
		v->rows[at] = row;
		row = (struct vault_row){0};
	}
	vault_row_done(&row);
	return r;
}

bool vault_remove(struct vault *v, const char *name)
{
	for (size_t i = 0; i < v->n; i++) {
		if (strcmp(v->rows[i].name, name) != 0)
			continue;
		vault_row_done(&v->rows[i]);
		v->n--;
		memmove(&v->rows[i], &v->rows[i + 1], (v->n - i) * sizeof(v->rows[0]));
		return true;
	}
	return false;
}

int vault_open(const struct vault *v, const uint8_t key[static CRYPT_KEY_LEN],
	       const struct vault_row *row, char *value)
{
	struct buf bound = BUF_INIT(LIMIT_SECRET_HEAD + CRYPT_SALT_LEN);
	uint8_t sub[CRYPT_KEY_LEN];
	int r = vault_bound(v, row, &bound);

	if (r == 0) {
		vault_value_key(key, sub);
		r = crypt_open(sub, bound.data, bound.len, row->cipher, row->len, &row->sealed,
			       value);
		explicit_bzero(sub, sizeof(sub));
	}
	buf_done(&bound);
	return r;
}

static int vault_list_copy(const struct strv *from, struct strv *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < from->n; i++)
		r = strv_add(ret, from->v[i]);
	return r;
}

static int vault_row_copy(const struct vault *from, const uint8_t *from_key,
			  const struct vault_row *row, struct vault *to, const uint8_t *to_key)
{
	struct vault_binding binding = {0};
	struct locked value;
	int r = locked_new(row->len + 1, LOCKED_STAYS, &value);

	if (r < 0)
		return r;
	r = vault_open(from, from_key, row, value.data);
	if (r == 0)
		r = vault_list_copy(&row->binding.hosts, &binding.hosts);
	if (r == 0)
		r = vault_list_copy(&row->binding.methods, &binding.methods);
	if (r == 0)
		r = vault_list_copy(&row->binding.paths, &binding.paths);
	if (r == 0)
		r = vault_put(to, to_key, row->name, row->set_ms, &binding, value.data, row->len);
	vault_binding_done(&binding);
	locked_done(&value);
	return r;
}

int vault_copy(const struct vault *from, const uint8_t from_key[static CRYPT_KEY_LEN],
	       struct vault *to, const uint8_t to_key[static CRYPT_KEY_LEN])
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < from->n; i++)
		r = vault_row_copy(from, from_key, &from->rows[i], to, to_key);
	return r;
}
