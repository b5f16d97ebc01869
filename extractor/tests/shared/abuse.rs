//! Hostile pages: shapes on which parsers take quadratic time, explode in memory or overflow the stack.

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
    ("title of separators", |n| rows(n, "<title>", "a - b | ", "</title><h1>a - b</h1><p>It rained all day.")),
    ("title of words, many headings", |n| {
        rows(n / 2, "<title>", "rain ", "</title>") + &numbered(n / 2, "", "<h1>rain in May #</h1>", "")
    }),
    ("heading in heading", |n| rows(n / 2, "", "<h1><div>", "") + &rows(n / 2, "", "long word ", "")),
    ("labels before a name", |n| rows(n, "<h1>Rain</h1><p>", "by/", "</p><p>It rained all day.")),
    ("bylines", |n| numbered(n, "<h1>Rain</h1>", "<p class=byline>By Ana Lima #</p>", "")),
    ("prices and metas", |n| {
        numbered(n / 2, "", "<meta name=m# content=#>", "") + &numbered(n / 2, "", "<p itemprop=price>#</p>", "")
    }),
    ("dates", |n| numbered(n, "<h1>Rain</h1>", "<p class=date>Posted 3/4/# 12</p>", "")),
    ("structured data in scripts", |n| {
        numbered(n, "", "<script type=application/ld+json>{\"@type\":\"Article\",\"headline\":\"#\"}</script>", "")
    }),
    ("structured data in lists", |n| {
        rows(
            n,
            "<script type=application/ld+json>[",
            "{\"@type\":\"Product\",\"offers\":[{\"price\":1}]},",
            "0]</script>",
        )
    }),
    ("sentences", |n| numbered(n, "<article><p>", "It rained # times in the town. ", "")),
    ("paragraphs", |n| numbered(n, "<article>", "<p>It rained # times in the town, and nobody went out.</p>", "")),
    ("paragraphs, all alike", |n| {
        rows(n, "<article>", "<p>It rained all day in the town, and nobody went out.</p>", "")
    }),
    ("one word", |n| rows(n, "<article><p>", "x", "")),
    ("abbreviations", |n| rows(n, "<article><p>", "Mr. A. B. e.g. U.S. 3.5 ", "")),
    ("full stops", |n| rows(n, "<article><p>word", ". ", "")),
    ("quotes and brackets", |n| rows(n, "<article><p>", "\u{201c}(\u{ab}\u{2018}[", "")),
    ("Chinese without an end", |n| rows(n, "<article><p>", "\u{7684}\u{4e2d}\u{56fd}\u{4eba}", "")),
    ("one Chinese letter", |n| rows(n, "<article><p>", "\u{4e00}", "")),
    ("Chinese sentences", |n| rows(n, "<article><p>", "\u{4e2d}\u{56fd}\u{4eba}\u{6c11}\u{3002}", "")),
    ("Thai", |n| rows(n, "<article><p>", "\u{0e20}\u{0e32}\u{0e29}\u{0e32}\u{0e44}", "")),
    ("combining marks", |n| rows(n, "<article><p>a", "\u{0301}", "")),
    ("links", |n| numbered(n, "<article>", "<a href=/a/#>It rained # times</a> ", "")),
    ("links that go up", |n| rows(n, "<a href=\"", "../", "\">x</a>")),
    ("links and a long base", |n| {
        rows(n / 2, "<base href=\"http://a.test/", "a/", "\">") + &numbered(n / 2, "", "<a href=#>x</a>", "")
    }),
    ("images", |n| numbered(n, "<article>", "<p><img src=/#.png alt='It rained #'></p>", "")),
    ("deep lists with text", |n| rows(n, "", "<ul><li>It rained all day.", "")),
    ("list items", |n| rows(n, "<article><ol>", "<li>It rained all day in the town.", "</ol>")),
    ("wide rows", |n| rows(n, "<article><table><tr>", "<td>rain", "</table>")),
    ("long tables", |n| rows(n, "<article><table>", "<tr><td>rain<td>sun", "</table>")),
    ("cells that span", |n| rows(n, "<article><table>", "<tr><td colspan=1000 rowspan=65534>rain", "</table>")),
    ("one row of cells that span", |n| {
        rows(n, "<article><table><tr><th>rain<th>sun<tr>", "<td colspan=1000>", "</table>")
    }),
    ("long class over paragraphs", |n| {
        numbered(n / 2, "<b class='", "a#-comment ", "'>") + &rows(n / 2, "", "<p>rain in May", "")
    }),
    ("long title over paragraphs", |n| {
        rows(n / 2, "<a href=/a title='", "rain ", "'>") + &rows(n / 2, "", "<p>rain in May", "")
    }),
    ("long link over paragraphs", |n| rows(n / 2, "<a href='/", "a", "'>") + &rows(n / 2, "", "<p>rain in May", "")),
    ("abbreviations behind spaces", |n| {
        rows(n / 2, "<article><pre>", " ", "") + &rows(n / 2, "", "Mr. A. B. 3.中", "")
    }),
    ("wrapped lines", |n| rows(n, "<article><pre>", "a line that is long enough to have been wrapped\u{2028}", "")),
    ("figure of images", |n| {
        rows(n / 2, "<figure>", "<p><a href=/>menu</a>", "") + &numbered(n / 2, "", "<img src=/#>", "<figcaption>rain")
    }),
    ("signatures", |n| rows(200, "", "<div class=signature>", "") + &rows(n, "", "<p>!", "")),
    ("lists in lists of data", |n| {
        let open = "[".repeat(120);
        rows(
            n,
            &format!("<p>rain<script type=application/json>{open}"),
            "1,",
            &format!("1{}</script>", "]".repeat(120)),
        )
    }),
    ("data in data", |n| {
        rows(n, "<p>rain<script type=application/json>[", "\"[[[[[[1]]]]]] rain and rain\",", "1]</script>")
    }),
    ("state of scripts", |n| rows(n, "<p>rain", "<script>window.__NEXT_DATA__={\"a\":[\"rain in May\"]}</script>", "")),
    ("state that does not end", |n| rows(n, "<p>rain<script>", "__NUXT__='\\", "</script>")),
    ("graph of objects", |n| rows(n, "<script type=application/ld+json>", "{\"@graph\":[", "</script><p>rain")),
    ("code", |n| rows(n, "<article><pre>", "`````` ", "</pre>")),
    ("backticks", |n| rows(n, "<article><p><code>", "` `` ", "</code>")),
    ("emphasis", |n| rows(n, "<article><p>", "<b>a</b><i>b</i>", "")),
    ("marks of markdown", |n| rows(n, "<article><p>", "*_[](#)<>~|\\", "")),
    ("class names", |n| numbered(n, "<p class='", "a#-comment-author ", "'>text")),
    ("class of many elements", |n| numbered(n, "<article>", "<div class='c# comment author'>rain</div>", "")),
    ("formulas", |n| rows(n, "<article><p>", "$x_1$ \\(y\\) ", "")),
];

