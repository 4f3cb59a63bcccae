// SPDX-License-Identifier: MIT
// A thread's own block: seats are taken, used and left, and in a forked child everything begins anew.
#define _GNU_SOURCE
#include "shim/hot/self.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shim/hot/aside.h"
#include "shim/hot/clock.h"
#include "shim/hot/ring.h"
#include "shim/hot/trampoline.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/registers.h"
#include "tests/unit/seated.h"
#include "tests/unit/unannounced.h"

#define MIB (UINT64_C(1) << 20)

typedef void (*volatile function)(void);

static function hooked;
static volatile unsigned times;

static void nothing(void)
{
}

static struct pft_session_thread *entry_of(uint32_t index)
{
	return pft_session_thread(pft_session, index);
}

static void session(void)
{
	seated_session(PFT_CLOCK_TSC, 4096);
	hooked = seated_hook(nothing);
}

// ---- seats ------------------------------------------------------------------------------------------

Test(self, takes_the_first_free_seat)
{
	struct pft_self *first, *second;

	session();
	cr_assert_null(seated_at(0));
	first = pft_self_take(MIB);
	second = pft_self_take(MIB);
	cr_assert_eq(seated_at(0), first);
	cr_assert_eq(seated_at(1), second);
	cr_assert_eq(entry_of(0)->state, PFT_THREAD_TAKEN);
	pft_self_give_back(first);
	cr_assert_eq(entry_of(0)->state, PFT_THREAD_FREE);
	cr_assert_eq(pft_self_take(MIB), first);
}

Test(self, takes_no_more_seats_than_the_session_has)
{
	session();
	for (uint32_t i = 0; i < pft_session->threads_max; i++)
		cr_assert_not_null(pft_self_take(MIB));
	cr_assert_null(pft_self_take(MIB));
	cr_assert_null(seated_at(pft_session->threads_max));
}

static void *take_seat(void *taken)
{
	*(struct pft_self **)taken = pft_self_take(65536);
	return NULL;
}

Test(self, gives_threads_that_come_at_once_a_seat_each)
{
	struct pft_self *taken[16] = {0};
	pthread_t threads[16];

	session();
	for (unsigned i = 0; i < 16; i++)
		threads[i] = unannounced_create(take_seat, &taken[i]);
	for (unsigned i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < 16; i++)
		for (unsigned j = 0; j <= i; j++)
			cr_assert_eq(taken[i] == taken[j], i == j);
}

Test(self, has_frame_records_for_the_whole_stack)
{
	const struct pft_seat *seat;

	session();
	seat = pft_self_seat(pft_self_take(3 * PFT_PAGE + 1));
	cr_assert_eq(seat->stack_bytes, 4 * PFT_PAGE);
	memset(seat->frames, 1, 2 * seat->stack_bytes);
	seat = pft_self_seat(pft_self_take(1024 * MIB));
	cr_assert_eq(seat->stack_bytes, 128 * MIB, "what lies below has foreign records");
}

Test(self, keeps_the_frame_records_of_a_seat_unless_the_next_stack_is_larger)
{
	struct pft_self *self;
	char *frames;

	session();
	self = pft_self_take(2 * MIB);
	frames = pft_self_seat(self)->frames;
	pft_self_give_back(self);
	cr_assert_eq(pft_self_take(MIB), self);
	cr_assert_eq(pft_self_seat(self)->frames, frames);
	cr_assert_eq(pft_self_seat(self)->stack_bytes, 2 * MIB);
	pft_self_give_back(self);
	cr_assert_eq(pft_self_take(4 * MIB), self);
	cr_assert_eq(pft_self_seat(self)->stack_bytes, 4 * MIB);
	memset(pft_self_seat(self)->frames, 1, 2 * 4 * MIB);
}

