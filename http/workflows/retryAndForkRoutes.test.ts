import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { retryAndForkRoutes } from "./retryAndForkRoutes.ts";

type Handler = (request: object, reply: object) => Promise<unknown>;

test.each(["/runs/:run_id/retry", "/runs/:run_id/fork"])(
  "POST %s waits for a place among the long reads of its organization before it reads the run",
  async (path) => {
    const steps: string[] = [];
    const handlers = new Map<string, Handler>();
    const app = { post: (at: string, _options: object, handler: Handler) => void handlers.set(at, handler) };
    const db = {
      query: async () => {
        steps.push("read");
        return [];
      },
    };
    retryAndForkRoutes(app as never, { db, waitUntilCurrent: async () => {} } as never);
    const caller = { organization_id: newId(), principal: "person:p", project_id: null };
    const acquireLongRead = async () => void steps.push("place");
    const request = { caller, params: { run_id: newId() }, body: {}, headers: {}, acquireLongRead };
    await expect(handlers.get(path)!(request, {})).rejects.toMatchObject({ errorCode: "run_not_found" });
    expect(steps.slice(0, 2)).toEqual(["place", "read"]);
  },
);
