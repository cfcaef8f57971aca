/* SPDX-License-Identifier: Apache-2.0 */
/* See sha256.h.  Written from FIPS 180-4; the constants are its tables. */
#include "base/sha256.h"

#include "base/darwin.h"

#include <string.h>

static const uint32_t sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t sha256_ror(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

/* One round where the standard's a is v[first], b the next, and so on around. */
static inline __attribute__((always_inline)) void sha256_round(uint32_t v[static 8], size_t first,
							       uint32_t k_and_w)
{
	uint32_t a = v[first], b = v[(first + 1) % 8], c = v[(first + 2) % 8];
	uint32_t e = v[(first + 4) % 8], f = v[(first + 5) % 8], g = v[(first + 6) % 8];
	uint32_t s1 = sha256_ror(e, 6) ^ sha256_ror(e, 11) ^ sha256_ror(e, 25);
	uint32_t t1 = v[(first + 7) % 8] + s1 + ((e & f) ^ (~e & g)) + k_and_w;
	uint32_t s0 = sha256_ror(a, 2) ^ sha256_ror(a, 13) ^ sha256_ror(a, 22);

	v[(first + 3) % 8] += t1;
	v[(first + 7) % 8] = t1 + s0 + ((a & b) ^ (a & c) ^ (b & c));
}

static void sha256_block(uint32_t state[static 8], const uint8_t block[static 64])
{
	uint32_t w[64], v[8];

	for (size_t i = 0; i < 16; i++) {
		uint32_t word;

		memcpy(&word, block + 4 * i, sizeof(word));
		w[i] = be32toh(word);
	}
	for (size_t i = 16; i < 64; i++) {
		uint32_t s0 = sha256_ror(w[i - 15], 7) ^ sha256_ror(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t s1 = sha256_ror(w[i - 2], 17) ^ sha256_ror(w[i - 2], 19) ^ w[i - 2] >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
	memcpy(v, state, sizeof(v));
	/* The eight names move by one place each round; naming them anew is free, moving them is not. */
	for (size_t i = 0; i < 64; i += 8) {
		sha256_round(v, 0, sha256_k[i] + w[i]);
		sha256_round(v, 7, sha256_k[i + 1] + w[i + 1]);
		sha256_round(v, 6, sha256_k[i + 2] + w[i + 2]);
		sha256_round(v, 5, sha256_k[i + 3] + w[i + 3]);
		sha256_round(v, 4, sha256_k[i + 4] + w[i + 4]);
		sha256_round(v, 3, sha256_k[i + 5] + w[i + 5]);
		sha256_round(v, 2, sha256_k[i + 6] + w[i + 6]);
		sha256_round(v, 1, sha256_k[i + 7] + w[i + 7]);
	}
	for (size_t i = 0; i < 8; i++)
		state[i] += v[i];
}

void sha256_init(struct sha256 *s)
{
	*s = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
				       0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *s, const void *data, size_t len)
{
	const uint8_t *p = data;

	s->total += len;
	while (len > 0) {
		size_t n = sizeof(s->block) - s->used;

		if (n > len)
			n = len;
		memcpy(s->block + s->used, p, n);
		s->used += n;
		p += n;
		len -= n;
		if (s->used == sizeof(s->block)) {
			sha256_block(s->state, s->block);
			s->used = 0;
		}
	}
}

void sha256_finish(struct sha256 *s, uint8_t ret_digest[static SHA256_LEN])
{
	static const uint8_t pad[64] = {0x80};
	uint64_t bits = htobe64(s->total * 8);
	size_t n = s->used < 56 ? 56 - s->used : 120 - s->used;

	sha256_add(s, pad, n);
	sha256_add(s, &bits, sizeof(bits));
	for (size_t i = 0; i < 8; i++) {
		uint32_t word = htobe32(s->state[i]);

		memcpy(ret_digest + 4 * i, &word, sizeof(word));
	}
}

void sha256_to_hex(const uint8_t digest[static SHA256_LEN], char ret_hex[static SHA256_HEX_LEN])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < SHA256_LEN; i++) {
		ret_hex[2 * i] = digits[digest[i] >> 4];
		ret_hex[2 * i + 1] = digits[digest[i] & 15];
	}
	ret_hex[2 * SHA256_LEN] = '\0';
}

void sha256_hex(const void *data, size_t len, char ret_hex[static SHA256_HEX_LEN])
{
	uint8_t digest[SHA256_LEN];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, data, len);
	sha256_finish(&s, digest);
	sha256_to_hex(digest, ret_hex);
}
