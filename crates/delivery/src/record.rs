//! Files of records with a checksum each.
//!
//! ```text
//! HEAD                          what the file is, and in which version
//! LENGTH BODY CHECKSUM          a record: LEB128, bytes, CRC-32 of both
//! ```
//!
//! Records are appended. After a crash the last ones may be torn or missing, and anything may be in their place: what follows the
//! first record that is not whole is cut off.

use std::io;

use layercast_core::Always as _;

use crate::disk::DiskFile;
use crate::varint;

const CHECKSUM: usize = 4;
/// How much of a file is read at once. No record of a [`RecordFile`] is longer.
const READ: usize = 1 << 16;

/// Appends a record whose body has these parts.
pub fn push(bytes: &mut Vec<u8>, body: &[&[u8]]) {
    let start = bytes.len();
    varint::write(bytes, body.iter().map(|part| part.len() as u64).sum());
    body.iter().for_each(|part| bytes.extend_from_slice(part));
    let checksum = crc32fast::hash(bytes.get(start..).always("the record was appended"));
    bytes.extend_from_slice(&checksum.to_be_bytes());
}

/// The body of the first record, and what follows it; none if it is not whole.
pub fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = bytes;
    let length = usize::try_from(varint::read(&mut rest)?).ok()?;
    let (body, rest) = rest.split_at_checked(length)?;
    let (checksum, rest) = rest.split_first_chunk::<CHECKSUM>()?;
    let (record, _) = bytes.split_at_checked(bytes.len() - rest.len() - CHECKSUM)?;
    (crc32fast::hash(record).to_be_bytes() == *checksum).then_some((body, rest))
}

/// A file that records are appended to.
#[derive(Debug)]
pub struct RecordFile<F> {
    file: F,
    head: u64,
    end: u64,
    buffer: Vec<u8>,
}

impl<F: DiskFile> RecordFile<F> {
    /// Whether a file begins with this head.
    pub fn has_head(file: &F, head: &[u8]) -> bool {
        let mut found = vec![0; head.len()];
        file.read_at(0, &mut found).is_ok() && found == head
    }

    /// A file without records in place of whatever it held.
    ///
    /// # Errors
    /// The disk's error.
    pub fn create(file: F, head: &[u8]) -> io::Result<RecordFile<F>> {
        file.set_length(0)?;
        file.write_at(0, head)?;
        let head = head.len() as u64;
        Ok(RecordFile { file, head, end: head, buffer: Vec::new() })
    }

    /// Opens a file that has this head. `take` gets the body of each record, and says whether it makes sense. What follows one that
    /// does not, or that is not whole, is cut off.
    ///
    /// # Errors
    /// The disk's error.
    pub fn open(file: F, head: &[u8], mut take: impl FnMut(&[u8]) -> bool) -> io::Result<RecordFile<F>> {
        let length = file.length()?;
        let head = head.len() as u64;
        let (mut end, mut read) = (head, head);
        let (mut room, mut makes_sense) = (Vec::new(), true);
        while makes_sense && read < length && room.len() <= READ {
            let (start, more) = (room.len(), (length - read).min(READ as u64));
            room.resize(start + more as usize, 0);
            file.read_at(read, room.get_mut(start..).always("the room was made longer"))?;
            read += more;
            let mut rest = room.as_slice();
            while let Some((body, after)) = split(rest) {
                makes_sense = take(body);
                if !makes_sense {
                    break;
                }
                rest = after;
            }
            let used = room.len() - rest.len();
            end += used as u64;
            room.drain(..used);
        }
        file.set_length(end)?;
        Ok(RecordFile { file, head, end, buffer: Vec::new() })
    }

    /// Adds a record to those that wait, in memory; how many bytes wait now.
    pub fn push(&mut self, body: &[&[u8]]) -> usize {
        push(&mut self.buffer, body);
        self.buffer.len()
    }

    /// Writes the records that wait.
    ///
    /// # Errors
    /// The disk's error; they still wait then.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.file.write_at(self.end, &self.buffer)?;
        self.end += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Writes a record, with those that wait.
    ///
    /// # Errors
    /// The disk's error; then none of them waits, and the next one is written in their place.
    pub fn write(&mut self, body: &[&[u8]]) -> io::Result<()> {
        self.push(body);
        let written = self.flush();
        self.buffer.clear();
        written
    }

