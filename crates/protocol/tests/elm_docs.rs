//! The table of options in `docs/protocols/elm.md` is what the code says.

use layercast_protocol::elm::Options;
use layercast_protocol::option::Options as _;

const START: &str = "--test elm_docs` -->\n";
const END: &str = "<!-- end of options -->";

fn table() -> String {
    let mut table =
        String::from("| option | takes | default | from, to | meaning |\n| --- | --- | --- | --- | --- |\n");
    for spec in Options::specs() {
        let bounds = spec.bounds.map_or(String::from("-"), |(low, high)| format!("{low}, {high}"));
        let row =
            format!("| `{}` | {} | {} | {bounds} | {} |\n", spec.name, spec.kind, spec.default, spec.doc);
        table.push_str(&row);
    }
    table
}

#[test]
fn the_page_has_every_option_as_it_is() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocols/elm.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let start = page.find(START).expect("the start of the table") + START.len();
    let end = page.find(END).expect("the end of the table");
    let fresh = format!("{}{}{}", &page[..start], table(), &page[end..]);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, fresh).expect("the page can be written");
    } else {
        assert_eq!(page, fresh, "run UPDATE_DOCS=1 cargo test -p layercast-protocol --test elm_docs");
    }
}
