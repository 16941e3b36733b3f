//! What builders make of what they are given.

use layercast_core::units::Layer;

use super::*;
use crate::Receiver;

#[test]
fn what_is_not_given_is_as_the_command_has_it() {
    let sender = Sender::builder().group("239.1.2.0").path("a/photo.jpg").build().unwrap();
    let options = &sender.options;
    assert_eq!(options.group.to_string(), "239.1.2.0:5500");
    assert_eq!((options.protocol.name(), options.name.as_str()), ("tide", "photo.jpg"));
    assert_eq!(options.layers.rate(Layer::BASE), Rate::from_kbps(128.0));
    assert_eq!(options.layers.top_rate(), Rate::from_mbps(100.0));
    assert!(options.is_announced && options.reports && options.on_demand && options.packs);
    let global = Sender::builder().group("[ff0e::1:0]:6000").path("a").build().unwrap();
    assert!(!global.options.is_announced, "the whole internet would hear it");
    let receiver = Receiver::builder().group("239.1.2.0:7").into("in").patience(Duration::from_secs(7));
    let options = receiver.build().unwrap().options;
    assert_eq!((options.start_within, options.patience), (Duration::from_secs(7), Duration::from_secs(7)));
}

#[test]
fn options_can_be_changed_beyond_the_builder() {
    let sender = Sender::builder().group("239.1.2.0").path("a").ttl(3).with(|options| options.ttl += 1);
    assert_eq!(sender.build().unwrap().options.ttl, 4);
}

#[test]
fn what_is_wrong_is_named() {
    let sender = || Sender::builder().group("239.1.2.0").path("a");
    let (low, high) = (Rate::from_mbps(1.0), Rate::from_mbps(9.0));
    let scheme = Scheme::Equal { base: low, count: 2 };
    let wrong = [
        (Sender::builder().path("a"), "a sender needs a group"),
        (Sender::builder().group("239.1.2.0"), "a sender needs something to send"),
        (sender().group("here").group("there"), "the group `here`: an address of"),
        (sender().control("tides"), "there is no protocol `tides`"),
        (sender().set("speed", "1"), "option speed of tide"),
        (sender().control("tfmcc").from(low).to(high), "`from` has no effect: tfmcc"),
        (sender().to(high).layers(scheme), "to cannot be used with layers: rates are given"),
        (sender().follow().until_complete(1), "follow cannot be used with until_complete"),
        (sender().encrypt(), "encrypt needs group_key: packets are encrypted by the group key"),
        (sender().relay("no port"), "the relay \"no port\" is not found"),
    ];
    for (builder, words) in wrong {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let receiver = || Receiver::builder().into("in");
    let source = [192, 0, 2, 1].into();
    let wrong = [
        (Receiver::builder().group("239.1.2.0"), "a receiver needs a folder"),
        (receiver(), "a receiver needs a session"),
        (receiver().session_url("layercast://x"), "layercast://x: "),
        (receiver().group("239.1.2.0").session_url("x"), "with group: they name one session each"),
        (
            receiver().session_url("layercast://239.1.2.0:1").source(source),
            "source needs group: URLs, descriptions",
        ),
        (receiver().description_file("no such.sdp"), "no such.sdp cannot be read"),
    ];
    for (builder, words) in wrong {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_reliable_session_is_as_the_command_has_it() {
    let listen: SocketAddr = "127.0.0.1:5600".parse().unwrap();
    let sender = || Sender::builder().group("239.1.2.0").path("a").reliable();
    let options = sender().gather(Duration::from_secs(7)).serve(listen).build().unwrap().options;
    assert_eq!((options.protocol.name(), options.layers.count()), ("amca", 1));
    assert!(!options.is_announced && options.serve.is_some_and(|used| used.gather.as_secs() == 7));
    let low = Rate::from_mbps(1.0);
    let wrong = [
        (sender(), "reliable needs serve: it sends to those that are served"),
        (sender().serve(listen).from(low), "from cannot be used with a reliable session: amca and nca"),
        (sender().serve(listen).control("rlc"), "`rlc` has no routers: use amca or nca"),
        (
            Sender::builder().group("239.1.2.0").path("a").gather(Duration::ZERO),
            "gather cannot be used with files: only a reliable session waits",
        ),
    ];
    for (builder, words) in wrong {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let receiver = || Receiver::builder().group("239.1.2.0").into("in").reliable();
    assert!(receiver().relay(listen).build().unwrap().options.is_routed);
    let wrong = [
        (receiver(), "reliable needs relay or session_name or description_file"),
        (receiver().relay(listen).silent(), "silent cannot be used with a reliable session"),
        (
            Receiver::builder().into("in").session_url("flute://239.1.2.0:1").reliable(),
            "reliable cannot be used with a session of another FLUTE sender",
        ),
    ];
    for (builder, words) in wrong {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let live = Sender::stream_builder().group("239.1.2.0").input(std::io::empty()).reliable().serve(listen);
    assert!(live.build().unwrap_err().to_string().contains("reliable cannot be used with live data"));
}

#[test]
fn live_data_refuses_what_is_of_files_for_the_reasons_of_the_command() {
    let sender = || Sender::stream_builder().group("239.1.2.0").input(std::io::empty());
    let key = || SecretKey::from_seed(&[7; 32]);
    let options = sender().to(Rate::from_mbps(1.0)).build().unwrap().options;
    assert_eq!((options.send.protocol.name(), options.send.layers.count()), ("elm", 1));
    assert_eq!((options.plan.units, options.share), (Units::Fixed(1316), 0.15));
    let two = sender().path("b").build().unwrap().options.send.layers;
    assert_eq!((two.count(), two.top_rate()), (2, Rate::from_kbps(256.0)));
    let low = Rate::from_kbps(64.0);
    let wrong = [
        (Sender::stream_builder().group("239.1.2.0"), "a sender of live data needs some"),
        (sender().follow(), "follow cannot be used with live data: live data has no files"),
        (sender().rounds(1), "rounds cannot be used with live data: live data ends with its inputs"),
        (sender().from(low).to(low), "from cannot be used with a stream of one input: it has one layer"),
        (sender().repair(2.0), "repair 2: a number from 0 to 1"),
        (sender().key(key()), "key cannot be used with live data: a signature is of the description"),
    ];
    for (builder, words) in wrong {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert!(sender().key(key()).group_key(GroupKey::from_seed(&[7; 32])).build().is_ok());
    let both = sender().state("s").key(key()).build().unwrap_err().to_string();
    assert_eq!(both.lines().count(), 2, "{both}");
    let files = Sender::builder().group("239.1.2.0").path("a").repair(0.1).build().unwrap_err();
    assert_eq!(
        files.to_string(),
        "repair cannot be used with files: it is of live data; files have no deadline"
    );
    let receiver = || Receiver::stream_builder().session_name("live").output(std::io::sink());
    let receiver_of = |within| receiver().start_within(within).build().unwrap().announced.unwrap();
    assert_eq!(receiver_of(Duration::from_secs(1)).within, Duration::from_secs(1));
    assert_eq!(receiver().build().unwrap().announced.unwrap().within, Duration::from_secs(45));
    let wrong = [
        (Receiver::stream_builder().group("239.1.2.0"), "a receiver of live data needs an output"),
        (receiver().mirror(), "mirror cannot be used with live data: live data has no files"),
        (receiver().into("in"), "output cannot be used with into: they name the same outputs"),
        (receiver().group("239.1.2.0"), "they name one session each"),
    ];
    for (builder, words) in wrong {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
