//! What the thesis says of the figures of the shared link (sections 4.3.2, 4.3.3, 5.2.2, 5.2.3).

use crate::frame::figure::{Data, Measurements, Supply};
use crate::frame::study::Quantity;
use crate::papers::thesis::grid::{
    CBR_LOSS, FAIR_KBPS, LAP, LAP_RATE, LIP, LIP_RATE, PlotCell, TCP_LOSS, TCP_RATE, TFRC_LOSS, TFRC_RATE,
    all_shared, flows_beside, lossy, shared,
};
use crate::samples::{Placed, Samples};

/// A number for each number of TCPs, at one sending rate.
fn at_rate<'d>(data: &'d Data, rate: u32, value: impl Fn(PlotCell<'d>) -> Samples) -> Vec<Placed> {
    let positions = flows_beside(rate).into_iter().map(|flows| shared(data, flows, rate));
    positions.map(|position| position.named(value(position))).collect()
}

/// One quantity over another at one position.
fn ratio_at(what: &'static str, position: PlotCell<'_>, one: Quantity, other: Quantity) -> Measurements {
    Measurements::of(what, vec![position.named(position.ratio(one, other))])
}

fn ratio_at_rate(what: &'static str, data: &Data, rate: u32, one: Quantity, other: Quantity) -> Measurements {
    Measurements::of(what, at_rate(data, rate, |position| position.ratio(one, other)))
}

/// A quantity at one position over the same at another.
fn change(what: &'static str, [from, to]: [PlotCell<'_>; 2], quantity: Quantity) -> Measurements {
    Measurements::of(what, vec![to.named(to.of(quantity).over(&from.of(quantity)))])
}

pub(super) fn of_the_overview() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            let positions =
                all_shared(data, 1).filter(|position| position.sending_rate() >= 32).map(|position| {
                    let here = position.ratio(LIP, CBR_LOSS);
                    let there = lossy(data, 0.1, position.sending_rate()).over_loss(LIP);
                    position.named(here.over(&there))
                });
            Measurements::of(
                "LIP over what the flow loses, over the same at 10 % loss on the lossy link",
                positions.collect(),
            )
        }),
        Supply::new(|data, _| {
            let positions =
                all_shared(data, 1).map(|position| position.named(position.of(CBR_LOSS).times(100.0)));
            Measurements::of("What the constant-rate flow loses, in %", positions.collect())
        }),
        Supply::new(|data, _| {
            let position = shared(data, 1, 1);
            ratio_at("LIP over TFRC's loss event rate", position, LIP, TFRC_LOSS).and(ratio_at(
                "LIP over the share of TCP's packets that is lost",
                position,
                LIP,
                TCP_LOSS,
            ))
        }),
    ]
}

pub(super) fn at_one_packet() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            let few = || [1, 2].map(|flows| shared(data, flows, 1)).into_iter();
            let losses = few().map(|position| position.named(position.ratio(LIP, TCP_LOSS)));
            let rates = few().map(|position| position.named(position.ratio(LIP_RATE, TCP_RATE)));
            Measurements::of("LIP over TCP's loss", losses.collect())
                .and(Measurements::of("LIP's rate over TCP's", rates.collect()))
        }),
        Supply::new(|data, _| {
            let [few, many] = [1, 32].map(|flows| shared(data, flows, 1));
            let distance = |position: PlotCell<'_>, rate| {
                position.ratio(rate, TCP_RATE).each(|ratio| libm::log(ratio).abs())
            };
            let nearer = vec![
                ("LIP's rate".to_owned(), distance(many, LIP_RATE).less(&distance(few, LIP_RATE))),
                (
                    "TFRC's rate over TCP's".to_owned(),
                    distance(many, TFRC_RATE).less(&distance(few, TFRC_RATE)),
                ),
            ];
            Measurements::of(
                "How much further from TCP with 32 than with 1, as a difference of logarithms",
                nearer,
            )
            .and(ratio_at("LIP's rate over TCP's, with 32 TCP", many, LIP_RATE, TCP_RATE))
            .and(ratio_at("TFRC's rate over TCP's", many, TFRC_RATE, TCP_RATE))
        }),
    ]
}

pub(super) fn at_many_packets() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            ratio_at_rate("LIP over TCP's loss", data, 32, LIP, TCP_LOSS)
                .and(ratio_at_rate("LIP over TFRC's loss event rate", data, 32, LIP, TFRC_LOSS))
                .and(ratio_at_rate("LIP's rate over TCP's", data, 32, LIP_RATE, TCP_RATE))
        }),
        Supply::new(|data, _| {
            Measurements::of("TCP's loss", at_rate(data, 32, |position| position.of(TCP_LOSS)))
                .and(Measurements::of("LIP", at_rate(data, 32, |position| position.of(LIP))))
        }),
    ]
}

