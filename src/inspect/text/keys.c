/* SPDX-License-Identifier: Apache-2.0 */
/* See keys.h.  test_text.c proves that every cue's example is found in spite of this gate. */
#include "inspect/text/keys.h"

#include <string.h>

static const char keys_words[] =
	"ignore ignoring ignores disregard forget overlook neglect discard dismiss bypass override overriding overrides "
	"adhere obey comply complies instruction instructions instructed iunstructions prompt prompts prompting directive "
	"directives guidelines supersedes precedence mandate paramount imperative urgent momentous pivotal forthcoming "
	"reprogramming vergiss vergessen vergesst ignorier ignoriere ignorieren missachte ubergehe verwirf oublie oubliez "
	"oublier ignorez ignorer neglige negligez ignora ignorar olvida olvide olvidar omite descarta esqueca "
	"desconsidere dimentica negeer vergeet zignoruj zapomnij ignoruj pomin onceki yukaridaki "
	"im inst fromcharcode fromcodepoint exfiltrate jailbreak jailbroken dan uncensored unrestricted henceforth "
	"vtaber qvfertneq sbetrg flfgrz vafgehpgvbaf snoitcurtsni tpmorp suoiverp claude gemini copilot chatgpt gpt "
	"anthropic openai assistant assistants llm llms ai safety guardrail disable backdoor backdoors malware keylogger ransomware rootkit tcp ncat "
	"netcat nc curl wget opacity visibility display hidden decrypt decipher unscramble deobfuscate decode pretend "
	"roleplay role covertly surreptitiously discreetly stealthily silently secretly quietly hide conceal withhold "
	"propagate replicate spread dangerously bypasspermissions disableallhooks reveal endoftext elucidation refuse "
	"refusing apologize apologise approve guardrails guardrail suppress character restrictions ethical reply response "
	"answer responses answers secret maintainer maintainers urgently attention important alert emergency administrator developer forward email "
	"transfer grant visit leak soul sessions policies suspended nothing verbatim mention inform notify credentials passwords env shadow passwd contents repeat above tools answering responding replying proceeding token encoded base64 bypassed paste pem reverse shell miner your snippet excerpt please payment transaction pwned fetch axios sendbeacon";

void keys_init(struct keys *k, keys_hash_fn *hash)
{
	memset(k, 0, sizeof(*k));
	for (const char *s = keys_words; *s;) {
		size_t n = strcspn(s, " ");
		uint32_t h = hash(s, n), slot = (h ^ h >> 13) & ((1U << KEYS_BITS) - 1);

		k->set[slot / 64] |= (uint64_t)1 << (slot % 64);
		s += n + (s[n] == ' ');
	}
}
