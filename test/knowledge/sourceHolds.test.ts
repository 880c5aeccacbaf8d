import { expect, test } from "vitest";
import { openLibrary } from "./library.ts";
import { openSourceSite } from "./sourceSite.ts";

/* A source whose document a legal hold keeps. */

test("the document of a gone page stays while a hold keeps it, and is deleted after the release", async () => {
  const site = await openSourceSite();
  const library = await openLibrary({ PRIVATE_FETCH_HOSTS: site.host, SOURCE_DELAY_MS: "0" });
  const account = library.as(await library.signIn());
  const holds = `${library.platform.url}/api/holds`;
  const collection = await library.collect("Web");
  site.pages.set("/a.html", "One.").set("/b.html", "Two.").set("/sitemap.xml", site.sitemap("/a.html", "/b.html"));
  const sent = { kind: "sitemap", url: site.url("/sitemap.xml") };
  const { id } = (await library.call("POST", `/collections/${collection}/sources`, sent)).body;
  const ended = (read: number) =>
    library.until(`/sources/${id}`, ({ last_read }) => last_read.read === read && last_read.status === "ended");
  const readAgain = async () => ended((await library.call("POST", `/sources/${id}/read`)).body.last_read.read);
  const pageOf = async (path: string) =>
    (await library.call("GET", `/sources/${id}/pages`)).body.data.find(({ url }: any) => url === site.url(path));
  const names = async () =>
    (await library.call("GET", `/collections/${collection}/documents`)).body.data.map(({ name }: any) => name).sort();

  await ended(1);
  const { document_id } = await pageOf("/a.html");
  const place = { subject: `document:${document_id}`, name: "Case 9", reason: "A claim" };
  const hold = await account.call("POST", holds, place);
  expect(hold.status, hold.text).toBe(201);
  site.pages.set("/sitemap.xml", site.sitemap("/b.html"));
  await readAgain();
  const kept = await pageOf("/a.html");
  expect(kept).toMatchObject({ result: "failed", document_id });
  expect(kept.error).toContain("Case 9");
  expect(await names()).toEqual(["a.html", "b.html"]);

  const whole = await library.call("DELETE", `/sources/${id}?documents=true`);
  expect([whole.status, whole.body.error?.code ?? whole.body.code], whole.text).toEqual([409, "legal_hold"]);

  expect((await account.call("DELETE", `${holds}/${hold.body.id}`)).status).toBe(200);
  await readAgain();
  expect(await pageOf("/a.html")).toMatchObject({ result: "removed", document_id: null });
  expect(await names()).toEqual(["b.html"]);
});
