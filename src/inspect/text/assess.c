/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See assess.h.
 *
 * Theory of operation: a piece of text (reader.h) is searched for cues; two models add sentences that sound like orders
 * (model.h) or are built like them (structure.h), as cues of a class of their own.  A cue that is sure enough is a finding.  Cues of different
 * classes within NEAR bytes add up as independent witnesses do: what remains of the doubt is the product of
 * their doubts.  What people do not see (comments, hidden elements) counts more, what is quoted in a text
 * about attacks counts less.  What is decoded out of a text (base64, tags) is judged as a text of its own, at
 * the place where it stood; there, what would be a doubt in the open is a finding.
 */
#include "inspect/text/assess.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"
#include "inspect/text/cues.h"
#include "inspect/text/layers.h"
#include "inspect/text/model.h"
#include "inspect/text/reader.h"
#include "inspect/text/structure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
	ASSESS_NEAR = 500,   /* bytes between cues that support one another */
	ASSESS_REGIONS = 64, /* hidden parts of one piece */
	ASSESS_REGION_MAX = 4096,
	ASSESS_QUOTE = 120, /* bytes that are looked at for quotes */
	ASSESS_SNIPPET = 90,
	ASSESS_BEFORE = 60, /* bytes that are searched before a sentence and behind it */
	ASSESS_BEHIND = 100,
	ASSESS_REPEAT = 80,  /* the same cue again within so many bytes is the same one */
	ASSESS_SMALL = 4096, /* a text that is searched whole, whatever its words are */
};

/* What the model must think of a sentence before it counts: less than this supports a cue, and is no finding. */
#define ASSESS_MODEL_LEAST 0.2
/* The more sentences a text has, the more of them sound odd by chance: its bytes over the first number are what the
 * odds are divided by, up to the second, so that nobody gains much by adding text. */
#define ASSESS_CHANCE_BYTES 2048.0
#define ASSESS_CHANCE_MOST 8.0
/* What somebody typed holds requests anyway. */
#define ASSESS_TYPED_ODDS 1.5

struct assess_hit {
	size_t at; /* end of the match in the piece */
	const struct cue *cue;
	double sure;
	bool is_hidden;
};

struct assess_region {
	size_t start, end;
};

/* Where a text stands in the one that the caller gave. */
struct assess_place {
	unsigned depth;
	unsigned line;    /* of the place that it was decoded from */
	const char *name; /* of the encoding; NULL for the text itself */
};

struct assessor {
	struct findings *ret;
	enum inspect_document kind;
	struct match *match;
	struct model model;
	struct structure structure;
	struct buf decoded[LIMIT_TEXT_DEPTH + 1];
	unsigned n_layers;
	size_t decoded_bytes;
	double odds;  /* what the odds that the model gives are divided by */
	double least; /* what it must say for ASSESS_MODEL_LEAST to be left */
	bool is_limit_told;
	bool *seen; /* cues that this text has already given */
	/* the piece */
	const struct reader *reader;
	struct assess_place place;
	size_t line_at; /* a place in the text that the caller gave, and its line */
	unsigned line;
	struct assess_hit *hits;
	size_t n_hits, cap_hits;
	size_t scanned;    /* up to here this piece was searched */
	size_t scan_start; /* of the part that is searched now */
	int error;
	struct assess_region regions[ASSESS_REGIONS];
	size_t n_regions;
};

static const struct cue assess_model_cue = {.id = "TXT-MODEL",
					    .class = CUE_MODEL,
					    .level = THREAT_MEDIUM,
					    .reason = "reads like an order to a model"};
static const struct cue assess_structure_cue = {.id = "TXT-STRUCTURE",
						.class = CUE_MODEL,
						.level = THREAT_MEDIUM,
						.reason = "is built like an order to a machine"};
/* Places of the two behind those of the cues. */
enum { ASSESS_MODEL, ASSESS_STRUCTURE, ASSESS_MODELS };

