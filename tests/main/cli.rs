//! Wrong words, missing files, settings files and closed pipes: the exit code and a sentence that helps.

use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::program::{pith_in, run};

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Runs `pith` in an empty folder; it must end with this code, say all of this on stderr, and leave no trace of a panic.
#[track_caller]
fn check(words: &[&str], code: i32, said: &[&str]) {
    check_in(&folder(), words, code, said);
}

#[track_caller]
fn check_in(folder: &TempDir, words: &[&str], code: i32, said: &[&str]) {
    let run = pith_in(folder.path(), words);
    assert_eq!(run.code, code, "pith {words:?} said {}{}", run.stdout, run.stderr);
    for text in said {
        assert!(run.stderr.contains(text), "pith {words:?} does not say {text:?} but {}", run.stderr);
    }
    assert!(!run.stderr.contains("panicked") && !run.stderr.contains("backtrace"), "{}", run.stderr);
}

#[test]
fn wrong_words_end_with_2_and_name_the_word() {
    check(&["crwal"], 2, &["crwal", "--help"]);
    check(&["demo", "--ouch"], 2, &["--ouch", "--help"]);
    check(&["demo", "--out"], 2, &["--out"]);
    check(&["demo", "surplus"], 2, &["surplus"]);
    check(&[], 2, &["Usage: pith", "demo"]);
}

#[test]
fn what_is_missing_is_named_with_a_way_out() {
    let missing = [
        &["extract", "missing.warc", "--out", "docs"][..],
        &["extract", "missing.html"],
        &["inspect", "missing.warc"],
        &["corpus", "dedup", "missing", "--out", "unique"],
        &["corpus", "stats", "missing"],
    ];
    for words in missing {
        let run = pith_in(folder().path(), words);
        assert!(run.code == 1 || run.code == 2, "pith {words:?} ends with {}", run.code);
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains("missing"), "{}", run.stderr);
        assert!(run.stdout.is_empty() && !run.stderr.contains("panicked"), "{}{}", run.stdout, run.stderr);
    }
    check(&["crawl", "--seeds", "missing.txt", "--out", "crawl"], 2, &["missing.txt"]);
    check(&["crawl", "not a url", "--out", "crawl"], 2, &["not a url", "hint:"]);
    check(&["crawl", "http://example.org/"], 2, &["--out"]);
    check(&["crawl", "http://example.org/", "--out", "crawl", "--scope", "planet"], 2, &["planet"]);
}

#[test]
fn help_and_version_go_to_stdout() {
    for words in [&["--help"][..], &["demo", "--help"], &["help"]] {
        let run = pith_in(folder().path(), words);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{words:?}");
        assert!(run.stdout.contains("Usage: pith"), "{}", run.stdout);
    }
    let run = pith_in(folder().path(), &["--version"]);
    assert_eq!(run.stdout, format!("pith {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn exit_codes_are_listed_in_the_help() {
    let help = pith_in(folder().path(), &["--help"]).stdout;
    assert!(help.contains("0 done, 1 failed, 2 wrong usage, 3 finished with losses"), "{help}");
}

#[test]
fn the_help_of_every_command_opens_with_two_examples() {
    for command in commands() {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = pith_in(folder().path(), &words).stdout;
        let before_usage = help.split("Usage:").next().expect("split gives one part at least");
        let examples = before_usage.matches(&format!("pith {command}")).count();
        assert!(examples >= 2, "`pith {command} --help` opens with {examples} examples:\n{help}");
    }
}

/// Every command that the help lists, with the commands below it.
fn commands() -> Vec<String> {
    let below = |words: &[&str]| -> Vec<String> {
        let words: Vec<&str> = words.iter().copied().chain(["--help"]).collect();
        let help = pith_in(folder().path(), &words).stdout;
        let list = help.split("\nCommands:\n").nth(1).unwrap_or("");
        list.lines()
            .take_while(|line| line.starts_with("  "))
            .filter(|line| !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| *name != "help")
            .map(str::to_owned)
            .collect()
    };
    let mut commands = Vec::new();
    for command in below(&[]) {
        let inner = below(&[&command]);
        if inner.is_empty() {
            commands.push(command);
        } else {
            commands.extend(inner.iter().map(|name| format!("{command} {name}")));
        }
    }
    assert!(commands.iter().any(|command| command == "demo"), "{commands:?}");
    commands
}

#[test]
fn an_existing_folder_is_never_written_to() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("pith-demo")).expect("a new folder");
    check_in(&folder, &["demo"], 1, &["pith-demo already exists", "hint:", "--out"]);
    assert_eq!(std::fs::read_dir(folder.path().join("pith-demo")).expect("it is still there").count(), 0);
}

