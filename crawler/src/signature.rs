//! Requests that prove who sends them: HTTP Message Signatures (RFC 9421) as Web Bot Auth asks for them.
//!
//! A signature covers the authority of the request and the place where the public key is found, with the times between
//! which it holds, the thumbprint of the key and a nonce.

use std::fmt;
use std::time::{Duration, SystemTime};

use data_encoding::{BASE64, BASE64_MIME_PERMISSIVE, BASE64URL_NOPAD};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{Ed25519KeyPair, KeyPair};
use url::Url;

use crate::frontier::host_of;

/// How long a signature holds.
const VALIDITY: Duration = Duration::from_secs(60);
/// What stands before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410).
const PKCS8_PREFIX: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
const PEM_BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const PEM_END: &str = "-----END PRIVATE KEY-----";

/// A key that signs requests.
pub struct SigningKey {
    pair: Ed25519KeyPair,
    thumbprint: String,
    agent: Option<String>,
    random: SystemRandom,
}

impl SigningKey {
    /// A new key as PEM, in the form that other programs read (PKCS #8).
    ///
    /// # Errors
    /// When the system gives no randomness.
    pub fn generate_pem() -> Result<String, InvalidKey> {
        let mut seed = [0; 32];
        SystemRandom::new().fill(&mut seed).map_err(|_| InvalidKey("the system gives no randomness"))?;
        let body = BASE64.encode(&[&PKCS8_PREFIX[..], &seed].concat());
        Ok(format!("{PEM_BEGIN}\n{body}\n{PEM_END}\n"))
    }

    /// The key of a PEM file. `agent` is the `https` address under which its directory is found, if it is.
    ///
    /// # Errors
    /// When it is no Ed25519 key.
    pub fn from_pem(text: &str, agent: Option<&Url>) -> Result<SigningKey, InvalidKey> {
        let body = text.split_once(PEM_BEGIN).and_then(|(_, rest)| rest.split_once(PEM_END));
        let body = body.ok_or(InvalidKey("no private key in PEM"))?.0;
        let der =
            BASE64_MIME_PERMISSIVE.decode(body.trim().as_bytes()).map_err(|_| InvalidKey("the PEM is damaged"))?;
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).map_err(|_| InvalidKey("no Ed25519 key"))?;
        let thumbprint = thumbprint(pair.public_key().as_ref());
        let agent = agent.map(|url| url.as_str().trim_end_matches('/').to_owned());
        Ok(SigningKey { pair, thumbprint, agent, random: SystemRandom::new() })
    }

    /// The name of the key: the SHA-256 of its public part as RFC 7638 has it.
    pub fn thumbprint(&self) -> &str {
        &self.thumbprint
    }

    /// The directory that tells others the public key, a JSON Web Key Set for
    /// `/.well-known/http-message-signatures-directory`.
    pub fn directory(&self) -> String {
        let x = BASE64URL_NOPAD.encode(self.pair.public_key().as_ref());
        let kid = &self.thumbprint;
        format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"{kid}","x":"{x}","use":"sig"}}]}}"#)
    }

    /// The headers that sign a request for a URL.
    pub(crate) fn headers(&self, url: &Url) -> Vec<(&'static str, String)> {
        let mut nonce = [0; 32];
        // Without randomness the times alone tell requests apart.
        let _ = self.random.fill(&mut nonce);
        let created = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        self.headers_at(&host_of(url), created, &BASE64.encode(&nonce))
    }

    fn headers_at(&self, authority: &str, created: u64, nonce: &str) -> Vec<(&'static str, String)> {
        let expires = created + VALIDITY.as_secs();
        let mut components = "\"@authority\"".to_owned();
        let mut base = format!("\"@authority\": {authority}\n");
        if let Some(agent) = &self.agent {
            components += " \"signature-agent\";key=\"sig1\"";
            base += &format!("\"signature-agent\";key=\"sig1\": \"{agent}\"\n");
        }
        let parameters = format!(
            "({components});created={created};expires={expires};keyid=\"{}\";alg=\"ed25519\";nonce=\"{nonce}\";tag=\"web-bot-auth\"",
            self.thumbprint
        );
        base += &format!("\"@signature-params\": {parameters}");
        let signature = BASE64.encode(self.pair.sign(base.as_bytes()).as_ref());
        let mut headers =
            vec![("signature-input", format!("sig1={parameters}")), ("signature", format!("sig1=:{signature}:"))];
        headers.extend(self.agent.iter().map(|agent| ("signature-agent", format!("sig1=\"{agent}\""))));
        headers
    }
}

