/* SPDX-License-Identifier: Apache-2.0 */
/* See remember.h. */
#include "core/remember.h"

#include "base/limits.h"
#include "base/path.h"
#include "core/look.h"
#include "session/names.h"

#include <stdio.h>
#include <string.h>

static bool remember_is_needed(const struct policy *p, const struct request *r)
{
	return r->session || p->sequences.n > 0;
}

static enum taint_action remember_action(const struct policy *p)
{
	return policy_has(p, POLICY_TAINT_ACTION) ? (enum taint_action)p->taint_action
						  : TAINT_DENY_EGRESS;
}

static int remember_taint(struct remember *m, struct findings *findings, struct cordon_error *err)
{
	struct session_info info;
	struct finding f = {
		.rule = FINDING_RULE_TAINT,
		.signal = SIGNAL_SEQUENCE,
		.type = FINDING_FILE_ACCESS,
		.level = THREAT_NONE, /* a state, no claim about this call */
		.confidence = 1,
	};
	int r = session_find(m->store, m->request->session, &info, err);

	if (r <= 0 || info.tainted_ms == 0 || remember_action(m->policy) == TAINT_IGNORE)
		return r < 0 ? r : 0;
	m->is_tainted = true;
	(void)snprintf(m->taint, sizeof(m->taint), "%s", info.taint);
	(void)snprintf(f.message, sizeof(f.message),
		       "this session opened '%.120s'; 'cordon session lift' forgets it",
		       info.taint);
	return findings_add(findings, &f) < 0 ? cordon_nomem(err) : 0;
}

/* The facts of the call, by its words. */
static int remember_observe(struct remember *m, const char *home, struct cordon_error *err)
{
	struct buf text = BUF_INIT((size_t)8 * LIMIT_ARG_BYTES);
	struct session_call call = {
		.tool = m->request->tool,
		.cwd = m->request->cwd,
		.home = home,
	};
	int r;

	look_text(m->request, &text);
	call.command = buf_cstr(&text);
	r = buf_error(&text);
	if (r == 0)
		r = observe_call(&call, &m->observed);
	buf_done(&text);
	return r < 0 ? cordon_fail_leaf(err, r, "read the call") : 0;
}

static struct session_event remember_claim(const struct remember *m)
{
	return (struct session_event){
		.source = SESSION_CLAIMED,
		.facts = m->observed.facts,
		.tool = m->request->tool,
		.target = m->observed.target,
	};
}

int remember_begin(const struct policy *p, const struct request *r, const char *state_dir,
		   const char *home, struct remember *ret, struct findings *findings,
		   struct cordon_error *err)
{
	static const struct sequence_state nothing;
	struct session_event event;
	int e;

	*ret = (struct remember){.policy = p, .request = r};
	if (!remember_is_needed(p, r))
		return 0;
	e = remember_observe(ret, home, err);
	if (e < 0)
		return e;
	event = remember_claim(ret);
	if (!r->session)
		return sequence_judge(&nothing, &event, p, findings) < 0 ? cordon_nomem(err) : 0;
	e = session_open(state_dir, &ret->store, err);
	if (e == 0)
		e = session_judge(ret->store, r->session, &event, p, findings, err);
	if (e == 0)
		e = remember_taint(ret, findings, err);
	return e;
}

bool remember_denies_egress(const struct remember *m)
{
	return m->is_tainted && remember_action(m->policy) == TAINT_DENY_EGRESS;
}

int remember_start(struct remember *m, struct cordon_error *err)
{
	struct session_event event = remember_claim(m);

	return m->store ? session_add(m->store, m->request->session, &event, 1, err) : 0;
}

/* A write that was refused tells what was meant. */
static unsigned remember_denied(const struct remember *m, const struct denied *d)
{
	if (strcmp(d->kind, "host") == 0)
		return SESSION_NETWORK;
	if (strcmp(d->kind, "path") != 0 || d->is_inferred)
		return 0;
	if (strcmp(d->access, "write") == 0)
		return names_write_facts(d->target, m->request->cwd) & ~(unsigned)SESSION_OUTSIDE;
	return 0;
}

/* What it wrote in the workspace, as the change set has it. */
static unsigned remember_changed(const struct remember *m, const struct change *c)
{
	AUTO_FREE char *path = NULL;

	if (c->is_implied || c->op == CHANGE_DELETED ||
	    path_join(m->request->cwd, c->path, &path) < 0)
		return 0;
	return names_write_facts(path, m->request->cwd) & ~(unsigned)SESSION_OUTSIDE;
}

