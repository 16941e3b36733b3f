//! A source's payload: its objects and its file delivery table, packet by packet.

use layercast_core::lct::{LONG_CCI, LctFields};
use layercast_core::units::{Channel, Size, Time};
use layercast_core::{Always as _, cannot_be};

use crate::carousel::{Ahead, BlockWindow, Carousel, Pick};
use crate::catalogue::{Catalogue, CatalogueError, Change, Item, TableSettings};
use crate::in_order::InOrder;
use crate::object::{Content, Entry, FEC_NO_CODE, Sha256, TOI_TABLE, table_fti};
use crate::packet::{Fdt, Fti, MAX_HEADER, PayloadId, Poll, Repr};

/// The extensions that only packets of the table have: EXT_FDT, EXT_CENC, EXT_FTI, a poll and the known demand.
pub(crate) const TABLE_EXTENSIONS: usize = 24 + Poll::BYTES + 4;

/// The size of symbols: the rest of a packet after the longest header, so that no packet exceeds the session's packet
/// size, which counts the headers of IP and UDP. [`Oti::plan`](crate::object::Oti::plan) rounds it down.
pub fn symbol_size(packet: Size, ip_udp_bytes: u32) -> u16 {
    let header = MAX_HEADER - LONG_CCI - TABLE_EXTENSIONS;
    let headers = ip_udp_bytes + header as u32 + PayloadId::BYTES as u32;
    packet.as_bytes().saturating_sub(headers) as u16
}

/// The payload of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketPayload {
    /// Its object (TOI).
    pub toi: u32,
    /// Its FEC encoding id.
    pub codepoint: u8,
    /// The FDT instance, if it is a part of the file delivery table.
    pub fdt: Option<Fdt>,
    /// Whether that instance is compressed with zlib.
    pub is_compressed: bool,
    /// FEC information for a receiver that has none.
    pub fti: Option<Fti>,
    /// Its length in bytes: FEC payload id and symbol.
    pub length: usize,
}

impl PacketPayload {
    /// The header of its packet, with the fields of the protocol.
    pub fn repr(&self, fields: LctFields, tsi: u32) -> Repr {
        let PacketPayload { toi, codepoint, fdt, is_compressed, fti, length: _ } = *self;
        Repr {
            fields,
            tsi,
            toi,
            close_object: false,
            codepoint,
            fdt,
            is_compressed,
            fti,
            poll: None,
            known_level: None,
        }
    }
}

/// Where symbols come from.
pub trait Symbols {
    /// Why there is no symbol.
    type Error;

    /// Writes a symbol of an object to `room`, which has its size.
    ///
    /// # Errors
    /// Why there is none.
    fn symbol(&mut self, toi: u32, id: PayloadId, room: &mut [u8]) -> Result<(), Self::Error>;

    /// Repair symbols are needed soon.
    fn prepare(&mut self, ahead: Ahead) {
        let _ = ahead;
    }

    /// Whether what [`Symbols::prepare`] announced is not ready yet, so that its symbols would have to be waited for.
    fn is_behind(&mut self) -> bool {
        false
    }
}

/// The payload of a source.
#[derive(Clone, Debug)]
pub struct Sender {
    catalogue: Catalogue,
    carousel: Carousel,
    /// The length of a part of the table.
    part: usize,
}

impl Sender {
    /// A sender without objects, for a session of so many channels.
    pub fn new(settings: TableSettings, channels: u16) -> Sender {
        // Symbols of objects are multiples of four bytes.
        let part = usize::from(settings.symbol).saturating_sub(TABLE_EXTENSIONS).max(1);
        Sender { catalogue: Catalogue::new(settings), carousel: Carousel::new(channels), part }
    }

    /// Lets blocks take turns when there are many. Called before items are added.
    pub fn set_block_window(&mut self, block_window: BlockWindow) {
        self.carousel.set_block_window(block_window);
    }

    /// Adds items, replaces those of the same path, and removes others; `complete` says whether receivers should
    /// expect no more. `reached` gives the symbols that an earlier source of this object had reached.
    ///
    /// # Errors
    /// Which item cannot be sent; nothing has changed then.
    pub fn change(
        &mut self,
        items: &[Item],
        removed: &[String],
        complete: bool,
        reached: &dyn Fn(&Entry) -> Vec<u32>,
    ) -> Result<Change, CatalogueError> {
        let change = self.catalogue.change(items, removed, complete)?;
        change.removed.iter().for_each(|&toi| self.carousel.remove(toi));
        for toi in &change.added {
            if let Some(entry) = self.catalogue.object(*toi)
                && let Content::File { coding, .. } = entry.content
            {
                self.carousel.add(*toi, coding, &reached(entry));
            }
        }
        self.send_instances(change.instances);
        Ok(change)
    }

