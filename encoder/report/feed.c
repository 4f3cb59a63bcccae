// SPDX-License-Identifier: MIT
// Tracks become threads and stacks, slices become calls: see feed.h.
#include "encoder/report/feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/read/reader.h"

// What a track is in the summary. A track below a thread's is another stack of that thread.
struct place {
	struct pft_summary_thread *thread;
	struct pft_summary_stack *stack;
	struct place *next;
};

struct feeding {
	struct pft_feed *feed;
	const struct pft_read_track *process; // that recorded; others are named as its relatives
	struct place *places;
	bool failed; // no memory
};

// ---- places -----------------------------------------------------------------------------------------

static struct pft_summary *summary_of(struct feeding *feeding)
{
	struct pft_report *report = &feeding->feed->report;

	if (report->summary == NULL)
		report->summary = pft_summary_open();
	return report->summary;
}

static void name_thread(struct feeding *feeding, const struct pft_read_track *track)
{
	struct place *place = track->user;

	if (track->kind == PFT_TRACK_THREAD && place != NULL && track->name != NULL)
		pft_summary_thread_name(feeding->feed->report.summary, place->thread, track->name);
}

static struct place *place_at(struct feeding *feeding, struct pft_read_track *track, uint64_t ns);

static struct pft_summary_thread *thread_of(
	struct feeding *feeding, struct pft_read_track *track, uint64_t ns)
{
	struct pft_read_track *owner = (struct pft_read_track *)pft_read_owner(track);
	uint64_t tid = owner != NULL ? owner->tid : 0;
	struct place *place;

	if (owner == NULL || owner == track || owner->kind != PFT_TRACK_THREAD)
		return pft_summary_thread(feeding->feed->report.summary, (uint32_t)tid, ns);
	place = place_at(feeding, owner, ns);
	return place != NULL ? place->thread : NULL;
}

static struct place *make_place(struct feeding *feeding, struct pft_read_track *track, uint64_t ns)
{
	struct pft_summary *summary = summary_of(feeding);
	struct place *place = summary != NULL ? calloc(1, sizeof *place) : NULL;

	if (place == NULL)
		return NULL;
	place->thread = thread_of(feeding, track, ns);
	place->stack = place->thread != NULL ? pft_summary_stack(summary, place->thread) : NULL;
	if (place->stack == NULL) {
		free(place);
		return NULL;
	}
	place->next = feeding->places;
	feeding->places = place;
	track->user = place;
	name_thread(feeding, track);
	return place;
}

static struct place *place_at(struct feeding *feeding, struct pft_read_track *track, uint64_t ns)
{
	struct place *place = track->user != NULL ? track->user : make_place(feeding, track, ns);

	feeding->failed |= place == NULL;
	return place;
}

// The track may be given to another thread, which has a place of its own.
static void end_thread(struct feeding *feeding, struct pft_read_track *track, uint64_t ns)
{
	struct place *place = track->user;
	struct pft_summary *summary = feeding->feed->report.summary;

	if (place == NULL)
		return;
	pft_summary_thread_end(summary, place->thread, ns);
	pft_summary_stack_give_back(summary, place->stack);
	place->stack = NULL;
	track->user = NULL;
}

// ---- events -----------------------------------------------------------------------------------------

static bool is_unwound(const struct pft_read_event *event)
{
	for (size_t i = 0; i < event->arg_count; i++)
		if (event->args[i].kind == PFT_ARG_BOOL && strcmp(event->args[i].name, "unwound") == 0)
			return event->args[i].number != 0;
	return false;
}

static void begin(struct feeding *feeding, const struct place *place, const struct pft_read_event *event)
{
	struct pft_summary *summary = feeding->feed->report.summary;
	const char *name = event->name != NULL ? event->name : "(unnamed)";
	const char *category = event->category != NULL ? event->category : "";

	pft_summary_begin(summary, place->stack, event->ns, pft_summary_function(summary, name, category));
}

// Of other instants none is part of a thread's life: they stand on tracks of other processes as well.
static void tell_instant(struct feeding *feeding, const struct pft_read_event *event)
{
	const char *name = event->name != NULL ? event->name : "";

	if (strcmp(name, "thread begin") == 0)
		place_at(feeding, event->track, event->ns);
	else if (strcmp(name, "thread end") == 0)
		end_thread(feeding, event->track, event->ns);
}

