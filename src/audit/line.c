/* SPDX-License-Identifier: Apache-2.0 */
/* Making a line and checking its frame; see line.h, and audit.h for the format. */
#include "audit/line.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/json_check.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define LINE_TS "{\"ts\":\""
#define LINE_SEQ "\",\"seq\":"
#define LINE_ID ",\"id\":\""
#define LINE_PREV ",\"prev_hash\":\""
#define LINE_HASH ",\"hash\":\""
#define LINE_END "\"}"

enum {
	LINE_STAMP = CLOCK_STAMP_LEN - 1,
	LINE_HEX = SHA256_HEX_LEN - 1,
	LINE_FRONT = sizeof(LINE_TS) - 1 + LINE_STAMP + sizeof(LINE_SEQ) - 1,
	/* what is not hashed */
	LINE_HASH_TAIL = sizeof(LINE_HASH) - 1 + LINE_HEX + sizeof(LINE_END) - 1,
	LINE_TAIL = sizeof(LINE_PREV) - 1 + LINE_HEX + 1 + LINE_HASH_TAIL,
	LINE_SEQ_DIGITS = 18, /* fits into int64 and lasts */
	LINE_FRAME = LINE_FRONT + LINE_SEQ_DIGITS + LINE_TAIL + 1,
};

static const char *const line_fault_texts[] = {
	[AUDIT_LINE_OK] = "in order",
	[AUDIT_LINE_LONG] = "longer than a record can be",
	[AUDIT_LINE_BYTES] = "not text (NUL or invalid UTF-8)",
	[AUDIT_LINE_JSON] = "not a JSON object without duplicate keys",
	[AUDIT_LINE_SHAPE] = "not an audit record",
	[AUDIT_LINE_HASH] = "its hash does not match its bytes",
};
static_assert(ARRAY_LEN(line_fault_texts) == AUDIT_LINE_COUNT, "one text for each fault");

const char *audit_line_fault_text(enum audit_line_fault fault)
{
	return fault < AUDIT_LINE_COUNT ? line_fault_texts[fault] : "unknown fault";
}

static void line_member(struct buf *out, const char *lead, const char *value)
{
	buf_str(out, lead);
	if (value)
		json_quote(out, value, strlen(value));
	else
		buf_str(out, "null");
}

void audit_line_middle(struct buf *out, const struct audit_event *ev, const char id[static 17],
		       const char *exe)
{
	buf_str(out, LINE_ID);
	buf_add(out, id, 16);
	line_member(out, "\",\"type\":", audit_event_row(ev->type)->name);
	line_member(out, ",\"session_id\":", ev->session_id);
	line_member(out, ",\"call_id\":", ev->call_id);
	line_member(out, ",\"decision\":", ev->decision);
	line_member(out, ",\"rule\":", ev->rule);
	buf_printf(out, ",\"actor\":{\"pid\":%lld,\"uid\":%lld", (long long)getpid(),
		   (long long)getuid());
	if (exe)
		line_member(out, ",\"exe\":", exe);
	buf_char(out, '}');
	if (ev->body_len > 0) {
		buf_char(out, ',');
		buf_add(out, ev->body, ev->body_len);
	}
}

int audit_line_check(struct buf *scratch, const struct buf *middle)
{
	if (buf_error(middle) < 0)
		return buf_error(middle);
	if (middle->len + LINE_FRAME > LIMIT_AUDIT_RECORD)
		return -E2BIG;
	/* A newline is blank space for JSON and the end of a record for us. */
	if (memchr(middle->data, '\n', middle->len))
		return -EINVAL;
	buf_clear(scratch);
	buf_str(scratch, "{\"ts\":\"\",\"seq\":1");
	buf_add(scratch, middle->data, middle->len);
	buf_str(scratch, ",\"prev_hash\":\"\",\"hash\":\"\"}");
	if (buf_error(scratch) < 0)
		return buf_error(scratch);
	return json_check(scratch->data, scratch->len);
}

void audit_line_seal(struct buf *out, const char *stamp, const struct buf *middle,
		     struct audit_head *head)
{
	size_t start = out->len;

	head->seq++;
	buf_str(out, LINE_TS);
	buf_str(out, stamp);
	buf_printf(out, LINE_SEQ "%llu", (unsigned long long)head->seq);
	buf_add(out, middle->data, middle->len);
	buf_str(out, LINE_PREV);
	buf_str(out, head->hash);
	buf_char(out, '"');
	if (buf_error(out) < 0)
		return; /* the caller looks at the buffer's error before it uses anything */
	sha256_hex(out->data + start, out->len - start, head->hash);
	buf_str(out, LINE_HASH);
	buf_str(out, head->hash);
	buf_str(out, LINE_END "\n");
}

