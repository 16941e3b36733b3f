//! An agreement with every verdict, for tests.

use super::rows::Agreement;
use crate::results::summary::{FlowStatistics, FlowSummary, LinkSummary, SCHEMA};
use crate::results::{Role, Statistic, Summary};

fn of(samples: &[f64]) -> Statistic {
    Statistic::new(samples.iter().map(|sample| Some(*sample)))
}

fn flow(name: &str, kbps: &[f64], loss: &[f64], changes: Option<&[f64]>) -> FlowSummary {
    FlowSummary {
        name: name.to_owned(),
        protocol: "elm".to_owned(),
        role: Role::Receiver,
        session: None,
        node: "R1".to_owned(),
        measures: FlowStatistics {
            throughput_kbps: of(kbps),
            loss_rate: of(loss),
            lost_packets: None,
            late_kbps: None,
            level_changes: changes.map(of),
            mean_level: None,
            settled_after_s: None,
            movement: None,
            transfers: None,
            completion_s: None,
            completion_since_source_s: None,
            complete: None,
            object_received: None,
            limited: None,
            video: None,
            call: None,
        },
        why: None,
    }
}

fn link(name: &str, packets: f64, drops: f64, queue: &[f64]) -> LinkSummary {
    LinkSummary {
        name: name.to_owned(),
        utilisation: of(&[0.9, 0.91, 0.92]),
        drops: of(&[drops; 3]),
        marks: of(&[0.0; 3]),
        mean_queue_packets: of(queue),
        packets: Some(of(&[packets; 3])),
        losses: None,
        queue_delay_ms: None,
        queue_delay_p95_ms: None,
        queue_delay_p99_ms: None,
    }
}

fn summary(world: &str, flows: Vec<FlowSummary>, links: Vec<LinkSummary>) -> Summary {
    Summary {
        schema: SCHEMA,
        scenario: "two.toml".to_owned(),
        title: "Two".to_owned(),
        scenario_hash: String::new(),
        world: world.to_owned(),
        replications: 3,
        seed: 1,
        duration_s: 60.0,
        window_s: [20.0, 60.0],
        flows,
        groups: Vec::new(),
        links,
        windows: Vec::new(),
        lateness: None,
        engine: None,
    }
}

pub(super) fn agreement() -> Agreement {
    let simulated = summary(
        "simulated",
        vec![
            flow("elm@R1", &[900.0, 950.0, 1000.0], &[0.010, 0.011, 0.012], Some(&[4.0, 4.0, 4.0])),
            flow("tcp@R1", &[1000.0, 1005.0, 1010.0], &[0.0; 3], None),
        ],
        vec![link("G-R1", 10_000.0, 100.0, &[20.0, 21.0, 22.0]), link("R1-G", 0.0, 0.0, &[0.0; 3])],
    );
    let emulated = summary(
        "emulated",
        vec![
            flow("elm@R1", &[930.0, 980.0, 1000.0], &[0.030, 0.031, 0.032], Some(&[4.0, 4.0])),
            flow("tcp@R1", &[1200.0, 1205.0, 1210.0], &[0.0005; 3], None),
        ],
        vec![link("G-R1", 10_000.0, 150.0, &[27.0, 28.0, 27.5]), link("R1-G", 0.0, 0.0, &[0.0; 3])],
    );
    Agreement::new(&simulated, &emulated, 0.15, "layercast agree two.toml")
}
