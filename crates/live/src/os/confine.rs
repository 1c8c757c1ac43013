//! Confines the process to the system calls that are needed once the interfaces are open (seccomp(2)).
//!
//! An error in this program could then be used to send and receive on the open sockets and to write to the terminal, but
//! not to open files, to connect to anything, to start programs, or to signal other processes.

use std::path::Path;

#[cfg(target_os = "linux")]
use super::LiveError;

/// What happens to a system call that the loop does not need.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Confinement {
    /// The process ends with an error that names the call.
    #[default]
    Refuse,
    /// The call is carried out, and the kernel's log (audit) names it: for finding what is missing in the list.
    Log,
    /// No call is confined.
    Off,
    /// As [`Confinement::Off`], and the user stays: this thread alone gives up its capabilities, because other threads of
    /// the process do other things.
    Thread,
}

/// What is needed beside sockets, the terminal and the clock.
#[derive(Clone, Copy, Default, Debug)]
pub struct Needs<'a> {
    /// Threads are started while it runs.
    pub threads: bool,
    /// Files are written into this folder.
    pub folder: Option<&'a Path>,
}

impl std::str::FromStr for Confinement {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "refuse" => Ok(Confinement::Refuse),
            "log" => Ok(Confinement::Log),
            "off" => Ok(Confinement::Off),
            _ => Err("expected refuse, log or off".to_owned()),
        }
    }
}

/// Confines all threads of the process.
///
/// # Errors
/// If the kernel refuses, or on a processor whose calls are not known.
#[cfg(target_os = "linux")]
pub(super) fn confine(how: Confinement, needs: &Needs<'_>) -> Result<(), LiveError> {
    match how {
        Confinement::Off | Confinement::Thread => Ok(()),
        how => imp::confine(how, needs).map_err(|problem| {
            LiveError::Refused(format!(
                "cannot confine the process to the system calls that it needs: {problem}; `--seccomp off` runs without"
            ))
        }),
    }
}

#[cfg(all(
    target_os = "linux",
    not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    ))
))]
mod imp {
    pub(super) fn confine(_: super::Confinement, _: &super::Needs<'_>) -> Result<(), String> {
        Err("the calls of this system and processor are not known".to_owned())
    }
}

#[cfg(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
))]
mod imp {
    use std::collections::BTreeMap;
    use std::io::Write;
    use std::os::raw::{c_int, c_void};

    use seccompiler::{
        BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
        SeccompFilter, SeccompRule, apply_filter_all_threads,
    };
    use syscalls::Sysno;

    use super::{Confinement, Needs};

    /// Calls that are allowed with any arguments.
    const ALLOWED: &[libc::c_long] = &[
        // Frames, and what the kernel counted.
        libc::SYS_ppoll,
        libc::SYS_recvmsg,
        libc::SYS_sendmsg,
        libc::SYS_sendmmsg,
        libc::SYS_getsockopt,
        libc::SYS_writev,
        libc::SYS_read,
        // An interface that came back with another number: sockets that can send frames were made before.
        libc::SYS_bind,
        // The terminal, and the answers to Prometheus.
        libc::SYS_write,
        libc::SYS_accept4,
        libc::SYS_recvfrom,
        libc::SYS_sendto,
        libc::SYS_close,
        // Time; most processors read it without a call. Nobody can set the clock without CAP_SYS_TIME.
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_gettimeofday,
        libc::SYS_adjtimex,
        libc::SYS_clock_adjtime,
        // Memory that is given back, and processors.
        libc::SYS_brk,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_madvise,
        libc::SYS_getcpu,
        libc::SYS_getrandom,
        // Threads that are still beginning, signals, and the end.
        libc::SYS_rseq,
        libc::SYS_set_robust_list,
        libc::SYS_sched_getaffinity,
        libc::SYS_futex,
        libc::SYS_sched_yield,
        libc::SYS_rt_sigreturn,
        libc::SYS_rt_sigprocmask,
        libc::SYS_sigaltstack,
        libc::SYS_restart_syscall,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ];

