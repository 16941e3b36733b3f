//! Protocol options that document themselves.
//!
//! [`options!`](crate::options) makes a struct of options from one list: name, type, default, bounds and
//! what it means. From the same list come the reader of scenario files and `--set`, the schema, and the
//! tables in the documentation, so that they cannot disagree.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::units::{Duration, Rate, Size};

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
}

/// The value of a choice that is left to a profile.
pub const BY_PROFILE: &str = "by-profile";

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
        }
    }
}

/// One option as documentation and schema show it.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionSpec {
    /// The key in a scenario file.
    pub name: &'static str,
    /// What it means and where it comes from.
    pub doc: String,
    /// What it takes.
    pub kind: Kind,
    /// The default, as it would be written.
    pub default: String,
    /// The smallest and largest value allowed, as they would be written.
    pub bounds: Option<(String, String)>,
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

/// A type that an option can have.
pub trait OptionType: Sized + PartialOrd {
    /// The kind of value it takes.
    const KIND: Kind;
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

impl OptionType for f64 {
    const KIND: Kind = Kind::Number;
    fn read(value: RawValue<'_>) -> Result<f64, String> {
        match value {
            RawValue::Number(number) if number.is_finite() => Ok(number),
            RawValue::Integer(integer) => Ok(integer as f64),
            _ => Err(expected(Self::KIND)),
        }
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

impl OptionType for u32 {
    const KIND: Kind = Kind::Count;
    fn read(value: RawValue<'_>) -> Result<u32, String> {
        match value {
            RawValue::Integer(integer) => u32::try_from(integer).map_err(|_| expected(Self::KIND)),
            _ => Err(expected(Self::KIND)),
        }
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

impl OptionType for bool {
    const KIND: Kind = Kind::Flag;
    fn read(value: RawValue<'_>) -> Result<bool, String> {
        match value {
            RawValue::Flag(flag) => Ok(flag),
            _ => Err(expected(Self::KIND)),
        }
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

macro_rules! quantity {
    ($type:ty, $kind:expr) => {
        impl OptionType for $type {
            const KIND: Kind = $kind;
            fn read(value: RawValue<'_>) -> Result<$type, String> {
                match value {
                    RawValue::Text(text) => {
                        text.parse().map_err(|error| format!("{}: {error}", expected(Self::KIND)))
                    }
                    _ => Err(expected(Self::KIND)),
                }
            }
            fn show(&self) -> String {
                self.to_string()
            }
        }
    };
}

quantity!(Duration, Kind::Duration);
quantity!(Rate, Kind::Rate);
quantity!(Size, Kind::Size);

/// A choice that a profile makes if the option is not set.
impl<T: OptionType> OptionType for Option<T> {
    const KIND: Kind = match T::KIND {
        Kind::Choice(names) => Kind::OwnChoice(names),
        other => other,
    };
    fn read(value: RawValue<'_>) -> Result<Option<T>, String> {
        match value {
            RawValue::Text(BY_PROFILE) => Ok(None),
            own => T::read(own).map(Some).map_err(|_| expected(Self::KIND)),
        }
    }
    fn show(&self) -> String {
        self.as_ref().map_or_else(|| String::from(BY_PROFILE), OptionType::show)
    }
}

/// A list of numbers, written as one text.
#[derive(Clone, Debug, Default, PartialEq, PartialOrd)]
pub struct Numbers(pub Vec<f64>);

impl OptionType for Numbers {
    const KIND: Kind = Kind::Numbers;
    fn read(value: RawValue<'_>) -> Result<Numbers, String> {
        let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite());
        let numbers = match value {
            RawValue::Text(text) if text.trim().is_empty() => Some(Vec::new()),
            RawValue::Text(text) => text.split(',').map(number).collect(),
            // A text of one number is a number on a command line.
            RawValue::Integer(_) | RawValue::Number(_) => f64::read(value).ok().map(|number| vec![number]),
            RawValue::Flag(_) => None,
        };
        numbers.map(Numbers).ok_or_else(|| expected(Self::KIND))
    }
    fn show(&self) -> String {
        let texts: Vec<String> = self.0.iter().map(f64::to_string).collect();
        texts.join(", ")
    }
}

/// Declares a struct of options; see the [module](crate::option).
///
/// `name: Type = default;` or, with bounds (both inclusive), `name: Type = default, low => high;`.
#[macro_export]
macro_rules! options {
    (
        $(#[doc = $struct_doc:literal])*
        pub struct $name:ident {
            $( $(#[doc = $doc:literal])* $field:ident : $type:ty = $default:expr $(, $low:expr => $high:expr)? ; )*
        }
    ) => {
        $(#[doc = $struct_doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $( $(#[doc = $doc])* pub $field: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $( $field: $default, )* }
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
                    bounds: $crate::options!(@bounds $type $(, $low, $high)?),
                }, )* ]
            }

            fn set(
                &mut self,
                name: &str,
                value: $crate::option::RawValue<'_>,
            ) -> Result<(), $crate::option::OptionError> {
                use $crate::option::{OptionError, OptionType};
                match name {
                    $( stringify!($field) => {
                        let read = <$type as OptionType>::read(value).map_err(OptionError::Value)?;
                        $(
                            let (low, high): ($type, $type) = ($low, $high);
                            if !(read >= low && read <= high) {
                                return Err(OptionError::Value($crate::alloc::format!(
                                    "must be from {} to {}", low.show(), high.show()
                                )));
                            }
                        )?
                        self.$field = read;
                        Ok(())
                    } )*
                    _ => Err(OptionError::Unknown),
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
    (@bounds $type:ty) => { None };
    (@bounds $type:ty, $low:expr, $high:expr) => {
        Some((<$type as OptionType>::show(&$low), <$type as OptionType>::show(&$high)))
    };
}

/// Declares an enum whose variants have names in scenario files, usable as an option.
#[macro_export]
macro_rules! choices {
    (
        $(#[doc = $enum_doc:literal])*
        pub enum $name:ident {
            $( $(#[doc = $doc:literal])* $variant:ident = $text:literal, )*
        }
    ) => {
        $(#[doc = $enum_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $( $(#[doc = $doc])* $variant, )*
        }

        #[allow(dead_code, reason = "not every choice is looked through or shown by name")]
        impl $name {
            /// All of them, in the order of declaration.
            pub const ALL: [$name; [$($text),*].len()] = [$($name::$variant),*];

            /// Their names, in the same order.
            pub const NAMES: [&'static str; $name::ALL.len()] = [$($text),*];

            /// The name in scenario files.
            pub fn name(self) -> &'static str {
                match self { $( $name::$variant => $text, )* }
            }

            /// The one of a name; none if there is no such name.
            pub fn named(name: &str) -> Option<$name> {
                match name {
                    $( $text => Some($name::$variant), )*
                    _ => None,
                }
            }
        }

        impl $crate::option::OptionType for $name {
            const KIND: $crate::option::Kind = $crate::option::Kind::Choice(&$name::NAMES);
            fn read(value: $crate::option::RawValue<'_>) -> Result<Self, $crate::alloc::string::String> {
                let choice = match value {
                    $crate::option::RawValue::Text(name) => $name::named(name),
                    _ => None,
                };
                choice.ok_or_else(|| $crate::alloc::format!("expected {}", Self::KIND))
            }
            fn show(&self) -> $crate::alloc::string::String {
                $crate::alloc::string::String::from(self.name())
            }
        }
    };
}

#[cfg(test)]
#[allow(unreachable_pub)]
mod tests;