/// A page of bytes, how many megabytes there are of it, and the page of about so many bytes.
pub type LargeShape = (&'static str, usize, fn(usize) -> Vec<u8>);

/// Pages whose length alone is the attack: nothing but text, in encodings and scripts that take the most work.
pub const LARGE: &[LargeShape] = &[
    ("Big5 noise", 5, |n| {
        let mut random = random_numbers();
        let mut pair = || {
            let number = random();
            let trail = number >> 8 & 0x7F;
            // Every character of the first level, and none that there is not.
            [0xA4 + (number & 0x1F) as u8, (if trail < 0x3F { 0x40 + trail } else { 0x62 + trail }) as u8]
        };
        b"<p>".iter().copied().chain((0..n / 2).flat_map(|_| pair())).collect()
    }),
    ("Chinese", 20, |n| {
        let mut random = random_numbers();
        let mut character = || match random() {
            number if number.is_multiple_of(12) => '，',
            number if number.is_multiple_of(25) => '。',
            number => char::from_u32(0x4E00 + number as u32 % 3000).unwrap_or('中'),
        };
        "<article><p>".chars().chain((0..n / 3).map(|_| character())).collect::<String>().into_bytes()
    }),
    ("text", 50, |n| {
        const WORDS: [&str; 16] = [
            "rain", "the", "of", "town", "and", "river", "a", "bridge", "it", "market", "was", "dark", "to", "nobody",
            "went", "Mr.",
        ];
        let mut random = random_numbers();
        let mut page = String::with_capacity(n + 64);
        page.push_str("<article><p>");
        while page.len() < n {
            let number = random() as usize;
            page.push_str(WORDS[number % WORDS.len()]);
            page.push_str(if (number >> 8).is_multiple_of(12) { ". " } else { " " });
        }
        page.into_bytes()
    }),
    ("random bytes", 5, |n| {
        let mut random = random_numbers();
        (0..n).map(|_| random() as u8).collect()
    }),
];

/// Numbers without a pattern, the same each time.
fn random_numbers() -> impl FnMut() -> u64 {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 16
    }
}
