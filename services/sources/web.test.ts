import { expect, test } from "vitest";
import type { FetchPage } from "./ports.ts";
import { createSourceWeb } from "./web.ts";

const page = { filename: "", mimetype: "", bytes: Buffer.alloc(0), etag: null, last_modified: null };

/** The web of sources, and the pages that were fetched, in order. */
function openWeb(delay_ms = 0) {
  const fetched: string[] = [];
  const fetch: FetchPage = async (url) => {
    if (url.endsWith("/robots.txt")) return { refusal: "none", status: 404 };
    fetched.push(new URL(url).pathname);
    return { ...page, url };
  };
  const web = createSourceWeb({ fetch, robot: { name: "robot", agent: "robot" }, delay_ms });
  return { web, fetched };
}

const FOREVER = new AbortController().signal;

test("organizations take turns at a host, whose later one waits for one page of each earlier one", async () => {
  const { web, fetched } = openWeb();
  const [theirs, ours] = [web.open("a", FOREVER), web.open("b", FOREVER)];
  const fetches = [1, 2, 3].map((n) => theirs.fetch(`http://host.example/a${n}`));
  fetches.push(ours.fetch("http://host.example/b1"), ours.fetch("http://host.example/b2"));
  await Promise.all(fetches);
  expect(fetched).toEqual(["/a1", "/a2", "/b1", "/a3", "/b2"]);
});

test("pages of other hosts do not wait for a host's pause, and a read that ends leaves its place", async () => {
  const { web, fetched } = openWeb(60_000);
  const stopping = new AbortController();
  const visit = web.open("a", stopping.signal);
  await visit.fetch("http://host.example/first");
  const waiting = visit.fetch("http://host.example/second");
  await visit.fetch("http://other.example/other");
  stopping.abort(new Error("stopping"));
  await expect(waiting).rejects.toThrow("stopping");
  await web.open("b", FOREVER).fetch("http://host.example/third");
  expect(fetched).toEqual(["/first", "/other", "/third"]);
});