/* What the odds are divided by in a text of this kind and length. */
static double assess_odds(enum inspect_document kind, size_t len)
{
	double odds = (double)len / ASSESS_CHANCE_BYTES;

	if (odds < 1)
		odds = 1;
	if (odds > ASSESS_CHANCE_MOST)
		odds = ASSESS_CHANCE_MOST;
	return kind == INSPECT_DOCUMENT_ANY ? odds * ASSESS_TYPED_ODDS : odds;
}

int assess_new(enum inspect_document kind, size_t len, struct findings *ret,
	       struct assessor **ret_assessor, struct cordon_error *err)
{
	struct assessor *j = calloc(1, sizeof(*j));
	int r;

	if (!j)
		return cordon_nomem(err);
	j->ret = ret;
	j->kind = kind;
	j->odds = assess_odds(kind, len);
	j->least = ASSESS_MODEL_LEAST * j->odds /
		   (1 - ASSESS_MODEL_LEAST + ASSESS_MODEL_LEAST * j->odds);
	j->seen = calloc(cues_n + ASSESS_MODELS, sizeof(*j->seen));
	for (size_t i = 0; i < ARRAY_LEN(j->decoded); i++)
		j->decoded[i].max = LIMIT_TEXT_PIECE * 3;
	structure_init(&j->structure);
	r = model_init(&j->model, len, j->least);
	if (r < 0 || !j->seen) {
		assess_free(j);
		return cordon_fail_leaf(err, r < 0 ? r : -ENOMEM, "get ready to read a text");
	}
	*ret_assessor = j;
	return 0;
}

void assess_free(struct assessor *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < ARRAY_LEN(j->decoded); i++)
		buf_done(&j->decoded[i]);
	match_free(j->match);
	model_done(&j->model);
	free(j->hits);
	free(j->seen);
	free(j);
}

/* ---- findings ---- */

static void assess_snippet(const char *text, size_t len, size_t at, char *out, size_t size)
{
	size_t end = at < len ? at : len, start = end > ASSESS_SNIPPET ? end - ASSESS_SNIPPET : 0;
	struct buf b = BUF_INIT(ASSESS_SNIPPET * 8);

	while (start < end && ((unsigned char)text[start] & 0xc0) == 0x80)
		start++;
	str_escape(&b, text + start, end - start);
	(void)snprintf(out, size, "%s", buf_cstr(&b));
	buf_done(&b);
}

/* The line of a place of the source, counted on from the place that was asked for last. */
static unsigned assess_line(struct assessor *j, size_t end)
{
	const char *source = j->reader->source;

	if (j->place.name)
		return j->place.line;
	while (j->line_at < end) {
		const char *newline = memchr(source + j->line_at, '\n', end - j->line_at);

		j->line += newline != NULL;
		j->line_at = newline ? (size_t)(newline - source) + 1 : end;
	}
	for (; j->line_at > end; j->line_at--)
		j->line -= source[j->line_at - 1] == '\n';
	return j->line;
}

/* Fills what all findings share and adds it. */
static int assess_add_at(struct assessor *j, struct finding *f, const char *id, size_t source,
			 const char *reason)
{
	f->signal = strcmp(id, assess_model_cue.id) == 0 || strcmp(id, assess_structure_cue.id) == 0
			    ? SIGNAL_MODEL
			    : SIGNAL_PATTERN;
	f->type = FINDING_PROMPT_INJECTION;
	f->line = assess_line(j, source);
	if (f->confidence > 0.99)
		f->confidence = 0.99;
	(void)snprintf(f->rule, sizeof(f->rule), "%s", id);
	if (j->place.name)
		(void)snprintf(f->message, sizeof(f->message), "hidden in %s: %s", j->place.name,
			       reason);
	else
		(void)snprintf(f->message, sizeof(f->message), "%s", reason);
	return findings_add(j->ret, f);
}

