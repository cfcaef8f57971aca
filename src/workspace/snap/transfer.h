/* SPDX-License-Identifier: Apache-2.0 */
/* Reading an export: apart from where it comes from and where it goes, so that a fuzzer can. */
#pragma once

#include "workspace/snap/map.h"
#include "workspace/snap/object.h"

struct snap_import {
	/* As io_read(): all of len but at the end. */
	ssize_t (*read)(void *arg, void *to, size_t len);
	void *arg;
	struct snap_zip *zip;
	struct snap_hash *hash;   /* fresh */
	char *chunk;              /* SNAP_CHUNK bytes */
	struct snap_stage *stage; /* NULL: nothing is kept */
	struct cordon_error *err;
	/* what was read */
	uint64_t at;
	struct snap_info info;
	struct snap_manifest manifest;
	struct snap_map needs;
};
void snap_import_done(struct snap_import *x);
/* Reads and checks all of it. */
CORDON_MUST_CHECK int snap_import_read(struct snap_import *x);