static uint64_t address_space_in_use(void)
{
	uint64_t pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	cr_assert_eq(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return pages * PFT_PAGE;
}

Test(self, makes_do_with_less_when_memory_is_short)
{
	struct rlimit before, limit;
	struct pft_self *self;

	session();
	getrlimit(RLIMIT_AS, &before);
	limit = before;
	limit.rlim_cur = address_space_in_use() + 40 * MIB;
	setrlimit(RLIMIT_AS, &limit);
	self = pft_self_take(64 * MIB);
	setrlimit(RLIMIT_AS, &before);
	cr_assert_not_null(self);
	cr_assert_eq(pft_self_seat(self)->stack_bytes, 16 * MIB);
}

Test(self, leaves_a_seat_whose_ring_is_not_to_be_had)
{
	session();
	cr_assert_eq(munmap(pft_session_record(pft_session, 0, 0), 4096), 0);
	cr_assert_null(pft_self_take(MIB));
	cr_assert_eq(entry_of(0)->state, PFT_THREAD_FREE);
}

// ---- sitting down and getting up --------------------------------------------------------------------

Test(self, says_who_sits_there)
{
	struct pft_self *self;
	uint64_t before;

	session();
	prctl(PR_SET_NAME, "somebody");
	before = pft_clock_ticks();
	self = seated_sit();
	cr_assert_eq(pft_self, self);
	cr_assert_eq(entry_of(0)->state, PFT_THREAD_LIVE);
	cr_assert_eq(entry_of(0)->tid, (uint32_t)gettid());
	cr_assert_eq(entry_of(0)->serial, 1);
	cr_assert_eq(entry_of(0)->end_ticks, 0);
	cr_assert_str_eq(entry_of(0)->name, "somebody");
	cr_assert_geq(entry_of(0)->begin_ticks, before);
	cr_assert_leq(entry_of(0)->begin_ticks, pft_clock_ticks());
	cr_assert_eq(self->index, 0);
	cr_assert_eq(self->entry, entry_of(0));
}

Test(self, covers_the_stack_up_to_its_end)
{
	struct pft_self *self;

	session();
	self = pft_self_take(MIB);
	pft_self_begin(self, 0x7f0000000008);
	cr_assert_eq(self->low, 0x7f0000000000 - MIB);
	cr_assert_eq(self->bottom, MIB | 1);
	cr_assert_eq(pft_head_floor(self->head), MIB | 1, "no call is open");
}

Test(self, says_that_the_thread_has_ended)
{
	struct pft_self *self;
	uint64_t before;

	session();
	self = seated_sit();
	hooked();
	prctl(PR_SET_NAME, "renamed");
	before = pft_clock_ticks();
	pft_session->flusher_asleep = PFT_ASLEEP_NAP;
	pft_self_end();
	cr_assert_eq(entry_of(0)->state, PFT_THREAD_ENDED);
	cr_assert_geq(entry_of(0)->end_ticks, before);
	cr_assert_str_eq(entry_of(0)->name, "renamed");
	cr_assert_eq(pft_self_seat(self)->position, 32, "where the flusher drains up to");
	cr_assert_eq(pft_session->flusher_asleep, 0, "the flusher was woken");
	cr_assert_neq(pft_self, self);
}

Test(self, leaves_the_seat_warm_for_the_next)
{
	struct pft_self *self;

	session();
	self = seated_sit();
	hooked();
	pft_self->dropped_unsaid = 3;
	pft_self->entry->dropped = 3;
	pft_self->foreign_open += 2;
	pft_self_end();
	entry_of(0)->state = PFT_THREAD_FREE;
	cr_assert_eq(seated_sit(), self);
	cr_assert_eq(entry_of(0)->begin_at, 32);
	cr_assert_eq(entry_of(0)->serial, 2);
	cr_assert_eq(entry_of(0)->end_ticks, 0);
	cr_assert_eq(entry_of(0)->dropped, 0);
	cr_assert_eq(self->dropped_unsaid, 0);
	cr_assert_eq(self->foreign_open, UINT64_C(2) << 32, "none of the second thread");
	hooked();
	cr_assert_str_eq(seated_records(), "+a -a");
	cr_assert_eq(pft_session_record(pft_session, 0, 32)->at, 32);
}

Test(self, of_a_thread_that_never_sat_may_end)
{
	session();
	pft_self_end();
	cr_assert_eq(entry_of(0)->state, PFT_THREAD_FREE);
	hooked();
}

// ---- the first event --------------------------------------------------------------------------------

static void *call_and_report(void *found)
{
	hooked();
	hooked();
	*(struct pft_self **)found = pft_self_get();
	return NULL;
}

Test(self, of_a_thread_that_nobody_announced_attaches_at_its_first_event)
{
	struct pft_self *found = NULL;

	session();
	pthread_join(unannounced_create(call_and_report, &found), NULL);
	cr_assert_eq(found, seated_at(0));
	cr_assert_null(seated_at(1));
	cr_assert_str_eq(seated_records_of(0), "+a -a +a -a", "on its native stack");
	cr_assert_eq(entry_of(0)->state, PFT_THREAD_LIVE, "it does not say when it ends");
}

Test(self, attaches_a_while_after_there_is_a_seat_again)
{
	struct pft_self *found = NULL;

	session();
	for (uint32_t i = 0; i < pft_session->threads_max; i++)
		pft_self_take(MIB);
	cr_assert_null(pft_self_get());
	pft_self_give_back(seated_at(5));
	hooked();
	cr_assert_null(pft_self_get(), "it is not tried again at once");
	cr_assert_eq(pft_session->unseated, 3 * 2, "each time for a begin and its end");
	nanosleep(&(struct timespec){0, 150000000}, NULL);
	pthread_join(unannounced_create(call_and_report, &found), NULL);
	cr_assert_eq(found, seated_at(5));
}

Test(self, is_nobody_unless_recording_is_on)
{
	session();
	pft_process.recording = PFT_RECORDING_NONE;
	cr_assert_null(pft_self_get());
	pft_process.recording = PFT_RECORDING_ON;
	seated_sit();
	cr_assert_eq(pft_self_get(), pft_self);
	pft_process.recording = PFT_RECORDING_STOPPED;
	cr_assert_null(pft_self_get());
	cr_assert_null(seated_at(1));
}

Test(self, attaches_anew_after_its_end)
{
	struct pft_self *first;

	session();
	first = seated_sit();
	pft_self_end();
	cr_assert_neq(pft_self_get(), first);
	cr_assert_eq(entry_of(1)->state, PFT_THREAD_LIVE);
	cr_assert_eq(entry_of(1)->serial, 2);
}

// ---- names ------------------------------------------------------------------------------------------

Test(self, reads_the_name_that_the_kernel_has)
{
	session();
	seated_sit();
	pthread_setname_np(pthread_self(), "fifteen letters");
	pft_self_read_name(pft_self);
	cr_assert_str_eq(pft_self->entry->name, "fifteen letters");
	cr_assert_eq(pft_self->entry->name_turn % 2, 0);
}

Test(self, leaves_a_name_that_has_not_changed)
{
	uint32_t turn;

	session();
	seated_sit();
	pthread_setname_np(pthread_self(), "longer");
	pft_self_read_name(pft_self);
	turn = pft_self->entry->name_turn;
	pft_self_read_name(pft_self);
	cr_assert_eq(pft_self->entry->name_turn, turn);
	pthread_setname_np(pthread_self(), "long");
	pft_self_read_name(pft_self);
	cr_assert_eq(pft_self->entry->name_turn, turn + 2);
	cr_assert_str_eq(pft_self->entry->name, "long");
	pthread_setname_np(pthread_self(), "");
	pft_self_read_name(pft_self);
	cr_assert_str_eq(pft_self->entry->name, "");
}

Test(self, leaves_a_name_to_who_is_writing_it)
{
	struct pft_session_thread *entry;

	session();
	entry = seated_sit()->entry;
	pthread_setname_np(pthread_self(), "mine");
	cr_assert(pft_session_name_begin(entry));
	cr_assert_eq(entry->name_turn % 2, 1);
	cr_assert_not(pft_session_name_begin(entry));
	strcpy(entry->name, "theirs");
	pft_self_read_name(pft_self);
	cr_assert_str_eq(entry->name, "theirs");
	pft_session_name_end(entry);
	cr_assert_eq(entry->name_turn % 2, 0);
	pft_self_read_name(pft_self);
	cr_assert_str_eq(entry->name, "mine");
}

// ---- whose stack ------------------------------------------------------------------------------------

Test(self, runs_on_any_stack_unless_another_thread_borrows_it)
{
	session();
	seated_sit();
	cr_assert(pft_self_runs_on(pft_self, 0x10000000));
	pft_self->entry->tid++;
	cr_assert(pft_self_runs_on(pft_self, 0x10000100), "the place was seen before");
	cr_assert_not(pft_self_runs_on(pft_self, 0x20000000));
	pft_self->entry->tid--;
	cr_assert(pft_self_runs_on(pft_self, 0x20000000));
}

// ---- aside ------------------------------------------------------------------------------------------

static char aside_stack[65536] __attribute__((aligned(64)));
static char aside_area[4096] __attribute__((aligned(64)));
static uintptr_t aside_frame;
static bool aside_answer;

static bool trashes(void)
{
	aside_frame = (uintptr_t)__builtin_frame_address(0);
	registers_trash();
	return aside_answer;
}

static bool goes_aside(void)
{
	return pft_aside(trashes, aside_stack + sizeof(aside_stack), aside_area, true);
}

Test(self, steps_aside_onto_the_stack_that_it_is_given)
{
	aside_answer = true;
	cr_assert(goes_aside());
	cr_assert_lt(aside_frame - (uintptr_t)aside_stack, sizeof(aside_stack));
	cr_assert_eq(aside_frame % 16, 0, "as functions expect it");
	aside_answer = false;
	cr_assert_not(goes_aside());
}

// Called in between, with known values in all registers of x87 and vectors.
Test(self, keeps_extended_registers_while_it_steps_aside)
{
	struct registers direct;

	registers_fill();
	registers_call(nothing);
	direct = registers_returned;
	registers_call(goes_aside);
	cr_assert_eq(memcmp(registers_returned.extended, direct.extended, sizeof(direct.extended)), 0);
	cr_assert_eq(registers_returned.rbx, direct.rbx);
	cr_assert_eq(registers_returned.rbp, direct.rbp);
	cr_assert_eq(registers_returned.rsp, registers_passed.rsp);
}

// ---- fork -------------------------------------------------------------------------------------------

static unsigned sessions_begun;
static bool begins_well = true;

// What a child's session is: at the same place, with no threads. Ours is private memory.
static bool begin_session(void)
{
	sessions_begun++;
	aside_frame = (uintptr_t)__builtin_frame_address(0);
	memset(entry_of(0), 0, pft_session->threads_max * sizeof(*entry_of(0)));
	pft_session->pid = (uint32_t)getpid();
	registers_trash();
	return begins_well;
}

static void start_forking(void)
{
	session();
	pft_forked = begin_session;
	seated_sit();
	hooked();
	seated_records();
}

// Past libc: as a program may that does not call our fork.
static pid_t raw_fork(void)
{
	return (pid_t)syscall(SYS_fork);
}

static void check_in_child(pid_t (*fork_function)(void), bool (*check)(void))
{
	pid_t child = fork_function();
	int status = 0;

	if (child == 0)
		_exit(check() ? 0 : 1);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0, "in the child it is not so");
}

