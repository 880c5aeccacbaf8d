import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { eventCheckRoute } from "./eventCheck.ts";
import { eventHistogramRoute } from "./eventHistogram.ts";
import { findRoute } from "./find.ts";
import { usageLabelRoutes, usageRoutes } from "./usage.ts";

type Handler = (request: object, reply: object) => Promise<unknown>;

/** A known thing is found by an index. Everything else is a long read. */
const KNOWN = newId();

/** What a request does, in order: it takes a place among the long reads of its organization, and it reads. */
async function stepsOf(path: string, query: object): Promise<string[]> {
  const steps: string[] = [];
  const read = (result: unknown) => async () => {
    steps.push("read");
    return result;
  };
  const http = {
    keyring: { sealNumber: () => "cursor" },
    waitUntilCurrent: async () => {},
    readEventHistogram: read({ seconds: 1, isComplete: true, bars: [] }),
    checkChain: read({ events: [], broken: undefined }),
    idFinder: { things: async () => [{ kind: "run", id: KNOWN }], ofRequest: read([]) },
    db: { query: read([{ total: 1, rows: null, group: null, name: null }]) },
  };
  const handlers = new Map<string, Handler>();
  const app = { get: (at: string, _options: object, handler: Handler) => void handlers.set(at, handler) };
  for (const add of [eventHistogramRoute, eventCheckRoute, findRoute, usageRoutes, usageLabelRoutes])
    add(app as never, http as never);
  const acquireLongRead = async () => void steps.push("place");
  await handlers.get(path)!({ caller: { organization_id: newId() }, query, acquireLongRead }, {});
  return steps;
}

test.each([
  ["/events/histogram", {}],
  ["/events/check", {}],
  ["/find", { id: "a trace" }],
  ["/usage", { group_by: "user", format: "json" }],
  ["/usage/labels", {}],
])("GET %s waits for a place among the long reads of its organization before it reads", async (path, query) => {
  expect((await stepsOf(path, query)).slice(0, 2)).toEqual(["place", "read"]);
});

test("a thing that is found by its id needs no place", async () => {
  expect(await stepsOf("/find", { id: KNOWN })).toEqual([]);
});
