/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several kinds of evidence made into one confidence.  CloneGuard takes the weighted mean over the signals that
 * are present, which lets a weak second signal talk a strong first one down.  Here the strongest signal
 * stands, and the others close a part of what is missing to certainty: the part that the same weights give
 * them.  So more findings can only raise a verdict, and two kinds of evidence that agree can reach a threshold that
 * neither reaches alone; two findings of one kind cannot.
 */
#pragma once

#include "verdict/verdict.h"

/* The share of a signal in a mode; the shares of all signals are 1. */
double fuse_weight(enum signal_kind signal, enum fuse_mode mode);
/* The strongest confidence of each signal, 0 where there is none: of the findings that lead to the claim, and of
 * all.  No argument that rises lowers the result. */
double fuse_confidence(const double lead[static SIGNAL_COUNT],
		       const double support[static SIGNAL_COUNT], enum fuse_mode mode);
const char *signal_name(enum signal_kind signal);
