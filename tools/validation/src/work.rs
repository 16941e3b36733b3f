//! Runs many independent jobs in parallel and reports their progress.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

/// How often a section reports its progress.
const STEPS: usize = 10;

/// Runs all jobs on all cores. The results are in the order of the jobs.
///
/// # Errors
/// One of those of the jobs.
pub(crate) fn run_all<J: Sync, R: Send, E: Send>(
    section: &str,
    jobs: &[J],
    run: impl Fn(&J) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let (done, all) = (AtomicUsize::new(0), jobs.len());
    jobs.par_iter()
        .with_max_len(1)
        .map(|job| {
            let result = run(job)?;
            let count = done.fetch_add(1, Ordering::Relaxed) + 1;
            if count * STEPS / all != (count - 1) * STEPS / all {
                eprintln!("{section}: {count} of {all} runs");
            }
            Ok(result)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let jobs: Vec<u32> = (0..100).collect();
        let doubled = run_all("test", &jobs, |job| Ok::<_, ()>(2 * job));
        assert_eq!(doubled, Ok((0..100).map(|job| 2 * job).collect()));
    }

    #[test]
    fn an_error_of_one_is_the_error_of_all() {
        let failed = run_all("test", &[1, 2, 3], |&job| if job == 2 { Err("two") } else { Ok(job) });
        assert_eq!(failed, Err("two"));
    }
}
