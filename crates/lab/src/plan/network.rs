//! The network of a run: hosts, places between them, and what is at which device.
//!
//! ```text
//! a0 --+                                  +-- b0
//!      x -- f1 -- ... -- f(n-1) -- y          forward, one discipline at each device on the way
//! a1 --+    (x <- r(n-1) <- ... <- y)     +-- b1
//! ```
//!
//! Every `[[flow]]` has a host on either side, so that each may have settings of its own. The two directions take
//! separate chains of namespaces. If the path is emulated, one namespace `w` between `x` and `y` stands for both chains.

use inorder_scenario::Config;
use inorder_scenario::config::{Direction, Endpoint};

use super::address::{address, side_net};
use super::card::{self, Card};
use super::endpoint::route_words;
use super::hop::{Hop, Lanes};
use super::hops::hops;

use super::netem::Netem;
use super::refusal::Refusal;
use super::{Batch, Change, Device, Plan, WIRE, Ways};

/// One end of a link.
struct End {
    namespace: String,
    device: String,
    address: String,
    /// The card above the device, which then has the address.
    card: Option<(String, card::Settings)>,
}

/// A network under construction.
struct Builder {
    plan: Plan,
    links: usize,
    /// Networks of lanes so far, in both directions.
    lane_nets: usize,
    created: Vec<String>,
    /// Lines for `ip` and `tc` by namespace, in the order of the namespaces.
    inside: Vec<[Vec<String>; 2]>,
    mtu: u32,
}

/// The network of a cell; flows and their settings are added by others.
pub(super) fn plan(config: &Config, ways: Ways) -> Result<Plan, Refusal> {
    let endpoints = config
        .flows
        .iter()
        .flat_map(|flow| [&flow.sender, &flow.receiver]);
    let largest = endpoints
        .filter_map(|endpoint| endpoint.mss)
        .max()
        .unwrap_or(0);
    let mut builder = Builder {
        plan: empty(config),
        links: 0,
        lane_nets: 0,
        created: Vec::new(),
        inside: Vec::new(),
        // Headers of IPv4 and TCP without options.
        mtu: (largest + 40).max(1500),
    };
    for name in ["x", "y"] {
        builder.namespace(name);
    }
    match ways {
        Ways::Disciplines => builder.chains(config)?,
        Ways::Emulated => builder.wire(config)?,
    }
    let card = |key: &str, card: &Option<inorder_scenario::config::Card>| {
        let settings = card.as_ref().map(|card| card::Settings::of_card(card, key));
        settings.transpose()
    };
    let cards = [
        card("sender_card", &config.sender_card)?,
        card("receiver_card", &config.receiver_card)?,
    ];
    for (number, flow) in config.flows.iter().enumerate() {
        let (a, b) = match flow.direction {
            Direction::Forward => (&flow.sender, &flow.receiver),
            Direction::Reverse => (&flow.receiver, &flow.sender),
        };
        builder.host("a", "x", number, a, flow.access_delay_ns, &cards[0]);
        builder.host("b", "y", number, b, flow.access_delay_ns, &cards[1]);
    }
    Ok(builder.finish())
}

fn empty(config: &Config) -> Plan {
    Plan {
        namespaces: Vec::new(),
        batches: Vec::new(),
        settings: Vec::new(),
        devices: Vec::new(),
        offloads: config.lab.offloads,
        modules: Vec::new(),
        cards: Vec::new(),
        tables: Vec::new(),
        groups: Vec::new(),
        flows: Vec::new(),
        changes: Vec::new(),
        duration_ns: config.run.duration_ns,
        warm_up_ns: config.run.warm_up_ns,
        sample_interval_ns: config.output.trace_interval_ns,
        snap_bytes: config.output.snap_bytes,
        emulated: false,
    }
}

impl Builder {
    fn namespace(&mut self, name: &str) {
        self.plan.namespaces.push(name.to_owned());
        self.inside
            .push([vec!["link set lo up".to_owned()], Vec::new()]);
        self.plan.settings.push(super::Setting {
            namespace: name.to_owned(),
            key: "net.ipv4.ip_forward".to_owned(),
            value: "1".to_owned(),
        });
    }

    fn say(&mut self, namespace: &str, program: usize, line: String) {
        let at = self
            .plan
            .namespaces
            .iter()
            .position(|name| name == namespace);
        if let Some(lines) = at.and_then(|at| self.inside.get_mut(at)) {
            lines[program].push(line);
        }
    }

    fn ip(&mut self, namespace: &str, line: String) {
        self.say(namespace, 0, line);
    }

