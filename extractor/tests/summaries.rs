//! Any text, any ranking, any budget: no panic, picks in order and within the budget; and texts of 10 MB that nobody
//! wrote, in bounded time and memory.

use pith_extractor::{
    Analysis, Budget, Language, Method, SummaryOptions, count_words, explain, sentences_of, split_sentences, summarize,
    summarize_analysis,
};
use proptest::prelude::*;

/// Letters, marks and blanks of several scripts, and whatever else there is.
const ANY_TEXT: &str =
    "(\\PC|[a-e .,!?…'\"\n\t0-9。！？「」，；\u{2028}\u{a0}中文男友發脾氣ção😀]|the |rain |de |são ){0,200}";

fn any_budget() -> impl Strategy<Value = Budget> {
    prop_oneof![
        (0usize..12).prop_map(Budget::Sentences),
        (0usize..80).prop_map(Budget::Words),
        (0usize..200).prop_map(Budget::Characters),
        (-0.5f64..1.5).prop_map(Budget::Share),
        Just(Budget::Share(f64::NAN)),
    ]
}

fn any_language() -> impl Strategy<Value = Option<Language>> {
    prop_oneof![
        Just(None),
        Just(Some(Language::ENGLISH)),
        Just(Some(Language::PORTUGUESE)),
        Just(Some(Language::CHINESE_TRADITIONAL)),
        Just(Some(Language::JAPANESE)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn picks_are_in_order_and_within_the_budget(
        text in ANY_TEXT,
        title in proptest::option::of("[a-e中文 .]{0,20}"),
        language in any_language(),
        budget in any_budget(),
    ) {
        prop_assert_eq!(split_sentences(&text, language).collect::<String>(), text.clone());
        let sentences = sentences_of(&text, language);
        let n_characters: usize = sentences.iter().map(|sentence| sentence.chars().count()).sum();
        for method in Method::ALL {
            let options = SummaryOptions { title: title.as_deref(), language, method, budget };
            let picks = summarize(&text, &options);
            prop_assert!(picks.windows(2).all(|pair| pair[0].position < pair[1].position), "{} out of order", method);
            for pick in &picks {
                prop_assert!(pick.score.is_finite(), "{} scores {}", method, pick.score);
                if language.is_some() {
                    prop_assert_eq!(pick.text.as_str(), sentences[pick.position]);
                }
            }
            let characters: usize = picks.iter().map(|pick| pick.text.chars().count()).sum();
            match budget {
                Budget::Sentences(n) => prop_assert!(picks.len() <= n),
                Budget::Words(n) => prop_assert!(picks.iter().map(|pick| count_words(&pick.text)).sum::<usize>() <= n),
                Budget::Characters(n) => prop_assert!(characters <= n),
                Budget::Share(share) if share.is_nan() => prop_assert!(picks.is_empty()),
                Budget::Share(share) => {
                    prop_assert!(characters as f64 <= share.clamp(0.0, 1.0) * n_characters as f64 || language.is_none());
                }
            }
        }
    }

    #[test]
    fn an_explanation_tells_of_every_sentence_and_every_pick(text in ANY_TEXT, n in 0usize..6) {
        let sentences = sentences_of(&text, None);
        let analysis = Analysis::of(sentences, None, None);
        for method in Method::ALL {
            let explained = explain(&analysis, method, Budget::Sentences(n));
            prop_assert_eq!(explained.sentences.len(), analysis.n_sentences());
            let mut ranks: Vec<usize> = explained.sentences.iter().filter_map(|sentence| sentence.rank).collect();
            ranks.sort_unstable();
            prop_assert_eq!(&ranks, &(1..=ranks.len()).collect::<Vec<usize>>());
            // The seed's TF-IDF passes over short sentences, KL stops when nothing makes the summary better.
            let all = !matches!(method, Method::TfIdf | Method::Kl);
            let expected = n.min(analysis.n_sentences());
            prop_assert!(ranks.len() == expected || !all && ranks.len() < expected, "{} picks {}", method, ranks.len());
        }
    }
}

/// One test, so that nothing else runs in the process while it is measured.
#[test]
fn ten_megabytes_of_anything_take_bounded_time_and_memory() {
    const BYTES: usize = 10_000_000;
    /// Splitting and counting, and every ranking after that, on a build that may be optimised for nothing.
    const MAX_SECONDS: f64 = 20.0;
    /// Three million sentences of one word each cost the most.
    const MAX_MEGABYTES: usize = 2_000;
    let shapes = [
        "a", ".", "?", "…", "。", "「", "😀", "中", "中。", "a b. ", "\n", "é", "發。", "Mr. ", "1.", "x\n\n", "ab12-",
    ];
    println!("{:8} {:>9} {:>9} {:>14} {:>9}", "text", "sentences", "seconds", "slowest", "seconds");
    for shape in shapes {
        let text = shape.repeat(BYTES / shape.len());
        let begun = cpu_seconds();
        let language = Language::of(&text);
        let analysis = Analysis::of(sentences_of(&text, language), Some("a title"), language);
        let prepared = cpu_seconds() - begun;
        let mut slowest = (0.0, "");
        for method in Method::ALL {
            let begun = cpu_seconds();
            let picks = summarize_analysis(&analysis, method, Budget::Words(100));
            let seconds = cpu_seconds() - begun;
            assert!(picks.len() <= 100);
            if seconds > slowest.0 {
                slowest = (seconds, method.name());
            }
        }
        let n = analysis.n_sentences();
        println!("{shape:8?} {n:9} {prepared:9.2} {:>14} {:9.2}", slowest.1, slowest.0);
        assert!(prepared < MAX_SECONDS, "{shape:?} takes {prepared} seconds");
        assert!(slowest.0 < MAX_SECONDS, "{shape:?}: {} takes {} seconds", slowest.1, slowest.0);
    }
    if let Some(peak) = peak_megabytes() {
        println!("at most {peak} MB");
        assert!(peak < MAX_MEGABYTES, "{peak} MB");
    }
}

/// Seconds of this thread on a processor, so that a busy machine does not count.
fn cpu_seconds() -> f64 {
    let Ok(stat) = std::fs::read_to_string("/proc/thread-self/schedstat") else {
        return std::time::UNIX_EPOCH.elapsed().map_or(0.0, |since| since.as_secs_f64());
    };
    stat.split_whitespace().next().and_then(|first| first.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// The most memory that this process has had.
fn peak_megabytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<usize>().ok().map(|kilobytes| kilobytes / 1_000)
}
