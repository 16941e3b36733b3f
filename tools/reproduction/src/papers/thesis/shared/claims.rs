//! What the thesis says of the figures of the shared link (sections 4.3.2, 4.3.3, 5.2.2, 5.2.3).

use crate::frame::figure::{Claim, Data};
use crate::frame::finding::{Bound, Finding, Placed};
use crate::frame::samples::Samples;
use crate::frame::study::Quantity;
use crate::papers::thesis::grid::{
    CBR_LOSS, FAIR_KBPS, FAIR_RATE, LAP, LAP_RATE, LIP, LIP_RATE, PlotCell, SAME_RATE, TCP_LOSS, TCP_RATE,
    TFRC_LOSS, TFRC_RATE, all_shared, flows_beside, lossy, shared,
};

/// A number for each number of TCPs, at one sending rate.
fn at_rate<'d>(data: &'d Data, rate: u32, value: impl Fn(PlotCell<'d>) -> Samples) -> Vec<Placed> {
    let positions = flows_beside(rate).into_iter().map(|flows| shared(data, flows, rate));
    positions.map(|position| position.named(value(position))).collect()
}

/// One quantity over another at one position.
fn ratio_at(what: &str, bound: Bound, position: PlotCell<'_>, pair: (Quantity, Quantity)) -> Finding {
    Finding::each(what, bound, vec![position.named(position.ratio(pair.0, pair.1))])
}

fn ratio_at_rate(what: &str, bound: Bound, data: &Data, rate: u32, pair: (Quantity, Quantity)) -> Finding {
    Finding::each(what, bound, at_rate(data, rate, |position| position.ratio(pair.0, pair.1)))
}

/// A quantity at one position over the same at another.
fn change(what: &str, bound: Bound, [from, to]: [PlotCell<'_>; 2], quantity: Quantity) -> Finding {
    Finding::each(what, bound, vec![to.named(to.of(quantity).over(&from.of(quantity)))])
}

pub(super) fn of_the_overview() -> Vec<Claim> {
    vec![
        Claim::new("At high sending rates LIP underestimates less than on the lossy link.", |data, _| {
            let positions =
                all_shared(data, 1).filter(|position| position.sending_rate() >= 32).map(|position| {
                    let here = position.ratio(LIP, CBR_LOSS);
                    let there = lossy(data, 0.1, position.sending_rate()).over_loss(LIP);
                    position.named(here.over(&there))
                });
            Finding::each(
                "LIP over what the flow loses, over the same at 10 % loss on the lossy link",
                Bound::Above(1.0),
                positions.collect(),
            )
        }),
        Claim::new("The congestion never becomes as bad as was generated there.", |data, _| {
            let positions =
                all_shared(data, 1).map(|position| position.named(position.of(CBR_LOSS).times(100.0)));
            Finding::each("What the constant-rate flow loses, in %", Bound::Below(10.0), positions.collect())
        }),
        Claim::new(
            "With few flows a flow at a low rate sees a higher loss event rate than TFRC and TCP do.",
            |data, _| {
                let position = shared(data, 1, 1);
                ratio_at("LIP over TFRC's loss event rate", Bound::Above(1.0), position, (LIP, TFRC_LOSS))
                    .and(ratio_at(
                        "Over the share of TCP's packets that is lost",
                        Bound::Above(1.0),
                        position,
                        (LIP, TCP_LOSS),
                    ))
            },
        ),
    ]
}

pub(super) fn at_one_packet() -> Vec<Claim> {
    vec![
        Claim::new(
            "With very few TCP it overestimates the loss event rate and calculates a low rate.",
            |data, _| {
                let few = || [1, 2].map(|flows| shared(data, flows, 1)).into_iter();
                let losses = few().map(|position| position.named(position.ratio(LIP, TCP_LOSS)));
                let rates = few().map(|position| position.named(position.ratio(LIP_RATE, TCP_RATE)));
                Finding::each("LIP over TCP's loss", Bound::Above(1.0), losses.collect()).and(Finding::each(
                    "Its rate over TCP's",
                    Bound::Below(1.0),
                    rates.collect(),
                ))
            },
        ),
        Claim::new("With more TCP the calculated rate and TFRC come near TCP's throughput.", |data, _| {
            let [few, many] = [1, 32].map(|flows| shared(data, flows, 1));
            let distance = |position: PlotCell<'_>, rate| {
                position.ratio(rate, TCP_RATE).each(|ratio| libm::log(ratio).abs())
            };
            let nearer = vec![
                ("LIP's rate".to_owned(), distance(many, LIP_RATE).less(&distance(few, LIP_RATE))),
                ("TFRC's".to_owned(), distance(many, TFRC_RATE).less(&distance(few, TFRC_RATE))),
            ];
            Finding::each(
                "How much further from TCP with 32 than with 1, as a difference of logarithms",
                Bound::Below(0.0),
                nearer,
            )
            .and(ratio_at("LIP's rate over TCP's", FAIR_RATE, many, (LIP_RATE, TCP_RATE)))
            .and(ratio_at("TFRC's", FAIR_RATE, many, (TFRC_RATE, TCP_RATE)))
        }),
    ]
}

