// SPDX-License-Identifier: MIT
// The calling thread records: see seated.h. Called by unit tests.
#define _GNU_SOURCE
#include "tests/unit/seated.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "encoder/records.h"
#include "shim/hot/clock.h"
#include "shim/hot/guest.h"
#include "shim/hot/ring.h"
#include "shim/hot/trampoline.h"
#include "shim/process.h"
#include "tests/unit/fake_session.h"

#define THREADS_MAX 16
#define RING_BYTES (1u << 18)
#define STACK_BYTES (8u << 20)
#define SLOTS_MAX 256

static uint64_t foreign_slots[SLOTS_MAX];
static uint32_t read_up_to[THREADS_MAX];
static uint64_t last_serial[THREADS_MAX], last_ticks[THREADS_MAX];
static char words[1u << 20];
static size_t words_used;

static void nothing_to_end(void)
{
}

void seated_session(enum pft_clock clock, uint64_t ring_bytes)
{
	pft_session = pft_fake_session(ring_bytes, THREADS_MAX);
	pft_session->overflow = PFT_OVERFLOW_DROP;
	pft_session->clock = clock;
	pft_clock_start(clock, NULL);
	pft_guest_refuse();
	pft_process_end = nothing_to_end;
	cr_assert(pft_recording_start());
}

uintptr_t seated_stack_high(void)
{
	pthread_attr_t attributes;
	void *low;
	size_t bytes;

	cr_assert_eq(pthread_getattr_np(pthread_self(), &attributes), 0);
	cr_assert_eq(pthread_attr_getstack(&attributes, &low, &bytes), 0);
	pthread_attr_destroy(&attributes);
	return (uintptr_t)low + bytes;
}

struct pft_self *seated_sit(void)
{
	struct pft_self *self = pft_self_take(STACK_BYTES);

	cr_assert_not_null(self);
	pft_self_begin(self, seated_stack_high());
	return self;
}

struct pft_self *seated_start(enum pft_clock clock)
{
	seated_session(clock, RING_BYTES);
	return seated_sit();
}

void *seated_hook(void *function)
{
	char name[2] = {(char)('a' + pft_session->hooks - PFT_HOOK_FIRST)};
	uint32_t id = pft_fake_hook(pft_session, "fake", name);

	pft_originals[id] = function;
	return pft_thunk(id);
}

uint32_t seated_hook_id(const void *thunk)
{
	return (uint32_t)(((const char *)thunk - pft_thunks) / 16);
}

// ---- words ------------------------------------------------------------------------------------------

static void add(const char *word)
{
	size_t length = strlen(word);

	cr_assert_lt(words_used + length + 2, sizeof(words));
	if (words_used)
		words[words_used++] = ' ';
	memcpy(words + words_used, word, length + 1);
	words_used += length;
}

static unsigned number_of(uint64_t slot)
{
	unsigned i = 0;

	while (i < SLOTS_MAX && foreign_slots[i] && foreign_slots[i] != slot)
		i++;
	cr_assert_lt(i, SLOTS_MAX);
	foreign_slots[i] = slot;
	return i + 1;
}

static char sign_of(uint32_t kind)
{
	return kind == PFT_BEGIN ? '+' : kind == PFT_END ? '-' : '~';
}

static char name_of(uint32_t id)
{
	return id == PFT_HOOK_WAIT ? 'w' : (char)('a' + id - PFT_HOOK_FIRST);
}

static void add_record(const struct pft_recorded *record)
{
	char word[64];
	int used = 0;

	if (record->kind == PFT_HOLE)
		snprintf(word, sizeof(word), "hole");
	else if (record->kind == PFT_PAUSE)
		snprintf(word, sizeof(word), "|:%u", record->depth);
	else if (record->kind == PFT_GAP)
		snprintf(word, sizeof(word), "?:%lu:%u", record->dropped, record->depth);
	else
		used = snprintf(word, sizeof(word), "%c%c", sign_of(record->kind), name_of(record->id));
	if (record->foreign)
		snprintf(word + used, sizeof(word) - (size_t)used, "@%u", number_of(record->slot));
	add(word);
}

// Handlers may have recorded since a thread began to wait.
static void check_time(uint32_t index, const struct pft_recorded *record)
{
	if (record->kind == PFT_HOLE || (record->kind == PFT_BEGIN && record->id == PFT_HOOK_WAIT))
		return;
	cr_assert_geq(record->ticks, last_ticks[index], "a record is older than the one before");
	last_ticks[index] = record->ticks;
}

// The next user of a seat goes on in its ring where the last one left it.
static void meet_thread(uint32_t index)
{
	const struct pft_session_thread *entry = pft_session_thread(pft_session, index);

	if (entry->serial == last_serial[index])
		return;
	last_serial[index] = entry->serial;
	read_up_to[index] = entry->begin_at;
}

struct pft_self *seated_at(uint32_t index)
{
	uint32_t found = index;
	struct pft_self *self = pft_self_from(&found);

	return found == index ? self : NULL;
}

static uint32_t head_of(uint32_t index)
{
	return pft_head_position(__atomic_load_n(&seated_at(index)->head, __ATOMIC_ACQUIRE));
}

const char *seated_records_of(uint32_t index)
{
	struct pft_recorded record;
	uint32_t head = head_of(index);

	meet_thread(index);
	words_used = 0;
	words[0] = '\0';
	for (; read_up_to[index] != head; read_up_to[index] += record.bytes) {
		cr_assert(pft_record_read(pft_session, index, read_up_to[index], head, &record),
			"no record at %u of %u", read_up_to[index], head);
		check_time(index, &record);
		add_record(&record);
	}
	return words;
}

const char *seated_records(void)
{
	return seated_records_of(pft_self->index);
}

static void leave_out(const char *word)
{
	const size_t length = strlen(word);
	char *at;

	while ((at = strstr(words, word)))
		memmove(at, at + length, strlen(at + length) + 1);
}

const char *seated_events_of(uint32_t index)
{
	seated_records_of(index);
	leave_out("hole ");
	leave_out("+w -w ");
	return words;
}

const char *seated_events(void)
{
	return seated_events_of(pft_self->index);
}

uintptr_t seated_slot(unsigned number)
{
	return foreign_slots[number - 1];
}

// ---- ways -------------------------------------------------------------------------------------------

void seated_drain(void)
{
	__atomic_store_n(&pft_self->tail, pft_head_position(pft_self->head), __ATOMIC_SEQ_CST);
}

void seated_arm(void)
{
	uint32_t position = pft_head_position(pft_self->head);

	pft_self->begin_limit = pft_self->end_limit = position;
}

void seated_fill(void (*hooked)(void))
{
	const unsigned most = (pft_self->ring_mask + 1) / sizeof(struct pft_record);

	for (unsigned calls = 0; !pft_self->dropped_unsaid; calls++) {
		cr_assert_lt(calls, most, "a full ring takes calls");
		hooked();
	}
	seated_records();
}

void seated_elsewhere(void (*run)(void))
{
	static char stack[256 * 1024] __attribute__((aligned(16)));
	static ucontext_t here, there;

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, run, 0);
	swapcontext(&here, &there);
}
