import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { chunksOf, clientOf } from "../http/service.ts";
import { openLibrary } from "./library.ts";

/* Every citation names the document, the version of its text, the passage and the characters that were read. */

const QUESTION = "How many days of paid leave do I have?";

const library = await openLibrary();
await library.collect("Staff");
const content = await readFile(new URL("../../examples/handbook.pdf", import.meta.url));
const handbook: { id: string } = await library.keep("staff", { content, name: "handbook.pdf" });
const owner = clientOf({ chat: `${library.platform.url}/api` }, await library.signIn());

const textOf = async ({ document_id, version }: { document_id: string; version: number }): Promise<string> =>
  (await library.call("GET", `/documents/${document_id}/text?version=${version}`)).text;

const PLACE = {
  document_id: expect.any(String),
  version: 1,
  seq: expect.any(Number),
  page: 3,
  start: expect.any(Number),
  end: expect.any(Number),
};

test("a hit gives the positions of its content and its highlights in the document", async () => {
  const { body } = await library.search({ query: "paid leave", highlights: true });
  const [{ document, passages }] = body.results;
  const text = await textOf({ document_id: document.id, version: document.version });
  for (const { content, start, end, highlights } of passages) {
    expect(text.slice(start, end)).toBe(content);
    for (const mark of highlights)
      expect(text.slice(mark.document_start, mark.document_end)).toBe(content.slice(mark.start, mark.end));
  }
  expect(passages[0].highlights.length).toBeGreaterThan(0);
  // the passage that the number names is around it
  const listed = await library.call("GET", `/documents/${document.id}/passages?from_seq=${passages[0].seq}&limit=1`);
  const [passage] = listed.body.data;
  expect([passage.start <= passages[0].start, passage.end >= passages[0].end]).toEqual([true, true]);
});

test("verify names the version that it compared", async () => {
  const { body } = await library.search({ query: "days of paid leave", limit: 1 });
  const [{ document, passages }] = body.results;
  const citations = [{ document_id: document.id, seq: passages[0].seq }];
  const verified = await library.call("POST", "/verify", { answer: "You have 28 days of paid leave.", citations });
  expect(verified.body.citations).toMatchObject([{ found: true, version: 1, document_id: document.id }]);
  const { source } = verified.body.sentences[0];
  expect((await textOf(source)).slice(source.start, source.end)).toBe(source.quote);
});

test("a chat cites the characters that its model has read, buffered and streamed", async () => {
  const tools = ["search_documents", "read_document"].map((name) => ({ type: "function", function: { name } }));
  const request = { model: "offline/extractive", messages: [{ role: "user", content: QUESTION }], tools };
  const path = `${library.platform.url}/api/openai/v1/chat/completions`;
  const buffered = await library.call("POST", path, request);
  const [{ url_citation }] = buffered.body.choices[0].message.annotations;
  expect(url_citation).toMatchObject({ ...PLACE, document_id: handbook.id, title: "handbook.pdf, p. 3" });
  expect((await textOf(url_citation)).slice(url_citation.start, url_citation.end)).toContain("28 days of paid leave");

  const { text } = await library.call("POST", path, { ...request, stream: true });
  const streamed = chunksOf(text).flatMap(({ choices }) => choices[0]?.delta.annotations ?? []);
  expect(streamed[0].url_citation).toMatchObject(PLACE);
});

test("an answer without citations of its model gets each passage that the tools returned, once", async () => {
  const words = [`/tool search_documents {"query": "leave sickness travel", "limit": 5}`, "/say Done."].join("\n");
  const tools = [{ type: "function", function: { name: "search_documents" } }];
  const path = `${library.platform.url}/api/openai/v1/chat/completions`;
  const messages = [{ role: "user", content: words }];
  const { body } = await library.call("POST", path, { model: "offline/scripted", messages, tools });
  const cited = body.choices[0].message.annotations.map((one: any) => one.url_citation);
  expect(cited.length).toBeGreaterThan(0);
  for (const one of cited) expect(one).toMatchObject({ ...PLACE, page: expect.any(Number), document_id: handbook.id });
  expect(new Set(cited.map(({ seq }: any) => seq)).size).toBe(cited.length);
});

test("an agent's answer cites the passages, and its trace names them", async () => {
  const tools = ["search_documents"];
  const { body: agent } = await owner("POST", "/agents", { name: "Staff", model: "offline/extractive", tools });
  const { body } = await owner("POST", `/agents/${agent.id}/v1/responses`, { input: QUESTION });
  const part = body.output.find(({ type }: any) => type === "message").content[0];
  expect(part.annotations[0]).toMatchObject({ type: "url_citation", ...PLACE, document_id: handbook.id });
  const { body: trace } = await owner("GET", `/turns/${body.id.replace("resp_", "")}/trace`);
  expect(trace.answer.citations[0]).toMatchObject(PLACE);
});
