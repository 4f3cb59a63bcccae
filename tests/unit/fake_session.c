// SPDX-License-Identifier: MIT
// The session that unit tests write into and read from: see fake_session.h. The layout follows the drawing
// at the head of session.h; every table starts on a page.
#include "tests/unit/fake_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STRINGS_BYTES (1u << 20)
#define FRAMES_MAX 4096

static const char cmdline[] = "/opt/fake/program\0--first\0second argument";

// Takes `bytes` from the end of the mapping that is being planned.
static uint64_t place(uint64_t *end, uint64_t bytes)
{
	uint64_t at = *end;

	*end += (bytes + 4095) & ~UINT64_C(4095);
	return at;
}

static void lay_out(struct pft_session *plan)
{
	uint64_t threads = plan->threads_max;
	uint64_t end = 0;

	plan->foreign_max = PFT_FOREIGN_MAX;
	plan->commit_bytes = sizeof(struct pft_commit) + threads * sizeof(struct pft_commit_thread) +
			     PFT_FOREIGN_MAX * sizeof(struct pft_open_foreign);
	place(&end, sizeof *plan);
	plan->hooks_at = place(&end, PFT_HOOKS_MAX * sizeof(struct pft_session_hook));
	plan->strings_at = place(&end, STRINGS_BYTES);
	plan->mappings_at = place(&end, PFT_MAPPINGS_MAX * sizeof(struct pft_session_mapping));
	plan->stack_heads_at = place(&end, PFT_STACK_HEADS * sizeof(uint32_t));
	plan->frames_at = place(&end, FRAMES_MAX * sizeof(struct pft_session_frame));
	plan->threads_at = place(&end, threads * sizeof(struct pft_session_thread));
	plan->commit_at[0] = place(&end, plan->commit_bytes);
	plan->commit_at[1] = place(&end, plan->commit_bytes);
	plan->rings_at = place(&end, threads * plan->ring_bytes);
	plan->bytes = end;
}

static void describe(struct pft_session *plan)
{
	plan->magic = PFT_SESSION_MAGIC;
	plan->version = PFT_SESSION_VERSION;
	plan->clock = PFT_CLOCK_MONOTONIC;
	plan->pid = (uint32_t)getpid();
	plan->parent_pid = (uint32_t)getppid();
	plan->mode = 2;
	plan->hooks = PFT_HOOK_FIRST;
	plan->strings_used = 1;
	plan->strings_bytes = STRINGS_BYTES;
	plan->mappings = 1;
	plan->frames = 1;
	plan->frames_max = FRAMES_MAX;
	plan->boot_ns = 1000000000;
	plan->monotonic_ns = 900000000;
	plan->real_ns = UINT64_C(1700000000000000000);
	plan->start_ticks = plan->monotonic_ns;
	plan->cmdline_bytes = sizeof cmdline;
	strcpy(plan->process, "program");
	memcpy(plan->cmdline, cmdline, sizeof cmdline);
	strcpy(plan->selectors, "open*,-close");
	plan->selectors_bytes = (uint32_t)strlen(plan->selectors);
}

struct pft_session *pft_fake_session(uint64_t ring_bytes, uint32_t threads_max)
{
	struct pft_session plan = {.ring_bytes = ring_bytes, .threads_max = threads_max};
	void *memory;

	lay_out(&plan);
	describe(&plan);
	memory = mmap(NULL, plan.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		perror("fake session");
		abort();
	}
	return memcpy(memory, &plan, sizeof plan);
}

static uint32_t add_string(struct pft_session *session, const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;
	uint32_t at = session->strings_used;

	if (!size)
		return 0;
	if (size > session->strings_bytes - at) {
		fputs("fake session: no room for a string\n", stderr);
		abort();
	}
	memcpy(pft_session_string(session, at), text, size);
	session->strings_used += (uint32_t)size;
	return at;
}

uint32_t pft_fake_hook(struct pft_session *session, const char *object, const char *symbol)
{
	uint32_t id = session->hooks;
	struct pft_session_hook *hook = pft_session_hook(session, id);

	hook->object = add_string(session, object);
	hook->symbol = add_string(session, symbol);
	session->hooks = id + 1;
	return id;
}

struct pft_clocks pft_fake_clocks(const struct pft_session *session, uint64_t ns)
{
	return (struct pft_clocks){
		.boot_ns = session->boot_ns + ns,
		.monotonic_ns = session->monotonic_ns + ns,
		.real_ns = session->real_ns + ns,
	};
}

struct pft_session_thread *pft_fake_thread(
	struct pft_session *session, uint32_t index, uint32_t tid, const char *name)
{
	struct pft_session_thread *thread = pft_session_thread(session, index);

	*thread = (struct pft_session_thread){.state = PFT_THREAD_LIVE,
		.tid = tid,
		.serial = ++session->serials,
		.begin_ticks = session->start_ticks};
	snprintf(thread->name, sizeof thread->name, "%s", name ? name : "");
	return thread;
}

uint32_t pft_fake_mapping(struct pft_session *session, const char *path, uint64_t start)
{
	struct pft_session_mapping *mapping = pft_session_mapping(session, session->mappings);

	*mapping = (struct pft_session_mapping){
		.start = start, .end = start + 4096, .bias = start, .path = add_string(session, path)};
	return session->mappings++;
}

uint32_t pft_fake_frame(struct pft_session *session, uint32_t mapping, uint64_t address, uint32_t caller)
{
	*pft_session_frame(session, session->frames) = (struct pft_session_frame){
		.code = address | (uint64_t)mapping << PFT_MAPPING_SHIFT, .caller = caller};
	return session->frames++;
}

void pft_fake_free(struct pft_session *session)
{
	munmap(session, session->bytes);
}
