"""Makes docs/images/demo.webp, the animation at the top of the README: a trained policy in 1-1.

python docs/make_demo_image.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import imageio.v3 as imageio
from PIL import Image

OUTPUT = Path(__file__).resolve().parent / "images" / "demo.webp"
LARGEST = 1_500_000
SPEED = 2
FRAMES_PER_SECOND = 15
WIDTH = 320
QUALITY = 50


def record(folder: Path) -> Path:
    """Records the policy for 1-1 that comes with Warpzone."""
    video = folder / "1-1.mp4"
    command = [sys.executable, "-m", "warpzone", "video", "1-1", "-o", str(video)]
    subprocess.run(command, check=True)
    return video


def frames(video: Path) -> list[Image.Image]:
    """The frames of the animation: fewer, smaller, and twice as fast."""
    rate = float(imageio.immeta(video)["fps"])
    step = max(1, round(rate * SPEED / FRAMES_PER_SECOND))
    images = [Image.fromarray(frame) for frame in list(imageio.imiter(video))[::step]]
    height = round(images[0].height * WIDTH / images[0].width)
    return [image.resize((WIDTH, height), Image.Resampling.BOX) for image in images]


def main() -> int:
    """Writes the animation, and fails if it is too large for the first screen of a page."""
    with tempfile.TemporaryDirectory() as folder:
        first, *others = frames(record(Path(folder)))
    OUTPUT.parent.mkdir(exist_ok=True)
    first.save(
        OUTPUT,
        save_all=True,
        append_images=others,
        duration=1000 // FRAMES_PER_SECOND,
        loop=0,
        quality=QUALITY,
        method=4,
    )
    size = OUTPUT.stat().st_size
    print(f"wrote {OUTPUT.name}: {len(others) + 1} frames, {size:,} bytes")
    return 0 if size < LARGEST else 1


if __name__ == "__main__":
    sys.exit(main())