static bool block_reads_zero(void)
{
	static const char zero[PFT_PAGE];

	return memcmp(pft_self, zero, sizeof(zero)) == 0 && sessions_begun == 0;
}

Test(self, reads_zero_in_a_child_of_a_raw_fork)
{
	start_forking();
	check_in_child(raw_fork, block_reads_zero);
	cr_assert(pft_self->alive);
}

static bool begins_once(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	hooked();
	hooked();
	return sessions_begun == 1 && strcmp(seated_records_of(0), "+a -a +a -a") == 0 &&
	       entry_of(0)->state == PFT_THREAD_LIVE && entry_of(0)->tid == (uint32_t)gettid() &&
	       aside_frame - here > MIB && here - aside_frame > MIB;
}

Test(self, begins_a_session_at_the_first_event_of_a_child)
{
	start_forking();
	check_in_child(raw_fork, begins_once);
	hooked();
	cr_assert_str_eq(seated_records(), "+a -a", "the parent goes on");
	cr_assert_eq(sessions_begun, 0);
}

static bool has_begun(void)
{
	return sessions_begun == 1 && pft_self->alive;
}

Test(self, begins_a_session_in_a_child_that_does_nothing)
{
	start_forking();
	check_in_child(fork, has_begun);
}

Test(self, begins_no_session_in_a_child_when_recording_is_over)
{
	start_forking();
	cr_assert(pft_recording_stop());
	check_in_child(fork, block_reads_zero);
}

