//! Media types, as the Web Platform Tests spell them.

use pith_crawler::MediaType;
use serde_json::Value;

use super::suite::{Tally, cases, own_and};

#[test]
fn media_types_of_the_standard() {
    media_types("mime_wpt_mime_types", &own_and("media_types", "mime_wpt_mime_types"));
}

#[test]
fn media_types_that_were_generated() {
    if let Some(cases) = cases("mime_wpt_generated_mime_types") {
        media_types("mime_wpt_generated_mime_types", &cases);
    }
}

fn media_types(name: &'static str, cases: &[Value]) {
    let mut tally = Tally::new(name);
    for case in cases {
        let Some(input) = case["input"].as_str() else { continue };
        let parsed = MediaType::parse(input);
        let spelled = parsed.as_ref().map(MediaType::to_string);
        let label = parsed.as_ref().and_then(|parsed| parsed.parameter("charset"));
        let encoding = label.and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes()));
        let passed = spelled.as_deref() == case["output"].as_str()
            && (case["output"].is_null()
                || case.get("encoding").is_none()
                || encoding.map(encoding_rs::Encoding::name) == case["encoding"].as_str());
        tally.count(passed, || None, || format!("{input:?} expected {} got {spelled:?}", case["output"]));
    }
    tally.finish();
}
