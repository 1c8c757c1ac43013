//! The command line.

use inorder_path::config::{self, Line, QueueLimit, Uniform};
use inorder_path::{
    AnyStage, Coalesce, Delay, Duplicate, Late, Link, Loss, Nic, NicConfig, Path,
};
use inorder_base::random::Random;
use inorder_scenario::{Registries, Scenario};
use inorder_sort::SorterConfig;

use crate::record::Packet;

#[derive(Default)]
pub struct Options {
    pub out: String,
    pub seed: u64,
    /// Stages from the client to the server, in words (see [`stages`]).
    pub forward: String,
    pub reverse: String,
    /// A scenario whose `[[forward]]` and `[[reverse]]` are the stages instead.
    pub scenario: Option<String>,
    pub client: String,
    pub server: String,
    /// What the captures of the client's and of the server's end are called: snd or rcv.
    pub labels: [&'static str; 2],
    /// Only connections with this port are captured; 0: all.
    pub port: u16,
    /// Seconds after which the programs are stopped.
    pub seconds: u64,
    /// Larger packets from the client do not pass.
    pub mtu: Option<usize>,
    /// Nobody tells the client so.
    pub silent: bool,
    /// A card in front of the server that sorts: the sorter, and how long it waits before it interrupts, nanoseconds.
    pub card: Option<(SorterConfig, i64)>,
}

impl Options {
    pub fn read(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut out = Options {
            seconds: 60,
            labels: ["snd", "rcv"],
            ..Options::default()
        };
        while let Some(option) = args.next() {
            let value = args
                .next()
                .ok_or_else(|| format!("{option} needs a value"))?;
            let number = || {
                value
                    .parse::<u64>()
                    .map_err(|e| format!("{option} {value}: {e}"))
            };
            match option.as_str() {
                "--out" => out.out = value,
                "--seed" => out.seed = number()?,
                "--forward" => out.forward = value,
                "--reverse" => out.reverse = value,
                "--scenario" => out.scenario = Some(value),
                "--client" => out.client = value,
                "--server" => out.server = value,
                "--sender" if value == "client" => out.labels = ["snd", "rcv"],
                "--sender" if value == "server" => out.labels = ["rcv", "snd"],
                "--port" => out.port = number()? as u16,
                "--seconds" => out.seconds = number()?,
                "--mtu" => out.mtu = Some(number()? as usize),
                "--card" => out.card = Some(card(&value)?),
                "--black-hole" => {
                    out.mtu = Some(number()? as usize);
                    out.silent = true;
                }
                _ => return Err(format!("unknown option {option}")),
            }
        }
        if out.out.is_empty() || out.client.is_empty() || out.server.is_empty() {
            return Err("--out, --client and --server are needed".to_owned());
        }
        Ok(out)
    }
}

impl Options {
    /// The stages of both directions. Of a scenario they keep the times at which their links are busy.
    pub fn paths(&self) -> Result<[Path<Packet>; 2], String> {
        if let Some(file) = &self.scenario {
            return of_scenario(file, self.seed);
        }
        let path = |words: &str, name: &str| stages(words, self.seed, name).map(Path::new);
        Ok([
            path(&self.forward, "forward")?,
            path(&self.reverse, "reverse")?,
        ])
    }

    /// The card, as a path behind the one to the server.
    pub fn card(&self) -> Result<Option<Path<Packet>>, String> {
        let Some((sorter, coalesce_ns)) = self.card else {
            return Ok(None);
        };
        let config = NicConfig {
            coalesce: Coalesce::delay(coalesce_ns),
            sorter,
            ..NicConfig::default()
        };
        let card = Nic::new(&config).map_err(|e| e.to_string())?;
        Ok(Some(Path::new(vec![card.into()])))
    }
}

/// `SORTER,NANOSECONDS`.
fn card(text: &str) -> Result<(SorterConfig, i64), String> {
    let wrong = || format!("--card {text}: not a sorter and a time");
    let (sorter, ns) = text.rsplit_once(',').ok_or_else(wrong)?;
    let config = sorter.parse().map_err(|e| format!("{sorter}: {e}"))?;
    Ok((config, ns.parse().map_err(|_| wrong())?))
}

fn of_scenario(file: &str, seed: u64) -> Result<[Path<Packet>; 2], String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let scenario =
        Scenario::load(&text, file, &Registries::default()).map_err(|e| e.to_string())?;
    let cells = scenario.cells().map_err(|e| e.to_string())?;
    let config = &cells.first().ok_or("a scenario without cells")?.config;
    let mut paths = [
        Path::declared(&config.forward, "forward", seed),
        Path::declared(&config.reverse, "reverse", seed),
    ];
    paths.iter_mut().for_each(Path::keep_busy_times);
    Ok(paths)
}

/// Stages in their order: `duplicate=SHARE`, `loss=SHARE`, `rate=MBIT,PACKETS` (a link with its queue), `late=SHARE,MS`
/// (by how much), `delay=MS`, `jitter=MS,MS` (mean and standard deviation, normal).
pub fn stages(words: &str, seed: u64, name: &str) -> Result<Vec<AnyStage<Packet>>, String> {
    let stage = |(at, word): (usize, &str)| {
        let wrong = || format!("{word}: not a stage");
        let (kind, value) = word.split_once('=').ok_or_else(wrong)?;
        let numbers: Vec<f64> = value
            .split(',')
            .map(|n| n.parse().map_err(|_| wrong()))
            .collect::<Result<_, _>>()?;
        let random = Random::new(seed, &format!("{name}/{at}"));
        let ns = |ms: f64| (ms * 1e6) as i64;
        let stage: AnyStage<Packet> = match (kind, &numbers[..]) {
            ("duplicate", &[share]) => Duplicate::new(
                &config::Duplicate {
                    probability: share,
                    correlation: 0.0,
                    copy_delay_ns: 0,
                },
                random,
            )
            .into(),
            ("loss", &[share]) => {
                let loss = config::Loss::Uniform(Uniform {
                    probability: share,
                    correlation: 0.0,
                });
                Loss::new(&loss, random).into()
            }
            ("rate", &[mbit, packets]) => {
                let line = Line {
                    buffer: QueueLimit::Packets(packets as u64).into(),
                    ..Line::new((mbit * 1e6) as u64)
                };
                Link::new(&line).into()
            }
            ("late", &[share, ms]) => {
                let late = config::Late {
                    probability: share,
                    correlation: 0.0,
                    delay_ns: ns(ms),
                    from_ns: i64::MIN,
                    until_ns: None,
                };
                Late::new(&late, random).into()
            }
            ("delay", &[ms]) => Delay::new(&config::Delay::constant(ns(ms)), random).into(),
            ("jitter", &[ms, deviation]) => {
                Delay::new(&config::Delay::normal(ns(ms), ns(deviation)), random).into()
            }
            _ => return Err(wrong()),
        };
        Ok(stage)
    };
    words.split_whitespace().enumerate().map(stage).collect()
}
