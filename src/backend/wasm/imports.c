/* SPDX-License-Identifier: Apache-2.0 */
/* See imports.h. */
#include "backend/wasm/imports.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CUSTOM_SECTION 0
#define IMPORT_SECTION 2
#define LEB_BITS 7
#define LEB_LAST 28 /* shift of the fifth byte */
#define NAME_SHOWN 64

/* What is left to read; a failed read empties it. */
struct reader {
	const uint8_t *at;
	const uint8_t *end;
};

enum import_kind { IMPORT_FUNCTION, IMPORT_TABLE, IMPORT_MEMORY, IMPORT_GLOBAL, IMPORT_TAG };

static uint32_t read_number(struct reader *r)
{
	uint32_t value = 0;

	for (unsigned shift = 0; r->at < r->end && shift <= LEB_LAST; shift += LEB_BITS) {
		uint8_t byte = *r->at++;

		value |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	r->at = r->end;
	return 0;
}

/* The next bytes as a reader of their own. */
static struct reader read_part(struct reader *r, size_t len)
{
	struct reader part = {r->at, r->at};

	if (len > (size_t)(r->end - r->at)) {
		r->at = r->end;
		return part;
	}
	r->at += len;
	part.end = r->at;
	return part;
}

static struct reader read_name(struct reader *r)
{
	return read_part(r, read_number(r));
}

static void read_limits(struct reader *r)
{
	uint32_t flags = read_number(r);

	(void)read_number(r);
	if (flags & 1)
		(void)read_number(r);
}

/* Passes what an import is of. */
static void read_import_type(struct reader *r)
{
	uint32_t kind = read_number(r);

	if (kind == IMPORT_TABLE || kind == IMPORT_GLOBAL)
		(void)read_part(r, 1); /* type of the elements or the value */
	if (kind == IMPORT_TABLE || kind == IMPORT_MEMORY)
		read_limits(r);
	else if (kind == IMPORT_GLOBAL || kind == IMPORT_TAG)
		(void)read_part(r, 1); /* mutable, or the attribute */
	if (kind == IMPORT_FUNCTION || kind == IMPORT_TAG)
		(void)read_number(r);
}

static bool is_name(const struct reader *name, const char *want)
{
	return (size_t)(name->end - name->at) == strlen(want) &&
	       memcmp(name->at, want, strlen(want)) == 0;
}

/* Printable characters only: the text goes to a terminal. */
static int show(char *to, size_t room, const struct reader *name)
{
	char text[NAME_SHOWN + 1];
	size_t n = 0;

	for (const uint8_t *p = name->at; p < name->end && n < NAME_SHOWN; p++)
		text[n++] = *p > ' ' && *p < 0x7f ? (char)*p : '?';
	text[n] = '\0';
	return snprintf(to, room, "'%s'", text);
}

bool wasm_foreign_import(const char *data, size_t len, char ret[static WASM_IMPORT_MAX])
{
	struct reader r = {(const uint8_t *)data, (const uint8_t *)data + len};

	(void)read_part(&r, WASM_MAGIC_LEN);
	while (r.at < r.end) {
		uint32_t id = read_number(&r);
		struct reader section = read_name(&r);
		uint32_t count;

		if (id != IMPORT_SECTION)
			continue;
		count = read_number(&section);
		for (; count > 0 && section.at < section.end; count--) {
			struct reader module = read_name(&section);
			struct reader name = read_name(&section);
			int n;

			if (!is_name(&module, "wasi_snapshot_preview1")) {
				n = show(ret, WASM_IMPORT_MAX, &module);
				ret[n++] = ' ';
				(void)show(ret + n, WASM_IMPORT_MAX - (size_t)n, &name);
				return true;
			}
			read_import_type(&section);
		}
		return false;
	}
	return false;
}

bool wasm_has_machine_code(const char *data, size_t len)
{
	struct reader r = {(const uint8_t *)data, (const uint8_t *)data + len};

	(void)read_part(&r, WASM_MAGIC_LEN);
	while (r.at < r.end) {
		uint32_t id = read_number(&r);
		struct reader section = read_name(&r);
		struct reader name;

		if (id != CUSTOM_SECTION)
			continue;
		name = read_name(&section);
		if (is_name(&name, "wasmedge"))
			return true;
	}
	return false;
}
