import { subscribe } from "node:diagnostics_channel";
import { SLOWDOWN_MS } from "./slowdownSetting.ts";

/* Preloaded into the service by `npm run bench -- NAME --slow-ms N`, to prove that the floors detect a slower service. */

const ms = Number(process.env[SLOWDOWN_MS]);

subscribe("http.server.request.start", () => {
  const end = performance.now() + ms;
  while (performance.now() < end);
});
