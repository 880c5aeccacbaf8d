import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import type { IndexedPassage } from "#services/knowledge/passageIndex.ts";
import { longestTurn } from "#test/computingTime.ts";
import { encodeBodies } from "./document.ts";

const MAX_TURN_MS = 50;

test("the passages of large documents are encoded in bodies of 2 MB, and the event loop gets its turn in between", async () => {
  const ids = { organization_id: newId(), collection_id: newId(), document_id: newId(), generation: 1 };
  const details = { metadata: {}, readers: null, mime_type: "text/markdown", created_at: new Date() };
  const text = "A sentence about nothing in particular. ".repeat(25);
  const passages = Array.from(
    { length: 20_000 },
    (_, seq): IndexedPassage => ({
      ...ids,
      ...details,
      name: "a.md",
      tags: [],
      seq,
      page: null,
      section: null,
      lead: "",
      text,
      start: seq * text.length,
    }),
  );
  const bodies: Buffer[] = [];
  const encode = async () => {
    for await (const body of encodeBodies(passages)) bodies.push(body);
  };
  expect(await longestTurn(encode)).toBeLessThan(MAX_TURN_MS);
  expect(Math.max(...bodies.map(({ length }) => length))).toBeLessThanOrEqual(2_000_000);
  const lines = bodies.flatMap((body) => body.toString().trimEnd().split("\n"));
  expect(lines.map((line) => JSON.parse(line).pk.split("_").at(-1))).toEqual(passages.map(({ seq }) => String(seq)));
});
