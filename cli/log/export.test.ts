import { constants } from "node:buffer";
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "#test/harness.ts";
import { CHAINED_ROWS } from "#infra/postgres/verify.ts";
import { explainError } from "../explainError.ts";
import { writeExport } from "./export.ts";

async function* broken(): AsyncGenerator<string> {
  yield "half\n";
  throw new Error("PostgreSQL is gone");
}
async function* whole(): AsyncGenerator<string> {
  yield "new\n";
}

test("an export that fails leaves the earlier one in its file, and a complete one replaces it", async () => {
  const folder = await testFolder();
  const out = join(folder, "log.jsonl");
  writeFileSync(out, "earlier\n");
  chmodSync(out, 0o644);
  symlinkSync("log.jsonl", join(folder, "newest"));
  await expect(writeExport(broken(), out)).rejects.toThrow("PostgreSQL is gone");
  expect(readFileSync(out, "utf8")).toBe("earlier\n");
  await writeExport(whole(), join(folder, "newest"));
  expect(readFileSync(out, "utf8")).toBe("new\n");
  expect(statSync(out).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).toSorted()).toEqual(["log.jsonl", "newest"]);
});

test("an export goes to a device as it is, and a folder that does not exist is named", async () => {
  await writeExport(whole(), "/dev/null");
  expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
  const nowhere = join(await testFolder(), "none", "log.jsonl");
  const failed: unknown = await writeExport(whole(), nowhere).catch((error: unknown) => error);
  expect(explainError(failed)).toBe(`${nowhere} does not exist: check the path.`);
});

test("the events that an export reads at once fit into one text, even if each is as large as a command may be", () => {
  const events = Number(/limit (\d+)$/.exec(CHAINED_ROWS)![1]);
  expect(events * 2 * 256 * 1024).toBeLessThan(constants.MAX_STRING_LENGTH / 2);
});
