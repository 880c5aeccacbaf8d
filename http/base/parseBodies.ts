import type { FastifyRequest } from "fastify";
import { releaseBuffer } from "#events/releaseBuffer.ts";
import { ApiError } from "./errors.ts";
import { hashInSteps } from "./hashInSteps.ts";
import { parseJsonBody } from "./json.ts";
import type { App } from "./app.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** SHA-256 (hex) of the raw JSON body; empty if there is none. */
    bodyHash: string;
    bodyBytes: number;
  }
}

/** Makes `parse` the only body parser of a scope. The route's schema handles an empty body. */
export function parseBodies(
  scope: App,
  types: string | string[],
  parse: (bytes: Buffer, request: FastifyRequest) => unknown,
): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(types, { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) => {
    if (body.length === 0) return undefined;
    request.bodyBytes = body.length;
    request.bodyHash = await hashInSteps(body);
    return parse(body, request);
  });
}

async function parseAndRelease(bytes: Buffer): Promise<unknown> {
  try {
    return await parseJsonBody(bytes);
  } finally {
    releaseBuffer(bytes);
  }
}

/** Refuses compressed bodies, which would otherwise be reported as invalid JSON or an invalid form. */
function refuseEncodedBodies(app: App): void {
  app.addHook("preParsing", (request, _reply, body, done) => {
    const encoding = request.headers["content-encoding"];
    if (encoding === undefined || /^\s*(identity)?\s*$/i.test(encoding)) return done(null, body);
    const message = "Content-Encoding: bodies are read as they are; send this one without compression.";
    const headers = { "accept-encoding": "identity" };
    done(new ApiError("unsupported_media_type", message, { param: "Content-Encoding", headers }));
  });
}

/** Ignores the content type of a body that was not sent: `curl -d ''` declares a form, and `fetch` with `""` plain text. */
function ignoreTypeOfNothing(app: App): void {
  app.addHook("onRequest", ({ headers }, _reply, done) => {
    const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
    // an upload without its form is refused as such
    if (!hasBody && !/^\s*multipart\//i.test(headers["content-type"] ?? "")) delete headers["content-type"];
    done();
  });
}

/** Accepts only JSON bodies, except on routes with parsers of their own. */
export function readBodies(app: App): void {
  app.decorateRequest("bodyHash", "");
  app.decorateRequest("bodyBytes", 0);
  parseBodies(app, "application/json", parseAndRelease);
  refuseEncodedBodies(app);
  ignoreTypeOfNothing(app);
}
