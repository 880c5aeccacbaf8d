import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import type { StreamHead } from "#events/ports.ts";
import { RetentionSet, retentionStream } from "#events/retention.ts";
import { given } from "#test/given.ts";
import { retention } from "./deciders/retention.ts";
import { createRetainer, type RetainerOptions } from "./retention.ts";

const organization_id = newId();
const subject = "organization";
const stream = retentionStream(organization_id, subject);
type ExpiredThings = Awaited<ReturnType<RetainerOptions["listExpired"]>>;
const NOTHING: ExpiredThings = { threads: [], turns: [], files: [], documents: [], runs: [], cursor: {} };

const headWith = (threads: number | undefined): StreamHead => {
  const due_at = "2026-11-23T12:00:00.000Z";
  const set = RetentionSet.of({ subject, rules: { threads: threads ?? 1 }, due_at });
  const { rules: _, ...removed } = given(retention, [set]).state;
  const state = threads === undefined ? removed : given(retention, [set]).state;
  return { stream, organization_id, position: 7, state_version: retention.version, version: 1, state } as never;
};

/** Deletes what `pages` contain, one page per query; each deletion appends an event at `position`. */
function start(
  heads: StreamHead[],
  pages: (ExpiredThings | undefined)[],
  position: number,
  refused = new Set<string>(),
) {
  const calls = {
    rules: [] as unknown[],
    after: [] as unknown[],
    sent: [] as [string, object][],
    errors: [] as unknown[],
  };
  let reads = 0;
  const retainer = createRetainer({
    log: {
      heads: async () => new Map([[stream, heads[Math.min(reads++, heads.length - 1)]!]]),
      read: async () => [],
      readNewest: async () => [],
    },
    listExpired: async (_organization, { rules, after }) => {
      calls.rules.push(rules);
      calls.after.push(after);
      return pages[Math.min(calls.rules.length - 1, pages.length - 1)];
    },
    send: async (_target, type, data) => {
      calls.sent.push([type, data]);
      if (refused.has(String(data["document_id"])))
        return { position: 0, repeated: false, rejection: { code: "legal_hold", message: "Held." } };
      return { position, repeated: false };
    },
    onError: (error) => calls.errors.push(error),
  });
  void retainer.resumeWork(heads[0]!);
  return { calls, stop: retainer.stop, types: () => calls.sent.map(([type]) => type) };
}

test("a round deletes batch by batch, records how many, and ends", async () => {
  const mixed: ExpiredThings = {
    ...NOTHING,
    threads: [{ id: "t", scope: "s" }],
    turns: [{ id: "u", thread_id: "other", scope: "s" }],
    files: [{ id: "f", scope: "s" }],
    documents: [{ id: "d" }],
    runs: [{ id: "r", threads: ["of r"], files: ["g"] }],
  };
  const { calls, types, stop } = start([headWith(30)], [mixed, undefined, NOTHING], 9);
  await expect.poll(() => types().at(-1)).toBe("EndRetentionRound");
  expect(calls.sent).toEqual([
    ["DeleteThread", { scope: "s" }],
    ["DeleteTurn", { turn_id: "u", scope: "s" }],
    ["DeleteFile", { file_id: "f", scope: "s" }],
    ["DeleteDocument", { document_id: "d" }],
    ["DeleteThread", { scope: "run:r" }],
    ["DeleteFile", { file_id: "g", scope: "run:r" }],
    ["ForgetRun", { run_id: "r", by_rule: true }],
    ["AdvanceRetention", { subject, deleted: { threads: 1, turns: 1, files: 1, documents: 1, runs: 1 } }],
    ["EndRetentionRound", { subject, round: 1 }],
  ]);
  await stop();
  expect(calls.errors).toEqual([]);
});

test("rules that change or go during a round hold from the next batch on", async () => {
  const one = { ...NOTHING, threads: [{ id: "t", scope: "s" }] };
  const heads = [headWith(30), headWith(30), headWith(90), headWith(undefined)];
  const { calls, types, stop } = start(heads, [one], 9);
  await expect.poll(() => types().at(-1)).toBe("EndRetentionRound");
  expect(calls.rules).toEqual([{ threads: 30 }, { threads: 90 }]);
  await stop();
});

test("a deletion that another process began is left to the sweep, and counted by that process", async () => {
  const { types, stop } = start([headWith(30)], [{ ...NOTHING, documents: [{ id: "d" }] }], 0);
  await expect.poll(types).toEqual(["DeleteDocument"]);
  await stop();
  expect(types()).toEqual(["DeleteDocument"]);
});

test("a page of things that must all stay does not keep the round from those behind it", async () => {
  const held = { documents: { at: "2026-01-01 00:00:00+00", id: "held" } };
  const pages = [
    { ...NOTHING, documents: [{ id: "held" }], cursor: held },
    { ...NOTHING, documents: [{ id: "free" }], cursor: held },
    { ...NOTHING, cursor: held },
  ];
  const { calls, types, stop } = start([headWith(30)], pages, 9, new Set(["held"]));
  await expect.poll(() => types().at(-1)).toBe("EndRetentionRound");
  expect(types()).toEqual(["DeleteDocument", "DeleteDocument", "AdvanceRetention", "EndRetentionRound"]);
  expect(calls.after).toEqual([{}, held, held]);
  await stop();
});
