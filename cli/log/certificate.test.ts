import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BrokenChain, type ChainedRow } from "#infra/postgres/verify.ts";
import { testFolder } from "#test/harness.ts";
import { CliError } from "../cliError.ts";
import { readCertificate } from "./certificate.ts";

const ORGANIZATION = "0198c0de-0000-7000-8000-0000000000aa";
const ERASURE = "erasure-0198c0de-0000-7000-8000-00000000000e";
const OWNER = "key:0198c0de-0000-7000-8000-00000000000a";

const row = (position: number, type: string, more: Partial<ChainedRow> = {}): ChainedRow => ({
  position,
  stream: ERASURE,
  version: position,
  organization_id: ORGANIZATION,
  type,
  shape: 1,
  command_id: "c",
  recorded_us: String(Date.UTC(2026, 10, 30) * 1_000 + position * 1_000_000 + 789),
  meta: JSON.stringify({ principal: "person:ada", request_id: "r" }),
  data: JSON.stringify({ owner: OWNER }),
  thing: null,
  sealed: null,
  hash: String(position).repeat(64),
  ...more,
});
const byErasure = JSON.stringify({ principal: "system", request_id: ERASURE });
const LOG = [
  row(1, "ErasureStarted"),
  row(2, "ThreadDeleted", { stream: "thread-1", meta: byErasure }),
  row(3, "FileDeleted", { stream: "file-1", meta: byErasure }),
  row(4, "FileDeleted", { stream: "file-2" }),
  row(5, "FileUploaded", { stream: "file-3", meta: byErasure }),
  row(6, "ErasureCompleted"),
];

const proof = ({ stream, version, type, recorded_us, hash }: ChainedRow) => ({
  stream,
  version,
  event: type,
  recorded_at: new Date(Math.floor(Number(recorded_us) / 1_000)).toISOString(),
  hash,
});
/** A certificate with deletions at these positions. `start` and `second` replace fields of its first lines. */
function certificate(positions: number[], { start = {}, second = {} } = {}): object[] {
  const [first, last] = [LOG[0]!, LOG.at(-1)!];
  const erased = positions.map((position) => ({ type: "erased", ...proof(LOG[position - 1]!) }));
  const opening = { type: "certificate", organization_id: ORGANIZATION, owner: OWNER, started_by: "person:ada" };
  if (erased[0]) Object.assign(erased[0], second);
  return [{ ...opening, ...proof(first), ...start }, ...erased, { type: "end", erased: erased.length, ...proof(last) }];
}

async function check(lines: object[]): Promise<string> {
  const path = join(await testFolder(), "certificate.jsonl");
  await writeFile(path, lines.map((line) => JSON.stringify(line)).join("\n"));
  const { check: checkRow, finish, kinds } = await readCertificate(path);
  for (const each of LOG) checkRow(each);
  finish();
  return kinds;
}

test("a certificate that says what the log says is true", async () => {
  expect(await check(certificate([2, 3]))).toBe("1 thread, 1 file");
});

test.each([
  ["of somebody else", certificate([2, 3], { start: { owner: "user:bob" } })],
  ["started by somebody else", certificate([2, 3], { start: { started_by: "person:bob" } })],
  ["of another day", certificate([2, 3], { start: { recorded_at: "2026-11-29T00:00:01.000Z" } })],
  ["with a deletion of another day", certificate([2], { second: { recorded_at: "2026-12-01T00:00:02.000Z" } })],
  ["with a deletion that was not part of it", certificate([2, 4])],
  ["with an event that deleted nothing", certificate([5])],
])("a certificate %s is refused, although each of its events is in the log", async (_, lines) => {
  await expect(check(lines)).rejects.toThrow(BrokenChain);
  await expect(check(lines)).rejects.toThrow("is not what the certificate says");
});

test("a certificate that names a deletion twice is refused", async () => {
  await expect(check(certificate([2, 3, 3]))).rejects.toThrow(CliError);
});
