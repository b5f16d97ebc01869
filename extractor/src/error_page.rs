//! Pages that say nothing but that there is nothing: errors of a server, addresses without a page, checks of visitors.

/// A page with more words says something else as well.
const MAX_WORDS: usize = 60;

/// How many lines from the top may say it.
const MAX_LINES: usize = 3;

/// What error pages say in their title or first lines, in lower case.
const PHRASES: [&str; 56] = [
    "404 not found",
    "error 404",
    "404 error",
    "page not found",
    "not found (404)",
    "404 page",
    "http 404",
    "403 forbidden",
    "error 403",
    "403 error",
    "access denied",
    "401 unauthorized",
    "410 gone",
    "400 bad request",
    "429 too many requests",
    "too many requests",
    "405 not allowed",
    "500 internal server error",
    "internal server error",
    "error 500",
    "502 bad gateway",
    "bad gateway",
    "503 service",
    "service unavailable",
    "service temporarily unavailable",
    "504 gateway",
    "gateway time-out",
    "gateway timeout",
    "the requested url was not found",
    "page you requested",
    "page you are looking for",
    "page you were looking for",
    "page you're looking for",
    "page you’re looking for",
    "page cannot be found",
    "page can't be found",
    "page can’t be found",
    "page could not be found",
    "page doesn't exist",
    "page doesn’t exist",
    "page does not exist",
    "page isn't available",
    "page isn’t available",
    "error establishing a database connection",
    "seite nicht gefunden",
    "page introuvable",
    "page non trouvée",
    "página no encontrada",
    "página não encontrada",
    "pagina non trovata",
    "страница не найдена",
    "页面不存在",
    "ページが見つかりません",
    "verify you are human",
    "checking your browser before",
    "attention required! | cloudflare",
];

/// Whether a page with this title, main text and number of words is an error page.
pub(crate) fn is_error_page(title: Option<&str>, text: &str, n_words: usize) -> bool {
    if n_words > MAX_WORDS {
        return false;
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty()).take(MAX_LINES);
    title.into_iter().chain(lines).any(|line| {
        let line = line.to_lowercase();
        matches!(line.trim(), "404" | "403" | "500" | "not found" | "forbidden" | "just a moment...")
            || PHRASES.iter().any(|phrase| line.contains(phrase))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_says_only_that_there_is_none_is_an_error() {
        for (title, text) in [
            (Some("404 Not Found"), ""),
            (None, "404\n\nThe page you are looking for does not exist."),
            (Some("Access denied"), "You do not have permission to see this."),
            (Some("Ihre Zeitung"), "Seite nicht gefunden"),
            (Some("Just a moment..."), "Enable cookies to go on."),
        ] {
            assert!(is_error_page(title, text, 10), "{title:?} {text}");
        }
        assert!(!is_error_page(Some("The flood"), "The bridge was not found where it stood.", 8));
        assert!(!is_error_page(Some("Page not found: a history of the 404 error"), "It began in Geneva.", 300));
    }
}
