/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon-wasm: a program of its own that runs one WebAssembly module with WasmEdge's library.  It is carried inside
 * ours and executed in the sandbox, by the loader of the machine or by the one that came with the engine, so that
 * neither our own program nor the machine's C library has to fit the engine's.
 *
 * Why not the engine's own program: that writes what it has to say about a module to the module's standard output,
 * takes variables only as words that everybody on the machine can read, and ends alike when the fuel is used up and
 * when the module says so itself.
 */
#include "backend/wasm/call.h"
#include "backend/wasm/imports.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/parse.h"
#include "base/str.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The part of the library's interface that is used; it has been the same since version 0.10. */
struct engine_result {
	uint32_t code;
};

struct engine_string {
	uint32_t len;
	const char *data;
};

#define ENGINE_WASI 0           /* the kind of host functions */
#define ENGINE_FUEL_USED 0x03   /* a code */
#define ENGINE_NO_FUNCTION 0x05 /* the module has no _start */
#define ENGINE_CODE_MASK 0xff
#define ENGINE_PHASE_SHIFT 8 /* of a code: what was being done */
#define ENGINE_PHASE_INSTANTIATE 3
/* Of 0 to 3.  Metered code is large, and above 1 a compiler takes several times as long. */
#define ENGINE_OPTIMISE 1

static struct {
	void (*log_off)(void);
	void *(*configure)(void);
	void (*add_host)(void *conf, int kind);
	void (*max_pages)(void *conf, uint32_t pages);
	void (*measure_cost)(void *conf, bool is_on);
	void (*force_interpreter)(void *conf, bool is_on);
	void *(*vm)(void *conf, void *store);
	void *(*host_of)(void *vm, int kind);
	void (*init_wasi)(void *host, const char *const *args, uint32_t n_args,
			  const char *const *env, uint32_t n_env, const char *const *dirs,
			  uint32_t n_dirs);
	uint32_t (*exit_code)(void *host);
	void *(*statistics)(void *vm);
	void (*cost_limit)(void *statistics, uint64_t limit);
	struct engine_result (*load)(void *vm, const uint8_t *data, uint32_t len);
	struct engine_result (*validate)(void *vm);
	struct engine_result (*instantiate)(void *vm);
	struct engine_result (*execute)(void *vm, struct engine_string name, const void *params,
					uint32_t n_params, void *results, uint32_t n_results);
	bool (*is_ok)(struct engine_result r);
	const char *(*message)(struct engine_result r);
	void (*optimise)(void *conf, int level);
	void *(*compiler)(void *conf);
	struct engine_result (*compile)(void *compiler, const char *from, const char *to);
} engine;

static const struct {
	const char *name;
	void *function; /* where its address goes */
} engine_functions[] = {
	{"WasmEdge_LogOff", &engine.log_off},
	{"WasmEdge_ConfigureCreate", &engine.configure},
	{"WasmEdge_ConfigureAddHostRegistration", &engine.add_host},
	{"WasmEdge_ConfigureSetMaxMemoryPage", &engine.max_pages},
	{"WasmEdge_ConfigureStatisticsSetCostMeasuring", &engine.measure_cost},
	{"WasmEdge_ConfigureSetForceInterpreter", &engine.force_interpreter},
	{"WasmEdge_VMCreate", &engine.vm},
	{"WasmEdge_VMGetImportModuleContext", &engine.host_of},
	{"WasmEdge_ModuleInstanceInitWASI", &engine.init_wasi},
	{"WasmEdge_ModuleInstanceWASIGetExitCode", &engine.exit_code},
	{"WasmEdge_VMGetStatisticsContext", &engine.statistics},
	{"WasmEdge_StatisticsSetCostLimit", &engine.cost_limit},
	{"WasmEdge_VMLoadWasmFromBuffer", &engine.load},
	{"WasmEdge_VMValidate", &engine.validate},
	{"WasmEdge_VMInstantiate", &engine.instantiate},
	{"WasmEdge_VMExecute", &engine.execute},
	{"WasmEdge_ResultOK", &engine.is_ok},
	{"WasmEdge_ResultGetMessage", &engine.message},
	{"WasmEdge_ConfigureCompilerSetOptimizationLevel", &engine.optimise},
	{"WasmEdge_CompilerCreate", &engine.compiler},
	{"WasmEdge_CompilerCompile", &engine.compile},
};