    /// Joins two ends. Their neighbours are fixed, so that no question for an address gets lost on an impaired path.
    fn link(&mut self, ends: [End; 2]) {
        let number = self.links;
        self.links += 1;
        let mac = |end: usize| {
            format!(
                "02:00:00:{:02x}:{:02x}:0{end}",
                number >> 8 & 255,
                number & 255
            )
        };
        let [left, right] = &ends;
        self.created.push(format!(
            "link add {} netns {} mtu {mtu} address {} type veth peer name {} netns {} mtu {mtu} address {}",
            left.device, left.namespace, mac(0), right.device, right.namespace, mac(1), mtu = self.mtu
        ));
        for (end, other, its) in [(&ends[0], &ends[1], mac(1)), (&ends[1], &ends[0], mac(0))] {
            self.ip(&end.namespace, format!("link set {} up", end.device));
            let device = end.card.as_ref().map_or(&end.device, |(name, _)| name);
            if end.card.is_some() {
                let lower = &end.device;
                self.ip(
                    &end.namespace,
                    format!("link add link {lower} name {device} type {}", card::MODULE),
                );
                self.ip(&end.namespace, format!("link set {device} up"));
            }
            self.ip(
                &end.namespace,
                format!("address add {}/24 dev {device}", end.address),
            );
            self.ip(
                &end.namespace,
                format!(
                    "neigh add {} dev {device} lladdr {its} nud permanent",
                    other.address
                ),
            );
        }
        for end in ends {
            let mut device = |name: &str| {
                self.plan.devices.push(Device {
                    namespace: end.namespace.clone(),
                    name: name.to_owned(),
                    captured: None,
                    is_stage: false,
                });
            };
            device(&end.device);
            if let Some((name, settings)) = end.card {
                if !settings.merge {
                    device(&name);
                }
                self.plan.cards.push(Card {
                    namespace: end.namespace,
                    name,
                    settings,
                });
            }
        }
    }

    fn chains(&mut self, config: &Config) -> Result<(), Refusal> {
        let duration_ns = config.run.duration_ns;
        let of = |name, stages| hops(name, stages, duration_ns);
        self.chain(["x", "y"], "f", 3, &of("forward", &config.forward)?);
        self.chain(["y", "x"], "r", 4, &of("reverse", &config.reverse)?);
        Ok(())
    }

    /// Two links whose inner ends have no address: what is received at one of them is sent at the other.
    fn wire(&mut self, config: &Config) -> Result<(), Refusal> {
        if let Some(number) = config
            .flows
            .iter()
            .position(|flow| flow.access_delay_ns > 0)
        {
            return Err(Refusal::new(
                format!("flow.{number}.access_delay"),
                "an emulated path has no delay of one flow alone",
                "no such key, or --engine uml",
            ));
        }
        self.plan.emulated = true;
        let (wire, inner) = WIRE;
        self.namespace(wire);
        let sides = [("x", "fout", "10.3.0.1"), ("y", "rout", "10.3.0.2")];
        let mac = |side: usize| format!("02:00:00:ff:00:0{side}");
        for (side, ((router, device, address), inner)) in sides.into_iter().zip(inner).enumerate() {
            self.created.push(format!(
                "link add {device} netns {router} mtu {mtu} address {} type veth peer name {inner} netns {wire} mtu {mtu}",
                mac(side), mtu = self.mtu
            ));
            let (_, _, other) = sides[1 - side];
            let far = if router == "x" { 2 } else { 1 };
            for line in [
                format!("link set {device} up"),
                format!("address add {address}/24 dev {device}"),
                format!(
                    "neigh add {other} dev {device} lladdr {} nud permanent",
                    mac(1 - side)
                ),
                format!("route add 10.{far}.0.0/16 via {other}"),
            ] {
                self.ip(router, line);
            }
            self.ip(wire, format!("link set {inner} up"));
            for (namespace, name) in [(router, device), (wire, inner)] {
                self.plan.devices.push(Device {
                    namespace: namespace.to_owned(),
                    name: name.to_owned(),
                    captured: None,
                    is_stage: false,
                });
            }
        }
        Ok(())
    }

    /// A way from one end to the other, with a discipline at each device that packets leave.
    fn chain(&mut self, [from, to]: [&str; 2], letter: &str, net: u8, hops: &[Hop]) {
        let links = hops.len().max(1);
        let place = |number: usize| match number {
            0 => from.to_owned(),
            last if last == links => to.to_owned(),
            between => format!("{letter}{between}"),
        };
        for number in 1..links {
            self.namespace(&place(number));
        }
        let far = if to == "y" { 2 } else { 1 };
        for number in 0..links {
            let here = place(number);
            if let Some(Hop::Lanes(lanes)) = hops.get(number) {
                self.lanes(
                    [&here, &place(number + 1)],
                    letter,
                    [net, far],
                    number,
                    lanes,
                );
                continue;
            }
            let end = |at: usize, name: &str, host: u8| End {
                namespace: place(at),
                device: format!("{letter}{name}"),
                address: format!("10.{net}.{number}.{host}"),
                card: None,
            };
            let mut far_end = end(number + 1, "in", 2);
            if let Some(Hop::Card(settings)) = hops.get(number) {
                far_end.card = Some((format!("{letter}card"), settings.clone()));
            }
            self.link([end(number, "out", 1), far_end]);
            self.ip(
                &here,
                format!("route add 10.{far}.0.0/16 via 10.{net}.{number}.2"),
            );
        }
        for (number, hop) in hops.iter().enumerate() {
            self.discipline(&place(number), &format!("{letter}out"), hop, true);
        }
    }

