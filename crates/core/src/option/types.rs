//! The types that options have.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::{AUTOMATIC, BY_PROFILE, Kind, OptionType, RawValue, expected};
use crate::units::{Duration, Rate, Size};

impl OptionType for f64 {
    const KIND: Kind = Kind::Number;
    type Bound = f64;
    fn bounded(&self) -> Option<&f64> {
        Some(self)
    }
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
    type Bound = u32;
    fn bounded(&self) -> Option<&u32> {
        Some(self)
    }
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
    type Bound = bool;
    fn bounded(&self) -> Option<&bool> {
        Some(self)
    }
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
            type Bound = $type;
            fn bounded(&self) -> Option<&$type> {
                Some(self)
            }
            fn read(value: RawValue<'_>) -> Result<$type, String> {
                match value {
                    RawValue::Text(text) => {
                        text.parse().map_err(|error| format!("{}: {error}", expected(Self::KIND)))
                    }
                    // A number without a unit is the commonest slip.
                    RawValue::Integer(_) | RawValue::Number(_) => {
                        Err(format!("{}: it needs a unit, in quotes", expected(Self::KIND)))
                    }
                    RawValue::Flag(_) => Err(expected(Self::KIND)),
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

/// A choice that a profile makes where none is made here; another value that follows from others.
impl<T: OptionType> OptionType for Option<T> {
    const KIND: Kind = match T::KIND {
        Kind::Choice(names) => Kind::OwnChoice(names),
        Kind::Flag => Kind::Flag,
        _ => Kind::Automatic(&T::KIND),
    };
    type Bound = T::Bound;
    fn bounded(&self) -> Option<&T::Bound> {
        self.as_ref()?.bounded()
    }
    fn read(value: RawValue<'_>) -> Result<Option<T>, String> {
        match value {
            RawValue::Text(text) if text == absent::<T>() => Ok(None),
            own => T::read(own).map(Some).map_err(|_| expected(Self::KIND)),
        }
    }
    fn show(&self) -> String {
        self.as_ref().map_or_else(|| String::from(absent::<T>()), OptionType::show)
    }
}

/// What stands for no value of a type.
fn absent<T: OptionType>() -> &'static str {
    if matches!(T::KIND, Kind::Choice(_) | Kind::Flag) { BY_PROFILE } else { AUTOMATIC }
}

/// A list of numbers, written as one text.
#[derive(Clone, Debug, Default, PartialEq, PartialOrd)]
pub struct Numbers(pub Vec<f64>);

impl OptionType for Numbers {
    const KIND: Kind = Kind::Numbers;
    type Bound = Numbers;
    fn bounded(&self) -> Option<&Numbers> {
        Some(self)
    }
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
