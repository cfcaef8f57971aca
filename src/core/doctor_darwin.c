/* SPDX-License-Identifier: Apache-2.0 */
/* The table of macOS's mechanisms. */
#include "core/doctor_probe.h"

#include "backend/apple/apple.h"
#include "backend/launch/tool.h"
#include "backend/seatbelt/seatbelt.h"
#include "base/fd.h"

static void doctor_try_program(const char *name, const char *fix, struct doctor_row *ret)
{
	char path[TOOL_PATH_MAX];
	char why[TOOL_WHY_MAX];
	int fd = tool_open(name, path, why);

	if (fd < 0) {
		doctor_bad(ret, 0, why, fix);
		return;
	}
	(void)fd_close(fd);
	doctor_good(ret, "%s", path);
}

static void doctor_try_seatbelt(const struct doctor_context *c, struct doctor_row *ret)
{
	(void)c;
	doctor_try_program(SEATBELT_PROGRAM, "it is a part of macOS", ret);
}

static void doctor_try_container(const struct doctor_context *c, struct doctor_row *ret)
{
	(void)c;
	doctor_try_program(APPLE_PROGRAM, "install Apple's container", ret);
}

static const struct doctor_mechanism doctor_mechanisms_here[] = {
	{SEATBELT_PROGRAM, 0, doctor_try_seatbelt},
	{APPLE_PROGRAM, 0, doctor_try_container},
};

const struct doctor_mechanism *doctor_table(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(doctor_mechanisms_here);
	return doctor_mechanisms_here;
}
