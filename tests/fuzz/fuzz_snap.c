/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What snapshots are kept in, as bytes.  The first one says which: m a listing, r a record, j a journal (both get the
 * hash that they must end with), e an export.  A listing that is accepted has plain names in order, each in a directory
 * that was listed before, and is written again as it was read.
 */
#include "workspace/snap/journal.h"
#include "workspace/snap/record.h"
#include "workspace/snap/transfer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int claim)
{
	if (!claim)
		abort();
}

static char *copy_of(const void *data, size_t size)
{
	char *copy = malloc(size + 1);

	require(copy != NULL);
	memcpy(copy, data, size);
	return copy;
}

static void check_listing(const uint8_t *data, size_t size)
{
	struct buf again = BUF_INIT(1 << 24);
	struct snap_manifest m;

	if (snap_manifest_decode(copy_of(data, size), size, &m, NULL) < 0)
		return;
	snap_manifest_head(&again, m.trees, m.n_trees, m.n);
	for (size_t i = 0; i < m.n; i++) {
		const struct snap_entry *e = &m.entries[i];
		const char *slash = strrchr(e->path, '/');

		require(!*e->path || snap_path_is_plain(e->path));
		require(snap_manifest_find(&m, e->root, e->path) == e);
		if (slash) {
			char *parent = copy_of(e->path, (size_t)(slash - e->path));
			const struct snap_entry *dir;

			parent[slash - e->path] = '\0';
			dir = snap_manifest_find(&m, e->root, parent);
			require(dir && dir->kind == SNAP_DIR);
			free(parent);
		}
		snap_entry_encode(&again, e);
	}
	require(buf_error(&again) == 0 && again.len == size);
	require(memcmp(again.data, data, size) == 0);
	buf_done(&again);
	snap_manifest_done(&m);
}

static void check_sealed(const uint8_t *data, size_t size, bool is_journal)
{
	struct buf sealed = BUF_INIT(size + SNAP_DIGEST);
	struct snap_journal j;
	struct snap_info info;

	buf_add(&sealed, data, size);
	if (size > 0)
		snap_put_seal(&sealed);
	require(buf_error(&sealed) == 0);
	if (is_journal &&
	    snap_journal_decode(copy_of(buf_cstr(&sealed), sealed.len), sealed.len, &j) == 0) {
		for (size_t i = 0; i < j.goner_count; i++)
			require(snap_path_is_plain(j.goners[i].path));
		snap_journal_done(&j);
	}
	if (!is_journal && snap_record_decode(buf_cstr(&sealed), sealed.len, &info) == 0) {
		require(snap_record_name_is_good(info.name));
		snap_info_done(&info);
	}
	buf_done(&sealed);
}

static ssize_t read_memory(void *arg, void *to, size_t len)
{
	struct snap_reader *r = arg;
	size_t n = (size_t)(r->end - r->p);

	n = n < len ? n : len;
	memcpy(to, r->p, n);
	r->p += n;
	return (ssize_t)n;
}

static void check_export(const uint8_t *data, size_t size)
{
	static struct snap_zip *zip;
	static char *chunk;
	struct snap_reader r = SNAP_READER(data, size);
	struct snap_import x = {.read = read_memory, .arg = &r};

	if (!zip)
		require(snap_zip_new(&zip) == 0 && (chunk = malloc(SNAP_CHUNK)) != NULL);
	require(snap_hash_new(&x.hash) == 0);
	x.zip = zip;
	x.chunk = chunk;
	if (snap_import_read(&x) == 0)
		require(r.p == r.end);
	snap_hash_free(x.hash);
	snap_import_done(&x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	if (data[0] == 'm')
		check_listing(data + 1, size - 1);
	else if (data[0] == 'r' || data[0] == 'j')
		check_sealed(data + 1, size - 1, data[0] == 'j');
	else if (data[0] == 'e')
		check_export(data + 1, size - 1);
	return 0;
}
