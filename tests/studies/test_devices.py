"""The model of a step on many devices counts what is sent, cell by cell."""

import pytest

from studies.speed.devices import DEVICES, Case, Machine, main, split, step_time


def test_edges_are_the_cells_within_reach():
    plane = Case("2-D", 2, extent=2, channels=3)
    assert plane.edges((64, 64), (1, 1)) == []
    assert plane.edges((16, 64), (4, 1)) == [4 * 3 * 2 * 64]
    # The second message takes the corners along: rows that came by the first.
    assert plane.edges((16, 32), (4, 2)) == [4 * 3 * 2 * 32, 4 * 3 * 2 * (16 + 4)]


def test_work_is_shared_and_messages_are_two_an_axis():
    case, machine = Case("3-D", 3), Machine()
    alone, sent, waited = step_time(case, machine, (256, 256, 256), 1)
    assert (sent, waited) == (0.0, 0.0)
    work, sent, waited = step_time(case, machine, (128, 128, 128), 8)
    assert work == pytest.approx(alone / 8)
    assert waited == pytest.approx(6 * machine.near)
    assert step_time(case, machine, (64, 64, 64), 64)[2] == pytest.approx(6 * machine.far)
    assert [split(n, 3) for n in (1, 2, 16)] == [[1, 1, 1], [2, 1, 1], [4, 2, 2]]


def test_memory_is_the_limit_where_hidden_units_are_read_more_often_than_multiplied():
    machine = Machine(flops=100.0, memory=100.0)
    case = Case("1-D", 1, extent=0, stride=1, hidden=1)
    assert case.flops == 14  # 2 by the cell, 2 by the answer, 10 of the activation
    assert machine.memory_share(case) == pytest.approx(14 / 16)  # written and read twice, 4 bytes


def test_the_tables_are_printed(capsys):
    main([])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + 2 + 4 + 2 + 2
    assert {line.count("|") for line in lines[2:]} == {len(DEVICES) + 2}
