import type { App } from "./app.ts";
import { ApiError } from "./errors.ts";

/** Throws 503 `unavailable` for new requests on open connections while the process shuts down; another process will answer the retry. */
export function refuseWhileClosing(app: App): void {
  let isClosing = false;
  app.addHook("preClose", (done) => {
    isClosing = true;
    done();
  });
  app.addHook("onRequest", (_request, _reply, done) => {
    done(isClosing ? new ApiError("unavailable", "The server is restarting. Ask again.") : undefined);
  });
}
