//! Signed requests, checked by an independent implementation of HTTP Message Signatures.

use std::fs;
use std::path::Path;
use std::process::Command;

use pith_web::{Web, WebConfig};
use serde_json::{Value, json};

use super::program::pith_in;

/// Verifies every request of a log with the key of a directory; prints how many there are.
const VERIFY: &str = r#"
import base64, json, sys
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
data = json.load(open(sys.argv[1]))
keys = {key["kid"]: key for key in data["directory"]["keys"]}
class Keys(HTTPSignatureKeyResolver):
    def resolve_public_key(self, key_id):
        x = keys[key_id]["x"]
        return Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(x + "=" * (-len(x) % 4)))
class Message:
    def __init__(self, request):
        self.method, self.url, self.headers = "GET", request["url"], request["headers"]
verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=Keys())
for request in data["requests"]:
    results = verifier.verify(Message(request), expect_tag="web-bot-auth", require_components=["@authority"])
    assert len(results) == 1, results
    try:
        verifier.verify(Message({**request, "url": "http://elsewhere.test/"}), expect_tag="web-bot-auth")
        sys.exit("a signature for another host was taken")
    except Exception as refusal:
        assert "InvalidSignature" in type(refusal).__name__, refusal
print(len(data["requests"]))
"#;

fn has_package(python: &str) -> bool {
    let found = Command::new(python).args(["-c", "import http_message_signatures"]).output();
    found.is_ok_and(|output| output.status.success())
}

fn crawl(folder: &Path, words: &[&str]) -> (Vec<Value>, String) {
    let web = Web::start(WebConfig { hosts: 2, pages_per_host: 3, ..WebConfig::default() }).unwrap();
    let resolve = web.resolve();
    let fixed =
        ["crawl", &web.seeds()[0], "--out", "crawl", "--delay", "0s", "--resolve", &resolve, "--quiet", "--fresh"];
    let told = pith_in(folder, &[&fixed, words].concat());
    let requests = web.log().into_iter().map(|request| {
        let headers: Value = request
            .headers
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), Value::from(value.to_str().unwrap())))
            .collect();
        json!({"url": format!("http://{}{}", request.host, request.path), "headers": headers})
    });
    (requests.collect(), told.stderr)
}

#[test]
fn every_request_of_a_signed_crawl_verifies_and_others_are_not_signed() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let made = pith_in(folder, &["key", "new", "key.pem"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    assert_eq!(pith_in(folder, &["key", "new", "key.pem"]).code, 1, "a key is never replaced");
    let directory: Value = serde_json::from_str(&pith_in(folder, &["key", "directory", "key.pem"]).stdout).unwrap();
    assert_eq!(directory["keys"][0]["kid"], made.stdout.trim());

    let (plain, _) = crawl(folder, &[]);
    assert!(!plain.is_empty() && plain.iter().all(|request| request["headers"].get("signature").is_none()));
    let (signed, stderr) = crawl(folder, &["--sign-key", "key.pem", "--sign-agent", "https://bot.example/"]);
    assert!(signed.len() >= 3, "{stderr}");
    assert!(signed.iter().all(|request| request["headers"]["signature-agent"] == "sig1=\"https://bot.example\""));
    let nonces: std::collections::BTreeSet<&str> =
        signed.iter().map(|request| request["headers"]["signature-input"].as_str().unwrap()).collect();
    assert_eq!(nonces.len(), signed.len(), "no two signatures are the same");
    let (refused, stderr) = crawl(folder, &["--sign-key", "nothing.pem"]);
    assert!(refused.is_empty() && stderr.contains("nothing.pem"), "{stderr}");

    let python = std::env::var("PITH_PYTHON").unwrap_or_else(|_| "python3".into());
    if !has_package(&python) {
        println!("skipped: http-message-signatures is not installed");
        return;
    }
    fs::write(folder.join("verify.json"), json!({"directory": directory, "requests": signed}).to_string()).unwrap();
    let output = Command::new(&python).args(["-c", VERIFY]).arg(folder.join("verify.json")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), signed.len().to_string());
}
