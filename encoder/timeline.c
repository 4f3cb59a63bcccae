// SPDX-License-Identifier: MIT
// One straight line at a time through the readings of two clocks. Flusher context; pure. The rule: a new
// line lies nowhere below the old one from the last reading on, so that converted time does not step back;
// what it gives up for that is corrected within the next period.
#include "encoder/timeline.h"

#include <stdbool.h>

// A shorter span than this says too little about the slope: readings are some hundred nanoseconds off.
#define SPAN_MIN_NS 1000000

// A line that is further ahead than this was not renewed for long (an idle program): nothing was converted
// out there, and being right counts for more than going on smoothly.
#define AHEAD_MAX_NS 10000

#define ONE (UINT64_C(1) << 32)

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 wide_unsigned;

static uint64_t slope(uint64_t ticks, uint64_t ns)
{
	return ticks == 0 ? ONE : (uint64_t)(((wide_unsigned)ns << 32) / ticks);
}

// While the machine is suspended ticks may stand still and time goes on. NTP slews by 0.05 % at most, and
// readings taken close together are off by some more. A slope that is too flat is taken as it is, so that a
// first line that met with a suspension heals.
static bool ticks_stood_still(uint64_t before, uint64_t now)
{
	return now > before + before / 100;
}

void pft_timeline_start(
	struct pft_timeline *line, uint64_t from_ticks, uint64_t from_ns, uint64_t to_ticks, uint64_t to_ns)
{
	line->ticks = to_ticks;
	line->ns = to_ns;
	line->rate = slope(to_ticks - from_ticks, to_ns - from_ns);
}

void pft_timeline_renew(struct pft_timeline *line, uint64_t ticks, uint64_t ns)
{
	uint64_t shown = pft_timeline_ns(line, ticks);
	uint64_t span_ticks = ticks - line->ticks;
	uint64_t span_ns = ns - line->ns;
	uint64_t rate = slope(span_ticks, span_ns);

	if ((int64_t)span_ticks <= 0 || (int64_t)span_ns < SPAN_MIN_NS)
		return;
	if (ticks_stood_still(line->rate, rate))
		rate = line->rate;
	if (shown > ns && shown - ns <= AHEAD_MAX_NS) {
		rate -= slope(span_ticks, shown - ns);
		ns = shown;
	}
	*line = (struct pft_timeline){.ticks = ticks, .ns = ns, .rate = rate};
}

uint64_t pft_timeline_ns(const struct pft_timeline *line, uint64_t ticks)
{
	int64_t distance = (int64_t)(ticks - line->ticks);

	return line->ns + (uint64_t)(((wide)distance * (wide)line->rate) >> 32);
}
