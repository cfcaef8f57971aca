/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See probe.h.  What the sandbox around the engine holds is native's to say.  Here is tried what is the engine's: that it
 * starts in there, that a module's exit code comes back, and that fuel is metered.
 */
#include "backend/wasm/probe.h"

#include "backend/native/native.h"
#include "backend/trial.h"
#include "backend/wasm/call.h"
#include "backend/wasm/engine.h"
#include "base/fd.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROBE_EXIT 42
#define PROBE_FUEL 10000
#define PROBE_MODULE "/cordon-trial/m.wasm"

/* (func (export "_start") (call $proc_exit (i32.const 42))), and a memory, which WASI wants */
static const char probe_exits[] = "\0asm\1\0\0\0"
				  "\1\10\2\140\0\0\140\1\177\0"
				  "\2\44\1\26wasi_snapshot_preview1\11proc_exit\0\1"
				  "\3\2\1\0"
				  "\5\3\1\0\1"
				  "\7\23\2\6_start\0\1\6memory\2\0"
				  "\12\10\1\6\0\101\52\20\0\13";
/* (func (export "_start") (loop (br 0))) */
static const char probe_loops[] = "\0asm\1\0\0\0"
				  "\1\4\1\140\0\0"
				  "\3\2\1\0"
				  "\7\12\1\6_start\0\0"
				  "\12\11\1\7\0\3\100\14\0\13\13";

/* How the module ended; false when it did not run. */
static bool probe_run(const char *module, size_t len, uint64_t fuel, struct proc_exit *ret,
		      struct cordon_error *err)
{
	char name[] = PROBE_MODULE;
	char *argv[] = {name, NULL};
	char *envp[] = {NULL};
	AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct plan_op ops[] = {
		{.kind = PLAN_OP_SYSTEM, .path = "/usr"},
		{.kind = PLAN_OP_DEV, .path = "/dev"},
		{.kind = PLAN_OP_TMPFS, .path = "/cordon-trial"},
		{.kind = PLAN_OP_FILE, .path = PROBE_MODULE, .text = module, .text_len = len},
		{.kind = PLAN_OP_SYMLINK, .path = "/lib64", .text = "usr/lib64"},
		{.kind = PLAN_OP_SYMLINK, .path = "/lib", .text = "usr/lib"},
	};
	const struct plan plan = {
		.argv = argv,
		.envp = envp,
		.cwd = "/cordon-trial",
		.stdin_fd = null,
		.stdout_fd = null,
		.stderr_fd = null,
		.ops = ops,
		.op_count = ARRAY_LEN(ops),
		.net = PLAN_NET_NONE,
		.fuel = PLAN_LIMIT(fuel),
	};
	struct spawn_result spawned = {.proc = PROC_NONE, .status_fd = -1};

	return null >= 0 && wasm_spawn(&plan, &spawned, err) == 0 &&
	       trial_end(&spawned, TRIAL_DEADLINE_MS, ret) == 0;
}

static bool probe_try(struct probe *ret)
{
	struct cordon_error err = {0};
	struct proc_exit end = {0};

	if (!probe_run(probe_exits, sizeof(probe_exits) - 1, PROBE_FUEL, &end, &err) ||
	    end.signal != 0 || end.code != PROBE_EXIT) {
		(void)snprintf(
			ret->reason, sizeof(ret->reason),
			"a trial module does not run: %.100s (exit %d, signal %d); reinstall the "
			"engine, or name another in " WASM_ENGINE_VARIABLE,
			err.message, end.code, end.signal);
		return false;
	}
	if (!probe_run(probe_loops, sizeof(probe_loops) - 1, PROBE_FUEL, &end, &err) ||
	    (end.signal != WASM_FUEL_SIGNAL && end.code != WASM_EXIT_TRAP)) {
		(void)snprintf(
			ret->reason, sizeof(ret->reason),
			"the engine does not meter fuel: %.100s (exit %d, signal %d); install a "
			"newer one, or name another in " WASM_ENGINE_VARIABLE,
			err.message, end.code, end.signal);
		return false;
	}
	return true;
}

void wasm_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	/* What only programs of the machine could use. */
	static const guarantee_set without =
		GUARANTEE_BIT(NATIVE_CODE) | GUARANTEE_BIT(DEBUG_GRANT) |
		GUARANTEE_BIT(DEVICE_GRANT) | GUARANTEE_BIT(SOCKET_GRANT);
	struct wasm_engine engine = {0};
	char why[WASM_WHY_MAX];
	struct probe around;
	struct trial trial = {.info = &backend_infos[BACKEND_WASM], .own = probe_try};

	*ret = (struct probe){0};
	if (form == PROBE_QUICK && wanted & GUARANTEE_BIT(NATIVE_CODE)) {
		(void)snprintf(ret->reason, sizeof(ret->reason),
			       "it runs WebAssembly modules only (a command that ends in .wasm or "
			       ".wat), and this is none");
		return;
	}
	if (wasm_engine_find(&engine, why) < 0) {
		(void)snprintf(ret->reason, sizeof(ret->reason), "%s", why);
		return;
	}
	native_backend.probe(form, wanted, &around);
	if (around.is_available) {
		trial.tool = engine.path;
		trial_probe(&trial, form, ret);
	} else {
		(void)snprintf(ret->reason, sizeof(ret->reason), "the engine needs native: %.200s",
			       around.reason);
	}
	if (ret->is_available) {
		ret->guarantees = (around.guarantees & ~without) | GUARANTEE_BIT(WASM_CODE);
		/* Variables are words of its command line there, which all users can read. */
		if (engine.kind != WASM_ENGINE_LIBRARY)
			ret->guarantees &= ~GUARANTEE_BIT(SECRET_ENV);
		ret->by_rlimit = around.by_rlimit;
		(void)snprintf(ret->lacks, sizeof(ret->lacks), "%s", around.lacks);
		(void)snprintf(ret->reason, sizeof(ret->reason),
			       "%s ran trial modules and metered them",
			       wasm_engine_name(engine.kind));
	}
	wasm_engine_done(&engine);
}
