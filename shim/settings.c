// SPDX-License-Identifier: MIT
// The environment's PFT_ variables, read into one struct. Called once, at startup.
// The rule: one table says which variables there are and what each accepts; nothing else knows.
#include "shim/settings.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/base/text.h"
#include "shim/log.h"
#include "shim/programs.h"
#include "shim/user.h"

#define BUFFER_MIN (UINT64_C(16) << 10)
#define BUFFER_MAX (UINT64_C(64) << 20)
#define BUFFER_DEFAULT (UINT64_C(128) << 10)
#define SEGMENT_MIN (UINT64_C(64) << 10)

// A word and what it means; the last has no word.
struct choice {
	const char *word;
	int meaning;
};

struct setting {
	const char *name;
	const char *other_name; // looked at when the first is unset, or NULL
	const char *accepted;
	bool (*parse)(struct pft_settings *settings, const char *value);
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool words_equal(const char *a, const char *b)
{
	while (*a && lower(*a) == lower(*b)) {
		a++;
		b++;
	}
	return lower(*a) == lower(*b);
}

static bool choice_parse(const struct choice *choices, const char *value, int *meaning)
{
	for (; choices->word; choices++)
		if (words_equal(choices->word, value)) {
			*meaning = choices->meaning;
			return true;
		}
	return false;
}

// Decimal digits, at least one; what follows them is left in `rest`. False when it does not fit.
static bool number_parse(const char *value, uint64_t *number, const char **rest)
{
	const char *digit = value;

	*number = 0;
	for (; *digit >= '0' && *digit <= '9'; digit++)
		if (__builtin_mul_overflow(*number, 10, number) ||
			__builtin_add_overflow(*number, (uint64_t)(*digit - '0'), number))
			return false;
	*rest = digit;
	return digit != value;
}

static bool mode_parse(struct pft_settings *settings, const char *value)
{
	static const struct choice modes[] = {
		{"off", PFT_MODE_OFF},
		{"false", PFT_MODE_OFF},
		{"0", PFT_MODE_OFF},
		{"none", PFT_MODE_OFF},
		{"user", PFT_MODE_USER},
		{"true", PFT_MODE_USER},
		{"1", PFT_MODE_USER},
		{"dev", PFT_MODE_DEV},
		{"all", PFT_MODE_DEV},
		{"debug", PFT_MODE_DEV},
		{NULL, 0},
	};
	int mode;

	if (!choice_parse(modes, value, &mode))
		return false;
	settings->mode = (enum pft_mode)mode;
	return true;
}

static bool verbose_parse(struct pft_settings *settings, const char *value)
{
	static const struct choice answers[] = {
		{"1", true},
		{"true", true},
		{"yes", true},
		{"on", true},
		{"0", false},
		{"false", false},
		{"no", false},
		{"off", false},
		{"none", false},
		{NULL, 0},
	};
	int verbose;

	if (!choice_parse(answers, value, &verbose))
		return false;
	settings->verbose = verbose;
	return true;
}

static bool overflow_parse(struct pft_settings *settings, const char *value)
{
	static const struct choice policies[] = {
		{"wait", PFT_OVERFLOW_WAIT},
		{"drop", PFT_OVERFLOW_DROP},
		{"overwrite", PFT_OVERFLOW_OVERWRITE},
		{NULL, 0},
	};
	int policy;

	if (!choice_parse(policies, value, &policy))
		return false;
	settings->overflow = (enum pft_overflow)policy;
	return true;
}

static bool clock_parse(struct pft_settings *settings, const char *value)
{
	static const struct choice clocks[] = {
		{"auto", PFT_CLOCK_TSC},
		{"tsc", PFT_CLOCK_TSC},
		{"monotonic", PFT_CLOCK_MONOTONIC},
		{NULL, 0},
	};
	int clock;

	if (!choice_parse(clocks, value, &clock))
		return false;
	settings->clock = (enum pft_clock)clock;
	settings->trust_tsc = words_equal(value, "tsc");
	return true;
}

static bool compress_parse(struct pft_settings *settings, const char *value)
{
	static const struct choice ways[] = {
		{"off", PFT_COMPRESS_OFF},
		{"deflate", PFT_COMPRESS_DEFLATE},
		{"zstd", PFT_COMPRESS_ZSTD},
		{NULL, 0},
	};
	int way;

	if (!choice_parse(ways, value, &way))
		return false;
	settings->compress = (enum pft_compress)way;
	return true;
}

static bool format_parse(struct pft_settings *settings, const char *value)
{
	static const struct choice formats[] = {
		{"pftrace", PFT_FILE_BIT(PFT_FILE_TRACE)},
		{"json", PFT_FILE_BIT(PFT_FILE_JSON)},
		{"pftrace,json", PFT_FILE_BIT(PFT_FILE_TRACE) | PFT_FILE_BIT(PFT_FILE_JSON)},
		{"json,pftrace", PFT_FILE_BIT(PFT_FILE_TRACE) | PFT_FILE_BIT(PFT_FILE_JSON)},
		{NULL, 0},
	};
	int files;

	if (!choice_parse(formats, value, &files))
		return false;
	settings->files = (unsigned)files;
	return true;
}

// A number with K, M, G or nothing; what follows is left in `rest`.
static bool bytes_parse(const char *value, uint64_t *bytes, const char **rest)
{
	static const char units[] = "kmg";
	const char *unit;

	if (!number_parse(value, bytes, rest))
		return false;
	unit = **rest ? strchr(units, lower(**rest)) : NULL;
	if (!unit)
		return true;
	++*rest;
	return !__builtin_mul_overflow(*bytes, UINT64_C(1024) << 10 * (unit - units), bytes);
}

// The word before the next comma, which `value` is moved behind; false when it is too long for any.
static bool word_next(const char **value, char *word, size_t size)
{
	size_t length = (size_t)(strchrnul(*value, ',') - *value);

	if (length >= size)
		return false;
	memcpy(word, *value, length);
	word[length] = '\0';
	*value += length + ((*value)[length] == ',');
	return true;
}

static bool report_parse(struct pft_settings *settings, const char *value)
{
	static const struct choice reports[] = {
		{"text", 0},
		{"file", PFT_FILE_BIT(PFT_FILE_REPORT_TEXT)},
		{"json", PFT_FILE_BIT(PFT_FILE_REPORT_JSON)},
		{"chrome", PFT_FILE_BIT(PFT_FILE_REPORT_CHROME)},
		{"folded", PFT_FILE_BIT(PFT_FILE_REPORT_FOLDED)},
		{NULL, 0},
	};
	char word[16];
	int file;

	if (words_equal(value, "off"))
		return true;
	do {
		if (!word_next(&value, word, sizeof(word)) || !choice_parse(reports, word, &file))
			return false;
		settings->reports |= (unsigned)file;
		settings->say_report |= !file;
	} while (*value);
	return true;
}

static bool buffer_parse(struct pft_settings *settings, const char *value)
{
	uint64_t bytes;
	const char *rest;

	if (!bytes_parse(value, &bytes, &rest) || *rest || bytes > BUFFER_MAX || bytes < BUFFER_MIN)
		return false;
	settings->buffer_bytes = BUFFER_MIN;
	while (settings->buffer_bytes < bytes)
		settings->buffer_bytes *= 2;
	return true;
}

static bool max_size_parse(struct pft_settings *settings, const char *value)
{
	const char *rest;
	uint64_t kept = 0;

	if (!bytes_parse(value, &settings->segment_bytes, &rest) || settings->segment_bytes < SEGMENT_MIN)
		return false;
	if (*rest == ',' &&
		(!number_parse(rest + 1, &kept, &rest) || kept == 0 || kept > PFT_SEGMENTS_KEPT_MAX))
		return false;
	settings->segments_kept = (uint32_t)kept;
	return !*rest;
}

static bool duration_parse(const char *value, uint64_t *ns)
{
	static const struct choice units[] = {
		{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};
	const char *unit;
	uint64_t count;
	int unit_ns;

	return number_parse(value, &count, &unit) && choice_parse(units, unit, &unit_ns) &&
	       !__builtin_mul_overflow(count, (uint64_t)unit_ns, ns);
}

static bool min_duration_parse(struct pft_settings *settings, const char *value)
{
	return duration_parse(value, &settings->min_duration_ns);
}

// Words first: a function that is called "all" is selected by "[a]ll".
static bool stacks_parse(struct pft_settings *settings, const char *value)
{
	settings->stacks = !words_equal(value, "off");
	if (value[0] == '>')
		return duration_parse(value + 1, &settings->stacks_over_ns) && settings->stacks_over_ns > 0;
	if (settings->stacks)
		settings->stack_functions = words_equal(value, "all") ? "*" : value;
	return true;
}

static bool count_parse(const char *value, uint64_t *events)
{
	const char *unit;

	return number_parse(value, events, &unit) && words_equal(unit, "events");
}

// A duration, and after a colon whose: any recorded call's without it.
static bool trigger_parse(struct pft_settings *settings, const char *value)
{
	const char *colon = strchrnul(value, ':');
	char room[32];
	struct pft_text duration = pft_text_in(room, sizeof(room));

	pft_text_add_bytes(&duration, value, (size_t)(colon - value));
	settings->trigger_functions = *colon ? colon + 1 : "*";
	return !duration.cut && duration_parse(room, &settings->trigger_ns) && settings->trigger_ns > 0 &&
	       *settings->trigger_functions;
}

// No name of a function begins with a digit: what does is a number that must be right.
static bool edge_parse(struct pft_edge *edge, const char **function, const char *value)
{
	edge->kind = PFT_EDGE_DELAY;
	if (duration_parse(value, &edge->amount))
		return true;
	edge->kind = PFT_EDGE_EVENTS;
	if (count_parse(value, &edge->amount))
		return true;
	edge->kind = PFT_EDGE_CALL;
	*function = value;
	return *value < '0' || *value > '9';
}

static bool start_parse(struct pft_settings *settings, const char *value)
{
	if (!words_equal(value, "ctl"))
		return edge_parse(&settings->start, &settings->start_function, value);
	settings->start.kind = PFT_EDGE_ASKED;
	return true;
}

static bool stop_parse(struct pft_settings *settings, const char *value)
{
	return edge_parse(&settings->stop, &settings->stop_function, value);
}

static bool max_depth_parse(struct pft_settings *settings, const char *value)
{
	const char *rest;

	return number_parse(value, &settings->max_depth, &rest) && !*rest && settings->max_depth >= 1 &&
	       settings->max_depth <= PFT_DEPTH_MAX;
}

static bool functions_parse(struct pft_settings *settings, const char *value)
{
	settings->functions = value; // select.c parses it
	return true;
}

static bool directory_parse(struct pft_settings *settings, const char *value)
{
	settings->directory = value;
	return true;
}

static bool execution_parse(struct pft_settings *settings, const char *value)
{
	settings->execution = value;
	return true;
}

static bool process_name_parse(struct pft_settings *settings, const char *value)
{
	settings->process_name = value;
	return true;
}

static bool processes_parse(struct pft_settings *settings, const char *value)
{
	settings->processes = value;
	return pft_programs_valid(value);
}

static const struct setting mode_setting = {
	"PFT_MODE", "PERFETTO_TRACE_MODE", "off, false, 0, none; user, true, 1; dev, all, debug", mode_parse};

static const struct setting processes_setting = {
	"PFT_PROCESSES", NULL, "globs of program names by comma; - excludes", processes_parse};

static const struct setting other_settings[] = {
	{"PFT_FUNCS", NULL, "selectors", functions_parse},
	{"PFT_TRACE_DIR", "MONARCH_TRACE_DIR", "a directory", directory_parse},
	{"PFT_EXECUTION_ID", NULL, "a name", execution_parse},
	{"PFT_PROCESS_NAME", NULL, "a name", process_name_parse},
	{"PFT_FORMAT", NULL, "pftrace, json, or both: pftrace,json", format_parse},
	{"PFT_COMPRESS", NULL, "off, deflate, zstd", compress_parse},
	{"PFT_REPORT", NULL, "off, or by comma: text (on stderr), file, json, chrome, folded", report_parse},
	{"PFT_BUFFER", NULL, "bytes from 16K to 64M", buffer_parse},
	{"PFT_MAX_SIZE", NULL,
		"bytes from 64K on, with K, M or G, and after a comma how many files are kept, 1 to 1000",
		max_size_parse},
	{"PFT_OVERFLOW", NULL, "wait, drop, overwrite", overflow_parse},
	{"PFT_MIN_DURATION", NULL, "a number with ns, us, ms or s", min_duration_parse},
	{"PFT_MAX_DEPTH", NULL, "a number from 1 to 500", max_depth_parse},
	{"PFT_STACKS", NULL, "off, all, > and a number with ns, us, ms or s, or selectors", stacks_parse},
	{"PFT_START", NULL, "a delay (2s), a number of events (1000events), a function, ctl", start_parse},
	{"PFT_STOP", NULL, "a delay (2s), a number of events (1000events), a function", stop_parse},
	{"PFT_TRIGGER", NULL, "a number with ns, us, ms or s, and after a colon selectors (10ms:read)",
		trigger_parse},
	{"PFT_CLOCK", NULL, "auto, tsc, monotonic", clock_parse},
	{"PFT_VERBOSE", NULL, "1 or 0, true or false, yes or no, on or off", verbose_parse},
};

_Static_assert(PFT_DEPTH_MAX == 500 && PFT_SEGMENTS_KEPT_MAX == 1000, "as the texts above say");

const char *pft_environment_get(char *const *environment, const char *name)
{
	size_t length = strlen(name);

	for (; environment && *environment; environment++)
		if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

static const char *environment_text(char *const *environment, const char *name)
{
	const char *value = name ? pft_environment_get(environment, name) : NULL;

	return value && *value ? value : NULL;
}

static int setting_refuse(const struct setting *setting, const char *name, const char *value)
{
	char quoted[128]; // so that a long value does not push the rest off the line
	struct pft_text text = pft_text_in(quoted, sizeof(quoted));

	pft_text_add(&text, value);
	pft_log_say(name, "=", quoted, text.cut ? "..." : "",
		" is not understood; accepted: ", setting->accepted, "; this program is not traced", NULL);
	return -EINVAL;
}

static int setting_read(
	const struct setting *setting, struct pft_settings *settings, char *const *environment)
{
	const char *name = setting->name;
	const char *value = environment_text(environment, name);

	if (!value) {
		name = setting->other_name;
		value = environment_text(environment, name);
	}
	if (!value || setting->parse(settings, value))
		return 0;
	return setting_refuse(setting, name, value);
}

static const char *directory_default(struct pft_arena *arena)
{
	char path[256];
	struct pft_text text = pft_text_in(path, sizeof(path));
	const char *user = pft_user_name(arena);

	if (!user)
		return NULL;
	pft_text_add(&text, "/tmp/");
	pft_text_add(&text, user);
	pft_text_add(&text, "/pft_traces");
	return pft_arena_copy(arena, path, text.used);
}

// The program may chdir before a child of it asks for the place again.
static const char *directory_absolute(const char *directory, struct pft_arena *arena)
{
	char path[4096];
	struct pft_text text = pft_text_in(path, sizeof(path));

	if (directory[0] == '/')
		return directory;
	// The kernel says "(unreachable)..." for a directory outside of our root.
	if (pft_sys_getcwd(path, sizeof(path)) < 0 || path[0] != '/')
		return NULL;
	text.used = strlen(path);
	pft_text_add(&text, "/");
	pft_text_add(&text, directory);
	return text.cut ? NULL : pft_arena_copy(arena, path, text.used);
}

static int directory_settle(struct pft_settings *settings, struct pft_arena *arena)
{
	const char *asked = settings->directory ? settings->directory : directory_default(arena);

	settings->directory = asked ? directory_absolute(asked, arena) : NULL;
	if (settings->directory)
		return 0;
	pft_log_say("PFT_TRACE_DIR=", asked ? asked : "",
		": no absolute path can be made of it; accepted: a directory; this program is not traced",
		NULL);
	return -EINVAL;
}

// What opens or closes the window has to be seen, so it is recorded as well.
static bool functions_join(struct pft_settings *settings, const char *function, struct pft_arena *arena)
{
	size_t size = (settings->functions ? strlen(settings->functions) : 0) + 2;
	struct pft_text text;
	char *joined;

	if (!function)
		return true;
	size += strlen(function);
	joined = pft_arena_alloc(arena, size);
	if (!joined)
		return false;
	text = pft_text_in(joined, size);
	pft_text_add(&text, settings->functions ? settings->functions : "");
	pft_text_add(&text, settings->functions ? "," : "");
	pft_text_add(&text, function);
	settings->functions = joined;
	return true;
}

// What the rings hold is written when it is triggered: that is what they are to be kept for.
static int trigger_settle(struct pft_settings *settings, char *const *environment)
{
	if (!settings->trigger_ns || settings->overflow == PFT_OVERFLOW_OVERWRITE)
		return 0;
	if (!environment_text(environment, "PFT_OVERFLOW")) {
		settings->overflow = PFT_OVERFLOW_OVERWRITE;
		return 0;
	}
	pft_log_say("PFT_OVERFLOW=", environment_text(environment, "PFT_OVERFLOW"),
		" leaves nothing for PFT_TRIGGER to write; accepted with it: overwrite; this program is not "
		"traced",
		NULL);
	return -EINVAL;
}

// What decides whether there is anything to do.
static int mode_settle(struct pft_settings *settings, char *const *environment, const char *program)
{
	if (setting_read(&mode_setting, settings, environment) != 0)
		return -EINVAL;
	if (settings->mode == PFT_MODE_OFF)
		return 0;
	if (setting_read(&processes_setting, settings, environment) != 0)
		return -EINVAL;
	if (settings->processes && !pft_programs_select(settings->processes, program))
		settings->mode = PFT_MODE_OFF;
	return 0;
}

int pft_settings_read(
	struct pft_settings *settings, char *const *environment, const char *program, struct pft_arena *arena)
{
	*settings = (struct pft_settings){.mode = PFT_MODE_USER,
		.overflow = PFT_OVERFLOW_WAIT,
		.clock = PFT_CLOCK_TSC,
		.files = PFT_FILE_BIT(PFT_FILE_TRACE),
		.buffer_bytes = BUFFER_DEFAULT};
	if (mode_settle(settings, environment, program) != 0)
		return -EINVAL;
	if (settings->mode == PFT_MODE_OFF)
		return 0;
	for (size_t i = 0; i < sizeof(other_settings) / sizeof(*other_settings); i++)
		if (setting_read(&other_settings[i], settings, environment) != 0)
			return -EINVAL;
	if (trigger_settle(settings, environment) != 0)
		return -EINVAL;
	if (!functions_join(settings, settings->start_function, arena) ||
		!functions_join(settings, settings->stop_function, arena))
		return -ENOMEM;
	return directory_settle(settings, arena);
}
