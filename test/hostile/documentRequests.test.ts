import { describe, expect, test } from "vitest";
import { openReader } from "../knowledge/library.ts";
import { leavesWell, startTarget, UNKNOWN } from "./target.ts";

/* Invalid bodies, queries and paths of the Knowledge API are refused in the spec's error shape, or answered. */

const target = await startTarget();
const reader = openReader(target.platform.url, target.api_key);
const shelf = await reader.collect("Shelf");
const document = (await reader.keep(shelf, { content: "The only words.", name: "words.md" })).id;
leavesWell(() => target);

const odd: [string, unknown][] = [
  ["an empty body", ""],
  ["null", "null"],
  ["a list", "[]"],
  ["a string", '"x"'],
  ["broken JSON", '{"query": '],
  ["a key twice", '{"query":"a","query":"words","name":"a","name":"b","text":"a","text":"b"}'],
  ["a __proto__ field", '{"__proto__":{"x":1},"query":"words","name":"p","text":"p"}'],
  ["a constructor.prototype field", '{"constructor":{"prototype":{"x":1}},"query":"words","name":"p","text":"p"}'],
  ["10,000 brackets", `{"query":${"[".repeat(10_000)}${"]".repeat(10_000)}}`],
  [
    "numbers instead of texts",
    { query: 7, name: 7, text: 7, tags: 7, external_id: 7, collections: 7, document_ids: 7 },
  ],
  [
    "lists with values of wrong types",
    { query: "words", collections: [1, null], tags: [{}], document_ids: [[]], name: [], text: [] },
  ],
  [
    "NUL characters",
    { query: "wo\u0000rds", name: "a\u0000b", text: "a\u0000b", tags: ["\u0000"], external_id: "\u0000" },
  ],
  [
    "half a surrogate pair",
    '{"query":"\\ud800 words","name":"\\ud800","text":"\\udfff x","tags":["\\ud800"],"external_id":"\\ud800"}',
  ],
  [
    "names of 900 KB",
    { query: "w".repeat(900_000), name: "n".repeat(900_000), text: "t", external_id: "e".repeat(900_000) },
  ],
  ["10,000 tags", { query: "words", text: "x", name: "Tags", tags: Array.from({ length: 10_000 }, (_, n) => `t${n}`) }],
  [
    "10,000 ids",
    { query: "words", document_ids: Array(10_000).fill(UNKNOWN), collections: Array(10_000).fill("shelf") },
  ],
  ["fractional and huge limits", { query: "words", limit: 1.5, offset: 1e300, name: "Limits", text: "limits" }],
  ["limits as texts", { query: "words", limit: "8", offset: "x", name: "Limits in words", text: "limits" }],
];

const routes: [string, string, () => string][] = [
  ["POST", "a search", () => "/search"],
  ["POST", "a collection", () => "/collections"],
  ["PATCH", "a change of a collection", () => `/collections/${shelf}`],
  ["POST", "a push", () => `/collections/${shelf}/documents/text`],
  ["PATCH", "a change of a document", () => `/documents/${document}`],
];

describe.each(routes)("a hostile body of a request (%s %s)", (method, _what, path) => {
  test.each(odd)("gets an answer in the spec's shape: %s", async (_name, body) => {
    const sent = typeof body === "string" ? body : JSON.stringify(body);
    const answer = await reader.call(method, path(), sent, { "content-type": "application/json" });
    expect([200, 201, 202, 400, 413]).toContain(answer.status);
    if (answer.status < 400) return expect(answer.body).toEqual(expect.any(Object));
    expect(Object.keys(answer.body)).toEqual(["error"]);
    const { type, message, code } = answer.body.error;
    expect([type, message, code]).toEqual([
      "invalid_request_error",
      expect.stringMatching(/\S/),
      code === null ? null : expect.stringMatching(/^[a-z_]+$/),
    ]);
  });
});

test.each([
  ["GET", "/collections?limit=1&limit=2&offset[]=3"],
  ["GET", "/collections?limit=%00"],
  ["GET", "/collections/shelf/documents?status=ready&status=failed"],
  ["GET", "/collections/shelf/documents?status="],
  ["POST", `/documents/${UNKNOWN}/reprocess?reextract=maybe`],
  ["GET", "/documents/"],
  ["GET", "/documents"],
  ["GET", "/collections/shelf/"],
  ["PUT", "/collections/shelf"],
  ["GET", "/search"],
  ["POST", "/documents/%ff/reprocess"],
  ["GET", "/collections/%ff"],
])("%s %s gets an answer in the spec's shape", async (method, path) => {
  const { status, body } = await reader.call(method, path);
  expect([200, 400, 404, 405]).toContain(status);
  if (status >= 400)
    expect(body.error).toMatchObject({ type: expect.stringMatching(/_error$/), message: expect.any(String) });
});
