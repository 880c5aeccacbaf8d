import { expect, test } from "vitest";
import { startProcess } from "../faults/processes.ts";
import { jsonLines } from "../jsonLines.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { code, SOON, workflowSource } from "../workflows/tenant.ts";
import { belongings, openTwoTenants } from "./tenants.ts";

/* A services process is killed after it has deleted something and before it has recorded that. */

const SAVES = workflowSource(
  `await ctx.runStep("save", {});`,
  `save: (_, ctx) => ctx.files.save({ name: "kept.txt", text: "kept" })`,
);
const COUNTS = { threads: 60, files: 6, runs: 6, documents: 2, extractions: 0 };

test("an erasure continues after its process is killed, and counts each deletion once", async () => {
  const deployment = await testDeployment();
  const platform = await startPlatform({ deployment, roles: ["http", "projections"] });
  const services = (FAIL_AT?: string) => startProcess("services", deployment, FAIL_AT ? { FAIL_AT } : {});
  const first = await services();
  const { home } = await openTwoTenants(platform);
  const { say } = belongings(home);
  const key = await home.newKey();
  await Promise.all(Array.from({ length: COUNTS.threads }, (_, n) => say(key.call, `Chat ${n}`)));
  const workflow = await home.register(SAVES);
  const runs = await Promise.all(Array.from({ length: COUNTS.runs }, () => home.start(workflow, {}, key.call)));
  for (const run of runs) await home.untilOver(run);
  const { id: collection } = await home.made(home.owner("POST", "/v1/knowledge/collections", { name: "Shelf" }));
  for (const text of ["One text.", "Another text."])
    await home.made(key.call("POST", `/v1/knowledge/collections/${collection}/documents/text`, { name: text, text }));
  first.kill();
  await first.ended;

  const dying = await services("before-ErasureAdvanced:1");
  const { id } = await home.made(home.owner("POST", "/erasures", { owner: `key:${key.id}` }));
  await dying.ended;
  const read = () => home.made(home.owner("GET", `/erasures/${id}`));
  expect(await read()).toMatchObject({ status: "running", threads_deleted: 0 });
  const again = await services("after-ErasureAdvanced:1");
  await again.ended;
  await services();
  await expect.poll(read, SOON).toMatchObject({ status: "completed" });
  const erasure = await read();
  for (const [kind, count] of Object.entries(COUNTS)) expect(erasure[`${kind}_deleted`], kind).toBe(count);
  for (const run of runs)
    expect(code(await home.owner("GET", `/workflows/runs/${run}`))).toEqual([404, "run_not_found"]);
  const { text } = await home.owner("GET", `/erasures/${id}/certificate`);
  const lines = jsonLines(text);
  expect(lines.at(-1)).toMatchObject({ type: "end", erased: 74, counts: COUNTS });
  expect(new Set(lines.map(({ stream, version }) => `${stream}@${version}`)).size).toBe(lines.length);
});
