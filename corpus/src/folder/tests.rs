use super::*;

fn open(path: &Path) -> Result<OwnedFolder, Error> {
    OwnedFolder::open(path, FolderKind::Documents)
}

#[test]
fn an_empty_folder_becomes_ours_and_a_foreign_one_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a/b");
    drop(open(&out).unwrap());
    assert!(out.join(MARKER_NAME).exists());
    assert_eq!(fs::read(out.join(LOCK_NAME)).unwrap(), b"");
    drop(open(&out).unwrap());

    for name in ["notes.txt", "pith.lock", "pith.json", "manifest.json", ".hidden", "a.tmp"] {
        let foreign = tempfile::tempdir().unwrap();
        fs::write(foreign.path().join(name), "mine, and nobody else's").unwrap();
        let refused = open(foreign.path()).map(drop);
        assert!(matches!(refused, Err(Error::ForeignFolder { .. } | Error::ForeignFile { .. })), "{name}: {refused:?}");
        let left: Vec<_> = fs::read_dir(foreign.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [name]);
        assert_eq!(fs::read_to_string(foreign.path().join(name)).unwrap(), "mine, and nobody else's");
    }
}

#[test]
fn a_folder_is_held_until_it_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let held = open(folder.path()).unwrap();
    let refused = open(folder.path()).map(drop);
    let ours = std::process::id();
    assert!(matches!(refused, Err(Error::InUse { process: Some(id), .. }) if id == ours), "{refused:?}");
    drop(held);
    open(folder.path()).unwrap();
}

#[test]
fn another_kind_and_another_version_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(OwnedFolder::open(folder.path(), FolderKind::Crawl).unwrap());
    let refused = open(folder.path()).map(drop);
    assert!(matches!(refused, Err(Error::FolderKind { found: "a crawl", .. })), "{refused:?}");
    fs::write(folder.path().join(MARKER_NAME), r#"{"format":"documents","version":2,"files":[]}"#).unwrap();
    let refused = open(folder.path()).map(drop);
    assert!(matches!(refused, Err(Error::FolderVersion { version: 2, .. })), "{refused:?}");
}

#[test]
fn what_was_not_claimed_is_neither_written_nor_removed() {
    let folder = tempfile::tempdir().unwrap();
    let mut ours = open(folder.path()).unwrap();
    ours.claim(["a", "below/b"]).unwrap();
    fs::write(folder.path().join("a"), "ours").unwrap();
    fs::write(folder.path().join("c"), "theirs").unwrap();
    assert!(matches!(ours.claim(["d", "c"]), Err(Error::ForeignFile { .. })));
    assert!(!ours.has_claimed("d"), "a refused claim claims nothing");
    assert!(matches!(ours.remove(["a", "c"]), Err(Error::ForeignFile { .. })));
    assert!(folder.path().join("a").exists(), "everything is checked before anything is removed");
    ours.remove(["a", "gone", "below/b"]).unwrap();
    assert!(!folder.path().join("a").exists() && folder.path().join("c").exists());
}

#[test]
fn names_do_not_lead_out_of_the_folder() {
    let whole = tempfile::tempdir().unwrap();
    fs::write(whole.path().join("x"), "theirs").unwrap();
    let mut ours = open(&whole.path().join("out")).unwrap();
    let absolute = whole.path().join("x").to_str().unwrap().to_owned();
    let names = ["../x", "a/../../x", "..", ".", "", "a/b/c", "a//b", "/", "a\\..\\x", "c:x", "a\nb", &absolute];
    for name in names {
        assert!(!is_plain_name(name), "{name:?}");
        assert!(matches!(ours.claim([name]), Err(Error::Name { .. })), "{name:?}");
        assert!(matches!(ours.remove([name]), Err(Error::Name { .. })), "{name:?}");
    }
    assert_eq!(fs::read_to_string(whole.path().join("x")).unwrap(), "theirs");
}

proptest::proptest! {
    #[test]
    fn a_plain_name_stays_below_its_folder(name in "([a-z./\\\\:]|\\PC|\\.\\./){0,12}") {
        let path = Path::new("out").join(&name);
        let is_below = path.components().skip(1).all(|part| matches!(part, std::path::Component::Normal(_)))
            && path.starts_with("out")
            && (2..=3).contains(&path.components().count());
        proptest::prop_assert!(is_below || !is_plain_name(&name), "{:?}", name);
    }

    #[test]
    fn any_bytes_are_a_manifest_with_plain_names_or_an_error(name in "\\PC{0,12}", noise in "\\PC{0,40}") {
        let manifest = |name: &str| serde_json::json!({
            "format": 1, "command": noise, "version": "1", "settings": {}, "counts": {}, "complete": true,
            "shards": [{"name": name, "input": {"name": "", "bytes": 0, "edges": ""}, "bytes": 1, "digest": "", "counts": {}}],
        }).to_string();
        let parse = |text: &str| crate::manifest::Manifest::parse(text.as_bytes(), Path::new("manifest.json"));
        proptest::prop_assert!(parse(&noise).is_err());
        let is_file_name = is_plain_name(&name) && !name.ends_with('/');
        proptest::prop_assert_eq!(parse(&manifest(&name)).is_ok(), is_file_name);
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let whole = tempfile::tempdir().unwrap();
    let theirs = whole.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("b"), "theirs").unwrap();
    let out = whole.path().join("out");
    let mut ours = open(&out).unwrap();
    ours.claim(["a", "below/b", "work/"]).unwrap();
    std::os::unix::fs::symlink(theirs.join("b"), out.join("a")).unwrap();
    std::os::unix::fs::symlink(&theirs, out.join("below")).unwrap();
    std::os::unix::fs::symlink(&theirs, out.join("work")).unwrap();
    for name in ["a", "below/b"] {
        assert!(matches!(ours.claim([name]), Err(Error::NotRegular { .. })), "{name}");
        assert!(matches!(ours.remove([name]), Err(Error::NotRegular { .. })), "{name}");
    }
    assert!(matches!(ours.remove_below("work/", |_| true), Err(Error::NotRegular { .. })));
    assert_eq!(fs::read_to_string(theirs.join("b")).unwrap(), "theirs");
}
