//! A report: a study put in order, ready to be rendered.

use crate::chapter::{Chapter, chapters};
use crate::conclude::conclude;
use crate::figure::Figure;
use crate::figures;
use crate::headline::{headline, overall};
use crate::ranking::Ranking;
use crate::study::{Study, Warning};
use crate::table::Table;
use crate::tables;
use crate::warnings::warnings;

/// A study put in order.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// What it is made of.
    pub study: &'a Study,
    /// The methods of the study, in its order: the same position, the same colour.
    pub methods: Vec<&'a str>,
    /// All parts together, where there are several.
    pub overview: Option<Table>,
    /// What they say together.
    pub conclusion: Option<String>,
    /// A part for each data set and network.
    pub parts: Vec<Part<'a>>,
}

/// What there is to say of one data set and network.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// The runs.
    pub chapter: Chapter<'a>,
    /// Who is ahead; `None` when no run has a score to rank by.
    pub ranking: Option<Ranking<'a>>,
    /// What the ranking says.
    pub headline: String,
    /// A sentence for each rank.
    pub conclusions: Vec<String>,
    /// What a reader must know before believing a number.
    pub warnings: Vec<Warning>,
    /// The rest, section by section.
    pub sections: Vec<Section>,
}

/// Figures and tables on one question.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its name in addresses.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Figures.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
}

impl<'a> Report<'a> {
    /// The report of a study.
    pub fn of(study: &'a Study) -> Self {
        let chapters = chapters(study);
        let mut methods: Vec<(usize, &str)> =
            chapters.iter().flat_map(|c| &c.methods).map(|m| (m.style, m.name)).collect();
        methods.sort_unstable();
        methods.dedup();
        let methods: Vec<&str> = methods.into_iter().map(|(_, name)| name).collect();
        let parts: Vec<Part<'a>> = chapters.into_iter().map(Part::of).collect();
        let ranked: Vec<_> = parts.iter().map(|p| (&p.chapter, p.ranking.as_ref())).collect();
        let rankings: Vec<&Ranking<'_>> =
            ranked.iter().filter_map(|(_, ranking)| *ranking).collect();
        let conclusion = overall(&methods, &rankings);
        Self { study, overview: tables::overview(&methods, &ranked), conclusion, methods, parts }
    }
}

impl<'a> Part<'a> {
    fn of(chapter: Chapter<'a>) -> Self {
        let ranking = Ranking::of(&chapter);
        let conclusions = ranking.iter().flat_map(|ranking| {
            (0..ranking.standings.len()).map(|rank| conclude(&chapter, ranking, rank))
        });
        Self {
            headline: ranking.as_ref().map_or_else(nothing, |ranking| headline(&chapter, ranking)),
            conclusions: conclusions.collect(),
            warnings: warnings(&chapter, ranking.as_ref()),
            sections: sections(&chapter, ranking.as_ref()),
            chapter,
            ranking,
        }
    }
}

fn nothing() -> String {
    "No run has predictions that could be ranked.".to_string()
}

/// Every section that has something to show.
fn sections(chapter: &Chapter<'_>, ranking: Option<&Ranking<'_>>) -> Vec<Section> {
    let score = ranking.map_or("nll", |ranking| ranking.score);
    let section = |id, title, figures: Vec<Option<Figure>>, tables: Vec<Table>| Section {
        id,
        title,
        figures: figures.into_iter().flatten().collect(),
        tables,
    };
    let some = |table: Option<Table>| -> Vec<Table> { table.into_iter().collect() };
    let compared: Vec<Table> =
        [tables::main_scores(chapter), ranking.and_then(tables::differences)]
            .into_iter()
            .flatten()
            .collect();
    let all = vec![
        section("scores", "Scores", vec![figures::scores(chapter, score)], compared),
        section(
            "reliability",
            "Is the confidence calibrated?",
            vec![figures::reliability(chapter)],
            vec![],
        ),
        section(
            "intervals",
            "Are the intervals calibrated?",
            vec![
                figures::coverage(chapter),
                figures::pit(chapter),
                figures::quantile_calibration(chapter),
                figures::quantile_levels(chapter),
                figures::sharpness(chapter),
                figures::predictions(chapter),
            ],
            vec![],
        ),
        section(
            "checks",
            "Does the uncertainty match the errors?",
            vec![figures::checks(chapter)],
            tables::checks(chapter),
        ),
        section(
            "selective",
            "Which predictions are uncertain?",
            vec![
                figures::rejection(chapter),
                figures::risk_coverage(chapter),
                figures::error_detection(chapter),
            ],
            some(tables::mistakes(chapter)),
        ),
        section(
            "classes",
            "Which classes are confused?",
            vec![figures::confusion(chapter)],
            some(tables::classes(chapter)),
        ),
        section(
            "shift",
            "What happens under distribution shift?",
            vec![figures::shift(chapter, score), figures::attack(chapter, score)],
            some(tables::shifts(chapter, score)),
        ),
        section(
            "ood",
            "Are out-of-distribution inputs detected?",
            vec![figures::ood(chapter), figures::roc(chapter), figures::mixing(chapter)],
            tables::ood(chapter),
        ),
        section(
            "decomposition",
            "Where does the uncertainty come from?",
            vec![figures::decomposition(chapter)],
            vec![],
        ),
        section(
            "members",
            "How many members are needed?",
            vec![figures::members(chapter, score), figures::equivalents(chapter, score)],
            some(tables::equivalents(chapter, score)),
        ),
        section(
            "cost",
            "What does it cost?",
            vec![figures::cost(chapter, score)],
            some(tables::costs(chapter)),
        ),
        section("decisions", "What do the decisions cost?", vec![], tables::decisions(chapter)),
        section("groups", "Is it as good for every group?", vec![], tables::groups(chapter)),
        section(
            "stability",
            "How robust are the scores?",
            vec![
                figures::bins(chapter),
                figures::temperature(chapter),
                figures::correlation(chapter),
            ],
            vec![],
        ),
        section("all", "Every score", vec![], tables::all_scores(chapter)),
    ];
    all.into_iter().filter(|s| !s.figures.is_empty() || !s.tables.is_empty()).collect()
}
