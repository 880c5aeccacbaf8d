import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Reply } from "../doubles/openai.ts";
import { pdfOf, show } from "#services/reading/pdf/testing/build.ts";
import { expectRefusal } from "../hostile/target.ts";
import { openLibrary } from "../knowledge/library.ts";
import { chunksOf, clientOf } from "./service.ts";

/* The tools of a chat completion (spec: Chat API, built-in tool names, limits, errors). */

const library = await openLibrary();
const provider = library.provider;
await library.collect("Staff");
await library.collect("Workshop Rules");
const pdf = await readFile(new URL("../../examples/handbook.pdf", import.meta.url));
const handbook: { id: string } = await library.keep("staff", { content: pdf, name: "handbook.pdf" });
const text = "# Keys\n\nThe key of the wind tunnel hangs behind the door.\n\n# Noise\n\nThe saw is off at night.\n";
const note: { id: string } = await library.keep("workshop-rules", { content: text, name: "rules.md" });
const { body } = await library.push("staff", { text: "The canteen closes at noon on Fridays.", name: "Canteen" });
const pushed: { id: string } = await library.ended(body.id);
const chat = clientOf({ chat: `${library.platform.url}/api/openai/v1` }, library.credentials.api_key);
beforeEach(() => {
  provider.requests.length = 0;
});
afterEach(() => void vi.useRealTimers());

const BOTH = ["search_documents", "read_document"];
const toolsOf = (...names: string[]) => names.map((name) => ({ type: "function", function: { name } }));
const complete = (body: object, headers?: Record<string, string>) => chat("POST", "/chat/completions", body, headers);
const ask = (content: string, more: object = {}) =>
  complete({ model: "offline/extractive", messages: [{ role: "user", content }], tools: toolsOf(...BOTH), ...more });
const script = (lines: string[], more: object = {}) => ask(lines.join("\n"), { model: "offline/scripted", ...more });
const tool = (name: string, args: object) => `/tool ${name} ${JSON.stringify(args)}`;

/** Scripts the answers of the provider; the last one repeats. */
const answers = (...replies: Reply[]) => {
  let n = 0;
  provider.script(({ method }) => (method === "POST" ? replies[Math.min(n++, replies.length - 1)] : undefined));
};
const asked = () => provider.requests.filter(({ method }) => method === "POST").map(({ body }) => body);

/** The answer to a request, buffered or streamed, in one shape. */
async function answered(streamed: boolean, body: object) {
  if (!streamed) {
    const { status, body: whole, text } = await complete(body);
    if (status !== 200) throw new Error(text);
    const [{ message, finish_reason }] = whole.choices;
    return { content: message.content, annotations: message.annotations, finish_reason, usage: whole.usage };
  }
  const { text } = await complete({ ...body, stream: true, stream_options: { include_usage: true } });
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  const chunks = chunksOf(text);
  const choices = chunks.flatMap((chunk) => chunk.choices);
  const reasons = choices.flatMap(({ finish_reason }) => finish_reason ?? []);
  expect(reasons).toHaveLength(1);
  expect(choices.at(-1).finish_reason).toBe(reasons[0]);
  return {
    content: choices.map(({ delta }) => delta.content ?? "").join(""),
    annotations: choices.flatMap(({ delta }) => delta.annotations ?? []),
    finish_reason: reasons[0],
    usage: chunks.at(-1).usage,
  };
}

