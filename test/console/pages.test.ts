import { request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { startService } from "../http/service.ts";

/* The built console, as the service serves it. */

const service = await startService();

/** A request whose answer is not decompressed. */
const get = (path: string, headers: Record<string, string> = {}, base = service.base) =>
  new Promise<{ status: number; headers: Record<string, string>; body: Buffer }>((resolve, reject) => {
    request(`${base}${path}`, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode!, headers: response.headers as any, body: Buffer.concat(chunks) }),
      );
    })
      .on("error", reject)
      .end();
  });
const script = async () => /src="\.\/(assets\/[^"]+\.js)"/.exec((await get("/console/")).body.toString())![1]!;

describe("the address of the service", () => {
  test("redirects browsers to the console, and answers programs with 404", async () => {
    const { status, headers } = await get("/", { accept: "text/html,application/xhtml+xml" });
    expect([status, headers["location"]]).toEqual([302, "console/"]);
    expect((await get("/", { accept: "*/*" })).status).toBe(404);
    expect((await get("/console")).headers["location"]).toBe("console/");
  });
});

describe("the console", () => {
  test("returns its page for every path that is not a file, under a strict policy and never cached", async () => {
    const page = await get("/console/");
    expect(page.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
    });
    expect(page.headers["content-security-policy"]!.split("; ")).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ]),
    );
    expect((await get("/console/runs/some-id?step=1")).body.equals(page.body)).toBe(true);
    expect((await get("/console/", { "if-none-match": page.headers["etag"]! })).status).toBe(304);
  });

  test("has assets with hashed names, compressed in advance and cached forever", async () => {
    const path = `/console/${await script()}`;
    const plain = await get(path);
    expect(plain.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
    });
    const brotli = await get(path, { "accept-encoding": "gzip, deflate, br" });
    expect(brotli.headers["content-encoding"]).toBe("br");
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
    const gzip = await get(path, { "accept-encoding": "gzip, br;q=0" });
    expect(gzip.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
  });

  test("serves no other file of the machine, and no asset of an older version", async () => {
    for (const path of ["assets/old-123.js", "assets/../../../package.json", "assets/%2e%2e%2f%2e%2e%2fpackage.json"]) {
      const { status, body } = await get(`/console/${path}`);
      expect([path, status, body.toString()]).toEqual([path, 404, expect.stringContaining('"not_found"')]);
    }
    expect((await get("/console/sources.sha256")).headers["content-type"]).toContain("text/html");
  });

  test("and the documentation work behind a proxy that adds a path", async () => {
    const { base } = await startService({ BASE_URL: "https://example.com/ai" });
    expect((await get("/console/", {}, base)).body.toString()).toContain('<base href="/ai/console/"');
    const redirect = await fetch(`${base}/docs`, { redirect: "manual" });
    expect([redirect.status, redirect.headers.get("location")]).toEqual([302, "docs/"]);
    const missing = await fetch(`${base}/docs/none`, { headers: { accept: "text/html" } });
    expect(await missing.text()).toContain('<base href="/ai/docs/">');
  });
});
