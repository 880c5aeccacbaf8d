import { expect, test } from "vitest";
import { openWorkflows } from "./harness.ts";

/* A page ends after 2 MB of rows; its `limit` is the number of rows that it has (ADR 68). */

const ROWS = 40;
/** 40 rows with 60 KB each have more than 2 MB. */
const LONG = "x".repeat(60_000);
const { home } = await openWorkflows();

/** Sends `ROWS` requests, a few at a time. */
async function fill(send: (n: number) => Promise<unknown>): Promise<void> {
  for (let n = 0; n < ROWS; n += 8) await Promise.all(Array.from({ length: 8 }, (_, more) => send(n + more)));
}

/** The ids of a list, read page by page: each page starts at the last `offset` plus its `limit`. */
async function readAll(path: string): Promise<{ ids: string[]; pages: number; total: number }> {
  const ids: string[] = [];
  for (let pages = 1, offset = 0; ; pages++) {
    const { data, total, limit } = await home.made(home.owner("GET", `${path}?limit=500&offset=${offset}`));
    ids.push(...data.map(({ id }: { id: string }) => id));
    offset += limit;
    if (offset >= total) return { ids, pages, total };
  }
}

test("a page of triggers that its size limit shortens reports its number of rows", async () => {
  const workflow = await home.register();
  await fill(() => home.hook(workflow, { default_args: { text: LONG } }));
  const { ids, pages, total } = await readAll(`/workflows/${workflow.id}/triggers`);
  expect([new Set(ids).size, total]).toEqual([ROWS, ROWS]);
  expect(pages).toBeGreaterThan(1);
});

test("a shortened page of the organization's schedules does, too", async () => {
  const workflow = await home.register();
  const schedule = { cron: "0 0 1 1 *", time_zone: "UTC" };
  const create = () => home.hook(workflow, { schedule, args: { text: LONG.slice(0, 32_000) } });
  await fill(create);
  await fill(create);
  const { ids, pages, total } = await readAll("/workflows/schedules");
  expect([new Set(ids).size, total]).toEqual([2 * ROWS, 2 * ROWS]);
  expect(pages).toBeGreaterThan(1);
});

test("a shortened page of workflows does, too", async () => {
  const definition = await home.define();
  const label = "h".repeat(60);
  const egress = Array.from({ length: 100 }, (_, n) => `${label}.${label}.${label}.h${n}.example`);
  const register = () => home.register(undefined, { egress }, { definition_id: definition.id });
  for (let more = 0; more < 3; more++) await fill(register);
  const { ids, pages, total } = await readAll("/workflows");
  expect(total).toBeGreaterThanOrEqual(3 * ROWS);
  expect(new Set(ids).size).toBe(total);
  expect(pages).toBeGreaterThan(1);
});
