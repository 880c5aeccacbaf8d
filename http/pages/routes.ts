import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import type { ConsoleFile } from "./files.ts";

/** No inline code or style, nothing from elsewhere, and no text that becomes markup (Trusted Types). */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const PAGE_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};
/** Names of assets contain a hash of their content. */
const IMMUTABLE = "public, max-age=31536000, immutable";

const accepts = ({ headers }: FastifyRequest, encoding: string): boolean =>
  String(headers["accept-encoding"] ?? "")
    .split(",")
    .some((part) => {
      const [name = "", ...params] = part.split(";").map((text) => text.trim().toLowerCase());
      return name === encoding && !params.some((param) => /^q=0(\.0*)?$/.test(param));
    });

function sendFile(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile, cacheControl: string) {
  reply.headers({ ...PAGE_HEADERS, "cache-control": cacheControl, etag: file.etag, vary: "accept-encoding" });
  if (request.headers["if-none-match"] === file.etag) return reply.code(304).send();
  reply.header("content-type", file.type);
  if (file.br && accepts(request, "br")) return reply.header("content-encoding", "br").send(file.br);
  if (file.gzip && accepts(request, "gzip")) return reply.header("content-encoding", "gzip").send(file.gzip);
  return reply.send(file.bytes);
}

/** The page with its address, which a proxy may place below a path. */
function placePage(page: ConsoleFile, baseUrl: string): ConsoleFile {
  const base = `${new URL(baseUrl).pathname.replace(/\/$/, "")}/console/`;
  const escaped = base.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  const html = page.bytes.toString().replace('<base href="/console/"', `<base href="${escaped}"`);
  // small: not worth compressing again
  return { ...page, bytes: Buffer.from(html), br: undefined, gzip: undefined };
}

const wantsPage = ({ headers }: FastifyRequest): boolean => (headers.accept ?? "").includes("text/html");

/** The built console below `/console/`. Every path that is no file is its page, which has routes of its own. */
export function consoleRoutes(app: App, { consoleFiles, settings }: Http): void {
  const hidden = { schema: { hide: true } };
  const page = consoleFiles?.get("index.html");
  const placed = page && placePage(page, settings.BASE_URL);

  app.get("/", hidden, (request, reply) => {
    if (!wantsPage(request)) throw new ApiError("not_found", "There is nothing at GET /.");
    return reply.header("vary", "accept").redirect("console/", 302);
  });
  app.get("/console", hidden, (_request, reply) => reply.redirect("console/", 302));
  app.get<{ Params: { "*": string } }>("/console/*", hidden, (request, reply) => {
    if (!consoleFiles || !placed)
      throw new ApiError("not_found", "The console is not built: run `node dev/console/build.ts` and start again.");
    const path = request.params["*"];
    const file = path === "index.html" ? undefined : consoleFiles.get(path);
    if (file) return sendFile(request, reply, file, path.startsWith("assets/") ? IMMUTABLE : "no-cache");
    if (path.startsWith("assets/")) throw new ApiError("not_found", `The console has no file ${path}.`);
    return sendFile(request, reply, placed, "no-cache");
  });
}
