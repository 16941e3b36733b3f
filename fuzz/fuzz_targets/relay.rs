#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| layercast_fuzz::relay(bytes));
