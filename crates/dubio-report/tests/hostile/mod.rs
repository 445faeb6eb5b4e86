//! Names that somebody else chose. Every renderer and every command is tried with each of them.

/// What a method, a file, an array or a set may be called to do harm.
pub(crate) const NAMES: [&str; 28] = [
    // Properties of every object of JavaScript.
    "constructor",
    "toString",
    "__proto__",
    "hasOwnProperty",
    // Lines that end where nobody sees it; an empty line; text from right to left.
    "line\u{2028}separator",
    "paragraph\u{2029}separator",
    "empty\n\nline",
    "\u{202e}desrever",
    // Commands to a terminal.
    "\u{1b}[2Jclear",
    "\u{1b}]0;title\u{7}",
    "\u{9b}31mred",
    "over\rwritten",
    "tab\tbed",
    // HTML and what ends it.
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)",
    "{{title}} &lt;",
    // Markdown.
    "[click](https://example.org/x)",
    "see https://example.org or www.example.org",
    "![image](x.png) `code` *bold* | cell",
    "# 1. heading",
    // LaTeX.
    "\\input{/etc/passwd} $x_1^2$ %",
    "[1cm] row",
    // Formulas of a spreadsheet.
    "=HYPERLINK(\"x\")",
    "@SUM(A1:A9)",
    "-2+3",
    "+1 'quoted' \\u0041",
    // Nothing wrong with it.
    "größer als 模型",
];
