//! Settings of transfers, given by name and as text.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use layercast::keys::{KeyFile, others_can_read, read_key};
use layercast::{AmtRelay, FeedbackPath, Kind, ReceiverBuilder, SenderBuilder, Units};
use layercast_core::units::{Duration, Size};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors;

/// A setting.
struct Setting<'a> {
    py: Python<'a>,
    name: &'a str,
    text: &'a str,
}

impl Setting<'_> {
    /// The value.
    fn value<T: FromStr<Err: Display>>(&self) -> PyResult<T> {
        self.text.parse().map_err(|error: T::Err| self.wrong(&error))
    }

    fn time(&self) -> PyResult<std::time::Duration> {
        Ok(std::time::Duration::from(self.value::<Duration>()?))
    }

    /// An option of the protocol and its value.
    fn option(&self) -> PyResult<(&str, &str)> {
        self.text.split_once('=').ok_or_else(|| self.wrong(&"an option, `=`, and its value"))
    }

    /// A key in a file. Of one that others can read, and could use, Python is warned.
    fn key<K>(&self, into: impl FnOnce(KeyFile) -> Result<K, layercast::keys::KeyError>) -> PyResult<K> {
        let path = Path::new(self.text);
        let wrong = |error| errors::start(self.py, &layercast::StartError::from(error));
        let (is_secret, key) =
            read_key(path, |file| Ok((file.kind().is_secret(), into(file)?))).map_err(wrong)?;
        if is_secret && others_can_read(path) {
            errors::warn(self.py, &format!("others can read the key in {}", path.display()))?;
        }
        Ok(key)
    }

    fn wrong(&self, error: &dyn Display) -> PyErr {
        errors::argument(self.py, &format!("{}={:?}: {error}", self.name, self.text))
    }

    fn unknown(&self) -> PyErr {
        PyTypeError::new_err(format!("there is no parameter `{}`", self.name))
    }
}

pub(super) fn sender<K: Kind>(
    py: Python<'_>,
    sender: SenderBuilder<K>,
    settings: &[(String, String)],
) -> PyResult<SenderBuilder<K>> {
    settings.iter().try_fold(sender, |sender, (name, text)| {
        let setting = Setting { py, name, text };
        Ok(match name.as_str() {
            "group" => sender.group(text),
            "from_" => sender.from(setting.value()?),
            "to" => sender.to(setting.value()?),
            "control" => sender.control(text),
            "set" => {
                let (option, value) = setting.option()?;
                sender.set(option, value)
            }
            "packet" => sender.packet(setting.value()?),
            "interface" => sender.interface(text),
            "ttl" => sender.ttl(setting.value()?),
            "for_" => sender.end_after(setting.time()?),
            "rounds" => sender.rounds(setting.value()?),
            "until_complete" => sender.until_complete(setting.value()?),
            "group_key" => sender.group_key(setting.key(KeyFile::into_group)?),
            "encrypt" => sender.encrypt(),
            "key" => sender.key(setting.key(KeyFile::into_secret)?),
            "follow" => sender.follow(),
            "all_layers" => sender.all_layers(),
            "state" => sender.state(text),
            "name" => sender.name(text),
            "announce" => sender.announce(setting.value()?),
            "serve" => sender.serve(setting.value()?),
            "serve_only" => sender.serve_only(setting.value()?),
            "relays" => sender.relay(text.as_str()),
            "reliable" => sender.reliable(),
            "gather" => sender.gather(setting.time()?),
            "deadline" => sender.deadline(setting.time()?),
            "units" if text == "length" => sender.units(Units::Length),
            "units" => sender.units(Units::Fixed(setting.value::<Size>()?.as_bytes())),
            "repair" => sender.repair(setting.value()?),
            _ => return Err(setting.unknown()),
        })
    })
}

pub(super) fn receiver<K: Kind>(
    py: Python<'_>,
    receiver: ReceiverBuilder<K>,
    settings: &[(String, String)],
) -> PyResult<ReceiverBuilder<K>> {
    settings.iter().try_fold(receiver, |receiver, (name, text)| {
        let setting = Setting { py, name, text };
        Ok(match name.as_str() {
            "group" => receiver.group(text),
            "url" => receiver.session_url(text),
            "name" => receiver.session_name(text),
            "description" => receiver.description_file(text),
            "source" => receiver.source(setting.value()?),
            "interface" => receiver.interface(text),
            "group_key" => receiver.group_key(setting.key(KeyFile::into_group)?),
            "keys" => receiver.key(setting.key(KeyFile::into_public)?),
            "relays" => receiver.relay(text.as_str()),
            "relay_only" => receiver.relay_only(),
            "reliable" => receiver.reliable(),
            "amt" if text == "discover" => receiver.amt(AmtRelay::Discover),
            "amt" => receiver.amt(AmtRelay::At(setting.value()?)),
            "feedback" => receiver.feedback(match text.as_str() {
                "relay" => FeedbackPath::Relay,
                "direct" => FeedbackPath::Direct,
                "none" => FeedbackPath::None,
                _ => return Err(setting.wrong(&"use relay, direct or none")),
            }),
            "replace" => receiver.replace(),
            "mirror" => receiver.mirror(),
            "keep_going" => receiver.keep_going(),
            "patience" => receiver.patience(setting.time()?),
            "start_within" => receiver.start_within(setting.time()?),
            "within" => receiver.within(setting.time()?),
            "silent" => receiver.silent(),
            "set" => {
                let (option, value) = setting.option()?;
                receiver.set(option, value)
            }
            _ => return Err(setting.unknown()),
        })
    })
}