/* Adds a finding at a place of this piece. */
static int assess_add(struct assessor *j, const char *id, enum threat level, double sure, size_t at,
		      const char *reason)
{
	struct finding f = {.level = level, .confidence = sure};

	assess_snippet(j->reader->text, j->reader->text_len, at, f.snippet, sizeof(f.snippet));
	return assess_add_at(j, &f, id, reader_source(j->reader, at > 0 ? at - 1 : 0), reason);
}

/* ---- cues ---- */

/* Puts a hit among the others, in order of their places. */
static void assess_hit(struct assessor *j, const struct assess_hit *hit)
{
	void *p = j->hits;
	size_t i;

	for (i = j->n_hits; i > 0 && j->hits[i - 1].at + ASSESS_REPEAT > hit->at; i--)
		if (j->hits[i - 1].cue == hit->cue)
			return;
	if (j->n_hits >= LIMIT_TEXT_HITS)
		return;
	if (mem_grow(&p, &j->cap_hits, j->n_hits + 1, sizeof(*hit), LIMIT_TEXT_HITS) < 0) {
		j->error = -ENOMEM;
		return;
	}
	j->hits = p;
	for (i = j->n_hits; i > 0 && j->hits[i - 1].at > hit->at; i--)
		j->hits[i] = j->hits[i - 1];
	j->hits[i] = *hit;
	j->n_hits++;
}

static int assess_on_match(void *data, unsigned id, uint64_t from, uint64_t to)
{
	struct assessor *j = data;
	size_t at = j->scan_start + (size_t)to;

	(void)from;
	if (at > j->reader->fresh || j->reader->fresh == 0)
		assess_hit(j, &(struct assess_hit){.at = at,
						   .cue = &cues[id],
						   .sure = cues[id].percent / 100.0});
	return 0;
}

/* Leaves the part in which there may be a cue, with whole words at both ends.  false: there is none. */
static bool assess_narrow(const struct assessor *j, size_t *low, size_t *high)
{
	const char *text = j->reader->text;
	size_t first = *low, last = *high;

	if (!model_narrow(&j->model, low, high))
		return false;
	while (*low > first && text[*low - 1] != ' ' && text[*low - 1] != '\n')
		--*low;
	while (*high < last && text[*high] != ' ' && text[*high] != '\n')
		++*high;
	return true;
}

/* Searches what surrounds a sentence, and nothing twice but what may stand across an edge. */
static int assess_scan(struct assessor *j, size_t start, size_t end)
{
	size_t low = start > ASSESS_BEFORE ? start - ASSESS_BEFORE : 0;
	size_t high = j->reader->text_len - end > ASSESS_BEHIND ? end + ASSESS_BEHIND
								: j->reader->text_len;
	int r = 0;

	if (high <= j->scanned)
		return 0;
	if (low < j->scanned && j->scanned - low > ASSESS_BEFORE)
		low = j->scanned - ASSESS_BEFORE;
	j->scanned = high;
	if (low >= j->reader->fresh && !assess_narrow(j, &low, &high))
		return 0;
	if (!j->match)
		r = match_new(&match_db_text, &j->match);
	j->scan_start = low;
	return r < 0 ? r
		     : match_scan(j->match, j->reader->text + low, high - low, assess_on_match, j);
}

static void assess_region(struct assessor *j, size_t start, const char *stop)
{
	const char *text = j->reader->text;
	size_t left = j->reader->text_len - start;
	const char *end;

	if (left > ASSESS_REGION_MAX)
		left = ASSESS_REGION_MAX;
	end = memmem(text + start, left, stop, strlen(stop));
	if (j->n_regions < ASSESS_REGIONS)
		j->regions[j->n_regions++] = (struct assess_region){
			start, end ? (size_t)(end - text) + strlen(stop) : start + left};
}

