//! The network as a graph: lines between places, and the routes that packets take over them.
//!
//! A place is where lines meet: the hosts A and B, and the hops between them. Places need no state, because
//! everything that happens to a packet happens on a line. A line is a path of stages; a host's card is also a line,
//! the last one of a route. A route is a list of lines. A packet stores its position in its route, so a line can be
//! part of any number of routes.

use crate::line::Line;
use crate::packet::{Channel, End, LineId};
use crate::world::Counted;

/// Maximum number of lines in a route, so that a packet can count the lines it has passed, including the card, in
/// eight bits.
const MAX_LINES_OUTSIDE: usize = 250;

/// The lines a packet passes one after another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Route {
    /// In order; the last one is the card of the destination host, if it has one.
    lines: Vec<LineId>,
    /// Number of lines before the destination host.
    outside: u8,
    /// The side of the destination host.
    end: End,
}

/// Where a packet goes next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The line it enters; `None` if it is delivered to the stack.
    pub line: Option<LineId>,
    /// True if it is directly in front of the card of the destination host, or where a card would be.
    pub at_card: bool,
    /// The side of the destination host.
    pub end: End,
}

impl Route {
    /// A route over the lines `outside` of the host on side `end`, and then over its `card`. Lines beyond
    /// [`MAX_LINES_OUTSIDE`] are ignored; a scenario allows fewer.
    pub(crate) fn new(outside: &[LineId], card: Option<LineId>, end: End) -> Self {
        let outside = outside.get(..MAX_LINES_OUTSIDE).unwrap_or(outside);
        Route {
            lines: outside.iter().copied().chain(card).collect(),
            outside: outside.len() as u8,
            end,
        }
    }
}

/// Lines, routes, and the route of each channel.
pub(crate) struct Network {
    /// All lines, by [`LineId`].
    pub lines: Vec<Line>,
    names: Vec<String>,
    /// Every distinct route, with its position in `steps`.
    routes: Vec<(Route, u32)>,
    /// The steps of all routes, one route after another, in a flat list: there is a look-up for each packet and line.
    steps: Vec<Step>,
    /// Position in `steps` where the route of each channel begins.
    taken: Vec<u32>,
}

impl Network {
    /// A network with named lines and no routes yet.
    pub(crate) fn new(lines: Vec<Line>, names: Vec<String>) -> Self {
        Network {
            lines,
            names,
            routes: Vec::new(),
            steps: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// Assigns `route` to the next channel. Channels with equal routes share one.
    pub(crate) fn add_channel(&mut self, route: &Route) {
        let known = self.routes.iter().find(|(known, _)| known == route);
        let at = known.map(|(_, at)| *at);
        let at = at.unwrap_or_else(|| self.add_route(route));
        self.taken.push(at);
    }

    fn add_route(&mut self, route: &Route) -> u32 {
        let at = self.steps.len() as u32;
        let lines = route.lines.iter().copied().map(Some).chain([None]);
        self.steps
            .extend((0..).zip(lines).map(|(passed, line)| Step {
                line,
                at_card: passed == route.outside,
                end: route.end,
            }));
        self.routes.push((route.clone(), at));
        at
    }

    /// The next step of a packet of `channel` that has passed `passed` lines of its route; `None` for a channel
    /// without a route.
    #[inline]
    pub(crate) fn step(&self, channel: Channel, passed: u8) -> Option<Step> {
        let begin = *self.taken.get(channel.0 as usize)? as usize;
        self.steps.get(begin + usize::from(passed)).copied()
    }

    /// A line.
    #[inline]
    pub(crate) fn line(&mut self, id: LineId) -> Option<&mut Line> {
        self.lines.get_mut(usize::from(id.0))
    }

    /// From now on it is kept when the links are busy.
    pub(crate) fn keep_busy_times(&mut self) {
        self.lines.iter_mut().for_each(Line::keep_busy_times);
    }

    /// The lines that packets of a channel pass.
    pub(crate) fn route(&self, channel: Channel) -> Vec<LineId> {
        let steps = (0..=u8::MAX).map_while(|passed| self.step(channel, passed)?.line);
        steps.collect()
    }

    /// What the card at the end of a channel holds: see [`Line::holding`].
    pub(crate) fn holding(&self, channel: Channel) -> (i64, u32) {
        let route = (0..=u8::MAX).map_while(|passed| self.step(channel, passed));
        let card = route
            .take_while(|step| step.line.is_some())
            .find(|step| step.at_card);
        let line = card.and_then(|step| self.lines.get(usize::from(step.line?.0)));
        line.map_or((0, 0), |line| line.holding(channel))
    }

    /// What each line and its card have counted so far.
    pub(crate) fn counted(&self) -> Vec<Counted> {
        let counted = |line: &Line| Counted {
            stages: line.path().counters().to_vec(),
            account: line.account().cloned(),
        };
        self.lines.iter().map(counted).collect()
    }

    /// All lines with their names.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, &Line)> {
        self.names.iter().map(String::as_str).zip(&self.lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_walked_line_by_line() {
        let mut network = Network::new(Vec::new(), Vec::new());
        let [a, b, card] = [0, 1, 2].map(LineId);
        let over_both = Route::new(&[a, b], Some(card), End::B);
        let straight = Route::new(&[a], None, End::A);
        for route in [&over_both, &straight, &over_both] {
            network.add_channel(route);
        }
        assert_eq!(network.routes.len(), 2, "equal routes are shared");
        let walk = |channel| -> Vec<(Option<LineId>, bool)> {
            let steps = (0..4).filter_map(|passed| network.step(Channel(channel), passed));
            steps.map(|step| (step.line, step.at_card)).collect()
        };
        assert_eq!(
            walk(2),
            [
                (Some(a), false),
                (Some(b), false),
                (Some(card), true),
                (None, false)
            ]
        );
        assert_eq!(walk(1)[..2], [(Some(a), false), (None, true)]);
    }

    #[test]
    fn a_channel_without_a_route_goes_nowhere() {
        let network = Network::new(Vec::new(), Vec::new());
        assert!(network.step(Channel(0), 0).is_none());
    }
}
