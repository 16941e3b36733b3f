//! The protocol of a session: by name, with defaults for real networks, a user's options and those of the session.

use layercast_core::family::AnyProtocol;
use layercast_core::option::{OptionError, RawValue};

use crate::session::{Session, SessionError};

/// Why there is no such protocol.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProtocolError {
    /// The protocol rejects an option.
    #[error("option {option} of {protocol}: {source}; `layercast list {protocol}` shows all options")]
    Option {
        /// The protocol.
        protocol: String,
        /// The option.
        option: String,
        /// What is wrong.
        source: OptionError,
    },
    /// A receiver sets an option that the session fixes for all receivers.
    #[error("the session fixes the option {option} for all its receivers: remove it here")]
    Agreed {
        /// The option.
        option: String,
    },
    /// The protocol responds to the fraction of marks, for which no host sends ECT(1).
    #[error("{protocol} responds to the fraction of marks with these options, which is for simulations only")]
    SimulatedOnly {
        /// The protocol.
        protocol: String,
    },
    /// The session names no protocol that is known, or options that do not fit it.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl ProtocolError {
    /// Its name for programs, which does not change.
    pub fn name(&self) -> &'static str {
        match self {
            ProtocolError::Option { .. } | ProtocolError::Agreed { .. } => "option",
            ProtocolError::SimulatedOnly { .. } => "simulated_only",
            ProtocolError::Session(_) => "session_not_found",
        }
    }
}

/// The protocol of that name, with defaults for real networks.
pub fn deployed<P: AnyProtocol>(name: &str) -> Option<P> {
    let mut protocol = P::named(name)?;
    protocol.deploy();
    Some(protocol)
}

/// All options of a protocol as texts, but those on which a session's ends agree.
pub fn own_options<P: AnyProtocol>(protocol: &P) -> Vec<(String, String)> {
    let agreed = protocol.requirements().agreed();
    let specs = protocol.option_specs();
    let own = specs.iter().filter(|spec| !agreed.contains(&spec.name));
    own.filter_map(|spec| Some((spec.name.to_owned(), protocol.get(spec.name)?))).collect()
}

/// Sets options of a protocol, given by name and as text.
///
/// # Errors
/// [`ProtocolError::Option`] for the first that the protocol rejects; those before it are set.
pub fn set_options<P: AnyProtocol>(
    protocol: &mut P,
    options: &[(String, String)],
) -> Result<(), ProtocolError> {
    for (option, value) in options {
        protocol.set(option, RawValue::from_text(value)).map_err(|source| ProtocolError::Option {
            protocol: protocol.name().to_owned(),
            option: option.clone(),
            source,
        })?;
    }
    if protocol.requirements().is_scalable() {
        return Err(ProtocolError::SimulatedOnly { protocol: protocol.name().to_owned() });
    }
    Ok(())
}

/// The protocol of a session as [`deployed`], with a receiver's options and then those of the session.
///
/// # Errors
/// Which of them do not fit.
pub fn of_session<P: AnyProtocol>(
    session: &Session,
    options: &[(String, String)],
) -> Result<P, ProtocolError> {
    let unknown = || SessionError::Protocol { name: session.protocol.clone(), known: P::names().join(", ") };
    let mut protocol: P = deployed(&session.protocol).ok_or_else(unknown)?;
    let agreed = protocol.requirements().agreed();
    if let Some((option, _)) = options.iter().find(|(name, _)| agreed.contains(&name.as_str())) {
        return Err(ProtocolError::Agreed { option: option.clone() });
    }
    set_options(&mut protocol, options)?;
    Ok(session.agree(protocol)?)
}

#[cfg(test)]
mod tests {
    use layercast_core::layers::LayerTable;
    use layercast_core::units::{Rate, Size};
    use layercast_protocols::registry::Protocol;

    use super::*;

    fn error(protocol: &str, agreed: &[&str], options: &[&str]) -> ProtocolError {
        let pairs = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect();
        let session = Session {
            tsi: 1,
            protocol: protocol.to_owned(),
            source: [192, 0, 2, 1].into(),
            group: ([239, 1, 2, 0], 5500).into(),
            feedback: ([192, 0, 2, 1], 5501).into(),
            packet: Size::from_bytes(1000),
            layers: LayerTable::doubling(Rate::from_mbps(1.0), 2).expect("layers"),
            channels: 2,
            agreed: pairs(agreed),
            group_key: None,
            salt: None,
            stream: None,
        };
        let options: Vec<(String, String)> = pairs(options);
        of_session::<Protocol>(&session, &options).expect_err("it does not fit")
    }

    #[test]
    fn each_error_keeps_its_name_for_programs() {
        let unknown = error("xyz", &[], &[]);
        assert!(matches!(unknown, ProtocolError::Session(_)), "{unknown}");
        assert_eq!(unknown.name(), "session_not_found");
        let unexpected = error("fixed", &["xyz"], &[]);
        assert_eq!(unexpected.name(), "session_not_found", "{unexpected}");
        let option = error("fixed", &[], &["xyz"]);
        assert!(matches!(option, ProtocolError::Option { .. }), "{option}");
        assert_eq!(option.name(), "option");
        let name = "elm".to_owned();
        assert_eq!(ProtocolError::SimulatedOnly { protocol: name }.name(), "simulated_only");
    }
}
