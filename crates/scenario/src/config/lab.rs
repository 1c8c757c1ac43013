//! What runs the scenario if that is not the simulator.

use crate::declare::keys;
use crate::kind::{Flag, Text};

keys! {
    /// Real Linux, on which `inorder lab` runs the scenario; the simulator ignores this table.
    pub struct Lab in "lab" {
        /// Version of the kernel: that of a package `linux-source-VERSION` of the distribution.
        kernel: Text, unset "the version that `inorder lab kernel` builds, 6.1";
        /// Whether the senders' devices cut large segments (TSO, GSO): every queue and delay on the way then handles up to 64 KiB as
        /// one packet, as in an emulated network whose offloads are left on.
        offloads: Flag, default "false";
    }
}