/* What a person who looks at the rendered text does not see. */
static void assess_find_regions(struct assessor *j)
{
	static const struct {
		const char *start, *stop;
	} rows[] = {{"<!--", "-->"}, {"[//]: #", "\n"}, {"[comment]: #", "\n"}, {"{/*", "*/}"}};
	const char *text = j->reader->text;
	size_t len = j->reader->text_len;

	j->n_regions = 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *p = text;

		size_t n = strlen(rows[i].start);

		/* The first byte is rare, which is what memchr() is good at. */
		while (j->n_regions < ASSESS_REGIONS &&
		       (p = memchr(p, rows[i].start[0], len - (size_t)(p - text)))) {
			if (len - (size_t)(p - text) < n || memcmp(p, rows[i].start, n) != 0) {
				p++;
				continue;
			}
			assess_region(j, (size_t)(p - text), rows[i].stop);
			p = text + j->regions[j->n_regions - 1].end;
		}
	}
	for (size_t i = 0; i < j->n_hits; i++)
		if (j->hits[i].cue->class == CUE_HIDE)
			assess_region(j, j->hits[i].at, "</");
}

static bool assess_is_hidden(const struct assessor *j, size_t at)
{
	for (size_t i = 0; i < j->n_regions; i++)
		if (at > j->regions[i].start && at <= j->regions[i].end)
			return true;
	return false;
}

static bool assess_is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

/* Does the place stand between quotes on its line, or behind words that introduce an example? */
static bool assess_is_mentioned(const struct assessor *j, size_t at)
{
	static const char *const words[] = {"such as",  "e.g.",    "for example", "like ",
					    "example:", "phrases", "attempt",     "pattern",
					    "contains", "detect"};
	const char *text = j->reader->text;
	size_t low = at > ASSESS_QUOTE ? at - ASSESS_QUOTE : 0;
	size_t high = j->reader->text_len - at > ASSESS_QUOTE ? at + ASSESS_QUOTE
							      : j->reader->text_len;
	char before[ASSESS_QUOTE + 1];
	bool is_open = false;

	for (size_t i = at; i > low && text[i - 1] != '\n' && !is_open; i--)
		is_open = assess_is_quote(text[i - 1]) &&
			  (i < 2 || !((text[i - 2] | 0x20) >= 'a' && (text[i - 2] | 0x20) <= 'z'));
	for (size_t i = at; is_open && i < high && text[i] != '\n'; i++)
		if (assess_is_quote(text[i]))
			return true;
	memcpy(before, text + low, at - low);
	before[at - low] = '\0';
	for (size_t i = 0; i < at - low; i++)
		if (!before[i])
			before[i] = ' ';
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasestr(before, words[i]))
			return true;
	return false;
}

/* How much a class counts in a kind of document, in percent. */
static unsigned assess_weight(enum inspect_document kind, enum cue_class class)
{
	switch (kind) {
	case INSPECT_DOCUMENT_INSTRUCTIONS: /* they are spoken to a model, and may be firm */
		if (class == CUE_MODEL)
			return 35; /* most of what they say reads like an order */
		return class == CUE_ADDRESS || class == CUE_ANSWER || class == CUE_URGENCY ||
				       class == CUE_EXECUTE
			       ? 50
			       : 100;
	case INSPECT_DOCUMENT_SOURCE: /* programs hold prompts */
		return class == CUE_MODEL || class == CUE_PERSONA || class == CUE_ANSWER ||
				       class == CUE_SPOOF || class == CUE_EXTRACT
			       ? 60
			       : 100;
	case INSPECT_DOCUMENT_TEST:
		return 60;
	case INSPECT_DOCUMENT_SECURITY:
		return class == CUE_MODEL ? 50 : 85;
	case INSPECT_DOCUMENT_ANY:
	case INSPECT_DOCUMENT_OUTPUT:
	case INSPECT_DOCUMENT_PROSE:
	case INSPECT_DOCUMENT_COUNT:
		break;
	}
	return 100;
}

