use layercast_testkit::golden;

use super::*;

fn process(model: LossModel) -> LossProcess {
    LossProcess::new(model, Stream::new(1, "loss"))
}

#[test]
fn golden_periodic_losses() {
    for id in ["err-periodic-01", "err-periodic-02", "err-periodic-03"] {
        let case = golden::vector("vectors-active-and-unicast.json", id);
        let mut losses = process(LossModel::Periodic(PeriodicLoss {
            period: case.whole("period"),
            offset: case.whole("offset"),
            burst: case.whole("burst"),
        }));
        let lost: Vec<u64> = (1..=case.whole("n")).filter(|_| losses.loses(1000)).collect();
        assert_eq!(lost, golden::wholes(&case.expected["lost"]), "{id}");
    }
}

#[test]
fn golden_gilbert_elliott() {
    for id in ["err-ge-01", "err-ge-02"] {
        let case = golden::vector("vectors-active-and-unicast.json", id);
        let chain = GilbertElliott {
            to_bad: case.number("p"),
            to_good: case.number("r"),
            bad_loss: case.number("loss_bad"),
            good_loss: case.number("loss_good"),
        };
        let expected = |name: &str| golden::number(&case.expected[name]);
        case.check("pi_bad", chain.bad_share(), expected("pi_bad"));
        case.check("loss", chain.loss_rate(), expected("loss"));
        case.check("run", chain.mean_bad_run(), expected("mean_bad_run_pkts"));
    }
}

/// With losses in the bad state only and there always, a run of losses is a stay in that state: its length
/// is geometric with mean 1/r and standard deviation sqrt(1-r)/r. Over a million packets there are about
/// 9600 stays, so the mean run of 4 has a standard error of 3.46/98 = 0.035; the share of losses s has
/// variance s(1-s)(1+c)/(1-c) over the packets, where c = 1-p-r is how states in a row correlate: a
/// standard error of 0.0005. The tolerance is four standard errors of either.
#[test]
fn gilbert_elliott_has_its_stationary_distribution() {
    let chain = GilbertElliott { to_bad: 0.01, to_good: 0.25, bad_loss: 1.0, good_loss: 0.0 };
    let mut losses = process(LossModel::GilbertElliott(chain));
    let packets = 1_000_000;
    let (mut lost, mut runs, mut before) = (0_u64, 0_u64, false);
    for _ in 0..packets {
        let now = losses.loses(1000);
        lost += u64::from(now);
        runs += u64::from(now && !before);
        before = now;
    }
    let rate = lost as f64 / f64::from(packets);
    assert!((rate - chain.loss_rate()).abs() < 4.0 * 0.0005, "loss {rate}");
    let run = lost as f64 / runs as f64;
    assert!((run - chain.mean_bad_run()).abs() < 4.0 * 0.035, "run {run}");
}

/// 1 - (1 - 1e-4)^1000 = 0.0952 and 1 - (1 - 1e-4)^100 = 0.00995; 100,000 packets have a standard error of
/// at most 0.00093. The tolerance is four standard errors.
#[test]
fn losses_by_the_byte_grow_with_the_packet() {
    for (bytes, expected) in [(1000, 0.095_167), (100, 0.009_950_7)] {
        let mut losses = process(LossModel::BernoulliPerByte(1e-4));
        let lost = (0..100_000).filter(|_| losses.loses(bytes)).count();
        assert!((lost as f64 / 1e5 - expected).abs() < 4.0 * 0.000_93, "{bytes} bytes: {lost}");
    }
}

fn two_state(unit: LossUnit, distribution: LengthDistribution, good: u32, bad: u32) -> LossProcess {
    process(LossModel::TwoState(TwoStateLoss { unit, distribution, good, bad, ns2_compat: false }))
}

fn as_ns2(unit: LossUnit, distribution: LengthDistribution, good: u32, bad: u32) -> LossProcess {
    process(LossModel::TwoState(TwoStateLoss { unit, distribution, good, bad, ns2_compat: true }))
}

