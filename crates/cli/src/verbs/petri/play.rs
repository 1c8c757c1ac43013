//! The token game in a terminal.

use std::io::{self, BufRead, Write};
use std::sync::atomic::Ordering;

use inorder_petri::game::{Game, Way};
use inorder_petri::net::{Net, TransitionId};

use crate::error::CliError;
use crate::interrupt;

const HELP: &str = "\
a number or a name fires that transition; Enter lets chance choose, + N does so N times; \
b goes back, b N so many steps; ? shows this; q ends";

/// Maximum number of steps of one command.
const MAX_STEPS: u32 = 1_000_000;

/// What a line asks for.
#[derive(Debug, PartialEq)]
enum Move {
    Fire(Way),
    Chance(u32),
    Back(u32),
    Help,
    End,
}

/// Plays until the input ends, `q`, or Ctrl-C.
pub(super) fn run(
    mut game: Game<'_>,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let stop = interrupt::flag();
    writeln!(out, "{HELP}")?;
    let mut line = String::new();
    while !stop.load(Ordering::Relaxed) {
        let ways = game.ways().map_err(io::Error::other)?;
        show(&game, &ways, out)?;
        line.clear();
        let length = input.read_line(&mut line).or_else(|error| {
            // Ctrl-C interrupts the wait for a line.
            match error.kind() {
                io::ErrorKind::Interrupted => Ok(0),
                _ => Err(error),
            }
        })?;
        if length == 0 {
            break;
        }
        match parse(&line, game.net(), &ways) {
            Ok(Move::End) => break,
            Ok(Move::Help) => writeln!(out, "{HELP}")?,
            Ok(asked) => play(&mut game, asked, out)?,
            Err(problem) => writeln!(out, "{problem}")?,
        }
    }
    Ok(())
}

fn show(game: &Game<'_>, ways: &[Way], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nstep {}: {}", game.steps(), game.words())?;
    if ways.is_empty() {
        writeln!(out, "  no transition is enabled")?;
    }
    for (number, way) in (1..).zip(ways) {
        let same = |other: &&Way| other.transition() == way.transition();
        let name = &game.net().transitions[way.transition().0].name;
        // Several ways of one transition differ in what follows.
        match ways.iter().filter(same).count() {
            1 => writeln!(out, "  {number} {name}")?,
            _ => writeln!(out, "  {number} {name}: {}", game.words_after(way))?,
        }
    }
    write!(out, "> ")?;
    out.flush()
}

fn parse(line: &str, net: &Net, ways: &[Way]) -> Result<Move, String> {
    let line = line.trim();
    let count = |rest: &str| match rest.trim() {
        "" => Ok(1),
        number => match number.parse() {
            Ok(steps) if (1..=MAX_STEPS).contains(&steps) => Ok(steps),
            _ => Err(format!(
                "expected a number of steps from 1 to {MAX_STEPS}, found {number}"
            )),
        },
    };
    // A name comes first, so that transitions called b or q can be fired.
    if let Some(transition) = net.transition_named(line) {
        let own = |way: &&Way| way.transition() == transition;
        let mut own = ways.iter().filter(own);
        return match (own.next(), own.next()) {
            (Some(way), None) => Ok(Move::Fire(way.clone())),
            (Some(_), Some(_)) => Err(format!("{line} is enabled in several ways: give a number")),
            (None, _) => Err(format!("{line} is not enabled")),
        };
    }
    match line.chars().next() {
        None => return Ok(Move::Chance(1)),
        Some('+') => return Ok(Move::Chance(count(&line[1..])?)),
        Some('b') if line[1..].trim().parse::<u32>().is_ok() || line == "b" => {
            return Ok(Move::Back(count(&line[1..])?));
        }
        Some('?') => return Ok(Move::Help),
        Some('q') if line == "q" => return Ok(Move::End),
        Some(_) => {}
    }
    let number = line.parse().ok().and_then(|n: usize| n.checked_sub(1));
    match number.and_then(|n| ways.get(n)) {
        Some(way) => Ok(Move::Fire(way.clone())),
        None => Err(format!(
            "expected a number or name of an enabled transition, +, b, ? or q, found {line}"
        )),
    }
}

fn play(game: &mut Game<'_>, asked: Move, out: &mut dyn Write) -> io::Result<()> {
    let mut told = |game: &Game<'_>, action: &str, transition: TransitionId| {
        writeln!(
            out,
            "{action} {}",
            game.net().transitions[transition.0].name
        )
    };
    match asked {
        Move::Fire(way) => {
            let transition = game.go(way);
            told(game, "fired", transition)
        }
        Move::Chance(steps) => {
            for _ in 0..steps {
                let Some(transition) = game.fire_by_chance() else {
                    return Ok(());
                };
                told(game, "fired", transition)?;
            }
            Ok(())
        }
        Move::Back(steps) => {
            for _ in 0..steps {
                let Some(transition) = game.back() else {
                    return Ok(());
                };
                told(game, "took back", transition)?;
            }
            Ok(())
        }
        Move::Help | Move::End => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NET: &str = "place free 2\nplace held\n\
        transition take exponential rate 1\n in free\n out held\n\
        transition b exponential rate 1\n in held\n out free\n";

    fn played(lines: &str) -> String {
        let net = inorder_petri::text::read("play.net", NET).unwrap();
        let mut out = Vec::new();
        run(Game::new(&net, 1), &mut lines.as_bytes(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn transitions_fire_by_number_name_and_chance_and_back() {
        let out = played("1\ntake\nb\nb 2\n+ 3\n\nq\nnever read\n");
        let told: Vec<&str> = out
            .lines()
            .filter_map(|line| line.strip_prefix("> ").or(Some(line)))
            .filter(|line| line.starts_with("fired") || line.starts_with("took back"))
            .collect();
        assert_eq!(
            told[..5],
            [
                "fired take",
                "fired take",
                "fired b",
                "took back b",
                "took back take"
            ]
        );
        assert_eq!(told.len(), 9, "{out}");
        assert!(out.contains("step 2: held 2\n  1 b\n"), "{out}");
        assert!(!out.contains("never read"));
    }

    #[test]
    fn what_is_not_a_move_is_told_and_changes_nothing() {
        let out = played("7\nzzz\n+ x\nb\n");
        for problem in [
            "expected a number or name of an enabled transition, +, b, ? or q, found 7",
            "found zzz",
            "expected a number of steps from 1 to 1000000, found x",
            "b is not enabled",
        ] {
            assert!(out.contains(problem), "{problem} is not in {out}");
        }
        assert_eq!(out.matches("step 0: free 2").count(), 5);
    }
}
