import { createHash } from "node:crypto";
import { parseJson } from "./json.ts";
import type { App } from "./app.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** SHA-256 of a JSON body as it came, hex; empty where none was read. */
    bodyHash: string;
    bodyBytes: number;
  }
}

/** JSON is the one type of body that is parsed here; an empty one is left to the route's schema. */
export function readBodies(app: App): void {
  app.decorateRequest("bodyHash", "");
  app.decorateRequest("bodyBytes", 0);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    const bytes = body as Buffer;
    if (bytes.length === 0) return done(null, undefined);
    request.bodyHash = createHash("sha256").update(bytes).digest("hex");
    request.bodyBytes = bytes.length;
    try {
      done(null, parseJson(bytes));
    } catch (error) {
      done(error as Error);
    }
  });
}
