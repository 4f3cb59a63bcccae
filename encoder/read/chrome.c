// SPDX-License-Identifier: MIT
// From the reader's events to the writer's: see chrome.h. The rule: a trace of this project becomes the very
// file that PFT_FORMAT=json would have written beside it.
#include "encoder/read/chrome.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/json.h"
#include "encoder/read/memory.h"
#include "encoder/read/reader.h"
#include "encoder/read/table.h"

#define ATTRIBUTES_MAX 64

struct chrome {
	struct pft_json *json;
	struct pft_arena memory;
	struct pft_arg attributes[ATTRIBUTES_MAX];
	size_t attribute_count;
	struct pft_read_table flows; // by id: whether it was met and has not ended
	uint64_t left_out;
};

// ---- tracks -----------------------------------------------------------------------------------------

static struct pft_json_track *need(struct pft_json_track *track)
{
	if (track)
		return track;
	fputs("pft: out of memory\n", stderr);
	exit(1);
}

// JSON knows no track below a track: the name tells where it belongs.
static void name_other(const struct pft_read_track *track, const struct pft_read_track *owner)
{
	char *full;

	if (!track->name)
		return;
	if (!owner || owner->kind != PFT_TRACK_THREAD) {
		pft_json_name(track->user, track->name);
		return;
	}
	if (asprintf(&full, "%s of %llu", track->name, (unsigned long long)owner->tid) < 0)
		return;
	pft_json_name(track->user, full);
	free(full);
}

static struct pft_json_track *other_of(struct chrome *chrome, struct pft_read_track *track)
{
	const struct pft_read_track *owner = pft_read_owner(track);
	uint32_t pid = owner ? owner->pid : 0;

	if (track->user)
		return track->user;
	if (track->kind == PFT_TRACK_COUNTER) {
		track->user = need(pft_json_thread(chrome->json, pid, pid));
		return track->user;
	}
	track->user = need(pft_json_fiber(chrome->json, pid));
	name_other(track, owner);
	return track->user;
}

static struct pft_json_track *thread_of(struct chrome *chrome, struct pft_read_track *track)
{
	if (!track->user)
		track->user = need(pft_json_thread(chrome->json, track->pid, track->tid));
	return track->user;
}

static struct pft_json_track *json_of(struct chrome *chrome, struct pft_read_track *track)
{
	return track->kind == PFT_TRACK_THREAD ? thread_of(chrome, track) : other_of(chrome, track);
}

static void describe(struct chrome *chrome, struct pft_read_track *track)
{
	const char *name = track->name ? track->name : "";

	if (track->kind == PFT_TRACK_PROCESS)
		pft_json_process(chrome->json, track->pid, name);
	else if (track->kind == PFT_TRACK_THREAD)
		pft_json_name(thread_of(chrome, track), name);
	else if (track->kind == PFT_TRACK_OTHER)
		other_of(chrome, track);
}

// ---- events -----------------------------------------------------------------------------------------

static void tell_flows(
	struct chrome *chrome, struct pft_json_track *track, const struct pft_read_event *event)
{
	static char met;

	for (size_t i = 0; i < event->flow_count; i++) {
		void **flow = pft_read_table_at(&chrome->flows, event->flows[i]);

		pft_json_flow(
			track, event->ns, *flow ? PFT_JSON_FLOW_STEP : PFT_JSON_FLOW_START, event->flows[i]);
		*flow = &met;
	}
	for (size_t i = 0; i < event->ending_flow_count; i++) {
		pft_json_flow(track, event->ns, PFT_JSON_FLOW_END, event->ending_flows[i]);
		*pft_read_table_at(&chrome->flows, event->ending_flows[i]) = NULL;
	}
}

static void tell_counter(
	struct chrome *chrome, struct pft_json_track *track, const struct pft_read_event *event)
{
	const char *name = event->name ? event->name : "";

	if (event->arg_count == 0 || event->args[0].kind == PFT_ARG_TEXT) // no number
		chrome->left_out++;
	else
		pft_json_counter(track, event->ns, name, &event->args[0]);
}

static void keep_attribute(struct chrome *chrome, const struct pft_read_event *event)
{
	size_t i = 0;

	while (i < chrome->attribute_count && strcmp(chrome->attributes[i].name, event->name) != 0)
		i++;
	if (i == ATTRIBUTES_MAX)
		return;
	if (i < chrome->attribute_count) {
		free((char *)chrome->attributes[i].name);
		free((char *)chrome->attributes[i].text);
	} else {
		chrome->attribute_count++;
	}
	chrome->attributes[i] = event->args[0];
	chrome->attributes[i].name = pft_read_copy(event->name, strlen(event->name));
	if (event->args[0].text)
		chrome->attributes[i].text = pft_read_copy(event->args[0].text, strlen(event->args[0].text));
}

static void tell_event(struct chrome *chrome, const struct pft_read_event *event)
{
	struct pft_json_track *track = json_of(chrome, event->track);
	const char *name = event->name ? event->name : "";

	switch (event->kind) {
	case PFT_READ_BEGIN:
		pft_json_begin(track, event->ns, name, event->category, event->args, event->arg_count);
		break;
	case PFT_READ_END:
		tell_flows(chrome, track, event);
		pft_json_end(track, event->ns, event->args, event->arg_count);
		return;
	case PFT_READ_INSTANT:
		pft_json_instant(track, event->ns, name, event->category, event->args, event->arg_count);
		break;
	case PFT_READ_COUNTER:
		tell_counter(chrome, track, event);
		return;
	case PFT_READ_LOST:
		pft_json_lost(track, event->ns, event->lost);
		return;
	default:
		return;
	}
	tell_flows(chrome, track, event);
}

static void tell(void *user, const struct pft_read_event *event)
{
	struct chrome *chrome = user;

	if (event->kind == PFT_READ_TRACK)
		describe(chrome, event->track);
	else if (event->kind == PFT_READ_ATTRIBUTE)
		keep_attribute(chrome, event);
	else
		tell_event(chrome, event);
}

// ---- all of it --------------------------------------------------------------------------------------

static void release(struct chrome *chrome)
{
	for (size_t i = 0; i < chrome->attribute_count; i++) {
		free((char *)chrome->attributes[i].name);
		free((char *)chrome->attributes[i].text);
	}
	pft_read_table_clear(&chrome->flows, NULL);
	pft_arena_free(&chrome->memory);
}

struct pft_chrome_result pft_chrome_convert(int from, int to)
{
	struct chrome chrome = {.attribute_count = 0};
	struct pft_chrome_result result = {0};
	struct pft_read_result read;

	chrome.json = pft_json_open(to, &chrome.memory);
	if (!chrome.json)
		return (struct pft_chrome_result){.error = -ENOMEM};
	read = pft_read(from, tell, &chrome);
	pft_json_finish(chrome.json, chrome.attributes, chrome.attribute_count);
	result.wrong = read.wrong;
	result.error = pft_json_flush(chrome.json);
	result.left_out = read.skipped + chrome.left_out;
	release(&chrome);
	return result;
}
