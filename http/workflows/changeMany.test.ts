import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { changeManyRoute } from "./changeMany.ts";

type Handler = (request: object, reply: object) => Promise<unknown>;

test.each<[action: string, status: string, dry_run: boolean, steps: string[]]>([
  ["retry", "failed", false, ["place", "read"]],
  ["retry", "failed", true, ["read"]],
  ["cancel", "running", false, ["read"]],
])(
  "a request to %s runs that are %s (dry run: %s) waits for a place among long reads only if it reads runs",
  async (action, status, dry_run, expected) => {
    const steps: string[] = [];
    const handlers: Handler[] = [];
    const app = { post: (_path: string, _options: object, handler: Handler) => void handlers.push(handler) };
    const db = {
      query: async (text: string) => {
        steps.push("read");
        return text.includes("count(") ? [{ total: 0 }] : [];
      },
    };
    changeManyRoute(app as never, { db, waitUntilCurrent: async () => {} } as never);
    const caller = { organization_id: newId(), principal: "person:p", project_id: null };
    const body = { action, filter: { status }, dry_run, limit: 50 };
    const request = { caller, body, headers: {}, acquireLongRead: async () => void steps.push("place") };
    const reply = { request, raw: new EventEmitter() };
    expect(await handlers[0]!(request, reply)).toMatchObject({ data: [], next_cursor: null });
    expect(steps.slice(0, expected.length)).toEqual(expected);
    expect(steps.includes("place")).toBe(expected.includes("place"));
  },
);
