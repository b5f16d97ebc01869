//! Why there is no response: what an error of the HTTP client means for its URL.

use std::error::Error as StdError;
use std::io;

use crate::outcome::Outcome;
use crate::resolve::NoAddress;
use crate::trouble::local_trouble;

/// Why a response cannot be had now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotNow {
    /// This machine is in trouble.
    Trouble(&'static str),
    /// There was no memory for the whole body.
    Memory,
}

/// Why there is no response.
pub(super) enum Failure {
    Outcome(Outcome),
    NotNow(NotNow),
}

impl Failure {
    /// What an error of the HTTP client means; `had_network` tells whether other machines could be reached before.
    pub(super) fn of(error: &reqwest::Error, had_network: bool) -> Failure {
        match local_trouble(error, had_network) {
            Some(what) => Failure::NotNow(NotNow::Trouble(what)),
            None => Failure::Outcome(outcome_of(error)),
        }
    }
}

impl From<Outcome> for Failure {
    fn from(outcome: Outcome) -> Failure {
        Failure::Outcome(outcome)
    }
}

pub(super) fn no_address(why: NoAddress) -> Outcome {
    match why {
        NoAddress::Unknown => Outcome::NoAddress,
        NoAddress::Blocked => Outcome::BlockedAddress,
    }
}

/// Whether a TLS error says that the two sides do not trust or understand each other, so that trying again is no use.
fn is_lasting(error: &rustls::Error) -> bool {
    use rustls::{AlertDescription as Alert, Error};
    match error {
        Error::InvalidCertificate(_)
        | Error::NoCertificatesPresented
        | Error::UnsupportedNameType
        | Error::PeerIncompatible(_) => true,
        Error::AlertReceived(alert) => matches!(
            alert,
            Alert::HandshakeFailure
                | Alert::ProtocolVersion
                | Alert::UnrecognisedName
                | Alert::BadCertificate
                | Alert::UnsupportedCertificate
                | Alert::CertificateRevoked
                | Alert::CertificateExpired
                | Alert::CertificateUnknown
                | Alert::CertificateRequired
                | Alert::UnknownCA
        ),
        _ => false,
    }
}

/// The outcome for an error of the HTTP client.
pub(super) fn outcome_of(error: &reqwest::Error) -> Outcome {
    let mut source = error.source();
    while let Some(cause) = source {
        let cause = innermost(cause);
        if let Some(why) = cause.downcast_ref::<NoAddress>() {
            return no_address(*why);
        }
        if cause.downcast_ref::<rustls::Error>().is_some_and(is_lasting) {
            return Outcome::TlsError;
        }
        source = cause.source();
    }
    if error.is_timeout() {
        Outcome::Timeout
    } else if error.is_connect() {
        Outcome::NoConnection
    } else {
        Outcome::BrokenAnswer
    }
}

/// The error inside an I/O error, however often it was wrapped: connectors wrap what the TLS library wrapped, and `source`
/// skips what an I/O error holds.
fn innermost<'e>(error: &'e (dyn StdError + 'static)) -> &'e (dyn StdError + 'static) {
    let mut error = error;
    while let Some(inner) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        error = inner;
    }
    error
}
