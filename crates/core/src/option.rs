//! Protocol options that document themselves.
//!
//! [`options!`](crate::options) makes a struct of options from one list: name, type, default, bounds and
//! what it means. From the same list come the reader of scenario files and `--set`, the schema, and the
//! tables in the documentation, so that they cannot disagree.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::Always as _;

mod named;
mod types;

pub use self::types::Numbers;

/// A raw value as a scenario file or a command line gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RawValue<'a> {
    /// An integer.
    Integer(i64),
    /// A number with a fraction or exponent.
    Number(f64),
    /// `true` or `false`.
    Flag(bool),
    /// Text: a quantity with its unit, or the name of a choice.
    Text(&'a str),
}

impl<'a> RawValue<'a> {
    /// What a text on a command line means: `true` and `false`, a number, or else the text itself.
    pub fn from_text(text: &'a str) -> RawValue<'a> {
        match text {
            "true" => RawValue::Flag(true),
            "false" => RawValue::Flag(false),
            _ => {
                let integer = || text.parse().ok().map(RawValue::Integer);
                let number = || text.parse().ok().map(RawValue::Number);
                integer().or_else(number).unwrap_or(RawValue::Text(text))
            }
        }
    }
}

/// What kind of value an option takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number.
    Number,
    /// A whole number.
    Count,
    /// `true` or `false`.
    Flag,
    /// A length of time such as `"25 s"`.
    Duration,
    /// A rate such as `"128 kbit/s"`.
    Rate,
    /// A packet size such as `"1000 bytes"`.
    Size,
    /// Numbers in one text, such as `"0.9, 0.5, 0"`.
    Numbers,
    /// One of a few names.
    Choice(&'static [&'static str]),
    /// One of a few names, or [`BY_PROFILE`].
    OwnChoice(&'static [&'static str]),
    /// Another kind, or [`AUTOMATIC`].
    Automatic(&'static Kind),
    /// Text in a format of the type's own.
    Format {
        /// What it takes, in words.
        words: &'static str,
        /// The regular expression that it matches, for the schema.
        pattern: &'static str,
    },
}

/// The value of a choice that is left to a profile.
pub const BY_PROFILE: &str = "by-profile";

/// What stands for a value that follows from others; the option's documentation says how.
pub const AUTOMATIC: &str = "automatic";

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Number => write!(f, "a number"),
            Kind::Count => write!(f, "a whole number"),
            Kind::Flag => write!(f, "true or false"),
            Kind::Duration => write!(f, "a length of time such as \"250 ms\""),
            Kind::Rate => write!(f, "a rate such as \"128 kbit/s\""),
            Kind::Size => write!(f, "a size such as \"1000 bytes\""),
            Kind::Numbers => write!(f, "numbers in a text such as \"0.9, 0.5, 0\""),
            Kind::Choice(names) => write!(f, "one of {}", names.join(", ")),
            Kind::OwnChoice(names) => write!(f, "one of {BY_PROFILE}, {}", names.join(", ")),
            Kind::Automatic(kind) => write!(f, "\"{AUTOMATIC}\" or {kind}"),
            Kind::Format { words, .. } => f.write_str(words),
        }
    }
}

/// One option as documentation and schema show it.
#[derive(Clone, Debug)]
pub struct OptionSpec {
    /// The key in a scenario file.
    pub name: &'static str,
    /// What it means and where it comes from.
    pub doc: String,
    /// What it takes.
    pub kind: Kind,
    /// The default, as it would be written.
    pub default: String,
    /// Which values are allowed.
    pub bounds: Option<Bounds<String>>,
    /// Whether it takes a value; the error says why not.
    pub check: fn(RawValue<'_>) -> Result<(), OptionError>,
}

impl OptionSpec {
    /// What it takes, with its bounds, in words.
    pub fn takes(&self) -> String {
        let Some(bounds) = &self.bounds else { return self.kind.to_string() };
        let is_number =
            matches!(self.kind, Kind::Number | Kind::Count | Kind::Automatic(Kind::Number | Kind::Count));
        let link = match is_number {
            true if bounds.high.is_none() && !bounds.is_above => " of",
            true => "",
            false => ",",
        };
        format!("{}{link} {bounds}", self.kind)
    }
}

/// The values that an option allows, or how they would be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds<T> {
    /// The smallest value.
    pub low: T,
    /// Whether values must be above the smallest one, which is then not allowed itself.
    pub is_above: bool,
    /// The largest value, if there is one.
    pub high: Option<T>,
}