pub(super) fn beside_one() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            let position = shared(data, 1, 1);
            ratio_at("LIP over TFRC's loss event rate, at one packet", position, LIP, TFRC_LOSS)
                .and(ratio_at("LIP over TCP's loss, at one packet", position, LIP, TCP_LOSS))
        }),
        Supply::new(|data, _| {
            let position = shared(data, 1, 16);
            ratio_at("LIP over TFRC's loss event rate, at 16 packets", position, LIP, TFRC_LOSS)
                .and(ratio_at("LIP over TCP's loss, at 16 packets", position, LIP, TCP_LOSS))
        }),
    ]
}

pub(super) fn beside_eight() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            ratio_at("LIP over TFRC's loss event rate, at one packet", shared(data, 8, 1), LIP, TFRC_LOSS)
        }),
        Supply::new(|data, _| {
            let position = shared(data, 8, 64);
            ratio_at("LIP over TFRC's loss event rate, at 64 packets", position, LIP, TFRC_LOSS)
                .and(ratio_at("LIP's rate over TCP's", position, LIP_RATE, TCP_RATE))
        }),
        Supply::new(|data, _| {
            let position = shared(data, 8, 16);
            ratio_at("LIP's rate over TFRC's", position, LIP_RATE, TFRC_RATE)
        }),
    ]
}

pub(super) fn of_the_overview_with_lap() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            let rates =
                all_shared(data, 8).map(|position| position.named(position.ratio(LAP_RATE, TCP_RATE)));
            Measurements::of("LAP's rate over TCP's, from 8 TCP on", rates.collect())
        }),
        Supply::new(|data, _| {
            let position = shared(data, 1, 1);
            ratio_at("LAP over TCP's loss", position, LAP, TCP_LOSS).and(ratio_at(
                "LAP's rate over TCP's",
                position,
                LAP_RATE,
                TCP_RATE,
            ))
        }),
        Supply::new(|data, _| {
            let positions =
                all_shared(data, 1).map(|position| position.named(position.lap_is_further_from(TCP_RATE)));
            Measurements::of(
                "How much further from TCP LAP's rate lies than LIP's, as a difference of logarithms",
                positions.collect(),
            )
        }),
    ]
}

pub(super) fn at_one_packet_with_lap() -> Vec<Supply> {
    vec![Supply::new(|data, _| ratio_at_rate("LAP's rate over LIP's", data, 1, LAP_RATE, LIP_RATE))]
}

pub(super) fn at_many_packets_with_lap() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            ratio_at_rate("LIP over TFRC's loss event rate", data, 32, LIP, TFRC_LOSS).and(ratio_at_rate(
                "LIP's rate over TFRC's",
                data,
                32,
                LIP_RATE,
                TFRC_RATE,
            ))
        }),
        Supply::new(|data, _| ratio_at_rate("LAP's rate over TFRC's", data, 32, LAP_RATE, TFRC_RATE)),
        Supply::new(|data, _| {
            let [few, many] = [4, 32].map(|flows| shared(data, flows, 32));
            let share = |position: PlotCell<'_>| position.named(position.of(TCP_RATE).times(1.0 / FAIR_KBPS));
            Measurements::of("TCP's throughput over the fair rate", vec![share(few)]).and(change(
                "TCP's throughput with 32 TCP over that with 4",
                [few, many],
                TCP_RATE,
            ))
        }),
    ]
}

/// LAP does what LIP does at the lowest rate, and what TFRC does at the highest.
fn turns_from_lip_to_tfrc(data: &Data, flows: u32, highest: u32) -> [Measurements; 2] {
    let [low, high] = [1, highest].map(|rate| shared(data, flows, rate));
    let nearer = vec![high.named(high.lap_is_further_from(TFRC_RATE))];
    [
        ratio_at("LAP's rate over LIP's", low, LAP_RATE, LIP_RATE),
        Measurements::of(
            "How much further from TFRC LAP's rate lies than LIP's, as a difference of logarithms",
            nearer,
        )
        .and(ratio_at("LAP's rate over TFRC's", high, LAP_RATE, TFRC_RATE)),
    ]
}

pub(super) fn beside_one_with_lap() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            let [low, _] = turns_from_lip_to_tfrc(data, 1, 16);
            low
        }),
        Supply::new(|data, _| {
            let [_, high] = turns_from_lip_to_tfrc(data, 1, 16);
            high
        }),
    ]
}

pub(super) fn beside_eight_with_lap() -> Vec<Supply> {
    vec![Supply::new(|data, _| {
        let [low, high] = turns_from_lip_to_tfrc(data, 8, 64);
        low.and(high)
    })]
}
