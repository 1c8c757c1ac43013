//! Stochastic nets with known results and their sources.
//!
//! For checking solvers and simulators: [`EXAMPLES`] contains nets in the text format, what to measure, and the
//! correct numbers. "Published" numbers were printed by others and computed with other programs; "derived" ones
//! follow from a given formula.

use inorder_petri::net::Net;
use inorder_petri::text::read;

/// A net with known results.
pub(crate) struct Example {
    pub name: &'static str,
    net: &'static str,
    /// Changes to the net of the file: tokens of places.
    tokens: &'static [(&'static str, u32)],
    /// Changes to the net of the file: all rates and weights are 1.
    unit_rates: bool,
    pub source: &'static str,
    pub origin: Origin,
    pub results: &'static [Known],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Published,
    Derived,
}

/// A result and how far from it one may be.
pub(crate) struct Known {
    pub measure: Measure,
    pub value: f64,
    /// Half a unit of the last printed digit, or the precision stated by the source.
    pub tolerance: f64,
}

/// The measured quantity.
pub(crate) enum Measure {
    /// Firings of a transition per unit of time in the long run.
    Throughput(&'static str),
    /// A weighted sum of mean tokens in the long run.
    Tokens(&'static [(f64, &'static str)]),
    /// The same at a time after the start.
    TokensAt(f64, &'static [(f64, &'static str)]),
    /// The probability of a condition on the tokens of places in the long run.
    Probability(&'static str, Condition),
    /// The same at a time after the start.
    ProbabilityAt(f64, &'static str, Condition),
    /// The mean time between firings of a transition, minus 1: the time before the firing, if the transition takes 1
    /// itself.
    TimeBefore(&'static str),
    /// Number of reachable markings, including vanishing ones.
    Markings,
}

/// A condition on the tokens of named places.
pub(crate) type Condition = fn(&dyn Fn(&str) -> u32) -> bool;

impl Example {
    pub(crate) fn net(&self) -> Net {
        let mut net = read(self.name, self.net).unwrap();
        for &(place, tokens) in self.tokens {
            let place = net.place_named(place).unwrap();
            net.places[place.0].tokens = tokens;
        }
        if self.unit_rates {
            for t in &mut net.transitions {
                t.timing = match t.timing {
                    ref timing if timing.is_immediate() => inorder_petri::net::Timing::immediate(),
                    _ => inorder_petri::net::Timing::exponential(1.0),
                };
                t.servers = inorder_petri::net::Servers::Single;
            }
        }
        net
    }
}

const fn known(measure: Measure, value: f64, tolerance: f64) -> Known {
    Known {
        measure,
        value,
        tolerance,
    }
}

const BOOK: &str = "Ajmone Marsan et al., Modelling with GSPN, 1995";
const SPNTOOLS: &str = "SPNTools test suite (NIST)";
const QVBS: &str = "Quantitative Verification Benchmark Set (Storm)";

macro_rules! net {
    ($name:literal) => {
        include_str!(concat!("../../../nets/published/", $name, ".net"))
    };
}

pub(crate) const EXAMPLES: &[Example] = &[
    Example {
        name: "shared memory",
        net: net!("shared-memory"),
        tokens: &[],
        unit_rates: false,
        source: "net, rates: Modelling with GSPN sec. 6.1; numbers: SPNTools m6",
        origin: Origin::Published,
        results: &[
            known(Measure::Markings, 8.0, 0.0),
            known(Measure::Tokens(&[(1.0, "idle")]), 0.636_994_746_316, 1e-11),
            known(
                Measure::Tokens(&[(1.0, "active1")]),
                0.856_969_731_94,
                1e-10,
            ),
            known(
                Measure::Tokens(&[(1.0, "requesting2")]),
                0.029_421_018_29,
                1e-10,
            ),
        ],
    },
    Example {
        name: "parallel system",
        net: net!("parallel-system"),
        tokens: &[],
        unit_rates: false,
        source: BOOK,
        origin: Origin::Published,
        results: &[
            // Sec. 6.2.2, then sec. 6.3.2. The book prints 0.23814 for at least one process waiting for
            // synchronisation, written as p5 or p6 marked; that is 0.25672 here, and 0.23814 is the
            // probability of exactly one of p3 and p4 being marked.
            known(Measure::Markings, 38.0, 0.0),
            known(Measure::Tokens(&[(1.0, "p1")]), 1.505_55, 5e-6),
            known(
                Measure::Probability("p1 = 2", |m| m("p1") == 2),
                0.579_90,
                5e-6,
            ),
            known(
                Measure::Probability("p1 = p3 = p4 = 1", |m| {
                    [m("p1"), m("p3"), m("p4")] == [1; 3]
                }),
                0.079_49,
                5e-6,
            ),
            known(
                Measure::Probability("p8 = 2", |m| m("p8") == 2),
                0.000_47,
                5e-6,
            ),
        ],
    },
    Example {
        name: "parallel system, rates 1",
        net: net!("parallel-system"),
        tokens: &[],
        unit_rates: true,
        source: SPNTOOLS,
        origin: Origin::Published,
        results: &[
            known(Measure::Tokens(&[(1.0, "p1")]), 0.313_051_14, 5e-7),
            // Truncated, not rounded.
            known(Measure::Tokens(&[(1.0, "p3")]), 0.724_867, 1e-6),
            known(Measure::Tokens(&[(1.0, "p5")]), 0.337_742_5, 5e-8),
            known(Measure::Tokens(&[(1.0, "p9")]), 0.312_169_3, 5e-8),
        ],
    },
    Example {
        name: "transfer line",
        net: net!("transfer-line"),
        tokens: &[],
        unit_rates: false,
        source: SPNTOOLS,
        origin: Origin::Published,
        results: &[
            known(Measure::Tokens(&[(1.0, "buffer")]), 0.447_52, 1e-5),
            known(Measure::Tokens(&[(1.0, "m1-blocked")]), 0.211_98, 5e-6),
            known(Measure::Tokens(&[(1.0, "m2-busy")]), 0.709_22, 5e-6),
        ],
    },
    Example {
        name: "cycle of immediate transitions",
        net: net!("vanishing-loop"),
        tokens: &[],
        unit_rates: false,
        source: SPNTOOLS,
        origin: Origin::Published,
        results: &[
            known(Measure::Markings, 8.0, 0.0),
            known(Measure::Tokens(&[(1.0, "p1")]), 0.111_11, 5e-6),
            known(Measure::Tokens(&[(1.0, "p7")]), 0.258_33, 5e-6),
            known(Measure::Tokens(&[(1.0, "p8")]), 0.430_56, 5e-6),
        ],
    },
    Example {
        name: "fork and join",
        net: net!("fork-join"),
        tokens: &[],
        unit_rates: false,
        source: SPNTOOLS,
        origin: Origin::Published,
        results: &[
            known(Measure::Tokens(&[(1.0, "start")]), 1.058_82, 5e-6),
            known(Measure::Tokens(&[(1.0, "part1")]), 0.294_12, 5e-6),
            known(Measure::Tokens(&[(1.0, "joined")]), 0.352_94, 5e-6),
        ],
    },
    Example {
        name: "kanban, one card a cell",
        net: net!("kanban"),
        tokens: &[],
        unit_rates: false,
        source: QVBS,
        origin: Origin::Published,
        results: &[
            known(Measure::Markings, 160.0, 0.0),
            known(Measure::Throughput("in"), 0.092_584_634_633_382_6, 1e-15),
        ],
    },
    Example {
        name: "polling, three stations",
        net: net!("polling"),
        tokens: &[],
        unit_rates: false,
        source: QVBS,
        origin: Origin::Published,
        results: &[
            known(Measure::Markings, 36.0, 0.0),
            // Station 1 waits for the server; its source iterated to 1e-6.
            known(
                Measure::Tokens(&[(1.0, "full1"), (-1.0, "serving1")]),
                0.130_801_730_1,
                1e-6,
            ),
        ],
    },
    Example {
        name: "tandem, five places",
        net: net!("tandem"),
        tokens: &[],
        unit_rates: false,
        source: "Storm test suite, tandem5",
        origin: Origin::Published,
        results: &[
            known(Measure::Markings, 66.0, 0.0),
            // Its source truncated at 1e-6; integrating the 66 equations by Runge-Kutta gives 5.6792441489.
            known(
                Measure::TokensAt(10.0, &[(1.0, "first"), (1.0, "second")]),
                5.679_243_850_3,
                1e-6,
            ),
        ],
    },
    Example {
        name: "workstation cluster, N = 2",
        net: net!("cluster"),
        tokens: &[],
        unit_rates: false,
        source: "Storm test suite, cluster2",
        origin: Origin::Published,
        results: &[
            known(Measure::Markings, 276.0, 0.0),
            known(
                Measure::ProbabilityAt(100.0, "below minimum quality", below_minimum),
                2.339_787_354_834_341_5e-6,
                1e-16,
            ),
        ],
    },
    Example {
        name: "dining philosophers, N = 4",
        net: net!("philosophers"),
        tokens: &[],
        unit_rates: false,
        source: QVBS,
        origin: Origin::Published,
        results: &[
            known(Measure::Markings, 34.0, 0.0),
            // The mean time to the deadlock, exactly.
            known(Measure::TimeBefore("restart"), 550.0 / 101.0, 1e-13),
        ],
    },
    Example {
        name: "Molloy's net",
        net: net!("molloy"),
        tokens: &[],
        unit_rates: false,
        // p1: 5/43; p2 p3: 8/43; p3 p4: 2/43; p2 p5: 23/43; p4 p5: 5/43.
        source: "five balance equations solved by hand",
        origin: Origin::Derived,
        results: &[
            known(Measure::Markings, 5.0, 0.0),
            known(Measure::Tokens(&[(1.0, "p2")]), 31.0 / 43.0, 1e-15),
            known(Measure::Throughput("t4"), 21.0 / 43.0, 1e-15),
        ],
    },
];

/// Neither side can reach a workstation, nor both together over the backbone.
fn below_minimum(m: &dyn Fn(&str) -> u32) -> bool {
    let side = |n: &str, switch: &str| m(n) >= 1 && m(switch) >= 1;
    let joined = m("toleft_up") >= 1 && m("line_up") >= 1 && m("toright_up") >= 1;
    let any = m("left_up") + m("right_up") >= 1;
    !(side("left_up", "toleft_up") || side("right_up", "toright_up") || any && joined)
}

/// The kanban system with four cards per cell, which is too large for every test run.
pub(crate) const LARGE: Example = Example {
    name: "kanban, four cards a cell",
    net: net!("kanban"),
    tokens: &[("cards1", 4), ("cards2", 4), ("cards3", 4), ("cards4", 4)],
    unit_rates: false,
    source: "IscasMC test suite",
    origin: Origin::Published,
    results: &[
        known(Measure::Markings, 454_475.0, 0.0),
        known(Measure::Throughput("in"), 0.275_889_721_8, 2e-7),
        known(
            Measure::Tokens(&[(1.0, "making1"), (1.0, "back1"), (1.0, "done1")]),
            3.646_407_376,
            2e-6,
        ),
    ],
};
