//! The vectors of the standards, through the calls that this crate makes.

use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInOut as _, KeyInit as _};
use ed25519_dalek::{Signer as _, SigningKey, Verifier as _};
use hkdf::Hkdf;
use hmac::{Hmac, Mac as _};
use layercast_delivery::security::keys::SecretKey;
use sha2::Sha256;

use super::hex;

/// RFC 8032, section 7.1: tests 1 and 3.
#[test]
fn ed25519() {
    let vectors = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
    ];
    for (seed, public, message, signature) in vectors {
        let seed: [u8; 32] = hex(seed).try_into().unwrap();
        assert_eq!(SecretKey::from_seed(&seed).public().to_bytes().to_vec(), hex(public));
        let key = SigningKey::from_bytes(&seed);
        let signed = key.sign(&hex(message));
        assert_eq!(signed.to_bytes().to_vec(), hex(signature));
        assert!(key.verifying_key().verify(&hex(message), &signed).is_ok());
    }
}

/// RFC 4231, sections 4.3 and 4.6, the second cut to 128 bits as packets have it.
#[test]
fn hmac_sha_256() {
    let mut mac = Hmac::<Sha256>::new_from_slice(b"Jefe").unwrap();
    mac.update(b"what do ya want for nothing?");
    let whole = mac.finalize().into_bytes().to_vec();
    assert_eq!(whole, hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
    let mut mac = Hmac::<Sha256>::new_from_slice(&[0x0c; 20]).unwrap();
    mac.update(b"Test With Truncation");
    assert!(mac.clone().verify_truncated_left(&hex("a3b6167473100ee06e0c796c2955552b")).is_ok());
    assert!(mac.verify_truncated_left(&hex("a3b6167473100ee06e0c796c2955552c")).is_err());
}

/// RFC 5869, appendix A.1.
#[test]
fn hkdf_sha_256() {
    let derived = Hkdf::<Sha256>::new(Some(&hex("000102030405060708090a0b0c")), &[0x0b; 22]);
    let expected =
        hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
    let mut room = [0; 42];
    derived.expand(&hex("f0f1f2f3f4f5f6f7f8f9"), &mut room).unwrap();
    assert_eq!(room.to_vec(), expected);
    let mut room = [0; 42];
    derived.expand_multi_info(&[&hex("f0f1f2f3"), &hex("f4f5f6f7f8f9")], &mut room).unwrap();
    assert_eq!(room.to_vec(), expected);
}

/// RFC 8439, section 2.8.2.
#[test]
fn chacha20_poly1305() {
    let key: [u8; 32] = core::array::from_fn(|index| 0x80 + index as u8);
    let nonce: [u8; 12] = hex("070000004041424344454647").try_into().unwrap();
    let header = hex("50515253c0c1c2c3c4c5c6c7");
    let text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
    let mut bytes = text.to_vec();
    let cipher = ChaCha20Poly1305::new(&key.into());
    let tag = cipher.encrypt_inout_detached(&nonce.into(), &header, bytes.as_mut_slice().into()).unwrap();
    assert_eq!(tag.to_vec(), hex("1ae10b594f09e26a7e902ecbd0600691"));
    assert_eq!(bytes[..16].to_vec(), hex("d31a8d34648e60db7b86afbc53ef7ec2"));
    cipher.decrypt_inout_detached(&nonce.into(), &header, bytes.as_mut_slice().into(), &tag).unwrap();
    assert_eq!(bytes, text);
}
