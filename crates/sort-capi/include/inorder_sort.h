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


// Must not wait and passes at once: a fragment, URG, an unknown option, another protocol.
#define INORDER_SORT_OTHER 0

// Data with a sequence number: may be held and sorted.
#define INORDER_SORT_DATA 1

// A TCP segment that only acknowledges; passes at once.
#define INORDER_SORT_ACK 2

// A TCP segment with SYN; passes at once.
#define INORDER_SORT_OPEN 3

// A TCP segment with FIN or RST; passes at once.
#define INORDER_SORT_CLOSE 4

// A sorter.
typedef struct inorder_sorter inorder_sorter;

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
  // What may be done with it, one of INORDER_SORT_DATA and so on. inorder_sort_set_tcp() tells it
  // of a TCP segment.
  uint32_t kind;
} inorder_sort_packet;

// Receives a packet in its turn: the packet, and what was given along as `user`. It must not call
// back into the same handle (that is refused with -EBUSY) and must not unwind.
typedef void (*inorder_sort_deliver)(void *packet, void *user);

// Which sorter, and what surrounds it.
typedef struct inorder_sort_config {
  // Name of the sorter, and its settings if they are not at their defaults: "srpic",
  // "srpic:block_size=8,literal=true". inorder_sort_names() lists the names. Only read by the
  // calls that are given the configuration.
  const char *sorter;
  // Size of the receive ring in packets, 1 to 2^24: the most of a batch; 512 in the SRPIC paper.
  uint32_t ring_size;
  // Flows followed at once, 1 to 2^24.
  uint32_t flows;
  // Secret of the flow hash: any random number when senders may be hostile.
  uint64_t hash_seed;
} inorder_sort_config;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Frees a sorter; NULL is none and fine.
//
// 0; -EBUSY: it still holds packets (call inorder_sort_flush() first), or a call on it is under
// way; then it is left as it was.
//
// # Safety
// `sorter` is NULL or a handle from inorder_sort_create() that has not been freed.
int inorder_sort_destroy(struct inorder_sorter *sorter);

// Packets held now. -EINVAL: `sorter` is NULL; -EBUSY: called from within
// a delivery of the same handle.
//
// # Safety
// `sorter` is NULL or a handle.
int64_t inorder_sort_held(const struct inorder_sorter *sorter);

// `count` packets arrive, in this order; what is due is delivered, in this call. One packet at a
// time is fine too. `now_ns`: nanoseconds on any clock that never runs backwards, the same one in
// all calls; a sorter without deadlines does not look at it.
//
// 0; -EINVAL: `sorter` or `deliver` is NULL, or `packets` is with a count; -EBUSY: called from
// within a delivery of the same handle. On error no packet is taken.
//
// # Safety
// `sorter` is NULL or a handle, `packets` NULL or an array of `count`, `deliver` safe to call.
int inorder_sort_push(struct inorder_sorter *sorter,
                      const struct inorder_sort_packet *packets,
                      size_t count,
                      int64_t now_ns,
                      inorder_sort_deliver deliver,
                      void *user);

// The batch ends: the ring is empty. Delivers what is not to be held any longer; a sorter without
// deadlines holds nothing after it.
//
// 0; -EINVAL: `sorter` or `deliver` is NULL; -EBUSY: called from within a delivery of the same
// handle.
//
// # Safety
// `sorter` is NULL or a handle, `deliver` safe to call.
int inorder_sort_end_of_batch(struct inorder_sorter *sorter,
                              int64_t now_ns,
                              inorder_sort_deliver deliver,
                              void *user);

// Writes into `*deadline_ns` when inorder_sort_on_deadline() must be called although nothing
// arrives. To be asked after each call that may change it: any that takes or delivers packets.
//
// 1: written; 0: there is no deadline, nothing is written; -EINVAL: a pointer is NULL; -EBUSY: called
// from within a delivery of the same handle.
//
// # Safety
// `sorter` is NULL or a handle, `deadline_ns` NULL or points at a place for a number.
int inorder_sort_next_deadline_ns(const struct inorder_sorter *sorter,
                                  int64_t *deadline_ns);

// The deadline has come: delivers what has waited long enough. Returns as
// inorder_sort_end_of_batch(); called too early it does nothing.
//
// # Safety
// `sorter` is NULL or a handle, `deliver` safe to call.
int inorder_sort_on_deadline(struct inorder_sorter *sorter,
                             int64_t now_ns,
                             inorder_sort_deliver deliver,
                             void *user);

// Delivers everything held although the batch goes on; for shutting down. Returns as
// inorder_sort_end_of_batch().
//
// # Safety
// `sorter` is NULL or a handle, `deliver` safe to call.
int inorder_sort_flush(struct inorder_sorter *sorter,
                       int64_t now_ns,
                       inorder_sort_deliver deliver,
                       void *user);

// A whole batch at once, quicker than by callbacks: `count` packets arrive and the batch ends.
// Writes into `out`, in order of delivery, what is not held any longer: of a sorter without deadlines
// all of them and what was held before.
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
                                int64_t now_ns,
                                void **out,
                                size_t room);

// Fills `config` with SRPIC and the paper's ring. Does nothing when it is NULL.
//
// # Safety
// `config` is NULL or points at a place for a configuration.
void inorder_sort_config_default(struct inorder_sort_config *config);

// Writes the names of all sorters into `out`, one a line, with a NUL at the end.
//
// Bytes needed, the NUL included; when `room` is less, nothing is written.
//
// # Safety
// `out` is NULL or points at `room` bytes.
size_t inorder_sort_names(char *out, size_t room);

// Bytes of memory a sorter of this configuration takes, packets not counted; 0 when `config` is
// NULL or wrong.
//
// # Safety
// `config` is NULL or points at a configuration, whose `sorter` is NULL or a string.
size_t inorder_sort_memory_footprint(const struct inorder_sort_config *config);

// Makes a sorter and puts its handle into `*sorter`; all its memory is taken here.
//
// 0; -EINVAL: a pointer is NULL, there is no such sorter, or a setting is out of range; -ENOMEM: not
// so much memory. On error `*sorter` is left as it was.
//
// # Safety
// `config` and `sorter` are NULL or point at a configuration, whose `sorter` is NULL or a string,
// and at a place for a pointer.
int inorder_sort_create(const struct inorder_sort_config *config,
                        struct inorder_sorter **sorter);

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

// Fills in `seq`, `len` and `kind` from a TCP header as it was received, by the rule all users of
// these sorters follow: data may be held unless it is a fragment, has IP options, TCP options other
// than timestamps, or any of the flags CWR ECE URG RST SYN FIN.
//
// `tcp`: the header with its options, of which `length` bytes are there; `payload_len`: bytes of
// payload, from the length in the IP header; `special`: the packet is a fragment, or has IP options
// or extension headers.
//
// 0; -EINVAL: a pointer is NULL or there are fewer than 20 bytes; then nothing is changed.
//
// # Safety
// `packet` is NULL or points at a packet, `tcp` is NULL or points at `length` bytes.
int inorder_sort_set_tcp(struct inorder_sort_packet *packet,
                         const uint8_t *tcp,
                         size_t length,
                         uint32_t payload_len,
                         bool special);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* INORDER_SORT_H */
