//! Pages that nobody wrote: shapes on which parsers take quadratic time, explode in memory or overflow the stack.

/// A shape and its page of about `n_bytes`.
pub type Shape = (&'static str, fn(usize) -> String);

/// As many copies of `piece` as fit, between a head and a tail.
fn rows(n_bytes: usize, head: &str, piece: &str, tail: &str) -> String {
    format!("{head}{}{tail}", piece.repeat(n_bytes / piece.len() + 1))
}

/// Numbered copies of a piece, `#` standing for the number.
fn numbered(n_bytes: usize, head: &str, piece: &str, tail: &str) -> String {
    let mut page = String::with_capacity(n_bytes + 64);
    page += head;
    let mut number = 0usize;
    while page.len() < n_bytes {
        page += &piece.replace('#', &number.to_string());
        number += 1;
    }
    page + tail
}

/// Every shape.
pub const SHAPES: &[Shape] = &[
    ("deep div", |n| rows(n, "", "<div>", "text")),
    ("deep div, closed", |n| rows(n / 2, "", "<div>", "") + &rows(n / 2, "text", "</div>", "")),
    ("deep ul li", |n| rows(n, "", "<ul><li>", "text")),
    ("deep span", |n| rows(n, "", "<span>", "text")),
    ("deep b", |n| rows(n, "", "<b>", "text")),
    ("deep unknown names", |n| numbered(n, "", "<x#>", "text")),
    ("deep unknown names, closed", |n| numbered(n, "", "<x#><x#></x#>", "text")),
    ("deep tables", |n| rows(n, "", "<table><tr><td>", "text")),
    ("deep tables without rows", |n| rows(n, "", "<table>", "text")),
    ("deep blockquote", |n| rows(n, "", "<blockquote><p>x", "")),
    ("deep svg", |n| rows(n, "", "<svg><g>", "text")),
    ("deep math", |n| rows(n, "", "<math><mi>", "text")),
    ("deep foreign objects", |n| rows(n, "", "<svg><foreignObject><p>x", "")),
    ("deep template", |n| rows(n, "", "<template>", "text")),
    ("deep select", |n| rows(n, "", "<select><option>", "text")),
    ("deep buttons", |n| rows(n, "", "<button>x", "")),
    ("deep objects", |n| rows(n, "", "<object><b>", "text")),
    ("deep ruby", |n| rows(n, "", "<ruby><rt>x", "")),
    ("forms around divs", |n| rows(n, "", "<form><div></form>", "text")),
    ("misnested b and i with attributes", |n| {
        numbered(n / 3, "", "<b i=#>", "") + &numbered(n / 3, "", "<i i=#>", "") + &rows(n / 3, "", "x</b>", "")
    }),
    ("misnested b i div", |n| rows(n, "", "<b><i><div></b>", "text")),
    ("misnested a and div", |n| rows(n, "", "<a><div></a>", "text")),
    ("misnested font p", |n| rows(n, "", "<font size=1><p>x</font>", "")),
    ("a in a", |n| numbered(n, "", "<a href=#>x", "")),
    ("nobr in nobr", |n| rows(n, "", "<nobr>x", "")),
    ("formatting over paragraphs", |n| numbered(200, "", "<b i=#>", "") + &rows(n, "", "<p>x", "")),
    ("children moved again and again", |n| {
        numbered(300, "", "<b i=#><div>", "") + &rows(n / 2, "", "<br>", "") + &numbered(n / 2, "", "</b><b i=#>", "")
    }),
    ("end tags that close nothing", |n| rows(500, "", "<div>", "") + &rows(n, "", "</span></b></p>", "text")),
    ("formatting end tags under blocks", |n| rows(2000, "<b>", "<div>", "") + &rows(n, "", "</b>", "text")),
    ("text in tables", |n| rows(n, "<table>", "x<tr>", "")),
    ("blocks in tables", |n| rows(n, "<table>", "<div>x</div><tr>", "")),
    ("formatting in tables", |n| rows(n, "<table><b>", "<tr>x<td>y", "")),
    ("tables closed at depth", |n| rows(2000, "", "<div>", "") + &rows(n, "", "<table></table>", "")),
    ("items at depth", |n| rows(2000, "", "<div>", "") + &rows(n, "", "<li></li>", "")),
    ("attributes of one tag", |n| numbered(n, "<p ", "a#=1 ", ">text")),
    ("attributes of one name", |n| rows(n, "<p ", "a=1 ", ">text")),
    ("attributes of html", |n| numbered(n, "", "<html a#=1>", "text")),
    ("formatting with many attributes", |n| {
        let attributes = numbered(800, "", " a#=1", "");
        rows(n, "", &format!("<b{attributes}>"), "text")
    }),
    ("one long attribute", |n| rows(n, "<p title=\"", "x", "\">text")),
    ("one long unquoted attribute", |n| rows(n, "<p title=", "x", ">text")),
    ("one long name", |n| rows(n, "<", "x", ">text")),
    ("one long text", |n| rows(n, "<p>", "word ", "")),
    ("unclosed quote", |n| rows(n, "<p title=\"", "x>", "")),
    ("unclosed comments", |n| rows(n, "text", "<!--", "")),
    ("comments of dashes", |n| rows(n, "text<!--", "-", "")),
    ("unclosed script", |n| rows(n, "text", "<script>", "")),
    ("unclosed script in a page", |n| rows(n, "text", "<script><!--<script></script>", "</body>")),
    ("unclosed style in a page", |n| rows(n, "text", "<style><p>x", "</body>")),
    ("unclosed title in a page", |n| rows(n, "text", "<title>", "</body></html>")),
    ("unclosed textarea", |n| rows(n, "text", "<textarea>", "")),
    ("unclosed plaintext", |n| rows(n, "text", "<plaintext>", "")),
    ("unclosed CDATA", |n| rows(n, "<svg>", "<![CDATA[", "")),
    ("declarations", |n| rows(n, "text", "<!x><?y></ z>", "")),
    ("less-than signs", |n| rows(n, "text", "<", "")),
    ("ampersands", |n| rows(n, "text", "&", "")),
    ("character references", |n| rows(n, "text", "&amp;&#8217;&notin;&nosuchname;", "")),
    ("long references", |n| rows(n, "text &", "a", ";") + &rows(n / 8, "&#", "9", ";")),
    ("NUL", |n| rows(n, "<p>", "\0", "text\0")),
    ("carriage returns", |n| rows(n, "<p>", "\r", "text")),
    ("framesets", |n| rows(n, "", "<frameset><frame>", "")),
    ("empty elements", |n| rows(n, "", "<p></p>", "")),
    ("one letter between tags", |n| rows(n, "", "x<b>", "")),
    ("table cells", |n| rows(n, "<table><tr>", "<td>", "")),
    ("bodies and heads", |n| rows(n, "", "</body></html><head><body>x<!--c-->", "")),
];
