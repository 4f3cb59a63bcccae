// SPDX-License-Identifier: MIT
// The three unwinders side by side. libgcc's and LLVM's share names with each other and with what nongnu's
// library exports, so both are opened privately.
// build: -D_GNU_SOURCE -lunwind
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <unwind.h>

#include "tests/programs/common.h"
#include "tests/programs/walks.h"

// Numbers of the registers of walk_frame.saved in DWARF, which all three count by (psABI, figure 3.36).
static const int saved_numbers[WALK_SAVED] = {3, 6, 12, 13, 14, 15};

struct walk_frame walk_interrupted(const ucontext_t *context)
{
	const greg_t *registers = context->uc_mcontext.gregs;

	return (struct walk_frame){registers[REG_RIP], registers[REG_RSP],
		{registers[REG_RBX], registers[REG_RBP], registers[REG_R12], registers[REG_R13],
			registers[REG_R14], registers[REG_R15]}};
}

// Behind the outermost function there is no frame, but some unwinders show the null that it returns to.
static void add(struct walk *walk, const struct walk_frame *frame)
{
	if (frame->ip && walk->count < WALK_FRAMES_MAX)
		walk->frames[walk->count++] = *frame;
}

// ---- nongnu -----------------------------------------------------------------------------------------

static uintptr_t nongnu_register(unw_cursor_t *cursor, int number)
{
	unw_word_t value = 0;

	unw_get_reg(cursor, number, &value);
	return value;
}

static void walk_nongnu(struct walk *walk, const ucontext_t *context)
{
	unw_cursor_t cursor;

	unw_init_local2(&cursor, (unw_context_t *)context, UNW_INIT_SIGNAL_FRAME);
	do {
		struct walk_frame frame = {
			nongnu_register(&cursor, UNW_REG_IP), nongnu_register(&cursor, UNW_REG_SP), {0}};

		for (int i = 0; i < WALK_SAVED; i++)
			frame.saved[i] = nongnu_register(&cursor, saved_numbers[i]);
		add(walk, &frame);
	} while (unw_step(&cursor) > 0);
}

// ---- libgcc -----------------------------------------------------------------------------------------

static struct {
	_Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn trace, void *argument);
	_Unwind_Ptr (*get_ip)(struct _Unwind_Context *context);
	_Unwind_Word (*get_cfa)(struct _Unwind_Context *context);
	_Unwind_Word (*get_register)(struct _Unwind_Context *context, int number);
} libgcc;

struct libgcc_walk {
	struct walk *walk;
	struct walk_frame interrupted; // frames before it are the handler's
};

static _Unwind_Reason_Code libgcc_frame(struct _Unwind_Context *context, void *argument)
{
	struct libgcc_walk *state = argument;
	// A context's CFA is where its stack pointer was when it made the call.
	struct walk_frame frame = {libgcc.get_ip(context), libgcc.get_cfa(context), {0}};

	for (int i = 0; i < WALK_SAVED; i++)
		frame.saved[i] = libgcc.get_register(context, saved_numbers[i]);
	if (state->walk->count || (frame.ip == state->interrupted.ip && frame.sp == state->interrupted.sp))
		add(state->walk, &frame);
	return _URC_NO_REASON;
}

static void walk_libgcc(struct walk *walk, const ucontext_t *context)
{
	struct libgcc_walk state = {walk, walk_interrupted(context)};

	libgcc.backtrace(libgcc_frame, &state);
}

static void libgcc_open(void *library)
{
	libgcc.backtrace = dlsym(library, "_Unwind_Backtrace");
	libgcc.get_ip = dlsym(library, "_Unwind_GetIP");
	libgcc.get_cfa = dlsym(library, "_Unwind_GetCFA");
	libgcc.get_register = dlsym(library, "_Unwind_GetGR");
	MUST(libgcc.backtrace && libgcc.get_ip && libgcc.get_cfa && libgcc.get_register);
}

// ---- LLVM -------------------------------------------------------------------------------------------

// Its headers cannot be installed beside nongnu's. A context is the registers in this order, then flags and
// segments (Registers.hpp); a cursor takes 33 words (__libunwind_config.h).
static const int llvm_context_order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RDI, REG_RSI, REG_RBP,
	REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

enum { LLVM_CONTEXT_RAX, LLVM_CONTEXT_IP = 16 };
enum { LLVM_IP = -1, LLVM_SP = -2, LLVM_CONTEXT_WORDS = 32, LLVM_CURSOR_WORDS = 64 };

static struct {
	int (*init)(uint64_t *cursor, uint64_t *context);
	int (*step)(uint64_t *cursor);
	int (*get)(uint64_t *cursor, int number, uint64_t *value);
} llvm;

static uintptr_t llvm_register(uint64_t *cursor, int number)
{
	uint64_t value = 0;

	llvm.get(cursor, number, &value);
	return value;
}

// It takes every address for one that a call returns to, and applies no row of the unwind table that begins
// at it (DwarfParser.hpp, parseInstructions). So it is shown a call that the interrupted instruction might
// have made: to a function that uses no stack and keeps its return address in rax.
__asm__("	.text\n"
	"	.local	walk_pretended_callee\n"
	"	.type	walk_pretended_callee, @function\n"
	"walk_pretended_callee:\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa %rsp, 0\n"
	"	.cfi_register %rip, %rax\n"
	"	nop\n"
	"	jmp	*%rax\n"
	"	.cfi_endproc\n"
	"	.size	walk_pretended_callee, . - walk_pretended_callee\n");

extern const char walk_pretended_callee[] __attribute__((visibility("hidden")));

static void walk_llvm(struct walk *walk, const ucontext_t *context)
{
	uint64_t registers[LLVM_CONTEXT_WORDS] = {0}, cursor[LLVM_CURSOR_WORDS] = {0};
	int stepped;

	for (size_t i = 0; i < sizeof(llvm_context_order) / sizeof(llvm_context_order[0]); i++)
		registers[i] = context->uc_mcontext.gregs[llvm_context_order[i]];
	registers[LLVM_CONTEXT_RAX] = context->uc_mcontext.gregs[REG_RIP] + 1;
	registers[LLVM_CONTEXT_IP] = (uintptr_t)walk_pretended_callee + 1;
	llvm.init(cursor, registers);
	do {
		struct walk_frame frame;

		stepped = llvm.step(cursor);
		frame.ip = llvm_register(cursor, LLVM_IP) - (walk->count == 0);
		frame.sp = llvm_register(cursor, LLVM_SP);
		for (int i = 0; i < WALK_SAVED; i++)
			frame.saved[i] = llvm_register(cursor, saved_numbers[i]);
		if (stepped >= 0) // at the end it stands on a frame whose caller it does not know
			add(walk, &frame);
	} while (stepped > 0);
}

static void llvm_open(void *library)
{
	llvm.init = dlsym(library, "unw_init_local");
	llvm.step = dlsym(library, "unw_step");
	llvm.get = dlsym(library, "unw_get_reg");
	MUST(llvm.init && llvm.step && llvm.get);
}

// -----------------------------------------------------------------------------------------------------

const struct walker walkers[WALKERS] = {
	{"nongnu", walk_nongnu},
	{"libgcc", walk_libgcc},
	{"llvm", walk_llvm},
};

int walkers_open(void)
{
	void *library = dlopen("libgcc_s.so.1", RTLD_NOW);

	MUST(library != NULL);
	libgcc_open(library);
	library = dlopen("libunwind.so.1", RTLD_NOW);
	if (!library)
		return WALKERS - 1;
	llvm_open(library);
	return WALKERS;
}
