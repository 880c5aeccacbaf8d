import { deflateSync } from "node:zlib";
import { afterEach, expect, test, vi } from "vitest";
import { readPdf } from "./readPdf.ts";
import { writePdf, objectsOf, pdfOf, show, stream } from "./testing/build.ts";

afterEach(() => void vi.unstubAllGlobals());

test("pdf.js passes the operators of a page on without cloning them", async () => {
  const original = structuredClone;
  const cloned: unknown[] = [];
  vi.stubGlobal("structuredClone", (value: unknown, options?: Parameters<typeof structuredClone>[1]) => {
    cloned.push(value);
    return original(value, options);
  });
  const texts = ["The words of a page are read.", "So are those of the next."];
  expect(await readPdf(pdfOf(texts.map((text) => show(72, 600, 10, text))))).toEqual(texts);
  expect(cloned.length).toBeGreaterThan(0);
  expect(cloned.filter((value) => JSON.stringify(value).includes("fnArray"))).toEqual([]);
});

test("compressed operators are read even with bytes after their end, and truncated ones make the page damaged", async () => {
  const lines = Array.from({ length: 400 }, (_, n) => show(72, 700 - n, 10, `line${(n * 7919) % 1_000}`));
  const packed = deflateSync(lines.join("\n"));
  const read = async (bytes: Uint8Array): Promise<string> => {
    const objects = objectsOf([""]);
    objects[4] = stream(Buffer.from(bytes), "/Filter/FlateDecode");
    return (await readPdf(writePdf(objects))).join("");
  };
  expect(await read(packed)).toContain("line81");
  expect(await read(Buffer.concat([packed, Buffer.from("trailing bytes")]))).toContain("line81");
  await expect(read(packed.subarray(0, packed.length / 2))).rejects.toThrow("damaged");
});
