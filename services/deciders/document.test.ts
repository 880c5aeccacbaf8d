import { describe, expect, test } from "vitest";
import {
  DocumentChanged,
  DocumentDeleted,
  DocumentIndexed,
  DocumentRead,
  DocumentReplaced,
  DocumentReprocessed,
  DocumentUploaded,
  IndexingFailed,
  ReadingFailed,
  ReadingStarted,
} from "#events/document.ts";
import { command, given } from "#test/given.ts";
import type { Decider } from "#events/decider.ts";
import type { NewEvent } from "#events/define.ts";
import { document as decider } from "./document.ts";
import type { StoredDocument } from "./documentState.ts";

const document: Decider<any, any, any> = decider;
const id = { document_id: "d1" };
const original = {
  mime_type: "application/pdf",
  size_bytes: 9,
  original: "file" as const,
  blob: "b1",
  content_claim: "c1",
};
const placed = { ...id, collection_id: "k1", source: "api" as const, external_claim: "e1" };
const described = { name: "a.pdf", tags: ["x"], sha256: "ff" };
const text = { text: "t1", passages: "p1", page_count: 4, chunk_count: 2, characters: 10 };
const indexed_at = "2026-01-01T00:00:01.000Z";

const uploaded = DocumentUploaded.of(
  { ...placed, ...original, generation: 1, worker: "w1" },
  { ...described, external_id: "mine" },
);
const pushed = { ...uploaded, data: { ...uploaded.data, original: "text" as const } };
const started = (attempt = 1, generation = 1) => ReadingStarted.of({ ...id, generation, attempt, worker: "w1" });
const read = (generation = 1, more = {}) => DocumentRead.of({ ...id, generation, attempt: 1, ...text, ...more });
const unreadable = (generation = 1) => ReadingFailed.of({ ...id, generation, attempt: 1 }, { error: "torn" });
const indexed = (generation = 1, units = 4, unused: string[] = []) =>
  DocumentIndexed.of({ ...id, generation, indexed_at, units, unused });
const notIndexed = IndexingFailed.of({ ...id, generation: 1 }, { error: "no" });
const second = { ...original, blob: "b2", content_claim: "c2" };
const replaced = DocumentReplaced.of(
  { ...id, ...second, generation: 2, worker: "w1", released_claim: "c1" },
  { ...described, sha256: "ee" },
);
const again = (reextract: boolean, generation = 2) =>
  DocumentReprocessed.of({ ...id, generation, worker: "w1", reextract });
const deleted = DocumentDeleted.of({ ...id, collection_id: "k1", content_claim: "c1", external_claim: "e1" });
const ready = [uploaded, started(), read(), indexed()];

const worker = { worker: "w1" };
const upload = command("UploadDocument", { ...placed, ...original, ...described, external_id: "mine" }, worker);
const replace = command("ReplaceDocument", { ...id, ...second, ...described, sha256: "ee" }, worker);
const reprocess = (reextract: boolean) => command("ReprocessDocument", { ...id, reextract }, worker);
const change = (data: object) => command("ChangeDocument", { ...id, ...data });
const remove = command("DeleteDocument", id);
const start = (attempt: number, generation = 1) =>
  command("StartReading", { ...id, generation, attempt, worker: "w1" });
const record = (generation = 1, attempt = 1) => command("RecordText", { ...id, generation, attempt, ...text });
const failReading = (generation = 1, attempt = 1) =>
  command("FailReading", { ...id, generation, attempt, error: "torn" });
const confirm = (generation = 1) => command("ConfirmIndexed", { ...id, generation, indexed_at });
const failIndexing = (generation = 1) => command("FailIndexing", { ...id, generation, error: "no" });

describe("uploading a document", () => {
  test("claims its bytes and the caller's id, and gives the work to the handling worker", () => {
    given(document).when(upload).then(uploaded);
    given(document)
      .when({ ...upload, worker: undefined })
      .then({ ...uploaded, data: { ...uploaded.data, worker: null } });
    expect(document.claims!([uploaded])).toEqual({
      hold: [
        { name: "content:c1", rejection: expect.objectContaining({ code: "identical_content" }) },
        { name: "external:e1", rejection: expect.objectContaining({ code: "external_id_taken" }) },
      ],
      release: [],
    });
    const plain = { ...uploaded, data: { ...uploaded.data, external_claim: null } };
    expect(document.claims!([plain]).hold.map(({ name }) => name)).toEqual(["content:c1"]);
  });
  test("is possible only once per id", () => {
    given(document, [uploaded]).when(upload).rejected("document_exists");
    given(document, [uploaded, deleted]).when(upload).rejected("document_exists");
  });
});

