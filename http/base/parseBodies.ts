import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { ApiError } from "./errors.ts";
import { HASH_AT_ONCE, hashInSteps } from "./hashInSteps.ts";
import { parseJsonBody } from "./json.ts";
import type { App } from "./app.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** SHA-256 (hex) of the raw JSON body; empty when there is none. */
    bodyHash: string;
    bodyBytes: number;
  }
}

/** Makes `parse` the only parser of a scope's bodies. An empty body is left to the schema of the route. */
export function parseBodies(
  scope: App,
  types: string | string[],
  parse: (bytes: Buffer, request: FastifyRequest) => unknown,
): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(types, { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) => {
    if (body.length === 0) return undefined;
    request.bodyBytes = body.length;
    request.bodyHash = body.length > HASH_AT_ONCE ? await hashInSteps(body) : hashAtOnce(body);
    return parse(body, request);
  });
}

const hashAtOnce = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** Bodies are read as they come: of a compressed one the client would only hear that it is no JSON, or no form. */
function refuseEncodedBodies(app: App): void {
  app.addHook("preParsing", (request, _reply, body, done) => {
    const encoding = request.headers["content-encoding"];
    if (encoding === undefined || /^\s*(identity)?\s*$/i.test(encoding)) return done(null, body);
    const message = "Content-Encoding: bodies are read as they are; send this one without compression.";
    const headers = { "accept-encoding": "identity" };
    done(new ApiError("unsupported_media_type", message, { param: "Content-Encoding", headers }));
  });
}

/** JSON is the only type of body here, except on routes with parsers of their own. */
export function readBodies(app: App): void {
  app.decorateRequest("bodyHash", "");
  app.decorateRequest("bodyBytes", 0);
  parseBodies(app, "application/json", parseJsonBody);
  refuseEncodedBodies(app);
}
