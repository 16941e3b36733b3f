"""What README and the pages have in blocks works as it is written there.

The word after the fence is the block's kind. A comment in the line above it may say more:

- `toml`: `layercast check` takes it. What is only a part of a file is completed by `FRAMES`. With
  `<!-- file: NAME -->` blocks of any page that mention the name find it in their folder.
- `sh` below `<!-- run -->` runs in an empty folder and must succeed, with one replication unless
  `LAYERCAST_LONG=1`. Of every other block the commands are parsed: options and values of `layercast`, scenarios and
  their settings, targets of make, extras of pip, examples of cargo.
- `python`: the blocks of a page run one after the other in an empty folder, in a process of their own, with one
  replication and one case; those that send only where the loopback interface carries multicast.
- `rust`: a part of an example that compiles.
- `<!-- left out: REASON -->`: any of these that cannot be had here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import CASES, Command, multicast_works

ROOT = Path(__file__).resolve().parents[3]

#: Texts: outputs, drawings and settings of other programs, which `tools/tidy` and the command's tests look at.
TEXTS = {"text", "ini"}


@dataclass(frozen=True)
class Block:
    """A block of a page."""

    page: str
    line: int
    kind: str
    marker: str
    text: str

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"{self.page}:{self.line}"

    @property
    def fate(self) -> str:
        """What is done with it: it is run, checked or left out."""
        if self.marker.startswith("left out: "):
            return self.marker
        if self.kind == "python" or (self.kind, self.marker) == ("sh", "run"):
            return "run"
        return "checked"


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page."""
    found, lines = [], (ROOT / page).read_text().splitlines()
    opened: int | None = None
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if opened is None:
            opened = number
            continue
        above = re.fullmatch("<!-- (.*) -->", lines[opened - 1]) if opened else None
        text = "\n".join(lines[opened + 1 : number]) + "\n"
        marker = above[1] if above else ""
        found.append(Block(page, opened + 1, lines[opened][3:], marker, text))
        opened = None
    return found


