/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handshake message may be cut into records at any place, and attackers do so to hide the name from
 * readers that look at one record.  So the records are joined first.
 */
#include "net/hello.h"

#include <string.h>

#define HELLO_RECORD_HEAD 5
#define HELLO_HANDSHAKE 0x16
#define HELLO_CLIENT 1
#define HELLO_EXT_NAME 0
#define HELLO_EXT_ECH 0xfe0d
#define HELLO_RECORD_MAX 16384

/* What is left to read; a read beyond the end sets is_short and gives zeros. */
struct hello_view {
	const uint8_t *p;
	size_t len;
	bool is_short;
};

static unsigned hello_number(struct hello_view *v, size_t bytes)
{
	unsigned value = 0;

	if (v->len < bytes) {
		v->is_short = true;
		v->len = 0;
		return 0;
	}
	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | v->p[i];
	v->p += bytes;
	v->len -= bytes;
	return value;
}

/* The next part, whose length is written before it in that many bytes. */
static struct hello_view hello_part(struct hello_view *v, size_t length_bytes)
{
	size_t len = hello_number(v, length_bytes);
	struct hello_view part = {.p = v->p, .len = len};

	if (v->len < len) {
		v->is_short = true;
		part.len = v->len;
	}
	v->p += part.len;
	v->len -= part.len;
	return part;
}

enum hello_form hello_form(const uint8_t *bytes, size_t len)
{
	size_t record;

	if ((len > 0 && bytes[0] != HELLO_HANDSHAKE) || (len > 1 && bytes[1] != 3))
		return HELLO_FORM_NO;
	if (len < HELLO_RECORD_HEAD)
		return HELLO_FORM_SHORT;
	record = (size_t)bytes[3] << 8 | bytes[4];
	if (record > HELLO_RECORD_MAX)
		return HELLO_FORM_NO;
	if (record > 0 && len == HELLO_RECORD_HEAD)
		return HELLO_FORM_SHORT;
	return record == 0 || bytes[HELLO_RECORD_HEAD] == HELLO_CLIENT ? HELLO_FORM_TLS
								       : HELLO_FORM_NO;
}

static enum hello_result hello_refuse(struct hello *ret, const char *reason)
{
	ret->reason = reason;
	return HELLO_REFUSED;
}

/* Joins the records.  HELLO_NAME stands for "the handshake is whole". */
static enum hello_result hello_join(const uint8_t *bytes, size_t len, uint8_t *joined,
				    size_t *ret_len, struct hello *ret)
{
	size_t have = 0;
	size_t at = 0;

	for (;;) {
		size_t record;

		if (have >= 4) {
			size_t want =
				4 + ((size_t)joined[1] << 16 | (size_t)joined[2] << 8 | joined[3]);

			if (joined[0] != HELLO_CLIENT)
				return hello_refuse(ret, "not a client's hello");
			if (want > HELLO_MAX)
				return hello_refuse(ret, "a hello that is too long");
			if (have >= want) {
				*ret_len = want;
				return HELLO_NAME;
			}
		}
		if (at < len && bytes[at] != HELLO_HANDSHAKE)
			return hello_refuse(ret, "not a TLS handshake");
		if (at + 1 < len && bytes[at + 1] != 3)
			return hello_refuse(ret, "not a version of TLS");
		if (len - at < HELLO_RECORD_HEAD)
			return len < HELLO_MAX ? HELLO_MORE
					       : hello_refuse(ret, "a hello that is too long");
		record = (size_t)bytes[at + 3] << 8 | bytes[at + 4];
		if (record == 0 || record > HELLO_RECORD_MAX)
			return hello_refuse(ret, "a record of a length that TLS does not have");
		at += HELLO_RECORD_HEAD;
		if (record > len - at)
			record = len - at; /* the rest is still to come */
		if (have + record > HELLO_MAX)
			return hello_refuse(ret, "a hello that is too long");
		memcpy(joined + have, bytes + at, record);
		have += record;
		at += record;
		if (at == len) {
			if (have >= 4 && have >= 4 + ((size_t)joined[1] << 16 |
						      (size_t)joined[2] << 8 | joined[3]))
				continue;
			return len < HELLO_MAX ? HELLO_MORE
					       : hello_refuse(ret, "a hello that is too long");
		}
	}
}

/* The list of names: exactly one, of the kind host name. */
static enum hello_result hello_name(struct hello_view names, struct hello *ret)
{
	struct hello_view list = hello_part(&names, 2);
	unsigned kind = hello_number(&list, 1);
	struct hello_view name = hello_part(&list, 2);

	if (names.is_short || names.len || list.is_short || list.len || kind != 0)
		return hello_refuse(ret, "a list of names that is not one name");
	if (host_parse((const char *)name.p, name.len, 0, &ret->name, NULL) < 0)
		return hello_refuse(ret, "a server name that is no host name");
	return HELLO_NAME;
}

static enum hello_result hello_extensions(struct hello_view all, struct hello *ret)
{
	enum hello_result result = HELLO_NONE;

	while (all.len > 0) {
		unsigned kind = hello_number(&all, 2);
		struct hello_view body = hello_part(&all, 2);

		if (all.is_short)
			return hello_refuse(ret, "a hello that is cut short");
		if (kind == HELLO_EXT_ECH)
			ret->has_ech = true;
		if (kind != HELLO_EXT_NAME)
			continue;
		if (result != HELLO_NONE)
			return hello_refuse(ret, "two lists of names");
		result = hello_name(body, ret);
		if (result == HELLO_REFUSED)
			return result;
	}
	return result;
}

enum hello_result hello_parse(const uint8_t *bytes, size_t len, struct hello *ret)
{
	uint8_t joined[HELLO_MAX];
	struct hello_view v;
	struct hello_view extensions;
	enum hello_result result;
	size_t whole = 0;

	memset(ret, 0, sizeof(*ret));
	result = hello_join(bytes, len, joined, &whole, ret);
	if (result != HELLO_NAME)
		return result;
	v = (struct hello_view){.p = joined + 4, .len = whole - 4};
	(void)hello_number(&v, 2); /* the version of old, fixed since */
	for (int i = 0; i < 8; i++)
		(void)hello_number(&v, 4); /* random */
	(void)hello_part(&v, 1);           /* session */
	(void)hello_part(&v, 2);           /* ciphers */
	(void)hello_part(&v, 1);           /* compression */
	if (v.is_short)
		return hello_refuse(ret, "a hello that is cut short");
	if (v.len == 0)
		return HELLO_NONE;
	extensions = hello_part(&v, 2);
	if (v.is_short || v.len > 0)
		return hello_refuse(ret, "a hello that is cut short");
	return hello_extensions(extensions, ret);
}
