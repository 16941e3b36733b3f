//! Enums whose variants have names.

/// Declares an enum whose variants have names in scenario files, usable as an option.
#[macro_export]
macro_rules! choices {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident {
            $( $(#[$variant_attribute:meta])* $variant:ident = $text:literal, )*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $( $(#[$variant_attribute])* $variant, )*
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
            type Bound = Self;
            fn bounded(&self) -> Option<&Self> {
                Some(self)
            }
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
