//! What the kernel must have, found before anything is loaded.

use std::fs;
use std::path::Path;

use crate::Error;

/// The first kernel whose `cong_control` has the arguments that the programs take.
const OLDEST: (u32, u32) = (6, 10);
const BTF: &str = "/sys/kernel/btf/vmlinux";

/// Whether this kernel and this process can load controllers.
pub(super) fn check() -> Result<(), Error> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    if version(&release).is_some_and(|version| version < OLDEST) {
        return Err(Error::Kernel(format!(
            "it is Linux {}, and they need {}.{} or newer",
            release.trim(),
            OLDEST.0,
            OLDEST.1
        )));
    }
    if !Path::new(BTF).exists() {
        return Err(Error::Kernel(format!(
            "{BTF} is not there: it was built without CONFIG_DEBUG_INFO_BTF; use a \
             distribution's kernel"
        )));
    }
    Ok(())
}

/// What a failure to load says about the process or the kernel, if anything.
pub(super) fn explain(problem: Error) -> Error {
    let Error::Refused(text) = &problem else {
        return problem;
    };
    if text.contains("Operation not permitted")
        || text.contains("Permission denied (os error 13)") && !is_root()
    {
        return Error::Privileges;
    }
    if text.contains("tcp_congestion_ops") && text.contains("not found") {
        return Error::Kernel(
            "it knows no TCP congestion control in BPF: it was built without CONFIG_BPF_JIT or \
             CONFIG_BPF_SYSCALL; use a distribution's kernel"
                .to_owned(),
        );
    }
    problem
}

fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let uid = status.lines().find(|line| line.starts_with("Uid:"));
    uid.and_then(|line| line.split_whitespace().nth(2)) == Some("0")
}

/// The numbers that `6.18.44-amd64` begins with.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_of_distributions_have_versions() {
        assert_eq!(version("6.18.44-fc-v669\n"), Some((6, 18)));
        assert_eq!(version("6.1.0-28-amd64"), Some((6, 1)));
        assert!(version("6.9.3").unwrap() < OLDEST);
        assert_eq!(version("unknown"), None);
    }
}
