//! The node in a program with a runtime of its own.

use super::*;

#[path = "../../../examples/tokio.rs"]
mod tokio_receiver;

#[test]
fn a_program_with_tokio_receives_a_file() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("tokio");
    let data = content(300_000);
    let ends = Ends { completions: Some(1), after: Some(Duration::from_secs(60)), ..Ends::default() };
    let source = start(temp.with("file", &data), sending(60, "elm", ends));
    let into = temp.directory("into");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let known = Known::Group(group(60), None);
    let received = runtime.block_on(tokio_receiver::receive(known, Ipv4Addr::LOCALHOST, &into)).unwrap();
    assert_eq!((received.objects, received.complete), (1, 1));
    assert!(fs::read(into.join("file")).unwrap() == data);
    assert_eq!(source.thread.join().unwrap().unwrap().stopped, Stopped::Completions);
}
