/* What a run is asked to do, and random numbers for it. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_CORES = 64, MAX_FLOWS = 4096 };
enum spray { ROUND_ROBIN, ANY_CORE, HASHED };

/* Times in nanoseconds, `offered` in packets per second; everything else counts. */
struct options {
    double cores, burst, ring, offered, train, train_gap, flows, burst_work, packet_work, variable_work;
    double coalesce, receive_work, budget, reorder_buffer, window, timeout, release_work, srpic, block_size;
    double packets, seed;
    enum spray spray;
    bool is_spinning;
};

extern struct options options;

/* Says what is wrong in one line, and ends the program with 1. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Takes NAME=VALUE. */
void read_option(const char *text);

/* The start of a stream of random numbers, and numbers of it. */
uint64_t stream(uint64_t number);
double unit(uint64_t *state);
double exponential(uint64_t *state, double mean);

#endif
