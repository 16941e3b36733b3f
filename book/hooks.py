"""What the site has that docs/ does not: the pages of the root, files that pages link to, notebooks, the API.

Links of pages are those of the tree. What they name outside of docs/ gets a page below `tree/`: the text of a file, or
the list of a folder.
"""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from nbconvert import MarkdownExporter

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")

#: Pages that stand outside of docs/.
OUTSIDE = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}

#: Where notebooks are, each a page.
NOTEBOOKS = [*sorted(ROOT.glob("docs/notebooks/*.py")), ROOT / "examples/python/learned.py"]

#: Modules of the Python package with a page, and what its objects are for.
MODULES = {
    "layercast": ("Running", ["run", "sweep", "compare", "check", "expand", "protocols", "options", "scenarios"]),
    "layercast.results": ("Results", ["Result", "SweepResult", "Comparison"]),
    "layercast.plot": ("Plots", ["ResultPlots", "SweepPlots"]),
    "layercast.scenario": ("Scenarios", []),
    "layercast.protocol": ("Protocols", []),
    "layercast.testing": ("Testing protocols", []),
    "layercast.cluster": ("Clusters", []),
    "layercast.errors": ("Errors", []),
}

#: Languages of files that are shown, by the end of their name.
LANGUAGES = {"rs": "rust", "toml": "toml", "py": "python", "sh": "sh", "json": "json", "graphml": "xml"}

LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?(\))")


@cache
def tracked() -> frozenset[str]:
    """The files of the project."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return frozenset(listed.stdout.split("\n"))


def uri_of(path: str) -> str:
    """Where the site has a file or folder of the tree."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    if path == "docs/decisions":
        return "decisions/index.md"
    if ROOT / path in NOTEBOOKS:
        return f"notebooks/{Path(path).stem}.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"tree/{path}.md" if not path.endswith(".md") else f"tree/{path}"


def place_of(uri: str) -> str:
    """The file of the tree that a page of the site shows."""
    for path, page in OUTSIDE.items():
        if uri == page:
            return path
    return uri.removeprefix("tree/") if uri.startswith("tree/") else f"docs/{uri}"


def relinked(text: str, path: str, uri: str) -> str:
    """A page whose links to the tree are links of the site."""

    def link(match: re.Match[str]) -> str:
        before, target, anchor, after = match.groups()
        if "://" in target or target.startswith("mailto:"):
            return match.group()
        named = os.path.normpath(os.path.join(os.path.dirname(path), target))
        there = os.path.relpath(uri_of(named), os.path.dirname(uri) or ".")
        return f"{before}{there}{anchor or ''}{after}"

    lines, is_code = [], False
    for line in text.split("\n"):
        is_code ^= line.lstrip().startswith("```")
        lines.append(line if is_code else LINK.sub(link, line))
    return "\n".join(lines)


def linked(text: str, path: str) -> set[str]:
    """What a page names outside of docs/."""
    targets = (match.group(2) for match in LINK.finditer(text) if "://" not in match.group(2))
    named = {os.path.normpath(os.path.join(os.path.dirname(path), target)) for target in targets}
    known = tracked()
    folders = {name for name in named if any(file.startswith(f"{name}/") for file in known)}
    is_shown = {name for name in named if ROOT / name in NOTEBOOKS or name in OUTSIDE or name.startswith("docs/")}
    return {name for name in named - is_shown if name in known or name in folders}


def shown(path: str) -> tuple[str, set[str]]:
    """The page of a file or folder of the tree, and what else it needs."""
    if path in tracked():
        text = (ROOT / path).read_text()
        if path.endswith(".md"):
            return text, linked(text, path)
        fence = "`" * 4
        return f"# {path}\n\n{fence}{LANGUAGES.get(path.rpartition('.')[2], 'text')}\n{text}\n{fence}\n", set()
    inner = sorted(
        {f"{path}/{file.removeprefix(f'{path}/').split('/')[0]}" for file in tracked() if file.startswith(f"{path}/")}
    )
    rows = [f"- [{os.path.basename(name)}]({os.path.relpath(name, os.path.dirname(path) or '.')})" for name in inner]
    return f"# {path}\n\n" + "\n".join(rows) + "\n", set(inner)


