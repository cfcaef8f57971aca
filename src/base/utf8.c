/* SPDX-License-Identifier: Apache-2.0 */
/* See utf8.h. */
#include "base/utf8.h"

size_t utf8_decode(const char *s, size_t len, uint32_t *ret_code)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t c, least;
	size_t n;

	if (len == 0)
		return 0;
	if (p[0] < 0x80) {
		*ret_code = p[0];
		return 1;
	}
	if (p[0] >= 0xc2 && p[0] <= 0xdf) {
		n = 2, c = p[0] & 0x1fu, least = 0x80;
	} else if (p[0] >= 0xe0 && p[0] <= 0xef) {
		n = 3, c = p[0] & 0x0fu, least = 0x800;
	} else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
		n = 4, c = p[0] & 0x07u, least = 0x10000;
	} else {
		return 0;
	}
	if (len < n)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0u) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3fu);
	}
	if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret_code = c;
	return n;
}

size_t utf8_check(const char *s, size_t len)
{
	size_t i = 0;

	while (i < len) {
		uint32_t c;
		size_t n = utf8_decode(s + i, len - i, &c);

		if (n == 0)
			break;
		i += n;
	}
	return i;
}
