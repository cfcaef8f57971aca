/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See provider.h.  Left out on purpose: what people run on hosts of their own (GitLab, Vault, Jenkins, Docker), and
 * names that say nothing of a provider (API_KEY, TOKEN).
 */
#include "inspect/shell/provider.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

static const struct {
	const char *begins; /* with a comma behind each */
	const char *hosts;  /* words of which one stands in the host, with a comma behind each */
} provider_rows[] = {
	{"AWS_SECRET_,AWS_SESSION_,", "aws,amazon,"},
	{"GITHUB_,GH_,", "github,ghcr,"},
	{"OPENAI_,", "openai,azure,"},
	{"ANTHROPIC_,CLAUDE_,", "anthropic,claude,"},
	{"GEMINI_,GOOGLE_API_,GCP_,", "google,"},
	{"HF_,HUGGINGFACE_,HUGGING_FACE_,", "huggingface,hf.co,"},
	{"SLACK_,", "slack,"},
	{"DISCORD_,", "discord,"},
	{"TELEGRAM_,", "telegram,"},
	{"STRIPE_,", "stripe,"},
	{"TWILIO_,", "twilio,"},
	{"SENDGRID_,", "sendgrid,"},
	{"CLOUDFLARE_,CF_API_,", "cloudflare,"},
	{"DIGITALOCEAN_,", "digitalocean,"},
	{"HEROKU_,", "heroku,"},
	{"NPM_,", "npm,registry,"},
	{"PYPI_,TWINE_,", "pypi,pythonhosted,"},
	{"VERCEL_,", "vercel,"},
	{"AZURE_CLIENT_,", "azure,microsoft,windows,"},
};

static_assert(ARRAY_LEN(provider_rows) <= 32, "a provider is one bit");

/* The word of a list at *at; moves *at behind it.  False at the end. */
static bool provider_next(const char **at, const char **ret, size_t *ret_len)
{
	*ret = *at;
	*ret_len = strcspn(*at, ",");
	*at += *ret_len + ((*at)[*ret_len] == ',');
	return *ret_len > 0;
}

static bool provider_is_secret(const char *name, size_t len)
{
	static const char *const ends[] = {"TOKEN", "KEY", "SECRET", "PASSWORD", "PAT"};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && name[len - n - 1] == '_' && memcmp(name + len - n, ends[i], n) == 0)
			return true;
	}
	return false;
}

unsigned provider_of(const char *name, size_t len)
{
	if (len < 6 || !provider_is_secret(name, len))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(provider_rows); i++) {
		const char *at = provider_rows[i].begins, *word;
		size_t n;

		while (provider_next(&at, &word, &n))
			if (len > n && memcmp(name, word, n) == 0)
				return 1u << i;
	}
	return 0;
}

bool provider_has(unsigned providers, const char *host)
{
	size_t len = strlen(host);

	for (size_t i = 0; i < ARRAY_LEN(provider_rows); i++) {
		const char *at = provider_rows[i].hosts, *word;
		size_t n;

		while ((providers & 1u << i) && provider_next(&at, &word, &n))
			if (memmem(host, len, word, n))
				return true;
	}
	return false;
}
