/* SPDX-License-Identifier: Apache-2.0 */
/* Firecracker beside its machine, as the monitor (vm/monitor.h) drives it. */
#pragma once

#include "backend/vm/monitor.h"
#include "backend/vm/room.h"

#define ENGINE_PROGRAM "firecracker"
#define ENGINE_SOCKET ROOM_RUN "/api"
#define ENGINE_VSOCK ROOM_RUN "/vsock"

extern const struct monitor_engine firecracker_engine;
