/*
 * inorder-sort: puts the packets of each flow back in order within the batches a network card
 * delivers, before the stack sees them (Sorting Reordered Packets with Interrupt Coalescing).
 *
 * Written by cbindgen from the crate inorder-sort-capi; a test holds it against the source.
 *
 * A handle serves one thread at a time. No function blocks, and none takes memory but
 * inorder_sort_create(). Packets are pointers the library never follows. Functions that can fail
 * give back a negative errno value.
 */

#ifndef INORDER_SORT_H
#define INORDER_SORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>


// A sorter.
typedef struct inorder_sorter inorder_sorter;

// Settings of a sorter.
typedef struct inorder_sort_config {
  // Most packets of one flow sorted together, 1 to 2^24; 32 in the paper.
  uint32_t block_size;
  // Size of the receive ring in packets, 1 to 2^24: most packets held; 512 in the paper.
  uint32_t ring_size;
  // Flows followed at once, 1 to 2^24; never the limit at ring_size or above.
  uint32_t flow_capacity;
  // The paper's listing to the letter, for reproduction.
  bool literal;
  // Secret of the flow hash: any random number when senders may be hostile.
  uint64_t hash_seed;
} inorder_sort_config;

// A packet and what the sorter must know of it.
typedef struct inorder_sort_packet {
  // What is delivered; never followed, NULL is as good as any.
  void *packet;
  // The flow, one direction of it: any bytes, as inorder_sort_set_v4() and _v6() fill in or
  // of the caller's own making. All 40 are compared.
  uint8_t flow[40];
  // Sequence number of the first payload byte, host byte order.
  uint32_t seq;
  // What the packet adds to the sequence number: payload bytes for TCP.
  uint32_t len;
  // 0: must not wait and passes at once, after what its flow has held. Anything else: may be
  // held and sorted (data, not a fragment, no IP options, no TCP options but timestamps, none
  // of CWR ECE URG RST SYN FIN).
  uint32_t suitable;
} inorder_sort_packet;

// Receives a packet in its turn: the packet, and what was given along as `user`. It must not call
// back into the same handle (that is refused with -EBUSY) and must not unwind.
typedef void (*inorder_sort_deliver)(void *packet, void *user);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Fills `config` with the paper's settings. Does nothing when it is NULL.
//
// # Safety
// `config` is NULL or points at a place for a configuration.
void inorder_sort_config_default(struct inorder_sort_config *config);

// Bytes of memory a sorter of this configuration takes, packets not counted; 0 when `config` is
// NULL or out of range.
//
// # Safety
// `config` is NULL or points at a configuration.
size_t inorder_sort_memory_footprint(const struct inorder_sort_config *config);

// Makes a sorter and puts its handle into `*sorter`; all its memory is taken here.
//
// 0; -EINVAL: a pointer is NULL or a setting out of range; -ENOMEM: not so much memory. On error
// `*sorter` is left as it was.
//
// # Safety
// `config` and `sorter` are NULL or point at a configuration and at a place for a pointer.
int inorder_sort_create(const struct inorder_sort_config *config,
                        struct inorder_sorter **sorter);

// Frees a sorter; NULL is none and fine.
//
// 0; -EBUSY: it still holds packets (call inorder_sort_flush() first), or a call on it is under
// way; then it is left as it was.
//
// # Safety
// `sorter` is NULL or a handle from inorder_sort_create() that has not been freed.
int inorder_sort_destroy(struct inorder_sorter *sorter);

// Packets held now, less than ring_size. -EINVAL: `sorter` is NULL; -EBUSY: called from within
// a delivery of the same handle.
//
// # Safety
// `sorter` is NULL or a handle.
int64_t inorder_sort_held(const struct inorder_sorter *sorter);

// `count` packets arrive, in this order; what is due is delivered, in this call. One packet at a
// time is fine too.
//
// 0; -EINVAL: `sorter` or `deliver` is NULL, or `packets` is with a count; -EBUSY: called from
// within a delivery of the same handle. On error no packet is taken.
//
// # Safety
// `sorter` is NULL or a handle, `packets` NULL or an array of `count`, `deliver` safe to call.
int inorder_sort_push(struct inorder_sorter *sorter,
                      const struct inorder_sort_packet *packets,
                      size_t count,
                      inorder_sort_deliver deliver,
                      void *user);

// The batch ends: the ring is empty. Delivers everything held.
//
// 0; -EINVAL: `sorter` or `deliver` is NULL; -EBUSY: called from within a delivery of the same
// handle.
//
// # Safety
// `sorter` is NULL or a handle, `deliver` safe to call.
int inorder_sort_end_of_batch(struct inorder_sorter *sorter,
                              inorder_sort_deliver deliver,
                              void *user);

// Delivers everything held although the batch goes on; for shutting down. Returns as
// inorder_sort_end_of_batch().
//
// # Safety
// `sorter` is NULL or a handle, `deliver` safe to call.
int inorder_sort_flush(struct inorder_sorter *sorter, inorder_sort_deliver deliver, void *user);

// A whole batch at once, quicker than by callbacks: `count` packets arrive and the batch ends.
// Writes all of them, and what was held before, into `out` in order of delivery.
//
// Number of packets written; -EINVAL: `sorter` is NULL, or an array is NULL that has a length;
// -ENOSPC: `out` has room for fewer than inorder_sort_held() + count; -EBUSY: called from within
// a delivery of the same handle. On error no packet is taken.
//
// # Safety
// `sorter` is NULL or a handle, `packets` NULL or an array of `count`, `out` NULL or an array of
// `room` pointers that does not overlap `packets`.
int64_t inorder_sort_sort_batch(struct inorder_sorter *sorter,
                                const struct inorder_sort_packet *packets,
                                size_t count,
                                void **out,
                                size_t room);

// Fills in the flow of a packet over IPv4: addresses in network byte order, ports in host byte
// order, overlay identifier (VXLAN VNI, ...) or 0. Does nothing when a pointer is NULL.
//
// # Safety
// `packet` is NULL or points at a packet, the addresses are NULL or point at 4 bytes each.
void inorder_sort_set_v4(struct inorder_sort_packet *packet,
                         const uint8_t *src,
                         uint16_t src_port,
                         const uint8_t *dst,
                         uint16_t dst_port,
                         uint32_t overlay);

// Fills in the flow of a packet over IPv6, otherwise as inorder_sort_set_v4().
//
// # Safety
// `packet` is NULL or points at a packet, the addresses are NULL or point at 16 bytes each.
void inorder_sort_set_v6(struct inorder_sort_packet *packet,
                         const uint8_t *src,
                         uint16_t src_port,
                         const uint8_t *dst,
                         uint16_t dst_port,
                         uint32_t overlay);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* INORDER_SORT_H */
