"""Tables of the store, the same in SQLite and in PostgreSQL."""

from __future__ import annotations

from sqlalchemy import Boolean, Float, ForeignKey, Integer, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(DeclarativeBase):
    """Base of the schema's tables."""


class ExperimentRow(Base):
    """One experiment."""

    __tablename__ = "experiments"

    name: Mapped[str] = mapped_column(String(120), primary_key=True)
    title: Mapped[str] = mapped_column(String, default="")
    workload: Mapped[str] = mapped_column(String(80), index=True)
    engine: Mapped[str] = mapped_column(String(80))
    design: Mapped[str] = mapped_column(String(20))
    started_at: Mapped[str] = mapped_column(String(40), index=True)
    trials: Mapped[list[TrialRow]] = relationship(
        back_populates="experiment", cascade="all, delete-orphan", passive_deletes=True
    )


class TrialRow(Base):
    """One trial."""

    __tablename__ = "trials"

    experiment_name: Mapped[str] = mapped_column(
        ForeignKey("experiments.name", ondelete="CASCADE"), primary_key=True
    )
    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    variant: Mapped[str] = mapped_column(String(200))
    block: Mapped[int] = mapped_column(Integer)
    position: Mapped[int] = mapped_column(Integer)
    status: Mapped[str] = mapped_column(String(20), index=True)
    unsafe: Mapped[bool] = mapped_column(Boolean)
    crash: Mapped[str | None] = mapped_column(String(20), nullable=True)
    """How a crash trial ended; None for a measured one."""
    started_at: Mapped[str] = mapped_column(String(40))
    finished_at: Mapped[str | None] = mapped_column(String(40))
    experiment: Mapped[ExperimentRow] = relationship(back_populates="trials")


class MetricRow(Base):
    """One figure of a trial."""

    __tablename__ = "metrics"

    experiment_name: Mapped[str] = mapped_column(
        ForeignKey("experiments.name", ondelete="CASCADE"), primary_key=True
    )
    trial: Mapped[str] = mapped_column(String(200), primary_key=True)
    name: Mapped[str] = mapped_column(String(120), primary_key=True)
    value: Mapped[float] = mapped_column(Float)
    unit: Mapped[str] = mapped_column(String(40))