static bool goes_on_unrecorded(void)
{
	hooked();
	hooked();
	return sessions_begun == 1 && entry_of(0)->state == PFT_THREAD_FREE && !pft_self->alive;
}

Test(self, lets_a_child_be_that_has_no_session)
{
	start_forking();
	begins_well = false;
	check_in_child(raw_fork, goes_on_unrecorded);
}

static bool keeps_registers(void)
{
	struct registers entered, returned;

	registers_fill();
	registers_call(registers_callee);
	entered = registers_entered;
	returned = registers_returned;
	pft_originals[seated_hook_id((void *)hooked)] = registers_callee;
	registers_fill();
	registers_call((void *)hooked);
	return sessions_begun == 1 &&
	       memcmp(entered.extended, registers_entered.extended, sizeof(entered.extended)) == 0 &&
	       memcmp(returned.extended, registers_returned.extended, sizeof(returned.extended)) == 0 &&
	       registers_entered.rdi == entered.rdi && registers_returned.rax == returned.rax;
}

Test(self, begins_a_session_without_touching_a_register)
{
	start_forking();
	check_in_child(raw_fork, keeps_registers);
}

static pid_t forked_inside;

static void forks(void)
{
	forked_inside = raw_fork();
	times++;
}

// The call was begun by the parent: in the child it just returns, and begins the session on its way.
Test(self, leads_a_call_back_that_was_open_at_the_fork)
{
	int status = 0;

	start_forking();
	pft_originals[seated_hook_id((void *)hooked)] = (void *)forks;
	hooked();
	if (forked_inside == 0)
		_exit(sessions_begun == 1 && strcmp(seated_records_of(0), "") == 0 ? 0 : 1);
	waitpid(forked_inside, &status, 0);
	cr_assert_eq(status, 0);
	cr_assert_str_eq(seated_records(), "+a -a");
}
