//! The sorters of the kernel module (`kernel/`, in C) beside those of this crate: the same stories, told to both, must
//! give the same decisions, byte by byte. The C program checks its own memory accesses while it runs.
//!
//! Skipped, with the reason printed, without a C compiler or outside of the project's folder.

#[path = "../../cli/tests/it/common/needs.rs"]
mod needs;

use std::fmt::Write as _;
use std::hash::Hasher as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use inorder_sort::classify::tcp_header;
use inorder_sort::{AnySorter, FlowKey, FourTuple, Kind, Meta, Sorter, SorterConfig, Surroundings};

use needs::{Programs, needs, skipped};

const KINDS: [(char, Kind); 5] = [
    ('d', Kind::Data),
    ('a', Kind::Ack),
    ('o', Kind::Open),
    ('c', Kind::Close),
    ('x', Kind::Other),
];
/// Files of `kernel/` that the program is made of, beside its own.
const SOURCES: [&str; 9] = [
    "sort.c",
    "srpic.c",
    "learnt.c",
    "held.c",
    "released.c",
    "flows.c",
    "lessons.c",
    "resequence.c",
    "classify.c",
];

/// The folder of the module, if there is one and a C compiler.
fn sources() -> Option<(PathBuf, Programs)> {
    let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernel");
    if !kernel.is_dir() {
        skipped("there is no folder kernel/ beside crates/");
        return None;
    }
    Some((kernel, needs(&["cc"])?))
}

/// Compiles a program of `kernel/user`, with the sanitizers if the compiler has them.
fn compile((kernel, programs): &(PathBuf, Programs), name: &str, folder: &Path) -> PathBuf {
    let program = folder.join(name);
    let cc = |flags: &[&str]| {
        let mut command = programs.command("cc");
        command
            .current_dir(kernel)
            .args(["-std=gnu11", "-O1", "-g"]);
        command.args(flags).arg("-o").arg(&program).args(SOURCES);
        command.arg(format!("user/{name}.c")).output().unwrap()
    };
    let checked = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    if !cc(&checked).status.success() {
        eprintln!("the C compiler has no sanitizers: {name} runs without");
        let plain = cc(&[]);
        assert!(
            plain.status.success(),
            "{}",
            String::from_utf8_lossy(&plain.stderr)
        );
    }
    program
}