pub(super) fn at_many_packets() -> Vec<Claim> {
    vec![
        Claim::new(
            "However many TCP there are, the loss event rate is too low and the calculated rate too high.",
            |data, _| {
                ratio_at_rate("LIP over TCP's loss", Bound::Below(1.0), data, 32, (LIP, TCP_LOSS))
                    .and(ratio_at_rate(
                        "Over TFRC's loss event rate",
                        Bound::Below(1.0),
                        data,
                        32,
                        (LIP, TFRC_LOSS),
                    ))
                    .and(ratio_at_rate(
                        "Its rate over TCP's",
                        Bound::Above(1.0),
                        data,
                        32,
                        (LIP_RATE, TCP_RATE),
                    ))
            },
        ),
        Claim::new(
            "With more TCP there is more congestion, and the estimated loss event rate falls.",
            |data, _| {
                let ends = [4, 32].map(|flows| shared(data, flows, 32));
                change("TCP's loss over that with 4 TCP", Bound::Above(1.0), ends, TCP_LOSS).and(change(
                    "LIP over that with 4 TCP",
                    Bound::Below(1.0),
                    ends,
                    LIP,
                ))
            },
        ),
    ]
}

pub(super) fn beside_one() -> Vec<Claim> {
    vec![
        Claim::new("At very low sending rates the estimated loss event rate is too high.", |data, _| {
            let position = shared(data, 1, 1);
            ratio_at("LIP over TFRC's loss event rate", Bound::Above(1.0), position, (LIP, TFRC_LOSS))
                .and(ratio_at("Over TCP's loss", Bound::Above(1.0), position, (LIP, TCP_LOSS)))
        }),
        Claim::new("At high sending rates it is too low.", |data, _| {
            let position = shared(data, 1, 16);
            ratio_at("LIP over TFRC's loss event rate", Bound::Below(1.0), position, (LIP, TFRC_LOSS))
                .and(ratio_at("Over TCP's loss", Bound::Below(1.0), position, (LIP, TCP_LOSS)))
        }),
    ]
}

pub(super) fn beside_eight() -> Vec<Claim> {
    vec![
        Claim::new("At very low sending rates the loss event rate is still too high.", |data, _| {
            ratio_at(
                "LIP over TFRC's loss event rate",
                Bound::Above(1.0),
                shared(data, 8, 1),
                (LIP, TFRC_LOSS),
            )
        }),
        Claim::new(
            "In the end the estimate is far too low and the calculated rate overshoots.",
            |data, _| {
                let position = shared(data, 8, 64);
                ratio_at("LIP over TFRC's loss event rate", Bound::Below(0.8), position, (LIP, TFRC_LOSS))
                    .and(ratio_at("Its rate over TCP's", Bound::Above(1.2), position, (LIP_RATE, TCP_RATE)))
            },
        ),
        Claim::new("LIP's rate and TFRC meet at the fair rate of 16 packets per round trip.", |data, _| {
            let position = shared(data, 8, 16);
            ratio_at("LIP's rate over TFRC's", SAME_RATE, position, (LIP_RATE, TFRC_RATE))
        }),
    ]
}

