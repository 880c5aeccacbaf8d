import { expect, test } from "vitest";
import { startProcess } from "../faults/processes.ts";
import { startWithoutServices } from "../workflows/withoutServices.ts";
import { openReader } from "./library.ts";
import { openSourceSite } from "./sourceSite.ts";

/* A source whose worker is killed in the middle of a read. */

const PAGES = 8;
const LONG = { timeout: 120_000, interval: 200 };

test("a read of a source continues where a killed process stopped, and creates each document once", async () => {
  const site = await openSourceSite();
  const paths = Array.from({ length: PAGES }, (_, n) => `/page-${n}.html`);
  for (const path of paths) site.pages.set(path, `This is ${path}.`);
  site.pages.set("/sitemap.xml", site.sitemap(...paths));
  const env = { PRIVATE_FETCH_HOSTS: site.host, SOURCE_DELAY_MS: "300" };
  const { deployment, count, prepared } = await startWithoutServices(async ({ url, credentials }) => {
    const library = openReader(url, credentials.api_key);
    return { library, collection: await library.collect("Web") };
  });
  const { library, collection } = prepared;

  // one dies before it has recorded a page, one between records, and one when everything is recorded but the end
  const points = ["after-DocumentUploaded:2", "after-SourcePagesRead:1", "before-SourceReadEnded:1"];
  const first = await startProcess("services", deployment, { ...env, FAIL_AT: points[0]! });
  const source = { kind: "sitemap", url: site.url("/sitemap.xml") };
  const { id } = (await library.call("POST", `/collections/${collection}/sources`, source)).body;
  await first.ended;
  for (const point of points.slice(1)) {
    const dying = await startProcess("services", deployment, { ...env, FAIL_AT: point });
    await dying.ended;
  }
  const last = await startProcess("services", deployment, env);
  await expect
    .poll(async () => (await library.call("GET", `/sources/${id}`)).body.last_read, LONG)
    .toMatchObject({ read: 1, status: "ended", error: null, pages: { new: PAGES, changed: 0, same: 0, failed: 0 } });
  const ready = async () =>
    (await library.call("GET", `/collections/${collection}/documents?status=ready`)).body.data.map(
      ({ name }: { name: string }) => name,
    );
  await expect.poll(async () => (await ready()).length, LONG).toBe(PAGES);
  expect(new Set(await ready()).size).toBe(PAGES);
  expect([await count("DocumentUploaded"), await count("DocumentReplaced")]).toEqual([PAGES, 0]);
  expect(await count("SourceReadTaken")).toBe(3);
  expect(await count("SourceReadEnded")).toBe(1);

  // a pause ends a read, and its worker stops
  site.asked();
  await library.call("POST", `/sources/${id}/read`);
  await expect.poll(() => site.requests.length, LONG).toBeGreaterThan(2);
  const { body } = await library.call("PATCH", `/sources/${id}`, { paused: true });
  expect(body).toMatchObject({ paused: true, last_read: { read: 2, status: "stopped" } });
  last.kill();
  await last.ended;
});