/// A lower bound that is not allowed itself, for [`options!`](crate::options).
#[derive(Clone, Copy, Debug)]
pub struct Above<T>(pub T);

/// What may stand as the lower bound of an option: a value, which is allowed, or [`Above`] it.
pub trait LowerBound<T> {
    /// The value, and whether it is not allowed itself.
    fn split(self) -> (T, bool);
}

impl<T> LowerBound<T> for T {
    fn split(self) -> (T, bool) {
        (self, false)
    }
}

impl<T> LowerBound<T> for Above<T> {
    fn split(self) -> (T, bool) {
        (self.0, true)
    }
}

impl<T: OptionType + PartialOrd> Bounds<T> {
    /// From `low`, or above it, up to `high`.
    pub fn new(low: impl LowerBound<T>, high: Option<T>) -> Bounds<T> {
        let (low, is_above) = low.split();
        Bounds { low, is_above, high }
    }

    /// Whether they allow a value.
    pub fn allow(&self, value: &T) -> bool {
        let is_low = if self.is_above { *value <= self.low } else { *value < self.low };
        // What cannot be compared is not within bounds.
        let is_comparable = value.partial_cmp(&self.low).is_some();
        is_comparable && !is_low && self.high.as_ref().is_none_or(|high| value <= high)
    }

    /// How they would be written.
    pub fn show(&self) -> Bounds<String> {
        Bounds {
            low: self.low.show(),
            is_above: self.is_above,
            high: self.high.as_ref().map(OptionType::show),
        }
    }
}

impl fmt::Display for Bounds<String> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_above, &self.high) {
            (false, Some(high)) => write!(f, "from {} to {high}", self.low),
            (false, None) => write!(f, "at least {}", self.low),
            (true, Some(high)) => write!(f, "above {} and up to {high}", self.low),
            (true, None) => write!(f, "above {}", self.low),
        }
    }
}

/// Why an option was not set.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionError {
    /// There is no option of that name.
    Unknown,
    /// The value is not what the option takes; the text says what is.
    Value(String),
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Unknown => write!(f, "there is no such option"),
            OptionError::Value(reason) => f.write_str(reason),
        }
    }
}

impl core::error::Error for OptionError {}

/// A set of named options.
pub trait Options: Default {
    /// Every option, in the order of declaration.
    fn specs() -> Vec<OptionSpec>;

    /// Sets one option by name.
    ///
    /// # Errors
    /// [`OptionError::Unknown`] if there is no such option, [`OptionError::Value`] if the value is
    /// of the wrong kind or out of bounds; the options are then unchanged.
    fn set(&mut self, name: &str, value: RawValue<'_>) -> Result<(), OptionError>;

    /// An option's value as it would be written; none if there is no such option.
    fn get(&self, name: &str) -> Option<String>;
}

/// [`Options`] of a type that is known at run time only.
pub trait OptionSet {
    /// As [`Options::specs`], but with the values of these options as the defaults.
    fn option_specs(&self) -> Vec<OptionSpec>;

    /// As [`Options::set`].
    ///
    /// # Errors
    /// Those of [`Options::set`].
    fn set_option(&mut self, name: &str, value: RawValue<'_>) -> Result<(), OptionError>;
}

impl<T: Options> OptionSet for T {
    fn option_specs(&self) -> Vec<OptionSpec> {
        let value = |name| self.get(name).always("each option that is listed can be read");
        T::specs().into_iter().map(|spec| OptionSpec { default: value(spec.name), ..spec }).collect()
    }

