// SPDX-License-Identifier: MIT
// Unit tests of encoder/report/tree.c. Run by Criterion.
#include "encoder/report/tree.h"

#include <criterion/criterion.h>
#include <stdint.h>

#include "encoder/session.h"

#define BEYOND 7

static struct pft_arena memory;
static struct pft_tree tree;

static void set_up(void)
{
	cr_assert(pft_tree_open(&tree, &memory, BEYOND));
}

static void tear_down(void)
{
	pft_arena_free(&memory);
}

TestSuite(tree, .init = set_up, .fini = tear_down);

Test(tree, has_one_node_for_a_chain)
{
	struct pft_tree_node *a = pft_tree_child(&tree, tree.root, 1);
	struct pft_tree_node *b = pft_tree_child(&tree, a, 2);

	cr_assert_eq(pft_tree_child(&tree, tree.root, 1), a);
	cr_assert_eq(pft_tree_child(&tree, a, 2), b);
	cr_assert_neq(pft_tree_child(&tree, tree.root, 2), b);
	cr_assert_eq(b->parent, a);
	cr_assert_eq(a->children, b);
}

Test(tree, says_where_a_function_is_inside_of_itself)
{
	struct pft_tree_node *a = pft_tree_child(&tree, tree.root, 1);
	struct pft_tree_node *b = pft_tree_child(&tree, a, 2);

	cr_assert(!a->recursive && !b->recursive);
	cr_assert(pft_tree_child(&tree, b, 1)->recursive);
}

Test(tree, finds_every_node_of_many)
{
	struct pft_tree_node *outer[100];

	for (uint32_t i = 0; i < 100; i++) {
		outer[i] = pft_tree_child(&tree, tree.root, 10 + i);
		for (uint32_t j = 0; j < 100; j++)
			pft_tree_child(&tree, outer[i], 10 + j)->calls = 100 * i + j;
	}
	for (uint32_t i = 0; i < 100; i++)
		for (uint32_t j = 0; j < 100; j++)
			cr_assert_eq(pft_tree_child(&tree, outer[i], 10 + j)->calls, 100 * i + j);
}

Test(tree, has_one_node_for_what_is_deeper_than_its_bound)
{
	struct pft_tree_node *node = tree.root;

	for (unsigned i = 0; i < PFT_DEPTH_MAX; i++)
		node = pft_tree_child(&tree, node, 1);
	cr_assert_neq(node, tree.beyond);
	cr_assert_eq(pft_tree_child(&tree, node, 1), tree.beyond);
}

Test(tree, has_one_node_for_what_is_beyond_its_bound)
{
	uint32_t function = 10;
	struct pft_tree_node *last;

	while (tree.nodes < PFT_TREE_NODES_MAX)
		pft_tree_child(&tree, tree.root, function++);
	last = pft_tree_child(&tree, tree.root, function);
	cr_assert_eq(last, tree.beyond);
	cr_assert_eq(last->function, BEYOND);
	cr_assert_eq(pft_tree_child(&tree, last, 1), tree.beyond);
	cr_assert_neq(pft_tree_child(&tree, tree.root, 10), tree.beyond);
	cr_assert_eq(tree.nodes, PFT_TREE_NODES_MAX);
}

Test(tree, measures_calls_that_have_not_returned_by_what_is_below_them)
{
	struct pft_tree_node *open = pft_tree_child(&tree, tree.root, 2);
	struct pft_tree_node *long_one = pft_tree_child(&tree, open, 3);
	struct pft_tree_node *other = pft_tree_child(&tree, open, 4);
	struct pft_tree_node *first[BEYOND + 1] = {0};

	long_one->total_ns = 30;
	pft_tree_child(&tree, long_one, 4)->total_ns = 10;
	other->total_ns = 5;
	pft_tree_link(&tree, first);
	cr_assert_eq(long_one->extent_ns, 30);
	cr_assert_eq(open->extent_ns, 35);
	cr_assert_eq(tree.root->extent_ns, 35);
}
