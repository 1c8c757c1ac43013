//! What runs the scenario if that is not the simulator.

use crate::declare::keys;
use crate::kind::Text;

keys! {
    /// Real Linux, on which `inorder lab` runs the scenario; the simulator ignores this table.
    pub struct Lab in "lab" {
        /// Version of the kernel: that of a package `linux-source-VERSION` of the distribution.
        kernel: Text, unset "the version that `inorder lab kernel` builds, 6.1";
    }
}
