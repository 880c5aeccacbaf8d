import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { testFolder } from "#test/harness.ts";
import { download } from "./download.ts";

const FIRST = '{"type":"export"}\n';
const END = '{"type":"end","counts":{"thread":1}}\n';

/** A service whose answer has these parts, and then breaks off if `breaks` is set. */
const answering = (parts: string[], breaks = false) => ({
  async download(): Promise<Readable> {
    return Readable.from(
      (async function* () {
        for (const part of parts) yield Buffer.from(part);
        if (breaks) throw new Error("terminated");
      })(),
    );
  },
});

test("an answer that breaks off or has no end leaves no file, and the same command can be run again", async () => {
  const folder = await testFolder();
  const out = join(folder, "export.jsonl");
  await expect(download(answering([FIRST], true), "/exports", out)).rejects.toThrow(
    "The answer broke off (terminated): run this again.",
  );
  await expect(download(answering([FIRST]), "/exports", out)).rejects.toThrow("it has no last line: run this again.");
  expect(readdirSync(folder)).toEqual([]);
  expect(await download(answering([FIRST, END]), "/exports", out)).toEqual({ type: "end", counts: { thread: 1 } });
  expect(readdirSync(folder)).toEqual(["export.jsonl"]);
  expect(readFileSync(out, "utf8")).toBe(FIRST + END);
  expect(statSync(out).mode & 0o777).toBe(0o600);
});

test("a file that cannot be created is refused before the service is asked", async () => {
  const folder = await testFolder();
  const out = join(folder, "certificate.jsonl");
  writeFileSync(out, "the only copy");
  const asked = { download: () => Promise.reject(new Error("asked")) };
  await expect(download(asked, "/", out)).rejects.toThrow(`${out} exists already: name a new file.`);
  expect(readFileSync(out, "utf8")).toBe("the only copy");
  const nowhere = join(folder, "none", "certificate.jsonl");
  await expect(download(asked, "/", nowhere)).rejects.toThrow(/none does not exist: create it, or name another file/);
});
