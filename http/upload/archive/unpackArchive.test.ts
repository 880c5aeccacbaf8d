import { deflateRawSync } from "node:zlib";
import { crc32 } from "node:zlib";
import { strToU8, zipSync } from "fflate";
import fc from "fast-check";
import { expect, test } from "vitest";
import { UnreadableArchive, unpackArchive, type UnpackedEntry } from "./unpackArchive.ts";

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What an archive yields, and the error that it ends with. */
async function unpack(bytes: Buffer, size = 1_000) {
  let held = 0;
  let most = 0;
  const seen: (UnpackedEntry & { text?: string })[] = [];
  const count = (more: number) => {
    held += more;
    most = Math.max(most, held);
  };
  try {
    for await (const entry of unpackArchive(inPieces(bytes, size), count))
      seen.push({ ...entry, ...("file" in entry && { text: entry.file.bytes.toString() }) });
    return { seen, held, most };
  } catch (error) {
    if (!(error instanceof UnreadableArchive)) throw error;
    return { seen, held, most, error };
  }
}

interface StreamedEntry {
  name: string;
  content: Buffer;
  /** Changes of the header. */
  method?: number;
  flags?: number;
  signature?: boolean;
  checksum?: number;
}

/** An archive as a program writes it that does not know the sizes beforehand. */
function streamedArchive(entries: StreamedEntry[]): Buffer {
  const parts = entries.flatMap(({ name, content, method = 8, flags = 8, signature = true, checksum }) => {
    const packed = method === 8 ? deflateRawSync(content) : content;
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50);
    header.writeUInt16LE(flags, 6);
    header.writeUInt16LE(method, 8);
    header.writeUInt16LE(Buffer.byteLength(name), 26);
    const end = Buffer.alloc(16);
    end.writeUInt32LE(0x08074b50);
    end.writeUInt32LE(checksum ?? crc32(content), 4);
    end.writeUInt32LE(packed.length, 8);
    end.writeUInt32LE(content.length, 12);
    return [header, Buffer.from(name), packed, signature ? end : end.subarray(4)];
  });
  const directory = Buffer.alloc(22);
  directory.writeUInt32LE(0x06054b50);
  return Buffer.concat([...parts, directory]);
}

test("files are unpacked in order, however the archive arrives", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ maxLength: 3_000 }), { maxLength: 5 }),
      fc.integer({ min: 1, max: 4_000 }),
      fc.constantFrom(0, 6),
      async (texts, size, level) => {
        const files = Object.fromEntries(texts.map((text, n) => [`f${n}.txt`, strToU8(text)]));
        const { seen, held } = await unpack(Buffer.from(zipSync(files, { level })), size);
        expect(seen.map(({ name, text }) => [name, text])).toEqual(
          texts.map((text, n) => [`f${n}.txt`, text.toWellFormed()]),
        );
        expect(held).toBe(0);
      },
    ),
    { numRuns: 60 },
  );
});

test.each([1, 7, 64, 5_000])("sizes that follow the content are found, in pieces of %i bytes", async (size) => {
  // the content looks like an archive, and does not pack: its bytes are in the stream as they are
  const inner = Buffer.from(zipSync({ "a.txt": strToU8("inner") }, { level: 0 }));
  const content = Buffer.concat([inner, Buffer.from("PK\u0007\u0008PK\u0001\u0002")]);
  const entries = [
    { name: "inner.bin", content },
    { name: "b.txt", content: Buffer.from("after"), signature: false },
  ];
  const { seen, error } = await unpack(streamedArchive(entries), size);
  expect(error).toBeUndefined();
  expect(seen.map(({ name, text }) => [name, text])).toEqual([
    ["inner.bin", content.toString()],
    ["b.txt", "after"],
  ]);
});

test("folders and files of systems are passed over", async () => {
  const files = {
    "a/": new Uint8Array(),
    "__MACOSX/a/._b": strToU8("x"),
    "a/.DS_Store": strToU8("x"),
    "a/b.md": strToU8("b"),
  };
  expect((await unpack(Buffer.from(zipSync(files)))).seen.map(({ name }) => name)).toEqual(["a/b.md"]);
});

test.each(["../a.md", "a/../../b.md", "/etc/a.md", "C:\\a.md", "a\\..\\b.md"])(
  "the name %s is refused",
  async (name) => {
    const { seen } = await unpack(Buffer.from(zipSync({ [name]: strToU8("x"), "ok.md": strToU8("ok") })));
    expect(seen.map((entry) => ("error" in entry ? entry.error.errorCode : entry.text))).toEqual([
      "invalid_archive_entry",
      "ok",
    ]);
  },
);

test("a wrong checksum fails the entry alone", async () => {
  const entries = [
    { name: "a.txt", content: Buffer.from("a"), checksum: 1 },
    { name: "b.txt", content: Buffer.from("b") },
  ];
  const { seen } = await unpack(streamedArchive(entries));
  expect(seen.map((entry) => ("error" in entry ? entry.error.message : entry.text))).toEqual([
    "It is damaged: its checksum is wrong.",
    "b",
  ]);
});

test("an archive with a password is refused with that reason", async () => {
  const { seen, error } = await unpack(streamedArchive([{ name: "a.txt", content: Buffer.from("a"), flags: 9 }]));
  expect(seen).toMatchObject([{ error: { message: "It is protected by a password." } }]);
  expect(error?.message).toContain("cannot be found");
});

test("an archive that unpacks to far more than its size ends early and keeps little", async () => {
  const { seen, held, most, error } = await unpack(
    Buffer.from(zipSync({ "a.txt": new Uint8Array(90_000_000) }, { level: 9 })),
    65_536,
  );
  expect([seen, held, error?.errorCode]).toEqual([[], 0, "archive_too_large"]);
  expect(most).toBeLessThan(25_000_000);
});

test("damaged and cut archives end with a clear error, and never hang", async () => {
  const whole = Buffer.from(zipSync({ "a.txt": strToU8("some words ".repeat(500)), "b.txt": strToU8("b") }));
  expect((await unpack(Buffer.from("no archive at all"))).error?.errorCode).toBe("invalid_archive");
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 100 }), async (length) => {
      expect((await unpack(whole.subarray(0, length))).error?.errorCode).toBe("invalid_archive");
    }),
    { numRuns: 40 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: whole.length - 1 }),
      fc.integer({ min: 0, max: 255 }),
      async (at, byte) => {
        const changed = Buffer.from(whole);
        changed[at] = byte;
        expect((await unpack(changed)).held).toBe(0);
      },
    ),
    { numRuns: 300 },
  );
});
