/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must not leave: the values of stored secrets, towards hosts that they are not bound to, in every form that
 * boundary.h knows; and, where the policy asks for it, whatever looks like a credential (secrets/leak.h).  Both are looked
 * for where the traffic can be read: in the line, the fields and the body of requests in plain HTTP or in TLS that ends
 * here, and in names.  What is found is passed on and told (warn), covered with as many asterisks (redact), or ends the
 * request (block).  What cannot be covered, because it is a name or lies inside of a coding, is refused instead.  So that
 * nothing of it has left by then, a body in a coding waits until it is whole (guard.h), and one that is too long for that
 * is refused; not under warn, and not where nothing is sought that the call could have (exfil_reads()).
 */
#pragma once

#include "proxy/boundary.h"
#include "proxy/loop.h"

struct exfil;

/* Is anything looked for?  Then there is a boundary, be it empty. */
bool exfil_is_on(const struct loop *l);
/* Is what may become something that must not go held back until it is known? */
bool exfil_holds(const struct loop *l);
/* What is to be looked for in names is made ready.  0 or -ENOMEM. */
CORDON_MUST_CHECK int exfil_prepare(struct loop *l);

/* For one request to that host.  NULL: no memory. */
struct exfil *exfil_new(struct loop *l, const struct host *host, uint16_t port);
void exfil_free(struct exfil *e);
/* Is something held back that the call may have and that must not go to that host?  Then what cannot be looked at does not
 * go either. */
bool exfil_reads(const struct exfil *e);
/* The head of a request, covered in place.  1: it has changed and is to be read anew, 0: it has not; -EACCES: it must not
 * go; -ENOMEM. */
CORDON_MUST_CHECK int exfil_head(struct exfil *e, char *bytes, size_t len);
/* Some of its body; appends to out what goes on, in the end as many bytes as there were.  0, -EACCES or -ENOMEM. */
CORDON_MUST_CHECK int exfil_body(struct exfil *e, const char *bytes, size_t len, bool is_end,
				 struct buf *out);
/* Some of what a body holds that is in a coding, and goes on as it is or not at all.  The same. */
CORDON_MUST_CHECK int exfil_look(struct exfil *e, const char *bytes, size_t len, bool is_end);
/* What was found, for people; "" when nothing was. */
const char *exfil_found(const struct exfil *e);

/* A host's name, as it was said.  True: it must not be spoken of. */
bool exfil_name(struct loop *l, const char *name, uint16_t port);