describe("replacing a document", () => {
  test("claims the new bytes and releases the old ones in every state", () => {
    for (const events of [[uploaded], [uploaded, started()], ready, [uploaded, started(), unreadable()]])
      given(document, events).when(replace).then(replaced);
    expect(document.claims!([replaced])).toEqual({
      hold: [{ name: "content:c2", rejection: expect.objectContaining({ code: "identical_content" }) }],
      release: ["content:c1"],
    });
  });
  test("with the same bytes changes nothing, or tries a failed document again", () => {
    const same = command("ReplaceDocument", { ...id, ...original, ...described }, worker);
    given(document, ready).when(same).then();
    given(document, [uploaded]).when(same).then();
    given(document, [uploaded, started(), unreadable()]).when(same).then(again(false));
  });
  test("by the same text in another format reads it again and keeps its claim", () => {
    const plain = { ...original, original: "text" as const, mime_type: "text/plain", blob: "b3" };
    const same = command("ReplaceDocument", { ...id, ...plain, ...described }, worker);
    const reread = DocumentReplaced.of(
      { ...id, ...plain, generation: 2, worker: "w1", released_claim: "c1" },
      described,
    );
    given(document, [pushed, started(), read(), indexed()]).when(same).then(reread);
    given(document, [pushed, reread]).when(same).then();
    expect(document.claims!([reread])).toEqual({ hold: [], release: [] });
    // a file is identified by its bytes
    given(document, ready).when(same).then();
  });
  test("by a file with the bytes of a pushed text keeps its claim, and the text does not replace the file", () => {
    const file = { ...original, original: "file" as const, blob: "b4" };
    const same = command("ReplaceDocument", { ...id, ...file, ...described }, worker);
    const kept = DocumentReplaced.of({ ...id, ...file, generation: 2, worker: "w1", released_claim: "c1" }, described);
    given(document, [pushed, started(), read(), indexed()]).when(same).then(kept);
    expect(document.claims!([kept])).toEqual({ hold: [], release: [] });
    const text = command("ReplaceDocument", { ...id, ...original, original: "text", ...described }, worker);
    given(document, [pushed, kept]).when(text).then();
  });
  test("makes late results for the old bytes have no effect", () => {
    const moved = given(document, [uploaded, started(), replaced]);
    moved.when(record()).then();
    moved.when(failReading()).then();
    given(document, [uploaded, started(), read(), replaced]).when(confirm()).then();
    given(document, [uploaded, started(), read(), replaced]).when(failIndexing()).then();
    moved.when(start(1, 2)).then(started(1, 2));
  });
});

describe("reading a document", () => {
  test("is started by one worker per attempt", () => {
    given(document, [uploaded]).when(start(1)).then(started());
    given(document, [uploaded]).when(start(2)).then();
    given(document, [uploaded, started()]).when(start(1)).then();
    given(document, [uploaded, started()]).when(start(2)).then(started(2));
    given(document, [uploaded, started(), read()]).when(start(2)).then();
  });
  test("ends only once, with a text or an error", () => {
    given(document, [uploaded, started()]).when(record()).then(read());
    given(document, [uploaded, started()]).when(failReading()).then(unreadable());
    given(document, [uploaded]).when(record()).then();
    given(document, [uploaded, started(), read()]).when(record()).then();
    given(document, [uploaded, started(), unreadable()]).when(record()).then();
  });
  test("changes nothing if another worker has taken it over", () => {
    const taken = given(document, [uploaded, started(), started(2)]);
    taken.when(record()).then();
    taken.when(failReading()).then();
    taken.when(record(1, 2)).then({ ...read(), data: { ...read().data, attempt: 2 } });
  });
});