/* What the words of the call gave away already is not said twice. */
static bool remember_has(const struct findings *f, const char *rule)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->items[i].rule, rule) == 0)
			return true;
	return false;
}

/* Judged first, with everything that came before; then kept. */
static int remember_event(struct remember *m, unsigned facts, const char *target,
			  struct findings *findings, struct cordon_error *err)
{
	struct session_event event = {
		.source = SESSION_KERNEL,
		.facts = facts,
		.tool = m->request->tool,
		.target = target,
	};
	struct findings found = {0};
	int r = session_judge(m->store, m->request->session, &event, m->policy, &found, err);

	for (size_t i = 0; r == 0 && i < found.n; i++)
		if (!remember_has(findings, found.items[i].rule) &&
		    findings_add(findings, &found.items[i]) < 0)
			r = cordon_nomem(err);
	findings_done(&found);
	return r < 0 ? r : session_add(m->store, m->request->session, &event, 1, err);
}

/*
 * Which sensitive files were opened is not known: there are more than can be watched, or watching failed.  Calls can bring
 * that about (names of no worth, made by the hundred), so it counts as if one had been.  Not watching these in a large project
 * would be the same hole; what it needs there is a person who says so in the policy.
 */
static int remember_unwatched(struct remember *m, struct findings *findings,
			      struct cordon_error *err)
{
	struct finding f = {
		.rule = FINDING_RULE_UNWATCHED,
		.signal = SIGNAL_SEQUENCE,
		.type = FINDING_FILE_ACCESS,
		.level = THREAT_LOW, /* nobody says that one was opened */
		.confidence = 1,
	};

	if (remember_action(m->policy) == TAINT_IGNORE)
		return 0;
	(void)snprintf(f.message, sizeof(f.message),
		       "not all files with names of secrets could be watched (%d can be, and "
		       "fs.inotify.max_user_watches), so the session counts as having opened one: "
		       "'cordon session lift', or policy.taint.action 'log' or 'ignore'",
		       LIMIT_SENSITIVE);
	if (findings_add(findings, &f) < 0)
		return cordon_nomem(err);
	return remember_event(m, SESSION_SENSITIVE, "files that could not be watched", findings,
			      err);
}

int remember_end(struct remember *m, struct report *report, struct cordon_error *err)
{
	unsigned known = 0;
	size_t n_findings = report->findings.n;
	int r = 0;

	if (!m->store)
		return 0;
	for (size_t i = 0; r == 0 && i < report->seen.n; i++)
		if (report->seen.events[i].kind == SEEN_OPENED && !(known & SESSION_SENSITIVE)) {
			known |= SESSION_SENSITIVE;
			r = remember_event(m, SESSION_SENSITIVE, report->seen.events[i].text,
					   &report->findings, err);
		}
	if (r == 0 && report->result.misses_opened && !(known & SESSION_SENSITIVE)) {
		known |= SESSION_SENSITIVE;
		r = remember_unwatched(m, &report->findings, err);
	}
	for (size_t i = 0; r == 0 && i < n_findings; i++) {
		const struct finding *f = &report->findings.items[i];

		if (((strcmp(f->rule, FINDING_RULE_NEW_GIT) == 0 && f->level > THREAT_LOW) ||
		     strcmp(f->rule, FINDING_RULE_GIT_LINK) == 0) &&
		    !(known & SESSION_GIT_RUNS)) {
			known |= SESSION_GIT_RUNS;
			r = remember_event(m, SESSION_GIT_RUNS, f->snippet, &report->findings, err);
		}
	}
	for (size_t i = 0; r == 0 && i < report->changes.n; i++) {
		unsigned facts = remember_changed(m, &report->changes.v[i]);

		if (facts & ~known)
			r = remember_event(m, facts, report->changes.v[i].path, &report->findings,
					   err);
		known |= facts;
	}
	for (size_t i = 0; r == 0 && i < report->n_denied; i++) {
		unsigned facts = remember_denied(m, &report->denied[i]);

		if (facts & ~known)
			r = remember_event(m, facts, report->denied[i].target, &report->findings,
					   err);
		known |= facts;
	}
	return r;
}

void remember_done(struct remember *m)
{
	session_close(m->store);
	*m = (struct remember){0};
}
