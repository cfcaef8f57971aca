/* SPDX-License-Identifier: Apache-2.0 */
/* See denied_print.h. */
#include "cli/denied_print.h"

#include "base/log.h"

#include <string.h>

static void denied_print_one(const struct denied *d)
{
	bool has_option = d->remedy[0] == '-';

	if (strcmp(d->kind, "limit") == 0) {
		log_warning("run: reached %s%s; raise it with %s", d->rule,
			    d->is_inferred ? " (inferred)" : "", d->remedy);
		return;
	}
	log_warning("denied: %s%s%s%s: %s; %s%s", d->access[0] ? d->access : d->kind,
		    d->access[0] || strcmp(d->kind, "host") == 0 ? " " : ": ", d->target,
		    d->is_inferred ? " (inferred)" : "", d->rule,
		    has_option ? "allow it with " : "remedy: ", d->remedy);
}

void denied_print(const struct report *report)
{
	bool tells_all = log_level() == LOG_LEVEL_VERBOSE;
	size_t printed = 0;
	size_t left = 0;

	for (size_t i = 0; i < report->n_denied; i++) {
		const struct denied *d = &report->denied[i];

		if (d->is_minor && !tells_all)
			continue;
		if (printed < DENIED_PRINT_MAX) {
			denied_print_one(d);
			printed++;
		} else {
			left++;
		}
	}
	if (left + report->denied_dropped)
		log_warning("denied: %llu more; --report FILE has them",
			    (unsigned long long)(left + report->denied_dropped));
	if (report->seen.lost)
		log_warning(
			"denied: %llu more facts were seen than are kept: the list may lack some",
			(unsigned long long)report->seen.lost);
}

void findings_print(const struct report *report, const char *verb)
{
	for (size_t i = 0; i < report->findings.n; i++) {
		const struct finding *f = &report->findings.items[i];

		if ((f->level > THREAT_LOW && strcmp(f->rule, FINDING_RULE_NEW_GIT) == 0) ||
		    strcmp(f->rule, FINDING_RULE_GIT_LINK) == 0 ||
		    strcmp(f->rule, FINDING_RULE_UNWATCHED) == 0)
			log_warning("%s: %s", verb, f->message);
	}
}
