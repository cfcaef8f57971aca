/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of Linux's mechanisms.  Private to doctor_*.c. */
#pragma once

#include "core/doctor_probe.h"

#include <linux/sched.h>

/* doctor_namespace.c */
#define DOCTOR_NAMESPACES ((uint64_t)CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET)
void doctor_no_namespaces(int error, struct doctor_row *ret);
void doctor_try_namespaces(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_tmpfs(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_proc(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_overlay(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_nftables(const struct doctor_context *c, struct doctor_row *ret);
/* Maps our own ids to themselves, and nothing else: what an unprivileged user may do.  False: ret says why not. */
bool doctor_map(const struct doctor_context *c, struct doctor_row *ret);

/* doctor_network.c */
void doctor_try_capture(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_dns(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_ipv6(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_proxy(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_broker(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_tls(const struct doctor_context *c, struct doctor_row *ret);

/* doctor_kernel.c */
void doctor_try_landlock(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_seccomp(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_notify(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_kvm(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_bwrap(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_nsjail(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_pidfd(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_clone3(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_openat2(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_close_range(const struct doctor_context *c, struct doctor_row *ret);

/* doctor_cgroup.c */
void doctor_try_cgroup(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_freezer(const struct doctor_context *c, struct doctor_row *ret);
void doctor_try_rlimits(const struct doctor_context *c, struct doctor_row *ret);
void doctor_after_cgroup(const struct doctor_context *c);