describe.each([
  { way: "buffered", streamed: false },
  { way: "streamed", streamed: true },
])("an answer from documents, $way", ({ streamed }) => {
  test("quotes passages and cites their pages with the extractive model", async () => {
    const { content, annotations, finish_reason } = await answered(streamed, {
      model: "offline/extractive",
      messages: [{ role: "user", content: "How many days of paid leave do I have?" }],
      tools: toolsOf(...BOTH),
    });
    expect(content).toContain("28 days of paid leave");
    expect(finish_reason).toBe("stop");
    const { url, title, start_index, end_index } = annotations[0].url_citation;
    expect(title).toBe("handbook.pdf, p. 3");
    expect(url).toBe(`${library.platform.settings.BASE_URL}/api/v1/knowledge/documents/${handbook.id}/content#page=3`);
    expect(content.slice(start_index, end_index)).toContain("28 days of paid leave");
  });

  test("comes from a provider's model, which is called again with the results of its tools", async () => {
    answers(
      {
        text: "Let me look.",
        tool_calls: [
          { name: "search_documents", arguments: { query: "key of the wind tunnel" } },
          { name: "read_document", arguments: { document_id: note.id } },
        ],
      },
      { text: "Behind the door." },
    );
    const answer = await answered(streamed, {
      model: "openai/gpt-test",
      messages: [{ role: "user", content: "Where is the key?" }],
      tools: toolsOf(...BOTH),
    });
    expect(answer.content).toBe("Let me look.\n\nBehind the door.");
    expect(answer).toMatchObject({ finish_reason: "stop", usage: { prompt_tokens: 24, completion_tokens: 14 } });
    const [first, second] = asked();
    expect(first.tools.map((offer: any) => offer.function.name)).toEqual(BOTH);
    expect(second.messages.slice(0, 2)).toMatchObject([
      { role: "user", content: "Where is the key?" },
      { role: "assistant", content: "Let me look.", tool_calls: [{ id: "call_0" }, { id: "call_1" }] },
    ]);
    const [searched, read] = second.messages.slice(2).map(({ content }: any) => JSON.parse(content));
    expect(searched.results[0]).toMatchObject({
      document_id: note.id,
      document: "rules.md",
      collection: "Workshop Rules",
      section: "Keys",
      reference: "Keys",
      content: expect.stringContaining("behind the door"),
    });
    expect(read).toMatchObject({ document: "rules.md", next_seq: null, text: expect.stringContaining("# Noise") });
    expect(answer.annotations).toContainEqual({
      type: "url_citation",
      url_citation: {
        url: searched.results[0].url,
        title: "rules.md, Keys",
        start_index: 0,
        end_index: answer.content.length,
        document_id: note.id,
        version: 1,
        seq: 0,
        start: 0,
        end: searched.results[0].content.length,
      },
    });
  });
});

describe("the tool search_documents", () => {
  const searched = async (args: object, more: object = {}) => {
    answers({ tool_calls: [{ name: "search_documents", arguments: args }] }, { text: "Done" });
    const { status } = await ask("Go", { model: "openai/gpt-test", ...more });
    expect(status).toBe(200);
    return JSON.parse(asked().at(-1).messages.at(-1).content);
  };
  const names = ({ results }: { results: { document: string }[] }) => new Set(results.map(({ document }) => document));

  test("stays within the collections of the request, whatever the model names", async () => {
    const limited = { knowledge: { collections: ["WORKSHOP rules"] } };
    expect(names(await searched({ query: "paid leave key saw" }, limited))).toEqual(new Set(["rules.md"]));
    expect(await searched({ query: "leave", collections: ["staff"] }, limited)).toEqual({
      error: expect.stringContaining("workshop-rules"),
    });
    expect(await searched({ query: "leave", document_ids: [handbook.id] }, limited)).toEqual({ results: [] });
  });

  test("stays within the collections and documents that the model names", async () => {
    expect(names(await searched({ query: "key saw leave", collections: ["Workshop Rules"] }))).toEqual(
      new Set(["rules.md"]),
    );
    expect(names(await searched({ query: "noon canteen leave", document_ids: [pushed.id] }))).toEqual(
      new Set(["Canteen"]),
    );
    expect(await searched({ query: "leave", tags: ["none such"] })).toEqual({ results: [] });
  });

  test("says what a document lacks, once, and gives the header of a table that began before", async () => {
    const content = Buffer.from(pdfOf([show(72, 700, 10, "The bandsaw is oiled in May."), ""]));
    const { id } = await library.keep("workshop-rules", { content, name: "part.pdf" });
    const [best] = (await searched({ query: "bandsaw" })).results;
    expect(best).toMatchObject({ document_id: id, warnings: [expect.stringMatching(/^Page 2 has no text/)] });
    const rows = Array.from({ length: 120 }, (_, n) => `| Chisel ${n} | ${n * 7} |`).join("\n");
    const table_header = "| Tool | Price |\n| --- | --- |";
    const text = `${table_header}\n${rows}\n`;
    const { id: prices } = await library.keep("workshop-rules", { content: text, name: "prices.md" });
    const [hit] = (await searched({ query: "price 833" })).results;
    expect(hit).toMatchObject({ document_id: prices, table_header, content: expect.stringContaining("| 833 |") });
    expect(hit).not.toHaveProperty("warnings");
    const windows = [
      tool("read_document", { document_id: id }),
      tool("read_document", { document_id: prices, from_seq: hit.seq }),
    ];
    const answer = (await script(windows)).body.choices[0].message.content;
    expect(answer).toContain('"warnings":["Page 2 has no text');
    expect(answer).toContain(`"table_header":${JSON.stringify(table_header)}`);
  });

  test("returns at most 25 passages", async () => {
    const greased = (n: number) => `# Part ${n}\n\n${`The gearwheel number ${n} is greased in spring. `.repeat(20)}\n`;
    const text = Array.from({ length: 40 }, (_, n) => greased(n)).join("\n");
    await library.keep("workshop-rules", { content: text, name: "wheels.md" });
    expect((await searched({ query: "gearwheel" })).results).toHaveLength(8);
    expect((await searched({ query: "gearwheel", limit: 1_000 })).results).toHaveLength(25);
  });

  test("cites pushed text by the address at which it can be read", async () => {
    const [best] = (await searched({ query: "When does the canteen close on Fridays?" })).results;
    expect(best.url).toBe(
      `${library.platform.settings.BASE_URL}/api/v1/knowledge/documents/${pushed.id}/text?version=1#seq=0`,
    );
  });

  test("finds nothing of another organization", async () => {
    const other = await library.platform.organization("Others");
    const theirs = library.as(other.api_key);
    await theirs.collect("Staff");
    const call = clientOf({ chat: `${library.platform.url}/api/openai/v1` }, other.api_key);
    const lines = [
      tool("search_documents", { query: "paid leave", organization_id: "x" }),
      tool("search_documents", { query: "paid leave", document_ids: [handbook.id] }),
      tool("read_document", { document_id: handbook.id }),
    ];
    const { body } = await call("POST", "/chat/completions", {
      model: "offline/scripted",
      messages: [{ role: "user", content: lines.join("\n") }],
      tools: toolsOf(...BOTH),
    });
    const { content } = body.choices[0].message;
    expect(content).toContain(
      'search_documents: {"results":[]}\nsearch_documents: {"results":[]}\nread_document: {"error"',
    );
  });
});

