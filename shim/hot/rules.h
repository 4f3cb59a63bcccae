// SPDX-License-Identifier: MIT
// How to get from a frame to its caller's, by the address of the code: what libunwind said of it, kept. Hot
// context. Read by all threads, written by one at a time (learn.h).
//
// A rule is one word, 0 for none:
//
//   63        47        23     3   0
//   | mapping | bp      | cfa | kind
//
// cfa: 8-byte words from the stack pointer, or from rbp, up to where the stack pointer was before the call.
// bp: words from there to where the caller's rbp is saved, signed; 0: rbp is still the caller's.
#ifndef PFT_RULES_H
#define PFT_RULES_H

#include <stdbool.h>
#include <stdint.h>

// Where the kernel keeps the interrupted registers, from the stack pointer of the code that returns from the
// handler on: in uc_mcontext.gregs (arch/x86/include/uapi/asm/sigcontext.h).
#define PFT_SIGNAL_BP 0x78
#define PFT_SIGNAL_SP 0xa0
#define PFT_SIGNAL_IP 0xa8

enum pft_rule_kind {
	PFT_RULE_NONE,
	PFT_RULE_SP, // cfa counts from the stack pointer
	PFT_RULE_BP, // cfa counts from rbp
	PFT_RULE_SIGNAL, // the kernel's frame: all registers lie where rt_sigreturn takes them from
	PFT_RULE_END, // nobody called
	PFT_RULE_CUT, // it cannot be told
	PFT_RULE_OWN, // ours: as SP, and no frame of the program's
	PFT_RULE_ALIGNED, // the word so far below rbp holds the stack pointer, and the caller's rbp is at rbp
};

struct pft_rule {
	enum pft_rule_kind kind;
	int64_t cfa, bp; // bytes
	uint32_t mapping;
};

// Whether it fits the word. What does not is a cut.
bool pft_rule_pack(struct pft_rule rule, uint64_t *word);
struct pft_rule pft_rule_unpack(uint64_t word);

// The rule for code at `address`; 0 when none is kept.
uint64_t pft_rules_find(uintptr_t address);

// Keeps it; a table that has become full starts anew. One thread at a time.
void pft_rules_keep(uintptr_t address, uint64_t word);

// Code has gone, and other code may come to its place: none is kept any more. One thread at a time.
void pft_rules_forget(void);

#endif
