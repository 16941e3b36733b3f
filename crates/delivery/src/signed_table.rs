//! Signatures of the instances of the file delivery table.
//!
//! ```text
//! <FDT-Instance ...>...</FDT-Instance>
//! <?layercast-signature-1 LETTERS?>
//! ```
//!
//! The signature stands behind the document, in a processing instruction, which XML allows there and readers of other
//! programs skip. It covers the session number (32 bits), the number of the instance (32 bits) and all bytes before the
//! instruction, so that an instance is none of another session, and none of another number.

use crate::security::keys::{PublicKey, SecretKey};
use crate::security::signed::{Context, Signature, SignatureError};

/// Why an instance of the table is not taken by a receiver that trusts keys alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untrusted {
    /// It is not signed.
    #[error("the file delivery table is not signed; ask the sender for --key")]
    Unsigned,
    /// Its signature is not one of a trusted key for this instance of this session.
    #[error("the file delivery table: {0}")]
    Signature(#[from] SignatureError),
}

/// What signs the instances of a session.
#[derive(Clone, Debug)]
pub struct TableSigner {
    /// The sender's key.
    pub key: SecretKey,
    /// The session number.
    pub tsi: u32,
}

fn message(tsi: u32, number: u32, xml: &[u8]) -> Vec<u8> {
    [&tsi.to_be_bytes()[..], &number.to_be_bytes(), xml].concat()
}

impl TableSigner {
    /// Appends the signature to the instance of this number.
    pub fn sign(&self, number: u32, xml: &mut String) {
        xml.push('\n');
        let signature =
            Signature::sign(&self.key, Context::Table, &message(self.tsi, number, xml.as_bytes()));
        xml.push_str(&format!("<?{signature}?>"));
    }
}

/// The document of an instance without its signature, if one of the keys made this for the session and the number. Never
/// panics.
///
/// # Errors
/// Why it is not to be trusted.
pub fn verified<'x>(xml: &'x [u8], keys: &[PublicKey], tsi: u32, number: u32) -> Result<&'x [u8], Untrusted> {
    let start = xml.windows(2).rposition(|two| two == b"<?").ok_or(Untrusted::Unsigned)?;
    let (document, instruction) = xml.split_at(start);
    let text = instruction.strip_prefix(b"<?").and_then(|text| text.strip_suffix(b"?>"));
    let text = text.and_then(|text| str::from_utf8(text).ok()).ok_or(Untrusted::Unsigned)?;
    let signature: Signature = text.parse().map_err(|_| Untrusted::Unsigned)?;
    signature.verify(keys, Context::Table, &message(tsi, number, document))?;
    Ok(document)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DOCUMENT: &str = "<?xml version=\"1.0\"?>\n<FDT-Instance Expires=\"1\"></FDT-Instance>";

    fn key(seed: u8) -> SecretKey {
        SecretKey::from_seed(&[seed; 32])
    }

    fn signed(tsi: u32, number: u32) -> String {
        let mut xml = DOCUMENT.to_owned();
        TableSigner { key: key(1), tsi }.sign(number, &mut xml);
        xml
    }

    #[test]
    fn a_signature_counts_for_its_session_and_number_and_key_alone() {
        let (xml, keys) = (signed(7, 3), [key(2).public(), key(1).public()]);
        let document = verified(xml.as_bytes(), &keys, 7, 3).expect("it is signed");
        assert_eq!(document, format!("{DOCUMENT}\n").as_bytes());
        let wrong = Err(Untrusted::Signature(SignatureError::Wrong));
        assert_eq!(verified(xml.as_bytes(), &keys, 8, 3), wrong);
        assert_eq!(verified(xml.as_bytes(), &keys, 7, 4), wrong);
        let other = Err(Untrusted::Signature(SignatureError::Key));
        assert_eq!(verified(xml.as_bytes(), &keys[..1], 7, 3), other);
        assert_eq!(verified(DOCUMENT.as_bytes(), &keys, 7, 3), Err(Untrusted::Unsigned));
        // A signature of the same bytes for another purpose.
        let for_description =
            Signature::sign(&key(1), Context::Description, &message(7, 3, DOCUMENT.as_bytes()));
        let xml = format!("{DOCUMENT}<?{for_description}?>");
        assert_eq!(verified(xml.as_bytes(), &keys, 7, 3), wrong);
    }

    #[test]
    fn readers_that_know_no_signatures_read_a_signed_document() {
        let xml = signed(7, 3);
        let document = roxmltree::Document::parse(&xml).expect("it is XML");
        assert_eq!(document.root_element().tag_name().name(), "FDT-Instance");
    }

    proptest! {
        #[test]
        fn no_change_is_taken(at in any::<prop::sample::Index>(), flip in 1..=255u8, cut in any::<prop::sample::Index>()) {
            let keys = [key(1).public()];
            let mut xml = signed(1, 1).into_bytes();
            prop_assert!(verified(&xml[..cut.index(xml.len())], &keys, 1, 1).is_err());
            let at = at.index(xml.len());
            xml[at] ^= flip;
            // A space within the instruction may become another white space: the document stays what it was.
            if let Ok(document) = verified(&xml, &keys, 1, 1) {
                prop_assert_eq!(document.strip_suffix(b"\n"), Some(DOCUMENT.as_bytes()));
            }
        }

        #[test]
        fn random_bytes_are_not_signed(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(verified(&bytes, &[key(1).public()], 1, 1).is_err());
        }
    }
}