    /// Further calls where files are written into a folder. The process has the rights of the folder's owner only, and a
    /// flag that would create a file elsewhere is of no more use than there.
    const FILES: &[libc::c_long] = &[
        libc::SYS_openat,
        libc::SYS_statx,
        libc::SYS_newfstatat,
        libc::SYS_fstat,
        libc::SYS_lseek,
        libc::SYS_getcwd,
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        libc::SYS_readlinkat,
        libc::SYS_renameat2,
        libc::SYS_unlinkat,
        libc::SYS_ftruncate,
        libc::SYS_fsync,
    ];
    /// The same on processors that have the older calls.
    #[cfg(target_arch = "x86_64")]
    const OLDER_FILES: &[libc::c_long] = &[
        libc::SYS_open,
        libc::SYS_stat,
        libc::SYS_lstat,
        libc::SYS_chmod,
        libc::SYS_readlink,
        libc::SYS_rename,
        libc::SYS_renameat,
        libc::SYS_unlink,
    ];
    #[cfg(target_arch = "aarch64")]
    const OLDER_FILES: &[libc::c_long] = &[libc::SYS_renameat];
    #[cfg(target_arch = "riscv64")]
    const OLDER_FILES: &[libc::c_long] = &[];

    /// Arguments of a call that must have these values: the places, and the values.
    type Arguments<'a> = &'a [(u8, u64)];

    /// Questions to a terminal: is it one? The C library asks by the first or, from glibc 2.42 on, by the second. The
    /// second number has the size of the structure in it, which is 44 bytes on all these processors.
    const TCGETS2: u64 = 0x802c_542a;

