// SPDX-License-Identifier: MIT
// Rules for threads: phases in which one works alone, work that is shared unevenly, the recorder's own waits.
// See findings.h. Any single thread; pure. The rule: a thread is busy when no recorded call says that it
// waits.
#include "encoder/report/findings.h"

#include <stddef.h>

#include "encoder/report/units.h"

// Time in which the thread was there and did not wait, in one slot of the strips.
static uint64_t busy_in_slot(const struct pft_summary *summary, const struct pft_summary_thread *thread,
	unsigned number, uint64_t slot_ns)
{
	uint64_t from_ns = number * slot_ns;
	uint64_t waiting_ns = thread->strip.waiting_ns[number];
	uint64_t begin_ns = thread->begin_ns > summary->origin_ns ? thread->begin_ns - summary->origin_ns : 0;
	uint64_t end_ns = begin_ns + pft_summary_life_ns(summary, thread);

	if (begin_ns > from_ns || end_ns < from_ns + slot_ns)
		return UINT64_MAX; // it was not there all the time
	return slot_ns > waiting_ns ? slot_ns - waiting_ns : 0;
}

struct slot {
	uint32_t threads; // that were there all the time
	uint64_t busy_ns; // of all of them
};

static struct slot look_at_slot(const struct pft_summary *summary, unsigned number, uint64_t slot_ns)
{
	struct slot slot = {0};

	for (const struct pft_summary_thread *thread = summary->threads; thread != NULL;
		thread = thread->next) {
		uint64_t busy_ns = busy_in_slot(summary, thread, number, slot_ns);

		if (busy_ns == UINT64_MAX)
			continue;
		slot.threads++;
		slot.busy_ns += busy_ns;
	}
	return slot;
}

static uint64_t coarsen(struct pft_summary *summary, uint64_t end_ns)
{
	uint64_t slot_ns = pft_strip_slot_for(end_ns);

	for (struct pft_summary_thread *thread = summary->threads; thread != NULL; thread = thread->next)
		pft_strip_coarsen(&thread->strip, slot_ns);
	return slot_ns;
}

static void look_for_serial_phases(struct pft_bottlenecks *bottlenecks, struct pft_summary *summary)
{
	uint64_t end_ns = summary->last_ns > summary->origin_ns ? summary->last_ns - summary->origin_ns : 0;
	uint64_t slot_ns = coarsen(summary, end_ns);
	uint64_t shared_ns = 0, serial_ns = 0, first_ns = 0;
	struct pft_bottleneck bottleneck, *kept;
	struct pft_text text;

	for (unsigned number = 0; number < PFT_STRIP_SLOTS && (number + 1) * slot_ns <= end_ns; number++) {
		struct slot slot = look_at_slot(summary, number, slot_ns);

		if (slot.threads < 2)
			continue;
		shared_ns += slot_ns;
		if (slot.busy_ns < slot_ns / 2 || slot.busy_ns > slot_ns + slot_ns / 10)
			continue;
		if (serial_ns == 0)
			first_ns = number * slot_ns;
		serial_ns += slot_ns;
	}
	bottleneck = pft_bottleneck_about(
		PFT_BOTTLENECK_SERIAL, summary->origin_ns + first_ns, serial_ns, shared_ns);
	if (bottleneck.share < 0.20 || serial_ns < 10 * PFT_MS ||
		!(kept = pft_bottleneck_keep(bottlenecks, &bottleneck)))
		return;
	text = pft_text_in(kept->place, sizeof kept->place);
	pft_text_add(&text, "all threads");
	text = pft_text_in(kept->evidence, sizeof kept->evidence);
	pft_text_add(&text, "for ");
	pft_text_add_duration(&text, serial_ns);
	pft_text_add(&text, ", ");
	pft_text_add_share(&text, kept->share);
	pft_text_add(&text, " of the time with two or more threads, the others waited");
}

// Threads of one name.
struct group {
	uint32_t threads;
	uint64_t busy_ns, most_ns, begin_ns;
};

static struct group group_from(const struct pft_summary *summary, const struct pft_summary_thread *first)
{
	struct group group = {.begin_ns = first->begin_ns};

