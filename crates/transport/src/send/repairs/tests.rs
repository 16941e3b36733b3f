use std::io::Write as _;

use super::*;
use layercast_delivery::object::BlockEncoder;

const SYMBOL: usize = 1024;

fn file(length: u64) -> (Arc<File>, Vec<u8>, Oti) {
    let bytes: Vec<u8> = (0..length as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(&bytes).expect("a disk");
    (Arc::new(file), bytes, Oti::plan(length, SYMBOL as u16).expect("a plan"))
}

fn right(bytes: &[u8], oti: Oti, block: u8, number: u32) -> Vec<u8> {
    let (start, _) = oti.position(block, 0);
    let length = BlockEncoder::data_length(oti, block);
    let mut data = bytes[start as usize..bytes.len().min(start as usize + length)].to_vec();
    data.resize(length, 0);
    let mut symbol = vec![0; SYMBOL];
    BlockEncoder::new(oti, block, &data).expect("an encoder").repair(number, &mut symbol);
    symbol
}

#[test]
fn symbols_are_those_of_the_encoder_whether_they_were_ordered_or_not() {
    let (file, bytes, oti) = file(300_000);
    let mut repairs = Repairs::default();
    let of = Of { block: (7, 0), file: &file, start: 0, oti };
    let mut room = vec![0; SYMBOL];
    repairs.prepare(of, 3, Some(5));
    for number in [3, 4, 5, 6, 7, 8, 9, 100, 101, 2] {
        repairs.symbol(of, number, &mut room).expect("a symbol");
        assert_eq!(room, right(&bytes, oti, 0, number), "symbol {number}");
    }
    // In order over many batches.
    for number in 200..500 {
        repairs.symbol(of, number, &mut room).expect("a symbol");
        if number % 50 == 0 {
            assert_eq!(room, right(&bytes, oti, 0, number), "symbol {number}");
        }
    }
    repairs.remove(7);
    assert!(repairs.ready.is_empty() && repairs.by_use.is_empty() && repairs.bytes == 0);
    repairs.symbol(of, 500, &mut room).expect("a symbol");
    assert_eq!(room, right(&bytes, oti, 0, 500));
}

#[test]
fn memory_is_bounded() {
    let (file, bytes, oti) = file(40 << 20);
    assert!(oti.blocks() > 5);
    let mut repairs = Repairs::default();
    let mut room = vec![0; SYMBOL];
    for number in 0..40 {
        for block in 0..oti.blocks() {
            let of = Of { block: (1, block), file: &file, start: 0, oti };
            repairs.prepare(of, 1000 * number, Some(2000));
            if number == 39 || (number, block) == (0, 0) {
                repairs.symbol(of, 1000 * number, &mut room).expect("a symbol");
            }
            assert!(repairs.bytes <= READY_MAX, "{}", repairs.bytes);
        }
    }
    assert_eq!(room, right(&bytes, oti, oti.blocks() - 1, 39_000));
    let all: usize = repairs.ready.values().flat_map(|ready| &ready.batches).map(|b| b.symbols.len()).sum();
    assert_eq!((all, repairs.by_use.len()), (repairs.bytes, repairs.ready.len()));
}

#[test]
fn a_file_that_was_cut_has_no_repair_symbols() {
    let (file, _, oti) = file(100_000);
    file.set_len(50_000).expect("a disk");
    let mut repairs = Repairs::default();
    let of = Of { block: (1, 0), file: &file, start: 0, oti };
    repairs.prepare(of, 0, None);
    let error = repairs.symbol(of, 0, &mut [0; SYMBOL]).expect_err("a short file");
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
}
