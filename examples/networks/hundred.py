#!/usr/bin/env python3
"""Writes hundred.graphml: a made-up network of 100 nodes on a map of Europe's size.

Nodes are placed at random; the first 12 are a core. Each core node has links to its two nearest, each other node to the
nearest core node, and every third also to its nearest neighbour, so that there are cycles. The seed is fixed.
"""
import math
import random

random.seed(14)
CORE, ALL = 12, 100
places = [(random.uniform(37, 60), random.uniform(-8, 28)) for _ in range(ALL)]


def distance(a, b):
    (la, lo), (lb, mo) = places[a], places[b]
    return math.hypot(la - lb, (lo - mo) * math.cos(math.radians((la + lb) / 2)))


def nearest(node, among, count):
    return sorted((other for other in among if other != node), key=lambda other: distance(node, other))[:count]


edges = {}
for node in range(CORE):
    # A ring keeps the core in one piece.
    for other in nearest(node, range(CORE), 2) + [(node + 1) % CORE]:
        edges.setdefault(tuple(sorted((node, other))), 10_000)
for node in range(CORE, ALL):
    edges[tuple(sorted((node, nearest(node, range(CORE), 1)[0])))] = random.choice([20, 50, 100, 200, 500, 1000])
    if node % 3 == 0:
        edges.setdefault(tuple(sorted((node, nearest(node, range(CORE, ALL), 1)[0]))), random.choice([20, 50, 100]))

with open("hundred.graphml", "w") as out:
    out.write("""<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="label" attr.type="string" for="node" id="label"/>
  <key attr.name="Latitude" attr.type="double" for="node" id="lat"/>
  <key attr.name="Longitude" attr.type="double" for="node" id="lon"/>
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="speed"/>
  <graph edgedefault="undirected">
""")
    for node, (latitude, longitude) in enumerate(places):
        label = f"Core{node:02}" if node < CORE else f"Pop{node:02}"
        out.write(f'    <node id="{node}"><data key="label">{label}</data>'
                  f'<data key="lat">{latitude:.3f}</data><data key="lon">{longitude:.3f}</data></node>\n')
    for (one, other), mbps in sorted(edges.items()):
        out.write(f'    <edge source="{one}" target="{other}"><data key="speed">{mbps}000000</data></edge>\n')
    out.write("  </graph>\n</graphml>\n")
