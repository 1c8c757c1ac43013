//! Which flows are reported.

use std::fmt;
use std::sync::Arc;

use crate::result::FlowId;

/// Says which flows are reported; the others are dropped as if they were not there. It is asked once for each flow, by
/// any thread and in any order.
#[derive(Clone)]
pub struct FlowChoice(Arc<dyn Fn(&FlowId) -> bool + Send + Sync>);

impl FlowChoice {
    /// Takes the flows for which `takes` is true.
    pub fn new(takes: impl Fn(&FlowId) -> bool + Send + Sync + 'static) -> Self {
        FlowChoice(Arc::new(takes))
    }

    /// True if the flow is reported.
    pub fn takes(&self, flow: &FlowId) -> bool {
        (self.0)(flow)
    }
}

impl fmt::Debug for FlowChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FlowChoice")
    }
}
