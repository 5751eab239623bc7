"""The settings of a stage's pools, and of the workers that the stack runs for them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from duetime.core.lanes import MAX_POOLS, POOL_NAME, Lane
from infra.formats import Image
from infra.setting_models import SettingModel, Statement, Variables, Vpc

MAX_POOL_TIMEOUT = 7 * 24 * 3_600  # seconds
MAX_QUEUE_NAME = 80  # characters that SQS takes
DEAD_LETTERS = "-dlq"  # the end of the name of a queue of dead letters
MAX_WORKERS = 5_000  # the tasks that ECS runs in one service
GIB = 1_024  # MB
# CPU units to the MB of memory that Fargate takes with them.
FARGATE_SIZES: Mapping[int, range | tuple[int, ...]] = {
    256: (512, 1 * GIB, 2 * GIB),
    512: range(1 * GIB, 4 * GIB + 1, GIB),
    1_024: range(2 * GIB, 8 * GIB + 1, GIB),
    2_048: range(4 * GIB, 16 * GIB + 1, GIB),
    4_096: range(8 * GIB, 30 * GIB + 1, GIB),
    8_192: range(16 * GIB, 60 * GIB + 1, 4 * GIB),
    16_384: range(32 * GIB, 120 * GIB + 1, 8 * GIB),
}


class Fargate(SettingModel):
    """Workers of a pool that the stack runs on Fargate."""

    image: Image | None = None  # in a registry
    folder: Path | None = Field(default=None, strict=False)  # from which it is built
    dockerfile: str = "Dockerfile"  # in the folder
    min: int = Field(default=0, ge=0, le=MAX_WORKERS)
    max: int = Field(default=50, ge=1, le=MAX_WORKERS)
    capacity: Literal["FARGATE_SPOT", "FARGATE"] = "FARGATE_SPOT"
    cpu: int = 1_024
    memory: int = 2 * GIB  # MB
    architecture: Literal["x86_64", "arm64"] = "x86_64"
    concurrency: int = Field(default=8, ge=1, le=1_000)
    processes: int | None = Field(default=None, ge=1, le=128)  # None: as many as cores
    handlers: str = Field(default="handlers", min_length=1)  # a module or a folder in the image
    environment: Variables = {}
    statements: list[Statement] = []
    vpc: Vpc | None = None  # None: the stack creates a network
    public_ip: bool = False  # of the workers in `vpc`

    @model_validator(mode="after")
    def _one_image(self) -> Self:
        if (self.image is None) == (self.folder is None):
            raise ValueError("must have either image or folder")
        if self.folder is not None and not (self.folder / self.dockerfile).is_file():
            raise ValueError(f"folder: there is no file {str(self.folder / self.dockerfile)!r}")
        return self

    @model_validator(mode="after")
    def _some_workers(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min: {self.min} is more than max, {self.max}")
        return self

    @model_validator(mode="after")
    def _known_to_fargate(self) -> Self:
        if self.cpu not in FARGATE_SIZES:
            sizes = ", ".join(map(str, FARGATE_SIZES))
            raise ValueError(f"cpu: Fargate takes one of {sizes}, not {self.cpu}")
        memory = FARGATE_SIZES[self.cpu]
        if self.memory not in memory:
            fitting = f"{memory[0]} to {memory[-1]}"
            step = f" in steps of {memory.step}" if isinstance(memory, range) else ""
            raise ValueError(
                f"memory: with cpu {self.cpu} Fargate takes {fitting}{step}, not {self.memory}"
            )
        return self

    @model_validator(mode="after")
    def _address_needs_a_network(self) -> Self:
        if self.public_ip and self.vpc is None:
            raise ValueError("public_ip: belongs to vpc; in a created network workers have one")
        return self


class Pool(SettingModel):
    """Queues that `duetime worker` processes consume."""

    max_timeout: int = Field(ge=1, le=MAX_POOL_TIMEOUT)  # seconds, of a task
    fargate: Fargate | None = None


def _named(pools: dict[str, Any]) -> dict[str, Any]:
    if len(pools) > MAX_POOLS:
        raise ValueError(f"a stage has at most {MAX_POOLS} pools, not {len(pools)}")
    for name in pools:
        if not POOL_NAME.fullmatch(name):
            rule = "a lower-case letter, then up to 31 lower-case letters, digits and dashes"
            raise ValueError(f"{name!r} is not the name of a pool: {rule}")
    return pools


NamedPools = Annotated[dict[str, Pool], AfterValidator(_named)]


def queue_names(stage: str, pool: str | None = None) -> dict[Lane, str]:
    """Returns the names of the queues of a pool, or of those that invoke executors."""
    prefix = f"duetime-{stage}-{pool}" if pool else f"duetime-{stage}"
    return {lane: f"{prefix}-{lane}" for lane in Lane}


def too_long_names(stage: str, pools: Mapping[str, Pool]) -> Iterator[str]:
    """Yields the names of queues that SQS would refuse."""
    for pool in pools:
        longest = max(queue_names(stage, pool).values(), key=len)
        if len(f"{longest}{DEAD_LETTERS}") > MAX_QUEUE_NAME:
            yield f"{longest}{DEAD_LETTERS}"
