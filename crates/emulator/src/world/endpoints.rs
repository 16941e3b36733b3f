//! The processes that run the ends of sessions, and what they report.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration as StdDuration, Instant};

use layercast_core::contract::{Cause, Estimates, TraceEvent};
use layercast_core::units::{Channel, Duration, Level, Rate, RateEstimate};
use layercast_simulator::ReceiverId;
use serde::Deserialize;

use super::WorldOptions;
use crate::emulation::Emulation;
use crate::host::HostId;
use crate::report::{Report, Reports};

/// How long a process may take until its sockets are open.
const PATIENCE: StdDuration = StdDuration::from_secs(30);

/// What a process is of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Source,
    /// By its number in the simulation.
    Receiver(ReceiverId),
    Relay,
}

/// A process to start.
#[derive(Clone, Debug)]
pub(super) struct EndpointPlan {
    /// Its host.
    pub(super) host: HostId,
    /// What it is called in messages: `elm@R1`, `the source of elm`.
    pub(super) name: String,
    /// What it is.
    pub(super) role: Role,
    /// Its session: an index into the scenario's.
    pub(super) session: usize,
    /// Whether the session comes through relays, so that joins and leaves are known by what receivers report.
    pub(super) is_relayed: bool,
    /// What follows the command `endpoint`, or `relay`.
    pub(super) arguments: Vec<String>,
}

impl EndpointPlan {
    fn receiver(&self) -> Option<ReceiverId> {
        match self.role {
            Role::Receiver(id) => Some(id),
            Role::Source | Role::Relay => None,
        }
    }

    fn command(&self) -> &'static str {
        match self.role {
            Role::Relay => "relay",
            Role::Source | Role::Receiver(_) => "endpoint",
        }
    }
}

/// The processes of a replication. When they are dropped, they are ended.
pub(super) struct Endpoints {
    running: Vec<Running>,
    news: Receiver<(usize, News)>,
    /// How many receivers of each session have not completed its object.
    incomplete: Vec<usize>,
}

struct Running {
    plan: EndpointPlan,
    child: Child,
    input: Option<ChildStdin>,
    reader: Option<JoinHandle<()>>,
    /// Whether it may end: it has what it needs, or nobody needs it.
    may_end: bool,
}

/// What concerns the run itself.
enum News {
    Ready,
    Complete,
    /// Its output has ended, and with it the process; the reason, if its output was at fault.
    Ended(Option<String>),
}

/// A line of a process: `layercast_transport::endpoint::Event` as JSON.
#[derive(Debug, Deserialize)]
struct Line {
    event: String,
    from: Option<i32>,
    to: Option<i32>,
    cause: Option<String>,
    channel: Option<u16>,
    rate_bps: Option<Bps>,
    smoothed_bps: Option<Bps>,
    loss: Option<f64>,
    rtt_ns: Option<u64>,
}

/// A rate, or the word for one without bound.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Bps {
    Known(f64),
    #[allow(dead_code, reason = "the only word there is")]
    Word(String),
}

impl Endpoints {
    /// Starts all processes and waits until they are ready.
    ///
    /// # Errors
    /// Which one could not be started, and why.
    pub(super) fn start(
        emulation: &Emulation,
        options: &WorldOptions<'_>,
        plans: Vec<EndpointPlan>,
    ) -> Result<Endpoints, String> {
        let sessions = plans.iter().map(|plan| plan.session + 1).max().unwrap_or(0);
        let mut incomplete = vec![0; sessions];
        for plan in plans.iter().filter(|plan| plan.receiver().is_some()) {
            incomplete[plan.session] += 1;
        }
        let (sender, news) = channel();
        let mut endpoints = Endpoints { running: Vec::new(), news, incomplete };
        for (number, plan) in plans.into_iter().enumerate() {
            endpoints.running.push(start(emulation, options, plan, number, sender.clone())?);
        }
        endpoints.wait_until_ready()?;
        Ok(endpoints)
    }

