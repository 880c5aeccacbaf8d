import { readFile } from "node:fs/promises";
import { strToU8, zipSync } from "fflate";
import { beforeAll, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { openLibrary, type Library } from "./library.ts";

/* POST /documents/batch: many uploads and pushes in one request. */

let library: Library;
let collection: string;
let n = 0;
beforeAll(async () => {
  library = await openLibrary();
  collection = await library.collect("Batches");
});

const send = (body: object, headers?: Record<string, string>) =>
  library.call("POST", "/documents/batch", body, headers);

/** A form; parts are in order. */
function formOf(parts: [name: string, value: string | File][]): FormData {
  const form = new FormData();
  form.append("collection", collection);
  for (const [name, value] of parts) form.append(name, value);
  return form;
}
const archive = (files: Record<string, string | Uint8Array>) =>
  new File(
    [
      zipSync(
        Object.fromEntries(
          Object.entries(files).map(([name, content]) => [
            name,
            typeof content === "string" ? strToU8(content) : content,
          ]),
        ),
      ),
    ],
    "all.zip",
  );
const fresh = (words = "Words"): string => `${words} ${++n}.`;
const outcome = (data: any[]) => data.map(({ name, result, error }) => [name, result, ...(error ? [error.code] : [])]);

test("a batch of texts is stored in order, and an invalid text does not affect the others", async () => {
  const known = fresh();
  await library.push(collection, { text: known });
  const documents = [
    { text: fresh(), name: "one", external_id: "e-1", tags: ["own"] },
    { text: "", name: "empty" },
    7,
    { text: known, name: "known" },
    { text: fresh(), readers: [{ person: "0198c0de-0000-7000-8000-00000000000a" }] },
    { text: fresh(), name: "last", metadata: { year: 2026 } },
  ];
  const { status, body } = await send({ collection, documents, tags: ["common"], metadata: { kind: "b" } });
  expect([status, body.accepted, body.unchanged, body.failed, body.complete]).toEqual([200, 2, 1, 3, true]);
  expect(outcome(body.data)).toEqual([
    ["one", "accepted"],
    ["empty", "failed", "empty_document"],
    ["documents[2]", "failed", "empty_document"],
    ["known", "unchanged"],
    ["documents[4]", "failed", null],
    ["last", "accepted"],
  ]);
  expect(body.data.map(({ index }: any) => index)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(body.data[1].error).toMatchObject({ param: "documents[1].text", type: "invalid_request_error" });
  expect(body.data[1].error.message).toContain("empty:");
  const [first, last] = [body.data[0].id, body.data[5].id];
  expect(await library.ended(first)).toMatchObject({ status: "ready", tags: ["own"], metadata: { kind: "b" } });
  expect(await library.ended(last)).toMatchObject({ tags: ["common"], metadata: { year: 2026 } });
});

test("files of a form are uploaded with the fields that precede them", async () => {
  const pdf = await readFile(new URL("../../examples/handbook.pdf", import.meta.url));
  const { status, body } = await send(
    formOf([
      ["tags", "form"],
      ["metadata", '{"year": 2025}'],
      ["file", new File([fresh()], "a.md")],
      ["file", new File([], "none.md")],
      ["other", new File([pdf], "handbook.pdf")],
      ["file", new File([Buffer.from([0, 1, 2, 3, 255, 254])], "x.bin")],
    ]),
  );
  expect(status).toBe(200);
  expect(outcome(body.data)).toEqual([
    ["a.md", "accepted"],
    ["none.md", "failed", "empty_document"],
    ["handbook.pdf", "accepted"],
    ["x.bin", "failed", "unsupported_file_type"],
  ]);
  const handbook = await library.ended(body.data[2].id);
  expect(handbook).toMatchObject({ status: "ready", tags: ["form"], metadata: { year: 2025 }, page_count: 5 });
});

test("each file of an archive becomes an entry, and archives within it are refused", async () => {
  const files = {
    "guide/": new Uint8Array(),
    "guide/start.md": fresh(),
    "guide/inner.zip": zipSync({ "a.txt": strToU8("a") }),
    "../out.md": "out",
    "plain.txt": fresh(),
  };
  const { body } = await send(formOf([["archive", archive(files)]]));
  expect(outcome(body.data)).toEqual([
    ["guide/start.md", "accepted"],
    ["guide/inner.zip", "failed", "unsupported_file_type"],
    ["../out.md", "failed", "invalid_archive_entry"],
    ["plain.txt", "accepted"],
  ]);
  expect((await library.ended(body.data[0].id)).name).toBe("start.md");
});

test("a damaged archive and a zip bomb end the batch, and the entries before are stored", async () => {
  const whole = Buffer.from(await archive({ "a.md": fresh(), "b.md": "b".repeat(9_000) }).arrayBuffer());
  const cut = new File([whole.subarray(0, 90)], "cut.zip");
  const damaged = await send(
    formOf([
      ["archive", cut],
      ["file", new File(["after"], "after.md")],
    ]),
  );
  expect(damaged.status).toBe(200);
  expect(damaged.body).toMatchObject({ complete: false, accepted: 1, failed: 1 });
  expect(damaged.body.data[1]).toMatchObject({ name: "cut.zip", error: { code: "invalid_archive" } });
  const bomb = await send(formOf([["archive", archive({ "ok.md": fresh(), "z.txt": new Uint8Array(40_000_000) })]]));
  expect(outcome(bomb.body.data)).toEqual([
    ["ok.md", "accepted"],
    ["all.zip", "failed", "archive_too_large"],
  ]);
});

test("a repeated request stores nothing twice, and another request under its key is refused entry by entry", async () => {
  const headers = { "idempotency-key": `batch-${Date.now()}` };
  const texts = { collection, documents: [{ text: fresh() }, { text: fresh() }] };
  const first = await send(texts, headers);
  const again = await send(texts, headers);
  const ids = ({ body }: typeof first) => body.data.map(({ id }: any) => id);
  expect(ids(again)).toEqual(ids(first));
  expect(again.body.accepted).toBe(2);
  const other = await send({ collection, documents: [{ text: fresh() }] }, headers);
  expect(outcome(other.body.data)).toEqual([["documents[0]", "failed", "idempotency_key_reused"]]);

  const form = () =>
    formOf([["archive", archive({ "a.md": `Same ${headers["idempotency-key"]}.`, "b.md": "Same too." })]]);
  const key = { "idempotency-key": `form-${Date.now()}` };
  const [one, two] = [await send(form(), key), await send(form(), key)];
  expect(ids(two)).toEqual(ids(one));
  expect(one.body.accepted + one.body.unchanged).toBe(2);
});

test("the examples of docs/documents.md run, and return the documented answers", async () => {
  const page = await readFile(new URL("../../docs/documents.md", import.meta.url), "utf8");
  const blocks = [
    ...page.matchAll(/```http\n(\S+) \/api\/v1\/knowledge(\S+)\n(?:\n([^`]+))?```\n\n```json\n([^`]+)```/g),
  ];
  expect(blocks).toHaveLength(2);
  await library.collect("Handbook");
  for (const [, method = "", path = "", body, shows = ""] of blocks) {
    const answer = await library.call(method, path, body && JSON.parse(body));
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject(JSON.parse(shows));
  }
});

test("an error of the whole batch request refuses all entries", async () => {
  expectRefusal(await send({ collection: "nowhere", documents: [{ text: "x" }] }), 404, "collection_not_found");
  expect((await send({ collection, documents: [] })).body.error.param).toBe("documents");
  expect(
    (await send({ collection, documents: Array.from({ length: 501 }, () => ({ text: "x" })) })).body.error.param,
  ).toBe("documents");
  expect((await send({ documents: [{ text: "x" }] })).body.error.param).toBe("collection");
  const late = await send(
    formOf([
      ["file", new File([fresh()], "a.md")],
      ["tags", "late"],
    ]),
  );
  expect([late.status, late.body.error.param]).toEqual([400, "tags"]);
  expectRefusal(await send(formOf([["tags", "x"]])), 400, "missing_file");
  const text = await library.call("POST", "/documents/batch", "x", { "content-type": "text/plain" });
  expect([text.status, text.body.error.message]).toEqual([400, "The body must be JSON or multipart/form-data."]);
});
