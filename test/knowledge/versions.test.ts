import { expect, test } from "vitest";
import { openLibrary } from "./library.ts";

const library = await openLibrary();
await library.collect("Rules");

test("a cited version stays readable after the text was replaced, until the document is deleted", async () => {
  const push = async (text: string) => {
    const { body } = await library.push("rules", { external_id: "rule", text });
    return (await library.ended(body.id)).id as string;
  };
  const search = async (query: string) => (await library.search({ query })).body.results[0];
  const id = await push("# Leave\n\nEmployees get 24 days of leave.");
  const cited = await search("days of leave");
  expect(cited.document).toMatchObject({ id, version: 1 });
  const { seq } = cited.passages[0];
  // cutting it again must not take the cited text away
  await library.call("POST", `/documents/${id}/reprocess`);
  expect((await library.ended(id)).status).toBe("ready");
  await push("# Leave\n\nEmployees get 30 days of leave.\n\n# Pay\n\nMonthly.");
  await expect.poll(async () => (await search("days of leave")).document.version, { timeout: 20_000 }).toBe(3);

  // version 1 was cut again: version 2 is the same text
  const versions = (await library.call("GET", `/documents/${id}/versions`)).body;
  expect(versions.data.map(({ version, current }: any) => [version, current])).toEqual([
    [3, true],
    [2, false],
  ]);
  for (const { indexed_at } of versions.data) expect(Date.parse(indexed_at)).toBeLessThanOrEqual(Date.now());
  expect((await library.call("GET", `/documents/${id}/versions?limit=1`)).body).toMatchObject({ total: 2, limit: 1 });
  const read = (path: string) => library.call("GET", `/documents/${id}/${path}`);
  expect((await read("text")).text).toContain("30 days");
  expect((await read("text?version=3")).text).toContain("30 days");
  expect((await read("text?version=1")).text).toContain("24 days");
  const passages = (await read("passages?version=1")).body;
  expect(passages.data[seq].text).toContain("24 days");
  expect(passages.total).toBe(passages.data.length);

  const verified = async (version?: number) => {
    const citations = [{ document_id: id, seq, ...(version !== undefined && { version }) }];
    const { body } = await library.call("POST", "/verify", { answer: "Employees get 24 days of leave.", citations });
    return [body.supported, body.citations[0].found];
  };
  expect(await verified(1)).toEqual([1, true]);
  expect(await verified()).toEqual([0, true]);
  expect(await verified(9)).toEqual([0, false]);

  expect((await read("text?version=9")).body.error.code).toBe("no_extracted_text");
  for (const version of ["0", "x", "-1", "1".repeat(20)])
    expect((await read(`text?version=${version}`)).body.error.param, version).toBe("version");
  expect((await library.call("DELETE", `/documents/${id}`)).status).toBe(204);
  expect((await read("text?version=1")).status).toBe(404);
});