static void assess_weigh(struct assessor *j, bool is_obscured)
{
	for (size_t i = 0; i < j->n_hits; i++) {
		struct assess_hit *h = &j->hits[i];

		h->is_hidden = assess_is_hidden(j, h->at);
		h->sure *= assess_weight(j->kind, h->cue->class) / 100.0;
		if (h->is_hidden || j->place.name)
			h->sure = 1 - (1 - h->sure) * 0.45;
		else if (j->kind == INSPECT_DOCUMENT_SECURITY && assess_is_mentioned(j, h->at))
			h->sure *= 0.3;
		else if (is_obscured)
			h->sure = 1 - (1 - h->sure) * 0.7;
	}
}

/* ---- what follows from the cues of a piece ---- */

/* The doubt that is left after all classes near hit i, and how many classes there are. */
static double assess_together(const struct assessor *j, size_t i, unsigned *ret_classes,
			      double *ret_strongest)
{
	double best[CUE_CLASS_COUNT] = {0}, doubt = 1;

	*ret_classes = 0;
	*ret_strongest = 0;
	for (size_t k = i + 1; k > 0 && j->hits[i].at - j->hits[k - 1].at <= ASSESS_NEAR; k--) {
		const struct assess_hit *h = &j->hits[k - 1];

		if (h->sure > best[h->cue->class])
			best[h->cue->class] = h->sure;
	}
	for (unsigned c = 0; c < CUE_CLASS_COUNT; c++) {
		if (best[c] <= 0)
			continue;
		doubt *= 1 - best[c];
		*ret_classes += c != CUE_HIDE;
		if (best[c] > *ret_strongest)
			*ret_strongest = best[c];
	}
	return doubt;
}

static enum threat assess_level(const struct assessor *j, enum threat level)
{
	/* Writing about attacks and tests of defences hold attacks: never more than a doubt. */
	if ((j->kind == INSPECT_DOCUMENT_TEST || j->kind == INSPECT_DOCUMENT_SECURITY) &&
	    level > THREAT_MEDIUM && !j->place.name)
		return THREAT_MEDIUM;
	return level;
}

/* The place of a cue among those that were told. */
static size_t assess_number(const struct cue *cue)
{
	if (cue == &assess_model_cue)
		return cues_n + ASSESS_MODEL;
	return cue == &assess_structure_cue ? cues_n + ASSESS_STRUCTURE : (size_t)(cue - cues);
}

static int assess_conclude(struct assessor *j)
{
	double least = 1;
	size_t where = 0;
	unsigned most = 0;

	for (size_t i = 0; i < j->n_hits; i++) {
		const struct assess_hit *h = &j->hits[i];
		size_t number = assess_number(h->cue);
		double strongest;
		unsigned classes;
		double doubt = assess_together(j, i, &classes, &strongest);

		if (classes > 1 && doubt < least) {
			least = doubt;
			where = i;
			most = classes;
		}
		if (h->sure < 0.3 || h->cue->class == CUE_HIDE || j->seen[number])
			continue;
		j->seen[number] = true;
		if (assess_add(j, h->cue->id,
			       assess_level(j, h->is_hidden && h->sure >= 0.6 ? THREAT_HIGH
									      : h->cue->level),
			       h->sure, h->at, h->cue->reason) < 0)
			return -ENOMEM;
	}
	if (most > 1 && 1 - least >= 0.4)
		return assess_add(j, "TXT-TOGETHER",
				  assess_level(j, 1 - least >= 0.72 ? THREAT_HIGH : THREAT_MEDIUM),
				  1 - least, j->hits[where].at,
				  "several signs of an injected order stand together");
	return 0;
}

/* ---- sentences ---- */