fn thumbprint(public_key: &[u8]) -> String {
    let x = BASE64URL_NOPAD.encode(public_key);
    let key = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
    BASE64URL_NOPAD.encode(ring::digest::digest(&ring::digest::SHA256, key.as_bytes()).as_ref())
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SigningKey").field("thumbprint", &self.thumbprint).finish_non_exhaustive()
    }
}

/// Why a key cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidKey(&'static str);

#[cfg(test)]
mod tests {
    use super::*;
    use ring::signature::{ED25519, UnparsedPublicKey};

    /// The key of RFC 8037, appendix A.
    fn known_key(agent: Option<&str>) -> SigningKey {
        let seed = BASE64URL_NOPAD.decode(b"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
        let body = BASE64.encode(&[&PKCS8_PREFIX[..], &seed].concat());
        let agent = agent.map(|agent| agent.parse().unwrap());
        SigningKey::from_pem(&format!("{PEM_BEGIN}\r\n{body}\r\n{PEM_END}\r\n"), agent.as_ref()).unwrap()
    }

    #[test]
    fn the_key_of_the_standard_has_its_thumbprint() {
        let key = known_key(None);
        assert_eq!(key.thumbprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        assert!(key.directory().contains("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"));
        assert!(!format!("{key:?}").contains("nWGx"));
    }

    #[test]
    fn a_signature_verifies_over_the_base_of_the_standard() {
        let key = known_key(Some("https://bot.example/"));
        let headers = key.headers_at("example.com", 1_735_689_600, "bm9uY2U=");
        let parameters = headers[0].1.strip_prefix("sig1=").unwrap();
        assert_eq!(
            parameters,
            "(\"@authority\" \"signature-agent\";key=\"sig1\");created=1735689600;expires=1735689660;\
             keyid=\"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k\";alg=\"ed25519\";nonce=\"bm9uY2U=\";tag=\"web-bot-auth\""
        );
        assert_eq!(headers[2], ("signature-agent", "sig1=\"https://bot.example\"".to_owned()));
        let base = format!(
            "\"@authority\": example.com\n\"signature-agent\";key=\"sig1\": \"https://bot.example\"\n\"@signature-params\": {parameters}"
        );
        let signature = headers[1].1.strip_prefix("sig1=:").unwrap().strip_suffix(':').unwrap();
        let signature = BASE64.decode(signature.as_bytes()).unwrap();
        let public = UnparsedPublicKey::new(&ED25519, key.pair.public_key());
        public.verify(base.as_bytes(), &signature).unwrap();
        assert!(public.verify(base.replace("example.com", "other.com").as_bytes(), &signature).is_err());
    }

    #[test]
    fn new_keys_differ_and_what_is_no_key_is_refused() {
        let (first, second) = (SigningKey::generate_pem().unwrap(), SigningKey::generate_pem().unwrap());
        let thumbprint = |pem: &str| SigningKey::from_pem(pem, None).unwrap().thumbprint;
        assert_ne!(thumbprint(&first), thumbprint(&second));
        for broken in [
            "",
            "-----BEGIN PRIVATE KEY-----\n\n-----END PRIVATE KEY-----",
            &first[..60],
            &first.replace("MC4C", "MC4D"),
        ] {
            assert!(SigningKey::from_pem(broken, None).is_err(), "{broken}");
        }
    }
}
