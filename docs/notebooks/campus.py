# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # Which protocol for my campus
#
# At night a university distributes a disk image to four buildings. Their links differ by more than a factor of ten,
# and people go on downloading and making calls. Which protocol completes the image soonest at all buildings, and at
# what cost to the others? The network is written in Python; replace it by your own.

# %%
import textwrap

import layercast
import pandas as pd
from layercast.scenario import Defaults, Draw, Flow, Layers, Link, Queue, Scenario, Session

# Rate and one-way delay of each building's link.
BUILDINGS = {
    "FARM": ("4 Mbit/s", "40 ms"),
    "HALLS": ("10 Mbit/s", "10 ms"),
    "LIBRARY": ("20 Mbit/s", "5 ms"),
    "LABS": ("50 Mbit/s", "2 ms"),
}
EDGE = Queue(kind="codel", limit="1000 packets")

campus = Scenario(
    name="Four buildings at night",
    duration="120 s",
    windows=[["30 s", "end"]],
    defaults=Defaults(
        link=Link(rate="1 Gbit/s", delay="1 ms", queue=Queue(kind="drop-tail", limit="10000 packets")),
        flow=Flow(protocol="tcp-cubic", from_="WEB"),
    ),
    links={
        "IMAGES-CORE": Link(),
        "WEB-CORE": Link(),
        **{f"CORE-{name}": Link(rate=rate, delay=delay, queue=EDGE) for name, (rate, delay) in BUILDINGS.items()},
    },
    sessions={
        "image": Session(
            protocol="tide",
            source="IMAGES",
            receivers=list(BUILDINGS),
            start="5 s",
            object="8 MB",
            layers=Layers(scheme="multiplicative", base="256 kbit/s", factor=1.3, above="50 Mbit/s"),
        )
    },
    flows={
        "download": Flow(to=list(BUILDINGS), count=2, start=Draw(uniform=["0 s", "5 s"])),
        "phone": Flow(traffic="call", to=list(BUILDINGS)),
    },
    groups={name: [f"image@{name}", f"download-*@{name}"] for name in BUILDINGS},
)

# %% [markdown]
# `check` finds mistakes before anything runs. The queues at the edge are CoDel (RFC 8289), so that calls do not wait
# behind downloads.

# %%
assert layercast.check(campus, set={"replications": 5}) == ""

# %% [markdown]
# Five protocols run in the same network with the same seeds, five replications each, and once more without
# receivers.

# %%
result = layercast.compare(campus, ["tide", "elm", "rlc", "flid-dl", "tfmcc"], replications=5)
print(textwrap.fill(result.verdict["text"], 100))

# %% [markdown]
# ## When the image is complete
#
# With one rate for all (TFMCC) the slowest building decides for all: median and last are the same. With layers each
# building has a time of its own. RLC adds layers slowly, and one building is not complete at the end of the run.

# %%
rows = {row["protocol"]: row for row in result.summary["protocols"]}
completion = pd.DataFrame(
    {
        name: {
            "complete": row["completion"]["completed"]["mean"],
            "median, s": row["completion"]["median_s"]["mean"],
            "last, s": row["completion"]["last_s"]["mean"],
        }
        for name, row in rows.items()
    }
).T
completion.round(1)

# %%
# Times within a twentieth are the same; layers put at least a fifth between them.
spread = completion["last, s"] / completion["median, s"]
assert spread["tfmcc"] < 1.05
assert (spread[["tide", "elm", "flid-dl"]] > 1.2).all()
assert completion["complete"]["rlc"] < 4 and (completion["complete"].drop("rlc") == 4).all()

# %% [markdown]
# ## What others lose
#
# The cost to the downloads in per cent of their rate in the same network without multicast, building by building.

# %%
flows = result.flows.to_pandas()
downloads = flows[flows.flow.str.startswith("download")]
rates = downloads.groupby(["candidate", "node"]).throughput_kbps.mean().unstack("candidate")
change = (rates.div(rates["without multicast"], axis=0) - 1).drop(columns="without multicast") * 100
change.loc[list(BUILDINGS)].round(1)

# %% [markdown]
# Downloads lose most at the slowest link, where the image is the largest part of what the link carries in two minutes.
# The sooner a building has the image, the sooner its downloads have the link for themselves: over the whole window they
# lose least next to the protocol that is done first.

# %%
assert (change.idxmin() == "FARM").all()
assert change.mean().idxmax() == completion["median, s"].idxmin() == "tide"
assert result.verdict["best"] == ["tide"]
