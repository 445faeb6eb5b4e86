//! The engine that draws figures without a browser: Vega in a JavaScript interpreter that is part of the
//! program. What the page shows and what a file holds are drawn by the same code.

use rquickjs::{CatchResultExt, Context, Ctx, Runtime};

pub(crate) const VEGA: &str = include_str!("../../vendor/vega.min.js");
pub(crate) const VEGA_LITE: &str = include_str!("../../vendor/vega-lite.min.js");
pub(crate) const THEME: &str = include_str!("../../page/theme.json");
const HOST: [&str; 3] = [
    include_str!("../../host/helvetica.js"),
    include_str!("../../host/pdf.js"),
    include_str!("../../host/host.js"),
];

/// Why a figure could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("{figure} could not be drawn: {why}")]
pub struct DrawingError {
    /// The figure.
    pub figure: String,
    /// What the engine says.
    pub why: String,
}

/// An interpreter with Vega loaded.
pub(crate) struct Engine {
    runtime: Runtime,
    context: Context,
}

impl Engine {
    pub(crate) fn new() -> Result<Self, DrawingError> {
        let start = || -> rquickjs::Result<Self> {
            let runtime = Runtime::new()?;
            let context = Context::full(&runtime)?;
            Ok(Self { runtime, context })
        };
        let failed = |why: String| DrawingError { figure: "the engine".into(), why };
        let engine = start().map_err(|e| failed(e.to_string()))?;
        for source in HOST.into_iter().chain([VEGA, VEGA_LITE]) {
            engine.context.with(|ctx| evaluate(&ctx, source)).map_err(failed)?;
        }
        Ok(engine)
    }

    /// Calls a function of the host with a text; the function leaves its answer, or what went
    /// wrong, in global variables.
    pub(crate) fn call(&self, function: &str, argument: &str) -> Result<String, String> {
        self.context.with(|ctx| {
            ctx.globals().set("argument", argument).map_err(|e| e.to_string())?;
            evaluate(&ctx, &format!("{function}(argument)"))
        })?;
        // Drawing waits for promises, which are fulfilled here.
        while self.runtime.is_job_pending() {
            self.runtime.execute_pending_job().map_err(|e| e.to_string())?;
        }
        self.context.with(|ctx| {
            let globals = ctx.globals();
            let wrong: Option<String> = globals.get("wrong").map_err(|e| e.to_string())?;
            let answer: Option<String> = globals.get("answer").map_err(|e| e.to_string())?;
            match (wrong, answer) {
                (Some(wrong), _) => Err(wrong),
                (None, Some(answer)) => Ok(answer),
                (None, None) => Err("it came to no end".to_string()),
            }
        })
    }
}

fn evaluate(ctx: &Ctx<'_>, source: &str) -> Result<(), String> {
    ctx.eval::<(), _>(source).catch(ctx).map_err(|e| e.to_string())
}