describe("indexing a document", () => {
  test("makes it ready only once", () => {
    given(document, [uploaded, started(), read()]).when(confirm()).then(indexed());
    given(document, ready).when(confirm()).then();
    given(document, [uploaded, started()]).when(confirm()).then();
  });
  test("that fails keeps the live generation", () => {
    given(document, [uploaded, started(), read()]).when(failIndexing()).then(notIndexed);
    given(document, ready).when(failIndexing()).then();
    const { state } = given(document, [...ready, again(false), started(1, 2), unreadable(2)]);
    expect((state as StoredDocument).live).toEqual({ generation: 1, text: "t1", passages: "p1", units: 4 });
  });
  test("lists the blobs of superseded generations as unused", () => {
    const recut = [...ready, again(false), started(1, 2), read(2, { passages: "p2" })];
    given(document, recut)
      .when(confirm(2))
      .then(indexed(2, 0, ["p1"]));
    const anew = [...ready, replaced, started(1, 2), read(2, { text: "t2", passages: "p2" })];
    given(document, anew)
      .when(confirm(2))
      .then(indexed(2, 4, ["b1"]));
    const { state } = given(document, [...anew, indexed(2, 4, ["b1"])]);
    expect(state).toMatchObject({ blobs: ["t1", "p1", "b2", "t2", "p2"], earlier: [{ generation: 1 }] });
  });
  test("forgets replaced texts whose blobs a version before this one deleted", () => {
    const anew = [...ready, replaced, started(1, 2), read(2, { text: "t2", passages: "p2" })];
    const { state } = given(document, [...anew, indexed(2, 4, ["b1", "t1", "p1"])]);
    expect(state).toMatchObject({ blobs: ["b2", "t2", "p2"], earlier: [] });
  });
  test("keeps the texts that twenty replacements replaced", () => {
    const events = Array.from({ length: 25 }, (_, n) => {
      const next = { generation: n + 2, blob: `b${n + 2}`, released_claim: "c" };
      const texts = { text: `t${n + 2}`, passages: `p${n + 2}` };
      return [
        { ...replaced, data: { ...replaced.data, ...next } },
        started(1, n + 2),
        read(n + 2, texts),
        indexed(n + 2),
      ];
    });
    const { state } = given(document, [...ready, ...events.flat()] as typeof ready);
    const { earlier } = state as StoredDocument;
    expect(earlier.map(({ generation }) => generation)).toEqual(Array.from({ length: 20 }, (_, n) => n + 6));
  });
});

describe("a charge for a document", () => {
  const units = (events: Parameters<typeof given>[1], generation: number) =>
    document
      .decide(confirm(generation), given(document, events).state)
      .map(({ data }) => (data as { units: number }).units);
  test("is made for a reading that the caller requested", () => {
    expect(units([...ready, again(true), started(1, 2), read(2)], 2)).toEqual([4]);
    expect(units([...ready, again(false), started(1, 2), read(2)], 2)).toEqual([0]);
    expect(units([...ready, replaced, started(1, 2), read(2)], 2)).toEqual([4]);
  });
  test("is made once, when a reading that failed before succeeds", () => {
    const retried = [uploaded, started(), read(), notIndexed, again(false), started(1, 2), read(2)];
    expect(units(retried, 2)).toEqual([4]);
    expect(units([...retried, indexed(2), again(false, 3), started(1, 3), read(3)], 3)).toEqual([0]);
  });
  test("is made once for a file that was read again, when indexing that reading failed before", () => {
    const failed = { ...notIndexed, data: { ...notIndexed.data, generation: 2 } };
    const reread = [...ready, again(true), started(1, 2), read(2), failed, again(false, 3), started(1, 3), read(3)];
    expect(units(reread, 3)).toEqual([4]);
    expect(units([...reread, indexed(3), again(false, 4), started(1, 4), read(4)], 4)).toEqual([0]);
  });
  test("is not made for cutting the text again after a failed reading", () => {
    const cut = [...ready, again(true), started(1, 2), unreadable(2), again(false, 3), started(1, 3), read(3)];
    expect(units(cut, 3)).toEqual([0]);
  });
  test("is one unit per page, or per 3,000 characters", () => {
    const long = (characters: number) => [uploaded, started(), read(1, { page_count: null, characters })];
    expect([0, 3_000, 3_001].map((characters) => units(long(characters), 1)[0])).toEqual([1, 1, 2]);
  });
});

