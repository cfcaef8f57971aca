/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is this value random, or is it a word that stands for one?  And what the providers let one verify.
 * Pure functions over (pointer, length).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* X(id): what a token can be checked for beyond its shape. */
enum leak_check {
	LEAK_CHECK_NONE,
	LEAK_CHECK_CRC,   /* the last six characters are the CRC-32 of the rest in base 62 */
	LEAK_CHECK_AWS,   /* the account number that the id holds exists */
	LEAK_CHECK_MIXED, /* upper case, lower case and digits all occur */
	LEAK_CHECK_RANDOM, /* and what follows the last sign holds no words: for names that say little */
};

/* How sure the check makes: -1 it cannot be one, 0 it says nothing, 1 it is one. */
int leak_verify(enum leak_check check, const char *token, size_t len);

/* Is c one of the set?  The NUL never is. */
bool leak_is_any(char c, const char *set);

/* Shannon entropy in bits per character. */
double leak_entropy(const char *s, size_t len);

/* A random word of a machine: long, mixed, without the rhythm of names. */
bool leak_is_random(const char *s, size_t len);
bool leak_is_uuid(const char *s, size_t len);
bool leak_is_hex(const char *s, size_t len);

/* A stand-in: example, your-key-here, xxxx, ${NAME}, <token>, %s, ****. */
bool leak_is_placeholder(const char *s, size_t len);
/* The same for the random part of a token, where words can occur by chance. */
bool leak_is_masked(const char *s, size_t len);
/* Says of itself that it is none. */
bool leak_is_example(const char *s, size_t len);
/* A key that stands in public samples and test data for everybody to use. */
bool leak_is_published(const char *s, size_t len);
/* One of the few words that documents use for any password. */
bool leak_is_stock_word(const char *s, size_t len);
/* A password that someone chose with care: letters, and digits or other characters. */
bool leak_is_strong(const char *s, size_t len);

/* Decodes base64 of either alphabet up to the first other character; returns the bytes written. */
size_t leak_base64(const char *s, size_t len, char *out, size_t max);