struct host_call {
	const char *library;
	const char *module;
	const char *compile; /* or NULL: run */
	bool is_own_code;
	bool has_fuel;
	int64_t fuel;
	int64_t pages; /* 0: no limit but the format's own */
	struct strv args;
	struct strv env;
	struct strv dirs;
};

__attribute__((format(printf, 2, 3))) _Noreturn static void host_leave(int code, const char *fmt,
								       ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)fputs("cordon: ", stderr); /* standard error is all there is to tell it to */
	(void)vfprintf(stderr, fmt, ap);
	(void)fputc('\n', stderr);
	va_end(ap);
	_exit(code);
}

static int host_take(struct host_call *c, enum wasm_key key, const char *value)
{
	switch (key) {
	case WASM_KEY_LIBRARY:
		c->library = value;
		return 0;
	case WASM_KEY_MODULE:
		c->module = value;
		return 0;
	case WASM_KEY_OWN:
		c->is_own_code = true;
		return 0;
	case WASM_KEY_COMPILE:
		c->compile = value;
		return 0;
	case WASM_KEY_FUEL:
		c->has_fuel = true;
		return parse_int(value, 0, INT64_MAX, &c->fuel);
	case WASM_KEY_PAGES:
		return parse_int(value, 1, WASM_PAGE_BYTES, &c->pages);
	case WASM_KEY_ARG:
		return strv_add(&c->args, value);
	case WASM_KEY_ENV:
		return strv_add(&c->env, value);
	case WASM_KEY_DIR:
		return strv_add(&c->dirs, value);
	case WASM_KEY_END:
	case WASM_KEY_COUNT:
		break;
	}
	return -EINVAL;
}

static void host_read_call(const char *path, struct host_call *ret)
{
	char *data = NULL; /* what *ret borrows; never freed */
	const char *at;
	const char *value = NULL;
	enum wasm_key key = WASM_KEY_END;
	size_t len = 0;
	int r = io_read_file_at(AT_FDCWD, path, WASM_CALL_MAX, &data, &len);

	at = data;
	while (r == 0) {
		r = wasm_call_next(&at, data + len, &key, &value);
		if (r == 0 && ret->library && ret->module)
			return;
		r = r > 0 ? host_take(ret, key, value) : -EINVAL;
	}
	host_leave(WASM_EXIT_TROUBLE, "wasm: the call cannot be read: %s", strerror(-r));
}

static void host_load_engine(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		host_leave(WASM_EXIT_TROUBLE, "wasm: %s", dlerror());
	for (size_t i = 0; i < ARRAY_LEN(engine_functions); i++) {
		void *f = dlsym(handle, engine_functions[i].name);

		if (!f)
			host_leave(WASM_EXIT_TROUBLE, "wasm: %s has no %s", library,
				   engine_functions[i].name);
		memcpy(engine_functions[i].function, &f, sizeof(f));
	}
}

static void host_read_module(const struct host_call *c, char **ret, size_t *ret_len)
{
	const char *path = c->module;
	int r = io_read_file_at(AT_FDCWD, path, WASM_MODULE_MAX, ret, ret_len);

	if (r == -ENOENT || r == -ENOTDIR)
		host_leave(WASM_EXIT_NOT_FOUND, "'%s': not found inside the sandbox", path);
	if (r < 0)
		host_leave(WASM_EXIT_NO_MODULE, "'%s': %s", path, strerror(-r));
	if (*ret_len < WASM_MAGIC_LEN || memcmp(*ret, WASM_MAGIC, WASM_MAGIC_LEN) != 0)
		host_leave(WASM_EXIT_NO_MODULE,
			   "'%s' is not a WebAssembly module of version 1: it does not begin "
			   "with \\0asm",
			   path);
	if (!c->is_own_code && wasm_has_machine_code(*ret, *ret_len))
		host_leave(WASM_EXIT_NO_MODULE,
			   "'%s' brings machine code, which is not run: give the module as it was "
			   "before it was compiled",
			   path);
}

/* The fuel is used up: ends in a way that a module cannot. */
_Noreturn static void host_out_of_fuel(void)
{
	sigset_t set;

	(void)fputs("cordon: the fuel of this call is used up\n", stderr);
	(void)signal(WASM_FUEL_SIGNAL, SIG_DFL);
	(void)sigemptyset(&set); /* cannot fail with a valid pointer */
	(void)sigaddset(&set, WASM_FUEL_SIGNAL);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(WASM_FUEL_SIGNAL);
	_exit(WASM_EXIT_TROUBLE);
}

