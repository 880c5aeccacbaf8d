import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
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
  scope.addContentTypeParser(types, { parseAs: "buffer" }, (request, body, done) => {
    const bytes = body as Buffer;
    if (bytes.length === 0) return done(null, undefined);
    request.bodyBytes = bytes.length;
    if (bytes.length > HASH_AT_ONCE)
      return void parseLarge(request, bytes, parse).then((parsed) => done(null, parsed), done);
    request.bodyHash = createHash("sha256").update(bytes).digest("hex");
    try {
      done(null, parse(bytes, request));
    } catch (error) {
      done(error as Error);
    }
  });
}

async function parseLarge(
  request: FastifyRequest,
  bytes: Buffer,
  parse: (bytes: Buffer, request: FastifyRequest) => unknown,
): Promise<unknown> {
  request.bodyHash = await hashInSteps(bytes);
  return parse(bytes, request);
}

/** JSON is the only type of body here, except on routes with parsers of their own. */
export function readBodies(app: App): void {
  app.decorateRequest("bodyHash", "");
  app.decorateRequest("bodyBytes", 0);
  parseBodies(app, "application/json", parseJsonBody);
}
