use super::*;
use layercast_core::contract::{Header as _, Target};
use layercast_core::layers::LayerTable;
use layercast_core::units::Size;

fn plan(layers: u16) -> SessionPlan {
    let layers = LayerTable::doubling(Rate::from_kbps(128.0), layers).unwrap();
    SessionPlan { layers, packet_size: Size::from_bytes(1000) }
}

/// Runs a source for some seconds; gives each packet with its time.
fn run(options: &Options, layers: u16, seconds: u64) -> Vec<(Time, Header)> {
    let mut source = Source::new(options, plan(layers), Stream::new(1, "source"));
    let end = Time::from_ns(seconds * 1_000_000_000);
    let mut packets = Vec::new();
    let mut now = Time::ZERO;
    let mut input = Input::Start;
    while now < end {
        source.handle(now, input);
        while let Some(action) = source.poll_action() {
            let Action::Send(send) = action else { panic!("a source only sends") };
            assert_eq!(send.target, Target::Channel(send.header.layer().channel()));
            packets.extend((0..send.count).map(|i| (now, send.header.nth(i))));
        }
        let next = source.deadline().unwrap();
        assert!(next > now);
        now = next;
        input = Input::Timer;
    }
    packets
}

fn of_layer(packets: &[(Time, Header)], layer: u8) -> Vec<(Time, Header)> {
    packets.iter().copied().filter(|(_, header)| header.layer == layer).collect()
}

#[test]
fn bursts_leave_the_mean_rate_and_the_numbers_as_they_are() {
    for burst in [0, 1, 8, 100] {
        let packets = run(&Options { burst, ..Options::default() }, 4, 64);
        for (layer, per_s) in [(0, 16.0), (1, 16.0), (2, 32.0), (3, 64.0)] {
            let packets = of_layer(&packets, layer);
            let mean = packets.len() as f64 / 64.0;
            assert!((mean - per_s).abs() < 0.2, "burst {burst}, layer {layer}: {mean} packets/s");
            let in_order = |(i, (_, header)): (usize, &(Time, Header))| header.seq == i as u16;
            assert!(packets.iter().enumerate().all(in_order));
        }
    }
}

#[test]
fn points_come_at_the_first_packets_after_their_time() {
    let options = Options::default();
    let packets = run(&options, 3, 16);
    for layer in 0..3u8 {
        let spacing = options.sp_spacing * (1 << layer);
        let rate = plan(3).layers.rate(Layer(u16::from(layer)));
        let packet = rate.time_to_send(Size::from_bytes(1000));
        let points: Vec<_> =
            of_layer(&packets, layer).into_iter().filter(|(_, header)| header.is_point).collect();
        assert!(points.len() >= 2 * (16 / 4 * (4 >> layer) - 1), "layer {layer}: {}", points.len());
        for (at, header) in points {
            let due = Time::ZERO + options.sp_spacing * u64::from(header.point.0);
            assert_eq!(header.point.0 % (1 << layer), 0);
            assert!(at.since(due) <= packet * (1 + u64::from(header.copy)), "layer {layer} at {at}");
            assert!(at >= due && spacing > Duration::ZERO);
        }
    }
}

#[test]
fn a_burst_doubles_and_then_falls_silent_right_before_its_point() {
    let packets = run(&Options { sp_spacing: Duration::from_secs(1), ..Options::default() }, 4, 20);
    let layer = of_layer(&packets, 2);
    let first_of_burst = |(_, header): &&(Time, Header)| header.burst_place == 1;
    let mut bursts = 0;
    for (at, header) in layer.iter().filter(first_of_burst) {
        let length = u16::from(header.burst_length);
        let point = layer.iter().find(|(_, other)| other.seq == header.seq + length).map(|&(at, h)| (at, h));
        let Some((point_at, point)) = point else { continue };
        assert!(point.is_point && point.copy == 0, "{point:?}");
        assert_eq!(point.burst_length, header.burst_length);
        // Pairs take half of the time, so the silence is about as long as the burst.
        let last = layer.iter().rfind(|(_, other)| other.seq < point.seq).map(|&(at, _)| at).unwrap();
        let (burst, silence) = (last.since(*at).as_secs_f64(), point_at.since(last).as_secs_f64());
        assert!(silence > burst, "{burst} {silence}");
        bursts += 1;
    }
    assert!(bursts >= 3);
}

#[test]
fn the_top_layer_has_no_burst_and_no_burst_means_no_pairs() {
    let packets = run(&Options::default(), 3, 8);
    assert!(of_layer(&packets, 2).iter().all(|(_, header)| header.burst_length == 0));
    let packets = run(&Options::mcl(), 3, 8);
    assert!(packets.iter().all(|(_, header)| header.burst_length == 0 && header.copy == 0));
}

#[test]
fn without_data_nothing_is_sent_and_no_number_is_lost() {
    let mut source = Source::new(&Options::default(), plan(2), Stream::new(1, "source"));
    let mut seqs = Vec::new();
    let mut now = Time::ZERO;
    source.handle(now, Input::Start);
    for step in 0..40 {
        while let Some(Action::Send(send)) = source.poll_action() {
            if send.header.layer == 0 {
                seqs.extend((0..send.count).map(|i| send.header.nth(i).seq));
            }
        }
        if step == 20 {
            source.handle(now, Input::DataExhausted);
            assert_eq!(source.deadline(), None);
            now += Duration::from_secs(100);
            source.handle(now, Input::DataAvailable);
        }
        now = source.deadline().unwrap();
        source.handle(now, Input::Timer);
    }
    assert!(seqs.iter().enumerate().all(|(i, &seq)| usize::from(seq) == i));
    assert!(seqs.len() > 10);
    source.handle(now, Input::Stop);
    while source.poll_action().is_some() {}
    source.handle(now, Input::DataAvailable);
    assert_eq!((source.poll_action(), source.deadline()), (None, None));
}

#[test]
fn a_host_that_was_away_is_not_flooded() {
    let mut source = Source::new(&Options::default(), plan(2), Stream::new(1, "source"));
    source.handle(Time::ZERO, Input::Start);
    source.handle(Time::from_secs_f64(1000.0), Input::Timer);
    let mut sent = 0;
    while source.poll_action().is_some() {
        sent += 1;
    }
    assert!(sent < 10, "{sent}");
    assert!(source.deadline() > Some(Time::from_secs_f64(1000.0)));
}
