//! Exact solution of generalised stochastic Petri nets with exponential (and Erlang) delays.
//!
//! The markings in which time passes are the states of a continuous-time Markov chain (M. K. Molloy, "Performance
//! analysis using stochastic Petri nets", IEEE Trans. Computers 31(9), 1982). Markings in which an immediate
//! transition is enabled vanish: the chain passes through them without time, according to the probabilities of the
//! immediate transitions (Ajmone Marsan, Conte, Balbo 1984). The stationary distribution is computed by elimination
//! without subtractions (Grassmann, Taksar and Heyman), or by aggregation and iteration if that would take too much
//! memory, and it comes with a bound on its error, [`Balance`]; the distribution at a given time is computed by
//! uniformisation.
//!
//! ```
//! use inorder_petri::markov::Chain;
//! use inorder_petri::net::{Net, Place, Timing, Transition};
//!
//! // M/M/1/2 with rates 1 and 2: the states have probabilities 4/7, 2/7, 1/7.
//! let mut net = Net::new("mm12");
//! let (room, queue) = (net.add_place(Place::new("room", 2)), net.add_place(Place::new("queue", 0)));
//! let arrive = net.add_transition(
//!     Transition::new("arrive", Timing::exponential(1.0)).input(room, 1).output(queue, 1),
//! );
//! net.add_transition(Transition::new("serve", Timing::exponential(2.0)).input(queue, 1).output(room, 1));
//!
//! let chain = Chain::new(&net, 1000)?;
//! let solution = chain.steady_state()?;
//! assert!((solution.throughput(arrive) - 6.0 / 7.0).abs() < 1e-14);
//! assert!((solution.mean_tokens(queue) - 4.0 / 7.0).abs() < 1e-14);
//! # Ok::<(), inorder_petri::markov::MarkovError>(())
//! ```

mod balance;
mod chain;
mod error;
mod gth;
mod iterate;
mod links;
mod number;
mod solution;
mod solve;
mod sparse;
mod steady;
mod transient;
#[cfg(test)]
mod twin;
mod vanishing;

pub use balance::Balance;
pub use chain::Chain;
pub use error::MarkovError;
pub use solution::Solution;
pub use solve::Solving;
