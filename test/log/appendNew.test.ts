import fc from "fast-check";
import type pg from "pg";
import { afterAll, expect, test } from "vitest";
import { newCommandId } from "#events/ids.ts";
import type { AppendRequest, AppendResult } from "#events/ports.ts";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { verifyLog } from "#infra/postgres/verify.ts";
import { aStream, change, named, openTestLog } from "./log.ts";

type TestLog = Awaited<ReturnType<typeof openTestLog>>;
const logs: [TestLog, TestLog] = [await openTestLog(), await openTestLog()];
afterAll(async () => {
  for (const log of logs) await log.close();
});

const ORGANIZATIONS = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"];
const EVENTS =
  "select position, stream, version, organization_id, type, shape, command_id, meta, data, thing from log.events";
const CONTENT = [
  `${EVENTS} order by position`,
  "select command_id, organization_id, position, fingerprint, http, rejection from log.commands order by 1, 2",
  "select * from log.streams order by stream",
  "select thing, stream from log.keys order by thing",
  "select position from log.head",
];

/** What one command does: which stream, how far off its version is, and whether it repeats an earlier command. */
const step = fc.record({
  stream: fc.integer({ min: 0, max: 3 }),
  offset: fc.constantFrom(0, 0, 0, 0, 1, -1),
  repeats: fc.constantFrom(false, false, false, true),
  organization: fc.constantFrom(...ORGANIZATIONS),
  isNamed: fc.boolean(),
  erases: fc.constantFrom(null, null, "thing" as const, "stream" as const),
  isRejected: fc.constantFrom(false, false, false, true),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One batch of commands, as a decider that has seen the earlier batches would send them. */
function batchOf(
  steps: Step[],
  {
    streams,
    versions,
    earlier,
    sealed,
  }: Record<"streams" | "earlier" | "sealed", string[]> & {
    versions: Map<string, number>;
  },
) {
  const next = new Map(versions);
  return steps.map((one): AppendRequest => {
    const organization = one.organization;
    const id = (one.repeats && earlier.at(-1)) || newCommandId();
    earlier.push(id);
    const base = change(streams[one.stream]!, { id, organization });
    if (one.isRejected) return { ...base, events: [], heads: [], rejection: { code: "no", message: "No." } };
    const { stream, event } = one.isNamed ? named("A name") : { stream: streams[one.stream]!, event: undefined };
    const victims = sealed.slice(-2, -1);
    const erase = {
      things: one.erases === "thing" ? victims : [],
      streams: one.erases === "stream" ? victims : [],
    };
    if (event) sealed.push(stream);
    const version = Math.max(1, (next.get(stream) ?? 0) + 1 + one.offset);
    next.set(stream, version);
    return { ...change(stream, { id, organization, version, ...(event && { event }) }), erase };
  });
}

const forgetting = (request: AppendRequest): AppendRequest => ({ ...request, forget: ["none"] });
const withoutTime = (results: AppendResult[]) =>
  results.map((result) => (result.kind === "committed" ? { ...result, at: undefined } : result));
const contentOf = ({ db }: TestLog) => Promise.all(CONTENT.map((query) => db.query(query)));

test("an append as new and an append by log.append have the same results and leave the same log, whatever conflicts or repeats", async () => {
  const [asNew, byFunction] = logs;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 }),
      async (batches) => {
        const streams = Array.from({ length: 4 }, aStream);
        const versions = new Map<string, number>();
        const seen = { streams, versions, earlier: [], sealed: [] };
        for (const steps of batches) {
          const batch = batchOf(steps, seen);
          const results = await Promise.all(batch.map((request) => asNew.log.append(request)));
          const expected = await Promise.all(batch.map((request) => byFunction.log.append(forgetting(request))));
          expect(withoutTime(results)).toEqual(withoutTime(expected));
          for (const [stream, head] of await asNew.log.heads(streams)) versions.set(stream, head.version);
        }
        expect(await contentOf(asNew)).toEqual(await contentOf(byFunction));
      },
    ),
    { numRuns: 40 },
  );
  const tips = await Promise.all(logs.map(({ db }) => verifyLog(db, () => {})));
  expect(tips[0]!.position).toBe(tips[1]!.position);
});

test("new commands are appended by one statement, and others by a second one", async () => {
  const [{ pool }] = logs;
  const names: unknown[] = [];
  const recording = {
    query(query: { name?: string }, ...rest: unknown[]) {
      names.push(query.name);
      return (pool.query as (...all: unknown[]) => unknown).call(pool, query, ...rest);
    },
  } as unknown as pg.Pool;
  const log = openLog(recording, openKeyring(Buffer.alloc(32, 7)));
  const stream = aStream();
  await log.append(change(stream));
  await log.append(change(stream, { version: 2 }));
  expect(names).toEqual(["append new", "append new"]);
  expect((await log.append(change(stream, { version: 2 }))).kind).toBe("conflict");
  expect(names.slice(2)).toEqual(["append new", "append"]);
  await log.append({ ...change(stream, { version: 3 }), erase: { things: ["turn-1"], streams: [] } });
  expect(names.slice(4)).toEqual(["append new erasing"]);
});
