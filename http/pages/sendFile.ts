import type { FastifyReply, FastifyRequest } from "fastify";
import type { BuiltFile } from "../base/builtFiles.ts";

/** No inline code or style, nothing from elsewhere, and no text that becomes markup (Trusted Types). */
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
/** Of the frame in which the console draws PDFs: a page of the console around it, and a worker of one address. */
export const FRAME_POLICY = [...STRICT, "worker-src 'self'", "frame-ancestors 'self'", "trusted-types pdf-worker"].join(
  "; ",
);

const PAGE_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};
/** Names of assets contain a hash of their content. */
export const IMMUTABLE = "public, max-age=31536000, immutable";

const accepts = ({ headers }: FastifyRequest, encoding: string): boolean =>
  String(headers["accept-encoding"] ?? "")
    .split(",")
    .some((part) => {
      const [name = "", ...params] = part.split(";").map((text) => text.trim().toLowerCase());
      return name === encoding && !params.some((param) => /^q=0(\.0*)?$/.test(param));
    });

/** `policy`: in place of the page's own one. */
export function sendFile(
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

/** A page with the address of the service, which a proxy may place below a path. `path`: the base in the built page. */
export function placePage(page: BuiltFile, path: string, baseUrl: string): BuiltFile {
  const base = `${new URL(baseUrl).pathname.replace(/\/$/, "")}${path}`;
  const escaped = base.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  const html = page.bytes.toString().replaceAll(`"${path}`, `"${escaped}`);
  // small: not worth compressing again
  return { ...page, bytes: Buffer.from(html), br: undefined, gzip: undefined };
}

export const wantsPage = ({ headers }: FastifyRequest): boolean => (headers.accept ?? "").includes("text/html");
