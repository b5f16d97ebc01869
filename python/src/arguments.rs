//! What callers pass becomes typed values; what is wrong is named.

use std::error::Error as _;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use pith::Settings;
use pith_corpus::Error;
use pith_corpus::warc::Page;
use pith_extractor::{Comments, Favor, Language, Method, Options, Rules, Scope};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyString};

/// An argument of the wrong type, by its name.
pub fn wrong_type(name: &str, wanted: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let found = value.get_type().name().map_or("an object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{name} must be {wanted}, not {found}"))
}

/// A text; halves of surrogate pairs are replaced.
pub fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(text.to_string_lossy().into_owned()),
        Err(_) => Err(wrong_type(name, "str", value)),
    }
}

/// A text or `None`.
pub fn optional_text(name: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<String>> {
    match value {
        None => Ok(None),
        Some(value) if value.is_none() => Ok(None),
        Some(value) if value.cast::<PyString>().is_ok() => text(name, value).map(Some),
        Some(value) => Err(wrong_type(name, "str or None", value)),
    }
}

/// A flag.
fn flag(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.cast::<PyBool>().map(|flag| flag.is_true()).map_err(|_| wrong_type(name, "bool", value))
}

/// A number from zero on.
pub fn count(name: &str, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    if value.cast::<PyBool>().is_ok() {
        return Err(wrong_type(name, "int", value));
    }
    match value.extract::<i128>() {
        Ok(number) => usize::try_from(number)
            .map_err(|_| PyValueError::new_err(format!("{name} must not be negative, and fit into memory: {number}"))),
        Err(_) => Err(wrong_type(name, "int", value)),
    }
}

/// A number of threads; one per core where none is given.
pub fn jobs(value: Option<&Bound<'_, PyAny>>) -> PyResult<NonZeroUsize> {
    match value.filter(|value| !value.is_none()) {
        None => Ok(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)),
        Some(value) => {
            let number = count("jobs", value)?;
            let number = NonZeroUsize::new(number).filter(|number| number.get() <= 1024);
            number.ok_or_else(|| PyValueError::new_err("jobs must be between 1 and 1024"))
        }
    }
}

/// A number of seconds above zero.
pub fn seconds(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let seconds: f64 = value.extract().map_err(|_| wrong_type(name, "a number of seconds", value))?;
    if !(seconds > 0.0 && seconds < 1e6) {
        return Err(PyValueError::new_err(format!("{name} must be above zero and below a million: {seconds}")));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// One of the names that there are.
fn choice<T>(name: &str, value: &Bound<'_, PyAny>, choices: &[(&str, T)]) -> PyResult<T>
where
    T: Copy,
{
    let given = text(name, value)?;
    choices.iter().find(|choice| choice.0 == given).map(|choice| choice.1).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|choice| choice.0).collect();
        PyValueError::new_err(format!("{name} must be one of {}, not {given:?}", names.join(", ")))
    })
}

/// A ranking by its name.
pub fn method(value: &Bound<'_, PyAny>) -> PyResult<Method> {
    choice("method", value, &Method::ALL.map(|method| (method.name(), method)))
}

/// A language by its tag; `None` where nothing is known of it, which is the same as not to say it.
pub fn language(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Language>> {
    Ok(optional_text("language", value)?.and_then(|tag| Language::from_tag(&tag)))
}

/// Texts in any iterable but a text itself.
fn texts(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if value.is_none() {
        return Ok(Vec::new());
    }
    if value.cast::<PyString>().is_ok() {
        return Err(wrong_type(name, "a list of str", value));
    }
    let items = value.try_iter().map_err(|_| wrong_type(name, "a list of str", value))?;
    items.map(|item| text(name, &item?)).collect()
}

/// Every setting of documents, as the keyword arguments that all functions share.
pub fn settings(arguments: Option<&Bound<'_, PyDict>>) -> PyResult<(Settings, Duration)> {
    let options = Options { sentences: Options::PROGRAM_SENTENCES, ..Options::default() };
    let mut settings = Settings { options, fields: Vec::new(), languages: Vec::new() };
    let mut time_limit = pith::TIME_LIMIT;
    for (name, value) in arguments.into_iter().flatten() {
        let options = &mut settings.options;
        match text("an argument's name", &name)?.as_str() {
            "method" => options.method = method(&value)?,
            "sentences" => options.sentences = count("sentences", &value)?,
            "markdown" => options.markdown = flag("markdown", &value)?,
            "favor" => {
                let choices = [Favor::Balance, Favor::Precision, Favor::Recall].map(|favor| (favor.name(), favor));
                options.favor = choice("favor", &value, &choices)?;
            }
            "comments" => {
                let choices = [("auto", Comments::ByPageType), ("keep", Comments::Keep), ("drop", Comments::Drop)];
                options.comments = choice("comments", &value, &choices)?;
            }
            "scope" => options.scope = choice("scope", &value, &[Scope::Main, Scope::Page].map(|s| (s.name(), s)))?,
            "rules" => options.rules = rules(&value)?,
            "fields" => settings.fields = texts("fields", &value)?,
            "languages" => settings.languages = texts("languages", &value)?,
            "time_limit" => time_limit = seconds("time_limit", &value)?,
            unknown => return Err(PyTypeError::new_err(format!("there is no argument {unknown:?}"))),
        }
    }
    Ok((settings, time_limit))
}

/// Rules of sites: the text of a TOML file, or what [`Rules`] were made of before.
fn rules(value: &Bound<'_, PyAny>) -> PyResult<Option<Arc<Rules>>> {
    match optional_text("rules", Some(value))? {
        None => Ok(None),
        Some(source) => match Rules::parse(&source) {
            Ok(rules) => Ok(Some(Arc::new(rules))),
            Err(error) => Err(PyValueError::new_err(format!("rules: {error}"))),
        },
    }
}

/// A page at hand. Text is decoded already, whatever its `<meta charset>` says.
pub fn page(
    html: &Bound<'_, PyAny>,
    url: Option<&Bound<'_, PyAny>>,
    content_type: Option<&Bound<'_, PyAny>>,
) -> PyResult<Page> {
    let mut content_type = optional_text("content_type", content_type)?;
    let body = if let Ok(bytes) = html.cast::<PyBytes>() {
        bytes.as_bytes().to_vec()
    } else if let Ok(bytes) = html.cast::<PyByteArray>() {
        bytes.to_vec()
    } else if html.cast::<PyString>().is_ok() {
        let media_type = content_type.as_deref().and_then(|value| value.split(';').next()).unwrap_or("text/html");
        content_type = Some(format!("{media_type}; charset=utf-8"));
        text("html", html)?.into_bytes()
    } else {
        return Err(wrong_type("html", "bytes or str", html));
    };
    let url = optional_text("url", url)?.unwrap_or_default();
    let headers = content_type.map(|value| ("Content-Type".to_owned(), value.into_bytes()));
    Ok(pith::page_at_hand(url, headers.into_iter().collect(), body))
}

/// An error of the disk, with the class that Python gives such errors.
pub fn raised(error: Error) -> PyErr {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    match &error {
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(message)
        }
        Error::Io { .. } | Error::Locked { .. } | Error::InUse { .. } => PyOSError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}
