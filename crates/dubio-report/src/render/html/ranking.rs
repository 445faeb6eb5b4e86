//! The first screen: who is ahead, what to conclude, and what to beware of.

use std::fmt::Write;

use super::{escaped, key, mark};
use crate::number::{places, shown};
use crate::ranking::{Ranking, Standing};
use crate::report::{Part, Report};
use crate::study::Warning;
use crate::table::summary;

pub(super) fn write(out: &mut String, report: &Report<'_>, index: usize, part: &Part<'_>) {
    let name = match part.chapter.name() {
        name if name.is_empty() => first_heading(part).to_string(),
        name => name,
    };
    let _ = write!(out, "<h2 id=\"c{index}-name\">{}</h2>", escaped(&name));
    let _ = write!(out, "<p class=\"lead\">{}</p>", escaped(&part.headline));
    write_warnings(out, report, index, part);
    // One method alone has no rank; its scores follow at once.
    if let Some(ranking) = part.ranking.as_ref().filter(|_| part.chapter.methods.len() > 1) {
        write_ranking(out, index, part, ranking);
    }
}

/// What the first screen is called where nobody named the data.
pub(super) fn first_heading(part: &Part<'_>) -> &'static str {
    if part.chapter.methods.len() > 1 { "Ranking" } else { "Summary" }
}

fn write_warnings(out: &mut String, report: &Report<'_>, index: usize, part: &Part<'_>) {
    let own = if index == 0 { &report.study.warnings[..] } else { &[] };
    let all: Vec<&Warning> = own.iter().chain(&part.warnings).collect();
    if all.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "<aside class=\"warnings\" aria-label=\"Warnings\"><h3>Before you rely on it</h3><ul>"
    );
    for warning in all {
        let (what, why) = (escaped(&warning.what), escaped(&warning.why));
        let _ = write!(out, "<li><details><summary>{what}</summary>{why}</details></li>");
    }
    out.push_str("</ul></aside>");
}

fn write_ranking(out: &mut String, index: usize, part: &Part<'_>, ranking: &Ranking<'_>) {
    let card = part.chapter.card(ranking.score);
    let (arrow, summary) = card
        .map_or(("", String::new()), |card| (card.direction.arrow(), summary(ranking.score, card)));
    let score = ranking.score;
    let id = format!("c{index}-ranking");
    let _ = write!(
        out,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-labelledby=\"{id}\"><table class=\"ranking\">\
         <caption id=\"{id}\">Ranked by <strong>{score}</strong> {arrow} <span>{}</span></caption>\
         <thead><tr><th scope=\"col\"><span class=\"unseen\">Rank</span></th><th scope=\"col\">Method</th>\
         <th scope=\"col\">{score}</th><th scope=\"col\" class=\"strip\">95 % interval</th>\
         <th scope=\"col\">What to conclude</th></tr></thead><tbody>",
        escaped(&summary)
    );
    let ends = ends(ranking);
    for (position, standing) in ranking.standings.iter().enumerate() {
        write_standing(out, index, position + 1, standing, &part.conclusions[position], ends);
    }
    for (method, why) in &ranking.without {
        let name = escaped(method.name);
        let _ = write!(
            out,
            "<tr data-of=\"{}\"><td>—</td><th scope=\"row\">{}{name}</th><td>—</td><td class=\"strip\"></td>\
             <td class=\"words\">Not ranked: {}.</td></tr>",
            key(method.name),
            mark(method.style),
            escaped(why)
        );
    }
    out.push_str("</tbody></table></div>");
}

/// The least and the greatest value that the strips show; infinite values are left out.
fn ends(ranking: &Ranking<'_>) -> (f64, f64) {
    let reach = |s: &Standing<'_>| s.summary.interval.unwrap_or((s.summary.mean, s.summary.mean));
    let finite = |v: &f64| v.is_finite();
    let all: Vec<(f64, f64)> = ranking.standings.iter().map(reach).collect();
    let lo = all.iter().map(|r| r.0).filter(finite).fold(f64::INFINITY, f64::min);
    let hi = all.iter().map(|r| r.1).filter(finite).fold(f64::NEG_INFINITY, f64::max);
    (lo, hi)
}

fn write_standing(
    out: &mut String,
    index: usize,
    rank: usize,
    standing: &Standing<'_>,
    conclusion: &str,
    (least, most): (f64, f64),
) {
    let summary = &standing.summary;
    let name = escaped(standing.method.name);
    let digits = places(summary.mean, 4).min(4);
    let std =
        summary.std.map_or(String::new(), |d| format!("<small> ± {}</small>", shown(d, digits)));
    let (lo, hi) = summary.interval.unwrap_or((summary.mean, summary.mean));
    let percent = |v: f64| {
        let fraction = if most > least { (v - least) / (most - least) } else { 0.5 };
        format!("{:.1}%", 100.0 * fraction.clamp(0.0, 1.0))
    };
    let words = match summary.interval {
        Some((lo, hi)) => format!("{} to {}", shown(lo, digits), shown(hi, digits)),
        None => "—".to_string(),
    };
    let tied = if standing.may_be_first() { " class=\"first\"" } else { "" };
    let _ = write!(
        out,
        "<tr data-of=\"{}\"{tied}><td>{}</td><th scope=\"row\"><a href=\"#c{index}-runs\">{}{name}</a></th>\
         <td>{}{std}</td><td class=\"strip\"><span class=\"interval\" style=\"--lo:{};--hi:{};--at:{};--c:{}\" \
         aria-hidden=\"true\"></span><small>{words}</small></td><td class=\"words\">{}</td></tr>",
        key(standing.method.name),
        rank,
        mark(standing.method.style),
        shown(summary.mean, digits),
        percent(lo),
        percent(hi),
        percent(summary.mean),
        crate::palette::Style::of(standing.method.style).colour(),
        escaped(conclusion)
    );
}
