// SPDX-License-Identifier: MIT
// The calling-context tree: one node for each different chain of callers. Called by summary.c. Flusher
// context, or any single thread. The rule: memory follows the number of different chains, up to a bound of
// their number and one of their length; what lies beyond is counted in one node.
#ifndef PFT_TREE_H
#define PFT_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/base/arena.h"
#include "encoder/table.h"

#define PFT_TREE_NODES_MAX (1u << 17)

struct pft_tree_node {
	uint32_t number; // from 1
	uint32_t depth; // callers, the root included: PFT_DEPTH_MAX at most
	uint32_t function;
	struct pft_tree_node *parent; // NULL at the root
	struct pft_tree_node *children, *next; // the newest first
	uint64_t calls, total_ns, self_ns;
	bool recursive; // the function is among the callers as well
	struct pft_tree_node *same; // the next node of this function: pft_tree_link
	uint64_t extent_ns; // the longer of total_ns and what is below: pft_tree_link
};

struct pft_tree {
	struct pft_arena *memory;
	struct pft_tree_node *root; // of no function
	struct pft_tree_node *beyond; // below the root: stands for what has no node of its own
	struct pft_table numbers; // of nodes, by their parent's number and their function
	struct pft_tree_node **by_number; // 1 to nodes
	uint32_t room, nodes;
};

// An empty tree; `beyond_function` is the function of the node `beyond`. False when out of memory.
bool pft_tree_open(struct pft_tree *tree, struct pft_arena *memory, uint32_t beyond_function);

// The node of `function` called from `parent`, made when there is none. Never NULL.
struct pft_tree_node *pft_tree_child(struct pft_tree *tree, struct pft_tree_node *parent, uint32_t function);

// Chains the nodes of each function: `first` has room for every function's number, zeroed. Measures the
// extent of every node: a call that has not returned has no time of its own, but what is below it has.
void pft_tree_link(struct pft_tree *tree, struct pft_tree_node **first);

#endif
