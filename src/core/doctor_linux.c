/* SPDX-License-Identifier: Apache-2.0 */
/* The table of Linux's mechanisms. */
#include "core/doctor_linux.h"

#include <assert.h>

static const struct doctor_mechanism doctor_mechanisms_here[] = {
	{"user-namespaces", DOCTOR_NAMESPACES, doctor_try_namespaces, doctor_no_namespaces},
	{"mount-tmpfs", DOCTOR_NAMESPACES, doctor_try_tmpfs, doctor_no_namespaces},
	{"mount-proc", DOCTOR_NAMESPACES, doctor_try_proc, doctor_no_namespaces},
	{"overlay", DOCTOR_NAMESPACES, doctor_try_overlay, doctor_no_namespaces},
	{"nftables", DOCTOR_NAMESPACES, doctor_try_nftables, doctor_no_namespaces},
	{"egress-capture", DOCTOR_NAMESPACES, doctor_try_capture, doctor_no_namespaces},
	{"egress-dns", DOCTOR_NAMESPACES, doctor_try_dns, doctor_no_namespaces},
	{"egress-ipv6", DOCTOR_NAMESPACES, doctor_try_ipv6, doctor_no_namespaces},
	{"egress-proxy", 0, doctor_try_proxy},
	{"cordon-proxy", 0, doctor_try_tls},
	{"egress-broker", 0, doctor_try_broker},
	{"landlock", 0, doctor_try_landlock},
	{"seccomp-filter", 0, doctor_try_seccomp},
	{"seccomp-notify", 0, doctor_try_notify},
	{"cgroup", 0, doctor_try_cgroup, .after = doctor_after_cgroup},
	{"freezer", 0, doctor_try_freezer, .after = doctor_after_cgroup},
	{"rlimits", 0, doctor_try_rlimits},
	{"kvm", 0, doctor_try_kvm},
	{"bwrap", 0, doctor_try_bwrap},
	{"nsjail", 0, doctor_try_nsjail},
	{"clone3", 0, doctor_try_clone3},
	{"pidfd", 0, doctor_try_pidfd},
	{"openat2", 0, doctor_try_openat2},
	{"close_range", 0, doctor_try_close_range},
};
static_assert(ARRAY_LEN(doctor_mechanisms_here) <= DOCTOR_MECHANISMS_MAX, "room for every row");

const struct doctor_mechanism *doctor_table(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(doctor_mechanisms_here);
	return doctor_mechanisms_here;
}
