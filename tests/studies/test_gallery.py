"""The gallery: what it says of a row, that it goes on where it was stopped, that it stays small."""

import json
from pathlib import Path

import numpy as np

import onesnap as snap
from studies.accuracy import gallery

HOME = Path(__file__).parents[2]
ROW = {
    "cells": [64], "steps": 400, "settings": {"extent": "6", "symmetry": "1 elements on scalar"},
    "valid": 5.0, "end": 20.0, "diverged": None, "skill": 0.5, "warnings": [],
}  # fmt: skip


def test_a_section_says_what_the_row_says():
    words = gallery.section("ks-1d", snap.systems["ks-1d"], ROW)
    assert "uₜ = −uₓₓ − uₓₓₓₓ − u uₓ" in words
    assert "**Valid for 5 time units**, 100 of 400 steps of 0.05, on 64 cells." in words
    assert "Chosen: extent 6.\n<!-- play ks-1d -->" in words
    worse = ROW | {"diverged": 300, "warnings": ["careful"], "valid": 20}
    words = gallery.section("ks-1d", snap.systems["ks-1d"], worse)
    assert "**Valid for at least 20 time units**" in words
    assert "It diverged at step 300." in words
    assert "- It warned: careful." in words
    assert "Not run yet" in gallery.section("ks-1d", snap.systems["ks-1d"], None)


def test_it_goes_on_where_it_was_stopped(monkeypatch, tmp_path):
    run, written = [], []
    monkeypatch.setattr(gallery, "ROWS", tmp_path / "rows" / "gallery.json")
    monkeypatch.setattr(gallery, "IMAGES", tmp_path)
    monkeypatch.setattr(gallery, "PAGES", tmp_path)
    monkeypatch.setattr(gallery, "run", lambda name, system: run.append(name) or ROW)
    monkeypatch.setattr(gallery, "write", lambda rows: written.append(len(rows)))
    gallery.main(["ks-1d"])
    gallery.main(["ks-1d", "kdv-1d"])
    gallery.main(["kdv-1d", "--again"])
    assert run == ["ks-1d", "kdv-1d", "kdv-1d"]
    assert written == [1, 1, 2, 2]


def test_a_picture_is_drawn_and_small():
    for name, dimension in (("ks-1d", 1), ("ks-2d", 2)):
        system = snap.systems[name].replace(points=16)
        states = np.random.default_rng(0).normal(size=(5, 1, *(16,) * dimension))
        drawn = gallery.small_png(gallery.picture(system, states, states[:4], dt=1.0))
        assert drawn.startswith(b"\x89PNG")


def test_grids_have_cells_of_the_size_of_the_catalogue():
    for system in snap.systems.values():
        small = gallery.small(system)
        assert small.points <= gallery.MOST_CELLS[system.dimension]
        assert abs(small.dx - system.dx) < 1e-12


def test_what_is_kept_is_small_and_belongs_to_the_catalogue():
    rows = json.loads(gallery.ROWS.read_text("utf-8"))
    assert set(rows) <= set(snap.systems)
    sizes = [path.stat().st_size for path in (HOME / "docs" / "images" / "gallery").glob("*.png")]
    assert len(sizes) == len(rows)
    assert max(sizes) < 150_000
    assert sum(sizes) < 2_000_000
