/*
 * Two connections arrive in one batch, out of order and mixed; a FIN comes in between. Prints what
 * the stack would see and fails when that is not what was promised.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inorder_sort.h"

struct stack {
    const char *seen[16];
    int count;
};

static void up(void *packet, void *user)
{
    struct stack *stack = user;
    stack->seen[stack->count++] = packet;
}

/* A segment of the connection with this port; 0 bytes: a FIN, which must not wait. */
static inorder_sort_packet segment(const char *name, uint16_t port, uint32_t seq, uint32_t len)
{
    static const uint8_t src[4] = {192, 0, 2, 1}, dst[4] = {198, 51, 100, 7};
    const uint8_t tcp[20] = {
        [4] = seq >> 24, seq >> 16, seq >> 8, seq, [12] = 5 << 4, [13] = len > 0 ? 0x10 : 0x11,
    };
    inorder_sort_packet p = {.packet = (void *)name};
    inorder_sort_set_tcp(&p, tcp, sizeof tcp, len, false);
    inorder_sort_set_v4(&p, src, 443, dst, port, 0);
    return p;
}

static int same(const struct stack *stack, const char *const *expected, int count)
{
    int good = stack->count == count;
    for (int i = 0; i < stack->count; i++) {
        printf(" %s", stack->seen[i]);
        good = good && strcmp(stack->seen[i], expected[i]) == 0;
    }
    printf("\n");
    return good;
}

int main(void)
{
    inorder_sort_config config;
    inorder_sorter *sorter = NULL;
    struct stack stack = {.count = 0};
    const int64_t now_ns = 0; /* SRPIC does not look at it */
    int bad = 0;

    inorder_sort_config_default(&config);
    int error = inorder_sort_create(&config, &sorter);
    if (error) {
        fprintf(stderr, "inorder_sort_create: %s\n", strerror(-error));
        return 1;
    }
    char names[256];
    bad |= inorder_sort_names(names, sizeof names) > sizeof names;
    printf("%zu bytes for %s with a ring of %u; sorters:\n%s\n",
           inorder_sort_memory_footprint(&config), config.sorter, config.ring_size, names);

    /* Sequence numbers wrap between b2 and b3. */
    inorder_sort_packet batch[] = {
        segment("a2", 1000, 200, 100), segment("b3", 2000, 50, 100),
        segment("a1", 1000, 100, 100), segment("b2", 2000, 4294967246u, 100),
        segment("a-fin", 1000, 300, 0),
    };
    bad |= inorder_sort_push(sorter, batch, 5, now_ns, up, &stack);
    bad |= !same(&stack, (const char *[]){"a1", "a2", "a-fin"}, 3);
    bad |= inorder_sort_destroy(sorter) != -EBUSY; /* b2 and b3 are held */
    bad |= inorder_sort_end_of_batch(sorter, now_ns, up, &stack);
    bad |= !same(&stack, (const char *[]){"a1", "a2", "a-fin", "b2", "b3"}, 5);

    /* The same batch in one call, into an array. */
    memset(&stack, 0, sizeof stack);
    bad |= inorder_sort_sort_batch(sorter, batch, 5, now_ns, (void **)stack.seen, 4) != -ENOSPC;
    stack.count = (int)inorder_sort_sort_batch(sorter, batch, 5, now_ns, (void **)stack.seen, 16);
    bad |= !same(&stack, (const char *[]){"a1", "a2", "a-fin", "b2", "b3"}, 5);

    bad |= inorder_sort_destroy(sorter);
    puts(bad ? "WRONG" : "as promised");
    return bad ? 1 : 0;
}
