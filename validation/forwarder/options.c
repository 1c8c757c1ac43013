/* Options and random numbers: see options.h. */
#include "options.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options options = {
    .cores = 4, .burst = 32, .ring = 512, .offered = 4e6, .train = 1, .flows = 1, .burst_work = 200, .packet_work = 300,
    .variable_work = 150, .coalesce = 50e3, .receive_work = 80, .budget = 256, .window = 1024, .timeout = 100e3,
    .release_work = 60, .block_size = 32, .packets = 100e3, .seed = 1,
};

void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("threads: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    exit(1);
}

void read_option(const char *text)
{
    static const struct { const char *name; double *value; } known[] = {
#define OPTION(name) { #name, &options.name }
        OPTION(cores), OPTION(burst), OPTION(ring), OPTION(offered), OPTION(train), OPTION(train_gap), OPTION(flows),
        OPTION(burst_work), OPTION(packet_work), OPTION(variable_work), OPTION(coalesce), OPTION(receive_work),
        OPTION(budget), OPTION(reorder_buffer), OPTION(window), OPTION(timeout), OPTION(release_work), OPTION(srpic),
        OPTION(block_size), OPTION(packets), OPTION(seed),
    };
    static const char *const sprays[] = { "round_robin", "any_core", "hashed" };
    const char *value = strchr(text, '=');
    if (value == NULL)
        fail("expected NAME=VALUE, found %s", text);
    size_t length = value++ - text;
    if (strncmp(text, "wait=", 5) == 0 && (strcmp(value, "spin") == 0 || strcmp(value, "sleep") == 0)) {
        options.is_spinning = value[1] == 'p';
        return;
    }
    for (int i = 0; i < 3 && strncmp(text, "spray=", 6) == 0; i++) {
        if (strcmp(value, sprays[i]) == 0) {
            options.spray = i;
            return;
        }
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char *end;
        double number = strtod(value, &end);
        if (strlen(known[i].name) == length && strncmp(text, known[i].name, length) == 0) {
            if (*end != '\0' || end == value || !(number >= 0 && number <= 1e15))
                fail("expected a number in %s", text);
            *known[i].value = number;
            return;
        }
    }
    fail("expected an option of the head of threads.c, found %s", text);
}

/* --- random numbers: splitmix64, one state for each thread --- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double unit(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

double exponential(uint64_t *state, double mean)
{
    return -mean * log1p(-unit(state));
}

uint64_t stream(uint64_t number)
{
    uint64_t state = (uint64_t)options.seed * 1000 + number;
    return next_random(&state);
}
