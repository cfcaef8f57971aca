/* SPDX-License-Identifier: Apache-2.0 */
/* See keys.h.  test_text.c proves that every cue's example is found in spite of this gate. */
#include "inspect/text/keys.h"

#include <string.h>

static const char keys_strong[] =
	"ignore ignoring ignores disregard forget overlook neglect discard dismiss bypass override "
	"overriding overrides adhere obey complies instruction instructions instructed iunstructions prompt "
	"prompts prompting directive directives guidelines supersedes precedence mandate paramount "
	"imperative urgent momentous pivotal forthcoming reprogramming vergiss vergessen vergesst ignorier "
	"ignoriere ignorieren missachte ubergehe verwirf oublie oubliez oublier ignorez ignorer neglige "
	"negligez ignora ignorar olvida olvide olvidar omite descarta esqueca desconsidere dimentica negeer "
	"vergeet zignoruj zapomnij ignoruj pomin onceki yukaridaki inst fromcharcode fromcodepoint "
	"exfiltrate jailbreak jailbroken dan uncensored unrestricted henceforth vtaber qvfertneq sbetrg "
	"flfgrz vafgehpgvbaf snoitcurtsni tpmorp suoiverp claude gemini copilot chatgpt gpt anthropic "
	"openai assistant assistants llm llms ai guardrail backdoor backdoors malware keylogger ransomware "
	"rootkit ncat netcat decrypt decipher unscramble deobfuscate pretend roleplay covertly "
	"surreptitiously discreetly stealthily silently secretly quietly conceal withhold replicate "
	"dangerously bypasspermissions disableallhooks reveal endoftext elucidation refuse refusing "
	"apologize apologise approve guardrails suppress ethical urgently soul verbatim credentials "
	"passwords shadow passwd answering responding replying proceeding encoded base64 bypassed pem miner "
	"snippet excerpt pwned axios sendbeacon im safety tcp nc curl wget opacity visibility hidden decode "
	"role hide spread response responses secret maintainer maintainers attention important alert "
	"emergency administrator visit sessions policies suspended nothing mention inform notify repeat "
	"paste payment fetch systemprompt grant comply answer answers please transfer token reply email "
	"forward disable everything chatbot chatbots codex wants negatives weaknesses flaws "
	"shortcomings competitors rubric quiet silent glowing favorable favourable modelo modele "
	"modello asistente assistente assistent sprachmodell sprachmodelle ki revela affiche affichez "
	"revele verrate rivela onthul ujawnij eres desormais ahora agora sofort prevenir avertir "
	"utilisateur benutzer nutzer usuario utente gebruiker";

/* In ordinary text, too: one of them alone says little. */
static const char keys_weak[] =
	"your above shell restrictions developer display contents transaction leak propagate tools env "
	"character reverse solution implementation explanation summary output code goal objective mission "
	"task tool create told my ssh g n r agent agents rate candidate stay changed started";

static void keys_put(const char *words, uint64_t *set, keys_hash_fn *hash)
{
	for (const char *s = words; *s;) {
		size_t n = strcspn(s, " ");
		uint32_t h = hash(s, n), slot = (h ^ h >> 13) & ((1U << KEYS_BITS) - 1);

		set[slot / 64] |= (uint64_t)1 << (slot % 64);
		s += n + (s[n] == ' ');
	}
}

void keys_init(struct keys *k, keys_hash_fn *hash)
{
	memset(k, 0, sizeof(*k));
	keys_put(keys_strong, k->strong, hash);
	keys_put(keys_weak, k->weak, hash);
}