#[test]
fn a_settings_file_gives_flags_and_a_flag_wins() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("taken")).expect("a new folder");
    std::fs::create_dir(folder.path().join("given")).expect("a new folder");
    std::fs::write(folder.path().join("pith.toml"), "[demo]\nout = \"taken\"\n").expect("a small file");
    check_in(&folder, &["demo", "--config", "pith.toml"], 1, &["taken already exists"]);
    check_in(&folder, &["--config=pith.toml", "demo"], 1, &["taken already exists"]);
    check_in(&folder, &["--config", "pith.toml", "demo", "--out", "given"], 1, &["given already exists"]);
    check_in(&folder, &["--config", "pith.toml", "demo", "--out=given"], 1, &["given already exists"]);
}

#[test]
fn a_settings_file_with_a_mistake_is_refused() {
    let folder = folder();
    let write = |text: &str| std::fs::write(folder.path().join("pith.toml"), text).expect("a small file");
    check_in(&folder, &["demo", "--config", "none.toml"], 2, &["none.toml: cannot read", "hint:"]);
    write("[demo\n");
    check_in(&folder, &["demo", "--config", "pith.toml"], 2, &["pith.toml: not valid TOML"]);
    write("[demo]\noutt = \"x\"\n");
    check_in(&folder, &["demo", "--config", "pith.toml"], 2, &["[demo] has no flag \"outt\"", "pith demo --help"]);
    write("[dmeo]\nout = \"x\"\n");
    check_in(&folder, &["demo", "--config", "pith.toml"], 2, &["there is no command [dmeo]", "pith --help"]);
    write("out = \"x\"\n");
    check_in(&folder, &["demo", "--config", "pith.toml"], 2, &["\"out\" stands outside a table", "[crawl]"]);
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pith"))
        .arg("--help")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn the_library_path_is_not_part_of_a_message() {
    let run = run(Command::new(env!("CARGO_BIN_EXE_pith")).args(["demo", "--out", "/proc/none/x"]));
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("/proc/none/x") && !run.stderr.contains(".rs:"), "{}", run.stderr);
}

#[test]
fn the_settings_file_of_the_folder_is_read_unasked_and_said() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("taken")).expect("a new folder");
    std::fs::write(folder.path().join("pith.toml"), "[demo]\nout = \"taken\"\n").expect("a small file");
    check_in(&folder, &["demo"], 1, &["pith.toml: --out=taken", "--no-config", "taken already exists"]);
    std::fs::create_dir(folder.path().join("pith-demo")).expect("a new folder");
    check_in(&folder, &["demo", "--no-config"], 1, &["pith-demo already exists"]);
    let run = pith_in(folder.path(), &["corpus", "filter", "--show-rules"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "a file that says nothing of a command is not mentioned");
    std::fs::write(folder.path().join("pith.toml"), "[demo]\noutt = 1\n").expect("a small file");
    check_in(&folder, &["demo"], 2, &["[demo] has no flag \"outt\""]);
    assert_eq!(pith_in(folder.path(), &["demo", "--help"]).code, 0);
}

#[test]
fn shells_get_completions_and_packages_get_manual_pages() {
    for (shell, word) in [("bash", "complete -F _pith"), ("zsh", "#compdef pith"), ("fish", "complete -c pith")] {
        let run = pith_in(folder().path(), &["completions", shell]);
        assert!(run.code == 0 && run.stdout.contains(word), "{shell}: {}", run.stdout);
    }
    check(&["completions", "cmd"], 2, &["cmd"]);
    let page = pith_in(folder().path(), &["man"]).stdout;
    assert!(page.contains(".TH") && page.contains("corpus"), "{page}");
    let folder = folder();
    assert_eq!(pith_in(folder.path(), &["man", "--out", "man1"]).code, 0);
    let page = std::fs::read_to_string(folder.path().join("man1/pith-corpus-dedup.1")).expect("a page per command");
    assert!(page.contains("threshold"), "{page}");
}

#[test]
fn errors_name_the_flag_and_the_cure() {
    let folder = folder();
    std::fs::write(folder.path().join("taken"), "a file").expect("a small file");
    std::fs::write(folder.path().join("page.html"), "<p>text").expect("a small file");
    check_in(&folder, &["extract", "page.html", "--out", "taken"], 1, &["taken", "`--out` is to be a folder"]);
    check_in(&folder, &["crawl", "http://a.test/", "--out", "taken"], 1, &["taken", "`--out` is to be a folder"]);
    std::fs::write(folder.path().join("sites.toml"), "[\"a.test\"]\ncontent = [\"p[=x]\"]\n").expect("a small file");
    let run = pith_in(folder.path(), &["extract", "page.html", "--rules", "sites.toml"]);
    assert!(run.stderr.contains("no qualified name in attribute selector"), "{}", run.stderr);
    check(&["extract", "https://a.test/"], 1, &["pith text URL"]);
    check(&["extract", "page.html", "--format", "text"], 1, &["no such file"]);
    check_in(&folder, &["extract", "page.html", "--format", "text"], 2, &["--out DIR"]);
}
