//! Names that a marker or a manifest gives: they never lead out of the folder.

use std::fs;
use std::io;
use std::path::{Component, Path};

use crate::Error;

/// Whether a name lies in its folder or one folder deeper: no `..`, no root, no drive, no control characters. A folder's
/// name ends with a slash.
pub fn is_plain_name(name: &str) -> bool {
    let parts: Vec<&str> = name.strip_suffix('/').unwrap_or(name).split('/').collect();
    parts.len() <= 2 && parts.iter().all(|part| is_plain_part(part))
}

fn is_plain_part(part: &str) -> bool {
    let mut components = Path::new(part).components();
    let is_normal = matches!((components.next(), components.next()), (Some(Component::Normal(_)), None));
    is_normal && part.len() <= 255 && !part.contains(['\\', ':', '/']) && !part.chars().any(char::is_control)
}

/// Whether something is there under a plain name. What is there must be a regular file, or a folder where the name ends
/// with a slash, and the folder above it must be one and no link.
pub(super) fn is_ours_to_write(folder: &Path, name: &str) -> Result<bool, Error> {
    if !is_plain_name(name) {
        return Err(Error::Name { path: folder.to_owned(), name: name.to_owned() });
    }
    let is_folder_name = name.ends_with('/');
    let name = name.strip_suffix('/').unwrap_or(name);
    if let Some((above, _)) = name.split_once('/')
        && !is_absent_or(folder, above, fs::FileType::is_dir)?.0
    {
        return Err(Error::NotRegular { path: folder.join(above) });
    }
    let wanted = if is_folder_name { fs::FileType::is_dir } else { fs::FileType::is_file };
    match is_absent_or(folder, name, wanted)? {
        (true, exists) => Ok(exists),
        (false, _) => Err(Error::NotRegular { path: folder.join(name) }),
    }
}

/// Whether a name is free or of the wanted type, and whether it is there.
fn is_absent_or(folder: &Path, name: &str, wanted: fn(&fs::FileType) -> bool) -> Result<(bool, bool), Error> {
    let path = folder.join(name);
    match fs::symlink_metadata(&path) {
        Ok(data) => Ok((wanted(&data.file_type()), true)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok((true, false))
        }
        Err(error) => Err(Error::io(&path, "look at")(error)),
    }
}