/// Constant periods lose bad/(good + bad) exactly: whole rounds of 10, 100 and 2 packets.
#[test]
fn bad_periods_lose_their_share_and_no_more() {
    for (good, bad, percent) in [(9, 1, 10), (95, 5, 5), (1, 1, 50)] {
        let mut losses = two_state(LossUnit::Packets, LengthDistribution::Constant, good, bad);
        let lost: Vec<u32> = (0..100).filter(|_| losses.loses(1000)).collect();
        assert_eq!((lost.len(), lost.first()), (percent, Some(&good)), "{good} good, {bad} bad");
    }
}

/// Exponential periods of 9 and 1 on average lose a tenth; as in ns-2 the packet in which a good one ends too:
/// 1 - 0.9 exp(-1/9) = 0.1946. A million packets are 10^5 rounds, whose share of bad has a standard error of
/// 0.1 * 0.9 * sqrt(2/10^5) = 0.0004. The tolerance is four standard errors, as those of shorter periods are smaller.
#[test]
fn exponential_periods_lose_their_share_in_either_rule() {
    let share = |mut losses: LossProcess| (0..1_000_000).filter(|_| losses.loses(1000)).count() as f64 / 1e6;
    let (packets, exponential) = (LossUnit::Packets, LengthDistribution::Exponential);
    let (own, ns2) =
        (share(two_state(packets, exponential, 9, 1)), share(as_ns2(packets, exponential, 9, 1)));
    assert!((own - 0.1).abs() < 4.0 * 0.0004, "{own}");
    assert!((ns2 - 0.1946).abs() < 4.0 * 0.0004, "{ns2}");
    // Packets of 1000 bytes, 90 of which begin in each good period and 10 in each bad one.
    let bytes = share(two_state(LossUnit::Bytes, LengthDistribution::Constant, 90_000, 10_000));
    assert!((bytes - 0.1).abs() < 1e-9, "{bytes}");
}

/// Good for 5, bad for 2, by hand: packet 5 uses up the good period and so enters the bad one, in which
/// packet 6 lies; packet 7 uses it up. Seven packets are a round.
#[test]
fn periods_that_packets_only_touch_count_too_in_ns2() {
    let mut losses = as_ns2(LossUnit::Packets, LengthDistribution::Constant, 5, 2);
    let lost: Vec<u32> = (1..=21).filter(|_| losses.loses(1000)).collect();
    assert_eq!(lost, [5, 6, 7, 12, 13, 14, 19, 20, 21]);
    // The same in bytes, two to a packet: bytes 6 and 7 are bad, which are in packets 3 and 4; the next
    // good period ends with byte 12, the end of packet 6, and packet 7 is the bad one.
    let mut losses = as_ns2(LossUnit::Bytes, LengthDistribution::Constant, 5, 2);
    let lost: Vec<u32> = (1..=7).filter(|_| losses.loses(2)).collect();
    assert_eq!(lost, [3, 4, 6, 7]);
}

/// A bad period that is short compared with packets hits one packet each time: of periods of 10,000 and 1
/// bytes on average, a packet of 100 bytes touches a bad one if a good one ends in it. Good periods end at
/// a rate of 1 in 10,001 bytes: a share of 1 - exp(-100/10,001) = 0.00995, and a hundredth of that more for
/// bad periods that lie on two packets. 400,000 packets have a standard error of 0.00016; the tolerance is
/// four standard errors.
#[test]
fn exponential_periods_hit_packets_as_often_as_they_begin_in_ns2() {
    let mut losses = as_ns2(LossUnit::Bytes, LengthDistribution::Exponential, 10_000, 1);
    let lost = (0..400_000).filter(|_| losses.loses(100)).count();
    let expected = 0.009_949 * 1.01;
    assert!((lost as f64 / 4e5 - expected).abs() < 4.0 * 0.000_16, "{lost}");
}

/// Long periods of equal mean length lose half; that of 2000 packets each has 250 rounds in a million, and
/// the share of bad a standard error of 0.5/sqrt(2 * 250) = 0.022. The tolerance is four standard errors.
#[test]
fn equal_periods_lose_half() {
    let mut losses = two_state(LossUnit::Packets, LengthDistribution::Exponential, 2000, 2000);
    let lost = (0..1_000_000).filter(|_| losses.loses(100)).count();
    assert!((lost as f64 / 1e6 - 0.5).abs() < 4.0 * 0.022, "{lost}");
}
