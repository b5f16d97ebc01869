//! What ships beside the program: units of systemd, and the files of a Debian package.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pith_web::{Web, WebConfig};

use super::program::pith_in;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_command_of_the_service_crawls_and_goes_on() {
    let unit = fs::read_to_string(root().join("packaging/pith-crawl.service")).unwrap();
    let command = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/pith ")).expect("a command");
    let words: Vec<&str> = command.split(' ').collect();
    let web = Web::start(WebConfig { hosts: 1, pages_per_host: 4, ..WebConfig::default() }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("sites.txt"), &web.seeds()[0]).unwrap();
    let settings = format!("[crawl]\nresolve = [{:?}]\ndelay = \"0s\"\n", web.resolve());
    fs::write(folder.path().join("pith.toml"), settings).unwrap();
    for _ in 0..2 {
        let run = pith_in(folder.path(), &words);
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    assert!(folder.path().join("crawl/pages/pages-00000.warc.zst").exists());
}

#[test]
fn systemd_accepts_the_units() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["pith-crawl.service", "pith-crawl.timer"] {
        let unit = fs::read_to_string(root().join("packaging").join(name)).unwrap();
        // The program and its manual page are not installed here.
        let unit = unit.replace("/usr/bin/pith ", &format!("{} ", env!("CARGO_BIN_EXE_pith")));
        let lines: Vec<&str> = unit.lines().filter(|line| !line.starts_with("Documentation=man:")).collect();
        fs::write(folder.path().join(name), lines.join("\n") + "\n").unwrap();
    }
    let units = ["pith-crawl.service", "pith-crawl.timer"].map(|name| folder.path().join(name));
    let Ok(output) = Command::new("systemd-analyze").arg("verify").args(units).output() else {
        eprintln!("skipped: there is no systemd-analyze");
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let about_ours: Vec<&str> = said.lines().filter(|line| line.contains("pith-crawl")).collect();
    assert!(output.status.success() && about_ours.is_empty(), "{said}");
}

#[test]
fn everything_that_the_debian_package_takes_is_there_or_is_made_by_its_script() {
    let manifest: toml::Table = toml::from_str(&fs::read_to_string(root().join("Cargo.toml")).unwrap()).unwrap();
    let assets = manifest["package"]["metadata"]["deb"]["assets"].as_array().expect("a list of files");
    let script = fs::read_to_string(root().join("packaging/deb")).unwrap();
    for asset in assets {
        let source = PathBuf::from(asset[0].as_str().unwrap());
        match source.strip_prefix("target/packaging") {
            Ok(made) => {
                let name = made.components().next().unwrap().as_os_str().to_str().unwrap();
                assert!(script.contains(&format!("$made/{name}")), "{} is not made", source.display());
            }
            Err(_) if source == Path::new("target/release/pith") => {}
            Err(_) => assert!(root().join(&source).is_file(), "{} is not there", source.display()),
        }
    }
}
