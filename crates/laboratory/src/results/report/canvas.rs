//! Drawing into SVG with plotters: a sheet, planes with scales on it, and text.
//!
//! Plotters counts whole pixels. A sheet has [`FINE`] units to a pixel of the page, so that thin lines
//! and slow curves stay smooth.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::Ranged;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{
    Cartesian2d, Circle, DrawingArea, DrawingAreaErrorKind, IntoDrawingArea, PathElement, Polygon, Rectangle,
    SVGBackend, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor, ShapeStyle, TextStyle};

use super::palette::{AXIS, GRID, Ink, MUTED};
use crate::results::error::ResultsError;
use crate::results::text::decimal;

/// Units of a sheet to one pixel of the page.
pub(crate) const FINE: f64 = 2.0;
/// The size of text in plots, in pixels of the page.
pub(crate) const TEXT_SIZE: f64 = 12.5;

/// What plotters returns.
pub(crate) type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<std::io::Error>>;

/// For which width of page a plot is drawn. A page carries both and shows the one that fits, since text
/// in a plot that is only scaled down cannot be read on a telephone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// A desk's screen, and paper.
    Wide,
    /// A telephone.
    Narrow,
}

impl Width {
    /// The one or the other.
    pub(crate) fn pick<T>(self, wide: T, narrow: T) -> T {
        match self {
            Self::Wide => wide,
            Self::Narrow => narrow,
        }
    }
}

/// An SVG being drawn. Sizes are in pixels of the page.
pub(crate) struct Sheet<'a> {
    root: DrawingArea<SVGBackend<'a>, Shift>,
    /// Invisible areas with tooltips, which plotters cannot draw.
    titles: RefCell<String>,
}

