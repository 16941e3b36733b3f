//! A transfer that runs on a thread of its own, and how its owner watches, awaits and ends it.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::future::poll_fn;
use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle};

use layercast_transport::Error;
use layercast_transport::event::Event;

/// The most events that wait for a reader (CHOICE): a folder of a thousand small files that become complete at once.
const WAITING_MAX: usize = 1024;

/// A kind of transfers: [`Sends`](crate::Sends) and [`Receives`](crate::Receives) are those of files,
/// [`StreamSends`](crate::StreamSends) and [`StreamReceives`](crate::StreamReceives) those of live data.
pub trait Kind: Debug + Sized + Send + 'static {
    /// How far it is.
    type Progress: Clone + Debug + Send + 'static;
    /// What came of it.
    type Outcome: Debug + Send + 'static;
    /// When it is to end.
    type Ends: Debug + Send + Sync + 'static;

    /// How far it is, if the event says that.
    fn progress(event: &Event) -> Option<&Self::Progress>;

    /// The share that is done, from 0 to 1; none if it is not known, or there is no end.
    fn share(progress: &Self::Progress, ends: &Self::Ends) -> Option<f64>;
}

/// Whether an event is needless once this later one is there.
fn is_replaced_by(earlier: &Event, later: &Event) -> bool {
    matches!(
        (earlier, later),
        (Event::Hashing { .. }, Event::Hashing { .. })
            | (Event::Progress(_), Event::Progress(_))
            | (Event::Reception(_), Event::Reception(_))
    )
}

