//! Addresses of hosts.

/// The address of host number `number` on side `a` or `b`.
pub(super) fn address(side: &str, number: usize) -> [u8; 4] {
    [10, side_net(side), number as u8, 2]
}

/// The second byte of the networks of a side.
pub(super) fn side_net(side: &str) -> u8 {
    if side == "a" { 1 } else { 2 }
}