describe("the tool read_document", () => {
  const windows = async (document_id: string, more: object = {}) => {
    const texts: string[] = [];
    for (let from_seq: number | null = 0; from_seq !== null; ) {
      answers({ tool_calls: [{ name: "read_document", arguments: { document_id, from_seq } }] }, { text: "Done" });
      await ask("Go", { model: "openai/gpt-test", ...more });
      const result: { text: string; next_seq: number | null } = JSON.parse(asked().at(-1).messages.at(-1).content);
      texts.push(result.text);
      from_seq = result.next_seq;
    }
    return texts;
  };

  test("returns a long document in windows that together form all of it", async () => {
    const text = Array.from(
      { length: 300 },
      (_, n) => `## Step ${n}\n\n${"Turn the screw to the left. ".repeat(12)}\n`,
    ).join("\n");
    const { id } = await library.keep("workshop-rules", { content: text, name: "long.md" });
    const texts = await windows(id);
    expect(texts.length).toBeGreaterThan(2);
    for (const window of texts) expect(window.length).toBeLessThanOrEqual(40_000);
    const whole = await library.call("GET", `/documents/${id}/text`);
    expect(texts.join("")).toBe(whole.body?.text ?? whole.text);
  });

  test.each([
    ["that is in no collection of the request", () => handbook.id, { knowledge: { collections: ["workshop-rules"] } }],
    ["that does not exist", () => "0198c0de-0000-7000-8000-00000000000a", {}],
    ["whose id is none", () => "handbook.pdf", {}],
  ])("returns an error to the model for a document %s", async (_, id, more) => {
    const { status, body } = await script([tool("read_document", { document_id: id() })], more);
    expect(status).toBe(200);
    expect(body.choices[0].message.content).toContain("There is no such document");
  });
});

