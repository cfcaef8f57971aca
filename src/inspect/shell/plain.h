/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax tree of one simple command of plain words, made without the parser.
 *
 * Most calls are of this kind, and most processes judge one call: to touch the grammar's tables costs such a
 * process more than everything else that reads the command.  What is made here is the tree that the parser makes,
 * node by node (tests/unit/test_plain.c compares them); a text about which there is the least doubt is left to it.
 */
#pragma once

#include "inspect/shell/tree.h"

/* Fills *ret when text is one command of plain words on one line, words in single quotes included.  False: it is
 * not, or there is no memory; ask the parser. */
bool plain_tree(const char *text, size_t len, struct arena *arena, struct shell_tree *ret);
