/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is this text one well-formed JSON value?  A leaf without allocation, for the run path: a full parser
 * builds a tree and seeds its hash tables, which costs more than the record that is being written.
 * It accepts only what every strict parser accepts too: valid UTF-8, no duplicate keys in one object,
 * no lone surrogates, 18 digits in an integer and two in an exponent at most, LIMIT_JSON_DEPTH levels,
 * JSON_CHECK_KEYS keys in the objects open at one time.  Keys are in the one spelling that json_quote()
 * gives them (no needless escapes, no NUL), so that comparing bytes finds duplicates.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define JSON_CHECK_KEYS 1024

/* 0, -EINVAL (not JSON), -EILSEQ (not UTF-8), -EEXIST (duplicate key) or -E2BIG (a limit). */
CORDON_MUST_CHECK int json_check(const char *s, size_t len);
/* Are at most LIMIT_JSON_DEPTH lists and objects open at one time?  To be asked before a parser that recurses is;
 * says nothing about the rest. */
bool json_check_depth(const char *s, size_t len);
