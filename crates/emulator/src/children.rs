//! Processes in hosts, of which none outlives the emulation.
//!
//! They are started in a PID namespace whose first process waits on a pipe. When the emulation ends, however it
//! ends, its end of the pipe closes, the first process ends, and the kernel kills everything in its namespace:
//! children, their children, and what has detached itself from them.
//!
//! One thread starts all of them: what it starts is in the PID namespace and in the network namespace that it has
//! entered.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use nix::sched::{CloneFlags, unshare};

use crate::error::Error;
use crate::namespace;

/// The first process: it waits for the end of its standard input, and everywhere there is one.
const FIRST: &str = "cat";

struct Job {
    namespace: Arc<OwnedFd>,
    command: Command,
    answer: Sender<io::Result<Child>>,
}

/// The thread that starts processes. When it is dropped, all of them are killed.
#[derive(Debug)]
pub(crate) struct Children {
    jobs: Option<Sender<Option<Job>>>,
    thread: Option<JoinHandle<()>>,
}

/// Where commands are sent to be started.
#[derive(Clone, Debug)]
pub(crate) struct Starter {
    jobs: Sender<Option<Job>>,
}

impl Children {
    /// Makes the PID namespace and its first process.
    ///
    /// # Errors
    /// [`Error::Rights`], [`Error::System`].
    pub(crate) fn start() -> Result<Children, Error> {
        let (jobs, incoming) = channel();
        let (ready, is_ready) = channel();
        let thread = thread::Builder::new()
            .name("children".to_owned())
            .spawn(move || match first() {
                Ok(first) => {
                    let _ = ready.send(Ok(()));
                    serve(first, &incoming);
                }
                Err(error) => {
                    let _ = ready.send(Err(error));
                }
            })
            .map_err(Error::system("starting a thread"))?;
        let children = Children { jobs: Some(jobs), thread: Some(thread) };
        match is_ready.recv() {
            Ok(Ok(())) => Ok(children),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::system("starting a thread")(io::Error::other("it ended"))),
        }
    }

    pub(crate) fn starter(&self) -> Option<Starter> {
        self.jobs.clone().map(|jobs| Starter { jobs })
    }
}

/// Enters a new PID namespace for children, and starts its first process.
fn first() -> Result<Child, Error> {
    unshare(CloneFlags::CLONE_NEWPID).map_err(|error| Error::Rights { source: error.into() })?;
    Command::new(FIRST)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(Error::system("starting `cat`"))
}

/// Starts processes until there is a job of nothing, or nobody who could send one.
fn serve(mut first: Child, jobs: &Receiver<Option<Job>>) {
    while let Ok(Some(Job { namespace, mut command, answer })) = jobs.recv() {
        let started = namespace::enter(&namespace).and_then(|()| command.spawn());
        let _ = answer.send(started);
    }
    drop(first.stdin.take());
    // It has ended when all others have.
    let _ = first.wait();
}

impl Starter {
    /// Starts a command in a network namespace.
    pub(crate) fn spawn(&self, namespace: &Arc<OwnedFd>, command: Command) -> io::Result<Child> {
        let (answer, started) = channel();
        let ended = || io::Error::other("the emulation has ended");
        let job = Job { namespace: Arc::clone(namespace), command, answer };
        self.jobs.send(Some(job)).map_err(|_| ended())?;
        started.recv().map_err(|_| ended())?
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        // Hosts may outlive the emulation, so that their starters keep the channel open.
        if let Some(jobs) = self.jobs.take() {
            let _ = jobs.send(None);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
