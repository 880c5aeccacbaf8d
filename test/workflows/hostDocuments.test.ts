import { describe, expect, test } from "vitest";
import { Unavailable } from "#events/ports.ts";
import { expectRefused, failureOf, openStepAttempts } from "./stepAttempts.ts";

/* Documents and files that steps write, within the envelope. */

const platform = await openStepAttempts();
const mine = await platform.organization();
const notes = await mine.knowledge.collect("Notes");

const writer = (allowed: string[] = ["*"]) => mine.run({ writable_collections: allowed });
const uploads = () => platform.count("DocumentUploaded", mine.organization_id);

describe("push", () => {
  test("creates a document that search finds, once for all attempts of the step", async () => {
    const { attempt, retry } = await writer();
    const before = await uploads();
    const input = {
      collection: "Notes",
      text: "# Herons\n\nThe heron eats at dawn.\n",
      name: "herons.md",
      tags: ["birds"],
    };
    const pushed = await attempt().call("push", input);
    expect(pushed).toEqual({ document_id: expect.any(String), result: "created" });
    expect(await mine.knowledge.ended(pushed.document_id)).toMatchObject({
      status: "ready",
      name: "herons.md",
      tags: ["birds"],
    });
    const again = await (await retry(1)).call("push", input);
    expect(again).toEqual({ ...pushed, result: "unchanged" });
    expect(await uploads()).toBe(before + 1);
    const { results } = await attempt(2).call("search", { query: "heron dawn" });
    expect(results[0].document_id).toBe(pushed.document_id);
  });

  test("does not fail the step while the service lacks a dependency, until a call succeeds", async () => {
    const { call, wasUnavailable } = (await writer([notes])).attempt();
    const push = () => call("push", { collection: notes, external_id: "away", text: "Away for a moment." });
    const { handle } = platform.connection;
    try {
      platform.connection.handle = () => Promise.reject(new Unavailable("The bus is away."));
      expect(await failureOf(push())).toMatchObject({ code: "step_error", final: false });
      expect(wasUnavailable()).toBe(true);
      platform.connection.handle = () => Promise.reject(new Error("A defect."));
      await failureOf(push());
      expect(wasUnavailable()).toBe(false);
      platform.connection.handle = () => Promise.reject(new Unavailable("The bus is away."));
      await failureOf(push());
    } finally {
      platform.connection.handle = handle;
    }
    expect(await push()).toMatchObject({ result: "created" });
    expect(wasUnavailable()).toBe(false);
  });

  test("with an external_id creates versions of one document", async () => {
    const { call } = (await writer([notes])).attempt();
    const push = (text: string) =>
      call("push", { collection: notes, external_id: "page-1", text, metadata: { year: 2024 } });
    const first = await push("The first text.");
    await mine.knowledge.ended(first.document_id);
    expect(first.result).toBe("created");
    expect(await push("The second text.")).toEqual({ document_id: first.document_id, result: "replaced" });
    expect(await push("The second text.")).toEqual({ document_id: first.document_id, result: "unchanged" });
    expect(await mine.knowledge.ended(first.document_id)).toMatchObject({ metadata: { year: 2024 } });
  });

  test.each(["page-2", undefined])("of an unchanged text updates the metadata, external_id %s", async (external_id) => {
    const text = `Said about ${external_id}.`;
    const push = async (about: object) =>
      (await writer([notes])).attempt().call("push", { collection: notes, external_id, text, ...about });
    const { document_id } = await push({ name: "old", tags: ["old"], metadata: { year: 2024 } });
    await mine.knowledge.ended(document_id);
    const changed = { name: "new", tags: ["new"], metadata: { year: 2025 } };
    expect(await push(changed)).toEqual({ document_id, result: "unchanged" });
    await expect.poll(() => mine.knowledge.ended(document_id)).toMatchObject(changed);
    const changes = await platform.count("DocumentChanged", mine.organization_id);
    expect(await push(changed)).toEqual({ document_id, result: "unchanged" });
    expect(await push({})).toEqual({ document_id, result: "unchanged" });
    expect(await platform.count("DocumentChanged", mine.organization_id)).toBe(changes);
    expect(await push({ ...changed, format: "text" })).toEqual({ document_id, result: "replaced" });
    await expect.poll(() => mine.knowledge.ended(document_id)).toMatchObject({ mime_type: "text/plain", ...changed });
  });

  test("of a text that the collection already has returns that document", async () => {
    const text = "Twice the same.";
    const first = await (await writer()).attempt().call("push", { collection: notes, text });
    const other = await (await writer()).attempt().call("push", { collection: notes, text });
    expect(other).toEqual({ document_id: first.document_id, result: "unchanged" });
  });

  test("writes only if the envelope allows it, from the next call on", async () => {
    const { attempt, edit } = await mine.run();
    const { call } = attempt();
    const push = () => call("push", { collection: notes, text: "Refused." });
    const message = `push: collection: the collection ${notes} is not in the workflow's envelope.writable_collections.`;
    await expectRefused(push(), "collection_not_allowed", message);
    await edit({ writable_collections: [notes] });
    expect((await push()).result).toBe("created");
    await edit({ writable_collections: null });
    await expectRefused(push(), "collection_not_allowed", message);
    await expectRefused(call("push", { collection: "nowhere", text: "a" }), "step_error", "there is no collection");
  });

  test("stores no secret that the step has read", async () => {
    await mine.secret("pin", "hush-hush-4711");
    const { attempt } = await mine.run({ writable_collections: ["*"], secrets: ["pin"] });
    const { call, secret } = attempt();
    const pin = await secret("pin");
    const { document_id } = await call("push", { collection: notes, text: `The pin is ${pin}.` });
    await mine.knowledge.ended(document_id);
    expect((await call("read", { document_id })).text).toContain("The pin is [secret pin].");
  });
});

