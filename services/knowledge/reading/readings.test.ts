import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { DocumentUploaded } from "#events/document.ts";
import type { StreamHead } from "#events/ports.ts";
import { document } from "../../deciders/document.ts";
import { extraction } from "../../deciders/extraction.ts";
import type { Handled } from "../../handle.ts";
import type { Job } from "./job.ts";
import { createReadings } from "./readings.ts";

const uploaded = (id: string, worker: string | null) =>
  DocumentUploaded.of(
    {
      document_id: id,
      collection_id: "k1",
      source: "api",
      external_claim: null,
      mime_type: "text/plain",
      size_bytes: 1,
      original: "file",
      blob: "b",
      content_claim: "c",
      generation: 1,
      worker,
    },
    { name: "a", tags: [], sha256: "", external_id: null },
  );
const commit = (id: string, worker: string | null = "w1", organization_id = "o1") =>
  ({ command: { stream: `document-${id}`, organization_id }, events: [uploaded(id, worker)], version: 1 }) as Handled;
const head = (id: string, worker: string | null): StreamHead => ({
  stream: `document-${id}`,
  organization_id: "o1",
  version: 1,
  position: 1,
  state: document.evolve(document.initial, uploaded(id, worker)),
  state_version: document.version,
  status: "pending",
  due_at: null,
  worker,
});

/** Readings that last until they are let go. */
function readings({ atOnce = 2 } = {}) {
  const begun: Job[] = [];
  const sent: string[] = [];
  const ends: (() => void)[] = [];
  const its = createReadings({
    log: { read: () => Promise.reject(new Error("the state is as new as the decider")) },
    worker: "w1",
    atOnce,
    send: (target, type) => {
      sent.push(`${type} ${target.stream}`);
      return Promise.resolve({ position: 1, repeated: false });
    },
    run: (job) => {
      begun.push(job);
      return new Promise((resolve) => ends.push(resolve));
    },
    onError: () => {},
  });
  const endOne = async () => {
    ends.shift()!();
    await sleep(0);
  };
  return { ...its, sent, endOne, begun: () => begun.map(({ stream, attempt }) => `${stream}/${attempt}`) };
}

test("what is committed here is read here, so many at once", async () => {
  const { afterCommit, begun, busy, endOne } = readings();
  for (const id of ["a", "b", "c"]) afterCommit(commit(id));
  afterCommit(commit("d", "another"));
  afterCommit(commit("e", null));
  expect(begun()).toEqual(["document-a/1", "document-b/1"]);
  expect(busy()).toEqual(["document-a", "document-b", "document-c"]);
  await endOne();
  expect(begun()).toEqual(["document-a/1", "document-b/1", "document-c/1"]);
  expect(busy()).toEqual(["document-b", "document-c"]);
});

test("what nobody holds is taken, once", async () => {
  const { attend, begun } = readings();
  await attend(head("a", null));
  await attend(head("a", null));
  expect(begun()).toEqual(["document-a/1"]);
});

test("its own that it has forgotten is taken at the second sight, one that it has never", async () => {
  const { afterCommit, attend, begun } = readings();
  await attend(head("a", "w1"));
  expect(begun()).toEqual([]);
  await attend(head("a", "w1"));
  expect(begun()).toEqual(["document-a/1"]);
  afterCommit(commit("b"));
  for (const _ of [1, 2, 3]) await attend(head("b", "w1"));
  expect(begun()).toEqual(["document-a/1", "document-b/1"]);
});

test("a process with a hundred to read leaves what others lost to others", async () => {
  const { afterCommit, attend, busy } = readings({ atOnce: 1 });
  for (let n = 0; n <= 100; n++) afterCommit(commit(`a${n}`));
  await attend(head("lost", "dead"));
  expect(busy()).not.toContain("document-lost");
});

test("ten thousand that wait are enough", () => {
  const { afterCommit, room } = readings({ atOnce: 1 });
  for (let n = 0; n < 10_000; n++) afterCommit(commit(`a${n}`));
  expect(room()).toBe(true);
  afterCommit(commit("last"));
  expect(room()).toBe(false);
});

test("after the stop nothing begins, and what waits is left to others", async () => {
  const { afterCommit, begun, endOne, stop } = readings({ atOnce: 1 });
  afterCommit(commit("a"));
  afterCommit(commit("b"));
  const stopped = stop();
  await endOne();
  await stopped;
  afterCommit(commit("c"));
  expect(begun()).toEqual(["document-a/1"]);
});

test("an extraction whose time is over is ended, whoever has it", async () => {
  const { attend, begun, sent } = readings();
  const expires_at = new Date(Date.now() - 1).toISOString();
  const state = { status: "ended", expires_at, content_claim: "c" };
  const waiting = { ...head("x", null), stream: "extraction-x", state, state_version: extraction.version };
  await attend({ ...waiting, status: "waiting", due_at: expires_at });
  expect(sent).toEqual(["ExpireExtraction extraction-x"]);
  expect(begun()).toEqual([]);
});
