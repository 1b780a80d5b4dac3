//! SVG as PDF: one page of filled and stroked paths, which is all that our figures are made of once
//! their texts are outlines.

use std::fmt::Write as _;

use resvg::tiny_skia::{Path, PathSegment, Transform};
use resvg::usvg::{FillRule, Group, Node, Paint, Tree};

/// Points of the page to a pixel of the figure: 72 and 96 make an inch.
const POINTS: f32 = 0.75;

/// The figure as PDF (ISO 32000-1, §7.5: a header, objects, a table of where they begin, a trailer).
pub(super) fn pdf(tree: &Tree) -> Vec<u8> {
    let size = tree.size();
    let (width, height) = (size.width() * POINTS, size.height() * POINTS);
    let mut page = Page::default();
    // PDF's y goes upwards.
    let upright = Transform::from_row(POINTS, 0.0, 0.0, -POINTS, 0.0, height);
    page.group(tree.root(), upright, 1.0);
    let states = page.opacities.iter().enumerate();
    let states: String = states
        .map(|(n, opacity)| format!("/G{n} << /ca {opacity} /CA {opacity} >> "))
        .collect();
    let content = page.content;
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_string(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_string(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents 4 0 R \
             /Resources << /ExtGState << {states}>> >> >>"
        ),
        format!(
            "<< /Length {} >>\nstream\n{content}endstream",
            content.len()
        ),
    ];
    let mut file = String::from("%PDF-1.4\n");
    let mut places = String::new();
    for (n, object) in objects.iter().enumerate() {
        // Each entry has twenty bytes.
        places.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", n + 1));
    }
    let (count, start) = (objects.len() + 1, file.len());
    file.push_str(&format!(
        "xref\n0 {count}\n0000000000 65535 f \n{places}trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    ));
    file.into_bytes()
}

#[derive(Default)]
struct Page {
    content: String,
    /// The opacities that something has, each once.
    opacities: Vec<f32>,
}

impl Page {
    fn group(&mut self, group: &Group, page: Transform, opacity: f32) {
        let opacity = opacity * group.opacity().get();
        for node in group.children() {
            match node {
                Node::Group(group) => self.group(group, page, opacity),
                Node::Text(text) => self.group(text.flattened(), page, opacity),
                Node::Path(path) if path.is_visible() => {
                    let placed = path
                        .data()
                        .clone()
                        .transform(page.pre_concat(path.abs_transform()));
                    let scale = page.sx * path.abs_transform().get_scale().0;
                    if let Some(placed) = placed {
                        self.path(path, &placed, scale, opacity);
                    }
                }
                // Our figures have none.
                Node::Path(_) | Node::Image(_) => {}
            }
        }
    }

    /// A path in its place; `scale`: points to a unit of its widths.
    fn path(&mut self, path: &resvg::usvg::Path, placed: &Path, scale: f32, opacity: f32) {
        if let Some(fill) = path.fill()
            && let Paint::Color(c) = fill.paint()
        {
            self.state(fill.opacity().get() * opacity);
            self.colour((c.red, c.green, c.blue), "rg");
            self.outline(placed);
            self.content.push_str(match fill.rule() {
                FillRule::NonZero => "f\n",
                FillRule::EvenOdd => "f*\n",
            });
        }
        if let Some(stroke) = path.stroke()
            && let Paint::Color(c) = stroke.paint()
        {
            self.state(stroke.opacity().get() * opacity);
            self.colour((c.red, c.green, c.blue), "RG");
            let dashes = stroke.dasharray().unwrap_or_default().iter();
            let dashes: Vec<String> = dashes.map(|d| (d * scale).to_string()).collect();
            let width = stroke.width().get() * scale;
            // Writing to a string cannot fail.
            let _ = writeln!(self.content, "{width} w [{}] 0 d", dashes.join(" "));
            self.outline(placed);
            self.content.push_str("S\n");
        }
    }

    fn state(&mut self, opacity: f32) {
        let known = self.opacities.iter().position(|known| *known == opacity);
        let n = known.unwrap_or_else(|| {
            self.opacities.push(opacity);
            self.opacities.len() - 1
        });
        let _ = writeln!(self.content, "/G{n} gs");
    }

    fn colour(&mut self, (red, green, blue): (u8, u8, u8), operator: &str) {
        let [r, g, b] = [red, green, blue].map(|part| f32::from(part) / 255.0);
        let _ = writeln!(self.content, "{r} {g} {b} {operator}");
    }

    fn outline(&mut self, path: &Path) {
        let out = &mut self.content;
        let mut last = (0.0, 0.0);
        for segment in path.segments() {
            let _ = match segment {
                PathSegment::MoveTo(p) => writeln!(out, "{} {} m", p.x, p.y),
                PathSegment::LineTo(p) => writeln!(out, "{} {} l", p.x, p.y),
                // PDF has cubic curves only.
                PathSegment::QuadTo(c, p) => {
                    let towards = |from: f32, control: f32| from + (control - from) * 2.0 / 3.0;
                    let (x1, y1) = (towards(last.0, c.x), towards(last.1, c.y));
                    let (x2, y2) = (towards(p.x, c.x), towards(p.y, c.y));
                    writeln!(out, "{x1} {y1} {x2} {y2} {} {} c", p.x, p.y)
                }
                PathSegment::CubicTo(a, b, p) => {
                    writeln!(out, "{} {} {} {} {} {} c", a.x, a.y, b.x, b.y, p.x, p.y)
                }
                PathSegment::Close => writeln!(out, "h"),
            };
            if let PathSegment::MoveTo(p)
            | PathSegment::LineTo(p)
            | PathSegment::QuadTo(_, p)
            | PathSegment::CubicTo(_, _, p) = segment
            {
                last = (p.x, p.y);
            }
        }
    }
}
