//! Statistics against the golden vectors.

use layercast_laboratory::results::Statistic;
use layercast_laboratory::results::statistics::{
    half_width_95, jain_index, mean, standard_deviation, t_quantile_975,
};
use serde_json::Value;

fn vectors(file: &str) -> Value {
    let path = format!("{}/../../fixtures/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The vectors of the active family whose id begins like this.
fn active(prefix: &str) -> Vec<Value> {
    let all = vectors("vectors-active-and-unicast.json");
    let found: Vec<Value> = all["vectors"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|vector| vector["id"].as_str().unwrap().starts_with(prefix))
        .cloned()
        .collect();
    assert!(!found.is_empty(), "no vector {prefix}");
    found
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[track_caller]
fn close(ours: Option<f64>, expected: &Value, tolerance: f64) {
    match (ours, expected.as_f64()) {
        (Some(ours), Some(expected)) => {
            assert!((ours - expected).abs() <= tolerance, "{ours} is not {expected}")
        }
        (None, None) => {}
        (ours, expected) => panic!("{ours:?} is not {expected:?}"),
    }
}

#[test]
fn the_t_quantile_is_the_tables() {
    for vector in active("t-01") {
        let tolerance = vector["tolerance"].as_f64().unwrap();
        for (degrees, t) in
            vector["input"]["df"].as_array().unwrap().iter().zip(vector["expected"]["t"].as_array().unwrap())
        {
            close(t_quantile_975(degrees.as_u64().unwrap() as usize), t, tolerance);
        }
    }
    assert_eq!(t_quantile_975(0), None);
    let normal = t_quantile_975(1_000_000).unwrap();
    assert!((normal - 1.959_966).abs() < 1e-5, "{normal}");
}

#[test]
fn intervals_are_the_vectors() {
    for vector in active("ci-0") {
        let x = numbers(&vector["input"]["x"]);
        let (expected, tolerance) = (&vector["expected"], vector["tolerance"].as_f64().unwrap());
        close(mean(&x), &expected["mean"], tolerance);
        close(standard_deviation(&x), &expected["sd"], tolerance);
        close(half_width_95(&x), &expected["half_width"], tolerance);
    }
}

#[test]
fn the_jain_index_is_the_vectors() {
    for vector in active("jain-0") {
        close(jain_index(&numbers(&vector["input"]["x"])), &vector["expected"]["index"], 1e-9);
    }
    let equation = vectors("vectors-equation-based.json");
    let group =
        equation["groups"].as_array().unwrap().iter().find(|group| group["id"] == "fairness").unwrap();
    for case in group["cases"].as_array().unwrap() {
        close(jain_index(&numbers(&case["input"]["x"])), &case["expect"], 1e-9);
    }
    assert_eq!(jain_index(&[]), None);
    assert_eq!(jain_index(&[1e300, 1e300]), Some(1.0), "squares must not overflow");
    assert_eq!(jain_index(&[1e-300, 1e-300]), Some(1.0), "nor vanish");
    assert_eq!(jain_index(&[f64::NAN, 1.0]), None);
}

#[test]
fn what_is_undefined_stays_out_of_the_mean_but_in_the_samples() {
    let statistic = Statistic::new([Some(1.0), None, Some(f64::NAN), Some(f64::INFINITY), Some(3.0)]);
    assert_eq!(statistic.samples, [Some(1.0), None, None, None, Some(3.0)]);
    assert_eq!(statistic.mean, Some(2.0));
    assert_eq!(statistic.defined(), 2);
    assert!(statistic.ci95.is_some());
    assert_eq!(Statistic::new([Some(5.0)]).ci95, None, "one replication has no interval");
    let nothing = Statistic::new([None, None]);
    assert_eq!((nothing.mean, nothing.ci95), (None, None));
}
