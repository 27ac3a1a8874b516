"""`warpzone export`: writes the policy of a run to one small file."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path

from warpzone.commands.plugins import PluginOptions
from warpzone.config.option import option, positional


@dataclass(frozen=True)
class Export(PluginOptions):
    """Write the policy of a run to one small file, to keep or to share.

    The file holds the averaged weights in half precision, the configuration and the policy's
    origin, but nothing that only training needs. It is checksummed, and loading it never executes
    code. `warpzone eval`, `video` and `scoreboard` accept it in place of a run.

    Examples:
      warpzone export runs/mario-1-1 -o policies/1-1.policy
      warpzone export runs/mario-1-1/checkpoints/update-00000042.pt -o early.policy
      warpzone eval policies/1-1.policy
    """

    run_path: Path = positional(
        MISSING,
        "Folder of a run or its name below runs/ (its best checkpoint is used, or else the "
        "latest), or a checkpoint.",
        metavar="RUN",
    )
    output: Path = option(
        MISSING, "File to write; its name must end with .policy.", short="-o", metavar="FILE"
    )

    def run(self) -> int:
        """Exports the policy."""
        from warpzone.errors import ConfigError
        from warpzone.evaluation.export import export_policy
        from warpzone.evaluation.policy_file import SUFFIX
        from warpzone.evaluation.targets import find_target

        if self.output.suffix != SUFFIX:
            raise ConfigError(f"the name {self.output.name!r} must end with {SUFFIX}")
        sha256 = export_policy(find_target(self.run_path).path, self.output)
        size = self.output.stat().st_size / 1024
        print(f"wrote {self.output} ({size:,.0f} KiB, sha256 {sha256})")
        return 0
