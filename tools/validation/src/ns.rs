//! Runs ns-2.

use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

/// The release that the simulator's TCP and queues follow.
pub(crate) const RELEASE: &str = "2.35";

/// The polling interval of a run.
const POLL: Duration = Duration::from_millis(5);

/// Why ns-2 gave no comparable output.
#[derive(Debug, Error)]
pub(crate) enum NsError {
    /// There is no such program.
    #[error("ns-2 is missing; on Debian: apt-get install ns2")]
    Missing,
    /// Another program has this name.
    #[error("`ns` is not ns-2 {RELEASE}: asked for its version it says {said:?}")]
    Other { said: String },
    /// It could not be started, or its output not read.
    #[error("ns {arguments} could not be run: {source}")]
    System { arguments: String, source: io::Error },
    /// It did not terminate.
    #[error("ns {arguments} took longer than {} s and was ended", limit.as_secs())]
    TooLong { arguments: String, limit: Duration },
    /// It terminated with an error.
    #[error("ns {arguments} failed: {said}")]
    Failed { arguments: String, said: String },
    /// It printed unexpected output.
    #[error("ns {arguments} printed {line:?}, which is not a valid {expected}")]
    Output { arguments: String, line: String, expected: &'static str },
}

/// The program and the directory of its scripts.
#[derive(Clone, Debug)]
pub(crate) struct Ns {
    scripts: PathBuf,
    limit: Duration,
}

/// The output of a script, and its run.
#[derive(Debug)]
pub(crate) struct Printed {
    arguments: String,
    pub(crate) text: String,
}

impl Printed {
    /// The error of a line that cannot be parsed.
    pub(crate) fn unreadable(&self, line: &str, expected: &'static str) -> NsError {
        NsError::Output { arguments: self.arguments.clone(), line: line.to_owned(), expected }
    }
}

impl Ns {
    /// Finds ns-2 on `PATH`. No run of a script in `scripts` may take longer than `limit`.
    ///
    /// # Errors
    /// [`NsError::Missing`], [`NsError::Other`].
    pub(crate) fn find(scripts: PathBuf, limit: Duration) -> Result<Ns, NsError> {
        let ns = Ns { scripts, limit };
        let version = match ns.run("version.tcl", &[]) {
            Err(NsError::System { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(NsError::Missing);
            }
            Err(NsError::Failed { said, .. }) => return Err(NsError::Other { said }),
            other => other?.text,
        };
        match version.trim() {
            RELEASE => Ok(ns),
            said => Err(NsError::Other { said: said.to_owned() }),
        }
    }

    /// Runs a script and returns what it printed.
    ///
    /// # Errors
    /// All of [`NsError`] but those of [`Ns::find`] and of reading.
    pub(crate) fn run(&self, script: &str, arguments: &[String]) -> Result<Printed, NsError> {
        let arguments_text = format!("{script} {}", arguments.join(" "));
        let system = |source| NsError::System { arguments: arguments_text.clone(), source };
        let mut child = Command::new("ns")
            .arg(self.scripts.join(script))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(system)?;
        // Both pipes are drained by threads: a full one would block the run.
        let (output, errors) = (drain(child.stdout.take()), drain(child.stderr.take()));
        let ended = wait(&mut child, self.limit).map_err(system)?;
        let (text, said) = (collect(output).map_err(system)?, collect(errors).map_err(system)?);
        match ended {
            None => Err(NsError::TooLong { arguments: arguments_text, limit: self.limit }),
            Some(true) => Ok(Printed { arguments: arguments_text, text }),
            Some(false) => {
                let said = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no reason");
                Err(NsError::Failed { arguments: arguments_text, said: said.to_owned() })
            }
        }
    }
}

/// Whether it succeeded; none if it had to be killed.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<bool>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        if begun.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

type Reader = thread::JoinHandle<io::Result<String>>;

fn drain(pipe: Option<impl Read + Send + 'static>) -> Reader {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes)?;
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    })
}

fn collect(reader: Reader) -> io::Result<String> {
    reader.join().unwrap_or_else(|_| Err(io::Error::other("its output could not be read")))
}
