//! The inputs of a stream: a thread for each reads units and hands them to its layer.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use layercast_core::Always as _;
use layercast_core::units::Time;
use layercast_delivery::stream::{LONGEST_UNIT, LayerSource, Units};

use super::StreamLayerSent;
use crate::error::Error;
use crate::host::Clock;

/// The interval of checks of a reader that waits for room.
const TICK: Duration = Duration::from_millis(200);

/// Where the data of a layer comes from.
pub enum StreamInput {
    /// Standard input.
    Standard,
    /// A file, or a named pipe, which is opened when somebody writes to it.
    Path(PathBuf),
    /// The program itself. A thread of its own reads it, which may wait for data.
    Reader(Box<dyn Read + Send>),
}

impl fmt::Debug for StreamInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StreamInput").field(&self.path()).finish()
    }
}

impl StreamInput {
    fn path(&self) -> &Path {
        match self {
            StreamInput::Standard => Path::new("-"),
            StreamInput::Path(path) => path,
            StreamInput::Reader(_) => Path::new("the program"),
        }
    }

    fn open(self) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            StreamInput::Standard => Box::new(io::stdin()),
            StreamInput::Path(path) => Box::new(File::open(path)?),
            StreamInput::Reader(reader) => reader,
        })
    }
}

/// A layer, and why its input cannot be read.
struct Shared {
    state: Mutex<(LayerSource, Option<Error>)>,
    room: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, (LayerSource, Option<Error>)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for room and adds a unit. False if the session is over.
    fn push(&self, unit: &[u8], clock: Clock, closed: &AtomicBool) -> bool {
        let mut state = self.lock();
        while state.0.is_full() {
            if closed.load(Ordering::Relaxed) {
                return false;
            }
            let waited = self.room.wait_timeout(state, TICK);
            state = waited.map_or_else(|error| error.into_inner().0, |(state, _)| state);
        }
        state.0.push(clock.now(), unit);
        true
    }
}

/// An input that is being read.
pub(super) struct Reader {
    shared: Arc<Shared>,
}

impl Reader {
    /// Starts to read. The thread ends with its input, or when `closed` is set and it has something to hand over.
    pub(super) fn start(
        input: StreamInput,
        layer: LayerSource,
        units: Units,
        clock: Clock,
        closed: Arc<AtomicBool>,
    ) -> Result<Reader, Error> {
        let path = input.path().to_owned();
        let failed = |error| Error::file("read", &path, error);
        if matches!(input, StreamInput::Path(_)) && fs::metadata(&path).map_err(failed)?.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let shared = Arc::new(Shared { state: Mutex::new((layer, None)), room: Condvar::new() });
        let own = Arc::clone(&shared);
        let run = move || {
            let mut push = |unit: &[u8]| own.push(unit, clock, &closed);
            let read = input.open().and_then(|from| read_units(from, units, &mut push));
            let mut state = own.lock();
            state.0.finish();
            state.1 = read.err().map(|error| Error::file("read units from", &path, error));
        };
        let started = thread::Builder::new().name("input".to_owned()).spawn(run);
        started.map_err(|error| Error::file("start a thread for", Path::new("input"), error))?;
        Ok(Reader { shared })
    }

    /// Writes the payload of the layer's next packet.
    pub(super) fn next(&self, now: Time, room: &mut [u8]) -> usize {
        let mut state = self.shared.lock();
        let length = state.0.next(now, room);
        if !state.0.is_full() {
            self.shared.room.notify_one();
        }
        length
    }

    /// Drops what the layer's next packet would carry.
    pub(super) fn drop_next(&self, now: Time, room: &mut [u8]) {
        let mut state = self.shared.lock();
        state.0.drop_next(now, room);
        if !state.0.is_full() {
            self.shared.room.notify_one();
        }
    }

    /// Writes the payload of a packet that says that the stream has ended.
    pub(super) fn end(&self, now: Time, room: &mut [u8]) -> usize {
        self.shared.lock().0.end(now, room)
    }

    /// Why the input could not be read on.
    pub(super) fn failure(&self) -> Option<Error> {
        self.shared.lock().1.take()
    }

    /// Whether the input has ended and all is sent.
    pub(super) fn is_done(&self) -> bool {
        self.shared.lock().0.is_done()
    }

    pub(super) fn progress(&self) -> StreamLayerSent {
        let state = self.shared.lock();
        StreamLayerSent { input: state.0.input(), sent: state.0.counters() }
    }
}

/// Reads units until the end, or until `each` returns false.
fn read_units(mut from: impl Read, units: Units, each: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut unit = Vec::new();
    loop {
        let (length, may_be_short) = match units {
            Units::Fixed(length) => (length as usize, true),
            Units::Length => {
                let mut prefix = [0; 4];
                match fill(&mut from, &mut prefix)? {
                    0 => return Ok(()),
                    4 => (u32::from_be_bytes(prefix) as usize, false),
                    _ => return Err(cut()),
                }
            }
        };
        if length > LONGEST_UNIT {
            let text = format!(
                "a unit of {length} bytes, and at most {LONGEST_UNIT} are possible: is each unit preceded by its length in 32 bits?"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        unit.resize(length, 0);
        let read = fill(&mut from, &mut unit)?;
        if read < length && !may_be_short {
            return Err(cut());
        }
        let is_last = read < length;
        if (read > 0 || !may_be_short) && !each(unit.get(..read).always("no more was read than fits"))
            || is_last
        {
            return Ok(());
        }
    }
}

fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it ends within a unit")
}

/// Fills `room` as far as the input goes.
fn fill(from: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while let Some(rest) = room.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(bytes: &[u8], units: Units) -> (Vec<Vec<u8>>, Option<String>) {
        let mut found = Vec::new();
        let read = read_units(bytes, units, &mut |unit| {
            found.push(unit.to_vec());
            true
        });
        (found, read.err().map(|error| error.to_string()))
    }

    #[test]
    fn inputs_are_divided_by_length_or_by_their_own_prefixes() {
        let (found, error) = units(b"abcdefgh", Units::Fixed(3));
        assert_eq!((found, error), (vec![b"abc".to_vec(), b"def".to_vec(), b"gh".to_vec()], None));
        assert_eq!(units(b"abcdef", Units::Fixed(3)).0.len(), 2);
        assert_eq!(units(b"", Units::Fixed(3)), (Vec::new(), None));
        let (found, error) = units(b"\0\0\0\x02ab\0\0\0\0\0\0\0\x01c", Units::Length);
        assert_eq!((found, error), (vec![b"ab".to_vec(), Vec::new(), b"c".to_vec()], None));
        for cut in [&b"\0\0\0\x02a"[..], b"\0\0"] {
            assert_eq!(units(cut, Units::Length), (Vec::new(), Some("it ends within a unit".to_owned())));
        }
        let (found, error) = units(b"\xff\0\0\x02abc", Units::Length);
        assert!(found.is_empty() && error.is_some_and(|text| text.contains("preceded by its length")));
    }
}
