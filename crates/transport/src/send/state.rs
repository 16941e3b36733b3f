//! The file of a sender's state.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use layercast_delivery::disk;
use layercast_delivery::send_state::file::Saved;

use crate::disk::Folder;
use crate::error::Error;

/// Reads a state; an empty one if there is no file.
pub(super) fn read(path: &Path) -> Result<Saved, Error> {
    match fs::read(path) {
        Ok(bytes) => Saved::parse(&bytes)
            .map_err(|error| Error::State { path: path.to_owned(), reason: error.to_string() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Saved::default()),
        Err(error) => Err(Error::file("read", path, error)),
    }
}

/// Replaces the file of a state as a whole.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().and_then(OsStr::to_str).ok_or(io::ErrorKind::InvalidFilename)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    disk::replace(&mut Folder::open(folder)?, name, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_delivery::catalogue::TableSettings;
    use layercast_delivery::send_state::Numbers;
    use layercast_delivery::send_state::file::encode;
    use layercast_delivery::sender::Sender;

    #[test]
    fn a_state_is_replaced_and_one_that_cannot_be_read_stays() {
        let root = std::env::temp_dir().join(format!("layercast-state-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).expect("a folder");
        let path = root.join("state");
        assert_eq!(read(&path).expect("none yet").numbers, Numbers::default());
        let settings = TableSettings {
            symbol: 100,
            expires_s: 0,
            wants_completions: false,
            session: String::new(),
            signer: None,
        };
        for granted in 1..3 {
            let numbers = Numbers { salt: None, granted };
            replace(&path, &encode(&Sender::new(settings.clone(), 1), &numbers, 0.0, |_| None))
                .expect("written");
            assert_eq!(read(&path).expect("a state").numbers, numbers);
        }
        let whole = fs::read(&path).expect("a file");
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).expect("written");
            let error = read(&path).expect_err("torn").to_string();
            assert!(error.contains("left as it is") && error.contains("state"), "{error}");
            assert_eq!(fs::read(&path).expect("it stays"), &whole[..length]);
        }
        fs::remove_dir_all(root).expect("removed");
    }
}
