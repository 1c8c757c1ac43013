/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of the kernel's rbtree.h that the sorters use, for user space: a
 * treap (Seidel and Aragon, 1996), which needs fewer cases.
 */
#ifndef INORDER_USER_RBTREE_H
#define INORDER_USER_RBTREE_H

struct rb_node {
	struct rb_node *up;
	struct rb_node *rb_left;
	struct rb_node *rb_right;
	u32 priority;
};

struct rb_root {
	struct rb_node *rb_node;
};

#define RB_ROOT	((struct rb_root){ NULL })

static inline void rb_link_node(struct rb_node *node, struct rb_node *parent,
				struct rb_node **link)
{
	static u32 random = 1;

	random = random * 1664525 + 1013904223;
	*node = (struct rb_node){ .up = parent, .priority = random >> 8 };
	*link = node;
}

/* The link that leads to a node. */
static inline struct rb_node **rb_link_to(struct rb_node *node,
					  struct rb_root *root)
{
	if (!node->up)
		return &root->rb_node;
	return node->up->rb_left == node ? &node->up->rb_left :
					   &node->up->rb_right;
}

/* A node takes the place of the one above it, which goes below it. */
static inline void rb_up(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *parent = node->up, **link = rb_link_to(parent, root);
	struct rb_node **inner = parent->rb_left == node ? &node->rb_right :
							   &node->rb_left;
	struct rb_node **outer = parent->rb_left == node ? &parent->rb_left :
							   &parent->rb_right;

	*outer = *inner;
	if (*outer)
		(*outer)->up = parent;
	*inner = parent;
	node->up = parent->up;
	parent->up = node;
	*link = node;
}

static inline void rb_insert_color(struct rb_node *node, struct rb_root *root)
{
	while (node->up && node->up->priority < node->priority)
		rb_up(node, root);
}

static inline void rb_erase(struct rb_node *node, struct rb_root *root)
{
	while (node->rb_left && node->rb_right)
		rb_up(node->rb_left->priority > node->rb_right->priority ?
		      node->rb_left : node->rb_right, root);
	*rb_link_to(node, root) = node->rb_left ? node->rb_left :
						  node->rb_right;
	if (node->rb_left)
		node->rb_left->up = node->up;
	if (node->rb_right)
		node->rb_right->up = node->up;
}

#endif