/// Draws a plot for both widths and wraps them as a page wants them.
pub(crate) fn both(
    label: &str,
    size: impl Fn(Width) -> (f64, f64),
    paint: impl Fn(&Sheet<'_>, Width) -> Drawn,
) -> Result<String, ResultsError> {
    let mut out = String::new();
    for width in [Width::Wide, Width::Narrow] {
        let (across, down) = size(width);
        let svg = draw(across, down, |sheet| paint(sheet, width))
            .map_err(|error| ResultsError::Plot { plot: label.to_owned(), reason: error.to_string() })?;
        out.push_str(&finish(&svg, label, width));
    }
    Ok(out)
}

/// Draws a plot for a file of its own, on white.
pub(crate) fn alone(
    label: &str,
    width: f64,
    height: f64,
    paint: impl FnOnce(&Sheet<'_>) -> Drawn,
) -> Result<String, ResultsError> {
    let svg = draw(width, height, paint)
        .map_err(|error| ResultsError::Plot { plot: label.to_owned(), reason: error.to_string() })?;
    let svg = finish(&svg, label, Width::Wide);
    let (head, body) = svg.split_once('>').unwrap_or((&svg, ""));
    let page = "<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>";
    Ok(format!("{head} font-family=\"sans-serif\">\n{page}{}\n", body.trim_end()))
}

fn draw(width: f64, height: f64, paint: impl FnOnce(&Sheet<'_>) -> Drawn) -> Drawn<String> {
    let mut svg = String::new();
    let titles;
    {
        let size = (fine(width).unsigned_abs(), fine(height).unsigned_abs());
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let sheet = Sheet { root, titles: RefCell::default() };
        paint(&sheet)?;
        sheet.root.present()?;
        titles = sheet.titles.into_inner();
    }
    if let Some(end) = svg.rfind("</svg>") {
        svg.insert_str(end, &titles);
    }
    Ok(svg)
}

/// Plotters writes a fixed width and height, one attribute after the other and long numbers; a page needs
/// a short SVG that scales and has a label.
fn finish(svg: &str, label: &str, width: Width) -> String {
    let class = width.pick("plot wide", "plot narrow");
    let label = maud::html! { (label) }.into_string();
    let view = svg.split("viewBox=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("0 0 1 1");
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    let body = body
        .replace(" opacity=\"1\"", "")
        .replace(" font-family=\"sans-serif\"", "")
        .replace(" \"/>", "\"/>");
    format!(
        "<svg class=\"{class}\" viewBox=\"{view}\" role=\"img\" aria-label=\"{label}\" \
         xmlns=\"http://www.w3.org/2000/svg\">{body}"
    )
}

fn fine(pixels: f64) -> i32 {
    (pixels * FINE).round() as i32
}

/// A line's look: its colour, how much of it shows, and its width in pixels of the page.
pub(crate) fn line(color: RGBColor, opacity: f64, width: f64) -> ShapeStyle {
    ShapeStyle { color: color.mix(opacity), filled: false, stroke_width: fine(width).unsigned_abs().max(1) }
}

/// Where a text stands relative to its point, left or right.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Side {
    /// The text begins at the point.
    Start,
    /// The text is centred on the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// A number along an axis and what is written there.
#[derive(Debug, Clone)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) text: String,
}

/// Round numbers that cover a range, about this many, with as many decimals as distinguish them.
const POWERS: [f64; 9] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

pub(crate) fn ticks(range: &Range<f64>, about: usize) -> Vec<Tick> {
    let at = RangedCoordf64::from(range.clone()).key_points(about);
    let whole = |value: f64| (value - value.round()).abs() < 1e-6;
    let decimals =
        POWERS.iter().position(|power| at.iter().all(|at| whole(at * power))).unwrap_or(POWERS.len());
    at.into_iter().map(|at| Tick { at, text: decimal(at, decimals) }).collect()
}

/// A rectangle on the sheet with a scale in each direction.
pub(crate) struct Plane<'a> {
    area: DrawingArea<SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>,
    /// The scales' ends.
    pub(crate) x: Range<f64>,
    pub(crate) y: Range<f64>,
}

impl<'a> Sheet<'a> {
    /// A plane between these edges, in pixels of the page.
    pub(crate) fn plane(
        &self,
        across: Range<f64>,
        down: Range<f64>,
        x: Range<f64>,
        y: Range<f64>,
    ) -> Plane<'a> {
        // Upwards on paper is downwards in pixels.
        let pixels = (fine(across.start)..fine(across.end), fine(down.end)..fine(down.start));
        let area = self.root.apply_coord_spec(Cartesian2d::<RangedCoordf64, RangedCoordf64>::new(
            x.clone(),
            y.clone(),
            pixels,
        ));
        Plane { area, x, y }
    }

    /// A tooltip for an area, in pixels of the page.
    pub(crate) fn title(&self, across: Range<f64>, down: Range<f64>, text: &str) {
        let (x, y) = (fine(across.start), fine(down.start));
        let (width, height) = ((fine(across.end) - x).max(1), (fine(down.end) - y).max(1));
        let text = maud::html! { (text) }.into_string();
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.titles.borrow_mut(),
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"none\" \
             pointer-events=\"all\"><title>{text}</title></rect>"
        );
    }

    /// Text at a point in pixels of the page, centred in height.
    pub(crate) fn text(&self, text: &str, (x, y): (f64, f64), side: Side, ink: Ink) -> Drawn {
        let anchor = match side {
            Side::Start => HPos::Left,
            Side::Middle => HPos::Center,
            Side::End => HPos::Right,
        };
        let color = ink.color();
        // Plotters divides the size by 1.24 when it writes it.
        let style = TextStyle::from(("sans-serif", TEXT_SIZE * FINE * 1.24))
            .color(&color)
            .pos(Pos::new(anchor, VPos::Center));
        self.root.draw(&Text::new(text.to_owned(), (fine(x), fine(y)), style))
    }
}

