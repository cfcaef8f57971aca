/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing JSON into a struct buf.  Commas and quoting are the writer's business; a value that is not
 * valid UTF-8 is written with U+FFFD for each bad byte, so the output is always valid JSON.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 32

struct json {
	struct buf *out; /* borrowed */
	bool pretty;     /* two-space indentation and newlines */
	unsigned depth;
	bool has_item[JSON_DEPTH_MAX];
};

#define JSON_INIT(buffer) ((struct json){.out = (buffer)})

/*
 * libjansson has functions of these names.  Under our own link names neither a static nor a dynamic
 * program mixes them up.  A source file uses this writer or <jansson.h>, never both; where headers bring this one
 * along <jansson.h> stands first, and its names are meant.
 */
#ifndef JANSSON_H
#define JSON_LINK_NAME(name) __asm__("cordon_" name)
void json_object(struct json *j, const char *name) JSON_LINK_NAME("json_object");
void json_array(struct json *j, const char *name) JSON_LINK_NAME("json_array");
void json_null(struct json *j, const char *name) JSON_LINK_NAME("json_null");
#endif

/* Containers: json_object() and json_array() above begin one.  In all of these, name is the key inside
 * an object and NULL inside an array or at the top. */
void json_end_object(struct json *j);
void json_end_array(struct json *j);
void json_str(struct json *j, const char *name, const char *s); /* NULL writes null */
/* A point in time, as clock_stamp_of() writes it; 0 writes null. */
void json_stamp(struct json *j, const char *name, int64_t wall_ms);
void json_strn(struct json *j, const char *name, const char *s, size_t len);
void json_int(struct json *j, const char *name, int64_t v);
/* Infinity and NaN, which JSON does not have, are written as null. */
void json_double(struct json *j, const char *name, double v, int decimals);
void json_bool(struct json *j, const char *name, bool v);
/* Inserts text that is already JSON. */
void json_raw(struct json *j, const char *name, const char *text, size_t len);
/* Appends a quoted string, without comma handling. */
void json_quote(struct buf *b, const char *s, size_t len);
