//! Round trips, and bytes of any kind.

use super::*;

use proptest::prelude::*;

fn addresses() -> impl Strategy<Value = SocketAddr> {
    (any::<IpAddr>(), any::<u16>()).prop_map(|(address, port)| canonical(SocketAddr::new(address, port)))
}

fn channels() -> impl Strategy<Value = ChannelSet> {
    proptest::collection::vec(0..1024u16, 0..40).prop_map(|numbers| {
        let mut set = ChannelSet::default();
        numbers.into_iter().for_each(|number| {
            set.insert(Channel(number));
        });
        set
    })
}

fn messages() -> impl Strategy<Value = Message<'static>> {
    let session = (addresses(), proptest::option::of(any::<IpAddr>()))
        .prop_map(|(group, source)| SessionKey { group, source: source.map(|source| source.to_canonical()) });
    let (a, b, n) = (any::<u64>(), any::<u64>(), any::<u32>());
    let reasons = (0..Reason::ALL.len()).prop_map(|index| Reason::ALL[index]);
    let others = proptest::collection::vec(addresses(), 0..=ALTERNATIVES_MAX).prop_map(Alternatives::new);
    prop_oneof![
        (a, session, any::<Option<[u8; 16]>>(), proptest::option::of(1..u64::MAX)).prop_map(
            |(nonce, session, cookie, previous)| Message::Hello { nonce, session, cookie, previous }
        ),
        (any::<u64>(), any::<[u8; 16]>()).prop_map(|(nonce, cookie)| Message::Challenge { nonce, cookie }),
        (any::<u64>(), b, n, any::<u16>()).prop_map(|(nonce, child, handle, keep_alive_ms)| {
            Message::Welcome { nonce, child, handle, keep_alive_ms }
        }),
        (any::<u64>(), reasons, others).prop_map(|(nonce, reason, alternatives)| Message::Refusal {
            nonce,
            reason,
            alternatives
        }),
        (any::<u64>(), any::<u32>(), channels()).prop_map(|(child, number, held)| Message::Membership {
            child,
            number,
            held
        }),
        (any::<u64>(), any::<u32>()).prop_map(|(child, number)| Message::Ack { child, number }),
        (any::<u64>(), any::<u64>(), any::<u32>()).prop_map(|(child, time, received)| Message::KeepAlive {
            child,
            time,
            received
        }),
        (any::<u64>(), any::<u64>(), any::<u32>(), any::<u8>())
            .prop_map(|(child, time, dropped, depth)| Message::Alive { child, time, dropped, depth }),
        any::<u64>().prop_map(|child| Message::Goodbye { child }),
        any::<u64>().prop_map(|child| Message::Unknown { child }),
        (any::<u64>(), addresses(), 0..FEEDBACK_MAX).prop_map(|(child, to, length)| Message::Feedback {
            child,
            to,
            message: &[7; FEEDBACK_MAX][..length]
        }),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read(message in messages()) {
        let mut room = [0; MESSAGE_MAX];
        let length = message.write(&mut room);
        prop_assert_eq!(Message::read(&room[..length]), Ok(message));
        for cut in 0..length {
            // Zeros at the end of a set or of feedback may be left out; nothing panics.
            let _ = Message::read(&room[..cut]);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>, kind in 0x40..0x50u8) {
        let mut bytes = bytes;
        let _ = Message::read(&bytes);
        if let Some(first) = bytes.first_mut() {
            *first = kind;
        }
        let _ = (Message::read(&bytes), Data::read(&bytes));
    }

    #[test]
    fn the_header_of_data_is_read(hops: u8, channel: u16, handle: u32, source: IpAddr, payload: Vec<u8>) {
        let data = Data { hops, channel: Channel(channel), handle, source };
        let mut room = [0; DATA_HEAD_MAX];
        let length = data.write(&mut room);
        let mut bytes = room[..length].to_vec();
        bytes.extend(&payload);
        prop_assert!(Data::is_data(&bytes));
        prop_assert_eq!(Data::read(&bytes), Some((data, length)));
        prop_assert_eq!(Data::read(&bytes[..length - 1]), None);
    }

    #[test]
    fn no_answer_is_longer_than_what_it_answers(message in messages()) {
        let mut room = [0; MESSAGE_MAX];
        let length = message.write(&mut room);
        match message {
            // A challenge, a welcome or a refusal.
            Message::Hello { .. } => prop_assert_eq!(length, HELLO_BYTES),
            Message::Challenge { .. } | Message::Alive { .. } => prop_assert!(length <= CHALLENGE_BYTES),
            Message::Welcome { .. } | Message::Refusal { .. } => prop_assert!(length <= HELLO_BYTES),
            Message::Membership { .. } | Message::KeepAlive { .. } | Message::Feedback { .. } => {
                prop_assert!(length >= CHALLENGE_BYTES);
            }
            _ => {}
        }
    }
}
