//! Wireshark dissects every packet of whole sessions: table with compression, symbols of both codes, authentication,
//! and the end.

use layercast_core::units::{Duration, Rate};
use layercast_delivery::packet::PayloadId;

use crate::wire::dissector::{Sent, dissected, number, saved};
use crate::wire::source::{packets, session};

#[test]
fn wireshark_dissects_every_packet_of_a_session() {
    // Congestion control information of 32 bits, of 64 bits, and many channels of one rate.
    for (name, is_protected) in [("elm", false), ("elm", true), ("flid-dl", true), ("webrc", false)] {
        let session = session(name, Rate::from_kbps(256.0)).unwrap();
        let all = packets(&session, Duration::from_secs(20), is_protected);
        let sent: Vec<Sent> = all
            .iter()
            .map(|packet| Sent {
                bytes: packet.bytes.clone(),
                layer: u8::try_from(packet.channel.0).unwrap(),
                repr: packet.repr,
                id: PayloadId::split(&packet.bytes[packet.header..]).ok().map(|(id, _)| id),
            })
            .collect();
        // All that this is about is there.
        let tables = sent.iter().filter(|packet| packet.repr.fdt.is_some()).count();
        let instances: std::collections::BTreeSet<u32> =
            sent.iter().filter_map(|packet| packet.repr.fdt.map(|fdt| fdt.instance())).collect();
        let ends = sent.iter().filter(|packet| packet.repr.fields.end_of_session).count();
        assert!(sent.len() > 500 && tables > 10 && instances.len() > 1, "{name}: {} {tables}", sent.len());
        assert!(ends > 0, "{name} ends");
        assert!(
            sent.iter().any(|packet| packet.layer > 0)
                && sent.iter().any(|packet| packet.repr.codepoint == 6)
        );
        let file = saved(&format!("session-{name}-{is_protected}"), &sent);
        let fields = [
            "frame.protocols",
            "rmt-lct.tsi",
            "rmt-lct.toi",
            "rmt-lct.codepoint",
            "rmt-lct.flags.close_session",
            "rmt-lct.fdt_instance_id",
            "rmt-fec.sbn",
            "rmt-fec.esi",
            "rmt-lct.hec.type",
            "_ws.malformed",
            "_ws.expert.message",
        ];
        // It reads each packet of a table as XML by itself, which a part of one that is compressed is not.
        let Some(lines) = dissected(&file, &fields, &["--disable-protocol", "xml"]) else { return };
        assert_eq!(lines.len(), sent.len());
        for (line, packet) in lines.iter().zip(&sent) {
            let [protocols, tsi, toi, codepoint, close, fdt, block, esi, kinds, malformed, expert] =
                line.as_slice()
            else {
                panic!("{line:?}")
            };
            let repr = &packet.repr;
            assert!(protocols.contains("udp:alc:rmt-lct"), "{name}: {line:?}");
            assert_eq!((malformed.as_str(), expert.as_str()), ("", ""), "{name}: {line:?}");
            assert_eq!(number(tsi), u64::from(repr.fields.session.unwrap_or(repr.tsi)));
            assert_eq!((number(toi), number(codepoint)), (repr.toi.into(), repr.codepoint.into()));
            assert_eq!(number(close), u64::from(repr.fields.end_of_session), "{name}: {line:?}");
            match repr.fdt {
                Some(instance) => assert_eq!(number(fdt), u64::from(instance.instance()), "{line:?}"),
                None => assert_eq!(fdt, ""),
            }
            let kinds: Vec<u64> = kinds.split(',').map(number).collect();
            assert!(kinds.contains(&repr.fields.extension.kind().into()), "{line:?}");
            assert_eq!(kinds.contains(&1), is_protected, "EXT_AUTH: {line:?}");
            assert_eq!(kinds.contains(&193), repr.is_compressed, "EXT_CENC: {line:?}");
            let Some(id) = packet.id else { continue };
            // Of no code they have 16 bits each, of RaptorQ 8 and 24.
            let word = u64::from(u32::from_be_bytes(id.to_bytes()));
            let split = if repr.codepoint == 0 { 16 } else { 24 };
            assert_eq!((number(block), number(esi)), (word >> split, word & ((1 << split) - 1)), "{line:?}");
        }
    }
}
