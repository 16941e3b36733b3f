//! A file by PLM, from one network namespace to another.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use layercast_testkit::{Missing, skip};

/// A shell with network namespaces of its own.
fn private_shell(directory: &Path, script: &str) -> Command {
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "--net", "bash", "-e", "-c"]).arg(format!("mount -t tmpfs none /run\n{script}"));
    shell.current_dir(directory).env("PROGRAM", env!("CARGO_BIN_EXE_layercast-outside"));
    shell
}

const CABLE: &str = "
ip netns add one; ip netns add two
ip link add cable netns one type veth peer name cable netns two
for host in 1:one 2:two; do
  ip -n ${host#*:} address add 10.9.0.${host%:*}/24 dev cable
  ip -n ${host#*:} link set cable up
done
";

fn scratch() -> PathBuf {
    let path = std::env::temp_dir().join(format!("layercast-outside-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(path.join("into")).expect("a directory");
    path
}

#[test]
fn a_protocol_from_outside_sends_a_file() {
    let directory = scratch();
    let can = private_shell(&directory, CABLE).output();
    match can {
        Ok(output) if output.status.success() => {}
        Ok(output) => return skip(Missing::Netns, String::from_utf8_lossy(&output.stderr).trim()),
        Err(error) => return skip(Missing::Netns, error),
    }
    let content: Vec<u8> =
        (0..2_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    fs::write(directory.join("file"), &content).expect("a file");
    let script = format!(
        "{CABLE}
at() {{ ip netns exec $1 \"$PROGRAM\" $2 --group 239.1.2.3:5500 --interface cable \"${{@:3}}\"; }}
at two receive --set keep_base=true --into into & receiver=$!
at one send file --control plm --base '4 Mbit/s' --layers 4 --until-complete 1 --for '60 s'
wait $receiver"
    );
    let output = private_shell(&directory, &script).output().expect("a shell");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("into/file: complete, hash right") && said.contains("Complete: 10.9.0.2"),
        "{said}"
    );
    assert!(fs::read(directory.join("into/file")).expect("the file") == content, "it is another one");
    fs::remove_dir_all(&directory).expect("it is removed");
}
