//! Prices as shops write them: `1.149,00 €`, `US$ 11.99`, `44 890 тг.`.

/// An amount and, where it is certain, its currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Price {
    /// A decimal number with a point: `1149.00`.
    pub amount: String,
    /// The ISO 4217 code.
    pub currency: Option<String>,
}

/// Longer texts are no prices.
const MAX_BYTES: usize = 120;

/// Signs that stand for one currency alone, the longer ones first. `$` and `¥` are several.
const SIGNS: [(&str, &str); 19] = [
    ("US$", "USD"),
    ("R$", "BRL"),
    ("A$", "AUD"),
    ("C$", "CAD"),
    ("NZ$", "NZD"),
    ("HK$", "HKD"),
    ("€", "EUR"),
    ("£", "GBP"),
    ("₹", "INR"),
    ("₩", "KRW"),
    ("원", "KRW"),
    ("₽", "RUB"),
    ("₴", "UAH"),
    ("₺", "TRY"),
    ("zł", "PLN"),
    ("Kč", "CZK"),
    ("тг", "KZT"),
    ("円", "JPY"),
    ("元", "CNY"),
];

/// Codes that shops write beside amounts.
const CODES: &str = "|USD|EUR|GBP|CAD|AUD|NZD|CHF|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|HRK|RUB|UAH|TRY|INR|CNY|JPY|KRW|TWD|HKD|SGD|\
    MYR|THB|IDR|PHP|VND|BRL|ARS|CLP|COP|MXN|PEN|ZAR|NGN|KES|EGP|ILS|AED|SAR|KZT|ISK|";

impl Price {
    /// The first price in a text that shows a currency.
    pub(crate) fn shown_in(text: &str) -> Option<Price> {
        if text.len() > MAX_BYTES {
            return None;
        }
        let currency = currency_of(text);
        let has_sign = currency.is_some() || text.contains(['$', '¥', '￥']) || text.to_lowercase().contains("kn");
        let amount = amount_in(text).filter(|_| has_sign)?;
        Some(Price { amount, currency })
    }

    /// The price in a field of structured data, where no sign need stand.
    pub(crate) fn in_data(text: &str) -> Option<Price> {
        if text.len() > MAX_BYTES {
            return None;
        }
        let plain = text.trim();
        let is_plain = !plain.is_empty() && plain.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let amount = match is_plain && plain.matches('.').count() <= 1 && !plain.starts_with('.') {
            true => Some(plain.trim_end_matches('.').to_owned()),
            false => amount_in(plain),
        };
        amount.filter(|amount| is_positive(amount)).map(|amount| Price { amount, currency: currency_of(text) })
    }

    /// Whether both are the same number.
    pub(crate) fn equals(&self, other: &Price) -> bool {
        match (self.amount.parse::<f64>(), other.amount.parse::<f64>()) {
            (Ok(a), Ok(b)) => (a - b).abs() < 0.005,
            _ => false,
        }
    }
}

fn is_positive(amount: &str) -> bool {
    amount.parse::<f64>().is_ok_and(|number| number > 0.0 && number < 1e12)
}

fn currency_of(text: &str) -> Option<String> {
    let code = text.split(|c: char| !c.is_ascii_alphabetic()).find(|word| {
        word.len() == 3
            && CODES.contains(&format!("|{}|", word.to_ascii_uppercase()))
            && *word == word.to_ascii_uppercase()
    });
    let signed = || SIGNS.iter().find(|(sign, _)| text.contains(sign)).map(|(_, code)| (*code).to_owned());
    code.map(str::to_owned).or_else(signed)
}

/// The first number of a text, its thousands put together and its decimals behind a point.
fn amount_in(text: &str) -> Option<String> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}');
    let rest = &text[start..];
    let run = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
    // Groups of figures with the mark before each.
    let mut groups: Vec<(char, &str)> = Vec::new();
    let mut mark = ' ';
    for piece in run.split_inclusive(|c: char| !c.is_ascii_digit()) {
        let figures = piece.trim_end_matches(|c: char| !c.is_ascii_digit());
        if figures.is_empty() {
            break;
        }
        groups.push((mark, figures));
        mark = piece.chars().last().filter(|c| !c.is_ascii_digit()).unwrap_or(' ');
    }
    let mut amount = groups.first()?.1.to_owned();
    for (index, (mark, figures)) in groups.iter().enumerate().skip(1) {
        let is_last = index + 1 == groups.len();
        match figures.len() {
            3 if amount.len() <= 12 && !amount.contains('.') => amount.push_str(figures),
            1 | 2 if matches!(mark, '.' | ',') && !amount.contains('.') && (is_last || groups[index + 1].0 == ' ') => {
                amount.push('.');
                amount.push_str(figures);
            }
            _ => break,
        }
    }
    Some(amount).filter(|amount| is_positive(amount))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_in_any_notation() {
        for (text, amount, currency) in [
            ("€ 119,01", "119.01", Some("EUR")),
            ("1.149,00 €", "1149.00", Some("EUR")),
            ("€1,149.00", "1149.00", Some("EUR")),
            ("44 890 тг.", "44890", Some("KZT")),
            ("US$11.99", "11.99", Some("USD")),
            ("$60", "60", None),
            ("2,900원~", "2900", Some("KRW")),
            ("Cena: 13,40 €", "13.40", Some("EUR")),
            ("69.95 EUR", "69.95", Some("EUR")),
            ("997 zł /szt.", "997", Some("PLN")),
            ("270,00 Kn 540,00 Kn", "270.00", None),
        ] {
            let price = Price::shown_in(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((price.amount.as_str(), price.currency.as_deref()), (amount, currency), "{text}");
        }
        for text in ["957 bought", "0 €", "free", "€", "", "up to 20 %"] {
            assert_eq!(Price::shown_in(text), None, "{text}");
        }
        assert_eq!(Price::in_data("1.499").map(|price| price.amount).as_deref(), Some("1.499"));
        assert_eq!(Price::in_data("1,499.00").map(|price| price.amount).as_deref(), Some("1499.00"));
        assert_eq!(Price::in_data("0"), None);
    }
}
