/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (FIPS 180-4), built in so that the run path needs no crypto library: every audit record is
 * chained with it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA256_LEN 32
#define SHA256_HEX_LEN 65 /* with the NUL */

struct sha256 {
	uint32_t state[8];
	uint64_t total;
	uint8_t block[64];
	size_t used;
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t len);
void sha256_finish(struct sha256 *s, uint8_t ret_digest[static SHA256_LEN]);
void sha256_hex(const void *data, size_t len, char ret_hex[static SHA256_HEX_LEN]);
void sha256_to_hex(const uint8_t digest[static SHA256_LEN], char ret_hex[static SHA256_HEX_LEN]);
