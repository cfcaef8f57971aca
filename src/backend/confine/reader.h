/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cage of a process that reads hostile text and only says what it found: `check --jsonl` and `scan`.  Grammars,
 * decoders and pattern engines are large; whoever takes one over can write to what is open, and read the tree that is
 * scanned anyway.  No program can be started, no connection made, no memory executed, and nothing else be opened.
 *
 * Should: be called when the policy was read and before the first byte of the input is.  Mustn't: be called by a process
 * that has anything else to do afterwards.
 */
#pragma once

#include "base/error.h"

/* tree: the file or directory that may be read, O_PATH, borrowed; -1: nothing is opened any more.  Irreversible.  0;
 * -EOPNOTSUPP where the kernel has no such filter; -errno. */
CORDON_MUST_CHECK int reader_confine(int tree);
