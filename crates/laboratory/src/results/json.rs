//! How `summary.json` is laid out: one field a line, and lists of plain values on one line, so that
//! fifteen samples do not fill a screen.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// The value as indented JSON with a line break at the end. The same value gives the same bytes.
pub(crate) fn to_string<T: Serialize>(value: &T) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Layout::default()))?;
    bytes.push(b'\n');
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

/// A list or an object that is open.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    /// A list of which nothing was written yet, or only plain values.
    Inline,
    /// A list of objects or lists, or an object.
    Broken,
}

/// Whether something waits to be written before the next value.
#[derive(Clone, Copy, PartialEq)]
enum Waiting {
    Nothing,
    FirstOfList,
    NextOfList,
}

struct Layout {
    open: Vec<Open>,
    waiting: Waiting,
}

impl Default for Layout {
    fn default() -> Self {
        Self { open: Vec::new(), waiting: Waiting::Nothing }
    }
}

impl Layout {
    fn line<W: ?Sized + Write>(&self, writer: &mut W, depth: usize) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..depth).try_for_each(|_| writer.write_all(b"  "))
    }

    /// A list's separator is held back until it is known what follows it: this is a plain value.
    fn before_plain<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let waiting = std::mem::replace(&mut self.waiting, Waiting::Nothing);
        match (waiting, self.open.last()) {
            (Waiting::NextOfList, Some(Open::Broken)) => self.before_nested_again(writer),
            (Waiting::NextOfList, _) => writer.write_all(b", "),
            (Waiting::FirstOfList | Waiting::Nothing, _) => Ok(()),
        }
    }

    /// And this is an object or a list.
    fn before_nested<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        match std::mem::replace(&mut self.waiting, Waiting::Nothing) {
            Waiting::Nothing => Ok(()),
            Waiting::FirstOfList => {
                if let Some(list) = self.open.last_mut() {
                    *list = Open::Broken;
                }
                self.line(writer, self.open.len())
            }
            Waiting::NextOfList => self.before_nested_again(writer),
        }
    }

    fn before_nested_again<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b",")?;
        self.line(writer, self.open.len())
    }
}

/// Every kind of plain value first writes the separator that was held back.
macro_rules! plain {
    ($($name:ident: $type:ty),* $(,)?) => {$(
        fn $name<W: ?Sized + Write>(&mut self, writer: &mut W, value: $type) -> io::Result<()> {
            self.before_plain(writer)?;
            write!(writer, "{value}")
        }
    )*};
}

impl Formatter for Layout {
    plain! { write_bool: bool, write_u32: u32, write_i32: i32, write_u64: u64, write_i64: i64 }

    fn write_null<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.before_plain(writer)?;
        writer.write_all(b"null")
    }

    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        self.before_plain(writer)?;
        // The shortest digits that read back as the same number.
        serde_json::ser::CompactFormatter.write_f64(writer, value)
    }

    fn begin_string<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.before_plain(writer)?;
        writer.write_all(b"\"")
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.before_nested(writer)?;
        self.open.push(Open::Inline);
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.open.pop() == Some(Open::Broken) {
            self.line(writer, self.open.len())?;
        }
        writer.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, _: &mut W, first: bool) -> io::Result<()> {
        self.waiting = if first { Waiting::FirstOfList } else { Waiting::NextOfList };
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.before_nested(writer)?;
        self.open.push(Open::Inline);
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.open.pop() == Some(Open::Broken) {
            self.line(writer, self.open.len())?;
        }
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if let Some(object) = self.open.last_mut() {
            *object = Open::Broken;
        }
        if !first {
            writer.write_all(b",")?;
        }
        self.line(writer, self.open.len())
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
