"""A system under test with all its parts: as a spec has them, and as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loadstone.errors import TargetError, WrongInputError
from loadstone.spec.problems import near
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import Target
from loadstone.targets.part_names import own_part
from loadstone.targets.registry import target_for


@dataclass(frozen=True)
class Known:
    """A system, or a part of one, before it is made."""

    name: str
    """Of the part: `database`, `nodes.2`; empty for the system itself."""
    kind: type[Target]
    spec: TargetSpec

    def parts(self) -> Iterator[Known]:
        """Its parts, each followed by the parts of that."""
        for part in self.kind.named_parts(self.spec):
            name = f"{self.name}.{part}" if self.name else part
            kind = self.kind.part_class(self.spec, part)
            found = Known(name, kind, self.kind.part_spec(self.spec, part))
            yield found
            yield from found.parts()

    def undivided(self) -> Iterator[Known]:
        """What has no parts: itself if it has none, else those among its parts."""
        own = list(self.parts())
        return (each for each in own or [self] if not each.kind.named_parts(each.spec))

    @property
    def told(self) -> str:
        """For messages: `database: `; nothing of the system itself."""
        return f"{self.name}: " if self.name else ""


def system(spec: TargetSpec) -> Known:
    """The system itself.

    Raises:
        WrongInputError: If there is no target of its engine.
    """
    return Known("", target_for(spec), spec)


def each_in(spec: TargetSpec) -> Iterator[Known]:
    """The system itself, then its parts, each followed by the parts of that.

    Raises:
        WrongInputError: If there is no target of one of their engines.
    """
    found = system(spec)
    yield found
    yield from found.parts()


def part_in(spec: TargetSpec, name: str) -> Known:
    """The part of a name; the system itself for an empty one.

    Raises:
        WrongInputError: If there is no such part.
    """
    found = {each.name: each for each in each_in(spec)}
    if name not in found:
        names = [each for each in found if each]
        told = near(name, names) if names else "it has no parts"
        raise WrongInputError(f"target {spec.engine} has no part {name!r}; {told}")
    return found[name]


def part_of(target: Target, name: str) -> Target:
    """The part that a system has now, or a part of that: `nodes.2`.

    Raises:
        TargetError: If it has none of that name.
    """
    first, _, rest = name.partition(".")
    found = target.parts().get(first)
    if found is None:
        raise TargetError(f"target {target.engine} has no part {first!r} now")
    return part_of(found, rest) if rest else found


def all_parts(target: Target) -> dict[str, Target]:
    """The parts that a system has now, each followed by the parts of that: `nodes`, `nodes.1`."""
    found: dict[str, Target] = {}
    for name, part in target.parts().items():
        found[name] = part
        found |= {f"{name}.{each}": inner for each, inner in all_parts(part).items()}
    return found


def owner_of(spec: TargetSpec, name: str) -> tuple[Known, str]:
    """Whose setting a name is, and the name that its owner has for it.

    Args:
        spec: Of the system.
        name: `database.work_mem`; without a part it is the system's own.
    """
    owner = system(spec)
    while part := _part_of(owner, name):
        name = own_part(name, part)
        path = f"{owner.name}.{part}" if owner.name else part
        kind = owner.kind.part_class(owner.spec, part)
        owner = Known(path, kind, owner.kind.part_spec(owner.spec, part))
    return owner, name


def _part_of(owner: Known, name: str) -> str:
    return next(
        (part for part in owner.kind.named_parts(owner.spec) if own_part(name, part)),
        "",
    )
