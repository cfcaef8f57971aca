/* SPDX-License-Identifier: Apache-2.0 */
/* On macOS major() and minor() come with the types. */
#pragma once

#include <sys/types.h>
