import { expect } from "vitest";
import { atEnd, type Lifetime } from "../cleanUp.ts";
import { openSite } from "../tools/site.ts";
import { SOON } from "../soon.ts";

/** A promise with its resolve: a step that continues when the test opens the gate. */
export function gate() {
  const { promise: opened, resolve } = Promise.withResolvers<void>();
  return { opened, open: () => resolve() };
}
/** Gates by name; a name that was not used before has a closed one. */
export function namedGates() {
  const gates = new Map<string, ReturnType<typeof gate>>();
  return (name: string) => gates.get(name) ?? gates.set(name, gate()).get(name)!;
}
/** A server for steps: it counts its requests by path, and answers `/hold/…` only after `release`. */
export async function openStepSite(lifetime: Lifetime = "file") {
  let gateAt = namedGates();
  const failing = new Set<string>();
  const requests: { path: string; headers: Record<string, string | string[] | undefined> }[] = [];
  const { host, url, close } = await openSite(({ url: path = "", headers }, response) => {
    requests.push({ path, headers });
    const nth = times(path);
    const status = () => (failing.has(path) ? 500 : 200);
    const answer = () =>
      response.writeHead(status(), { "content-type": "application/json" }).end(JSON.stringify({ nth }));
    if (path.startsWith("/hold/")) void gateAt(path).opened.then(answer);
    else answer();
  });
  const times = (path: string): number => requests.filter((one) => one.path === path).length;
  atEnd(lifetime, close);
  return {
    host,
    url,
    requests,
    /** Requests for a path so far. */
    times,
    /** Resolves after the given number of requests for a path. */
    requested: (path: string, count = 1) => expect.poll(() => times(path), SOON).toBeGreaterThanOrEqual(count),
    /** Answers the held requests for a path, and all later ones. */
    release: (path: string): void => gateAt(path).open(),
    /** Answers requests for a path with 500, until `repair`. */
    fail: (path: string) => void failing.add(path),
    repair: (path: string) => void failing.delete(path),
    /** Forgets all requests and what was released. */
    clear(): void {
      requests.length = 0;
      gateAt = namedGates();
      failing.clear();
    },
  };
}
export type StepSite = Awaited<ReturnType<typeof openStepSite>>;