/* What could not be done with the module before anything of it ran. */
static void host_prepared(const struct host_call *c, const char *data, size_t len,
			  struct engine_result r)
{
	char import[WASM_IMPORT_MAX];

	if (engine.is_ok(r))
		return;
	if (r.code == ENGINE_FUEL_USED)
		host_out_of_fuel();
	if ((r.code >> ENGINE_PHASE_SHIFT & ENGINE_CODE_MASK) == ENGINE_PHASE_INSTANTIATE &&
	    wasm_foreign_import(data, len, import))
		host_leave(WASM_EXIT_NO_MODULE,
			   "'%s' imports %s, which is not of WASI preview 1 (%s)", c->module,
			   import, engine.message(r));
	host_leave(WASM_EXIT_NO_MODULE, "'%s' is not a module that can run: %s", c->module,
		   engine.message(r));
}

static void *host_configure(const struct host_call *c)
{
	void *conf = engine.configure();

	if (!conf)
		host_leave(WASM_EXIT_TROUBLE, "wasm: out of memory");
	engine.add_host(conf, ENGINE_WASI);
	if (c->pages > 0)
		engine.max_pages(conf, (uint32_t)c->pages);
	/* A compiled module that measures cannot run without. */
	engine.measure_cost(conf, c->has_fuel);
	engine.force_interpreter(conf, !c->is_own_code);
	return conf;
}

_Noreturn static void host_compile(const struct host_call *c)
{
	void *conf = host_configure(c);
	char *data = NULL; /* only looked at */
	size_t len = 0;
	void *compiler;
	struct engine_result r;

	host_read_module(c, &data, &len);
	engine.optimise(conf, ENGINE_OPTIMISE);
	compiler = engine.compiler(conf);
	if (!compiler)
		host_leave(WASM_EXIT_TROUBLE, "wasm: this engine has no compiler");
	r = engine.compile(compiler, c->module, c->compile);
	if (!engine.is_ok(r))
		host_leave(WASM_EXIT_NO_MODULE, "'%s' cannot be compiled: %s", c->module,
			   engine.message(r));
	_exit(0);
}

_Noreturn static void host_run(const struct host_call *c)
{
	static const char start[] = "_start";
	const struct engine_string name = {.len = sizeof(start) - 1, .data = start};
	char *data = NULL;
	size_t len = 0;
	void *vm;
	void *wasi;
	struct engine_result r;

	host_read_module(c, &data, &len);
	vm = engine.vm(host_configure(c), /* store= */ NULL);
	wasi = vm ? engine.host_of(vm, ENGINE_WASI) : NULL;
	if (!wasi)
		host_leave(WASM_EXIT_TROUBLE, "wasm: the engine does not start");
	engine.init_wasi(wasi, (const char *const *)c->args.v, (uint32_t)c->args.n,
			 (const char *const *)c->env.v, (uint32_t)c->env.n,
			 (const char *const *)c->dirs.v, (uint32_t)c->dirs.n);
	if (c->has_fuel)
		engine.cost_limit(engine.statistics(vm), (uint64_t)c->fuel);
	host_prepared(c, data, len, engine.load(vm, (const uint8_t *)data, (uint32_t)len));
	host_prepared(c, data, len, engine.validate(vm));
	host_prepared(c, data, len, engine.instantiate(vm));
	r = engine.execute(vm, name, NULL, 0, NULL, 0);
	if (engine.is_ok(r))
		_exit((int)(engine.exit_code(wasi) & ENGINE_CODE_MASK));
	if (r.code == ENGINE_FUEL_USED)
		host_out_of_fuel();
	if (r.code == ENGINE_NO_FUNCTION)
		host_leave(WASM_EXIT_NO_MODULE,
			   "'%s' has no function _start: it is a library, not a command",
			   c->module);
	host_leave(WASM_EXIT_TRAP, "'%s': trap: %s", c->module, engine.message(r));
}

int main(int argc, char **argv)
{
	struct host_call call = {0};

	if (argc != 2)
		host_leave(WASM_EXIT_TROUBLE, "wasm: one word: the call");
	host_read_call(argv[1], &call);
	host_load_engine(call.library);
	engine.log_off();
	if (call.compile)
		host_compile(&call);
	host_run(&call);
}