static bool line_has(const char *at, const char *want)
{
	return memcmp(at, want, strlen(want)) == 0;
}

static bool line_is_hex(const char *s)
{
	return strspn(s, "0123456789abcdef") >= LINE_HEX;
}

int audit_line_first_seq(const char *line, size_t len, uint64_t *ret_seq)
{
	uint64_t seq = 0;
	size_t i = LINE_FRONT;

	if (len < LINE_FRONT + 2 || !line_has(line, LINE_TS) ||
	    !line_has(line + LINE_FRONT - (sizeof(LINE_SEQ) - 1), LINE_SEQ))
		return -EBADMSG;
	for (; i < len && line[i] >= '0' && line[i] <= '9' && i < LINE_FRONT + LINE_SEQ_DIGITS; i++)
		seq = seq * 10 + (uint64_t)(line[i] - '0');
	if (i == len || line[i] != ',' || seq == 0 || line[LINE_FRONT] == '0')
		return -EBADMSG;
	*ret_seq = seq;
	return 0;
}

/* The last LINE_TAIL bytes: the two hashes in their frame. */
static bool line_tail(const char *tail, char ret_prev[static SHA256_HEX_LEN],
		      char ret_hash[static SHA256_HEX_LEN])
{
	const char *prev = tail + sizeof(LINE_PREV) - 1;
	const char *hash = prev + LINE_HEX + 1 + sizeof(LINE_HASH) - 1;

	if (!line_has(tail, LINE_PREV) || !line_has(prev + LINE_HEX, "\"" LINE_HASH) ||
	    !line_has(hash + LINE_HEX, LINE_END))
		return false;
	memcpy(ret_prev, prev, LINE_HEX);
	memcpy(ret_hash, hash, LINE_HEX);
	ret_prev[LINE_HEX] = ret_hash[LINE_HEX] = '\0';
	return line_is_hex(ret_prev) && line_is_hex(ret_hash);
}

enum audit_line_fault audit_line_head(const char *line, size_t len, struct audit_head *ret_head,
				      char ret_prev[static SHA256_HEX_LEN])
{
	char prev[SHA256_HEX_LEN], real[SHA256_HEX_LEN];
	struct audit_head head = {0};
	int64_t when;
	int r;

	if (len >= LIMIT_AUDIT_RECORD)
		return AUDIT_LINE_LONG;
	if (memchr(line, '\0', len) || !utf8_is_valid(line, len))
		return AUDIT_LINE_BYTES;
	r = memchr(line, '\n', len) ? -EINVAL : json_check(line, len);
	if (r < 0 || len == 0 || line[0] != '{')
		return AUDIT_LINE_JSON;
	if (len < LINE_FRONT + 2 + LINE_TAIL || audit_line_first_seq(line, len, &head.seq) < 0 ||
	    audit_time_parse(line + sizeof(LINE_TS) - 1, LINE_STAMP, &when) < 0 ||
	    !line_tail(line + len - LINE_TAIL, prev, head.hash))
		return AUDIT_LINE_SHAPE;
	sha256_hex(line, len - LINE_HASH_TAIL, real);
	*ret_head = head;
	memcpy(ret_prev, prev, sizeof(prev));
	return memcmp(real, head.hash, LINE_HEX) == 0 ? AUDIT_LINE_OK : AUDIT_LINE_HASH;
}

/* The inverse of the calendar in clock_stamp_of(); years count from March. */
static int64_t line_days(int64_t year, int64_t month, int64_t day)
{
	int64_t y = year - (month <= 2);
	int64_t of_era = y % 400;
	int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return y / 400 * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

int audit_time_parse(const char *ts, size_t len, int64_t *ret_ms)
{
	static const char shape[] = "dddd-dd-ddTdd:dd:dd.dddZ";
	char again[CLOCK_STAMP_LEN];
	int64_t part[8] = {0}, ms;
	size_t n = 0;

	if (len != LINE_STAMP)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		if (shape[i] != 'd') {
			if (ts[i] != shape[i])
				return -EINVAL;
			n++;
		} else if (ts[i] >= '0' && ts[i] <= '9') {
			part[n] = part[n] * 10 + (ts[i] - '0');
		} else {
			return -EINVAL;
		}
	}
	/* Not timegm(), which reads the time zone's file.  A day that does not exist comes back as another. */
	ms = (((line_days(part[0], part[1], part[2]) * 24 + part[3]) * 60 + part[4]) * 60 +
	      part[5]) *
		     1000 +
	     part[6];
	clock_stamp_of(ms, again);
	if (memcmp(again, ts, len) != 0)
		return -ERANGE;
	*ret_ms = ms;
	return 0;
}