PAGES = ["README.md", "CONTRIBUTING.md", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md"))]
BLOCKS = [block for page in PAGES for block in blocks_of(page)]
FILES = {block.marker[6:]: block.text for block in BLOCKS if block.marker.startswith("file: ")}


def of(kind: str, fate: str) -> pytest.MarkDecorator:
    """The blocks of a kind with this fate."""
    found = [block for block in BLOCKS if (block.kind, block.fate) == (kind, fate)]
    return pytest.mark.parametrize("block", found, ids=[block.place for block in found])


def test_every_block_has_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    unknown = [block.place for block in BLOCKS if block.kind not in {"toml", "sh", "python", "rust", *TEXTS}]
    assert not unknown, f"kinds of blocks that nothing is known about: {unknown}"
    markers = re.compile("(run|file: .+|left out: .+|output: .+|generated: .+|)")
    odd = [f"{block.place}: {block.marker}" for block in BLOCKS if not markers.fullmatch(block.marker)]
    assert not odd, odd
    count = Counter((block.kind, block.fate.partition(":")[0]) for block in BLOCKS if block.kind not in TEXTS)
    with capsys.disabled():
        print("\nblocks of pages:", ", ".join(f"{number} {kind} {fate}" for (kind, fate), number in sorted(count.items())))
        for block in BLOCKS:
            if block.fate.startswith("left out"):
                print(f"  {block.place} {block.fate}")
    assert all(count[kind, fate] > 0 for kind, fate in [("python", "run"), ("sh", "run"), ("toml", "checked")])


#: What completes a part of a scenario, by its page and first line.
HEAD = """
name = "A part of a page"
duration = "120 s"
windows = [["30 s", "end"]]
defaults.link = { rate = "10 Mbit/s", delay = "10 ms" }
"""
LINKS = """
[links]
S-G = {}
G-R = {}
G-R1 = {}
G-R2 = {}
"""
ELM = """
[sessions.elm]
protocol = "elm"
source = "S"
receivers = ["R1", "R2"]
layers = { scheme = "doubling", base = "128 kbit/s", count = 5 }
"""
FRAMES = {
    ("docs/links.md", "[links]"): HEAD + ELM,
    ("docs/queues.md", "[links]"): HEAD + ELM,
    ("docs/membership.md", "[sessions.elm]"): HEAD + LINKS + ELM.replace("[sessions.elm]", "[defaults.session]"),
    ("docs/objects.md", "[sessions.image]"): HEAD + LINKS,
    ("docs/scenarios.md", "[probes.bottleneck]"): HEAD + LINKS + ELM,
    ("docs/scenarios.md", "[[for]]"): HEAD
    + "links.WEB-CORE = {}\n"
    + ELM.replace("sessions.elm", "sessions.image").replace('"S"', '"WEB"').replace('receivers = ["R1", "R2"]\n', ""),
    ("docs/scenarios.md", "[flows]"): HEAD + "links.A-B = {}\n",
    ("docs/traffic.md", "[defaults.flow]"): HEAD + LINKS,
}


#: Files that blocks name without showing them.
NAMED = {
    "traces/cellular.down": "0\n3\n7\n",
    "link.toml": HEAD
    + ELM.replace('"R1", "R2"', '"B"').replace('"S"', '"A"')
    + '[links]\nA-B = {}\n[flows]\ntcp = { protocol = "tcp-cubic", from = "A", to = "B" }\n',
}


@of("toml", "checked")
def test_toml_is_taken_by_the_command(block: Block, command: Command, tmp_path: Path) -> None:
    frame = FRAMES.get((block.page, block.text.partition("\n")[0]), "")
    for name, text in {**FILES, **NAMED, "this.toml": frame + block.text}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    path = str(tmp_path / "this.toml")
    if "[cells." in block.text:
        # A suite has no check of its own, but all cells are read before one is run.
        out = str(tmp_path / "board")
        only = ["--cells", "codel", "--protocols", "elm", "--replications", "1", "--quiet"]
        said = command("scoreboard", path, "--out", out, *only)
    else:
        said = command("check", path)
    assert said.returncode == 0, said.stderr


def in_folder(block: Block, folder: Path) -> None:
    """Puts the files there that the block mentions."""
    for name, text in FILES.items():
        if name in block.text:
            (folder / name).write_text(text)


def brief(text: str) -> str:
    """The same commands with one replication: README's take half a minute."""
    if CASES > 1:
        return text
    without = re.sub(r" --replications \d+", "", text)
    return re.sub(r"layercast (run|sweep|compare) \S+", r"\g<0> --replications 1", without)


@of("sh", "run")
def test_commands_run(block: Block, command: Command, tmp_path: Path) -> None:
    in_folder(block, tmp_path)
    path = f"{Path(os.environ['LAYERCAST']).parent}:{os.environ['PATH']}"
    call = ["bash", "-euo", "pipefail", "-c", brief(block.text)]
    said = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PATH": path})
    assert said.returncode == 0, said.stdout + said.stderr


#: Writes down the commands that are checked, and does nothing else.
RECORDER = r"""
# In one write, since commands in the background record at the same time.
record() { local call; printf -v call '%s\037' "$@"; printf '%s\036' "$call" >> calls; }
command_not_found_handle() { :; }
layercast() { record layercast "$@"; }
make() { record make "$@"; }
pip() { record pip "$@"; }
cargo() { record cargo "$@"; }
sudo() { "$@"; }
ip() { if [ "$1 $2" = "netns exec" ]; then shift 3; "$@"; fi; }
podman() { while [ "$1" != layercast ] && [ $# -gt 0 ] && shift; do :; done; [ "$2" = . ] || "$@"; }
seq() { /usr/bin/seq "$@"; }
PATH=
"""


def calls(block: Block, folder: Path) -> list[list[str]]:
    """The commands of a block that can be checked, as the shell splits them."""
    subprocess.run(["bash", "-n", "-c", block.text], check=True)
    # Hosts of the examples' domain cannot be found. A file of settings for a service has its options in one variable.
    text = re.sub(r"\w+\.example\.net", "192.0.2.2", block.text)
    service = '[ -z "$ARGUMENTS" ] || eval "layercast receive $ARGUMENTS"'
    script = "\n".join([RECORDER, text, service, "wait"])
    subprocess.run(["/bin/bash", "-c", script], cwd=folder, capture_output=True)
    path = folder / "calls"
    written = path.read_text().split("\x1e")[:-1] if path.exists() else []
    return [call.split("\x1f")[:-1] for call in written]


def make_targets() -> set[str]:
    files = [ROOT / "Makefile", *ROOT.glob("*/*.mk")]
    lines = [line for file in files for line in file.read_text().splitlines()]
    rules = [line.split(":")[0] for line in lines if re.match(r"[a-z][a-z0-9 -]*:", line)]
    return {target for rule in rules for target in rule.split()}


def wrong_with(call: list[str], folder: Path, command: Command) -> str:
    """What is wrong with a command; empty if nothing is."""
    program, arguments = call[0], call[1:]
    if program == "make":
        named = [word for word in arguments if "=" not in word and not word.startswith("-")]
        return ", ".join(sorted(set(named) - make_targets()))
    if program == "pip":
        extras = {extra for word in arguments for names in re.findall(r"\[(.*?)\]", word) for extra in names.split(",")}
        known = re.findall(r"(?m)^(\w+) = \[", (ROOT / "pyproject.toml").read_text())
        return ", ".join(sorted(extras - set(known)))
    if program == "cargo":
        examples = [name for flag, name in zip(arguments, arguments[1:]) if flag == "--example"]
        return ", ".join(name for name in examples if not list(ROOT.glob(f"*/*/examples/{name}*")))
    # What stands before `--help` is parsed first.
    end = arguments.index("--") if "--" in arguments else len(arguments)
    parsed = command(*arguments[:end], "--help")
    if parsed.returncode != 0:
        return parsed.stderr
    is_scenario = arguments[:1] in (["run"], ["sweep"], ["compare"]) and not arguments[1].endswith(".toml")
    if not is_scenario:
        return ""
    settings = [f"--set={value}" for flag, value in zip(arguments, arguments[1:]) if flag == "--set"]
    return command("check", arguments[1], *settings).stderr


@of("sh", "checked")
def test_commands_are_right(block: Block, command: Command, tmp_path: Path) -> None:
    found = calls(block, tmp_path)
    assert found, "nothing here can be checked: say why by `<!-- left out: ... -->`"
    wrong = [(call, error) for call in found if (error := wrong_with(call, tmp_path, command))]
    assert not wrong, "\n".join(f"{' '.join(call)}: {error}" for call, error in wrong)


def test_rust_is_from_examples_that_compile() -> None:
    examples = [path.read_text() for path in ROOT.glob("crates/*/examples/**/*.rs")]
    found = [block for block in BLOCKS if block.kind == "rust"]
    assert "README.md" in {block.page for block in found}, "README shows how a host looks"
    foreign = [block.place for block in found if not any(block.text in example for example in examples)]
    assert not foreign, f"these are in no example: {foreign}"


#: What the blocks of a page read.
BEFORE = {
    "docs/results.md": [
        "run thesis/simulation-2 --replications 1 --out results/one",
        "sweep thesis/simulation-2 --vary link.G2-R1.loss=0.01,0.02 --replications 2 --out results/loss",
    ]
}

#: Runs blocks, given as a list of places and texts, in one namespace. A traceback has the line of the page.
RUNNER = """
import functools, json, sys
import layercast

def brief(call):
    @functools.wraps(call)
    def run(*arguments, replications=None, **more):
        return call(*arguments, replications=1, **more)
    return run

for name in ("run", "sweep", "compare"):
    setattr(layercast, name, brief(getattr(layercast, name)))
layercast.testing.check = functools.partial(layercast.testing.check, cases=1)
sys.modules.update(dict.fromkeys(sys.argv[1:]))
names = {"__name__": "__main__"}
for page, line, text in json.load(sys.stdin):
    exec(compile("\\n" * line + text, page, "exec"), names)
"""

PYTHON_PAGES = sorted({block.page for block in BLOCKS if (block.kind, block.fate) == ("python", "run")})


def others_than(extras: str) -> list[str]:
    """The packages of all extras but these."""
    project = (ROOT / "pyproject.toml").read_text()
    lists = dict(re.findall(r'(?m)^(plot|polars|pandas|progress|cluster) = \[(.*)\]', project))
    packages = {extra: set(re.findall(r'"([a-z]+)', names)) for extra, names in lists.items()}
    named = set(extras.split(","))
    assert named <= set(packages), extras
    return sorted(set().union(*packages.values()) - set().union(*(packages[extra] for extra in named)))


@pytest.mark.parametrize("page", PYTHON_PAGES)
def test_python_runs(page: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in BEFORE.get(page, []):
        assert command(*arguments.split()).returncode == 0
    found = [block for block in blocks_of(page) if (block.kind, block.fate) == ("python", "run")]
    if not multicast_works():
        found = [block for block in found if "layercast.Sending(" not in block.text]
    for block in found:
        in_folder(block, tmp_path)
    # README says what to install: nothing else is there.
    installed = re.search(r"pip install '\.\[(.*?)\]'", (ROOT / page).read_text()) if page == "README.md" else None
    hidden = others_than(installed[1]) if installed else []
    text = json.dumps([(block.page, block.line, block.text) for block in found])
    python = os.environ.get("LAYERCAST_PYTHON", sys.executable)
    call = [python, "-c", RUNNER, *hidden]
    said = subprocess.run(call, input=text, capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "agg"})
    assert said.returncode == 0, said.stderr