def decisions() -> str:
    """The index of decisions."""
    rows = []
    for page in sorted((ROOT / "docs/decisions").glob("[0-9]*.md")):
        rows.append(f"- [{page.read_text().splitlines()[0].removeprefix('# ')}]({page.name})")
    return "# Decisions\n\nWhat was chosen, why, and what was not.\n\n" + "\n".join(rows) + "\n"


def crates() -> str:
    """The page that leads to the reference of the crates."""
    rows = []
    for manifest in sorted(ROOT.glob("crates/*/Cargo.toml")):
        name, description = re.findall(r'^(?:name|description) = "(.+)"$', manifest.read_text(), re.MULTILINE)[:2]
        page = f"rust/{name.replace('-', '_')}/index.html"
        if (TARGET / "doc" / page.removeprefix("rust/")).exists():
            rows.append(f"- [{name}]({page}): {description}")
    return "# Rust crates\n\nThe reference that rustdoc writes.\n\n" + "\n".join(rows) + "\n"


def module_page(module: str) -> str:
    """The page of a module of the Python package."""
    title, members = MODULES[module]
    options = f"    options:\n      members: [{', '.join(members)}]\n" if members else ""
    return f"---\ntitle: {title}\n---\n\n# {title}: `{module}`\n\n::: {module}\n{options}"


def notebook_page(stored: Path) -> tuple[str, dict[str, bytes]]:
    """A notebook with its outputs as Markdown, and its plots."""
    notebook = nbformat.read(stored, as_version=4)
    heading = ""
    alternatives = []
    for cell in notebook.cells:
        outputs = cell.get("outputs", [])
        if any("image/png" in output.get("data", {}) for output in outputs):
            # What the last line of a plot returns is of no interest.
            cell.outputs = [output for output in outputs if list(output.get("data", {})) != ["text/plain"]]
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (found := re.findall(r"^#+ (.+)$", cell.source, re.MULTILINE)):
            heading = found[-1]
        alternatives += [heading for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]
    text, resources = MarkdownExporter(
        template_file=str(Path(__file__).with_name("notebook.md.j2"))
    ).from_notebook_node(notebook, resources={"unique_key": stored.stem, "output_files_dir": f"{stored.stem}_files"})
    titles = iter(alternatives)
    text = re.sub(r"!\[png\]", lambda _: f"![Plot: {next(titles)}]", text)
    # Pandas names a class and a border, which the site's tables do without.
    text = re.sub(r'<table border="1" class="dataframe">', "<table>", text)
    text = re.sub(r"<style scoped>.*?</style>\s*", "", text, flags=re.DOTALL)
    return text, resources["outputs"]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds what docs/ does not have."""

    def add(uri: str, content: str | bytes) -> None:
        files.append(File.generated(config, uri, content=content))

    waiting: set[str] = set()
    for path, uri in OUTSIDE.items():
        text = (ROOT / path).read_text()
        waiting |= linked(text, path)
        add(uri, text)
    for file in files.documentation_pages():
        waiting |= linked(file.content_string, place_of(file.src_uri))
    done: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path not in done:
            done.add(path)
            text, more = shown(path)
            waiting |= more
            add(uri_of(path), text)
    for source in NOTEBOOKS:
        if raw := files.src_uris.get(f"notebooks/{source.name}"):
            files.remove(raw)
        text, plots = notebook_page(TARGET / "notebooks" / f"{source.stem}.ipynb")
        add(f"notebooks/{source.stem}.md", text)
        for name, content in plots.items():
            add(f"notebooks/{name}", content)
    for module in MODULES:
        add(f"api/{module.removeprefix('layercast.')}.md", module_page(module))
    add("decisions/index.md", decisions())
    add("rust.md", crates())
    add("book.css", Path(__file__).with_name("book.css").read_text())
    for page in sorted((TARGET / "doc").rglob("*")):
        if page.is_file() and page.name != ".lock":
            name = page.relative_to(TARGET / "doc").as_posix()
            made = File.generated(config, f"rust/{name}", abs_src_path=str(page))
            files.append(made)
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrites the links of a page."""
    uri = page.file.src_uri
    if uri.startswith(("api/", "notebooks/", "rust.md", "decisions/index.md")):
        return markdown
    return relinked(markdown, place_of(uri), uri)
