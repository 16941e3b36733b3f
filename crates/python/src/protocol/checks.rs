//! The check of the contract for a protocol in Python: that of the test kit, under random operations.

use std::cell::Cell;
use std::collections::{BTreeSet, VecDeque};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Once};

use layercast_core::contract::{Action, Arrival, Ecn, Endpoint as _, Input, Origin, Peer, Target};
use layercast_core::layers::LayerTable;
use layercast_core::option::RawValue;
use layercast_core::session::{Requirements as _, SessionPlan};
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Level, Rate, Size, Time};
use layercast_testkit::{Operation, check_endpoint, check_source};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::chosen::Protocol;
use super::context::Context;
use super::endpoint::PythonEndpoint;
use super::given::Role;
use super::header::Header;
use super::registered;

/// How many timers of the source are tried for one packet on a channel that is held.
const MOST_TRIES: usize = 2_000;

/// What the source of the protocol sends on the channels that are held, as if the network brought it at once.
struct Traffic {
    source: PythonEndpoint,
    sent: VecDeque<(Channel, Header, Size)>,
}

impl Traffic {
    fn new(mut source: PythonEndpoint) -> Traffic {
        source.handle(Time::from_ns(1), Input::Start);
        Traffic { source, sent: VecDeque::new() }
    }

    fn next(&mut self, held: &BTreeSet<Channel>) -> Option<Arrival<Header>> {
        for _ in 0..MOST_TRIES {
            while let Some((channel, header, size)) = self.sent.pop_front() {
                if held.contains(&channel) {
                    let origin = Origin::Channel(channel);
                    return Some(Arrival { origin, size, ecn: Ecn::NotCapable, header });
                }
            }
            while let Some(action) = self.source.poll_action() {
                if let Action::Send(send) = action
                    && let Target::Channel(channel) = send.target
                {
                    self.sent.push_back((channel, send.header, send.size));
                }
            }
            if self.sent.is_empty() {
                self.source.handle(self.source.deadline()?, Input::Timer);
            }
        }
        None
    }
}

/// Random operations, mostly packets and time that passes.
fn operations(
    protocol: &Protocol,
    role: Role,
    channels: u16,
    draws: &mut Stream,
    count: u32,
) -> Vec<Operation<Header>> {
    let one = |draws: &mut Stream| {
        let share = draws.uniform();
        let upto = |draws: &mut Stream, bound: u16| (draws.bits() % u64::from(bound.max(1))) as u16;
        match role {
            Role::Receiver if share < 0.55 => Operation::Packet,
            _ if share < 0.8 => match draws.chance(0.1) {
                true => Operation::Wait(draws.uniform_duration(Duration::from_secs(60))),
                false => Operation::Wait(draws.uniform_duration(Duration::from_ms(50))),
            },
            Role::Receiver if share < 0.88 => Operation::Lose(1 + upto(draws, 20)),
            Role::Receiver if share < 0.90 => Operation::Duplicate,
            Role::Receiver if share < 0.92 => Operation::Mark,
            Role::Receiver if share < 0.95 => Operation::JoinFailed,
            Role::Source if share < 0.85 => Operation::Demand(Level::from_count(upto(draws, channels + 2))),
            Role::Source if share < 0.88 => Operation::SendRefused(Channel(upto(draws, channels))),
            Role::Source if share < 0.91 => Operation::DataExhausted,
            Role::Source if share < 0.94 => Operation::DataAvailable,
            _ if share < 0.98 => {
                let mut bits = || draws.bits();
                match protocol.registered.headers.wild(&mut bits) {
                    Some(header) => {
                        let from_peer = role == Role::Source || draws.chance(0.2);
                        let origin = match from_peer {
                            true => Origin::Peer(Peer(u32::from(upto(draws, 4)))),
                            false => Origin::Channel(Channel(upto(draws, channels + 1))),
                        };
                        Operation::Forged(Arrival {
                            origin,
                            size: Size::from_bytes(100),
                            ecn: Ecn::NotCapable,
                            header,
                        })
                    }
                    None => Operation::Packet,
                }
            }
            _ => Operation::Timer,
        }
    };
    (0..count).map(|_| one(draws)).collect()
}

thread_local! {
    /// Whether this thread checks a protocol, so that a failed assertion becomes an exception.
    static CHECKS: Cell<bool> = const { Cell::new(false) };
}

/// Runs a check and gives what its failed assertion said, without printing it: the exception says it.
fn failing(check: impl FnOnce()) -> Option<String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CHECKS.get() {
                usual(info);
            }
        }));
    });
    CHECKS.set(true);
    let checked = panic::catch_unwind(AssertUnwindSafe(check));
    CHECKS.set(false);
    checked.err().map(|panic| words(&*panic))
}

/// What the failed assertion said.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// Checks the contract for one endpoint of a protocol under `count` random operations. Gives what is wrong; None if
/// nothing is.
///
/// # Errors
/// `ValueError` if the protocol, an option or the layers are wrong; `ProtocolError` if the protocol raises.
#[pyfunction]
pub(crate) fn check_protocol(
    py: Python<'_>,
    name: &str,
    role: &str,
    options: Vec<(String, String)>,
    rates: Vec<f64>,
    seed: u64,
    count: u32,
) -> PyResult<Option<String>> {
    let role = if role == "source" { Role::Source } else { Role::Receiver };
    let wrong = |text: String| PyValueError::new_err(text);
    let found = registered::named(name).ok_or_else(|| wrong(format!("there is no protocol `{name}`")))?;
    let context = Arc::new(Context::default());
    let mut protocol = Protocol::of(found, Arc::clone(&context));
    for (option, value) in options {
        let set =
            layercast_core::family::AnyProtocol::set(&mut protocol, &option, RawValue::from_text(&value));
        set.map_err(|error| wrong(format!("option `{option}`: {error}")))?;
    }
    let layers = LayerTable::from_rates(rates.into_iter().map(Rate::from_bps));
    let plan = SessionPlan {
        layers: layers.map_err(|error| wrong(error.to_string()))?,
        packet_size: Size::from_bytes(1000),
    };
    protocol.check(&plan).map_err(|error| wrong(error.to_string()))?;
    let channels = protocol.channels(&plan);
    let mut draws = Stream::new(seed, "operations");
    let operations = operations(&protocol, role, channels, &mut draws, count);
    let make =
        |role: Role| PythonEndpoint::new(&protocol, role, plan.clone(), Stream::new(seed, role.name()));
    // Other threads may need the interpreter meanwhile, and endpoints take its lock themselves.
    let failing = py.detach(|| {
        failing(|| match role {
            Role::Source => check_source(|| make(role), |_, _| None, &operations),
            Role::Receiver => {
                let mut traffic = Traffic::new(make(Role::Source));
                check_endpoint(|| make(role), |_, held| traffic.next(held), &operations);
            }
        })
    });
    context.check(py)?;
    Ok(failing)
}