    fn set_option(&mut self, name: &str, value: RawValue<'_>) -> Result<(), OptionError> {
        self.set(name, value)
    }
}

/// A type that an option can have.
pub trait OptionType: Sized {
    /// The kind of value it takes.
    const KIND: Kind;
    /// What bounds are given in: the type itself, or that of the value inside.
    type Bound: OptionType + PartialOrd;
    /// The value that bounds hold for, if there is one.
    fn bounded(&self) -> Option<&Self::Bound>;
    /// Reads a raw value; the error says what is wrong, without the option's name.
    ///
    /// # Errors
    /// A sentence that says what is allowed.
    fn read(value: RawValue<'_>) -> Result<Self, String>;
    /// The value as it would be written in a scenario file.
    fn show(&self) -> String;
}

fn expected(kind: Kind) -> String {
    format!("expected {kind}")
}

/// Declares a struct of options; see the [module](crate::option).
///
/// `name: Type = default;` or, with bounds, `name: Type = default, low => high;`. Both bounds are
/// allowed values unless the lower one is [`Above(low)`](crate::option::Above); the upper one may be
/// absent. What no key sets may follow the struct as `fixed { name: Type = value; }`.
#[macro_export]
macro_rules! options {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $field:ident : $type:ty = $default:expr $(, $low:expr $(=> $high:expr)?)? ;
            )*
        }
        $( fixed { $( $(#[doc = $fixed_doc:literal])* $fixed:ident : $fixed_type:ty = $value:expr ; )* } )?
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $( $(#[doc = $doc])* pub $field: $type, )*
            $( $( $(#[doc = $fixed_doc])* pub $fixed: $fixed_type, )* )?
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $( $field: $default, )* $( $( $fixed: $value, )* )? }
            }
        }

        impl $crate::option::Options for $name {
            fn specs() -> $crate::alloc::vec::Vec<$crate::option::OptionSpec> {
                use $crate::option::{OptionSpec, OptionType};
                $crate::alloc::vec![ $( OptionSpec {
                    name: stringify!($field),
                    doc: $crate::alloc::string::String::from(concat!($($doc),*).trim()),
                    kind: <$type as OptionType>::KIND,
                    default: <$type as OptionType>::show(&$default),
                    bounds: $crate::options!(@bounds $type $(, $low $(=> $high)?)?).map(|bounds| bounds.show()),
                    check: |value| {
                        let bounds = $crate::options!(@bounds $type $(, $low $(=> $high)?)?);
                        $crate::option::read_within::<$type>(value, bounds).map(drop)
                    },
                }, )* ]
            }

            fn set(
                &mut self,
                name: &str,
                value: $crate::option::RawValue<'_>,
            ) -> Result<(), $crate::option::OptionError> {
                match name {
                    $( stringify!($field) => {
                        let bounds = $crate::options!(@bounds $type $(, $low $(=> $high)?)?);
                        self.$field = $crate::option::read_within::<$type>(value, bounds)?;
                        Ok(())
                    } )*
                    _ => Err($crate::option::OptionError::Unknown),
                }
            }

            fn get(&self, name: &str) -> Option<$crate::alloc::string::String> {
                match name {
                    $( stringify!($field) => {
                        Some(<$type as $crate::option::OptionType>::show(&self.$field))
                    } )*
                    _ => None,
                }
            }
        }
    };
    (@bounds $type:ty) => { None::<$crate::option::Bounds<<$type as $crate::option::OptionType>::Bound>> };
    (@bounds $type:ty, $low:expr) => {
        Some($crate::option::Bounds::<<$type as $crate::option::OptionType>::Bound>::new($low, None))
    };
    (@bounds $type:ty, $low:expr => $high:expr) => {
        Some($crate::option::Bounds::<<$type as $crate::option::OptionType>::Bound>::new($low, Some($high)))
    };
}

/// Reads a value and checks its bounds.
///
/// # Errors
/// [`OptionError::Value`] if it is of the wrong kind or out of bounds.
#[doc(hidden)]
pub fn read_within<T: OptionType>(
    value: RawValue<'_>,
    bounds: Option<Bounds<T::Bound>>,
) -> Result<T, OptionError> {
    let read = T::read(value).map_err(OptionError::Value)?;
    match bounds {
        Some(bounds) if read.bounded().is_some_and(|value| !bounds.allow(value)) => {
            Err(OptionError::Value(format!("must be {}", bounds.show())))
        }
        _ => Ok(read),
    }
}

#[cfg(test)]
#[allow(unreachable_pub)]
mod tests;
