import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { SOON, workflowSource } from "./harness.ts";
import { startWithoutServices } from "./withoutServices.ts";

/* A process is killed at each point at which a step saves a file, pushes or removes a document, and a limited start is counted. */

const LONG_MS = SOON.timeout * 4;
const { home, prepared, count, replaceAt } = await startWithoutServices(async (tenant) => ({
  collection: (await tenant.made(tenant.owner("POST", "/v1/knowledge/collections", { name: "Reports" }))).slug,
  writer: await tenant.register(
    workflowSource(
      `const file = await ctx.runStep("save", args);
       const pushed = await ctx.runStep("push", args);
       return { file, pushed, removed: await ctx.runStep("remove", { document_id: pushed.document_id }) };`,
      `save: ({ n }, ctx) => ctx.files.save({ name: "report.txt", text: "report " + n }),
       push: ({ n, collection }, ctx) => ctx.knowledge.push({ collection, text: "report " + n }),
       remove: ({ document_id }, ctx) => ctx.knowledge.remove({ document_id }),`,
    ),
    { writable_collections: ["*"] },
  ),
  limited: await tenant.register(workflowSource("return args.n;"), {
    start_rate: { max_runs: 1, per_seconds: 86_400, key: "/n" },
  }),
}));
const { collection, writer, limited } = prepared;

const counts = async (...types: string[]) =>
  Object.fromEntries(await Promise.all(types.map(async (type) => [type, await count(type)])));

const WRITES = [
  "before-FileUploaded:1",
  "after-FileUploaded:1",
  "before-DocumentUploaded:1",
  "after-DocumentUploaded:1",
  "before-DocumentDeleted:1",
  "after-DocumentDeleted:1",
];

test.each(WRITES.map((point, n) => [point, n + 1] as const))(
  "a run has one file and one document if its process is killed at %s",
  async (point, n) => {
    const run = await replaceAt(point, () => home.start(writer, { n, collection }));
    const { status, result, error } = await home.untilOver(run, LONG_MS);
    expect({ status, error }).toEqual({ status: "completed", error: null });
    const { data } = await home.made(home.owner("GET", `/workflows/runs/${run}/files`));
    expect(data).toMatchObject([{ id: result.file.file_id, name: "report.txt", given: false }]);
    const content = await home.owner("GET", `/workflows/runs/${run}/files/${result.file.file_id}/content`);
    expect(content.text).toBe(`report ${n}`);
    expect(await counts("FileUploaded", "DocumentUploaded", "DocumentDeleted")).toEqual({
      FileUploaded: n,
      DocumentUploaded: n,
      DocumentDeleted: n,
    });
  },
);

/** Starts the limited workflow as a client does: a 503 is repeated under its key. */
async function startOnce(args: object): Promise<string> {
  const key = { "idempotency-key": newId() };
  const ask = () => home.owner("POST", `/workflows/${limited.id}/runs`, { args }, key);
  let answer = await ask();
  for (const end = Date.now() + LONG_MS; answer.status === 503 && Date.now() < end; answer = await ask())
    await sleep(500);
  expect(answer.status, answer.text).toBe(202);
  return answer.body.id;
}

test.each(["before-RunCreated:1", "after-RunCreated:1"])(
  "a start counts once against its rate if its process is killed at %s",
  async (point) => {
    const before = await count("RunCreated");
    const run = await replaceAt(point, () => startOnce({ n: point }));
    expect(await home.untilOver(run, LONG_MS)).toMatchObject({ status: "completed", result: point });
    const again = await home.owner("POST", `/workflows/${limited.id}/runs`, { args: { n: point } });
    expect([again.status, again.body.error.code]).toEqual([429, "start_rate_limited"]);
    expect(await count("RunCreated")).toBe(before + 1);
  },
);
