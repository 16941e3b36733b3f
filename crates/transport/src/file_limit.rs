//! The number of open files.

/// Allows as many open files as this process may have: a receiver has two for each long object that is not complete, a
/// sender one for each package.
pub(crate) fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!(%error, "the number of open files stays limited");
    }
}