	for (const struct pft_summary_thread *thread = first; thread != NULL; thread = thread->next) {
		uint64_t ns = pft_summary_busy_ns(summary, thread);

		if (thread->name != first->name || thread == summary->threads)
			continue;
		group.threads++;
		group.busy_ns += ns;
		if (ns > group.most_ns)
			group.most_ns = ns;
	}
	return group;
}

static bool is_first_of_name(const struct pft_summary *summary, const struct pft_summary_thread *thread)
{
	const struct pft_summary_thread *other = summary->threads->next;

	while (other != thread && other->name != thread->name)
		other = other->next;
	return other == thread;
}

static void keep_imbalance(struct pft_bottlenecks *bottlenecks, const struct pft_summary *summary,
	const struct pft_summary_thread *first, const struct group *group)
{
	uint64_t mean_ns = group->busy_ns / group->threads;
	struct pft_bottleneck bottleneck = pft_bottleneck_about(PFT_BOTTLENECK_IMBALANCE, group->begin_ns,
		group->most_ns - mean_ns, pft_summary_run_ns(summary));
	struct pft_bottleneck *kept = pft_bottleneck_keep(bottlenecks, &bottleneck);
	struct pft_text text;

	if (kept == NULL)
		return;
	text = pft_text_in(kept->place, sizeof kept->place);
	pft_text_add(&text, first->name != 0 ? pft_strings_text(&summary->strings, first->name) : "threads");
	text = pft_text_in(kept->evidence, sizeof kept->evidence);
	pft_text_add(&text, "of ");
	pft_text_add_number(&text, group->threads);
	pft_text_add(&text, " threads the busiest was busy for ");
	pft_text_add_duration(&text, group->most_ns);
	pft_text_add(&text, ", on average they were for ");
	pft_text_add_duration(&text, mean_ns);
}

// The first thread is the program's main one, which shares no work by its name.
static void look_for_imbalance(struct pft_bottlenecks *bottlenecks, const struct pft_summary *summary)
{
	const struct pft_summary_thread *thread = summary->threads != NULL ? summary->threads->next : NULL;

	for (; thread != NULL; thread = thread->next) {
		struct group group;

		if (!is_first_of_name(summary, thread))
			continue;
		group = group_from(summary, thread);
		if (group.threads >= 2 && group.most_ns >= 10 * PFT_MS &&
			2 * group.most_ns * group.threads >= 3 * group.busy_ns)
			keep_imbalance(bottlenecks, summary, thread, &group);
	}
}

void pft_findings_in_threads(struct pft_bottlenecks *bottlenecks, struct pft_summary *summary)
{
	look_for_serial_phases(bottlenecks, summary);
	look_for_imbalance(bottlenecks, summary);
}

// ---- the recorder -----------------------------------------------------------------------------------

static uint64_t recorder_waits_ns(const struct pft_summary *summary, uint64_t *at_ns)
{
	uint64_t ns = 0;

	for (uint32_t i = 1; i <= summary->functions_used; i++) {
		const struct pft_summary_function *function = &summary->functions[i];

		if (function->kind != PFT_KIND_RECORDER)
			continue;
		ns += function->total_ns;
		*at_ns = function->max_at_ns;
	}
	return ns;
}

void pft_findings_in_recording(struct pft_bottlenecks *bottlenecks, const struct pft_summary *summary)
{
	uint64_t at_ns = summary->begin_ns;
	uint64_t waits_ns = recorder_waits_ns(summary, &at_ns);
	struct pft_bottleneck bottleneck =
		pft_bottleneck_about(PFT_BOTTLENECK_RECORDING, at_ns, waits_ns, pft_summary_run_ns(summary));
	struct pft_bottleneck *kept;
	struct pft_text text;

	if (summary->dropped != 0 && bottleneck.severity < PFT_SEVERITY_HIGH)
		bottleneck.severity = PFT_SEVERITY_HIGH;
	if ((summary->dropped == 0 && bottleneck.share < 0.01) ||
		!(kept = pft_bottleneck_keep(bottlenecks, &bottleneck)))
		return;
	text = pft_text_in(kept->place, sizeof kept->place);
	pft_text_add(&text, "pftshim");
	text = pft_text_in(kept->evidence, sizeof kept->evidence);
	pft_text_add(&text, "threads waited ");
	pft_text_add_duration(&text, waits_ns);
	pft_text_add(&text, " for the flusher; ");
	pft_text_add_count(&text, summary->dropped);
	pft_text_add(&text, " events were dropped");
}
