import { expect, test } from "vitest";
import type { StreamHead } from "#events/ports.ts";
import { document } from "../../deciders/document.ts";
import type { WantedGeneration } from "./planChanges.ts";
import { createRefusedGenerations } from "./refusedGenerations.ts";

const text = { generation: 1, text: "t", passages: "p", units: 1 };
const refused = {
  stream: "document-1",
  document_id: "1",
  text,
  position: 4,
  version: 4,
  awaited: false,
} as WantedGeneration;

/** A log in which the document has been changed since it was refused. */
const logWith = (live: object) => {
  const state = { status: "ready", live };
  const head = { stream: refused.stream, position: 9, version: 5, state, state_version: document.version };
  return {
    heads: async () => new Map([[refused.stream, head as unknown as StreamHead]]),
    read: () => Promise.reject(new Error("the state is as new as the decider")),
  };
};

test("a refused document is tried again with all of its events up to now", async () => {
  const refusals = createRefusedGenerations({ onError: () => {} }, 0);
  refusals.note([refused], new Set([refused]));
  expect(await refusals.due(logWith(text))).toMatchObject([{ document_id: "1", position: 9, version: 5 }]);
});

test("a refused generation that was replaced is forgotten", async () => {
  const refusals = createRefusedGenerations({ onError: () => {} }, 0);
  refusals.note([refused], new Set([refused]));
  expect(await refusals.due(logWith({ ...text, generation: 2 }))).toEqual([]);
  expect(refusals.documents()).toEqual([]);
});
