/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sandbox that stays is made of: the plan of its view, its limits and its network, and all that the plan
 * borrows.  What belongs to a single call (its command, time and output limits) comes with the call.
 */
#pragma once

#include "backend/confine/seccomp.h"
#include "backend/select.h"
#include "core/egress.h"
#include "core/fsplan.h"
#include "core/inject.h"
#include "core/ports.h"
#include "core/workset.h"
#include "session/sandbox.h"

struct keeper_plan {
	struct plan plan;
	struct selection selection;
	struct request *request;
	struct fsplan view;
	/* Locked until the sandbox is there; after that whoever works with the change set has it stopped. */
	struct cow cow;
	struct callset calls;
	struct ports ports;
	struct egress_call egress;
	struct inject inject; /* until the sandbox is there */
	struct egress_secrets secrets;
	char *config_dir;
	char *runtime_dir;
};

/* Is there something in the policy that a sandbox which stays cannot have?  Then CORDON_E_UNSUPPORTED. */
CORDON_MUST_CHECK int keeper_plan_check(const struct policy *p, struct cordon_error *err);
/* Who holds it.  backend NULL: what the policy names, or the strongest that works here and can hold all of it.  A named
 * one that cannot is an error that says why. */
CORDON_MUST_CHECK int keeper_plan_select(const struct policy *p, const char *backend,
					 struct selection *ret, struct cordon_error *err);
/* Plans for what was selected; starts nothing.  The row and the policy must live as long.  *ret is always set
 * up: keeper_plan_done(). */
CORDON_MUST_CHECK int keeper_plan_make(const struct policy *p, const struct selection *selection,
				       const struct sandbox_row *row, const char *state_dir,
				       struct keeper_plan *ret, struct cordon_error *err);
/* The sandbox and its proxy have the values: wipes them here. */
void keeper_plan_forget_secrets(struct keeper_plan *k);
void keeper_plan_done(struct keeper_plan *k);
