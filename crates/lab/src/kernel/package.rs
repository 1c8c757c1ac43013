//! The ready kernel of Debian's package `user-mode-linux`, whose clock is that of the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::plan::Plan;

/// Where the package puts the kernel, and its modules in a folder named after the version.
const EXECUTABLE: &str = "/usr/bin/linux.uml";
const MODULES: &str = "/usr/lib/uml/modules";
/// The list of modules and of those each one needs, in the folder of modules.
const DEPENDENCIES: &str = "modules.dep";
/// The package's kernel keeps too little room for the registers of processors with AMX (`EDITS` mends that in ours).
const TOO_MANY_REGISTERS: &str = "amx_tile";
/// Kinds of module whose name follows from a word of `tc`: disciplines, filters, actions.
const KINDS: [&str; 3] = ["sch", "cls", "act"];

/// The package's kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Package {
    /// The kernel.
    pub executable: PathBuf,
    /// Its version: `6.1.176`.
    pub version: String,
    /// The file of each module, by its name.
    files: BTreeMap<String, PathBuf>,
    /// The names of the modules that each module needs.
    needs: BTreeMap<String, Vec<String>>,
}

impl Package {
    /// The installed package.
    ///
    /// # Errors
    /// Why it cannot be used, in one line.
    pub fn find() -> Result<Self, String> {
        let executable = PathBuf::from(EXECUTABLE);
        if !executable.is_file() {
            return Err(format!(
                "--engine uml-package: there is no {EXECUTABLE}; expected Debian's package (apt-get install user-mode-linux)"
            ));
        }
        let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        if processor
            .split_whitespace()
            .any(|flag| flag == TOO_MANY_REGISTERS)
        {
            return Err(
                "--engine uml-package: the package's kernel does not start on processors with AMX; expected --engine uml, whose kernel does"
                    .to_owned(),
            );
        }
        Package::of(executable, Path::new(MODULES))
    }

    fn of(executable: PathBuf, modules: &Path) -> Result<Self, String> {
        let wrong = |what: String| format!("--engine uml-package: {}: {what}", modules.display());
        let versions = std::fs::read_dir(modules).map_err(|error| wrong(error.to_string()))?;
        let newest = versions
            .flatten()
            .map(|entry| entry.path())
            .filter(|folder| folder.join(DEPENDENCIES).is_file())
            .max_by_key(|folder| {
                folder
                    .file_name()
                    .map(|name| super::numbers(&name.to_string_lossy()))
            });
        let folder =
            newest.ok_or_else(|| wrong(format!("expected a folder with {DEPENDENCIES}")))?;
        let list = std::fs::read_to_string(folder.join(DEPENDENCIES));
        let list = list.map_err(|error| wrong(error.to_string()))?;
        let (mut files, mut needs) = (BTreeMap::new(), BTreeMap::new());
        for (file, needed) in list.lines().filter_map(|line| line.split_once(':')) {
            files.insert(name_of(file), folder.join(file));
            needs.insert(
                name_of(file),
                needed.split_whitespace().map(name_of).collect(),
            );
        }
        let version = folder.file_name().unwrap_or_default();
        Ok(Package {
            executable,
            version: version.to_string_lossy().into_owned(),
            files,
            needs,
        })
    }

    /// The modules for what a plan makes, each after those that it needs. What the kernel has built in is not among them.
    pub fn modules(&self, plan: &Plan) -> Vec<String> {
        let mut ordered = Vec::new();
        let mut seen = BTreeSet::new();
        for name in wanted(plan) {
            self.add(&name, &mut seen, &mut ordered);
        }
        ordered
    }

    /// The file of a module.
    pub fn file(&self, name: &str) -> Option<&Path> {
        self.files.get(name).map(PathBuf::as_path)
    }

    fn add(&self, name: &str, seen: &mut BTreeSet<String>, ordered: &mut Vec<String>) {
        if !self.files.contains_key(name) || !seen.insert(name.to_owned()) {
            return;
        }
        for needed in self.needs.get(name).into_iter().flatten() {
            self.add(needed, seen, ordered);
        }
        ordered.push(name.to_owned());
    }
}

/// Names that modules for a plan would have: of devices, disciplines, filters, actions and congestion controls.
fn wanted(plan: &Plan) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for batch in &plan.batches {
        for word in batch.lines.iter().flat_map(|line| line.split_whitespace()) {
            match batch.program.as_str() {
                "tc" => names.extend(KINDS.map(|kind| format!("{kind}_{word}"))),
                _ => names.extend([word.to_owned()]),
            }
        }
    }
    for group in &plan.groups {
        names.extend(
            [&group.sending, &group.receiving].map(|socket| format!("tcp_{}", socket.congestion)),
        );
    }
    names
}

/// `kernel/net/sched/sch_netem.ko` is `sch_netem`.
fn name_of(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split(".ko").next().unwrap_or(name).replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(list: &str) -> (tempfile::TempDir, Package) {
        let folder = tempfile::tempdir().unwrap();
        for (version, list) in [("6.1.9", ""), ("6.1.176", list)] {
            let modules = folder.path().join(version);
            std::fs::create_dir(&modules).unwrap();
            std::fs::write(modules.join(DEPENDENCIES), list).unwrap();
        }
        let package = Package::of(PathBuf::from("linux"), folder.path()).unwrap();
        (folder, package)
    }

    #[test]
    fn modules_come_after_those_they_need_and_only_what_is_used() {
        let (_folder, package) = package(
            "kernel/net/sched/sch_pie.ko:\nkernel/net/sched/sch_fq_pie.ko: kernel/net/sched/sch_pie.ko\n\
             kernel/net/sched/sch_red.ko:\nkernel/drivers/net/veth.ko:\nkernel/net/ipv4/tcp_bbr.ko:\n",
        );
        assert_eq!(package.version, "6.1.176");
        let mut plan =
            crate::plan::tests::planned("[[flow]]\nsender = { congestion = \"bbr\" }\n").unwrap();
        plan.batches.push(crate::plan::Batch {
            program: "tc".to_owned(),
            namespace: None,
            lines: vec!["qdisc add dev a root fq_pie".to_owned()],
        });
        assert_eq!(
            package.modules(&plan),
            ["sch_pie", "sch_fq_pie", "tcp_bbr", "veth"]
        );
        assert!(
            package
                .file("veth")
                .unwrap()
                .ends_with("6.1.176/kernel/drivers/net/veth.ko")
        );
    }

    #[test]
    fn a_folder_without_modules_is_refused_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let error = Package::of(PathBuf::from("linux"), folder.path()).unwrap_err();
        assert!(
            error.contains("expected a folder with modules.dep"),
            "{error}"
        );
    }
}
