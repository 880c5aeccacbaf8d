import { expect, test } from "vitest";
import { longestTurn } from "#test/computingTime.ts";
import { extractionLines } from "./exportKnowledge.ts";
import { eventLines } from "./exportLines.ts";

/* An export reads everything of an organization, while others go on. */

const subject = { kind: "principal", principal: "key:k", actor: { type: "api_key", id: "k" } };
const recheck = async () => undefined;

test("events that do not match are skipped without holding up the process", async () => {
  const values = Array.from({ length: 60_000 }, () => "0");
  const meta = { principal: "key:other", request_id: "r" };
  const event = { stream: "thread-t", version: 1, type: "TurnStopped", recorded_at: new Date(), meta };
  const events = Array.from({ length: 300 }, (_, n) => ({ ...event, position: n + 1, data: { values } }));
  events.push({ ...events[0]!, position: 301, meta: { ...meta, principal: "key:k" } });
  const http = { readAuditSlice: async () => ({ events, more: false }), keyring: { sealNumber: String } };
  const lines: unknown[] = [];
  const read = async () => {
    const scope = { http, organization_id: "o", subject, until: 1_000, recheck };
    for await (const line of eventLines(scope as never)) lines.push(line);
  };
  expect(await longestTurn(read)).toBeLessThan(50);
  expect(lines).toMatchObject([{ type: "event", event: "TurnStopped", principal: "key:k" }]);
});

test("the Markdown of an extraction of 60 MB is decoded without holding up the process", async () => {
  const text = Buffer.from("ü".repeat(30_000_000));
  const row = { id: "e", name: '"n"', mime_type: '"text/plain"', size_bytes: 1, status: "ready", error: null };
  const rest = { text_blob: "b", page_count: null, chunk_count: 1, warnings: null, wrapped_key: "k", position: "1" };
  const stored = { ...row, ...rest, created_at: new Date(), expires_at: new Date() };
  const http = { db: { query: async () => [stored] }, vault: { get: async () => text } };
  const lines: { type: string; markdown?: string }[] = [];
  const read = async () => {
    const scope = { http, organization_id: "o", subject, until: 1_000, recheck };
    for await (const line of extractionLines(scope as never)) lines.push(line);
  };
  expect(await longestTurn(read)).toBeLessThan(50);
  expect(lines.map(({ type, markdown }) => [type, markdown?.length])).toEqual([["extraction", 30_000_000]]);
});
