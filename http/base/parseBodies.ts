import { createHash } from "node:crypto";
import { setImmediate as nextRound } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import { parseJsonBody } from "./json.ts";
import type { App } from "./app.ts";

/** Bytes that are hashed in one round of the event loop, in 2 to 5 ms. */
const HASH_AT_ONCE = 4 * 1024 * 1024;

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
  const hash = createHash("sha256");
  for (let at = 0; at < bytes.length; at += HASH_AT_ONCE) {
    hash.update(bytes.subarray(at, at + HASH_AT_ONCE));
    await nextRound();
  }
  request.bodyHash = hash.digest("hex");
  return parse(bytes, request);
}

/** JSON is the only type of body here, except on routes with parsers of their own. */
export function readBodies(app: App): void {
  app.decorateRequest("bodyHash", "");
  app.decorateRequest("bodyBytes", 0);
  parseBodies(app, "application/json", parseJsonBody);
}
