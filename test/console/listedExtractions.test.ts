import { expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { fileForm, startService } from "../http/service.ts";
import { openTenant } from "../workflows/tenant.ts";
import { SOON } from "../soon.ts";

test("people list extractions newest first without their text, by status and page, and only those of their organization", async () => {
  const service = await startService();
  const tenant = await openTenant(service.base, service.credentials);
  const stranger = await openTenant(service.base, await service.organization("Other"));
  const ids: string[] = [];
  for (const n of [1, 2, 3]) {
    const form = fileForm(`listed,${n}\n`, `${n}.csv`, { type: "text/csv" });
    ids.push((await tenant.key("POST", "/v1/extractions", form)).body.id);
  }
  const list = (query = "", by = tenant) => by.made(by.owner("GET", `/extractions?${query}`));
  await expect.poll(async () => (await list("status=ready")).total, SOON).toBe(3);
  const { data, total } = await list();
  expect([data.map(({ id }: { id: string }) => id), total]).toEqual([ids.toReversed(), 3]);
  expect(data[0]).toMatchObject({ status: "ready", name: "3.csv" });
  expect(data[0]).not.toHaveProperty("markdown");
  expect((await list("limit=1&offset=1")).data.map(({ id }: { id: string }) => id)).toEqual([ids[1]]);
  expect((await list("status=failed")).total).toBe(0);
  expect((await list("", stranger)).total).toBe(0);
  expectRefusal(await tenant.owner("GET", "/extractions?status=odd"), 400, undefined, "status");
  expectRefusal(await tenant.key("GET", "/extractions"), 403, "session_required");
  await tenant.key("DELETE", `/v1/extractions/${ids[0]}`);
  expect((await list()).total).toBe(2);
});
