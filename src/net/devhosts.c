/* SPDX-License-Identifier: Apache-2.0 */
/* See devhosts.h. */
#include "net/devhosts.h"

#include <stddef.h>

/* Where packages, sources and images of the common languages come from; a name and what is below it are two entries. */
const char *const devhosts_allow[] = {
	"github.com",
	"*.github.com",
	"*.githubusercontent.com",
	"golang.org",
	"*.golang.org",
	"npmjs.org",
	"*.npmjs.org",
	"pypi.org",
	"*.pypi.org",
	"files.pythonhosted.org",
	"crates.io",
	"*.crates.io",
	"rubygems.org",
	"*.rubygems.org",
	"docker.io",
	"*.docker.io",
	"registry.k8s.io",
	"registry.terraform.io",
	"*.googleapis.com",
	NULL,
};

/* Private addresses are closed by their class, not by names that look like them. */
const char *const devhosts_block[] = {
	"*.internal",
	NULL,
};
