/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All of libcordon.
 *
 * Handles are opaque; a handle is used by one thread at a time, different handles by as many as you
 * like.  Every function that can fail returns a negative code of error.h and takes a struct
 * cordon_error last, which may be NULL; what it gives is written only on success.  Structs that you
 * fill start with struct_size = sizeof(the struct) and zero for everything that you do not set.  Text
 * is UTF-8.  What is "given" is yours to free; what is "borrowed" lives as long as the handle that it
 * came from.
 *
 * The library never exits, aborts or prints, and leaves signal dispositions, working directory, umask
 * and environment of the process alone.
 */
#pragma once

#include <cordon/adapter.h>
#include <cordon/audit.h>
#include <cordon/backend.h>
#include <cordon/config.h>
#include <cordon/confine.h>
#include <cordon/container.h>
#include <cordon/error.h>
#include <cordon/host.h>
#include <cordon/inspect.h>
#include <cordon/policy.h>
#include <cordon/proxy.h>
#include <cordon/request.h>
#include <cordon/run.h>
#include <cordon/sandbox.h>
#include <cordon/seatbelt.h>
#include <cordon/verdict.h>
#include <cordon/verify.h>
#include <cordon/version.h>
