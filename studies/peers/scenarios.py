"""APEBench's scenarios, and the errors that were published of five networks.

The score is GMean100: the geometric mean of APEBench's mean nRMSE over the first 100 steps. Published
are medians over seeds; three digits are read off a bar chart, to about 0.003.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import geometric_mean
from types import MappingProxyType
from typing import Any

STEPS = 100  # that the score is taken over
NETWORKS = ("Conv", "Res", "UNet", "Dil", "FNO")
# Of the three whose curves are published, all; of others the best.
PUBLISHED: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "diff_burgers": dict(zip(NETWORKS, (0.0265, 0.0128, 0.0649, 0.0571, 0.0698), strict=True)),
        "diff_kdv": dict(zip(NETWORKS, (0.1225, 0.8764, 0.0963, 0.0769, 0.2100), strict=True)),
        "diff_ks_cons": dict(zip(NETWORKS, (0.3428, 0.2422, 0.4113, 0.2837, 1.0434), strict=True)),
        "diff_disp": {"Conv": 0.032},
        "diff_ks": {"Dil": 0.156},
        "diff_burgers-2d": {"Res": 0.051},
        "diff_ks-2d": {"Res": 0.196},
        "phy_kolm_flow-2d": {"FNO": 0.689},
        "phy_gs_type-2d": {"Conv": 0.055},
        "phy_aniso_diff-2d": {"Conv": 0.016},
        "diff_burgers-3d": {"Res": 0.146},
        "diff_ks-3d": {"UNet": 0.369},
        "phy_gs_type-3d": {"Conv": 0.051},
        "phy_sh-3d": {"Res": 0.049},
        "phy_unbal_adv-3d": {"Res": 0.134},
    }
)


@dataclass(frozen=True)
class Scenario:
    """One of APEBench's, by its name there, with its dimension and changes to its settings."""

    key: str
    dimension: int
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.key if self.dimension == 1 else f"{self.key}-{self.dimension}d"

    @property
    def request(self) -> dict[str, Any]:
        """As APEBench is asked for it."""
        more = {} if self.dimension == 1 else {"num_spatial_dims": self.dimension}
        return {"scenario": self.key, **more, **self.settings}

    @property
    def published(self) -> Mapping[str, float]:
        return PUBLISHED.get(self.name, {})


# In the plane its own 160² would take 260 MB a scenario and field, and an hour of fits and forecasts.
PLANE = {"num_points": 64}
SPACE = {"num_points": 32, "num_test_samples": 10}

LINEAR = ("diff_adv", "diff_diff", "diff_adv_diff", "diff_disp", "diff_hyp_diff")
MIXED = ("phy_unbal_adv", "phy_diag_diff", "phy_aniso_diff", "phy_mix_disp", "phy_mix_hyp")
SEVERAL = {  # what APEBench's collection changes in some of them
    ("phy_unbal_adv", 2): {"advection_coef_vector": [0.01, -0.04]},
    ("phy_diag_diff", 3): {"diffusion_coef_vector": [0.001, 0.002, 0.0004]},
    ("phy_aniso_diff", 3): {
        "diffusion_coef_matrix": [
            [0.001, 0.0005, 0.0003],
            [0.0005, 0.002, 0.0002],
            [0.0003, 0.0002, 0.0004],
        ]
    },
}
LINE = (*LINEAR, "diff_burgers", "diff_kdv", "diff_ks", "diff_ks_cons", "diff_fisher")
IN_PLANE = (
    *LINEAR, *MIXED, "diff_burgers", "diff_burgers_sc", "diff_kdv", "diff_ks", "phy_decay_turb",
    "phy_kolm_flow", "diff_fisher", "phy_gs_type", "phy_sh",
)  # fmt: skip
IN_SPACE = (
    *LINEAR, *MIXED, "diff_burgers", "diff_burgers_sc", "diff_kdv", "diff_ks", "diff_fisher",
    "phy_gs_type", "phy_sh",
)  # fmt: skip


def _scenarios(keys: tuple[str, ...], dimension: int, settings: Mapping[str, Any]) -> list[Scenario]:
    return [
        Scenario(key, dimension, {**settings, **SEVERAL.get((key, dimension), {})}) for key in keys
    ]


SCENARIOS: Mapping[str, Scenario] = MappingProxyType(
    {
        each.name: each
        for each in (
            *_scenarios(LINE, 1, {}),
            *_scenarios(IN_PLANE, 2, PLANE),
            *_scenarios(IN_SPACE, 3, SPACE),
        )
    }
)


def gmean(nrmse: list[float | None]) -> float | None:
    """The score; None for what diverged within its steps."""
    known = [error for error in nrmse[:STEPS] if error is not None]
    if len(known) < len(nrmse[:STEPS]):
        return None
    return geometric_mean(max(error, 1e-12) for error in known)