describe("remove", () => {
  test("deletes a document by its id or external id, and a deleted one is no error", async () => {
    const { call } = (await writer([notes])).attempt();
    const { document_id } = await call("push", { collection: notes, text: "To be removed.", external_id: "old" });
    const byName = { collection: notes, external_id: "old" };
    expect(await call("remove", byName)).toEqual({ document_id, removed: true });
    expect(await call("remove", byName)).toEqual({ document_id: null, removed: false });
    expect(await call("remove", { document_id })).toEqual({ document_id, removed: false });
  });

  test("deletes nothing outside the envelope or of another organization", async () => {
    const { document_id } = await (await writer()).attempt().call("push", { collection: notes, text: "Stays here." });
    const { call } = (await mine.run({ writable_collections: ["other"] })).attempt();
    await expectRefused(call("remove", { document_id }), "collection_not_allowed", "envelope.writable_collections");
    const stranger = await platform.organization("Stranger");
    const theirs = (await stranger.run({ writable_collections: ["*"] })).attempt();
    expect(await theirs.call("remove", { document_id })).toEqual({ document_id, removed: false });
    expect(await mine.knowledge.ended(document_id)).toMatchObject({ status: "ready" });
  });
});

describe("files", () => {
  test("are saved once for all attempts of the step, and read as text or base64", async () => {
    const { attempt, retry } = await mine.run();
    const { call } = attempt();
    const report = { name: "report.csv", text: "a;b\n1;2\n", mime_type: "text/csv" };
    const saved = await call("save_file", report);
    expect(saved).toEqual({ file_id: expect.any(String), name: "report.csv", mime_type: "text/csv", bytes: 8 });
    expect(await (await retry(1)).call("save_file", report)).toEqual(saved);
    expect(await platform.count("FileUploaded", mine.organization_id)).toBe(1);
    const next = attempt(2);
    expect(await next.call("read_file", { file_id: saved.file_id })).toEqual({ ...saved, content: report.text });
    const picture = await next.call("save_file", { name: "a.png", base64: "iVBORw0KGgr/" });
    expect(picture).toMatchObject({ mime_type: "application/octet-stream", bytes: 9 });
    const { content } = await next.call("read_file", { file_id: picture.file_id, as: "base64" });
    expect(content).toBe("iVBORw0KGgr/");
    const asText = await failureOf(next.call("read_file", { file_id: picture.file_id }));
    expect(asText.message).toBe('read_file: a.png is no text: read it with as: "base64".');
  });

  test("of another run are not found", async () => {
    const { file_id } = await (await mine.run()).attempt().call("save_file", { name: "a.txt", text: "a" });
    const stranger = await platform.organization("Reader");
    for (const { attempt } of [await mine.run(), await stranger.run()])
      await expectRefused(attempt().call("read_file", { file_id }), "step_error", `the run has no file ${file_id}`);
  });
});

test.each([
  ["push", { collection: "notes" }, "push: text: is required"],
  ["push", { text: "a" }, "push: collection: "],
  ["push", { collection: "notes", text: "a", tag: [] }, "tag"],
  ["push", { collection: "notes", text: "a", metadata: { a: [] } }, "push: metadata.a: "],
  ["remove", {}, "remove: document_id: is required, or collection and external_id instead"],
  ["remove", { collection: "notes" }, "remove: document_id: "],
  ["save_file", { name: "a/b", text: "a" }, "save_file: name: must be a name"],
  ["save_file", { name: "a" }, "save_file: text: is required, or base64 instead"],
  ["save_file", { name: "a", text: "" }, "save_file: text: must not be empty"],
  ["save_file", { name: "a", text: "a", base64: "YQ==" }, "save_file: text: is required, or base64 instead"],
  ["save_file", { name: "a", base64: "Y Q=" }, "save_file: base64: must be base64"],
  ["save_file", { name: "a", text: "ä".repeat(2_200_000) }, "save_file: text: must have 4 MiB at most"],
  ["read_file", { file_id: "a" }, "read_file: file_id: "],
] as const)("%s with %j is reported at once", async (what, input, message) => {
  const { call } = (await writer()).attempt();
  await expectRefused(call(what, input), "step_error", message);
});
