//! The log of a command on stderr, which is off unless it is asked for.

use clap::ValueEnum;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt};

/// The flags of a command that logs.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct LogArgs {
    /// Log what happens on stderr, down to this level; there is no progress line then
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = LogLevel::Off)]
    log_level: LogLevel,
    /// How the log is written: lines for people, or a JSON object a line
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

impl LogArgs {
    /// Whether anything is logged.
    pub fn is_on(self) -> bool {
        self.log_level != LogLevel::Off
    }

    /// Begins to log. The events are those of pith; the libraries below it keep quiet.
    pub fn start(self) {
        let level = match self.log_level {
            LogLevel::Off => return,
            LogLevel::Error => LevelFilter::ERROR,
            LogLevel::Warn => LevelFilter::WARN,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Trace => LevelFilter::TRACE,
        };
        let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
        let layer = match self.log_format {
            LogFormat::Text => lines.boxed(),
            LogFormat::Json => lines.json().flatten_event(true).boxed(),
        };
        let targets = Targets::new().with_target("pith", level);
        let subscriber = tracing_subscriber::registry().with(layer.with_filter(targets));
        // A second one in the same process would fail: the first one goes on.
        let _ = tracing::subscriber::set_global_default(subscriber);
    }
}
