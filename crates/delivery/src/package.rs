//! Packages: many small files as one object, so that all of them are coded together.
//!
//! Each small file on its own is an object of one or two symbols: a lost packet of it comes again only with the next
//! round of the carousel, and each needs an entry in the table. The files of a package are one object, with an index at
//! its start. RFC 9223, section 4, has the same idea as its package mode; the format here is our own:
//! `docs/wire-format.md`.
//!
//! [`Member`] describes a file of a package, [`Head`] is what precedes the contents, and [`Packing`] decides which files a
//! source packs together.

mod build;
mod head;
mod packing;

pub use build::{Built, Read, build, packed};
pub use head::{FILES_MAX, Head, INDEX_MAX, MEMBER_MAX, Member, PREFIX, PackageError, package_name};
pub use packing::{Group, Packing, PackingSettings, Part};
