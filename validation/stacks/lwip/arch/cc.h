/* What lwIP wants to know of the compiler; its own headers know the rest. */
#ifndef STACKS_CC_H
#define STACKS_CC_H
#include <stdio.h>
#include <stdlib.h>
#define LWIP_PLATFORM_DIAG(x) do { } while (0)
#define LWIP_PLATFORM_ASSERT(x) do { fprintf(stderr, "lwip: %s\n", x); abort(); } while (0)
#define LWIP_RAND() ((u32_t)rand())
#endif
