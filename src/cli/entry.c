/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the static program begins, before the C library.  Some fifty pages of tables are about to be relocated, and
 * each of them would be a page fault; one system call makes all of them ours.  The rest is left out of the start
 * because nothing here needs it: the directory that the program is in, which only a loader of code would search, and
 * questions to the processor that the C library has asked already (on a virtual machine each of them goes to the
 * host).
 *
 * Nothing is relocated and there is no thread yet: no pointers in tables, no stack protector.  Trouble is no error:
 * what is not prepared is done when it is touched.
 */
#include "base/raw.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define ENTRY_PAGE_BYTES 4096 /* or a multiple: then the call is refused */

#if defined(__x86_64__) && defined(MADV_POPULATE_WRITE)
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
void entry_begin(void);
__attribute__((used, no_stack_protector)) void entry_prepare(void);

/* What the file has of the segment that is written to. */
void entry_prepare(void)
{
	const ElfW(Ehdr) *head = &__ehdr_start;
	uintptr_t base = (uintptr_t)head;
	const ElfW(Phdr) *p = (const void *)(base + head->e_phoff);

	for (size_t i = 0; i < head->e_phnum; i++) {
		uintptr_t from = (base + p[i].p_vaddr) & ~(uintptr_t)(ENTRY_PAGE_BYTES - 1);
		uintptr_t to = (base + p[i].p_vaddr + p[i].p_filesz + ENTRY_PAGE_BYTES - 1) &
			       ~(uintptr_t)(ENTRY_PAGE_BYTES - 1);

		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_W)
			(void)raw_call(SYS_madvise, from, to - from, MADV_POPULATE_WRITE);
	}
}

/* The kernel's stack and register go on to the C library as they came. */
__asm__(".text\n"
	".globl entry_begin\n"
	".hidden entry_begin\n"
	".type entry_begin, @function\n"
	"entry_begin:\n"
	"	endbr64\n"
	"	push %rdx\n"
	"	push %rdx\n"
	"	call entry_prepare\n"
	"	pop %rdx\n"
	"	pop %rdx\n"
	"	jmp _start\n"
	".size entry_begin, . - entry_begin\n");
#endif

/* For _dl_get_origin(): nobody knows. */
char *__wrap__dl_get_origin(void);

char *__wrap__dl_get_origin(void)
{
	return (char *)-1;
}

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#include <cpuid.h>
#include <sys/platform/x86.h>

void __wrap__nettle_cpuid(uint32_t input, uint32_t regs[4]);

/* For Nettle, which asks for the vendor (leaf 0; it matters for the speed of something that we do not use), and in
 * leaves 1 and 7 for instructions that encrypt and hash. */
void __wrap__nettle_cpuid(uint32_t input, uint32_t regs[4])
{
	if (input == 0)
		memset(regs, 0, 4 * sizeof(*regs));
	else if (input == 1 || input == 7)
		memcpy(regs,
		       __x86_get_cpuid_feature_leaf(input == 1 ? CPUID_INDEX_1 : CPUID_INDEX_7)
			       ->cpuid_array,
		       4 * sizeof(*regs));
	else
		__cpuid_count(input, 0, regs[0], regs[1], regs[2], regs[3]);
}
#endif
