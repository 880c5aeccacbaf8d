import { createHash } from "node:crypto";
import { afterAll, beforeEach, expect, test } from "vitest";
import { HASH_AT_ONCE } from "#http/base/hashInSteps.ts";
import { openLibrary } from "./library.ts";
import { openSourceSite } from "./sourceSite.ts";

/* Contents of several megabytes are hashed in steps, wherever they come from. */

const site = await openSourceSite();
const library = await openLibrary({ PRIVATE_FETCH_HOSTS: site.host, SOURCE_DELAY_MS: "0" });
const collection = await library.collect("Long");

/** The longest text or bytes that this process has hashed at once. */
let longest = 0;
const hashes = Object.getPrototypeOf(createHash("sha256")) as { update: (...args: unknown[]) => unknown };
const { update } = hashes;
hashes.update = function (...args: unknown[]) {
  const [data] = args as [string | Uint8Array];
  longest = Math.max(longest, data.length);
  return update.apply(this, args);
};
afterAll(() => void (hashes.update = update));
beforeEach(() => void (longest = 0));

/** Readers leave the comment out. */
const long = (words: string): string => `<!-- ${"a".repeat(2 * HASH_AT_ONCE)} -->\n\n${words}`;

test("a pushed text", async () => {
  const { status } = await library.push(collection, { text: long("The heron waits.") });
  expect([status, longest]).toEqual([202, HASH_AT_ONCE]);
});

test("the file of a link", async () => {
  site.pages.set("/link.html", long("The tide turns."));
  const documents = [{ url: site.url("/link.html") }];
  const { body } = await library.call("POST", "/documents/batch", { collection, documents });
  expect([body.data[0].result, longest]).toEqual(["accepted", HASH_AT_ONCE]);
});

test("a page of a source", async () => {
  site.pages.set("/page.html", long("The ice melts."));
  const source = { kind: "url", url: site.url("/page.html") };
  const { body } = await library.call("POST", `/collections/${collection}/sources`, source);
  const { last_read } = await library.until(`/sources/${body.id}`, (read) => read.last_read.status === "ended");
  expect([last_read.pages.new, longest]).toEqual([1, HASH_AT_ONCE]);
});