describe("reprocessing a document", () => {
  test("starts a new generation of a ready or failed document", () => {
    given(document, ready).when(reprocess(false)).then(again(false));
    given(document, ready).when(reprocess(true)).then(again(true));
    given(document, [uploaded, started(), unreadable()]).when(reprocess(true)).then(again(true));
    given(document, [uploaded, started(), read(), notIndexed]).when(reprocess(false)).then(again(false));
  });
  test("keeps the languages that a text was recognized in, until the original is replaced or read in others", () => {
    const inGerman = [uploaded, started(), read(1, { ocr_languages: ["deu"] }), indexed()];
    const stateAfter = (...events: NewEvent[]) => given(document, [...inGerman, ...events]).state as StoredDocument;
    expect(stateAfter(again(true)).text?.ocr_languages).toEqual(["deu"]);
    expect(stateAfter(again(true))).not.toHaveProperty("ocr_languages");
    expect(given(document, [...inGerman, replaced]).state).toMatchObject({ text: null });
    const reread = command("RereadDocument", { ...id, ocr_languages: ["fra", "eng"] }, worker);
    const { data } = again(true);
    const inFrench = { ...again(true), data: { ...data, ocr_languages: ["fra", "eng"] } };
    given(document, inGerman).when(reread).then(inFrench);
    expect(stateAfter(inFrench).ocr_languages).toEqual(["fra", "eng"]);
    const repeated = stateAfter(inFrench, started(1, 2), unreadable(2), again(true, 3));
    expect(repeated).not.toHaveProperty("ocr_languages");
  });
  test("in other languages is rejected as any other", () => {
    const reread = command("RereadDocument", { ...id, ocr_languages: ["fra"] }, worker);
    given(document, [uploaded]).when(reread).rejected("already_processing");
    given(document, [pushed, started(), read(), indexed()]).when(reread).rejected("no_stored_file");
  });
  test("is rejected while the document is being processed", () => {
    for (const events of [[uploaded], [uploaded, started()], [uploaded, started(), read()], [...ready, again(false)]])
      given(document, events).when(reprocess(false)).rejected("already_processing");
  });
  test("cannot read a file again if only text was pushed", () => {
    const text = [pushed, started(), read(), indexed()];
    given(document, text).when(reprocess(true)).rejected("no_stored_file");
    given(document, text).when(reprocess(false)).then(again(false));
  });
  test("keeps the text of the same original, and drops the text of a replaced one", () => {
    const textAfter = (events: Parameters<typeof given>[1]) => (given(document, events).state as StoredDocument).text;
    expect(textAfter([...ready, again(true), started(1, 2), unreadable(2)])?.text).toBe("t1");
    expect(textAfter([...ready, replaced])).toBeNull();
  });
});

describe("changing a document", () => {
  test("records the new name or tags", () => {
    given(document, ready)
      .when(change({ name: "b.pdf" }))
      .then(DocumentChanged.of(id, { name: "b.pdf" }));
    given(document, [uploaded])
      .when(change({ tags: [] }))
      .then(DocumentChanged.of(id, { tags: [] }));
    given(document, ready).when(change({})).then();
  });
  test("does not affect its processing", () => {
    const { state } = given(document, [uploaded]);
    expect(document.evolve(state, DocumentChanged.of(id, { tags: [] }))).toEqual(state);
  });
});

describe("deleting a document", () => {
  test("releases its claims and destroys its key", () => {
    given(document, ready).when(remove).then(deleted);
    expect(document.claims!([deleted])).toEqual({ hold: [], release: ["content:c1", "external:e1"] });
    const now = DocumentDeleted.of({ ...deleted.data, content_claim: "c2", external_claim: null });
    expect(document.claims!([now])).toEqual({ hold: [], release: ["content:c2"] });
    given(document, [...ready, replaced])
      .when(remove)
      .then({ ...deleted, data: { ...deleted.data, content_claim: "c2" } });
    expect(document.erases!([deleted], "document-d1")).toEqual({ things: ["document-d1"] });
  });
  test("makes all late results have no effect", () => {
    const gone = given(document, [uploaded, started(), read(), deleted]);
    for (const late of [start(2), record(), failReading(), confirm(), failIndexing()]) gone.when(late).then();
  });
  test("twice, or without an upload, is rejected as not found", () => {
    for (const events of [[], [uploaded, deleted]])
      for (const request of [replace, reprocess(false), change({ name: "b" }), remove])
        given(document, events).when(request).rejected("not_found");
  });
});

test("the work status of a document shows a queued or running reading and its worker", () => {
  const head = (events: Parameters<typeof given>[1]) => document.workStatus!(given(document, events).state);
  const idle = { status: null, due_at: null, worker: null };
  expect(head([uploaded])).toEqual({ status: "pending", due_at: null, worker: "w1" });
  expect(head([uploaded, started()])).toEqual({ status: "processing", due_at: null, worker: "w1" });
  expect(head([...ready, again(false)])).toEqual({ status: "pending", due_at: null, worker: "w1" });
  for (const events of [
    [],
    [uploaded, started(), read()],
    ready,
    [uploaded, started(), unreadable()],
    [uploaded, deleted],
  ])
    expect(head(events)).toEqual(idle);
});
