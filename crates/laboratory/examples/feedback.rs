//! Draws how many reports a feedback round of TFMCC has, over the number of receivers:
//! `cargo run --release -p layercast-laboratory --example feedback -- docs/images/tfmcc-reports.svg`.

#[path = "../tests/all/tfmcc_world.rs"]
#[allow(dead_code)]
mod tfmcc_world;

use std::error::Error;

use layercast_core::stream::Stream;
use plotters::prelude::*;
use tfmcc_world::{Leaf, Session, Tree, at, link};

/// Numbers of receivers.
const RECEIVERS: [usize; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
/// How long each session lasts, in seconds.
const SECONDS: f64 = 200.0;

/// Reports in a round, without those of the limiting receiver: the mean and the most.
#[derive(Clone, Copy)]
struct Reports {
    receivers: f64,
    mean: f64,
    most: f64,
}

fn reports(receivers: usize, own_losses: bool) -> Reports {
    let mut stream = Stream::new(1, "leaves");
    let leaf = |_| Leaf {
        delay_ms: stream.uniform_in(5.0, 50.0),
        loss: if own_losses { stream.uniform_in(0.001, 0.02) } else { 0.0 },
        stop_s: None,
    };
    let leaves = (0..receivers).map(leaf).collect();
    let source_link = if own_losses { link(100.0, 10.0, 500, 0.0) } else { link(2.0, 10.0, 50, 0.0) };
    let group_loss = if own_losses {
        vec![0.0, 0.001, 0.002, 0.005, 0.01, 0.0, 0.0, 0.0, 0.0, 0.02]
    } else {
        vec![0.0; 10]
    };
    let mut session = Session::new(&Tree { source_link, group_loss, leaves }, 20.0, 1);
    session.run_until(at(SECONDS));
    let others: Vec<f64> = session.rounds.iter().map(|round| f64::from(round.others)).collect();
    let mean = others.iter().sum::<f64>() / others.len().max(1) as f64;
    Reports { receivers: receivers as f64, mean, most: others.iter().copied().fold(0.0, f64::max) }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name the file to draw")?;
    let networks = [
        ("behind one bottleneck of 2 Mbit/s", false, RGBColor(0x1f, 0x6f, 0xb2)),
        ("each with losses of its own", true, RGBColor(0xc2, 0x55, 0x1b)),
    ];
    let root = SVGBackend::new(&path, (720, 380)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(14)
        .x_label_area_size(44)
        .y_label_area_size(52)
        .build_cartesian_2d((1.0f64..1200.0).log_scale(), 0.0f64..150.0)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("receivers")
        .y_desc("reports in a feedback round")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .draw()?;
    for (name, own_losses, colour) in networks {
        let all: Vec<Reports> = RECEIVERS.iter().map(|&count| reports(count, own_losses)).collect();
        for Reports { receivers, mean, most } in &all {
            println!("{name}: {receivers} receivers, mean {mean:.1}, most {most}");
        }
        let mean: Vec<(f64, f64)> = all.iter().map(|one| (one.receivers, one.mean)).collect();
        let most = all.iter().map(|one| (one.receivers, one.most));
        chart
            .draw_series([PathElement::new(mean, colour.stroke_width(3))])?
            .label(format!("{name}: mean"))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(3)));
        chart
            .draw_series(most.map(|point| Circle::new(point, 4, colour.filled())))?
            .label(format!("{name}: largest round"))
            .legend(move |(x, y)| Circle::new((x + 9, y), 4, colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .draw()?;
    root.present()?;
    Ok(())
}
