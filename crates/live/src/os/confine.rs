//! Confines the process to the system calls that the loop needs once the interfaces are open (seccomp(2)).
//!
//! An error in this program could then be used to send and receive on the open sockets and to write to the terminal, but
//! not to open files, to connect to anything, or to start programs.

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
    /// Nothing is confined.
    Off,
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

/// Confines all threads of the process. Must be called when all of them have been started: a thread cannot be made later.
///
/// # Errors
/// If the kernel refuses, or on a processor whose calls are not known.
#[cfg(target_os = "linux")]
pub fn confine(how: Confinement) -> Result<(), LiveError> {
    match how {
        Confinement::Off => Ok(()),
        how => imp::confine(how).map_err(|problem| {
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
    pub(super) fn confine(_: super::Confinement) -> Result<(), String> {
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

    use super::Confinement;

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
        // The terminal, and the answers to Prometheus.
        libc::SYS_write,
        libc::SYS_accept4,
        libc::SYS_recvfrom,
        libc::SYS_sendto,
        libc::SYS_close,
        // Time; most processors read it without a call.
        libc::SYS_clock_gettime,
        libc::SYS_gettimeofday,
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
        libc::SYS_tgkill,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ];

    /// Calls that are allowed if an argument has one of these values: the call, the argument's place, the values.
    const WITH: &[(libc::c_long, u8, &[u64])] = &[
        // Names of memory (the allocator) and of threads.
        (
            libc::SYS_prctl,
            0,
            &[libc::PR_SET_VMA as u64, libc::PR_SET_NAME as u64],
        ),
        // Builds with checks look whether a descriptor is open before it is closed.
        (libc::SYS_fcntl, 1, &[libc::F_GETFD as u64]),
        // Is it a terminal, and how large? The type of these constants depends on the C library.
        (
            libc::SYS_ioctl,
            1,
            &[libc::TCGETS as _, libc::TIOCGWINSZ as _],
        ),
        // How long an answer to Prometheus may take.
        (
            libc::SYS_setsockopt,
            2,
            &[libc::SO_RCVTIMEO as u64, libc::SO_SNDTIMEO as u64],
        ),
    ];

    /// Calls that take memory: allowed unless it is to be executed. The place of the argument is 2 in both.
    const MEMORY: &[libc::c_long] = &[libc::SYS_mmap, libc::SYS_mprotect];

    pub(super) fn confine(how: Confinement) -> Result<(), String> {
        if how == Confinement::Refuse {
            name_refused_calls()?;
        }
        let program = program(how).map_err(|error| error.to_string())?;
        apply_filter_all_threads(&program).map_err(|error| error.to_string())
    }

    fn program(how: Confinement) -> Result<BpfProgram, Error> {
        let rule = |place, operation, value| -> Result<SeccompRule, Error> {
            let argument = SeccompCmpArgLen::Dword;
            let condition = SeccompCondition::new(place, argument, operation, value)?;
            Ok(SeccompRule::new(vec![condition])?)
        };
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
            ALLOWED.iter().map(|&call| (call, Vec::new())).collect();
        for &(call, place, values) in WITH {
            let values = values.iter();
            let all: Result<_, Error> = values
                .map(|&value| rule(place, SeccompCmpOp::Eq, value))
                .collect();
            rules.insert(call, all?);
        }
        let executable = libc::PROT_EXEC as u64;
        for &call in MEMORY {
            rules.insert(call, vec![rule(2, SeccompCmpOp::MaskedEq(executable), 0)?]);
        }
        let otherwise = match how {
            Confinement::Log => SeccompAction::Log,
            _ => SeccompAction::Trap,
        };
        let processor = std::env::consts::ARCH.try_into()?;
        let filter = SeccompFilter::new(rules, otherwise, SeccompAction::Allow, processor)?;
        Ok(filter.try_into()?)
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
        fn confined(act: fn()) -> (i32, String) {
            let (mut reader, writer) = std::io::pipe().unwrap();
            // SAFETY: the child has one thread, and ends with _exit.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: both descriptors are open.
                unsafe { libc::dup2(writer.as_raw_fd(), 2) };
                let done = confine(Confinement::Refuse);
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
            let (code, text) = confined(|| {
                let held: Vec<Vec<u8>> = (0..64).map(|n| vec![1; 1 << (n % 22)]).collect();
                std::hint::black_box(held);
                crate::os::clock::wait(&mut [], Some(1));
            });
            assert_eq!((code, text.as_str()), (0, ""));
        }

        #[test]
        fn a_refused_call_is_named() {
            let (code, text) = confined(|| drop(std::fs::File::open("/etc/hostname")));
            assert_eq!(code, 1);
            assert!(text.contains("the system call openat (number "), "{text}");
            assert!(text.ends_with("without this protection\n"), "{text}");
        }

        #[test]
        fn memory_cannot_become_executable() {
            let (code, text) = confined(|| {
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