describe("a turn with tools", () => {
  test("ends after ten rounds", async () => {
    answers({ text: "Again. ", tool_calls: [{ name: "search_documents", arguments: { query: "key" } }] });
    const { body } = await ask("Go", { model: "openai/gpt-test" });
    expect(asked()).toHaveLength(10);
    expect(body).toMatchObject({
      choices: [{ finish_reason: "stop", message: { content: "Again. ".repeat(10) } }],
      usage: { prompt_tokens: 120, completion_tokens: 70, total_tokens: 190 },
    });
  });

  test("continues if a tool fails, and the model reports it", async () => {
    const failing = [tool("search_documents", { limit: 3 }), "/tool web_search {}", "/tool read_document {nonsense"];
    const { status, body } = await script(failing);
    expect(status).toBe(200);
    expect(body.choices[0].message.content.split("\n")).toEqual([
      expect.stringContaining("do not fit: query"),
      expect.stringContaining("no tool of this name"),
      expect.stringContaining("not valid JSON"),
    ]);
  });

  test("continues if the search server is down", async () => {
    library.index.set("refusing");
    try {
      const { status, body } = await script([tool("search_documents", { query: "key" })]);
      expect(status).toBe(200);
      expect(body.choices[0].message.content).toContain("The index cannot be searched now.");
      const quoted = await ask("Where is the key of the wind tunnel?");
      expect(quoted.body.choices[0].message.content).toMatch(/^The search failed: The index cannot be searched now\./);
    } finally {
      library.index.set("open");
    }
  });

  test("sends a stream's headers before the model's first word, and an empty chunk every 10 s", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const held = Promise.withResolvers<ServerResponse>();
    answers({ tool_calls: [{ name: "search_documents", arguments: { query: "key" } }] }, { write: held.resolve });
    const body = { model: "openai/gpt-test", messages: [{ role: "user", content: "Go" }], tools: toolsOf(...BOTH) };
    const response = await fetch(`${library.platform.url}/api/openai/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${library.credentials.api_key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...body, stream: true }),
    });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    vi.advanceTimersByTime(30_000);
    (await held.promise).writeHead(400).end("{}");
    const text = await response.text();
    expect(text).toMatch(/^data: .*"role":"assistant"/);
    const idle = chunksOf(text).filter(({ choices }) => choices && Object.keys(choices[0].delta).length === 0);
    expect(idle.map(({ choices }) => choices[0].finish_reason)).toEqual([null, null, null]);
    expect(text).not.toMatch(/^:/m);
  });

  test("is a 502 if the provider fails after tools have run", async () => {
    answers({ tool_calls: [{ name: "search_documents", arguments: { query: "key" } }] }, { status: 400, body: {} });
    expectRefusal(await ask("Go", { model: "openai/gpt-test" }), 502, undefined);
  });

  test("passes its text, but none of its tools, to the next turn", async () => {
    answers(
      { text: "Let me look.", tool_calls: [{ name: "search_documents", arguments: { query: "key" } }] },
      { text: "Found." },
      { text: "Yes." },
    );
    const first = await ask("Where?", { model: "openai/gpt-test" });
    const headers = { "x-thread-id": first.headers.get("x-thread-id")! };
    await complete({ model: "openai/gpt-test", messages: [{ role: "user", content: "Sure?" }] }, headers);
    expect(asked().at(-1).messages).toEqual([
      { role: "user", content: "Where?" },
      { role: "assistant", content: "Let me look.\n\nFound." },
      { role: "user", content: "Sure?" },
    ]);
    expect(asked().at(-1)).not.toHaveProperty("tools");
  });

  test.each(["required", { type: "function", function: { name: "read_document" } }])(
    "with tool_choice %j is forced once",
    async (tool_choice) => {
      answers({ tool_calls: [{ name: "read_document", arguments: { document_id: note.id } }] }, { text: "Read." });
      await ask("Go", { model: "openai/gpt-test", tool_choice });
      expect(asked().map((body) => body.tool_choice)).toEqual([tool_choice, undefined]);
    },
  );

  test("offers no tools with tool_choice none", async () => {
    answers({ text: "No." });
    await ask("Go", { model: "openai/gpt-test", tool_choice: "none" });
    expect(asked()).toHaveLength(1);
    expect(asked()[0]).not.toHaveProperty("tools");
  });
});

describe("a request with tools is refused", () => {
  test.each([
    ["unknown_tool", { tools: toolsOf("search_documents", "coffee") }, "tools[1].function.name"],
    ["tool_not_configured", { tools: toolsOf("search_documents", "web_search") }, "tools[1].function.name"],
    ["unknown_collection", { knowledge: { collections: ["staff", "stuff"] } }, "knowledge.collections"],
    ["unknown_collection", { knowledge: { collections: [""] }, tools: null }, "knowledge.collections"],
    ["invalid_tool_choice", { tool_choice: "sometimes" }, "tool_choice"],
    ["invalid_tool_choice", { tool_choice: { type: "function", function: { name: "web_fetch" } } }, "tool_choice"],
  ])("with %s: %j", async (code, more, param) => {
    const answer = await ask("Go", more);
    expectRefusal(answer, 400, code);
    expect(answer.body.error.param).toBe(param);
  });

  test("for an unknown collection, with a list of the existing ones", async () => {
    const { body } = await ask("Go", { knowledge: { collections: ["stuff"] } });
    expect(body.error.message).toContain("staff, workshop-rules");
  });

  test("with more than 1,000 names of collections", async () => {
    const collections = Array.from({ length: 1_001 }, () => "staff");
    const answer = await ask("Go", { knowledge: { collections } });
    expectRefusal(answer, 400, undefined);
    expect(answer.body.error.param).toBe("knowledge.collections");
  });

  test("if the organization has no collection", async () => {
    const { api_key } = await library.platform.organization("Empty");
    const call = clientOf({ chat: `${library.platform.url}/api/openai/v1` }, api_key);
    for (const name of BOTH) {
      const messages = [{ role: "user", content: "Go" }];
      const answer = await call("POST", "/chat/completions", { model: "offline/echo", messages, tools: toolsOf(name) });
      expectRefusal(answer, 400, "tool_not_configured");
    }
  });
});