    /// Names the hashes of objects that have a tag alone ([`Catalogue::name_hashes`]).
    ///
    /// # Errors
    /// As [`Catalogue::name_hashes`].
    pub fn name_hashes(&mut self, hashes: &[(u32, Sha256)]) -> Result<(), CatalogueError> {
        match self.catalogue.name_hashes(hashes)? {
            0 => {}
            new => self.send_instances(new),
        }
        Ok(())
    }

    /// Describes the session otherwise from now on ([`Catalogue::describe`]).
    ///
    /// # Errors
    /// As [`Catalogue::describe`].
    pub fn describe(&mut self, session: String) -> Result<(), CatalogueError> {
        let new = self.catalogue.describe(session)?;
        self.send_instances(new);
        Ok(())
    }

    /// Sends the instances of the table, first the `new` ones, which are the last.
    fn send_instances(&mut self, new: usize) {
        let parts =
            self.catalogue.instances().iter().map(|one| one.bytes.len().div_ceil(self.part)).collect();
        self.carousel.set_table(parts, new);
    }

    /// Sends a packet of the table on the base channel soon, out of turn, for what its header says.
    pub fn announce_soon(&mut self) {
        self.carousel.announce_soon();
    }

    /// Sends no more symbols of an object, which stays in the table.
    pub fn pause(&mut self, toi: u32) {
        self.carousel.remove(toi);
    }

    /// The objects.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The order of packets.
    pub fn carousel(&self) -> &Carousel {
        &self.carousel
    }

    /// Writes the payload of the next packet of a channel to `room`. An empty one if there is nothing to send.
    ///
    /// # Errors
    /// Why a symbol is missing.
    pub fn next<S: Symbols>(
        &mut self,
        channel: Channel,
        now: Time,
        room: &mut [u8],
        symbols: &mut S,
    ) -> Result<PacketPayload, S::Error> {
        self.carousel.hold(symbols.is_behind());
        let pick = self.carousel.next(channel, now);
        while let Some(ahead) = self.carousel.take_ahead() {
            symbols.prepare(ahead);
        }
        pick.map_or(Ok(PacketPayload::default()), |pick| self.load(pick, room, symbols))
    }

    /// The order in which each part of the table and each source symbol is sent once. Changes of the objects make another one.
    pub fn in_order(&self) -> InOrder {
        let parts = self.catalogue.instances().iter().map(|one| one.bytes.len().div_ceil(self.part));
        let objects = self.catalogue.objects().filter_map(|(toi, object)| match object.content {
            Content::File { coding, .. } => Some((toi, coding)),
            _ => None,
        });
        InOrder::new(parts, objects)
    }

    /// Writes a part of the table, or a symbol, to `room`.
    ///
    /// # Errors
    /// Why a symbol is missing.
    pub fn load<S: Symbols>(
        &self,
        pick: Pick,
        room: &mut [u8],
        symbols: &mut S,
    ) -> Result<PacketPayload, S::Error> {
        match pick {
            Pick::Table { instance, part } => Ok(self
                .table_part(instance, part, room)
                .always("the table has the parts that are sent, which fit a packet")),
            Pick::Symbol { toi, id } => self.symbol(toi, id, room, symbols),
        }
    }

    fn symbol<S: Symbols>(
        &self,
        toi: u32,
        id: PayloadId,
        room: &mut [u8],
        symbols: &mut S,
    ) -> Result<PacketPayload, S::Error> {
        let content = self.catalogue.object(toi).map(|entry| entry.content);
        let Some(Content::File { coding, .. }) = content else {
            return Ok(cannot_be("the carousel sends files of the catalogue"));
        };
        let length = PayloadId::BYTES + coding.symbol_length(id);
        let mut load = PacketPayload { toi, codepoint: coding.encoding_id(), ..PacketPayload::default() };
        if let Some((head, room)) = room.get_mut(..length).and_then(<[u8]>::split_first_chunk_mut) {
            *head = id.to_bytes();
            symbols.symbol(toi, id, room)?;
            load.length = length;
        } else {
            cannot_be::<()>("a packet has room for a symbol");
        }
        Ok(load)
    }

    fn table_part(&self, instance: usize, part: usize, room: &mut [u8]) -> Option<PacketPayload> {
        let encoded = self.catalogue.instances().get(instance)?;
        let bytes = encoded.bytes.chunks(self.part).nth(part)?;
        let length = PayloadId::BYTES + bytes.len();
        let (id, symbol) = room.get_mut(..length)?.split_first_chunk_mut()?;
        // No code (RFC 5445, section 3.2.1): block 0 in 16 bits, symbol in 16 bits.
        *id = (part as u32 & 0xffff).to_be_bytes();
        symbol.copy_from_slice(bytes);
        Some(PacketPayload {
            toi: TOI_TABLE,
            codepoint: FEC_NO_CODE,
            fdt: Some(Fdt::new(encoded.number)),
            is_compressed: true,
            fti: Some(table_fti(encoded.bytes.len(), self.part as u16)),
            length,
        })
    }
}