    fn wait_until_ready(&mut self) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        let mut missing = self.running.len();
        while missing > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.news.recv_timeout(left) {
                Ok((_, News::Ready)) => missing -= 1,
                Ok((_, News::Complete)) => {}
                Ok((number, News::Ended(reason))) => return Err(self.ended(number, reason)),
                Err(_) => {
                    return Err(format!("{missing} endpoints did not start within {} s", PATIENCE.as_secs()));
                }
            }
        }
        Ok(())
    }

    fn ended(&mut self, number: usize, reason: Option<String>) -> String {
        let Some(running) = self.running.get_mut(number) else { return String::new() };
        let status = running.child.wait().map_or(String::new(), |status| format!(" ({status})"));
        let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
        format!("the process of {} ended before the run did{status}{reason}", running.plan.name)
    }

    /// Tells all processes how old the run is.
    ///
    /// # Errors
    /// Which process is gone.
    pub(super) fn begin(&mut self, begun: Instant) -> Result<(), String> {
        for running in &mut self.running {
            let Some(input) = &mut running.input else { continue };
            let age = begun.elapsed().as_nanos();
            writeln!(input, "begin {age}").map_err(|error| format!("{}: {error}", running.plan.name))?;
        }
        Ok(())
    }

    /// Acts on what has come in: a source whose receivers are all complete stops.
    ///
    /// # Errors
    /// Which process ended too early.
    pub(super) fn check(&mut self) -> Result<(), String> {
        while let Ok((number, news)) = self.news.try_recv() {
            match news {
                News::Ready => {}
                News::Complete => self.complete(number),
                News::Ended(reason) => {
                    if self.running.get(number).is_some_and(|running| !running.may_end) {
                        return Err(self.ended(number, reason));
                    }
                }
            }
        }
        Ok(())
    }

    fn complete(&mut self, number: usize) {
        let Some(receiver) = self.running.get_mut(number) else { return };
        receiver.may_end = true;
        let session = receiver.plan.session;
        let Some(incomplete) = self.incomplete.get_mut(session) else { return };
        *incomplete = incomplete.saturating_sub(1);
        if *incomplete > 0 {
            return;
        }
        let is_source =
            |running: &&mut Running| running.plan.session == session && running.plan.role == Role::Source;
        for source in self.running.iter_mut().filter(is_source) {
            source.may_end = true;
            // The end of its input stops it.
            source.input = None;
        }
    }
}

impl Drop for Endpoints {
    fn drop(&mut self) {
        for running in &mut self.running {
            running.input = None;
            // It may have ended already.
            let _ = running.child.kill();
        }
        for running in &mut self.running {
            let _ = running.child.wait();
            if let Some(reader) = running.reader.take() {
                let _ = reader.join();
            }
        }
    }
}

