/* SPDX-License-Identifier: Apache-2.0 */
/* Where our own files stand in the sandbox of an engine. */
#pragma once

#define WASM_DIR "/.cordon-wasm"
#define WASM_HOST WASM_DIR "/host"
#define WASM_CALL WASM_DIR "/call"
#define WASM_MADE WASM_DIR "/module" /* what was made of a module */

/* The host program, linked in by the build. */
extern const char wasm_program[];
extern const char wasm_program_end[];
