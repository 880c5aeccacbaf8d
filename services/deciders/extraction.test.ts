import { describe, expect, test } from "vitest";
import {
  ExtractionCompleted,
  ExtractionDeleted,
  ExtractionExpired,
  ExtractionFailed,
  ExtractionRequested,
  ExtractionStarted,
} from "#events/extraction.ts";
import { command, given } from "#test/given.ts";
import { extraction } from "./extraction.ts";

const id = { extraction_id: "x1" };
const expires_at = "2026-01-02T00:00:00.000Z";
const upload = { ...id, mime_type: "text/html", size_bytes: 9, blob: "b1", content_claim: "c1", expires_at };
const described = { name: "a.html", sha256: "ff" };
const text = { text: "t1", page_count: null, chunk_count: 2, characters: 3_001 };
const requested = ExtractionRequested.of({ ...upload, worker: "w1" }, described);
const started = (attempt: number) => ExtractionStarted.of({ ...id, attempt, worker: "w1" });
const completed = ExtractionCompleted.of({ ...id, attempt: 1, ...text, units: 2 });
const failed = ExtractionFailed.of({ ...id, attempt: 1, content_claim: "c1" }, { error: "torn" });
const deleted = ExtractionDeleted.of({ ...id, content_claim: "c1" });
const expired = ExtractionExpired.of({ ...id, content_claim: "c1" });

const request = command("RequestExtraction", { ...upload, ...described }, { worker: "w1" });
const start = (attempt: number) => command("StartExtraction", { ...id, attempt, worker: "w1" });
const complete = (attempt: number, more = {}) => command("CompleteExtraction", { ...id, attempt, ...text, ...more });
const fail = (attempt: number) => command("FailExtraction", { ...id, attempt, error: "torn" });
const remove = command("DeleteExtraction", id);
const expire = command("ExpireExtraction", id);
const atItsEnd = { at: expires_at };
const justBefore = { at: "2026-01-01T23:59:59.999Z" };

describe("requesting an extraction", () => {
  test("claims the bytes, and gives the work to the handling worker", () => {
    given(extraction).when(request).then(requested);
    given(extraction)
      .when({ ...request, worker: undefined })
      .then(ExtractionRequested.of({ ...upload, worker: null }, described));
    expect(extraction.claims!([requested])).toEqual({
      hold: [{ name: "extraction:c1", rejection: expect.objectContaining({ code: "identical_extraction" }) }],
      release: [],
    });
  });
  test("is possible only once per id", () => {
    given(extraction, [requested]).when(request).rejected("extraction_exists");
    given(extraction, [requested, deleted]).when(request).rejected("extraction_exists");
  });
});

describe("the work on an extraction", () => {
  test("is started by one worker per attempt", () => {
    given(extraction, [requested]).when(start(1)).then(started(1));
    given(extraction, [requested]).when(start(2)).then();
    given(extraction, [requested, started(1)])
      .when(start(1))
      .then();
    given(extraction, [requested, started(1)])
      .when(start(2))
      .then(started(2));
  });
  test("ends only once, charged by pages or by 3,000 characters", () => {
    const running = given(extraction, [requested, started(1)]);
    running.when(complete(1)).then(completed);
    running
      .when(complete(1, { page_count: 7 }))
      .then(ExtractionCompleted.of({ ...id, attempt: 1, ...text, page_count: 7, units: 7 }));
    given(extraction, [requested, started(1), completed])
      .when(complete(1))
      .then();
    given(extraction, [requested]).when(complete(1)).then();
  });
  test("changes nothing if another worker has taken it over", () => {
    const taken = given(extraction, [requested, started(1), started(2)]);
    taken.when(complete(1)).then();
    taken.when(fail(1)).then();
    taken.when(complete(2)).then(ExtractionCompleted.of({ ...id, attempt: 2, ...text, units: 2 }));
  });
  test("that fails releases the bytes, so that they can be tried again", () => {
    given(extraction, [requested, started(1)])
      .when(fail(1))
      .then(failed);
    given(extraction, [requested, started(1), failed])
      .when(fail(1))
      .then();
    expect(extraction.claims!([failed])).toEqual({ hold: [], release: ["extraction:c1"] });
  });
  test("has no effect after the extraction was deleted or has expired", () => {
    for (const events of [
      [requested, started(1), deleted],
      [requested, started(1), expired],
    ]) {
      given(extraction, events).when(complete(1)).then();
      given(extraction, events).when(fail(1)).then();
      given(extraction, events).when(start(2)).then();
    }
    given(extraction, [requested, started(1)])
      .when({ ...complete(1), ...atItsEnd })
      .then();
    given(extraction, [requested])
      .when({ ...start(1), ...atItsEnd })
      .then();
  });
});

describe("the end of an extraction", () => {
  test("by deletion destroys the key and releases the bytes", () => {
    given(extraction, [requested]).when(remove).then(deleted);
    given(extraction, [requested, started(1), completed])
      .when(remove)
      .then(deleted);
    expect(extraction.claims!([deleted])).toEqual({ hold: [], release: ["extraction:c1"] });
    expect(extraction.erases!([deleted], "extraction-x1")).toEqual({ things: ["extraction-x1"] });
  });
  test("after a failure does not release the bytes a second time", () => {
    const gone = ExtractionDeleted.of({ ...id, content_claim: null });
    given(extraction, [requested, started(1), failed])
      .when(remove)
      .then(gone);
    expect(extraction.claims!([gone])).toEqual({ hold: [], release: [] });
  });
  test("by expiry happens at its time and not before", () => {
    const ready = given(extraction, [requested, started(1), completed]);
    ready.when({ ...expire, ...justBefore }).then();
    ready.when({ ...expire, ...atItsEnd }).then(expired);
    given(extraction, [requested])
      .when({ ...expire, ...atItsEnd })
      .then(expired);
    given(extraction, [requested, expired])
      .when({ ...expire, ...atItsEnd })
      .then();
    given(extraction)
      .when({ ...expire, ...atItsEnd })
      .then();
    expect(extraction.claims!([expired])).toEqual({ hold: [], release: ["extraction:c1"] });
    expect(extraction.erases!([expired], "extraction-x1")).toEqual({ things: ["extraction-x1"] });
  });
  test("by expiry makes it not found for its owner", () => {
    given(extraction).when(remove).rejected("extraction_not_found");
    given(extraction, [requested, deleted]).when(remove).rejected("extraction_not_found");
    given(extraction, [requested, expired]).when(remove).rejected("extraction_not_found");
    given(extraction, [requested])
      .when({ ...remove, ...atItsEnd })
      .rejected("extraction_not_found");
  });
});

test("the work status of an extraction shows open work with its worker, then the wait for its expiry", () => {
  const head = (events: Parameters<typeof given>[1]) => extraction.workStatus!(given(extraction, events).state);
  expect(head([requested])).toEqual({ status: "pending", due_at: expires_at, worker: "w1" });
  expect(head([requested, started(1)])).toEqual({ status: "processing", due_at: expires_at, worker: "w1" });
  expect(head([requested, started(1), completed])).toEqual({ status: "waiting", due_at: expires_at, worker: null });
  expect(head([requested, started(1), failed])).toEqual({ status: "waiting", due_at: expires_at, worker: null });
  expect(head([requested, deleted])).toEqual({ status: null, due_at: null, worker: null });
  expect(head([])).toEqual({ status: null, due_at: null, worker: null });
});
