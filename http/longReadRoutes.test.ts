import { expect, test, vi } from "vitest";
import { newId } from "#events/ids.ts";
import { changeRoutes } from "./audit/changes.ts";
import { eventCheckRoute } from "./audit/eventCheck.ts";
import { eventHistogramRoute } from "./audit/eventHistogram.ts";
import { findRoute } from "./audit/find.ts";
import { usageLabelRoutes, usageRoutes } from "./audit/usage.ts";
import { erasureRoutes } from "./owned/erasures.ts";
import { retentionRoutes } from "./owned/retention.ts";
import { retryAndForkRoutes } from "./workflows/retryAndForkRoutes.ts";

type Handler = (request: object, reply: object) => Promise<unknown>;
type Routes = (app: never, http: never) => void;

const caller = { organization_id: newId(), principal: "person:p", project_id: null };

/** Answers a request with routes that have nothing of `http` but the given parts: whatever else they read throws a TypeError. */
function answer(routes: Routes, route: string, request: object, http: object = {}): Promise<unknown> {
  const handlers = new Map<string, Handler>();
  const add = (method: string) => (path: string, _options: object, handler: Handler) =>
    void handlers.set(`${method} ${path}`, handler);
  const app = { get: add("GET"), put: add("PUT"), post: add("POST"), delete: add("DELETE") };
  routes(app as never, http as never);
  const reply = { code: () => reply, send: (body: unknown) => body };
  return handlers.get(route)!({ caller, headers: {}, ...request }, reply);
}

const current = { waitUntilCurrent: async () => {} };
const run = { params: { run_id: newId() }, body: {} };
test.each<[string, Routes, object, object?]>([
  ["GET /events/histogram", eventHistogramRoute, { query: {} }],
  ["GET /events/check", eventCheckRoute, { query: {} }],
  ["GET /find", findRoute, { query: { id: "a trace" } }],
  ["GET /usage", usageRoutes, { query: { group_by: "user", format: "json" } }, current],
  ["GET /usage/labels", usageLabelRoutes, { query: {} }, current],
  ["GET /changes", changeRoutes, { query: { limit: "51" } }],
  ["POST /erasures", erasureRoutes, { body: { owner: "user:zoe" } }],
  [
    "POST /retention/:subject/preview",
    retentionRoutes,
    { params: { subject: "organization" }, body: { threads: "30d" } },
  ],
  ["POST /runs/:run_id/retry", retryAndForkRoutes, run],
  ["POST /runs/:run_id/fork", retryAndForkRoutes, run],
])(
  "%s waits for a place among the long reads of its organization before it reads",
  async (route, routes, request, http) => {
    const refusal = new Error("too many wait");
    const acquireLongRead = () => Promise.reject(refusal);
    await expect(answer(routes, route, { ...request, acquireLongRead }, http)).rejects.toBe(refusal);
  },
);

test("a thing that is found by its id, and a short page of changes, need no place", async () => {
  const acquireLongRead = vi.fn();
  const id = newId();
  const things = [{ kind: "run", id }];
  const found = answer(
    findRoute,
    "GET /find",
    { query: { id }, acquireLongRead },
    { idFinder: { things: async () => things } },
  );
  expect(await found).toEqual({ data: things });
  const http = { readAuditSlice: async () => ({ events: [], more: false }), keyring: { sealNumber: () => "cursor" } };
  const page = answer(changeRoutes, "GET /changes", { query: { limit: "50" }, acquireLongRead }, http);
  expect(await page).toEqual({ data: [], next_after: "cursor", has_more: false });
  expect(acquireLongRead).not.toHaveBeenCalled();
});