/// A transfer in progress. When this is dropped, the transfer is cancelled.
///
/// Its events are an iterator that waits ([`Transfer::events`]), or are awaited ([`Transfer::next_event`]); nobody has to read
/// them. Up to 1024 wait for their reader. Progress that was not read is replaced by newer progress; of the others the oldest are
/// thrown away, and [`Event::Missed`] says how many.
#[derive(Debug)]
pub struct Transfer<K: Kind> {
    shared: Arc<Shared<K>>,
    ends: K::Ends,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared<K: Kind> {
    stop: AtomicBool,
    state: Mutex<State<K>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<K: Kind> {
    waiting: VecDeque<Event>,
    missed: u64,
    progress: Option<K::Progress>,
    is_over: bool,
    outcome: Option<Result<K::Outcome, Error>>,
    wakers: Vec<Waker>,
}

impl<K: Kind> State<K> {
    fn push(&mut self, event: Event) {
        if let Some(progress) = K::progress(&event) {
            self.progress = Some(progress.clone());
        }
        if let Some(at) = self.waiting.iter().position(|earlier| is_replaced_by(earlier, &event)) {
            self.waiting.remove(at);
        }
        if self.waiting.len() == WAITING_MAX {
            self.waiting.pop_front();
            self.missed += 1;
        }
        self.waiting.push_back(event);
    }

    fn next(&mut self) -> Option<Event> {
        match std::mem::take(&mut self.missed) {
            0 => self.waiting.pop_front(),
            missed => Some(Event::Missed { count: missed }),
        }
    }
}

impl<K: Kind> Shared<K> {
    /// A panic while it is held leaves nothing half done.
    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State<K>)) {
        let wakers = {
            let mut state = self.state();
            change(&mut state);
            std::mem::take(&mut state.wakers)
        };
        self.changed.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Waits until there is something.
    fn wait<T>(&self, mut take: impl FnMut(&mut State<K>) -> Option<T>) -> T {
        let mut state = self.state();
        loop {
            if let Some(taken) = take(&mut state) {
                return taken;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// As [`Shared::wait`], for a task.
    fn poll<T>(&self, context: &Context<'_>, take: impl FnOnce(&mut State<K>) -> Option<T>) -> Poll<T> {
        let mut state = self.state();
        if let Some(taken) = take(&mut state) {
            return Poll::Ready(taken);
        }
        if !state.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            state.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }
}

/// Whether there will be no more: also when the transfer has panicked.
struct Over<K: Kind>(Arc<Shared<K>>);

impl<K: Kind> Drop for Over<K> {
    fn drop(&mut self) {
        self.0.change(|state| state.is_over = true);
    }
}

/// The next event, or none after the last; nothing as long as there is neither.
fn next<K: Kind>(state: &mut State<K>) -> Option<Option<Event>> {
    match state.next() {
        None if !state.is_over => None,
        event => Some(event),
    }
}

impl<K: Kind> Transfer<K> {
    /// Starts it. `run` gets the wish to stop, and a function that takes its events.
    pub(crate) fn start(
        name: &str,
        ends: K::Ends,
        run: impl FnOnce(&AtomicBool, &mut dyn FnMut(Event)) -> Result<K::Outcome, Error> + Send + 'static,
    ) -> io::Result<Transfer<K>> {
        let state = State {
            waiting: VecDeque::new(),
            missed: 0,
            progress: None,
            is_over: false,
            outcome: None,
            wakers: Vec::new(),
        };
        let shared =
            Shared { stop: AtomicBool::new(false), state: Mutex::new(state), changed: Condvar::new() };
        let shared = Arc::new(shared);
        let over = Over(Arc::clone(&shared));
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            let shared = &over.0;
            let outcome = run(&shared.stop, &mut |event| shared.change(|state| state.push(event)));
            shared.state().outcome = Some(outcome);
        })?;
        Ok(Transfer { shared, ends, thread: Some(thread) })
    }

    /// The events, in their order, as far as nobody else has read them. The iterator waits for the next event, and ends with the
    /// transfer.
    pub fn events(&self) -> Events<'_, K> {
        Events(self)
    }

    /// The next event, awaited; none after the last one. It needs no particular runtime. A future that is dropped loses no event.
    pub async fn next_event(&self) -> Option<Event> {
        poll_fn(|context| self.poll_event(context)).await
    }

    /// The next event, for a future or stream of one's own: the context's task is woken when there is one, and at the end.
    pub fn poll_event(&self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.shared.poll(context, next)
    }

    /// How far it is; none before it first says so. Some half a second old at most, whether or not events are read.
    pub fn progress(&self) -> Option<K::Progress> {
        self.shared.state().progress.clone()
    }

    /// The share that is done, from 0 to 1: of what is received, or by the end of a sender that is nearest. None as long as that is
    /// not known, and where there is no end.
    pub fn share(&self) -> Option<f64> {
        let progress = self.progress()?;
        // Of an end that is at once nothing is left.
        let bounded = |share: f64| if share.is_nan() { 1.0 } else { share.clamp(0.0, 1.0) };
        K::share(&progress, &self.ends).map(bounded)
    }

    /// Asks it to end. A sender announces the end, and has an outcome then as always; a receiver ends with
    /// [`Error::Interrupted`] or, if another reception can continue, [`Error::Kept`].
    pub fn cancel(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        self.shared.state().is_over
    }

    /// The outcome of a transfer that is over, for the first who asks; none before, and after.
    pub fn try_wait(&self) -> Option<Result<K::Outcome, Error>> {
        self.shared.state().outcome.take()
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// Why it could not start or ended early.
    ///
    /// # Panics
    /// If the transfer has panicked, or [`Transfer::try_wait`] has given the outcome.
    pub fn wait(mut self) -> Result<K::Outcome, Error> {
        self.shared.wait(|state| state.is_over.then_some(()));
        self.outcome()
    }

    /// As [`Transfer::wait`], awaited. Dropping the future cancels the transfer.
    ///
    /// # Errors
    /// As [`Transfer::wait`].
    ///
    /// # Panics
    /// As [`Transfer::wait`].
    pub async fn finished(mut self) -> Result<K::Outcome, Error> {
        poll_fn(|context| self.shared.poll(context, |state| state.is_over.then_some(()))).await;
        self.outcome()
    }

    /// The outcome of one that is over.
    fn outcome(&mut self) -> Result<K::Outcome, Error> {
        match (self.try_wait(), self.thread.take().map(JoinHandle::join)) {
            (Some(outcome), _) => outcome,
            (None, Some(Err(panic))) => resume_unwind(panic),
            (None, _) => panic!("the outcome was taken before"),
        }
    }
}

impl<K: Kind> Drop for Transfer<K> {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// The events of a transfer, of which each is waited for.
#[derive(Debug)]
pub struct Events<'a, K: Kind>(&'a Transfer<K>);

impl<K: Kind> Iterator for Events<'_, K> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        self.0.shared.wait(next)
    }
}

