/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See machine.h.  What is asked of QEMU, and what is not:
 *
 * -nodefaults, -nic none: no device that is not in the list; no network card at all.
 * -sandbox: its own filter, without ever starting a program or changing its user.
 * The share's security_model=none: files belong to who runs the emulator, whose rights are those of the call and no
 * more: it has no capability.  multidevs=remap: the view is made of several file systems.
 * q35 and not microvm: Debian's kernel finds no PCI bridge on the latter without ACPI tables that it rejects.
 * One processor: emulated ones share one lock for most of what they do.
 * -cpu max with emulation; a template is only ever resumed by the program that made it.
 */
#include "backend/vm/machine.h"

#include "backend/vm/guest.h"
#include "backend/vm/room.h"

#include <errno.h>

#define MACHINE_SMALLEST_MB 512
#define MACHINE_ARGUMENTS                                                                          \
	"quiet psi=1 panic=-1 mitigations=off no_timer_check cryptomgr.notests "                   \
	"random.trust_bootloader=off"

unsigned machine_memory_mb(uint64_t limit_bytes)
{
	uint64_t need = limit_bytes / (1024 * 1024) + MACHINE_OVERHEAD_MB;
	uint64_t size = MACHINE_SMALLEST_MB;

	if (!limit_bytes)
		return MACHINE_DEFAULT_MB;
	while (size < need && size < MACHINE_MEMORY_MAX_MB)
		size *= 2;
	return (unsigned)size;
}

static int machine_memory(const struct machine *m, struct strv *out)
{
	if (m->start == MACHINE_BOOT)
		return 0;
	return strv_add(out, "-object") < 0 ||
			       strv_addf(out,
					 "memory-backend-file,id=ram,size=%uM,share=%s,"
					 "mem-path=/proc/self/fd/%d",
					 m->memory_mb, m->start == MACHINE_TEMPLATE ? "on" : "off",
					 MACHINE_FD_RAM) < 0
		       ? -ENOMEM
		       : 0;
}

static int machine_system(const struct machine *m, struct strv *out)
{
	if (strv_add(out, "-machine") < 0 ||
	    strv_addf(out, "q35,accel=%s,usb=off,vmport=off,hpet=off,smbus=off%s",
		      m->has_kvm ? "kvm" : "tcg",
		      m->start == MACHINE_BOOT ? "" : ",memory-backend=ram") < 0 ||
	    strv_add(out, "-cpu") < 0 || strv_add(out, m->has_kvm ? "host" : "max") < 0 ||
	    strv_add(out, "-smp") < 0 || strv_add(out, "1") < 0 || strv_add(out, "-m") < 0 ||
	    strv_addf(out, "%uM", m->memory_mb) < 0)
		return -ENOMEM;
	return machine_memory(m, out);
}

/* A machine that is resumed has both in its memory; to read them again takes as long as to load the rest. */
static int machine_kernel(const struct machine *m, struct strv *out)
{
	if (m->start == MACHINE_RESUME)
		return 0;
	return strv_add(out, "-kernel") < 0 ||
			       strv_addf(out, "/proc/self/fd/%d", MACHINE_FD_KERNEL) < 0 ||
			       strv_add(out, "-initrd") < 0 ||
			       strv_addf(out, "/proc/self/fd/%d", MACHINE_FD_INITRD) < 0 ||
			       strv_add(out, "-append") < 0 || strv_add(out, MACHINE_ARGUMENTS) < 0
		       ? -ENOMEM
		       : 0;
}

int machine_line(const struct machine *m, struct strv *out)
{
	static const char *const always[] = {
		"-nodefaults",
		"-no-user-config",
		"-display",
		"none",
		"-nic",
		"none",
		"-no-reboot",
		"-sandbox",
		"on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
		"-device",
		"virtio-serial-pci,max_ports=3",
		"-device",
		"virtserialport,chardev=link,nr=1",
		"-device",
		"virtserialport,chardev=network,nr=2",
		"-fsdev",
		"local,id=view,path=" ROOM_VIEW ",security_model=none,multidevs=remap",
		"-device",
		("virtio-9p-pci,fsdev=view,mount_tag=" GUEST_TAG),
	};
	int r = strv_add(out, MACHINE_PROGRAM);

	if (r == 0)
		r = machine_system(m, out);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(always); i++)
		r = strv_add(out, always[i]);
	if (r < 0 || strv_add(out, "-chardev") < 0 ||
	    strv_addf(out, "socket,id=link,fd=%d", MACHINE_FD_LINK) < 0 ||
	    strv_add(out, "-chardev") < 0 ||
	    strv_addf(out, "socket,id=network,fd=%d", MACHINE_FD_NETWORK) < 0)
		return -ENOMEM;
	r = machine_kernel(m, out);
	if (r < 0)
		return r;
	/* A template has every device that a machine of it may have. */
	if (strv_add(out, "-fsdev") < 0 ||
	    strv_addf(out,
		      "local,id=system,path=%s,security_model=none,multidevs=remap,readonly=on",
		      m->has_system ? ROOM_VIEW VM_CALL_SYSTEM : ROOM_VIEW) < 0 ||
	    strv_add(out, "-device") < 0 ||
	    strv_add(out, "virtio-9p-pci,fsdev=system,mount_tag=" GUEST_SYSTEM_TAG) < 0)
		return -ENOMEM;
	if (m->start != MACHINE_BOOT &&
	    (strv_add(out, "-chardev") < 0 ||
	     strv_addf(out, "socket,id=control,fd=%d", MACHINE_FD_CONTROL) < 0 ||
	     strv_add(out, "-mon") < 0 || strv_add(out, "chardev=control,mode=control") < 0))
		return -ENOMEM;
	if (m->start == MACHINE_RESUME &&
	    (strv_add(out, "-incoming") < 0 || strv_add(out, "defer") < 0))
		return -ENOMEM;
	return 0;
}
