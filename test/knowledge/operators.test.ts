import { expect, test } from "vitest";
import { openLibrary } from "./library.ts";

const library = await openLibrary();
await library.collect("Walks");
const keep = async (name: string, text: string) => {
  const { body } = await library.push("walks", { text, name });
  expect((await library.ended(body.id)).status).toBe("ready");
};
const chapters = Array.from({ length: 6 }, (_, n) => `# Walk ${n}\n\n${"A walk along the river. ".repeat(40)}`);
await keep("river", chapters.join("\n\n"));
await keep("pier", "The walk ends at the old pier.");
await keep("hill", "A walk over the hill. The pier is not old.");

const ask = async (body: object) => {
  const answer = await library.search({ limit: 50, ...body });
  expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  return answer.body;
};
const names = async (query: string) => (await ask({ query })).results.map(({ document }: any) => document.name).sort();

test("words in quotes must occur as a phrase, and excluded words must not occur", async () => {
  expect(await names("walk")).toEqual(["hill", "pier", "river"]);
  expect(await names('walk "old pier"')).toEqual(["pier"]);
  expect(await names('"pier old"')).toEqual([]);
  expect(await names("walk -river")).toEqual(["hill", "pier"]);
  expect(await names('walk -"old pier" -river')).toEqual(["hill"]);
  expect(await names('walk "the pier is" -hill')).toEqual([]);
});

test("a query is never refused for its operators; invalid operators are searched as words", async () => {
  expect(await names("-walk")).toEqual(["hill", "pier", "river"]);
  expect(await names(`walk ${"-zebra ".repeat(11)}`)).toEqual(["hill", "pier", "river"]);
  expect(await names(`walk ${'"a b" '.repeat(6)}`)).toEqual([]);
});

test("pages of a query with operators together contain the whole result", async () => {
  const query = "walk -pier";
  const seqs = ({ results }: any) => results.flatMap((one: any) => one.passages.map(({ seq }: any) => seq));
  const whole = seqs(await ask({ query }));
  expect(whole.length).toBeGreaterThan(4);
  const pages = [0, 2, 4].map((offset) => ask({ query, offset, limit: 2 }));
  expect((await Promise.all(pages)).flatMap(seqs)).toEqual(whole.slice(0, 6));
});

test("grouped by document, each document appears once with its best passage, and limit counts documents", async () => {
  const { results, has_more } = await ask({ query: "walk river", group_by: "document", limit: 2 });
  expect(results).toHaveLength(2);
  expect(has_more).toBe(true);
  expect(results[0]).toMatchObject({ document: { name: "river" }, passages: [expect.anything()] });
  expect(results[0].more_passages).toBeGreaterThanOrEqual(5);
  expect(results[1]).toMatchObject({ more_passages: 0 });
  const next = await ask({ query: "walk river", group_by: "document", limit: 2, offset: 2 });
  expect([next.results.length, next.has_more]).toEqual([1, false]);
  const { status, body } = await library.search({ query: "walk", group_by: "page" });
  expect([status, body.error.param]).toEqual([400, "group_by"]);
});

test("highlights are the positions of the words in the content", async () => {
  const { results } = await ask({ query: "walks pier", highlights: true });
  const pier = results.find(({ document }: any) => document.name === "pier").passages[0];
  const marked = pier.highlights.map(({ start, end }: any) => pier.content.slice(start, end));
  expect(marked).toEqual(["walk", "pier"]);
  expect((await ask({ query: "walk" })).results[0].passages[0]).not.toHaveProperty("highlights");
});