fn start(
    emulation: &Emulation,
    options: &WorldOptions<'_>,
    plan: EndpointPlan,
    number: usize,
    news: Sender<(usize, News)>,
) -> Result<Running, String> {
    let cannot = |error: std::io::Error| format!("the process of {} cannot be started: {error}", plan.name);
    let host = emulation.host(plan.host).ok_or_else(|| format!("{} has no host", plan.name))?;
    let mut command = Command::new(&options.program);
    command.arg(plan.command()).args(&plan.arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = host.spawn(command).map_err(cannot)?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (reports, receiver, is_relayed) = (emulation.reports(), plan.receiver(), plan.is_relayed);
    let reader = std::thread::Builder::new().name("reports".to_owned()).spawn(move || {
        let mut reason = None;
        if let Some(output) = output {
            for line in BufReader::new(output).lines() {
                let read = line.map_err(|error| error.to_string());
                if let Err(error) =
                    read.and_then(|line| take(&line, receiver, is_relayed, &reports, number, &news))
                {
                    reason = Some(error);
                    break;
                }
            }
        }
        // Nobody listens after the end of the run.
        let _ = news.send((number, News::Ended(reason)));
    });
    let reader = reader.map_err(cannot)?;
    Ok(Running { plan, child, input, reader: Some(reader), may_end: false })
}

/// Passes on what a line says.
fn take(
    line: &str,
    receiver: Option<ReceiverId>,
    is_relayed: bool,
    reports: &Reports,
    number: usize,
    news: &Sender<(usize, News)>,
) -> Result<(), String> {
    let line: Line = serde_json::from_str(line).map_err(|error| format!("it wrote `{line}`: {error}"))?;
    // Sends fail when the run is over, and then nobody needs to know.
    match line.event.as_str() {
        "ready" => drop(news.send((number, News::Ready))),
        "complete" => drop(news.send((number, News::Complete))),
        _ => {
            if let Some(report) = receiver.and_then(|id| line.report(id, is_relayed)) {
                let _ = reports.send(report);
            }
        }
    }
    Ok(())
}

impl Line {
    /// What it reports of a receiver; nothing if the simulation learns it otherwise, as joins and leaves without relays.
    fn report(&self, id: ReceiverId, is_relayed: bool) -> Option<Report> {
        let event = match self.event.as_str() {
            "level" => TraceEvent::LevelChanged {
                from: level(self.from?),
                to: level(self.to?),
                cause: cause(self.cause.as_deref()?)?,
            },
            "slow start ended" => TraceEvent::SlowStartEnded { level: Level::NONE },
            "join" if is_relayed => return Some(Report::Join(id, Channel(self.channel?))),
            "leave" if is_relayed => return Some(Report::Leave(id, Channel(self.channel?))),
            "estimates" => return Some(Report::Estimates(id, self.estimates())),
            _ => return None,
        };
        Some(Report::Trace(id, event))
    }

    fn estimates(&self) -> Estimates {
        Estimates {
            rate: rate(self.rate_bps.as_ref()),
            smoothed_rate: rate(self.smoothed_bps.as_ref()),
            loss: self.loss,
            rtt: self.rtt_ns.map(Duration::from_ns),
            ..Estimates::default()
        }
    }
}

fn rate(bps: Option<&Bps>) -> RateEstimate {
    match bps {
        Some(Bps::Known(bps)) => RateEstimate::Known(Rate::from_bps(*bps)),
        Some(Bps::Word(_)) => RateEstimate::Unbounded,
        None => RateEstimate::Unknown,
    }
}

/// The level of this number; -1 for none.
fn level(number: i32) -> Level {
    Level::from_count(u16::try_from(number + 1).unwrap_or(0))
}

fn cause(text: &str) -> Option<Cause> {
    Cause::ALL.into_iter().find(|cause| cause.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn lines_of_endpoints_are_understood() {
        let change = line(r#"{"at_ns":1500,"event":"level","from":-1,"to":1,"cause":"slow start"}"#);
        assert_eq!(
            (level(change.from.unwrap()), level(change.to.unwrap())),
            (Level::NONE, Level::from_count(2))
        );
        assert_eq!(cause(change.cause.as_deref().unwrap()), Some(Cause::SlowStart));
        let estimates =
            line(r#"{"at_ns":1,"event":"estimates","rate_bps":2e6,"smoothed_bps":"unbounded","rtt_ns":5}"#);
        let estimates = estimates.estimates();
        assert_eq!(estimates.rate, RateEstimate::Known(Rate::from_bps(2e6)));
        assert_eq!(estimates.smoothed_rate, RateEstimate::Unbounded);
        assert_eq!((estimates.loss, estimates.rtt), (None, Some(Duration::from_ns(5))));
    }

    #[test]
    fn every_cause_has_a_word_of_its_own() {
        for one in Cause::ALL {
            assert_eq!(cause(&one.to_string()), Some(one));
        }
    }
}
