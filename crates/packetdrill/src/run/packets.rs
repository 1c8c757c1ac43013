//! Injected and expected packets of the script.

use inorder_tcp::Nanos;

use super::host::ORIGIN;
use super::{Runner, Stop, expect, wire};
use crate::fast_open::{CookieOption, server};
use crate::script::{Event, Packet, TcpOption, What, When};

/// The MSS of a peer that announces none (RFC 9293 section 3.7.1).
pub(super) const DEFAULT_MSS: u32 = 536;

impl Runner<'_> {
    pub(super) fn inject(&mut self, index: usize, packet: &Packet) -> Result<(), Stop> {
        if let Some(reason) = wire::unsupported(packet, &self.setup.fast_open) {
            return Err(Stop::Unsupported(reason));
        }
        let segment = wire::segment(packet, &self.clock);
        if self.tracing {
            let text = wire::show_packet(packet);
            self.note(self.host.now, &format!("< {text}"));
        }
        // A SYN for a listener comes from another port if the listener is new, or the application has closed the connection
        // before.
        let alone = packet.syn && !packet.ack_flag;
        let fresh = alone && std::mem::take(&mut self.table.fresh_listener);
        let another = alone && self.table.listener().is_some() && (fresh || self.host.is_orphan());
        if another {
            self.host.leave_connections();
        }
        if another || self.host.is_vacant() {
            self.admit(index, segment.mss)?;
        }
        let cookie = wire::cookie(packet, &self.setup.fast_open);
        if alone {
            self.judge_early_data(cookie, segment.payload);
        }
        self.host.inject(&segment, cookie);
        self.ask_pending()
    }

    /// The listener decides whether the SYN that is about to arrive opens its connection with its data.
    fn judge_early_data(&mut self, cookie: Option<CookieOption>, payload: u32) {
        let Some(listener) = self.table.listener() else {
            return;
        };
        let settings = listener.fast_open.under(&self.setup.fast_open);
        let waiting = self.host.connections.iter();
        let waiting = waiting.filter(|connection| connection.endpoint.is_early());
        let verdict = server::judge(&settings, waiting.count(), cookie, payload);
        if let Some(connection) = self.host.connections.last_mut() {
            connection.cookie = verdict.answer;
            if verdict.opens {
                connection.endpoint.accept_early();
            }
        }
    }

    /// An endpoint for a segment without a connection: a new connection if a socket is listening, otherwise one that
    /// refuses the segment.
    fn admit(&mut self, index: usize, mss: Option<u16>) -> Result<(), Stop> {
        let isn = self.next_isn(index);
        let listener = self.table.listener();
        let mut endpoint = listener
            .unwrap_or(&self.setup)
            .endpoint(isn, mss.map_or(DEFAULT_MSS, u32::from))
            .map_err(Stop::Unsupported)?;
        if listener.is_some() {
            endpoint.listen();
        }
        self.host.add(endpoint, false);
        Ok(())
    }

    /// The MSS in the next SYN that the script injects.
    pub(super) fn next_mss(&self, index: usize) -> u32 {
        let packets = self.script.events[index..].iter();
        let syn = packets.filter_map(|event| match &event.what {
            What::Inject(packet) if packet.syn => Some(packet),
            _ => None,
        });
        syn.flat_map(|packet| packet.options.iter().flatten())
            .find_map(|option| match option {
                TcpOption::Mss(mss) => Some(*mss),
                _ => None,
            })
            .unwrap_or(DEFAULT_MSS)
    }

    /// The sequence number in the next SYN that the script expects.
    pub(super) fn next_isn(&self, index: usize) -> u32 {
        self.script.events[index..]
            .iter()
            .find_map(|event| match &event.what {
                What::Expect(packet) if packet.syn => Some(packet.seq),
                _ => None,
            })
            .unwrap_or(0)
    }

    pub(super) fn expect(&mut self, event: &Event, packet: &Packet) -> Result<(), Stop> {
        if let Some(reason) = wire::unsupported(packet, &self.setup.fast_open) {
            return Err(Stop::Unsupported(reason));
        }
        let (from, to) = self.span(event.when);
        let limit = Nanos::try_from(to).unwrap_or(0);
        while self.host.sent.is_empty() && self.host.step(limit) {
            self.ask_pending()?;
        }
        let Some(actual) = expect::next(&mut self.host.sent, packet.len) else {
            let expected = wire::show_packet(packet);
            let by = wire::show_time(to - i128::from(ORIGIN));
            return Err(Stop::Failed(format!(
                "nothing was sent until {by}\n  expected: {expected}"
            )));
        };
        let tolerance = self.tolerance.unwrap_or(self.setup.tolerance);
        let tick = self.setup.timestamp_tick;
        let cookie = wire::cookie(packet, &self.setup.fast_open);
        let mut wrong =
            expect::differences(packet, &actual, cookie, &mut self.clock, tick, tolerance);
        let at = i128::from(actual.at);
        if at < from || at > to {
            wrong.insert(0, "time");
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let middle = (from + to) / 2 - i128::from(ORIGIN);
        let expected_at = match event.when {
            When::Any => "any time".to_owned(),
            _ => wire::show_time(middle),
        };
        Err(Stop::Failed(format!(
            "wrong {}\n  expected: {expected_at} {}\n  actual:   {} {}",
            wrong.join(", "),
            wire::show_packet(packet),
            wire::show_moment(actual.at),
            wire::show(&actual, &self.clock),
        )))
    }
}
