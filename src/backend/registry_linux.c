/* SPDX-License-Identifier: Apache-2.0 */
/* The backends of a build for Linux; those for macOS are among them, so that they can be asked for and say why not. */
#include "backend/registry.h"

#include "backend/apple/apple.h"
#include "backend/bwrap/bwrap.h"
#include "backend/chroot/chroot.h"
#include "backend/container/container.h"
#include "backend/firecracker/firecracker.h"
#include "backend/gvisor/gvisor.h"
#include "backend/landlock/landlock.h"
#include "backend/native/native.h"
#include "backend/noop/noop.h"
#include "backend/nsjail/nsjail.h"
#include "backend/seatbelt/seatbelt.h"
#include "backend/vm/qemu.h"
#include "backend/wasm/wasm.h"

#include <assert.h>

/* Strongest first. */
static const struct cordon_backend *const registry_list[] = {
	&firecracker_backend, &qemu_backend,     &gvisor_backend, &apple_backend, &docker_backend,
	&podman_backend,      &wasm_backend,     &native_backend, &bwrap_backend, &nsjail_backend,
	&landlock_backend,    &seatbelt_backend, &chroot_backend, &noop_backend,
};
static_assert(ARRAY_LEN(registry_list) <= BACKEND_COUNT, "each backend is listed once");

const guarantee_set registry_lacks = GUARANTEE_NONE;

const struct cordon_backend *const *registry_all(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(registry_list);
	return registry_list;
}