    /// Lanes side by side from a place to the next one. What is sent to the next one passes through a device whose filters
    /// redirect it to the first device of a lane; all lanes begin with the address that it was sent to.
    fn lanes(
        &mut self,
        [here, next]: [&str; 2],
        letter: &str,
        [net, far]: [u8; 2],
        number: usize,
        lanes: &Lanes,
    ) {
        let device = format!("{letter}out");
        let gate = format!("02:00:00:fe:{net:02x}:{number:02x}");
        let mtu = self.mtu;
        self.created.push(format!(
            "link add {device} netns {here} mtu {mtu} type dummy"
        ));
        for line in [
            format!("link set {device} up"),
            format!("address add 10.{net}.{number}.1/24 dev {device}"),
            format!("neigh add 10.{net}.{number}.2 dev {device} lladdr {gate} nud permanent"),
            format!("route add 10.{far}.0.0/16 via 10.{net}.{number}.2"),
        ] {
            self.ip(here, line);
        }
        let before = self.lane_nets;
        self.lane_nets += 2 * lanes.lanes.len();
        let subnet = |lane: usize, part: usize| before + 2 * lane + part;
        let first = |lane: usize| format!("{letter}lane{lane}");
        for (lane, hops) in lanes.lanes.iter().enumerate() {
            let between = format!("{letter}{number}lane{lane}");
            self.namespace(&between);
            let end = |namespace: &str, device: String, part: usize, host: u8| End {
                namespace: namespace.to_owned(),
                device,
                address: format!("10.{}.{}.{host}", net + 2, subnet(lane, part)),
                card: None,
            };
            let enters = format!("{letter}in");
            self.link([
                end(here, first(lane), 0, 1),
                end(&between, enters.clone(), 0, 2),
            ]);
            self.ip(&between, format!("link set {enters} address {gate}"));
            let arrives = format!("{letter}in{lane}");
            self.link([
                end(&between, device.clone(), 1, 1),
                end(next, arrives, 1, 2),
            ]);
            let through = format!("10.{}.{}.2", net + 2, subnet(lane, 1));
            self.ip(&between, format!("route add 10.{far}.0.0/16 via {through}"));
            let places = [(here, first(lane)), (between.as_str(), device.clone())];
            for (hop, (namespace, device)) in hops.iter().zip(places) {
                self.discipline(namespace, &device, hop, true);
            }
        }
        for line in lanes.lines(&device, first) {
            self.say(here, 1, line);
        }
    }

    fn discipline(&mut self, namespace: &str, device: &str, hop: &Hop, is_stage: bool) {
        for line in hop.lines(device) {
            self.say(namespace, 1, line);
        }
        let changes = hop.changes(device).into_iter();
        self.plan
            .changes
            .extend(changes.map(|(at_ns, line)| Change {
                at_ns,
                namespace: namespace.to_owned(),
                line,
            }));
        if let Hop::Netem(netem) = hop {
            for table in &netem.tables {
                if !self.plan.tables.contains(table) {
                    self.plan.tables.push(table.clone());
                }
            }
        }
        let mut devices = self.plan.devices.iter_mut();
        if let Some(found) =
            devices.find(|known| known.namespace == namespace && known.name == device)
        {
            // A card has no queueing discipline whose drops could be counted.
            found.is_stage = is_stage && !matches!(hop, Hop::Card(_));
        }
    }

    /// A host at its router. The additional delay of its flow is on the way to the host, behind the shared path.
    fn host(
        &mut self,
        side: &str,
        router: &str,
        number: usize,
        endpoint: &Endpoint,
        access_ns: i64,
        card: &Option<card::Settings>,
    ) {
        let name = format!("{side}{number}");
        self.namespace(&name);
        let net = side_net(side);
        let [_, _, _, host] = address(side, number);
        self.link([
            End {
                namespace: name.clone(),
                device: "eth0".to_owned(),
                address: format!("10.{net}.{number}.{host}"),
                card: card.clone().map(|settings| ("card0".to_owned(), settings)),
            },
            End {
                namespace: router.to_owned(),
                device: name.clone(),
                address: format!("10.{net}.{number}.1"),
                card: None,
            },
        ]);
        self.ip(
            &name,
            format!(
                "route add default via 10.{net}.{number}.1{}",
                route_words(endpoint)
            ),
        );
        if access_ns > 0 {
            let hop = Hop::Netem(Box::new(Netem::delay(access_ns)));
            self.discipline(router, &name, &hop, false);
        }
        let mut devices = self.plan.devices.iter_mut();
        if let Some(found) = devices.find(|known| known.namespace == name) {
            found.captured = Some(usize::from(side == "b"));
        }
    }

    fn finish(mut self) -> Plan {
        let batch = |program: &str, namespace: Option<&String>, lines| Batch {
            program: program.to_owned(),
            namespace: namespace.cloned(),
            lines,
        };
        self.plan.batches.push(batch("ip", None, self.created));
        for (name, [ip, tc]) in self.plan.namespaces.iter().zip(self.inside) {
            self.plan.batches.push(batch("ip", Some(name), ip));
            if !tc.is_empty() {
                self.plan.batches.push(batch("tc", Some(name), tc));
            }
        }
        self.plan
    }
}
