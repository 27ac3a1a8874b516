"""What a ROM must look like: its header, its size and the known dumps."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from warpzone.errors import RomError

SMB = "smb"
LOST_LEVELS = "lost-levels"
GAMES = (SMB, LOST_LEVELS)

_MAGIC = b"NES\x1a"
_HEADER_SIZE = 16
_PRG_SIZE = 32 * 1024
_CHR_SIZE = 8 * 1024
_BODY_SIZE = _PRG_SIZE + _CHR_SIZE
IMAGE_SIZE = _HEADER_SIZE + _BODY_SIZE

# Variables that the environment reads or writes; both games and every known variant load each of
# them by absolute address. A program that never does is another program, whatever its size.
_GAME_VARIABLES = (0x0770, 0x0772, 0x075F, 0x0760, 0x075C, 0x0750, 0x075A, 0x0756, 0x074E, 0x071A)
_LDA_ABSOLUTE = 0xAD


@dataclass(frozen=True)
class KnownDump:
    """One known ROM, recognized by its contents without the header.

    Attributes:
        name: Name to show.
        game: One of `GAMES`.
        body_sha1: SHA-1 of PRG and CHR together, as cartridge databases list it.
    """

    name: str
    game: str
    body_sha1: str


# Headers vary between copies of one dump, so the key is the hash of what follows the header. All
# values but one were computed from the files of the `gym-super-mario-bros` 7.4.0 wheel. The value
# of the world release is quoted: cartridge databases list it, and no copy was at hand to check. A
# common copy of that release is known by the SHA-256 of the whole file, also quoted:
# f61548fdf1670cffefcc4f0b7bdcdd9eaba0c226e3b74f8666071496988248de.
KNOWN_DUMPS = (
    KnownDump(
        "Super Mario Bros. (Europe)",
        SMB,
        "0c4992fc08d2278697339d3b48066e7b5f943598",
    ),
    KnownDump(
        "Super Mario Bros. (World)",
        SMB,
        "facee9c577a5262dbe33ac4930bb0b58c8c037f7",
    ),
    KnownDump(
        "Super Mario Bros. (Europe, downsampled graphics)",
        SMB,
        "09e98cc66320c9a4210602008ab1890143237e38",
    ),
    KnownDump(
        "Super Mario Bros. (Europe, pixel graphics)",
        SMB,
        "654e0715c470b812a284eeb22b775ce676558bb5",
    ),
    KnownDump(
        "Super Mario Bros. (Europe, rectangle graphics)",
        SMB,
        "f5a3ce83636b60cd9b4f6972bbb3b35da37e1bd1",
    ),
    KnownDump(
        "Super Mario Bros. 2, The Lost Levels (mapper 0 conversion)",
        LOST_LEVELS,
        "f3b998073241fe588e28ff6b6f63ba01b4c237bb",
    ),
    KnownDump(
        "Super Mario Bros. 2, The Lost Levels (mapper 0 conversion, downsampled graphics)",
        LOST_LEVELS,
        "2a82548e2f8fe32cd617408e5e1e3580dac6e64b",
    ),
)
_DUMPS_BY_HASH = {dump.body_sha1: dump for dump in KNOWN_DUMPS}


@dataclass(frozen=True)
class RomInfo:
    """What is known about a ROM.

    Attributes:
        name: Name of the dump, or "unknown dump".
        game: One of `GAMES`, or None when the dump is unknown.
        sha256: SHA-256 of the whole file.
        body_sha1: SHA-1 of PRG and CHR together.
    """

    name: str
    game: str | None
    sha256: str
    body_sha1: str

    @property
    def known(self) -> bool:
        """Whether the ROM is one of `KNOWN_DUMPS`."""
        return self.game is not None


def identify(image: bytes, source: str = "the ROM") -> RomInfo:
    """Checks that a ROM is the game and says which dump it is.

    Args:
        image: The whole file, with its header.
        source: How error messages name the ROM, usually its path.

    Returns:
        What is known about it. An unknown dump is accepted when it has the game's shape.

    Raises:
        RomError: If the ROM cannot be the game; the message names the remedy.
    """
    _check_container(image, source)
    body = image[_HEADER_SIZE:]
    body_sha1 = hashlib.sha1(body, usedforsecurity=False).hexdigest()
    sha256 = hashlib.sha256(image).hexdigest()
    dump = _DUMPS_BY_HASH.get(body_sha1)
    if dump is not None:
        return RomInfo(dump.name, dump.game, sha256, body_sha1)
    if not _has_game_shape(body[:_PRG_SIZE]):
        raise RomError(
            f"{source} is a mapper 0 program, but not Super Mario Bros.; give the path of the game,"
            " or run `warpzone rom install`"
        )
    return RomInfo("unknown dump", None, sha256, body_sha1)


def canonical(image: bytes) -> bytes:
    """Replaces the header of a checked ROM by its plain iNES form.

    Save states are tied to the ROM, and two copies of one dump must not differ for them only
    because a tool wrote its name into unused header bytes.
    """
    mirroring = image[6] & 0x01
    header = _MAGIC + bytes([_PRG_SIZE // 16384, _CHR_SIZE // 8192, mirroring]) + bytes(9)
    return header + image[_HEADER_SIZE:]


def _check_container(image: bytes, source: str) -> None:
    remedy = "get a complete copy, or run `warpzone rom install`"
    if not image:
        raise RomError(f"{source} is empty; {remedy}")
    if not image.startswith(_MAGIC[: len(image)]):
        raise RomError(
            f"{source} is not an iNES file (it starts with {image[:4].hex(' ')} instead of"
            f" {_MAGIC.hex(' ')}); give a .nes file, or run `warpzone rom install`"
        )
    if len(image) < _HEADER_SIZE:
        raise RomError(f"{source} is cut within its {_HEADER_SIZE}-byte header; {remedy}")
    mapper, prg_size, chr_size = _parse_header(image[:_HEADER_SIZE])
    if mapper != 0:
        raise RomError(
            f"{source} needs mapper {mapper}, but the game uses mapper 0; give a mapper 0 copy of"
            " Super Mario Bros., or run `warpzone rom install`"
        )
    if image[6] & 0x04:
        raise RomError(
            f"{source} has a 512-byte trainer, which the game never has; give an unmodified copy,"
            " or run `warpzone rom install`"
        )
    if (prg_size, chr_size) != (_PRG_SIZE, _CHR_SIZE):
        raise RomError(
            f"{source} declares {prg_size:,} bytes of PRG and {chr_size:,} of CHR, but the game has"
            f" {_PRG_SIZE:,} and {_CHR_SIZE:,}; give Super Mario Bros., or run"
            " `warpzone rom install`"
        )
    if len(image) < IMAGE_SIZE:
        raise RomError(
            f"{source} is cut: it has {len(image):,} bytes instead of {IMAGE_SIZE:,}; {remedy}"
        )
    if len(image) > IMAGE_SIZE:
        raise RomError(
            f"{source} has {len(image) - IMAGE_SIZE:,} bytes after the end of the game"
            f" ({len(image):,} instead of {IMAGE_SIZE:,}); {remedy}"
        )


def _parse_header(header: bytes) -> tuple[int, int, int]:
    """Returns mapper, PRG size and CHR size of an iNES or NES 2.0 header."""
    prg_banks, chr_banks = header[4], header[5]
    mapper = header[6] >> 4
    if header[7] & 0x0C == 0x08:  # NES 2.0 has more bits for everything
        mapper |= header[7] & 0xF0 | (header[8] & 0x0F) << 8
        prg_size = _nes2_size(prg_banks, header[9] & 0x0F, 16384)
        chr_size = _nes2_size(chr_banks, header[9] >> 4, 8192)
        return mapper, prg_size, chr_size
    # Old tools wrote their name over bytes 7 to 15; with text in 12 to 15, byte 7 means nothing.
    if not any(header[12:16]):
        mapper |= header[7] & 0xF0
    return mapper, prg_banks * 16384, chr_banks * 8192


def _nes2_size(low: int, high: int, unit: int) -> int:
    if high == 0x0F:  # exponent and multiplier
        return (1 << (low >> 2)) * ((low & 0x03) * 2 + 1)
    return (high << 8 | low) * unit


def _has_game_shape(prg: bytes) -> bool:
    return all(
        bytes([_LDA_ABSOLUTE, address & 0xFF, address >> 8]) in prg for address in _GAME_VARIABLES
    )