/// The program's answer to these lines.
fn ask(program: &Path, lines: &str) -> String {
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines = lines.to_owned();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(
        output.status.success(),
        "the C program ended with {}",
        output.status
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A flow with the hash of the kernel, SipHash-2-4 with the key `(seed, 0)`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Flow(FourTuple);

#[allow(deprecated)] // The only SipHash-2-4 of the standard library.
fn siphash(bytes: &[u8], seed: u64) -> u64 {
    let mut hasher = std::hash::SipHasher::new_with_keys(seed, 0);
    hasher.write(bytes);
    hasher.finish()
}

impl FlowKey for Flow {
    fn hash64(&self, seed: u64) -> u64 {
        siphash(&self.0.to_bytes(), seed)
    }

    fn path64(&self, seed: u64) -> u64 {
        siphash(&self.0.to_bytes()[..32], seed)
    }
}

/// The flow of this number, as `user/story.c` makes it.
fn flow(number: u32) -> Flow {
    let source = (0x0a00_0000 | number >> 4).to_be_bytes();
    let port = 10_000 + (number & 15) as u16;
    Flow(FourTuple::v4(source, port, [10, 1, 0, 1], 443))
}

/// Tells a story line by line, and writes down what the sorter of this crate decides.
struct Teller {
    sorter: AnySorter<Flow, usize>,
    packets: usize,
    now_ns: i64,
    lines: String,
    answer: String,
}

impl Teller {
    fn new(text: &str, around: &Surroundings) -> Self {
        let config: SorterConfig = text.parse().unwrap();
        let mut teller = Teller {
            sorter: config.build(around).unwrap(),
            packets: 0,
            now_ns: 0,
            lines: String::new(),
            answer: String::new(),
        };
        let Surroundings {
            ring_packets,
            flows,
            hash_seed,
        } = around;
        teller.line(&format!("new {text} {ring_packets} {flows} {hash_seed}"));
        teller.answer(&format!("{config} "));
        teller
    }

    fn line(&mut self, line: &str) {
        self.lines.push_str(line);
        self.lines.push('\n');
    }

    fn answer(&mut self, up: &str) {
        write!(self.answer, "{up}| {}", self.sorter.held()).unwrap();
        if let Some(due_ns) = self.sorter.next_deadline_ns() {
            write!(self.answer, " {due_ns}").unwrap();
        }
        self.answer.push('\n');
    }

    fn packet(&mut self, (letter, kind): (char, Kind), number: u32, seq: u32, len: u32) {
        self.line(&format!("p {letter} {number} {seq} {len}"));
        let meta = Meta {
            flow: flow(number),
            seq,
            len,
            kind,
        };
        let mut up = String::new();
        self.sorter
            .push(&meta, self.packets, self.now_ns, &mut |id| {
                write!(up, "{id} ").unwrap();
            });
        self.packets += 1;
        self.answer(&up);
    }

    fn end_of_batch(&mut self) {
        self.line("b");
        let mut up = String::new();
        self.sorter
            .end_of_batch(self.now_ns, &mut |id| write!(up, "{id} ").unwrap());
        self.answer(&up);
    }

    fn wait(&mut self, ns: i64) {
        self.line(&format!("w {ns}"));
        let until_ns = self.now_ns + ns;
        let mut up = String::new();
        while let Some(due_ns) = self
            .sorter
            .next_deadline_ns()
            .filter(|due| *due <= until_ns)
        {
            self.now_ns = self.now_ns.max(due_ns);
            self.sorter
                .on_deadline(self.now_ns, &mut |id| write!(up, "{id} ").unwrap());
        }
        self.now_ns = until_ns;
        self.answer(&up);
    }

    fn finish(mut self) -> (String, String) {
        self.line("f");
        let mut up = String::new();
        self.sorter
            .flush(self.now_ns, &mut |id| write!(up, "{id} ").unwrap());
        let counters = self.sorter.counters();
        let gaps = match &self.sorter {
            AnySorter::Resequencer(sorter) => sorter.gaps(),
            _ => Default::default(),
        };
        write!(
            up,
            "| {} {} {} | {} {} {} {} {} {} ",
            counters.suitable,
            counters.unsuitable,
            counters.batches,
            gaps.opened,
            gaps.filled,
            gaps.passed,
            gaps.timed_out,
            gaps.overflowed,
            gaps.flushed
        )
        .unwrap();
        self.answer(&up);
        (self.lines, self.answer)
    }
}

/// SplitMix64 (Steele, Lea, Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// Anything may happen: few numbers of few flows, small tables, all kinds of packet.
fn wild(random: &mut Random) -> (String, String) {
    let text = random.of(&[
        "none",
        "srpic",
        "srpic:block_size=5",
        "srpic:block_size=3,literal=true",
        "srpic:literal=true",
        "resequence",
        "resequence:window=9",
        "resequence:window=1,blind=0s",
        "resequence:bound=400ns,window=40",
        "resequence:start=0s,blind=2us",
        "resequence:bound=0s",
    ]);
    let around = Surroundings {
        ring_packets: 1 + random.below(70) as usize,
        flows: 1 + random.below(20) as usize,
        hash_seed: random.next(),
    };
    let mut teller = Teller::new(text, &around);
    let spread = [9, 40, 300][random.below(3) as usize];
    for _ in 0..random.below(250) {
        match random.below(12) {
            0 => teller.end_of_batch(),
            1 => teller.wait(random.below(500) as i64),
            2 if random.one_in(8) => teller.wait(random.below(3_000_000_000) as i64),
            other => {
                let flows = if random.one_in(4) { 60 } else { 4 };
                let number = random.below(flows) as u32;
                // The first flow's numbers wrap.
                let seq =
                    (0xffff_ffe0 + u64::from(number) * 0x3000_0001 + random.below(spread)) as u32;
                let kind = match other {
                    2 => KINDS[random.below(5) as usize],
                    _ => KINDS[0],
                };
                teller.packet(kind, number, seq, random.below(6) as u32);
            }
        }
    }
    teller.finish()
}

/// Connections over a path with jitter, late packets and losses that are repaired after a round trip.
fn path(random: &mut Random) -> (String, String) {
    const LENGTH: u32 = 1448;
    let text = random.of(&[
        "resequence",
        "resequence:window=64",
        "resequence:bound=2ms",
        "srpic",
    ]);
    let around = Surroundings {
        hash_seed: random.next(),
        ..Surroundings::ring(512)
    };
    let mut teller = Teller::new(text, &around);
    let rtt_ns = 1_000_000 << random.below(6);
    let jitter_ns = 1_000 << random.below(14);
    let (late, lost) = (2 + random.below(100), 2 + random.below(400));
    let flows = 1 + random.below(5) as u32;
    // Arrivals: time, kind, flow, number.
    let mut arrivals: Vec<(u64, usize, u32, u32)> = Vec::new();
    for number in 0..flows {
        let first = random.next() as u32;
        let begin = random.below(20_000_000);
        arrivals.push((begin, 2, number, first.wrapping_sub(1)));
        arrivals.push((begin + rtt_ns, 1, number, first));
        for packet in 0..1500 / flows {
            let seq = first.wrapping_add(packet * LENGTH);
            let mut at = begin + rtt_ns + 20_000 * u64::from(packet) + random.below(jitter_ns);
            if random.one_in(late) {
                at += random.below(rtt_ns);
                if random.one_in(3) {
                    arrivals.push((at + rtt_ns, 0, number, seq)); // resent although it was only late
                }
            }
            if random.one_in(lost) {
                at += rtt_ns + random.below(rtt_ns);
            }
            arrivals.push((at, 0, number, seq));
        }
        arrivals.push((
            begin + rtt_ns * 4 + 40_000_000,
            3,
            number,
            first.wrapping_add(1500 * LENGTH),
        ));
    }
    arrivals.sort_unstable();
    let mut batch_ends = 0;
    for (at, kind, number, seq) in arrivals {
        if at > batch_ends {
            teller.end_of_batch();
            batch_ends = at + 75_000;
        }
        teller.wait(at as i64 - teller.now_ns);
        let length = if kind == 0 { LENGTH } else { 0 };
        teller.packet(KINDS[kind], number, seq, length);
    }
    teller.wait(10_000_000_000);
    teller.finish()
}

#[test]
fn the_sorters_of_the_kernel_decide_as_these_do() {
    let Some(sources) = sources() else { return };
    let folder = tempfile();
    let program = compile(&sources, "story", &folder.0);
    for (name, stories, tell) in [
        ("wild", 1500, wild as fn(&mut Random) -> _),
        ("path", 60, path),
    ] {
        for seed in 0..stories / 30 {
            let mut random = Random(seed);
            let (mut lines, mut expected) = (String::new(), String::new());
            for _ in 0..30 {
                let (told, decided) = tell(&mut random);
                lines.push_str(&told);
                expected.push_str(&decided);
            }
            let got = ask(&program, &lines);
            if got == expected {
                continue;
            }
            let rows = lines.lines().zip(expected.lines()).zip(got.lines());
            let story: Vec<_> = rows.clone().map(|((line, _), _)| line).collect();
            let first = rows.clone().position(|((_, here), there)| here != there);
            let first = first.unwrap_or(story.len() - 1);
            let begin = story[..=first]
                .iter()
                .rposition(|line| line.starts_with("new"));
            let ((line, here), there) = rows.clone().nth(first).unwrap();
            panic!(
                "{name}, seed {seed}, line {} of the story {:?}: at {line:?} this crate says {here:?}, the kernel {there:?}",
                first - begin.unwrap_or(0),
                story[begin.unwrap_or(0)],
            );
        }
    }
}

/// Headers of a segment, arbitrary within their fields, and what this crate makes of them.
fn headers(random: &mut Random) -> (String, String) {
    let options = 4 * random.below(11) as usize;
    let ip_options = if random.one_in(6) { 4 } else { 0 };
    let payload = random.below(3) as u32 * 700;
    let fragment = random.one_in(8);
    let mut ip = vec![0; 20 + ip_options];
    let whole = (ip.len() + 20 + options) as u32 + payload;
    ip[0] = 0x40 | (ip.len() / 4) as u8;
    ip[2..4].copy_from_slice(&(whole as u16).to_be_bytes());
    ip[6] = if fragment { 0x20 } else { 0x40 };
    ip[9] = 6;
    let mut fill = |bytes: &mut [u8]| {
        bytes
            .iter_mut()
            .for_each(|byte| *byte = random.next() as u8);
    };
    fill(&mut ip[12..20]);
    let mut tcp = vec![0; 20 + options];
    fill(&mut tcp[..12]);
    tcp[12] = ((tcp.len() / 4) as u8) << 4;
    // Seldom more flags than ACK and PSH.
    tcp[13] = if random.one_in(3) {
        random.next() as u8
    } else {
        0x18
    };
    for byte in &mut tcp[20..] {
        *byte = [0, 1, 1, 1, 5, 8, 10, 10][random.below(8) as usize];
    }
    if options >= 12 && !random.one_in(3) {
        tcp[20..24].copy_from_slice(&[1, 1, 8, 10]);
    }
    let (seq, mut facts) = tcp_header(&tcp).unwrap();
    facts.payload_len = payload;
    facts.fragment = fragment;
    facts.ip_options = ip_options > 0;
    let port = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
    let address = |at: usize| [ip[at], ip[at + 1], ip[at + 2], ip[at + 3]];
    let flow = Flow(FourTuple::v4(address(12), port(0), address(16), port(2)));
    let letter = KINDS
        .iter()
        .find(|(_, kind)| *kind == facts.kind())
        .unwrap()
        .0;
    let hex = ip
        .iter()
        .chain(&tcp)
        .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    // Frames are padded to 60 bytes.
    let line = format!("c 4 {} {hex}\n", whole.max(46));
    (
        line,
        format!("{letter} {seq} {payload} {:016x}\n", flow.hash64(7)),
    )
}

#[test]
fn the_kernel_classifies_as_this_crate_does() {
    let Some(sources) = sources() else { return };
    let folder = tempfile();
    let program = compile(&sources, "story", &folder.0);
    let mut random = Random(1);
    let (lines, expected): (Vec<String>, Vec<String>) =
        (0..4000).map(|_| headers(&mut random)).unzip();
    let got = ask(&program, &lines.concat());
    for ((line, expected), got) in lines.iter().zip(&expected).zip(got.lines()) {
        assert_eq!(expected.trim(), got, "{line}");
    }
    assert_eq!(got.lines().count(), lines.len());
    // What is cut or is not TCP belongs to no flow.
    for line in ["c 4 40 45", "c 4 0 ", "c 6 60 60", "c 4 40 4600"] {
        assert_eq!(ask(&program, &format!("{line}\n")), "-\n");
    }
}

#[test]
fn arbitrary_bytes_break_nothing_in_the_kernel_s_sorters() {
    let Some(sources) = sources() else { return };
    let folder = tempfile();
    let program = compile(&sources, "fuzz", &folder.0);
    let output = Command::new(program).args(["1", "20000"]).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A folder that is removed when it is dropped.
struct Folder(PathBuf);

fn tempfile() -> Folder {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("inorder-kernel-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir(&folder).unwrap();
    Folder(folder)
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
