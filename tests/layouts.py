"""Grids with windows that fit into them, drawn by hypothesis."""

from hypothesis import strategies as st


@st.composite
def layouts(draw):
    """Channels, points, extent and stride, in one to three dimensions."""
    dimension = draw(st.integers(1, 3))
    stride = tuple(draw(st.integers(1, 3)) for _ in range(dimension))
    tiles = tuple(draw(st.integers(2, 4)) for _ in range(dimension))
    space = tuple(s * t for s, t in zip(stride, tiles, strict=True))
    extent = tuple(
        draw(st.integers(0, min(3, (n - s) // 2))) for n, s in zip(space, stride, strict=True)
    )
    return draw(st.integers(1, 2)), space, extent, stride
