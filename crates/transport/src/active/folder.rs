//! Received files in a folder.

use std::io;
use std::path::Path;

use layercast_delivery::active::reel::{FileHead, Files};
use layercast_delivery::disk::{Disk as _, DiskFile as _, Found};

use crate::disk::{Folder, OpenFile};
use layercast_core::cannot_be;

/// A file is written under this name until it is complete: a hidden one, which no path from the network has.
const PARTIAL: &str = ".layercast-in-order";

/// A folder, and the file that comes now.
pub(super) struct FolderFiles {
    folder: Folder,
    replace: bool,
    partial: String,
    current: Option<(OpenFile, u64)>,
}

impl FolderFiles {
    pub(super) fn open(path: &Path, replace: bool) -> io::Result<FolderFiles> {
        std::fs::create_dir_all(path)?;
        let partial = format!("{PARTIAL}-{}", std::process::id());
        Ok(FolderFiles { folder: Folder::open(path)?, replace, partial, current: None })
    }
}

impl Drop for FolderFiles {
    fn drop(&mut self) {
        if self.current.take().is_some() {
            let _ = std::fs::remove_file(self.folder.path().join(&self.partial));
        }
    }
}

impl Files for FolderFiles {
    fn begin(&mut self, head: &FileHead) -> io::Result<()> {
        let found = self.folder.look(&head.path)?;
        if found != Found::Nothing && !(self.replace && matches!(found, Found::File(_))) {
            let why = format!("{} exists already: move it, or replace it with --replace", head.path);
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        if let Some((above, _)) = head.path.rsplit_once('/') {
            self.folder.create_folder(above)?;
        }
        let file = self.folder.open(&self.partial)?;
        file.set_length(0)?;
        self.current = Some((file, 0));
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some((file, at)) = &mut self.current else {
            cannot_be::<()>("content follows the head of a file");
            return Ok(());
        };
        file.write_at(*at, bytes)?;
        *at += bytes.len() as u64;
        Ok(())
    }

    fn end(&mut self, head: &FileHead) -> io::Result<()> {
        let Some((file, _)) = self.current.take() else {
            cannot_be::<()>("a file that ends has begun");
            return Ok(());
        };
        file.sync()?;
        self.folder.rename(&self.partial, &head.path)
    }
}
