// SPDX-License-Identifier: MIT
// Bottlenecks: their words, and looking for all of them. See bottlenecks.h. Any single thread; pure.
#include "encoder/report/bottlenecks.h"

#include "encoder/report/findings.h"

static const struct pft_bottleneck_words words[] = {
	[PFT_BOTTLENECK_LOCK] = {"lock_contention", "Lock contention",
		"Threads wait for a lock that another thread holds.",
		"10 or more waits of 5 us and more in a locking function, together 5 % of its threads' time "
		"and 1 ms",
		"Hold the lock for less time, split it, or let each thread work on its own data."},
	[PFT_BOTTLENECK_IO] = {"blocking_io", "Blocking input and output",
		"Threads stand still in a system call until a device or a peer answers.",
		"waits of 5 us and more in a function of input or output, together 10 % of its threads' time "
		"and 1 ms",
		"Read and write more at a time, ask ahead, or leave it to a thread of its own."},
	[PFT_BOTTLENECK_SLEEP] = {"sleep", "Sleeping", "Threads let time pass by a sleeping function.",
		"sleeps are together 10 % of their threads' time and 1 ms",
		"Wait for the event itself (a condition variable, a descriptor) instead of for time."},
	[PFT_BOTTLENECK_POLL] = {"polling", "Polling",
		"A thread asks again and again, with short sleeps or waits in between.",
		"50 or more waits, half of them shorter than 20 ms, 10 or more a second",
		"Wait for the event itself, without a time limit or with a longer one."},
	[PFT_BOTTLENECK_CPU] = {"cpu_bound", "Time in one function",
		"Much of the run is spent in this function itself.",
		"its own time is 25 % of the run, and 20 ms",
		"Look inside of it with a sampling profiler; do less of it, or spread it over threads."},
	[PFT_BOTTLENECK_STORM] = {"call_storm", "A storm of short calls",
		"So many short calls are recorded that most of their time is recording.",
		"10,000 or more calls, half of the median one is recording, which is 5 % of the run",
		"Exclude the function (PFT_FUNCS=-name), or leave out short calls (PFT_MIN_DURATION)."},
	[PFT_BOTTLENECK_SERIAL] = {"serial_phase", "One thread works, the others wait",
		"Only one thread was busy while others were there.",
		"20 % of the time in which there were two or more threads, and 10 ms",
		"Split this phase's work, or overlap it with what the other threads do next."},
	[PFT_BOTTLENECK_IMBALANCE] = {"imbalance", "Threads share the work unevenly",
		"Of threads with one name, one was busy much longer than the others.",
		"the busiest of them was busy 1.5 times as long as they were on average, and 10 ms",
		"Give out the work in smaller pieces, or let idle threads take from busy ones."},
	[PFT_BOTTLENECK_RECORDING] = {"recording", "Recording held the program up, or lost events",
		"A ring was full: the thread waited for the flusher, or events were dropped.",
		"any event was dropped, or waits for the flusher are 1 % of the run",
		"Select fewer functions, leave out short calls, or give larger rings (PFT_BUFFER)."},
};

_Static_assert(sizeof words / sizeof words[0] == PFT_BOTTLENECK_TYPES, "each type has its words");

const struct pft_bottleneck_words *pft_bottleneck_words(enum pft_bottleneck_type type)
{
	return &words[type];
}

const char *pft_severity_name(enum pft_severity severity)
{
	static const char *const names[] = {"low", "medium", "high", "critical"};

	return names[severity];
}

uint64_t pft_probe_self_ns(const struct pft_summary_function *function, struct pft_probe probe)
{
	return function->calls * probe.inside_ns + function->inner_calls * probe.outside_ns;
}

uint64_t pft_probe_total_ns(const struct pft_summary_function *function, struct pft_probe probe)
{
	return function->calls * probe.inside_ns +
	       function->inner_all * ((uint64_t)probe.inside_ns + probe.outside_ns);
}

void pft_bottlenecks_find(
	struct pft_bottlenecks *bottlenecks, struct pft_summary *summary, struct pft_probe probe)
{
	*bottlenecks = (struct pft_bottlenecks){0};
	for (uint32_t i = 1; i <= summary->functions_used; i++)
		pft_findings_in_function(bottlenecks, summary, i, probe);
	pft_findings_in_threads(bottlenecks, summary);
	pft_findings_in_recording(bottlenecks, summary);
}
