//! Captures with defects: what a capturing point does not see, or sees otherwise than it was.

use crate::declare::{choices, keys};
use crate::error::Problem;
use crate::kind::{Count32, Duration, Flag, Packets32, Share, Size32, Text};
use crate::quantity::require;
use crate::reader::Reader;
use crate::value::Node;

keys! {
    /// A further capture besides those of both ends, with defects. Its file is called by its name; beside it, NAME.frames.csv says
    /// which frame of the whole captures each of its frames is.
    pub struct Capture in "capture", check Capture::check {
        /// Name of the capture.
        name: Text, required;
        /// Where it is made.
        at: CapturePoint, default "A";
        /// The capture begins so late.
        begin_ns as "begin": Duration, default "0 s";
        /// The capture ends so early.
        end_ns as "end": Duration, unset "with the run", above "0 s";
        /// Which direction it holds.
        direction: CapturedDirection, default "both";
        /// Share of the frames that it lacks.
        missing: Share, default "0 %", below "100 %";
        /// Mean number of frames that are missing one after another.
        missing_run: Packets32, default "1 packet", from "1", with missing;
        /// Only frames larger than this are missing.
        missing_above: Size32, default "0 B", with missing;
        /// How often it holds each frame.
        copies: Count32, default "1", in "1"..="3";
        /// Time between two copies.
        copies_delay_ns as "copies_delay": Duration, default "2 us", with copies;
        /// What the copies are like.
        copies_as: CopyKind, default "mirror", with copies;
        /// The frames of one direction are recorded late by up to this time, so that the two directions change places.
        swap_ns as "swap": Duration, default "0 s";
        /// Bytes kept of each frame.
        cut: Size32, unset "`output.snap_length`", from "34 B";
        /// The clock steps by this time.
        step_ns as "step": Duration, default "0 s";
        /// It steps back.
        step_back: Flag, default "false", with step;
        /// When it steps.
        step_at_ns as "step_at": Duration, default "1 s", with step;
        /// Data frames of a connection that follow each other are merged, as by GRO, or not yet cut, as with TSO: the maximum number in one frame.
        merge: Packets32, default "1 packet", in "1 packet"..="44 packets";
        /// Longest time between two frames that are merged.
        merge_gap_ns as "merge_gap": Duration, default "50 us", with merge;
        /// Number of the only connection that a filter lets pass, from 0.
        only: Count32, unset "all";
        /// Tunnel in which the frames are seen.
        tunnel: Tunnel, default "none";
        /// Share of the tunnel's packets that are of these connections; the numbers of a tunnel count the others, too.
        tunnel_part: Share, default "100 %", above "0 %", with tunnel != "none";
        /// All connections have the same addresses and ports, and each one a VLAN of its own.
        vlans: Flag, default "false";
    }
}

impl Capture {
    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        let own = !["", "snd", "rcv", "between"].contains(&self.name.as_str());
        let what = format!("name: \"{}\" is taken", self.name);
        require(own, r.place("name"), &what, "a name of its own")?;
        require(
            !self.name.contains(['/', '\\']),
            r.place("name"),
            "name: a capture is called by it in a file's name, which has no / and no \\",
            "a name without them",
        )?;
        require(
            self.end_ns.is_none_or(|end| end > self.begin_ns),
            r.place("end"),
            "the capture ends before it begins",
            "end after begin",
        )
    }

    /// Two captures of one name would be one file.
    pub(super) fn check_names(captures: &[Capture], nodes: &[Node]) -> Result<(), Problem> {
        for (at, (capture, node)) in captures.iter().zip(nodes).enumerate() {
            let name = &capture.name;
            let place = node.get("name").map_or(&node.place, |node| &node.place);
            let own = captures.iter().take(at).all(|other| other.name != *name);
            let what = format!("name: a second capture is called \"{name}\"");
            require(own, place, &what, "a name of its own")?;
        }
        Ok(())
    }
}

choices! {
    /// Where a capture is made.
    pub enum CapturePoint {
        /// At A, where forward data is sent.
        A = "A",
        /// At B.
        B = "B",
        /// Between the first two lines of the routes of flows.
        Between = "between",
    }
}

choices! {
    /// Which direction a capture holds.
    pub enum CapturedDirection {
        /// Both.
        Both = "both",
        /// What A sends.
        Forward = "forward",
        /// What B sends.
        Reverse = "reverse",
    }
}

choices! {
    /// What the copies of frames are like that are captured more than once.
    pub enum CopyKind {
        /// Alike, as of a mirror port.
        Mirror = "mirror",
        /// With other hardware addresses and a smaller TTL, as on both sides of a router.
        Routed = "routed",
        /// With a VLAN tag, as on both sides of a bridge.
        Tagged = "tagged",
    }
}

choices! {
    /// The tunnel in which frames are seen.
    pub enum Tunnel {
        /// None.
        None = "none",
        /// VXLAN (RFC 7348), which has no numbers.
        Vxlan = "vxlan",
        /// GTP-U with numbers (3GPP TS 29.281).
        GtpU = "gtp-u",
        /// GRE with numbers (RFC 2890).
        Gre = "gre",
    }
}