    /// Makes sure that what was written survives a loss of power.
    ///
    /// # Errors
    /// The disk's error.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    #[cfg(test)]
    pub(crate) fn into_file(self) -> F {
        self.file
    }

    /// Drops all records.
    ///
    /// # Errors
    /// The disk's error.
    pub fn clear(&mut self) -> io::Result<()> {
        self.buffer.clear();
        self.end = self.head;
        self.file.set_length(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryFile;
    use proptest::prelude::*;

    const HEAD: &[u8] = b"TEST1";

    fn file(bytes: &[u8]) -> MemoryFile {
        let file = MemoryFile::default();
        file.write_at(0, bytes).expect("a copy");
        file
    }

    fn bodies(file: MemoryFile) -> (Vec<Vec<u8>>, RecordFile<MemoryFile>) {
        let mut bodies = Vec::new();
        let take = |body: &[u8]| {
            bodies.push(body.to_vec());
            true
        };
        let records = RecordFile::open(file, HEAD, take).expect("the records");
        (bodies, records)
    }

    fn written(bodies: &[Vec<u8>]) -> Vec<u8> {
        let mut records = RecordFile::create(MemoryFile::default(), HEAD).expect("a file");
        for (number, body) in bodies.iter().enumerate() {
            match number % 2 {
                0 => {
                    records.push(&[body]);
                }
                _ => records.write(&[&body[..body.len() / 2], &body[body.len() / 2..]]).expect("written"),
            }
        }
        records.flush().expect("written");
        records.file.take()
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_up_to_where_it_is_torn(
            all in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..20), cut: usize,
        ) {
            let whole = written(&all);
            prop_assert!(RecordFile::has_head(&file(&whole), HEAD));
            prop_assert_eq!(&bodies(file(&whole)).0, &all);
            let cut = HEAD.len() + cut % (whole.len() - HEAD.len() + 1);
            let (some, mut records) = bodies(file(&whole[..cut]));
            prop_assert!(all.starts_with(&some) && (cut == whole.len() || some.len() < all.len()));
            // What is recorded now follows what is whole.
            records.write(&[b"more"]).expect("written");
            let more = [some.as_slice(), &[b"more".to_vec()]].concat();
            prop_assert_eq!(bodies(records.file).0, more);
        }

        #[test]
        fn a_damaged_record_ends_the_file(
            all in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..20), at: usize, bit in 0u8..8,
        ) {
            let mut bytes = written(&all);
            let at = HEAD.len() + at % (bytes.len() - HEAD.len());
            bytes[at] ^= 1 << bit;
            let (some, _) = bodies(file(&bytes));
            prop_assert!(all.starts_with(&some) && some.len() < all.len());
        }

        #[test]
        fn any_bytes_are_no_danger(bytes: Vec<u8>) {
            let (_, records) = bodies(file(&[HEAD, &bytes].concat()));
            prop_assert!(records.end <= (HEAD.len() + bytes.len()) as u64);
        }
    }

    #[test]
    fn zeros_are_no_records_and_a_long_file_is_read_whole() {
        assert!(bodies(file(&[HEAD, &[0; 100]].concat())).0.is_empty());
        let all: Vec<Vec<u8>> = (0..3000u32).map(|number| number.to_be_bytes().repeat(25)).collect();
        let whole = written(&all);
        assert!(whole.len() > 4 * READ);
        assert_eq!(bodies(file(&whole)).0, all);
        let mut torn = whole.clone();
        torn.truncate(2 * READ + 50);
        let found = bodies(file(&torn)).0;
        assert!(all.starts_with(&found) && found.len() > 1000);
    }

    #[test]
    fn what_follows_a_record_that_makes_no_sense_is_cut_off() {
        let whole = written(&[b"good".to_vec(), b"bad".to_vec(), b"good".to_vec()]);
        let mut taken = 0;
        let take = |body: &[u8]| {
            taken += 1;
            body == b"good"
        };
        let records = RecordFile::open(file(&whole), HEAD, take).expect("the records");
        assert_eq!(taken, 2);
        assert_eq!(bodies(records.file).0, [b"good"]);
    }
}
