"""Reads a memory in a folder, written from docs/memory-format.md alone, and compares it row by row with a database.

    pip install blake3==1.0.11 zstandard==0.25.0
    python3 bench/read_memory.py STORE opencode.db     # the database that `fro-bot memory pull` or `bench restore` made
"""

import json
import sqlite3
import struct
import sys
import tempfile
from pathlib import Path

import blake3
import zstandard


def named(data, name):
    if blake3.blake3(data).hexdigest() != name:
        sys.exit(f"{name} is not what its name says")
    return data


def unpacked(frame):
    """Unpacks one frame, or several after each other."""
    return zstandard.ZstdDecompressor().decompressobj(read_across_frames=True).decompress(frame)


def is_named(data, name):
    return blake3.blake3(data).hexdigest() == name


def either(data, name):
    """Returns a manifest of which one of two copies may be damaged."""
    half = (len(data) - 8) // 2
    twice = lambda copy: copy + struct.pack("<II", 0x184D2A50, len(copy)) + copy
    for whole in (data, twice(data[:half]), twice(data[-half:])):
        if is_named(whole, name):
            return whole
    sys.exit(f"{name} is not what its name says")


def cut(frame, content):
    """Returns the chunks of a frame, or nothing if it is damaged."""
    try:
        data = unpacked(frame)
    except zstandard.ZstdError:
        return None
    chunks = []
    for name, length in content:
        chunks.append((name, data[:length]))
        data = data[length:]
    return chunks if not data and all(is_named(chunk, name) for name, chunk in chunks) else None