/* What both models say of a sentence, as hits. */
static void assess_models(struct assessor *j, const struct model_sentence *s, bool is_asked)
{
	size_t start = s->start;
	double p = model_judge(&j->model, s, &start), q = 0, built;

	structure_note(&j->structure, s->start, s->end);
	if (is_asked || s->is_order || p >= j->least) {
		built = structure_judge(&j->structure);
		p = structure_lessened(p, built);
		q = structure_likelihood(built);
	}
	p = p / (p + (1 - p) * j->odds);
	q = q / (q + (1 - q) * j->odds);
	if (p >= ASSESS_MODEL_LEAST)
		assess_hit(j,
			   &(struct assess_hit){.at = s->end, .cue = &assess_model_cue, .sure = p});
	if (q >= ASSESS_MODEL_LEAST)
		assess_hit(j, &(struct assess_hit){
				      .at = s->end, .cue = &assess_structure_cue, .sure = q});
}

/* Sentences that sound like orders become hits; those with a doubt are searched for cues. */
static int assess_sentences(struct assessor *j)
{
	const char *text = j->reader->text;
	size_t len = j->reader->text_len, pos = j->reader->fresh, scan_start = 0, scan_end = 0;
	bool is_small = j->reader->len <= ASSESS_SMALL;
	struct model_sentence s;

	model_begin(&j->model, text, len);
	structure_begin(&j->structure, text);
	/* What was before the new part may go on in it. */
	if (pos > 0)
		scan_end = pos < ASSESS_BEHIND ? pos : ASSESS_BEHIND;
	while (model_next(&j->model, &pos, &s)) {
		bool is_searched = is_small || j->place.name;
		int r = 0;

		assess_models(j, &s, is_searched);
		if (!s.is_worth && !is_searched)
			continue;
		if (s.start > scan_end + ASSESS_BEHIND + ASSESS_BEFORE) {
			if (scan_end > 0)
				r = assess_scan(j, scan_start, scan_end);
			scan_start = s.start;
		}
		scan_end = s.end;
		if (r < 0)
			return r;
	}
	return scan_end > 0 ? assess_scan(j, scan_start, scan_end) : 0;
}

/* ---- texts inside ---- */

static int assess_inner(struct assessor *j, const struct buf *inner, size_t at, const char *name,
			struct cordon_error *err);

static int assess_limit(struct assessor *j, size_t at)
{
	if (j->is_limit_told)
		return 0;
	j->is_limit_told = true;
	return assess_add(j, "TXT-LIMIT", THREAT_MEDIUM, 0.5, at,
			  "holds more encoded text than is decoded");
}

/* Decoded text that a program would run or that names what is secret. */
static int assess_encoded_words(struct assessor *j, const struct buf *b, const struct text_layer *l)
{
	static const char *const commands[] = {"curl ",  "wget ",   "http://",   "https://",
					       "bash",   "/bin/sh", "eval(",     "exec(",
					       "rm -rf", "nc -",    "powershell"};
	static const char *const names[] = {"credential", "password", "secret", "token",
					    "private",    ".ssh",     ".env",   "subprocess"};

	if (!l->is_called)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (strcasestr(buf_cstr(b), commands[i]))
			return assess_add(j, "TXT-ENCODED-COMMAND", assess_level(j, THREAT_HIGH),
					  0.75, l->end,
					  "decodes a command or an address at run time");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcasestr(buf_cstr(b), names[i]))
			return assess_add(j, "TXT-ENCODED-NAME", THREAT_MEDIUM, 0.45, l->end,
					  "decodes the name of something secret at run time");
	return 0;
}

