/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system call without libc: for a process that shares its memory with another one that runs at the same
 * time.  They share errno too, and a failure of one would be taken for a failure of the other.
 */
#pragma once

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The result or -errno. */
static inline long raw_call5(long number, long a, long b, long c, long d, long e)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return r;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory");
	return x0;
#else
	long r = syscall(number, a, b, c, d, e);

	return r < 0 ? -errno : r;
#endif
}

/* Up to five arguments, numbers or pointers. */
#define RAW_PICK(a, b, c, d, e, ...) (long)(a), (long)(b), (long)(c), (long)(d), (long)(e)
#define raw_call(number, ...) raw_call5(number, RAW_PICK(__VA_ARGS__, 0, 0, 0, 0, 0, 0))