class Memory:
    """The newest save of a store."""

    def __init__(self, store):
        self.root = Path(store) / "3"
        head = (self.root / "head.3").read_text()
        self.manifest = json.loads(unpacked(either((self.root / "manifests" / head).read_bytes(), head)))
        assert self.manifest["format"] == 3
        self.frames = {}
        self.packs = [self.read_pack(note) for note in self.manifest["packs"]]
        self.chunks = {hash: chunk for pack in self.packs for hash, chunk in pack}

    def read_pack(self, note):
        """Returns the chunks of a pack; of what is there twice, the copy that is good."""
        data = (self.root / "packs" / note["name"]).read_bytes()
        assert len(data) == note["size"]
        length, again = 4 + 40 * note["chunks"], note.get("repeated")
        index, end = data[-length:], len(data) - length
        if again is not None:
            again = end - again
            index = index if is_named(index, note["index"]) else data[again - length : again]
            end = again - length - 8
        assert struct.unpack("<I", named(index, note["index"])[-4:])[0] == note["chunks"]
        frames = []
        for number in range(note["chunks"]):
            hash, length, size = struct.unpack_from("<32sII", index, 40 * number)
            if size:
                frames.append((size & 0x7FFFFFFF, bool(size >> 31), []))
            frames[-1][2].append((hash.hex(), length))
        chunks, at = [], 8
        for size, is_twice, content in frames:
            places = [at] + [again] * is_twice
            at, again = at + size, again + size * is_twice if is_twice else again
            found = [cut(data[place : place + size], content) for place in places]
            if len(content) == 1:
                self.frames[content[0][0]] = data[places[0] : places[0] + size]
            found = [chunks for chunks in found if chunks is not None]
            if not found:
                sys.exit(f"a frame of {note['name']} is lost")
            chunks += found[0]
        assert at == end
        return chunks

    def runs(self, runs):
        return b"".join(chunk for pack, first, count in runs for _, chunk in self.packs[pack][first : first + count])

    def sessions(self):
        for leaf in self.manifest["leaves"]:
            sessions = json.loads(self.runs(leaf["chunks"]))
            assert min(sessions) == leaf["first"]
            yield from sessions.items()

    def rows(self):
        """Yields table, columns and values of every row."""
        level = self.manifest["levels"][self.manifest["level"]]
        parts = [json.loads(self.runs(level["common"]))["rows"]]
        for _, session in self.sessions():
            data = b"".join(self.chunks[name] for name in session["rows"])
            assert len(data) == session["bytes"]
            parts.append(json.loads(data))
        for part in parts:
            for table, content in part.items():
                for row in content["rows"]:
                    yield table, dict(zip(content["columns"], map(value, row), strict=True))


    def blocks(self, sheaves):
        """Yields segment, first word and content of every block; each is read out of its frame too, by where it lies."""
        for segment, begin, name, notes in sheaves:
            name, notes = name.hex(), json.loads(notes)
            chunk, frame = self.chunks[name], self.frames[name]
            assert notes[0][0] == begin and sum(bytes for _, _, bytes in notes) == len(chunk)
            is_alone, at, start = sum(packed for _, packed, _ in notes) == len(frame), 0, 0
            for first, packed, bytes in notes:
                block = chunk[start : start + bytes]
                if is_alone:
                    assert unpacked(frame[at : at + packed]) == block
                at, start = at + packed, start + bytes
                yield segment, first, json.loads(block)

    def index(self):
        """Checks the search index against itself and the titles of sessions; returns how many pairs of word and session
        it has, and how many words of titles were looked up."""
        pages = self.manifest["databases"]["index.db"]
        data = self.runs(pages["chunks"])
        assert len(data) == pages["bytes"]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "index.db"
            path.write_bytes(data)
            database = sqlite3.connect(path)
            assert database.execute("PRAGMA user_version").fetchone() == (4,)
            documents = dict(database.execute("SELECT id, session FROM document"))
            sheaves = database.execute("SELECT segment, first, name, blocks FROM sheaf ORDER BY segment, first").fetchall()
        words, pairs, last = {}, 0, (0, "")
        for segment, first, block in self.blocks(sheaves):
            assert min(block, key=lambda word: word.encode()) == first and (segment, first) > last
            last = (segment, max(block, key=lambda word: word.encode()))
            for word, (private, public) in block.items():
                for base, (count, holders) in ((0, private), (1 << 40, public)):
                    ids = [id + base for id, _ in holders]
                    assert ids == sorted(ids, reverse=True) and len(ids) <= min(count, 256)
                    words.setdefault(word, set()).update(ids if count <= 256 else documents)
                    pairs += len(ids)
        titles = {id: session["title"] for id, session in self.sessions()}
        looked_up = 0
        for id, session in documents.items():
            for word in tokens(titles[session]):
                if word in words:
                    assert id in words[word], (word, session)
                    looked_up += 1
        return pairs, looked_up


def tokens(text):
    """Cuts a text as the page says."""
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE word USING fts5(text, tokenize = \"porter unicode61 remove_diacritics 2 categories 'L* N* Co M* So'\")"
    )
    database.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(word, row)")
    database.execute("INSERT INTO word VALUES (?)", [text])
    return [term for (term,) in database.execute("SELECT term FROM vocabulary")]


def value(written):
    match written:
        case {"real": bits}:
            return struct.unpack(">d", bytes.fromhex(bits))[0]
        case {"bytes": digits}:
            return bytes.fromhex(digits)
        case plain:
            return plain


def rows_of(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        for row in database.execute(f'SELECT * FROM "{table}"'):
            yield table, dict(row)


def main(store, path):
    tell = lambda rows: sorted(f"{table} {sorted(row.items())!r}" for table, row in rows)
    ours, theirs = tell(Memory(store).rows()), tell(rows_of(path))
    missing, more = set(theirs) - set(ours), set(ours) - set(theirs)
    memory = Memory(store)
    if "index.db" in memory.manifest["databases"]:
        pairs, looked_up = memory.index()
        print(f"{pairs} pairs of word and session in the index, {looked_up} words of titles found in it")
    print(f"{len(ours)} rows read, {len(theirs)} in the database, {len(missing)} missing, {len(more)} more")
    sys.exit(0 if len(ours) == len(theirs) and not missing and not more else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
