import { expect, test } from "vitest";
import { claimStream, newId, streamName } from "#events/ids.ts";
import { chainClaim } from "#events/runLinks.ts";
import { run as decider } from "../deciders/run.ts";
import { readNewestRun } from "./newestRun.ts";

const FIRST = newId();
const NEXT = newId();

interface Chain {
  first: object;
  next?: object;
  /** The state of the claim on the chain: the stream of the run that holds it, or null. */
  claim?: string | null;
}

/** Reads the newest run of a chain from a log that has nothing else. */
function readNewest({ first, next, claim }: Chain) {
  const runs = Object.entries({ [FIRST]: first, ...(next && { [NEXT]: next }) });
  const heads = new Map<string, object>(
    runs.map(([id, state]) => [
      streamName("run", id),
      { stream: streamName("run", id), state, state_version: decider.version },
    ]),
  );
  if (claim !== undefined) heads.set(claimStream(chainClaim(FIRST)), { state: claim });
  const log = {
    heads: async (streams: string[]) =>
      new Map(streams.flatMap((one) => (heads.has(one) ? [[one, heads.get(one)]] : []))),
  };
  return readNewestRun(log as never, FIRST);
}

const CONTINUED = { status: "continued", first_run_id: FIRST };
const FORGOTTEN = { status: "forgotten" };
const RUNNING = { status: "running" };
const held = streamName("run", NEXT);

test.each<[string, Chain, string, boolean]>([
  ["is the run itself if nothing continues it", { first: RUNNING }, "running", false],
  ["continues the first run", { first: CONTINUED, next: RUNNING, claim: held }, "running", false],
  ["is about to start", { first: CONTINUED }, "continued", true],
  ["is found after the first run was destroyed", { first: FORGOTTEN, next: RUNNING, claim: held }, "running", false],
  ["is about to start after the first run was destroyed", { first: FORGOTTEN, claim: null }, "forgotten", true],
  ["is gone if it was destroyed and nothing continued it", { first: FORGOTTEN }, "forgotten", false],
])("the newest run of a chain %s", async (_, chain, status, isHandingOver) => {
  expect(await readNewest(chain)).toMatchObject({ state: { status }, isHandingOver });
});