pub(super) fn of_the_overview_with_lap() -> Vec<Claim> {
    vec![
        Claim::new("With many flows LAP's loss fraction and calculated rate are fairly good.", |data, _| {
            let rates =
                all_shared(data, 8).map(|position| position.named(position.ratio(LAP_RATE, TCP_RATE)));
            Finding::each("LAP's rate over TCP's, from 8 TCP on", FAIR_RATE, rates.collect())
        }),
        Claim::new(
            "At low rates and with very few flows the loss fraction is overestimated and the rate low.",
            |data, _| {
                let position = shared(data, 1, 1);
                ratio_at("LAP over TCP's loss", Bound::Above(1.0), position, (LAP, TCP_LOSS)).and(ratio_at(
                    "Its rate over TCP's",
                    Bound::Below(1.0),
                    position,
                    (LAP_RATE, TCP_RATE),
                ))
            },
        ),
        Claim::new("LAP does at least as well as LIP (section 5.2.4).", |data, _| {
            let positions =
                all_shared(data, 1).map(|position| position.named(position.lap_is_further_from(TCP_RATE)));
            Finding::each(
                "How much further from TCP LAP's rate lies than LIP's, as a difference of logarithms",
                Bound::Below(0.1),
                positions.collect(),
            )
        }),
    ]
}

pub(super) fn at_one_packet_with_lap() -> Vec<Claim> {
    vec![Claim::new("LAP follows LIP.", |data, _| {
        ratio_at_rate("LAP's rate over LIP's", Bound::Within(0.8, 1.25), data, 1, (LAP_RATE, LIP_RATE))
    })]
}

pub(super) fn at_many_packets_with_lap() -> Vec<Claim> {
    vec![
        Claim::new("LIP underestimates the congestion and calculates an unfair rate.", |data, _| {
            ratio_at_rate("LIP over TFRC's loss event rate", Bound::Below(1.0), data, 32, (LIP, TFRC_LOSS))
                .and(ratio_at_rate(
                    "Its rate over TFRC's",
                    Bound::Above(1.0),
                    data,
                    32,
                    (LIP_RATE, TFRC_RATE),
                ))
        }),
        Claim::new("LAP accurately follows the closed loop of TFRC.", |data, _| {
            ratio_at_rate("LAP's rate over TFRC's", SAME_RATE, data, 32, (LAP_RATE, TFRC_RATE))
        }),
        Claim::new("With few TCP, a constant rate of twice the fair share beats TCP down.", |data, _| {
            let [few, many] = [4, 32].map(|flows| shared(data, flows, 32));
            let share = |position: PlotCell<'_>| position.named(position.of(TCP_RATE).times(1.0 / FAIR_KBPS));
            Finding::each("TCP's throughput over the fair rate", Bound::Below(1.0), vec![share(few)])
                .and(change("With 32 TCP, over that with 4", Bound::Above(1.0), [few, many], TCP_RATE))
        }),
    ]
}

/// LAP does what LIP does at the lowest rate, and what TFRC does at the highest.
fn turns_from_lip_to_tfrc(data: &Data, flows: u32, highest: u32) -> [Finding; 2] {
    let [low, high] = [1, highest].map(|rate| shared(data, flows, rate));
    let nearer = vec![high.named(high.lap_is_further_from(TFRC_RATE))];
    [
        ratio_at("LAP's rate over LIP's", Bound::Within(0.8, 1.25), low, (LAP_RATE, LIP_RATE)),
        Finding::each(
            "How much further from TFRC LAP's rate lies than LIP's, as a difference of logarithms",
            Bound::Below(0.0),
            nearer,
        )
        .and(ratio_at("LAP's rate over TFRC's", SAME_RATE, high, (LAP_RATE, TFRC_RATE))),
    ]
}

pub(super) fn beside_one_with_lap() -> Vec<Claim> {
    vec![
        Claim::new("At low sending rates LAP follows LIP.", |data, _| {
            let [low, _] = turns_from_lip_to_tfrc(data, 1, 16);
            low
        }),
        Claim::new("At higher ones it follows TFRC, while LIP leaves it.", |data, _| {
            let [_, high] = turns_from_lip_to_tfrc(data, 1, 16);
            high
        }),
    ]
}

pub(super) fn beside_eight_with_lap() -> Vec<Claim> {
    vec![Claim::new(
        "The same with eight TCP: LAP follows LIP at low rates and TFRC at high ones.",
        |data, _| {
            let [low, high] = turns_from_lip_to_tfrc(data, 8, 64);
            low.and(high)
        },
    )]
}