impl<'a, K: Kind> IntoIterator for &'a Transfer<K> {
    type Item = Event;
    type IntoIter = Events<'a, K>;

    fn into_iter(self) -> Events<'a, K> {
        self.events()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use layercast_delivery::reception::ReceptionEvent;
    use layercast_transport::event::{Progress, SendProgress};

    use super::*;

    /// Transfers whose progress is a number of receivers.
    #[derive(Debug)]
    struct Counting;

    impl Kind for Counting {
        type Progress = usize;
        type Outcome = u32;
        type Ends = usize;

        fn progress(event: &Event) -> Option<&usize> {
            if let Event::Progress(Progress::Send(progress)) = event {
                Some(&progress.completions)
            } else {
                None
            }
        }

        fn share(progress: &usize, ends: &usize) -> Option<f64> {
            Some(*progress as f64 / *ends as f64)
        }
    }

    fn progress(completions: usize) -> Event {
        Event::Progress(SendProgress { completions, ..SendProgress::default() }.into())
    }

    fn file(length: u64) -> Event {
        Event::Object(ReceptionEvent::Complete { path: String::new(), length })
    }

    /// An event in short.
    fn shown(event: &Event) -> String {
        match event {
            Event::Progress(Progress::Send(progress)) => format!("progress {}", progress.completions),
            Event::Object(ReceptionEvent::Complete { length, .. }) => format!("file {length}"),
            event => format!("{event:?}"),
        }
    }

    /// Says these, and ends when it may.
    fn saying(events: Vec<Event>) -> (Transfer<Counting>, std::sync::mpsc::Sender<()>, Receiver<()>) {
        let (go, may) = channel();
        let (done, said) = channel();
        let transfer = Transfer::start("test", 10, move |stop, say| {
            events.into_iter().for_each(say);
            done.send(()).unwrap();
            may.recv().unwrap();
            if stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(7) }
        });
        (transfer.unwrap(), go, said)
    }

    #[test]
    fn a_slow_reader_gets_the_newest_progress_and_knows_what_it_missed() {
        let files = WAITING_MAX + 10;
        let events = (0..files).flat_map(|at| [progress(at % 11), file(at as u64)]).collect();
        let (transfer, go, said) = saying(events);
        said.recv().unwrap();
        let last = (files - 1) % 11;
        assert_eq!((transfer.progress(), transfer.share()), (Some(last), Some(last as f64 / 10.0)));
        go.send(()).unwrap();
        let got: Vec<String> = transfer.events().map(|event| shown(&event)).collect();
        assert_eq!(got[0], "Missed { count: 11 }", "the newest progress has a place too");
        assert_eq!(got.len(), WAITING_MAX + 1);
        assert_eq!(got[1], "file 11");
        assert_eq!(got[WAITING_MAX - 1..], [format!("progress {last}"), format!("file {}", files - 1)]);
        assert_eq!(transfer.wait().unwrap(), 7);
    }

    #[test]
    fn a_cancelled_transfer_ends_with_its_own_outcome() {
        let (transfer, go, said) = saying(Vec::new());
        said.recv().unwrap();
        transfer.cancel();
        assert!(!transfer.is_over());
        go.send(()).unwrap();
        assert!(matches!(transfer.wait(), Err(Error::Interrupted)));
    }

    #[test]
    fn two_tasks_await_one_transfer() {
        let (transfer, go, said) = saying(vec![file(1)]);
        said.recv().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            assert_eq!(transfer.next_event().await.as_ref().map(shown).as_deref(), Some("file 1"));
            let ended = async { (transfer.next_event().await, transfer.next_event().await) };
            let (first, second, ()) =
                tokio::join!(ended, transfer.next_event(), async { go.send(()).unwrap() });
            assert!(matches!((first, second), ((None, None), None)));
            assert_eq!(transfer.finished().await.unwrap(), 7);
        });
    }

    #[test]
    #[should_panic(expected = "on its thread")]
    fn a_panic_comes_to_who_waits() {
        let run = |_: &AtomicBool, _: &mut dyn FnMut(Event)| panic!("on its thread");
        let _ = Transfer::<Counting>::start("test", 1, run).unwrap().wait();
    }
}
