import { describe, expect, test } from "vitest";
import {
  DocumentChanged,
  DocumentDeleted,
  DocumentIndexed,
  DocumentRead,
  DocumentReprocessed,
  ReadingFailed,
  ReadingStarted,
} from "#events/document.ts";
import type { NewEvent } from "#events/define.ts";
import type { StreamHead } from "#events/ports.ts";
import { documentUploaded } from "#test/samples.ts";
import { document } from "../../deciders/document.ts";
import { createIndexContents } from "./contents.ts";
import { FOLLOWED_EVENTS, planChanges } from "./planChanges.ts";

const id = { document_id: "d1" };
const uploaded = documentUploaded(id.document_id);
const started = (generation: number) => ReadingStarted.of({ ...id, generation, attempt: 1, worker: "w" });
const read = (generation: number) =>
  DocumentRead.of({
    ...id,
    generation,
    attempt: 1,
    text: `t${generation}`,
    passages: `p${generation}`,
    page_count: null,
    chunk_count: 1,
    characters: 1,
  });
const indexed = (generation: number) =>
  DocumentIndexed.of({ ...id, generation, indexed_at: "2026-01-01T00:00:00.000Z", units: 0, unused: [] });
const again = (generation: number) => DocumentReprocessed.of({ ...id, generation, worker: null, reextract: false });
const changed = DocumentChanged.of(id, { name: "b" });
const deleted = DocumentDeleted.of({ ...id, collection_id: "k1", content_claim: "c1", external_claim: null });

/** The plan for the stream of one document, at positions 1, 2, 3 …, or for the end of it. */
function plan(events: NewEvent[], { from = 1, contents = createIndexContents(), isReversed = false } = {}) {
  const stream = "document-d1";
  const state = events.reduce((before: any, event) => document.evolve(before, event as any), document.initial);
  const head = { stream, organization_id: "o1", position: events.length, state, state_version: document.version };
  const recorded = events.map((event, n) => ({ ...event, stream, organization_id: "o1", position: n + 1 }));
  const followed = recorded.filter(({ type, position }) => position >= from && FOLLOWED_EVENTS.includes(type));
  const log = {
    heads: () => Promise.resolve(new Map([[stream, head as unknown as StreamHead]])),
    read: () => Promise.reject(new Error("the state is as new as the decider")),
  };
  return planChanges(log, isReversed ? followed.toReversed() : followed, contents);
}
const generations = ({ wanted }: Awaited<ReturnType<typeof plan>>) => wanted.map(({ text }) => text.generation);

describe("the plan for the index", () => {
  test("puts a new text, which its document awaits", async () => {
    const { wanted, deleted, older } = await plan([uploaded, started(1), read(1)]);
    expect(wanted).toMatchObject([{ document_id: "d1", collection_id: "k1", awaited: true, position: 3 }]);
    expect([...deleted, ...older]).toEqual([]);
  });

  test("puts only the live and the awaited generation when a whole stream is replayed", async () => {
    const life = [uploaded, started(1), read(1), indexed(1), again(2), started(2), read(2), indexed(2)];
    const replayed = await plan(life);
    expect(generations(replayed)).toEqual([2]);
    expect(replayed.wanted[0]!.awaited).toBe(false);
    expect(replayed.older).toEqual([{ document_id: "d1", below_generation: 2, position: 8 }]);
    expect(generations(await plan([...life, again(3), started(3)]))).toEqual([2]);
    expect(generations(await plan([...life, again(3), started(3), read(3)]))).toEqual([2, 3]);
  });

  test("keeps the live generation if the newest reading failed", async () => {
    const failed = ReadingFailed.of({ ...id, generation: 2, attempt: 1 }, { error: "torn" });
    expect(generations(await plan([uploaded, started(1), read(1), indexed(1), again(2), started(2), failed]))).toEqual([
      1,
    ]);
    const never = ReadingFailed.of({ ...id, generation: 1, attempt: 1 }, { error: "torn" });
    expect(generations(await plan([uploaded, started(1), never]))).toEqual([]);
  });

  test("removes a deleted document and adds none of its passages", async () => {
    const { wanted, deleted: gone } = await plan([uploaded, started(1), read(1), indexed(1), deleted]);
    expect(wanted).toEqual([]);
    expect(gone).toEqual([{ document_id: "d1", below_generation: null }]);
  });

  test("puts the live generation again after a change, unless the index includes the change", async () => {
    const life = [uploaded, started(1), read(1), indexed(1), changed];
    expect(generations(await plan(life, { from: 5 }))).toEqual([1]);
    const contents = createIndexContents();
    contents.add("d1", 1, { position: 5, finished_at: "then" });
    expect(generations(await plan(life, { from: 5, contents }))).toEqual([]);
    contents.add("d1", 1, { position: 4, finished_at: "then" });
    expect(generations(await plan(life, { from: 5, contents }))).toEqual([1]);
    expect(generations(await plan([uploaded, changed], { from: 2 }))).toEqual([]);
    // deferred changes come in any order, and the index includes only the first of these
    contents.add("d1", 1, { position: 5, finished_at: "then" });
    expect(generations(await plan([...life, changed], { from: 5, contents, isReversed: true }))).toEqual([1]);
  });

  test("does not put an indexed generation again that its document still awaits", async () => {
    const contents = createIndexContents();
    contents.add("d1", 1, { position: 3, finished_at: "then" });
    const { wanted } = await plan([uploaded, started(1), read(1)], { contents });
    expect(wanted).toMatchObject([{ awaited: true, finished_at: "then" }]);
  });
});
