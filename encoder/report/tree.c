// SPDX-License-Identifier: MIT
// The calling-context tree: see tree.h. Flusher context. The rule: a node is found by its parent's number and
// its function from the moment on that it is its parent's child.
#include "encoder/report/tree.h"

#include <stddef.h>

#include "encoder/array.h"
#include "encoder/session.h"

static uint64_t key_of(const struct pft_tree_node *parent, uint32_t function)
{
	return (uint64_t)(parent != NULL ? parent->number : 0) << 32 | function;
}

static bool is_called_by(const struct pft_tree_node *node, uint32_t function)
{
	while (node != NULL && node->function != function)
		node = node->parent;
	return node != NULL;
}

static bool make_room(struct pft_tree *tree)
{
	void *grown;

	if (tree->nodes + 1 < tree->room)
		return true;
	grown = pft_array_grow(
		tree->memory, tree->by_number, &tree->room, tree->nodes + 1, sizeof(struct pft_tree_node *));
	if (grown != NULL)
		tree->by_number = grown;
	return grown != NULL;
}

static struct pft_tree_node *make_node(struct pft_tree *tree, struct pft_tree_node *parent, uint32_t function)
{
	struct pft_tree_node *node = make_room(tree) ? pft_arena_alloc(tree->memory, sizeof *node) : NULL;

	if (node == NULL ||
		!pft_table_put(&tree->numbers, tree->memory, key_of(parent, function), tree->nodes + 1))
		return NULL;
	node->number = ++tree->nodes;
	tree->by_number[node->number] = node;
	node->function = function;
	node->parent = parent;
	node->depth = parent != NULL ? parent->depth + 1 : 0;
	node->recursive = is_called_by(parent, function);
	if (parent != NULL) {
		node->next = parent->children;
		parent->children = node;
	}
	return node;
}

bool pft_tree_open(struct pft_tree *tree, struct pft_arena *memory, uint32_t beyond_function)
{
	*tree = (struct pft_tree){.memory = memory};
	tree->root = make_node(tree, NULL, 0);
	if (tree->root == NULL)
		return false;
	tree->beyond = make_node(tree, tree->root, beyond_function);
	return tree->beyond != NULL;
}

struct pft_tree_node *pft_tree_child(struct pft_tree *tree, struct pft_tree_node *parent, uint32_t function)
{
	uint32_t number = pft_table_get(&tree->numbers, key_of(parent, function));
	struct pft_tree_node *node = NULL;

	if (parent == tree->beyond)
		return tree->beyond;
	if (number != 0)
		return tree->by_number[number];
	if (tree->nodes < PFT_TREE_NODES_MAX && parent->depth < PFT_DEPTH_MAX)
		node = make_node(tree, parent, function);
	return node != NULL ? node : tree->beyond;
}

static void link_below(struct pft_tree_node *parent, struct pft_tree_node **first)
{
	uint64_t below_ns = 0;

	for (struct pft_tree_node *node = parent->children; node != NULL; node = node->next) {
		node->same = first[node->function];
		first[node->function] = node;
		link_below(node, first);
		below_ns += node->extent_ns;
	}
	parent->extent_ns = parent->total_ns > below_ns ? parent->total_ns : below_ns;
}

void pft_tree_link(struct pft_tree *tree, struct pft_tree_node **first)
{
	link_below(tree->root, first);
}