static int assess_layers(struct assessor *j, struct cordon_error *err)
{
	struct buf *out = &j->decoded[j->place.depth];
	size_t pos = 0;
	struct text_layer l;

	while (layers_next(j->reader->text, j->reader->text_len, &pos, &l, out)) {
		int r;

		if (l.end <= j->reader->fresh && j->reader->fresh > 0)
			continue;
		if (j->place.depth >= LIMIT_TEXT_DEPTH || j->n_layers >= LIMIT_TEXT_LAYERS ||
		    j->decoded_bytes >= LIMIT_TEXT_DECODED)
			return assess_limit(j, l.end) < 0 ? cordon_nomem(err) : 0;
		j->n_layers++;
		j->decoded_bytes += out->len;
		if (assess_encoded_words(j, out, &l) < 0)
			return cordon_nomem(err);
		r = assess_inner(j, out, l.end, l.name, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- signs of hiding ---- */

struct assess_signs {
	unsigned count[NORMAL_SIGN_COUNT];
	size_t at[NORMAL_SIGN_COUNT];
};

static const struct {
	enum normal_sign sign;
	unsigned least;
	enum threat level;
	double sure;
	const char *id, *reason;
} assess_sign_rows[] = {
	{NORMAL_TAG, 1, THREAT_CRITICAL, 0.95, "TXT-TAGS",
	 "holds text in tag characters, which people do not see and models read"},
	{NORMAL_BITS, 1, THREAT_CRITICAL, 0.95, "TXT-BITS",
	 "spells a text in characters of no width, one for each bit"},
	{NORMAL_SELECTOR, 1, THREAT_HIGH, 0.85, "TXT-SELECTORS",
	 "hides bytes in variation selectors"},
	{NORMAL_ZERO_WIDTH, 3, THREAT_HIGH, 0.75, "TXT-ZERO-WIDTH",
	 "has characters of no width inside words"},
	{NORMAL_ZERO_WIDTH, 1, THREAT_MEDIUM, 0.4, "TXT-ZERO-WIDTH",
	 "has a character of no width inside a word"},
	{NORMAL_OVERRIDE, 1, THREAT_HIGH, 0.75, "TXT-BIDI-OVERRIDE",
	 "turns the order of its letters: it reads other than it looks"},
	{NORMAL_BIDI, 1, THREAT_HIGH, 0.72, "TXT-BIDI",
	 "changes the direction of writing in a text that needs no such change"},
	{NORMAL_MIXED, 2, THREAT_MEDIUM, 0.45, "TXT-LOOKALIKE",
	 "spells words with letters of another script that look the same"},
	{NORMAL_ENTITY, 6, THREAT_LOW, 0.35, "TXT-ENTITIES",
	 "writes plain letters as character references"},
	{NORMAL_PERCENT, 4, THREAT_LOW, 0.35, "TXT-PERCENT", "writes plain letters as %XX"},
	{NORMAL_CLIPBOARD, 1, THREAT_HIGH, 0.8, "TXT-CLIPBOARD",
	 "writes the clipboard of the terminal that shows it"},
	{NORMAL_CONCEAL, 1, THREAT_MEDIUM, 0.5, "TXT-CONCEALED",
	 "tells the terminal not to show a part"},
};

static void assess_count_signs(const struct assessor *j, struct assess_signs *signs)
{
	for (unsigned p = 0; p < j->reader->passes; p++)
		for (unsigned s = 0; s < NORMAL_SIGN_COUNT; s++) {
			const struct normal *n = &j->reader->pass[p];

			if (n->signs[s].count > 0 && signs->count[s] == 0)
				signs->at[s] = j->reader->origin + (p == 0 ? n->signs[s].at : 0);
			signs->count[s] += n->signs[s].count;
		}
}

static int assess_report_signs(struct assessor *j, const struct assess_signs *signs)
{
	bool told[NORMAL_SIGN_COUNT] = {false};
	struct finding f;

	for (size_t i = 0; i < ARRAY_LEN(assess_sign_rows); i++) {
		enum normal_sign sign = assess_sign_rows[i].sign;
		enum threat level = assess_sign_rows[i].level;
		double sure = assess_sign_rows[i].sure;

		if (signs->count[sign] < assess_sign_rows[i].least || told[sign])
			continue;
		if (sign == NORMAL_BIDI && signs->count[NORMAL_RIGHT_TO_LEFT] > 0)
			continue;
		if (sign == NORMAL_OVERRIDE && signs->count[NORMAL_RIGHT_TO_LEFT] > 0)
			level = THREAT_MEDIUM, sure = 0.35;
		told[sign] = true;
		f = (struct finding){.level = assess_level(j, level), .confidence = sure};
		assess_snippet(j->reader->source, j->reader->len,
			       signs->at[sign] + ASSESS_SNIPPET / 2, f.snippet, sizeof(f.snippet));
		if (assess_add_at(j, &f, assess_sign_rows[i].id, signs->at[sign],
				  assess_sign_rows[i].reason) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* ---- a text ---- */

static int assess_piece(struct assessor *j, struct assess_signs *signs, struct cordon_error *err)
{
	struct assess_signs here = {0};
	int r;

	j->n_hits = 0;
	j->scanned = 0;
	r = assess_sentences(j);
	if (r == 0)
		r = j->error;
	if (r < 0)
		return r == -ENOMEM ? cordon_nomem(err)
				    : cordon_fail_errno(err, -r, "search a text for cues");
	if (j->n_hits > 0)
		assess_find_regions(j);
	assess_count_signs(j, &here);
	assess_weigh(j, here.count[NORMAL_ZERO_WIDTH] + here.count[NORMAL_MIXED] +
					here.count[NORMAL_STYLE] + here.count[NORMAL_ENTITY] +
					here.count[NORMAL_PERCENT] >
				2);
	if (assess_conclude(j) < 0 || (j->n_hits == LIMIT_TEXT_HITS && assess_limit(j, 0) < 0))
		return cordon_nomem(err);
	for (unsigned s = 0; s < NORMAL_SIGN_COUNT; s++) {
		if (signs->count[s] == 0)
			signs->at[s] = here.at[s];
		signs->count[s] += here.count[s];
	}
	return assess_layers(j, err);
}

/* What tags, selectors and bits of this piece spell. */
static int assess_hidden(struct assessor *j, struct cordon_error *err)
{
	for (unsigned p = 0; p < j->reader->passes; p++) {
		const struct normal *n = &j->reader->pass[p];
		int r = 0;

		if (n->hidden.len >= 4 && j->place.depth < LIMIT_TEXT_DEPTH)
			r = assess_inner(j, &n->hidden, 0, "characters that are not seen", err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int assess_read(struct assessor *j, const char *text, size_t len, struct assess_place place,
		       struct cordon_error *err)
{
	struct assess_signs signs = {0};
	struct reader reader;
	int r;

	reader_init(&reader, text, len);
	while ((r = reader_next(&reader)) > 0) {
		j->reader = &reader;
		j->place = place;
		r = assess_piece(j, &signs, err);
		if (r == 0)
			r = assess_hidden(j, err);
		if (r < 0)
			break;
	}
	if (r == -ENOMEM)
		r = cordon_nomem(err);
	if (r == 0 && len > 0 && assess_report_signs(j, &signs) < 0)
		r = cordon_nomem(err);
	reader_done(&reader);
	return r;
}

/* Judges a decoded text at the place where it stood, then goes back to the piece. */
static int assess_inner(struct assessor *j, const struct buf *inner, size_t at, const char *name,
			struct cordon_error *err)
{
	const struct reader *reader = j->reader;
	struct assess_place place = j->place;
	struct assess_place below = {place.depth + 1, assess_line(j, reader_source(reader, at)),
				     name};
	int r = assess_read(j, buf_cstr(inner), inner->len, below, err);

	j->reader = reader;
	j->place = place;
	return r;
}

int assess_text(struct assessor *j, const char *text, size_t len, struct cordon_error *err)
{
	memset(j->seen, 0, (cues_n + ASSESS_MODELS) * sizeof(*j->seen));
	j->line_at = 0;
	j->line = 1;
	return assess_read(j, text, len, (struct assess_place){0}, err);
}