impl Plane<'_> {
    /// Where a point lies, in pixels of the page.
    pub(crate) fn pixel(&self, point: (f64, f64)) -> (f64, f64) {
        let (x, y) = self.area.map_coordinate(&point);
        (f64::from(x) / FINE, f64::from(y) / FINE)
    }

    /// A line through the points, broken where a value is unknown and cut at the plane's top and bottom.
    pub(crate) fn line(&self, points: impl IntoIterator<Item = (f64, f64)>, style: ShapeStyle) -> Drawn {
        let mut piece: Vec<(f64, f64)> = Vec::new();
        for (x, y) in points {
            if y.is_finite() {
                piece.push((x, y.clamp(self.y.start, self.y.end)));
            } else if !piece.is_empty() {
                self.area.draw(&PathElement::new(std::mem::take(&mut piece), style))?;
            }
        }
        if piece.is_empty() { Ok(()) } else { self.area.draw(&PathElement::new(piece, style)) }
    }

    /// A filled rectangle over the plane's whole height.
    pub(crate) fn band(&self, from: f64, to: f64, ink: Ink) -> Drawn {
        if to <= from {
            return Ok(());
        }
        let corners = [(from, self.y.start), (to, self.y.end)];
        self.area.draw(&Rectangle::new(corners, ink.color().filled()))
    }

    /// A filled rectangle between two corners, of which this much shows.
    pub(crate) fn tile(&self, corners: [(f64, f64); 2], color: RGBColor, opacity: f64) -> Drawn {
        self.area.draw(&Rectangle::new(corners, color.mix(opacity).filled()))
    }

    /// The area between two curves over the same points, `(x, low, high)`, cut at the plane's top and
    /// bottom.
    pub(crate) fn between(&self, points: &[(f64, f64, f64)], color: RGBColor, opacity: f64) -> Drawn {
        let cut = |y: f64| y.clamp(self.y.start, self.y.end);
        let low = points.iter().map(|&(x, low, _)| (x, cut(low)));
        let high = points.iter().rev().map(|&(x, _, high)| (x, cut(high)));
        let corners: Vec<(f64, f64)> = low.chain(high).collect();
        self.area.draw(&Polygon::new(corners, color.mix(opacity).filled()))
    }

    /// A round mark of this radius in pixels of the page.
    pub(crate) fn dot(&self, point: (f64, f64), radius: f64, color: RGBColor) -> Drawn {
        self.area.draw(&Circle::new(point, fine(radius), color.filled()))
    }

    /// A hollow diamond of this half height in pixels of the page.
    pub(crate) fn diamond(
        &self,
        sheet: &Sheet<'_>,
        point: (f64, f64),
        half: f64,
        ink: Ink,
        page: Ink,
    ) -> Drawn {
        let (x, y) = self.pixel(point);
        let corner = |dx: f64, dy: f64| (fine(x + dx * half), fine(y + dy * half));
        let corners = vec![corner(0.0, -1.0), corner(1.0, 0.0), corner(0.0, 1.0), corner(-1.0, 0.0)];
        let outline: Vec<_> = corners.iter().copied().chain([corner(0.0, -1.0), corner(1.0, 0.0)]).collect();
        sheet.root.draw(&Polygon::new(corners, page.color().filled()))?;
        sheet.root.draw(&PathElement::new(outline, line(ink.color(), 1.0, 1.5)))
    }

    /// Lines across at the ticks, with their text at the left.
    pub(crate) fn rows(&self, sheet: &Sheet<'_>, ticks: &[Tick]) -> Drawn {
        for tick in ticks {
            self.line([(self.x.start, tick.at), (self.x.end, tick.at)], line(GRID.color(), 1.0, 1.0))?;
            let (x, y) = self.pixel((self.x.start, tick.at));
            sheet.text(&tick.text, (x - 8.0, y), Side::End, MUTED)?;
        }
        Ok(())
    }

    /// The axis along the bottom, with the ticks' text under it.
    pub(crate) fn bottom(&self, sheet: &Sheet<'_>, ticks: &[Tick]) -> Drawn {
        let foot = self.y.start;
        self.line([(self.x.start, foot), (self.x.end, foot)], line(AXIS.color(), 1.0, 1.0))?;
        for tick in ticks {
            let (x, y) = self.pixel((tick.at, foot));
            sheet.text(&tick.text, (x, y + 14.0), Side::Middle, MUTED)?;
        }
        Ok(())
    }
}
