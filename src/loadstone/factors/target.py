"""Factors `target.<setting>`: settings of the server."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loadstone.factors.base import NEEDS_DATA, FactorInfo, FactorKind, Parts
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import SettingInfo

_ENGINE = "engine"
"""The one name that is no setting: its levels are other systems under test."""
OTHER_TARGET = f"target.{_ENGINE}"
"""The factor of that name."""


class TargetFactor(FactorKind):
    """A setting of the target, as its engine names it; or the target itself."""

    prefix: ClassVar[str] = "target"
    about: ClassVar[str] = (
        "a setting of the server: target.shared_buffers, of a part target.PART.SETTING; "
        "target.engine: another server"
    )

    def examine(self, parts: Parts, name: str, level: Level) -> FactorInfo:
        """Asks the engine about the setting, or whether there is such an engine."""
        if name == _ENGINE:
            _describe(parts.target.other(level_text(level)))
            return FactorInfo(f"{self.prefix}.{name}", level, NEEDS_DATA)
        info = _setting(parts.target, name, level)
        return FactorInfo(f"{self.prefix}.{name}", level, info.needs, info.unsafe, info.refused)

    def apply(self, parts: Parts, name: str, level: Level) -> Parts:
        """Puts the level among the settings of the target, or another target in its place."""
        if name == _ENGINE:
            return replace(parts, target=parts.target.other(level_text(level)))
        plain, target = _plain_name(parts.target, name), parts.target
        others = {
            each: value
            for each, value in target.named_settings.items()
            if _plain_name(target, each) != plain
        }
        return replace(parts, target=target.with_only({**others, name: level}))

    def plain(self, parts: Parts, name: str) -> str:
        """As the engine knows it."""
        return _plain_name(parts.target, name)


def level_text(level: Level) -> str:
    """A level as it is written in a file."""
    return str(level).lower() if isinstance(level, bool) else str(level)


def _plain_name(target: TargetSpec, name: str) -> str:
    from loadstone.targets.walk import owner_of

    owner, own = owner_of(target, name)
    plain = owner.kind.plain_name(own)
    return f"{owner.name}.{plain}" if owner.name else plain


def _describe(target: TargetSpec) -> None:
    from loadstone.targets.registry import target_for

    target_for(target).describe(target)


def _setting(target: TargetSpec, name: str, level: Level) -> SettingInfo:
    from loadstone.targets.registry import target_for

    return target_for(target).setting(target, name, level)
