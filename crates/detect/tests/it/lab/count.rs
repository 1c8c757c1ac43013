//! What is counted.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use inorder_detect::Confidence;

use super::truth::Fate;

/// Right answers among those given, and among those there are.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    /// Number of true ones.
    pub truth: u64,
    /// Number reported; ambiguous ones assert nothing and are not counted.
    pub told: u64,
    /// Number of reported ones that are true.
    pub hits: u64,
}

impl Found {
    pub(crate) fn precision(&self) -> Option<f64> {
        share(self.hits, self.told)
    }

    pub(crate) fn recall(&self) -> Option<f64> {
        share(self.hits, self.truth)
    }

    /// `None` where there was nothing and nothing was reported.
    pub(crate) fn f1(&self) -> Option<f64> {
        share(2 * self.hits, self.truth + self.told)
    }
}

impl AddAssign for Found {
    fn add_assign(&mut self, other: Self) {
        self.truth += other.truth;
        self.told += other.told;
        self.hits += other.hits;
    }
}

/// `part` of `whole`; `None` of nothing.
pub(crate) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Number of statements made with one confidence, and how many of these were true.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Trust {
    pub told: u64,
    pub right: u64,
}

impl AddAssign for Trust {
    fn add_assign(&mut self, other: Self) {
        self.told += other.told;
        self.right += other.right;
    }
}

/// How sure something was said.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Sure {
    Certain,
    Likely,
    Ambiguous,
}

impl Sure {
    pub(crate) fn of(confidence: Confidence) -> Sure {
        match confidence {
            Confidence::Certain => Sure::Certain,
            Confidence::Likely => Sure::Likely,
            Confidence::Ambiguous => Sure::Ambiguous,
        }
    }
}

/// What a statement was about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum About {
    Event(Fate),
    /// How far a reordered packet came behind, of those that are reported rightly.
    Extent,
    Spurious,
}

/// Everything counted of one side of one or more recordings.
#[derive(Clone, Default, Debug)]
pub(crate) struct Counts {
    pub recordings: u64,
    pub flows: u64,
    pub packets: u64,
    pub reordered: Found,
    pub lost: Found,
    /// By event: which originals.
    pub refused: Found,
    /// By number in each flow: which of several they were is not always decidable.
    pub refused_number: Found,
    pub spurious: Found,
    /// Extents of reordered packets rightly told: all, exact, within one packet.
    pub extents: u64,
    pub exact: u64,
    pub within_one: u64,
    /// Recoveries: all, those whose cause is reported, those whose cause is right.
    pub recoveries: u64,
    pub causes_told: u64,
    pub causes_right: u64,
    /// Of the right ones, losses of which the truth knows whether a queue dropped them, and those
    /// that were said to be so or not.
    pub losses_right: u64,
    pub places_told: u64,
    /// Events that cannot be seen from here.
    pub apart_events: u64,
    /// Flows whose vantage point is reported, and those for which it is right.
    pub vantage: Trust,
    /// Events and retransmissions that cannot be seen from here, counted apart by their rule: how
    /// many there are, and what was reported of them.
    pub apart: BTreeMap<String, (u64, Trust)>,
    pub trust: BTreeMap<(About, Sure), Trust>,
    /// Events by what is said of them in words: kind, confidence, evidence and reason.
    pub grounds: BTreeMap<String, Trust>,
}

impl Counts {
    /// `None` for fates that are not reported.
    pub(crate) fn found(&mut self, fate: Fate) -> Option<&mut Found> {
        match fate {
            Fate::Reordered => Some(&mut self.reordered),
            Fate::Lost => Some(&mut self.lost),
            Fate::Refused => Some(&mut self.refused),
            Fate::Undecided => None,
        }
    }
}

impl AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, other: &Counts) {
        self.recordings += other.recordings;
        self.flows += other.flows;
        self.packets += other.packets;
        self.reordered += other.reordered;
        self.lost += other.lost;
        self.refused += other.refused;
        self.refused_number += other.refused_number;
        self.spurious += other.spurious;
        self.extents += other.extents;
        self.exact += other.exact;
        self.within_one += other.within_one;
        self.recoveries += other.recoveries;
        self.causes_told += other.causes_told;
        self.causes_right += other.causes_right;
        self.losses_right += other.losses_right;
        self.places_told += other.places_told;
        self.apart_events += other.apart_events;
        self.vantage += other.vantage;
        for (rule, (there, told)) in &other.apart {
            let apart = self.apart.entry(rule.clone()).or_default();
            apart.0 += there;
            apart.1 += *told;
        }
        for (key, trust) in &other.trust {
            *self.trust.entry(*key).or_default() += *trust;
        }
        for (key, trust) in &other.grounds {
            *self.grounds.entry(key.clone()).or_default() += *trust;
        }
    }
}
