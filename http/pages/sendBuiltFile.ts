import type { FastifyReply, FastifyRequest } from "fastify";
import type { BuiltFile } from "../base/builtFiles.ts";

/** Forbids inline code and styles, foreign resources, and turning text into markup (Trusted Types). */
const STRICT = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
];
const CONTENT_SECURITY_POLICY = [...STRICT, "frame-src 'self'", "frame-ancestors 'none'", "trusted-types 'none'"].join(
  "; ",
);
/** The policy of the console's PDF frame: the console may embed it, and it may start its worker. */
export const FRAME_POLICY = [...STRICT, "worker-src 'self'", "frame-ancestors 'self'", "trusted-types pdf-worker"].join(
  "; ",
);

/** The policy of the API reference, whose program sets styles and markup. It may run and call only this service. */
export const REFERENCE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const PAGE_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};
/** Asset names contain a hash of the content, so they can be cached forever. */
export const IMMUTABLE = "public, max-age=31536000, immutable";

const accepts = ({ headers }: FastifyRequest, encoding: string): boolean =>
  String(headers["accept-encoding"] ?? "")
    .split(",")
    .some((part) => {
      const [name = "", ...params] = part.split(";").map((text) => text.trim().toLowerCase());
      return name === encoding && !params.some((param) => /^q=0(\.0*)?$/.test(param));
    });

/** `policy` replaces the page's own policy. */
export function sendBuiltFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: BuiltFile,
  cacheControl: string,
  policy = CONTENT_SECURITY_POLICY,
) {
  const headers = { "content-security-policy": policy, "cache-control": cacheControl, etag: file.etag };
  reply.headers({ ...PAGE_HEADERS, ...headers, vary: "accept-encoding" });
  if (request.headers["if-none-match"] === file.etag) return reply.code(304).send();
  reply.header("content-type", file.type);
  if (file.br && accepts(request, "br")) return reply.header("content-encoding", "br").send(file.br);
  if (file.gzip && accepts(request, "gzip")) return reply.header("content-encoding", "gzip").send(file.gzip);
  return reply.send(file.bytes);
}

/** Inserts the service's address into a page, because a proxy may serve it below a path. `path`: the base path in the built page. */
export function insertBaseUrl(page: BuiltFile, path: string, baseUrl: string): BuiltFile {
  const base = `${new URL(baseUrl).pathname.replace(/\/$/, "")}${path}`;
  const escaped = base.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  const html = page.bytes.toString().replaceAll(`"${path}`, `"${escaped}`);
  // too small to be worth compressing again
  return { ...page, bytes: Buffer.from(html), br: undefined, gzip: undefined };
}

export const wantsPage = ({ headers }: FastifyRequest): boolean => (headers.accept ?? "").includes("text/html");
