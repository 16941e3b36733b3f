//! `many FROM TO` runs seeds and prints those that break an invariant.

use layercast_explorer::explore;

fn main() {
    let number =
        |at| std::env::args().nth(at).and_then(|text: String| text.parse::<u64>().ok()).unwrap_or_default();
    let (from, to) = (number(1), number(2));
    let begin = std::time::Instant::now();
    let mut broken = 0;
    for seed in from..to {
        if let Err(error) = explore(seed, &mut |_| {}) {
            println!("{seed}: {error}");
            broken += 1;
        }
    }
    println!("{broken} of {} broken in {:?}", to - from, begin.elapsed());
}
