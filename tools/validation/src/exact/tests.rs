use super::*;

fn state(cwnd: f64, next: i64) -> State {
    State { cwnd, ssthresh: 20, highest_ack: 5, duplicates: 0, highest_sent: 9, next, backoff: 1, sent: 10 }
}

fn case() -> Case {
    Case { tcp: TcpVariant::Reno, delayed_ack: false, window: 20, trouble: Trouble::Limit(10), seconds: 1 }
}

fn observed(states: &[State], dropped: &[u64]) -> Observed {
    Observed { states: states.to_vec(), dropped: dropped.to_vec() }
}

/// ns-2 prints six digits of the window.
#[test]
fn equal_up_to_what_ns2_prints_is_equal() {
    let (ours, ns) = (state(22.452_512_3, 10), state(22.4525, 10));
    assert_eq!(first_difference(&case(), &observed(&[ours], &[3]), &observed(&[ns], &[3])), None);
}

#[test]
fn the_first_difference_is_reported() {
    let same = state(4.0, 10);
    let part = |ours: &[State], drops: &[u64]| {
        first_difference(&case(), &observed(ours, drops), &observed(&[same, same], &[3, 7]))
    };
    let other = state(4.0, 11);
    let seconds = (OFFSET + STEP).as_secs_f64();
    let expected = Parting::State { seconds, ours: other, ns: same };
    assert_eq!(part(&[same, other], &[3, 7]), Some(expected));
    let window = part(&[same, state(4.001, 10)], &[3, 7]);
    assert!(matches!(window, Some(Parting::State { .. })), "{window:?}");
    assert_eq!(part(&[same], &[3, 7]), Some(Parting::Length { ours: 1, ns: 2 }));
    let drop = |place, ours, ns| Some(Parting::Drop { place, ours, ns });
    assert_eq!(part(&[same, same], &[3, 8]), drop(1, Some(8), Some(7)));
    assert_eq!(part(&[same, same], &[3]), drop(1, None, Some(7)));
}

#[test]
fn every_tcp_of_ns2_is_watched_with_losses_and_with_small_queues() {
    for is_quick in [true, false] {
        let cases = cases(is_quick);
        for tcp in tcps::IN_NS {
            for delayed_ack in [true, false] {
                let of_it = || cases.iter().filter(|case| case.tcp == tcp && case.delayed_ack == delayed_ack);
                assert!(of_it().any(|case| matches!(&case.trouble, Trouble::Lost(lost) if !lost.is_empty())));
                assert!(of_it().any(|case| matches!(case.trouble, Trouble::Limit(_))));
            }
        }
    }
}
