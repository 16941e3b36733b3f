//! The outputs of a stream: a thread for each writes, so that a slow reader of one holds up nothing else.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use layercast_delivery::live::LayerOutputs;
use layercast_delivery::stream::Units;

use crate::error::Error;
use crate::notice::Notice;

/// The most bytes that wait for an output: further units are dropped.
const WAITING_MAX: usize = 8 << 20;
/// How long the end waits for what is not written yet.
const FINISH_WITHIN: Duration = Duration::from_secs(2);
/// The interval of checks for it.
const TICK: Duration = Duration::from_millis(5);

/// Where the units of a layer go.
pub enum StreamOutput {
    /// Standard output.
    Standard,
    /// A file that is made, or a named pipe, which is opened when somebody reads it.
    Path(PathBuf),
    /// The program itself. A thread of its own writes, which may wait for room.
    Writer(Box<dyn Write + Send>),
}

impl fmt::Debug for StreamOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StreamOutput").field(&self.path()).finish()
    }
}

impl StreamOutput {
    /// Whether it is standard output.
    pub fn is_standard(&self) -> bool {
        matches!(self, StreamOutput::Standard)
    }

    fn path(&self) -> &Path {
        match self {
            StreamOutput::Standard => Path::new("-"),
            StreamOutput::Path(path) => path,
            StreamOutput::Writer(_) => Path::new("the program"),
        }
    }

    /// Opens what can be opened at once: who named it wrongly should know. A pipe is opened by its thread.
    fn open(self, replaces: bool) -> Result<Option<Box<dyn Write + Send>>, Error> {
        Ok(Some(match self {
            StreamOutput::Standard => Box::new(io::stdout()),
            StreamOutput::Path(path) if is_pipe(&path) => return Ok(None),
            StreamOutput::Path(path) => Box::new(make(&path, replaces)?),
            StreamOutput::Writer(writer) => writer,
        }))
    }
}

/// Where the units of layers go.
#[derive(Debug)]
pub enum StreamOutputs {
    /// To files or pipes of this folder, named `layer-0` and so on.
    Folder(PathBuf),
    /// To these, from the base layer up; what has none is dropped.
    Each(Vec<StreamOutput>),
}

impl StreamOutputs {
    /// Takes the output of a layer. Layers come from the base up, each once.
    fn take(&mut self, layer: u16) -> Option<StreamOutput> {
        match self {
            StreamOutputs::Folder(folder) => Some(StreamOutput::Path(folder.join(format!("layer-{layer}")))),
            StreamOutputs::Each(outputs) => (!outputs.is_empty()).then(|| outputs.remove(0)),
        }
    }
}

#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    /// The session is over.
    is_done: bool,
    /// Why nothing more can be written.
    failure: Option<io::Error>,
    is_closed: bool,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    news: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what comes until the end. Bytes change places with an empty buffer, so nothing is copied twice.
    fn write_all(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            let mut queue = self.lock();
            while queue.bytes.is_empty() && !queue.is_done {
                queue = self.news.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            if queue.bytes.is_empty() {
                return Ok(());
            }
            std::mem::swap(&mut queue.bytes, &mut bytes);
            drop(queue);
            to.write_all(&bytes)?;
            to.flush()?;
            bytes.clear();
        }
    }
}

#[derive(Debug)]
struct Output {
    path: PathBuf,
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
    unwritten: u64,
}

impl Output {
    fn start(to: StreamOutput, replaces: bool) -> Result<Output, Error> {
        let path = to.path().to_owned();
        let opened = to.open(replaces)?;
        let shared = Arc::new(Shared::default());
        let (own, own_path) = (Arc::clone(&shared), path.clone());
        let run = move || {
            let to = opened.map_or_else(
                || {
                    File::options()
                        .write(true)
                        .open(&own_path)
                        .map(|file| Box::new(file) as Box<dyn Write + Send>)
                },
                Ok,
            );
            let written = to.and_then(|mut to| own.write_all(&mut *to));
            let mut queue = own.lock();
            (queue.is_closed, queue.bytes) = (true, Vec::new());
            queue.failure = written.err();
        };
        let thread = thread::Builder::new().name("output".to_owned()).spawn(run);
        let thread = thread.map_err(|error| Error::file("start a thread for", &path, error))?;
        Ok(Output { path, shared, thread, unwritten: 0 })
    }
}

fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
}

/// Makes a file. One that is there is replaced only if that is allowed; a device is written to.
fn make(path: &Path, replaces: bool) -> Result<File, Error> {
    let is_device = fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    let mut options = File::options();
    options.write(true);
    if replaces || is_device {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    options.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Error::FileExists { path: path.to_owned() },
        _ => Error::file("write", path, error),
    })
}

/// The outputs of a session's layers.
#[derive(Debug)]
pub(super) struct Outputs {
    to: StreamOutputs,
    replaces: bool,
    units: Units,
    outputs: Vec<Option<Output>>,
}

impl LayerOutputs for Outputs {
    type Error = Error;

    fn open(&mut self, layers: u16, units: Units) -> Result<(), Error> {
        self.units = units;
        for layer in self.outputs.len() as u16..layers {
            let output =
                self.to.take(layer).map(|output| Output::start(output, self.replaces)).transpose()?;
            self.outputs.push(output);
        }
        Ok(())
    }

    fn write(&mut self, layer: u16, unit: &[u8]) {
        let Some(Some(output)) = self.outputs.get_mut(usize::from(layer)) else { return };
        let mut queue = output.shared.lock();
        if queue.is_closed || queue.bytes.len() + unit.len() > WAITING_MAX {
            output.unwritten += 1;
            return;
        }
        if self.units == Units::Length {
            let length = u32::try_from(unit.len()).unwrap_or(u32::MAX);
            queue.bytes.extend_from_slice(&length.to_be_bytes());
        }
        queue.bytes.extend_from_slice(unit);
        output.shared.news.notify_one();
    }

    fn are_closed(&self) -> bool {
        let mut outputs = self.outputs.iter().flatten().peekable();
        outputs.peek().is_some() && outputs.all(|output| output.shared.lock().is_closed)
    }

    fn may_pass(error: &Error) -> bool {
        error.may_pass()
    }
}

impl Outputs {
    /// None is open.
    pub(super) fn new(to: StreamOutputs, replaces: bool) -> Outputs {
        Outputs { to, replaces, units: Units::Length, outputs: Vec::new() }
    }

    /// Units of each layer that were not written.
    pub(super) fn unwritten(&self) -> impl Iterator<Item = u64> {
        self.outputs.iter().map(|output| output.as_ref().map_or(0, |output| output.unwritten))
    }

    /// Outputs that cannot be written to any more, each once.
    pub(super) fn notices(&self) -> Vec<Notice> {
        let outputs = self.outputs.iter().flatten();
        let failed = outputs.filter_map(|output| {
            let reason = output.shared.lock().failure.take()?.to_string();
            Some(Notice::OutputClosed { path: output.path.clone(), reason })
        });
        failed.collect()
    }

    /// Writes what is left, for a while.
    pub(super) fn finish(self) {
        let outputs: Vec<Output> = self.outputs.into_iter().flatten().collect();
        for output in &outputs {
            output.shared.lock().is_done = true;
            output.shared.news.notify_one();
        }
        let end = Instant::now() + FINISH_WITHIN;
        // A pipe that nobody reads keeps its thread, which ends with the program.
        while Instant::now() < end && outputs.iter().any(|output| !output.thread.is_finished()) {
            thread::sleep(TICK);
        }
    }
}
