import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { StreamHead } from "#events/ports.ts";
import { documentUploaded } from "#test/samples.ts";
import { document } from "../../deciders/document.ts";
import { extraction } from "../../deciders/extraction.ts";
import type { CommittedCommand } from "../../handle.ts";
import type { ReadingJob, ReadingSlot } from "./job.ts";
import { createReadings } from "./readings.ts";

const commit = (id: string, worker: string | null = "w1", organization_id = "o1") =>
  ({
    command: { stream: `document-${id}`, organization_id },
    events: [documentUploaded(id, { worker })],
    version: 1,
  }) as CommittedCommand;
const head = (id: string, worker: string | null): StreamHead => ({
  stream: `document-${id}`,
  organization_id: "o1",
  version: 1,
  position: 1,
  state: document.evolve(document.initial, documentUploaded(id, { worker })),
  state_version: document.version,
  status: "pending",
  due_at: null,
  worker,
});

const settled = () => sleep(0);

/** Readings that run until the test ends them. */
function openReadings({ atOnce = 2, perOrganization = atOnce }: { atOnce?: number; perOrganization?: number } = {}) {
  const jobs: ReadingJob[] = [];
  const slots: ReadingSlot[] = [];
  const sent: string[] = [];
  const ends: (() => void)[] = [];
  const readings = createReadings({
    log: { read: () => Promise.reject(new Error("the state is as new as the decider")) },
    worker: "w1",
    atOnce,
    perOrganization,
    send: (target, type) => {
      sent.push(`${type} ${target.stream}`);
      return Promise.resolve({ position: 1, repeated: false });
    },
    run: (job, slot) => {
      jobs.push(job);
      slots.push(slot);
      return new Promise((resolve) => ends.push(resolve));
    },
    onError: () => {},
  });
  const endOne = async () => {
    ends.shift()!();
    await settled();
  };
  const started = async () => {
    await settled();
    return jobs.map(({ stream, attempt }) => `${stream}/${attempt}`);
  };
  return { ...readings, jobs, sent, endOne, started, slots };
}

describe("The readings of a process", () => {
  test("start for documents that its own commits open, a limited number at once", async () => {
    const { afterCommit, started, busy, endOne } = openReadings();
    for (const id of ["a", "b", "c"]) afterCommit(commit(id));
    afterCommit(commit("d", "another"));
    afterCommit(commit("e", null));
    expect(await started()).toEqual(["document-a/1", "document-b/1"]);
    expect(busy()).toEqual(["document-a", "document-b", "document-c"]);
    await endOne();
    expect(await started()).toEqual(["document-a/1", "document-b/1", "document-c/1"]);
    expect(busy()).toEqual(["document-b", "document-c"]);
  });

  test("know the collection and the key of a new document", async () => {
    const { afterCommit, started, jobs } = openReadings();
    const uploaded = commit("a");
    afterCommit({ ...uploaded, command: { ...uploaded.command, keys: { "document-a": "wrapped" } } });
    await started();
    expect(jobs).toMatchObject([{ stream: "document-a", attempt: 1, collection_id: "k1", wrapped_key: "wrapped" }]);
  });

  test("leave room for another organization while one has many", async () => {
    const { afterCommit, started } = openReadings({ atOnce: 3, perOrganization: 2 });
    for (const id of ["a", "b", "c"]) afterCommit(commit(id));
    afterCommit(commit("other", "w1", "o2"));
    expect(await started()).toEqual(["document-a/1", "document-b/1", "document-other/1"]);
  });

  test("make room for the next one when one moves to text recognition, however often it reports that", async () => {
    const { afterCommit, started, slots, endOne, busy } = openReadings({ atOnce: 1 });
    for (const id of ["scan", "a", "b"]) afterCommit(commit(id));
    expect(await started()).toEqual(["document-scan/1"]);
    slots[0]!.end();
    slots[0]!.end();
    expect(await started()).toEqual(["document-scan/1", "document-a/1"]);
    expect(busy()).toContain("document-scan");
    await endOne();
    expect(await started()).toEqual(["document-scan/1", "document-a/1"]);
  });

  test("take over a document without a worker once", async () => {
    const { resumeWork, started } = openReadings();
    await resumeWork(head("a", null));
    await resumeWork(head("a", null));
    expect(await started()).toEqual(["document-a/1"]);
  });

  test("take over a document of their own process that they do not hold when a second sweep sees it", async () => {
    const { afterCommit, resumeWork, started } = openReadings();
    await resumeWork(head("a", "w1"));
    expect(await started()).toEqual([]);
    await resumeWork(head("a", "w1"));
    expect(await started()).toEqual(["document-a/1"]);
    afterCommit(commit("b"));
    for (const _ of [1, 2, 3]) await resumeWork(head("b", "w1"));
    expect(await started()).toEqual(["document-a/1", "document-b/1"]);
  });

  test("take nothing over while a hundred wait", async () => {
    const { afterCommit, resumeWork, busy } = openReadings({ atOnce: 1 });
    for (let n = 0; n <= 100; n++) afterCommit(commit(`a${n}`));
    await resumeWork(head("lost", "dead"));
    expect(busy()).not.toContain("document-lost");
  });

  test("have room until ten thousand wait", () => {
    const { afterCommit, hasRoom } = openReadings({ atOnce: 1 });
    for (let n = 0; n < 10_000; n++) afterCommit(commit(`a${n}`));
    expect(hasRoom("o1")).toBe(true);
    afterCommit(commit("last"));
    expect(hasRoom("o1")).toBe(false);
  });

  test("start nothing more after a stop, which waits for the running ones alone", async () => {
    const { afterCommit, started, endOne, stop, busy } = openReadings({ atOnce: 1 });
    afterCommit(commit("a"));
    afterCommit(commit("b"));
    await settled();
    const stopped = stop();
    await endOne();
    await stopped;
    afterCommit(commit("c"));
    expect(await started()).toEqual(["document-a/1"]);
    expect(busy()).toEqual([]);
  });

  test("end an extraction that has expired", async () => {
    const { resumeWork, started, sent } = openReadings();
    const expires_at = new Date(Date.now() - 1).toISOString();
    const state = { status: "ended", expires_at, content_claim: "c" };
    const waiting = { ...head("x", null), stream: "extraction-x", state, state_version: extraction.version };
    await resumeWork({ ...waiting, status: "waiting", due_at: expires_at });
    expect(sent).toEqual(["ExpireExtraction extraction-x"]);
    expect(await started()).toEqual([]);
  });
});