    /// Calls that are allowed with these arguments. The type of the numbers of ioctl(2) depends on the C library.
    const WITH: &[(libc::c_long, Arguments<'_>)] = &[
        // Names of memory (the allocator) and of threads.
        (libc::SYS_prctl, &[(0, libc::PR_SET_VMA as u64)]),
        (libc::SYS_prctl, &[(0, libc::PR_SET_NAME as u64)]),
        // Builds with checks look whether a descriptor is open before it is closed.
        (libc::SYS_fcntl, &[(1, libc::F_GETFD as u64)]),
        (libc::SYS_ioctl, &[(1, libc::TCGETS as _)]),
        (libc::SYS_ioctl, &[(1, TCGETS2)]),
        (libc::SYS_ioctl, &[(1, libc::TIOCGWINSZ as _)]),
        // Answers to Prometheus do not wait for those who are slow.
        (libc::SYS_ioctl, &[(1, libc::FIONBIO as _)]),
        // Is the interface there, and which number has it?
        (libc::SYS_ioctl, &[(1, libc::SIOCGIFINDEX as _)]),
        (libc::SYS_ioctl, &[(1, libc::SIOCGIFFLAGS as _)]),
        // All frames of an interface that came back.
        (
            libc::SYS_setsockopt,
            &[
                (1, libc::SOL_PACKET as u64),
                (2, libc::PACKET_ADD_MEMBERSHIP as u64),
            ],
        ),
    ];

    /// Calls that take memory: allowed unless it is to be executed. The place of the argument is 2 in both.
    const MEMORY: &[libc::c_long] = &[libc::SYS_mmap, libc::SYS_mprotect];

    pub(super) fn confine(how: Confinement, needs: &Needs<'_>) -> Result<(), String> {
        if how == Confinement::Refuse {
            name_refused_calls()?;
        }
        let told = |error: Error| error.to_string();
        let apply =
            |program: BpfProgram| apply_filter_all_threads(&program).map_err(|e| e.to_string());
        if needs.threads {
            apply(older_threads().map_err(told)?)?;
        }
        apply(program(how, needs).map_err(told)?)
    }

    fn condition(
        place: u8,
        operation: SeccompCmpOp,
        value: u64,
    ) -> Result<SeccompCondition, Error> {
        Ok(SeccompCondition::new(
            place,
            SeccompCmpArgLen::Dword,
            operation,
            value,
        )?)
    }

    fn filter(
        rules: BTreeMap<i64, Vec<SeccompRule>>,
        otherwise: SeccompAction,
        matching: SeccompAction,
    ) -> Result<BpfProgram, Error> {
        let processor = std::env::consts::ARCH.try_into()?;
        Ok(SeccompFilter::new(rules, otherwise, matching, processor)?.try_into()?)
    }

    /// The arguments of clone3 are in memory, where they cannot be checked: as if the kernel did not know it, so that the C
    /// library takes clone instead.
    fn older_threads() -> Result<BpfProgram, Error> {
        let rules = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
        let unknown = SeccompAction::Errno(libc::ENOSYS as u32);
        filter(rules, SeccompAction::Allow, unknown)
    }

    fn program(how: Confinement, needs: &Needs<'_>) -> Result<BpfProgram, Error> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
            ALLOWED.iter().map(|&call| (call, Vec::new())).collect();
        if needs.folder.is_some() {
            let files = FILES.iter().chain(OLDER_FILES);
            rules.extend(files.map(|&call| (call, Vec::new())));
        }
        let mut allow = |call, conditions| -> Result<(), Error> {
            let rule = SeccompRule::new(conditions)?;
            rules.entry(call).or_default().push(rule);
            Ok(())
        };
        for &(call, arguments) in WITH {
            let equal = |&(place, value)| condition(place, SeccompCmpOp::Eq, value);
            let conditions: Result<Vec<_>, Error> = arguments.iter().map(equal).collect();
            allow(call, conditions?)?;
        }
        let executable = SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64);
        for &call in MEMORY {
            allow(call, vec![condition(2, executable.clone(), 0)?])?;
        }
        // Signals to this process only: abort(3), and pthread_kill(3).
        let own = u64::from(std::process::id());
        allow(libc::SYS_tgkill, vec![condition(0, SeccompCmpOp::Eq, own)?])?;
        if needs.threads {
            // The other filter comes first, and says what becomes of this one.
            rules.insert(libc::SYS_clone3, Vec::new());
            let thread = libc::CLONE_THREAD as u64;
            let is_thread = condition(0, SeccompCmpOp::MaskedEq(thread), thread)?;
            rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![is_thread])?]);
        }
        let otherwise = match how {
            Confinement::Log => SeccompAction::Log,
            _ => SeccompAction::Trap,
        };
        filter(rules, otherwise, SeccompAction::Allow)
    }

    /// A refused call becomes a signal (SECCOMP_RET_TRAP), whose handler names the call and ends the process.
    fn name_refused_calls() -> Result<(), String> {
        // SAFETY: all zeros are a valid action.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction =
            refused as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO;
        // SAFETY: `action` is valid for the call, and its handler calls only functions that signal handlers may call.
        match unsafe { libc::sigaction(libc::SIGSYS, &action, std::ptr::null_mut()) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error().to_string()),
        }
    }

    /// Where the number of the call stands in the kernel's `siginfo_t` of SIGSYS on processors with 64 bits: behind three
    /// numbers, padding and the address of the call.
    const NUMBER_AT: usize = 24;

    extern "C" fn refused(_: c_int, information: *mut libc::siginfo_t, _: *mut c_void) {
        // SAFETY: the kernel gives a signal's handler valid information, which is 128 bytes long.
        let number = unsafe { information.cast::<u8>().add(NUMBER_AT).cast::<i32>().read() };
        let known = usize::try_from(number).ok().and_then(Sysno::new);
        let name = known.map_or("unknown", |call| call.name());
        let mut line = [0u8; 256];
        let mut rest = line.as_mut_slice();
        // A line that is cut off is still a line.
        let _ = writeln!(
            rest,
            "inorder: the system call {name} (number {number}) was refused, because nothing should need it after the \
             start; expected a report of this line; `--seccomp off` runs without this protection"
        );
        let left = rest.len();
        // SAFETY: the bytes are valid for their length; _exit ends the process at once.
        unsafe {
            libc::write(2, line.as_ptr().cast(), line.len() - left);
            libc::_exit(1);
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::io::Read;
        use std::os::fd::AsRawFd;

        /// Runs `act` in a child process that is confined; returns how it ended and what it wrote.
        fn confined(needs: &Needs<'_>, act: fn()) -> (i32, String) {
            let (mut reader, writer) = std::io::pipe().unwrap();
            // SAFETY: the child has one thread, and ends with _exit.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: both descriptors are open.
                unsafe { libc::dup2(writer.as_raw_fd(), 2) };
                let done = confine(Confinement::Refuse, needs);
                if done.is_ok() {
                    act();
                }
                // SAFETY: ends the process at once.
                unsafe { libc::_exit(if done.is_ok() { 0 } else { 2 }) };
            }
            drop(writer);
            let (mut text, mut status) = (String::new(), 0);
            reader.read_to_string(&mut text).unwrap();
            // SAFETY: `status` is valid for the call.
            unsafe { libc::waitpid(child, &mut status, 0) };
            (libc::WEXITSTATUS(status), text)
        }

        #[test]
        fn what_the_loop_needs_is_allowed() {
            let (code, text) = confined(&Needs::default(), || {
                let held: Vec<Vec<u8>> = (0..64).map(|n| vec![1; 1 << (n % 22)]).collect();
                std::hint::black_box(held);
                crate::os::clock::wait(&mut [], Some(1));
            });
            assert_eq!((code, text.as_str()), (0, ""));
        }

        /// Newer C libraries ask by another number whether something is a terminal.
        #[test]
        fn a_terminal_may_be_asked_for_both_ways() {
            let (code, text) = confined(&Needs::default(), || {
                let mut room = [0u8; 64];
                let older: u64 = libc::TCGETS as _;
                for number in [older, TCGETS2] {
                    // SAFETY: there is room for either structure.
                    unsafe { libc::ioctl(1, number as _, room.as_mut_ptr()) };
                }
            });
            assert_eq!((code, text.as_str()), (0, ""));
        }

        #[test]
        fn other_processes_are_not_signalled() {
            /// Signal 0 only asks whether the thread exists.
            fn ask(process: libc::pid_t) {
                // SAFETY: the call takes numbers.
                unsafe { libc::syscall(libc::SYS_tgkill, process, process, 0) };
            }
            let (code, text) = confined(&Needs::default(), || {
                // SAFETY: the call takes nothing.
                ask(unsafe { libc::getpid() });
            });
            assert_eq!((code, text.as_str()), (0, ""));
            let (code, text) = confined(&Needs::default(), || {
                ask(1);
            });
            assert!(code == 1 && text.contains("tgkill"), "{code} {text}");
        }

        #[test]
        fn threads_are_started_where_they_are_needed_and_processes_never() {
            let needs = Needs {
                threads: true,
                folder: None,
            };
            let (code, text) = confined(&needs, || {
                std::thread::spawn(|| ()).join().unwrap();
            });
            assert_eq!((code, text.as_str()), (0, ""));
            let (code, text) = confined(&needs, || {
                // SAFETY: the child ends at once.
                unsafe {
                    if libc::fork() == 0 {
                        libc::_exit(0);
                    }
                }
            });
            assert!(code == 1 && text.contains("clone"), "{code} {text}");
        }

        #[test]
        fn a_refused_call_is_named() {
            let (code, text) = confined(&Needs::default(), || {
                drop(std::fs::File::open("/etc/hostname"));
            });
            assert_eq!(code, 1);
            assert!(text.contains("the system call openat (number "), "{text}");
            assert!(text.ends_with("without this protection\n"), "{text}");
        }

        #[test]
        fn memory_cannot_become_executable() {
            let (code, text) = confined(&Needs::default(), || {
                let (protection, kind) = (
                    libc::PROT_READ | libc::PROT_EXEC,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                );
                // SAFETY: a mapping at any address.
                unsafe { libc::mmap(std::ptr::null_mut(), 4096, protection, kind, -1, 0) };
            });
            assert_eq!(code, 1);
            assert!(text.contains("mmap"), "{text}");
        }
    }
}
