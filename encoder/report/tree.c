// SPDX-License-Identifier: MIT
// The calling-context tree: see tree.h. Flusher context. The rule: there are at least twice as many buckets
// as nodes, so that a search ends soon.
#include "encoder/report/tree.h"

#include <stddef.h>

#define BUCKETS_MIN 256u

// Nodes lie 16 bytes apart at least.
static uint32_t place_of(const struct pft_tree *tree, const struct pft_tree_node *parent, uint32_t function)
{
	uint64_t key = ((uint64_t)(uintptr_t)parent >> 4) * UINT64_C(0x9e3779b97f4a7c15) + function;

	return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (tree->buckets_room - 1);
}

static struct pft_tree_node **bucket(
	const struct pft_tree *tree, const struct pft_tree_node *parent, uint32_t function)
{
	uint32_t place = place_of(tree, parent, function);

	while (tree->buckets[place] != NULL &&
		(tree->buckets[place]->parent != parent || tree->buckets[place]->function != function))
		place = (place + 1) & (tree->buckets_room - 1);
	return &tree->buckets[place];
}

static bool make_room(struct pft_tree *tree)
{
	struct pft_tree_node **old = tree->buckets;
	uint32_t old_room = tree->buckets_room;
	uint32_t room = old_room != 0 ? 2 * old_room : BUCKETS_MIN;
	struct pft_tree_node **fresh = pft_arena_alloc(tree->memory, room * sizeof(void *));

	if (fresh == NULL)
		return false;
	tree->buckets = fresh;
	tree->buckets_room = room;
	for (uint32_t i = 0; i < old_room; i++)
		if (old[i] != NULL)
			*bucket(tree, old[i]->parent, old[i]->function) = old[i];
	return true;
}

static bool is_called_by(const struct pft_tree_node *node, uint32_t function)
{
	while (node != NULL && node->function != function)
		node = node->parent;
	return node != NULL;
}

static struct pft_tree_node *make_node(struct pft_tree *tree, struct pft_tree_node *parent, uint32_t function)
{
	struct pft_tree_node *node = pft_arena_alloc(tree->memory, sizeof *node);

	if (node == NULL)
		return NULL;
	node->function = function;
	node->parent = parent;
	node->recursive = is_called_by(parent, function);
	if (parent != NULL) {
		node->next = parent->children;
		parent->children = node;
	}
	tree->nodes++;
	return node;
}

bool pft_tree_open(struct pft_tree *tree, struct pft_arena *memory, uint32_t beyond_function)
{
	*tree = (struct pft_tree){.memory = memory, .beyond_function = beyond_function};
	tree->root = make_node(tree, NULL, 0);
	if (tree->root == NULL || !make_room(tree))
		return false;
	tree->beyond = make_node(tree, tree->root, beyond_function);
	return tree->beyond != NULL;
}

static bool has_room(struct pft_tree *tree)
{
	return tree->nodes < PFT_TREE_NODES_MAX && (2 * tree->nodes < tree->buckets_room || make_room(tree));
}

struct pft_tree_node *pft_tree_child(struct pft_tree *tree, struct pft_tree_node *parent, uint32_t function)
{
	struct pft_tree_node **found;
	struct pft_tree_node *node;

	if (parent == tree->beyond)
		return tree->beyond;
	found = bucket(tree, parent, function);
	if (*found != NULL)
		return *found;
	node = has_room(tree) ? make_node(tree, parent, function) : NULL;
	if (node == NULL)
		return tree->beyond;
	*bucket(tree, parent, function) = node;
	return node;
}

static void link_below(struct pft_tree_node *node, struct pft_tree_node **first)
{
	for (node = node->children; node != NULL; node = node->next) {
		node->same = first[node->function];
		first[node->function] = node;
		link_below(node, first);
	}
}

void pft_tree_link(struct pft_tree *tree, struct pft_tree_node **first)
{
	link_below(tree->root, first);
}
