"""Real files with a few bytes changed, removed, doubled or spoiled; the same seed gives the same file."""

import io
import random
import zipfile

_SPOILERS = (
    b"<", b">", b"&", b'"', b"\0", b"</a>", b"<!--", b"<?x", b"<ol>", b"<div>" * 300, b"&#0;", b"&#xD800;", b'href=""',
    b'xmlns=""', b"<:a>", b' :x="1"', b" 99999999 0 R ", b"endstream", b"\xff\xfe",
)  # fmt: skip
_TELLING = (".opf", ".ncx", "html", ".htm", ".xml", "mimetype")


def mutate(data: bytes, dice: random.Random) -> bytes:
    """`data` with 1 to 20 faults; in two of three archives the faults sit inside the entries, and the zip stays whole."""
    if data.startswith(b"PK") and dice.random() < 0.67:
        return _inside(data, dice)
    return _spoil(data, dice)


def _inside(data: bytes, dice: random.Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        telling = [name for name in source.namelist() if name.endswith(_TELLING)]
        hit = set(dice.sample(telling, min(len(telling), dice.randrange(1, 4))))
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, _spoil(content, dice) if name in hit else content)
    return out.getvalue()


def _spoil(data: bytes, dice: random.Random) -> bytes:
    spoilt = bytearray(data)
    for _ in range(dice.choice((1, 3, 20))):
        if not spoilt:
            break
        at = dice.randrange(len(spoilt))
        what = dice.randrange(5)
        if what == 0:
            spoilt[at] = dice.randrange(256)
        elif what == 1:
            del spoilt[at : at + dice.randrange(1, 200)]
        elif what == 2:
            other = dice.randrange(len(spoilt))
            spoilt[at:at] = spoilt[other : other + dice.randrange(1, 300)]
        elif what == 3:
            spoilt[at:at] = dice.choice(_SPOILERS)
        elif dice.random() < 0.1:
            del spoilt[at:]
    return bytes(spoilt)
