/* SPDX-License-Identifier: Apache-2.0 */
/* What the name of a file, a host or a tool says about a call that touches it. */
#pragma once

#include "session/sequence.h"

/* Is this probably a file with secrets?  Documents and source code about secrets are not.  is_path: the text is
 * known to be a path, so that a bare word such as `credentials` counts too. */
bool names_is_sensitive(const char *path, bool is_path);
/* Facts of writing the file.  workspace, absolute, may be NULL: then nothing is outside. */
unsigned names_write_facts(const char *path, const char *workspace);
/* NETWORK for a URL, host or HOST:PORT out there or one that is not known; RELAY for this machine. */
unsigned names_host_facts(const char *text, size_t len);
/* The host part of `scheme://…` anywhere in the text: its facts, or 0 when there is none. */
unsigned names_url_facts(const char *text, size_t len);
