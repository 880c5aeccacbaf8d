import { unzipSync, zipSync } from "fflate";
import { afterAll, expect, test } from "vitest";
import { openReader } from "#infra/readers/openReader.ts";
import { UnreadableFile } from "#services/reading/reader.ts";
import { readable, realFile } from "../files/index.ts";

/* Real files with random changes are read, or refused with a message for people. */

/** Changed copies of each file; set MUTATIONS=100 for a longer search. */
const COPIES = Number(process.env["MUTATIONS"] ?? 3);
const reader = openReader({ processes: 2 });
afterAll(() => reader.close());

/** A generator of numbers from 0 to 1 that is deterministic for a seed. */
const randomFrom = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

const mutate = (bytes: Buffer, seed: number): Buffer => {
  const random = randomFrom(seed);
  const at = () => Math.floor(random() * bytes.length);
  const copy = Buffer.from(bytes);
  for (let n = 0; n < 1 + random() * 12; n++) copy[at()] = Math.floor(random() * 256);
  if (seed % 3 === 1) copy.copyWithin(at(), at(), at());
  return seed % 3 === 2 ? copy.subarray(0, at()) : copy;
};

/** Changes one XML part of an archive. Without this, most changes would only damage the archive itself. */
const mutatePart = (bytes: Buffer, seed: number): Buffer => {
  const parts = unzipSync(bytes);
  const names = Object.keys(parts).filter((name) => /\.(xml|rels|xhtml|opf)$/.test(name));
  const name = names[seed % names.length]!;
  const text = Buffer.from(parts[name]!).toString("latin1");
  const tags = text.split(/(?=<)/);
  const random = randomFrom(seed);
  for (let n = 0; n < 1 + random() * 4; n++) {
    const [at, other] = [Math.floor(random() * tags.length), Math.floor(random() * tags.length)];
    if (random() < 0.5) tags.splice(at, 1);
    else tags[at] = (tags[other] ?? "").replace(/"[^"]*"/, random() < 0.5 ? '"-1"' : '"\u00ff"');
  }
  const content = random() < 0.5 ? Buffer.from(tags.join(""), "latin1") : mutate(parts[name] as Buffer, seed);
  return Buffer.from(zipSync({ ...parts, [name]: new Uint8Array(content) }));
};

test.each(readable)(
  "$name with random changes is read, or refused with a clear message",
  async ({ name, mime_type }) => {
    const original = realFile(name);
    const isZip = original.readUInt16BE() === 0x504b;
    const seeds = Array.from({ length: COPIES }, (_, n) => n + name.length * 1_000);
    await Promise.all(
      seeds.map(async (seed) => {
        const bytes = isZip && seed % 4 > 0 ? mutatePart(original, seed) : mutate(original, seed);
        const outcome = await reader.read({ mime_type, bytes }).catch((error: unknown) => error);
        if (!(outcome instanceof Error)) return expect(outcome).toMatchObject({ passages: expect.any(Buffer) });
        expect(outcome, `seed ${seed}: ${outcome.stack}`).toBeInstanceOf(UnreadableFile);
        expect(outcome.cause, `seed ${seed}`).toBeUndefined();
        expect(outcome.message, `seed ${seed}`).toMatch(/^[A-Z].*\.$/);
      }),
    );
  },
);
