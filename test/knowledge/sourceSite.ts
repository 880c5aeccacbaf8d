import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterFile } from "../cleanUp.ts";

/** What the site answers on a path: its text, a status, or an address that it redirects to. */
type Answer = string | number | { to: string } | Buffer;

const asPage = (text: string): string => `<html><body><h1>Page</h1><p>${text}</p></body></html>`;
export const gzip = (text: string): Buffer => gzipSync(text);

/** A web site that tests change while it is read. Pages below `/plain` have no marks. */
export async function openSourceSite() {
  const pages = new Map<string, Answer>();
  const requests: { path: string; headers: IncomingMessage["headers"] }[] = [];
  const server = createServer((request, response) => {
    const path = request.url!;
    requests.push({ path, headers: request.headers });
    const answer = pages.get(path) ?? 404;
    if (typeof answer === "number") return void response.writeHead(answer).end();
    if (typeof answer === "object" && "to" in answer)
      return void response.writeHead(302, { location: answer.to }).end();
    const body = path.endsWith(".html") ? asPage(String(answer)) : answer;
    const etag = `"${Buffer.from(String(answer)).toString("base64url").slice(0, 40)}"`;
    const marks = path.startsWith("/plain") ? {} : { etag };
    if (request.headers["if-none-match"] === etag) return void response.writeHead(304).end();
    const type = path.endsWith(".html") ? "text/html" : "application/xml";
    response.writeHead(200, { "content-type": type, ...marks }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterFile(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = (path: string): string => `http://${host}${path}`;
  const entries = (paths: string[], tag: string): string =>
    paths.map((path) => `<${tag}><loc>${path.startsWith("http") ? path : url(path)}</loc></${tag}>`).join("");
  return {
    host,
    url,
    pages,
    requests,
    sitemap: (...paths: string[]): string => `<urlset>${entries(paths, "url")}</urlset>`,
    index: (...paths: string[]): string => `<sitemapindex>${entries(paths, "sitemap")}</sitemapindex>`,
    /** Paths that were asked for since the last time, without robots.txt. */
    asked(): string[] {
      return requests
        .splice(0)
        .map(({ path }) => path)
        .filter((path) => path !== "/robots.txt");
    },
  };
}
export type SourceSite = Awaited<ReturnType<typeof openSourceSite>>;
