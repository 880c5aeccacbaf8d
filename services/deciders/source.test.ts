import { beforeEach, describe, expect, test } from "vitest";
import { newCommand } from "#events/envelope.ts";
import type { SourceCommand } from "#events/source.ts";
import { source, type SourceState } from "./source.ts";

const source_id = "0198c0de-0000-7000-8000-00000000000a";
let state: SourceState;
let at: string;

/** The types of events that a command leads to at a time. */
function run(type: SourceCommand["type"], data: object = {}, worker?: string): string[] {
  const given = { stream: `source-${source_id}`, organization_id: "o", request_id: "r", timeout_ms: 1 };
  const command = { ...newCommand(type, { ...given, data: { source_id, ...data } }), at, ...(worker && { worker }) };
  const events = source.decide(command as SourceCommand, state);
  state = events.reduce(source.evolve, state);
  return events.map((event) => event.type);
}
const work = () => source.workStatus!(state);

beforeEach(() => {
  state = source.initial;
  at = "2026-01-01T00:00:00.000Z";
  const rule = { cron: "0 4 * * *", time_zone: "UTC" };
  const texts = { url: "http://a.example/", include: [], exclude: [] };
  const collection_id = "0198c0de-0000-7000-8000-00000000000b";
  run("CreateSource", { collection_id, kind: "url", max_pages: 1, when_gone: "delete", rule, ...texts }, "w1");
});

describe("a source", () => {
  test("is read at once, and again at its next time", () => {
    expect(work()).toEqual({ status: "reading", due_at: null, worker: "w1" });
    expect(run("EndSourceRead", { read: 1, attempt: 1, error: null })).toEqual(["SourceReadEnded"]);
    expect(work()).toEqual({ status: "waiting", due_at: "2026-01-01T04:00:00.000Z", worker: null });
    const due = { due_at: "2026-01-01T04:00:00.000Z" };
    expect(run("ReadSource", due)).toEqual([]);
    at = "2026-01-03T12:00:00.000Z";
    expect(run("ReadSource", due, "w2")).toEqual(["SourceReadStarted"]);
    expect(state).toMatchObject({ reads: 2, next: "2026-01-04T04:00:00.000Z", reading: { attempt: 1, worker: "w2" } });
    expect(run("ReadSource", due)).toEqual([]);
    expect(() => run("ReadSource")).toThrow("being read already");
  });

  test("takes results of the newest attempt only", () => {
    const pages = [{ page: "p", result: "same" }];
    expect(run("TakeSourceRead", { read: 1, attempt: 2, worker: "w2" })).toEqual(["SourceReadTaken"]);
    expect(run("TakeSourceRead", { read: 1, attempt: 2, worker: "w3" })).toEqual([]);
    expect(run("RecordPages", { read: 1, attempt: 1, pages })).toEqual([]);
    expect(run("RecordPages", { read: 1, attempt: 2, pages })).toEqual(["SourcePagesRead"]);
    expect(run("EndSourceRead", { read: 1, attempt: 1, error: null })).toEqual([]);
  });

  test("that is paused ends its read, is not due, and can still be read by hand", () => {
    expect(run("ChangeSource", { paused: true })).toEqual(["SourcePaused"]);
    expect(work()).toEqual({ status: null, due_at: null, worker: null });
    expect(run("RecordPages", { read: 1, attempt: 1, pages: [] })).toEqual([]);
    expect(run("ReadSource")).toEqual(["SourceReadStarted"]);
    run("EndSourceRead", { read: 2, attempt: 1, error: "x" });
    expect(run("ChangeSource", { paused: false, rule: null })).toEqual(["SourceChanged", "SourceResumed"]);
    expect(state).toMatchObject({ rule: null, next: null });
  });

  test("is not paused or resumed twice, but another pause ends a read by hand", () => {
    expect(run("ChangeSource", { paused: false })).toEqual([]);
    run("ChangeSource", { paused: true });
    expect(run("ChangeSource", { paused: true })).toEqual([]);
    run("ReadSource");
    expect(run("ChangeSource", { max_pages: 2 })).toEqual(["SourceChanged"]);
    expect(state).toMatchObject({ paused: true, reading: { attempt: 1 } });
    expect(run("ChangeSource", { paused: true })).toEqual(["SourcePaused"]);
    expect(run("ChangeSource", { paused: true })).toEqual([]);
    expect(state).toMatchObject({ paused: true, reading: null });
    expect(run("ChangeSource", { paused: false })).toEqual(["SourceResumed"]);
    expect(run("ChangeSource", { paused: false })).toEqual([]);
  });

  test("that is deleted with its documents has work until they are gone", () => {
    expect(run("DeleteSource", { documents: true })).toEqual(["SourceDeleted"]);
    expect(work().status).toBe("deleting");
    expect(run("EmptySource")).toEqual(["SourceEmptied"]);
    expect(state).toEqual({ status: "deleted", documents: true });
    expect(work().status).toBeNull();
    expect(() => run("ReadSource")).toThrow("No such source");
  });
});
