//! The layers of a receiver's constant rate, and when they begin in both simulators.

use layercast_core::layers::{LayerError, LayerTable, Phases};
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Pacer, Rate, Size, Time};

use super::{PACKET_BYTES, Sending, Site};

/// The rate of the base layer in the thesis.
const BASE_KBPS: f64 = 128.0;

/// The layers that a receiver holds: the thesis's, or one flow of their rate.
pub(super) fn plan(site: &Site, sending: Sending) -> Result<SessionPlan, LayerError> {
    let doubling = || LayerTable::doubling(Rate::from_kbps(BASE_KBPS), site.layers);
    let (layers, phases) = match sending {
        Sending::One => (LayerTable::from_rates([Rate::from_kbps(site.constant_kbps)])?, Phases::Together),
        Sending::Apart => (doubling()?, Phases::Random),
        Sending::Together => (doubling()?, Phases::Together),
    };
    let layers = layers.beginning(phases);
    Ok(SessionPlan { layers, packet_size: Size::from_bytes(PACKET_BYTES as u32) })
}

/// What a source of these layers draws from.
pub(super) fn stream(site: &Site, replication: u64) -> Stream {
    Stream::new(replication, &format!("layers/{}", site.name))
}

/// When each layer begins and its rate, as a source that begins at `start` draws it.
pub(super) fn begins(plan: &SessionPlan, start: Time, mut stream: Stream) -> Vec<(Time, Rate)> {
    let SessionPlan { layers, packet_size } = plan;
    let begin = |layer| {
        let rate = layers.rate(layer);
        let spacing = Pacer::new(start, *packet_size, rate).spacing();
        (start + layers.phases().draw(spacing, &mut stream), rate)
    };
    layers.layers().map(begin).collect()
}

#[cfg(test)]
mod tests {
    use layercast_core::contract::{Action, Endpoint as _, Input};
    use layercast_protocols::fixed;

    use super::super::SITES;
    use super::*;

    /// The first departure of each layer of a source.
    fn departures(plan: &SessionPlan, start: Time, stream: Stream) -> Vec<Time> {
        let mut source = fixed::Source::new(&fixed::Options::default(), plan.clone(), stream);
        let mut first = vec![None; usize::from(plan.layers.count())];
        let (mut now, mut input) = (start, Input::Start);
        while first.contains(&None) {
            source.handle(now, input);
            while let Some(action) = source.poll_action() {
                if let Action::Send(send) = action {
                    first[send.header.layer.index()].get_or_insert(now);
                }
            }
            (now, input) = (source.deadline().expect("it sends on"), Input::Timer);
        }
        first.into_iter().flatten().collect()
    }

    #[test]
    fn layers_begin_as_a_source_begins_them() {
        let start = Time::from_secs_f64(3.0);
        for (sending, differ) in [(Sending::Apart, true), (Sending::Together, false)] {
            let plan = plan(&SITES[1], sending).unwrap();
            let begins = begins(&plan, start, stream(&SITES[1], 2));
            let times: Vec<Time> = begins.iter().map(|&(time, _)| time).collect();
            assert_eq!(times, departures(&plan, start, stream(&SITES[1], 2)));
            assert_eq!(times.iter().any(|&time| time != start), differ, "{times:?}");
            let kbps: Vec<f64> = begins.iter().map(|(_, rate)| rate.as_kbps()).collect();
            assert_eq!(kbps, [128.0, 128.0, 256.0, 512.0]);
        }
    }

    #[test]
    fn each_receiver_holds_the_rate_of_its_constant_flow() {
        for site in &SITES {
            for sending in [Sending::One, Sending::Apart, Sending::Together] {
                let rate = plan(site, sending).unwrap().layers.top_rate();
                assert_eq!(rate, Rate::from_kbps(site.constant_kbps));
            }
        }
    }
}
