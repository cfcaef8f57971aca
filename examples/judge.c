/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the findings of a detector of one's own to a verdict.  This detector knows one word, and is the
 * surer the more often it reads it.
 *
 *   judge TEXT
 */
#include <cordon/cordon.h>

#include <stdio.h>
#include <string.h>

static double confidence(const char *text)
{
	double sure = 0;

	while ((text = strstr(text, "password")) != NULL) {
		sure += 0.4;
		text++;
	}
	return sure > 1 ? 1 : sure;
}

int main(int argc, char **argv)
{
	struct cordon_finding finding = {
		.struct_size = sizeof(finding),
		.rule = "example-password",
		.type = "data_leak",
		.level = CORDON_THREAT_HIGH,
		.confidence = confidence(argc == 2 ? argv[1] : ""),
		.message = "the text speaks of a password",
	};
	struct cordon_decision decision = {.struct_size = sizeof(decision)};
	struct cordon_findings *findings = NULL;
	struct cordon_error err;
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: judge TEXT\n");
		return 125;
	}
	r = cordon_findings_new(&findings, &err);
	if (r == 0 && finding.confidence > 0)
		r = cordon_findings_add(findings, &finding, &err);
	if (r == 0)
		r = cordon_verdict_decide(findings, /* thresholds= */ NULL, "Bash", &decision,
					  &err);
	if (r == 0)
		printf("%s: %s\n", cordon_verdict_name(decision.verdict), decision.matched);
	else
		fprintf(stderr, "judge: %s\n", err.message);
	cordon_findings_free(findings);
	return r < 0 ? 125 : (int)decision.verdict;
}
