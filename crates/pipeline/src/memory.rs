//! How much memory an analysis may take: what the user says, or a part of what the machine has.

/// Part of the machine's memory that an analysis takes if nobody says otherwise.
const PART: usize = 4;
/// An analysis takes no less, bytes: buffers and tables need as much.
const LEAST: usize = 16 << 20;

/// Reads a number of bytes, as in `64M`, `2G`, `1.5GiB` (K, M, G and T are powers of 1,024), or `unlimited`, which is
/// `usize::MAX`.
///
/// ```
/// use inorder_pipeline::memory;
///
/// assert_eq!(memory::parse("64M"), Ok(64 << 20));
/// assert_eq!(memory::parse("1.5GiB"), Ok(3 << 29));
/// assert_eq!(memory::parse("unlimited"), Ok(usize::MAX));
/// assert!(memory::parse("64 apples").is_err() && memory::parse("1K").is_err());
/// ```
///
/// # Errors
///
/// One line that says what was expected.
pub fn parse(text: &str) -> Result<usize, String> {
    if text == "unlimited" {
        return Ok(usize::MAX);
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = unit.strip_suffix('B').unwrap_or(unit);
    let unit = unit.strip_suffix('i').unwrap_or(unit);
    let powers = ["", "K", "M", "G", "T"];
    let power = powers
        .iter()
        .position(|known| known.eq_ignore_ascii_case(unit));
    let bytes =
        power.and_then(|power| Some(number.parse::<f64>().ok()? * 1_024_f64.powi(power as i32)));
    match bytes {
        Some(bytes) if bytes >= LEAST as f64 && bytes < (1_u64 << 60) as f64 => Ok(bytes as usize),
        _ => Err("expected a size of at least 16M, such as 512M or 4G, or `unlimited`".to_owned()),
    }
}

/// The limit for [`Config::memory`](crate::Config::memory): what the user `said`, by default a quarter of the memory of this
/// machine, or of the control group in which this program runs if that has less. `None` sets no limit, for it is not
/// known or not wanted.
pub fn limit(said: Option<usize>) -> Option<usize> {
    let bytes = said.or_else(|| Some((of_machine()? / PART).max(LEAST)));
    bytes.filter(|&bytes| bytes != usize::MAX)
}

/// Bytes of memory that this program can have at most, as Linux says.
fn of_machine() -> Option<usize> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| total_of(&text));
    let groups = read("/proc/self/cgroup").unwrap_or_default();
    let limits = limits_of(&groups)
        .into_iter()
        .filter_map(|path| read(&path));
    let limits = limits.filter_map(|text| text.trim().parse().ok());
    machine.into_iter().chain(limits).min()
}

/// The machine's memory in `/proc/meminfo`, bytes.
fn total_of(text: &str) -> Option<usize> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1_024)
}

/// The files with the limits of the groups named in `/proc/self/cgroup`, and of those around them: cgroups of version 2, and of
/// version 1 where the line names the memory controller.
fn limits_of(groups: &str) -> Vec<String> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => continue,
        };
        let mut path = path.trim_end_matches('/');
        loop {
            files.push(format!("{root}{path}/{file}"));
            match path.rfind('/') {
                Some(slash) => path = &path[..slash],
                None => break,
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_limit_around_the_program_counts() {
        let files = limits_of("0::/a.slice/b.scope\n");
        let expected = ["/a.slice/b.scope", "/a.slice", ""];
        assert_eq!(
            files,
            expected.map(|path| format!("/sys/fs/cgroup{path}/memory.max"))
        );
        let files = limits_of("9:memory:/\n8:cpu:/x\n");
        assert_eq!(files, ["/sys/fs/cgroup/memory/memory.limit_in_bytes"]);
        assert_eq!(total_of("MemFree: 1 kB\n"), None);
        assert_eq!(
            total_of("MemTotal:       2048 kB\nMemFree: 1 kB\n"),
            Some(2 << 20)
        );
    }

    #[test]
    fn without_a_word_it_is_a_part_of_the_memory_that_there_is() {
        assert_eq!(limit(Some(usize::MAX)), None);
        assert_eq!(limit(Some(64 << 20)), Some(64 << 20));
        if let Some(all) = of_machine() {
            assert_eq!(limit(None), Some((all / 4).max(16 << 20)));
        }
    }
}
