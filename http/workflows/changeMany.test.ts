import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { newId } from "#events/ids.ts";
import { changeManyRoute } from "./changeMany.ts";

type Handler = (request: object, reply: object) => Promise<unknown>;

const AT = "2026-01-01T00:00:00.000Z";
const ids = Array.from({ length: 5 }, () => newId());
const CANCEL = { action: "cancel", filter: { status: "running" }, dry_run: false };

beforeEach(() => vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => vi.useRealTimers());

/** Changes runs that are not found any more, after `look`. Returns the answer and what happened, in order. */
async function change(body: object, ids: string[], look: (id: string) => void = () => {}) {
  const steps: string[] = [];
  const query = async (sql: string, values: unknown[]) => {
    if (sql.startsWith("select count(*)")) return [{ total: ids.length }];
    if (sql.startsWith("select r.id, r.created_at")) {
      steps.push("list");
      return ids.map((id) => ({ id, created_at: new Date(AT) }));
    }
    look(values[1] as string);
    return [];
  };
  const handlers = new Map<string, Handler>();
  const app = { post: (at: string, _options: object, handler: Handler) => void handlers.set(at, handler) };
  changeManyRoute(
    app as never,
    {
      db: { query },
      waitUntilCurrent: async () => {},
      logLimits: { refusal: () => undefined, finalRefusal: () => undefined },
    } as never,
  );
  const caller = { organization_id: newId(), principal: "person:p", project_id: null, session: { role: "owner" } };
  const acquireLongRead = async () => void steps.push("place");
  const request = { caller, body: { limit: 50, ...body }, headers: {}, acquireLongRead };
  const raw = { destroyed: false, writableFinished: false, once: () => {} };
  const answer: any = await handlers.get("/runs/change")!(request, { raw, request });
  return { answer, steps };
}

test("a request whose runs take long answers with a cursor to the rest", async () => {
  const { answer } = await change(CANCEL, ids, () => void vi.advanceTimersByTime(11_000));
  expect(answer.data.map(({ run_id, error }: any) => [run_id, error.code])).toEqual(
    ids.slice(0, 2).map((id) => [id, "run_not_found"]),
  );
  expect(answer).toMatchObject({ remaining: 3, next_cursor: `${AT}_${ids[1]}` });
  expect((await change(CANCEL, ids)).answer).toMatchObject({ remaining: 0, next_cursor: null });
});

test("retries wait for a place among the long reads of their organization, and a dry run does not", async () => {
  const body = { action: "retry", filter: { status: "failed" } };
  expect((await change({ ...body, dry_run: false }, [])).steps).toEqual(["place", "list"]);
  expect((await change({ ...body, dry_run: true }, [])).steps).toEqual(["list"]);
});
