import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";

afterEach(() => vi.unstubAllGlobals());

/** A service with versions of one definition, newest first. `saved` versions are added between two requests. */
async function serve(total: number, { saved = 0 } = {}) {
  vi.stubGlobal("document", { baseURI: "http://service.test/console/" });
  const asked: string[] = [];
  let newest = total;
  vi.stubGlobal("fetch", async (url: URL) => {
    asked.push(url.search);
    const [limit, offset] = ["limit", "offset"].map((name) => Number(url.searchParams.get(name))) as [number, number];
    const all = Array.from({ length: newest }, (_, n) => ({ version: newest - n }));
    const body = { data: all.slice(offset, offset + limit), total: newest };
    newest += saved;
    saved = 0;
    return Response.json(body);
  });
  const { versionsOfDefinition } = await import("./versions.ts");
  const client = new QueryClient({
    defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY, retry: false } },
  });
  const read = (version: number) => client.fetchQuery(versionsOfDefinition("d").one(version));
  return { read, asked };
}

test("a version outside the listed page is fetched separately, and an unknown version gives nothing", async () => {
  const { read, asked } = await serve(120);
  expect(await read(3)).toEqual({ version: 3 });
  expect(asked).toEqual(["?limit=50&offset=0", "?limit=1&offset=117"]);
  expect(await read(100)).toEqual({ version: 100 });
  expect(asked.length).toBe(2);
  expect([await read(0), await read(121)]).toEqual([null, null]);
});

test("the requested version is returned even if another one is saved at the same time", async () => {
  const { read } = await serve(120, { saved: 1 });
  expect(await read(3)).toEqual({ version: 3 });
});
