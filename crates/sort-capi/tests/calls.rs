//! The result of each call when it is used wrongly; no wrong call loses a packet.

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

use inorder_sort_capi::*;

const EBUSY: c_int = 16;
const EINVAL: c_int = 22;
const ENOSPC: c_int = 28;

fn config() -> inorder_sort_config {
    let mut config = inorder_sort_config {
        sorter: null(),
        ring_size: 0,
        flows: 0,
        hash_seed: 1,
    };
    unsafe { inorder_sort_config_default(&raw mut config) };
    config
}

fn create() -> *mut inorder_sorter {
    let mut sorter = null_mut();
    assert_eq!(
        unsafe { inorder_sort_create(&config(), &raw mut sorter) },
        0
    );
    sorter
}

/// A data packet whose pointer is its sequence number.
fn packet(seq: u32) -> inorder_sort_packet {
    inorder_sort_packet {
        packet: seq as usize as *mut c_void,
        flow: [7; 40],
        seq,
        len: 1,
        kind: INORDER_SORT_DATA,
    }
}

unsafe extern "C" fn collect(packet: *mut c_void, user: *mut c_void) {
    let up = user.cast::<Vec<usize>>();
    unsafe { (*up).push(packet as usize) };
}

/// A delivery that calls back into its own handle.
unsafe extern "C" fn call_back(_packet: *mut c_void, user: *mut c_void) {
    let sorter = user.cast::<inorder_sorter>();
    unsafe {
        assert_eq!(inorder_sort_held(sorter), -i64::from(EBUSY));
        assert_eq!(inorder_sort_destroy(sorter), -EBUSY);
        let nested = inorder_sort_push(sorter, &packet(9), 1, 0, Some(call_back), user);
        assert_eq!(nested, -EBUSY);
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let mut sorter = null_mut();
    for bad in [
        inorder_sort_config {
            sorter: c"srpic:block_size=0".as_ptr(),
            ..config()
        },
        inorder_sort_config {
            sorter: c"sripc".as_ptr(),
            ..config()
        },
        inorder_sort_config {
            sorter: null(),
            ..config()
        },
        inorder_sort_config {
            ring_size: u32::MAX,
            ..config()
        },
        inorder_sort_config {
            flows: 0,
            ..config()
        },
    ] {
        unsafe {
            assert_eq!(inorder_sort_memory_footprint(&raw const bad), 0);
            assert_eq!(
                inorder_sort_create(&raw const bad, &raw mut sorter),
                -EINVAL
            );
        }
        assert!(sorter.is_null());
    }
    unsafe {
        assert_eq!(inorder_sort_create(null(), &raw mut sorter), -EINVAL);
        assert_eq!(inorder_sort_create(&config(), null_mut()), -EINVAL);
        assert_eq!(inorder_sort_destroy(null_mut()), 0);
        inorder_sort_config_default(null_mut());
    }
}

#[test]
fn the_footprint_grows_with_the_ring() {
    let bytes = |ring_size| unsafe {
        inorder_sort_memory_footprint(&inorder_sort_config {
            ring_size,
            ..config()
        })
    };
    assert!(bytes(512) > 512 * size_of::<*mut c_void>());
    assert!(bytes(4096) > bytes(512));
}

#[test]
fn the_names_are_listed() {
    unsafe {
        let needed = inorder_sort_names(null_mut(), 0);
        let mut bytes = vec![b'?'; needed];
        assert_eq!(
            inorder_sort_names(bytes.as_mut_ptr().cast(), needed - 1),
            needed
        );
        assert!(bytes.iter().all(|b| *b == b'?'));
        assert_eq!(
            inorder_sort_names(bytes.as_mut_ptr().cast(), needed),
            needed
        );
        assert_eq!(bytes.pop(), Some(0));
        let names: Vec<&str> = std::str::from_utf8(&bytes).unwrap().split('\n').collect();
        assert_eq!(names[..2], ["none", "srpic"]);
        for name in names {
            let name = std::ffi::CString::new(name).unwrap();
            let mut sorter = null_mut();
            let config = inorder_sort_config {
                sorter: name.as_ptr(),
                ..config()
            };
            assert_eq!(inorder_sort_create(&raw const config, &raw mut sorter), 0);
            let mut deadline_ns = 7;
            assert_eq!(
                inorder_sort_next_deadline_ns(sorter, &raw mut deadline_ns),
                0
            );
            assert_eq!(inorder_sort_next_deadline_ns(sorter, null_mut()), -EINVAL);
            assert_eq!(deadline_ns, 7);
            assert_eq!(
                inorder_sort_on_deadline(sorter, 1, Some(collect), null_mut()),
                0
            );
            assert_eq!(inorder_sort_destroy(sorter), 0);
        }
    }
}

#[test]
fn the_kind_of_a_segment_is_read_from_its_tcp_header() {
    let mut header = [0u8; 20];
    header[4..8].copy_from_slice(&77u32.to_be_bytes());
    header[12..14].copy_from_slice(&[5 << 4, 0x10]);
    let mut p = packet(1);
    let at = &raw mut p;
    let mut kind = |flags: u8, payload, special| unsafe {
        header[13] = flags;
        let done = inorder_sort_set_tcp(at, header.as_ptr(), 20, payload, special);
        (done, (*at).kind)
    };
    assert_eq!(kind(0x10, 1448, false), (0, INORDER_SORT_DATA));
    assert_eq!(kind(0x10, 1448, true), (0, INORDER_SORT_OTHER));
    assert_eq!(kind(0x10, 0, false), (0, INORDER_SORT_ACK));
    assert_eq!(kind(0x12, 0, false), (0, INORDER_SORT_OPEN));
    assert_eq!(kind(0x11, 9, false), (0, INORDER_SORT_CLOSE));
    unsafe {
        assert_eq!(((*at).seq, (*at).len), (77, 9));
        assert_eq!(
            inorder_sort_set_tcp(at, header.as_ptr(), 19, 0, false),
            -EINVAL
        );
        assert_eq!(
            inorder_sort_set_tcp(null_mut(), header.as_ptr(), 20, 0, false),
            -EINVAL
        );
        assert_eq!(inorder_sort_set_tcp(at, null(), 20, 0, false), -EINVAL);
    }
}

#[test]
fn null_is_refused() {
    let sorter = create();
    unsafe {
        let p = packet(1);
        assert_eq!(
            inorder_sort_push(null_mut(), &raw const p, 1, 0, Some(collect), null_mut()),
            -EINVAL
        );
        assert_eq!(
            inorder_sort_push(sorter, &raw const p, 1, 0, None, null_mut()),
            -EINVAL
        );
        assert_eq!(
            inorder_sort_push(sorter, null(), 1, 0, Some(collect), null_mut()),
            -EINVAL
        );
        assert_eq!(
            inorder_sort_push(sorter, null(), 0, 0, Some(collect), null_mut()),
            0
        );
        assert_eq!(
            inorder_sort_end_of_batch(sorter, 0, None, null_mut()),
            -EINVAL
        );
        assert_eq!(
            inorder_sort_flush(null_mut(), 0, Some(collect), null_mut()),
            -EINVAL
        );
        assert_eq!(
            inorder_sort_sort_batch(sorter, &raw const p, 1, 0, null_mut(), 1),
            -i64::from(EINVAL)
        );
        assert_eq!(inorder_sort_held(null()), -i64::from(EINVAL));
        assert_eq!(inorder_sort_held(sorter), 0);
        assert_eq!(inorder_sort_destroy(sorter), 0);
    }
}

#[test]
fn packets_go_in_and_come_out_sorted() {
    let (sorter, mut up) = (create(), Vec::<usize>::new());
    let user = (&raw mut up).cast();
    let burst = [3, 1, 2].map(packet);
    unsafe {
        assert_eq!(
            inorder_sort_push(sorter, burst.as_ptr(), 3, 0, Some(collect), user),
            0
        );
        assert_eq!(inorder_sort_held(sorter), 3);
        assert_eq!(inorder_sort_destroy(sorter), -EBUSY);
        assert_eq!(inorder_sort_flush(sorter, 0, Some(collect), user), 0);
        assert_eq!(up, [1, 2, 3]);
        assert_eq!(inorder_sort_destroy(sorter), 0);
    }
}

#[test]
fn a_batch_goes_into_an_array_that_has_room() {
    let (sorter, mut out) = (create(), [null_mut(); 4]);
    let (one, burst) = (packet(0), [3, 1, 2].map(packet));
    unsafe {
        assert_eq!(
            inorder_sort_push(sorter, &raw const one, 1, 0, Some(collect), null_mut()),
            0
        );
        let short = inorder_sort_sort_batch(sorter, burst.as_ptr(), 3, 0, out.as_mut_ptr(), 3);
        assert_eq!(short, -i64::from(ENOSPC));
        assert_eq!(inorder_sort_held(sorter), 1);
        let all = inorder_sort_sort_batch(sorter, burst.as_ptr(), 3, 0, out.as_mut_ptr(), 4);
        assert_eq!(all, 4);
        assert_eq!(out.map(|p| p as usize), [0, 1, 2, 3]);
        assert_eq!(inorder_sort_destroy(sorter), 0);
    }
}

#[test]
fn a_delivery_that_calls_back_is_refused() {
    let sorter = create();
    let p = packet(1);
    unsafe {
        assert_eq!(
            inorder_sort_push(sorter, &raw const p, 1, 0, Some(call_back), sorter.cast()),
            0
        );
        assert_eq!(
            inorder_sort_end_of_batch(sorter, 0, Some(call_back), sorter.cast()),
            0
        );
        assert_eq!(inorder_sort_destroy(sorter), 0);
    }
}

#[test]
fn flows_over_both_internet_protocols_are_told_apart() {
    let mut p = packet(1);
    let at = &raw mut p;
    let mut seen = Vec::new();
    unsafe {
        inorder_sort_set_v4(at, [1, 2, 3, 4].as_ptr(), 5, [6, 7, 8, 9].as_ptr(), 10, 0);
        seen.push(p.flow);
        inorder_sort_set_v4(at, [1, 2, 3, 4].as_ptr(), 5, [6, 7, 8, 9].as_ptr(), 10, 1);
        seen.push(p.flow);
        inorder_sort_set_v6(at, [1; 16].as_ptr(), 5, [2; 16].as_ptr(), 10, 0);
        seen.push(p.flow);
        inorder_sort_set_v6(at, null(), 5, [2; 16].as_ptr(), 10, 0);
        inorder_sort_set_v4(null_mut(), null(), 5, null(), 10, 0);
    }
    assert_eq!(p.flow, seen[2]);
    assert!(seen[0] != seen[1] && seen[1] != seen[2] && seen[0] != seen[2]);
}
