//! Findings as one JSON object.

use inorder_petri::net::Net;
use inorder_petri::reachability::{Boundedness, LongRun, Report};
use inorder_petri::statistics::Estimate;
use serde_json::{Map, Value, json};

use super::exact::Exact;
use super::simulate::Simulated;
use super::{Findings, structure};

/// Everything found; what was not asked for is left out.
pub fn object(net: &Net, findings: &Findings) -> Value {
    let mut object = Map::new();
    object.insert("net".into(), json!(net.name));
    if let Some(invariants) = &findings.invariants {
        let value = json!({
            "p_invariants": invariants.places_text(net),
            "t_invariants": invariants.transitions_text(net),
            "covered_by_p_invariants": invariants.is_covered_by_places(),
            "covered_by_t_invariants": invariants.is_covered_by_transitions(),
        });
        object.insert("invariants".into(), value);
    }
    if let Some(report) = &findings.reachability {
        object.insert("reachability".into(), reachability(net, report));
    }
    if let Some(exact) = &findings.exact {
        object.insert("exact".into(), exact_object(net, exact));
    }
    if let Some(simulated) = &findings.simulated {
        object.insert("simulated".into(), simulated_object(simulated));
    }
    Value::Object(object)
}

fn reachability(net: &Net, report: &Report) -> Value {
    let bounded = match report.boundedness {
        Boundedness::Bounded => json!(true),
        Boundedness::Unbounded { .. } => json!(false),
        Boundedness::Unknown { .. } => Value::Null,
    };
    let deadlock = |deadlock: &inorder_petri::reachability::Deadlock| {
        json!({
            "marking": named(net, &deadlock.marking),
            "path": structure::transition_names(net, &deadlock.path),
        })
    };
    json!({
        "markings": report.markings,
        "vanishing": report.vanishing,
        "complete": report.is_complete,
        "bounded": bounded,
        "most_tokens": named(net, &report.most_tokens),
        "deadlocks": report.deadlock_count,
        "nearest_deadlocks": report.deadlocks.iter().map(deadlock).collect::<Vec<_>>(),
        "never_fired": structure::transition_names(net, &report.never_fired),
        "live": report.long_run.as_ref().map(|l| structure::transition_names(net, &l.live)),
        "home_states": report.long_run.as_ref().map(LongRun::home_states),
        "reversible": report.long_run.as_ref().map(|l| l.is_reversible),
    })
}

fn named(net: &Net, marking: &[u32]) -> Value {
    let places = net.places.iter().zip(marking);
    Value::Object(
        places
            .map(|(place, &n)| (place.name.clone(), json!(n)))
            .collect(),
    )
}

fn exact_object(net: &Net, exact: &Exact) -> Value {
    let places = net.places.iter().zip(&exact.places).map(|(place, found)| {
        let value = json!({
            "tokens": found.tokens, "arrivals": found.arrivals, "sojourn": found.sojourn,
        });
        (place.name.clone(), value)
    });
    let transitions = net.transitions.iter().zip(&exact.transitions).map(|(transition, found)| {
        let value = json!({
            "throughput": found.throughput, "busy": found.busy, "utilisation": found.utilisation,
        });
        (transition.name.clone(), value)
    });
    json!({
        "states": exact.states,
        "vanishing": exact.vanishing,
        "places": places.collect::<Map<_, _>>(),
        "transitions": transitions.collect::<Map<_, _>>(),
    })
}

/// An interval without a finite width has `null` for it.
fn estimate(estimate: Estimate) -> Value {
    json!({ "mean": estimate.mean, "half_width": estimate.half_width })
}

fn simulated_object(simulated: &Simulated) -> Value {
    let places = simulated.measures.places.iter().map(|place| {
        let value = json!({
            "tokens": estimate(place.tokens),
            "tokens_at_end": estimate(place.tokens_at_end),
            "arrivals": estimate(place.arrivals),
            "sojourn": place.sojourn.map(estimate),
            "peak": place.peak,
        });
        (place.name.clone(), value)
    });
    let transitions = simulated.measures.transitions.iter().map(|transition| {
        let value = json!({
            "throughput": estimate(transition.throughput),
            "busy": transition.busy.map(estimate),
            "utilisation": transition.utilisation.map(estimate),
        });
        (transition.name.clone(), value)
    });
    json!({
        "method": if simulated.are_replications { "replications" } else { "batch means" },
        "observations": simulated.observations,
        "time": simulated.time,
        "confidence": simulated.confidence,
        "precise": simulated.is_precise,
        "interrupted": simulated.was_interrupted,
        "places": places.collect::<Map<_, _>>(),
        "transitions": transitions.collect::<Map<_, _>>(),
    })
}