static void tell(struct feeding *feeding, const struct pft_read_event *event)
{
	struct pft_summary *summary;
	struct place *place;

	if (event->kind == PFT_READ_INSTANT) {
		tell_instant(feeding, event);
		return;
	}
	place = place_at(feeding, event->track, event->ns);
	if (place == NULL)
		return;
	summary = feeding->feed->report.summary;
	if (event->kind == PFT_READ_BEGIN)
		begin(feeding, place, event);
	else if (event->kind == PFT_READ_END)
		pft_summary_end(summary, place->stack, event->ns, is_unwound(event));
	else
		pft_summary_gap(summary, place->stack, event->lost);
}

// ---- facts of the trace -----------------------------------------------------------------------------

static void keep_number(struct pft_report *report, const char *key, uint64_t number)
{
	if (strcmp(key, "pftshim.produced") == 0)
		report->totals.produced = number;
	else if (strcmp(key, "pftshim.written") == 0)
		report->totals.written = number;
	else if (strcmp(key, "pftshim.filtered") == 0)
		report->totals.filtered = number;
	else if (strcmp(key, "pftshim.dropped") == 0)
		report->totals.dropped = number;
	else if (strcmp(key, "pftshim.peak_rss_bytes") == 0)
		report->usage.peak_rss_bytes = number;
	else if (strcmp(key, "pftshim.minor_faults") == 0)
		report->usage.minor_faults = number;
	else if (strcmp(key, "pftshim.major_faults") == 0)
		report->usage.major_faults = number;
	else if (strcmp(key, "pftshim.probe_inside_ns") == 0)
		report->probe.inside_ns = (uint32_t)number;
	else if (strcmp(key, "pftshim.probe_outside_ns") == 0)
		report->probe.outside_ns = (uint32_t)number;
}

static void keep_text(struct feeding *feeding, const char **kept, const char *text)
{
	char *copy = strdup(text != NULL ? text : "");

	if (copy == NULL) {
		feeding->failed = true;
		return;
	}
	free((char *)*kept);
	*kept = copy;
}

static void keep_process(struct feeding *feeding, const struct pft_read_track *track)
{
	struct pft_report *report = &feeding->feed->report;

	if (feeding->process == NULL)
		feeding->process = track;
	if (feeding->process != track)
		return;
	keep_text(feeding, &report->process, track->name);
	report->pid = track->pid;
}

static void keep_attribute(struct feeding *feeding, const char *key, const struct pft_arg *arg)
{
	if (arg->kind != PFT_ARG_TEXT)
		keep_number(&feeding->feed->report, key, arg->number);
	else if (strcmp(key, "pftshim.command_line") == 0)
		keep_text(feeding, &feeding->feed->report.command_line, arg->text);
}

static void hear(void *user, const struct pft_read_event *event)
{
	struct feeding *feeding = user;

	switch (event->kind) {
	case PFT_READ_TRACK:
		if (event->track->kind == PFT_TRACK_PROCESS)
			keep_process(feeding, event->track);
		else
			name_thread(feeding, event->track);
		break;
	case PFT_READ_ATTRIBUTE:
		if (event->arg_count != 0)
			keep_attribute(feeding, event->name, &event->args[0]);
		break;
	case PFT_READ_COUNTER:
		break;
	default:
		tell(feeding, event);
	}
}

// ---- all of it --------------------------------------------------------------------------------------

static void give_places_back(struct feeding *feeding)
{
	struct place *place;

	while ((place = feeding->places) != NULL) {
		feeding->places = place->next;
		if (place->stack != NULL)
			pft_summary_stack_give_back(feeding->feed->report.summary, place->stack);
		free(place);
	}
}

int pft_feed_read(struct pft_feed *feed, int fd)
{
	struct feeding feeding = {.feed = feed};
	struct pft_read_result result;

	*feed = (struct pft_feed){.wrong = NULL};
	result = pft_read(fd, hear, &feeding);
	give_places_back(&feeding);
	if (feed->report.process == NULL) // the trace describes none
		keep_text(&feeding, &feed->report.process, "(unnamed)");
	feed->wrong = result.wrong;
	return feeding.failed ? -ENOMEM : 0;
}

void pft_feed_release(struct pft_feed *feed)
{
	free((char *)feed->report.process);
	free((char *)feed->report.command_line);
	feed->report.process = feed->report.command_line = NULL;
	if (feed->report.summary != NULL)
		pft_summary_close(feed->report.summary);
	feed->report.summary = NULL;
}
