import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import type { ResponseRow } from "./lookups.ts";
import { readOutput, readSettings } from "./storedResponse.ts";

/** A response whose prompt and frames are blobs. */
const responseOf = (organization_id: string): ResponseRow =>
  ({
    id: newId(),
    organization_id,
    thread_id: newId(),
    model: "m",
    agent: { previous_turn_id: null, expose_tool_items: true },
    status: "completed",
    asked: null,
    prompt_blob: "prompt",
    frames: "frames",
    wrapped_key: "key",
    said: null,
    usage: null,
    finish_reason: "stop",
    started_at: new Date(),
    ended_at: new Date(),
    parked_at: null,
  }) as unknown as ResponseRow;

/** Blobs, of which those of prompts are deleted. `read` lists the blobs that were read, `most` how many at the same time. */
function openStores() {
  const read: string[] = [];
  let [open, most] = [0, 0];
  const vault = {
    async get(_key: object, blob: string) {
      read.push(blob);
      most = Math.max(most, ++open);
      await setImmediate();
      open -= 1;
      return blob === "frames" ? Buffer.from("[]") : undefined;
    },
  };
  const http = { vault, longReadPlaces: createFairSemaphore({ total: 3, perTenant: 2 }) };
  return { http: http as never, read, most: () => most };
}

test("large prompts of an organization are read two at a time, and others do not wait for them", async () => {
  const { http, most } = openStores();
  const ended: string[] = [];
  const readOf = async (organization: string) => {
    const settings = await readSettings(http, responseOf(organization));
    ended.push(organization);
    return settings;
  };
  const settings = await Promise.all(["a", "a", "a", "a", "a", "b"].map(readOf));
  expect(settings).toEqual(settings.map(() => ({ instructions: null, user: null, vars: {}, reasoning_effort: null })));
  expect(most()).toBe(3);
  expect(ended.slice(0, 3).toSorted()).toEqual(["a", "a", "b"]);
});

test("the output of a response is read without its prompt", async () => {
  const { http, read } = openStores();
  expect(await readOutput(http, responseOf("a"))).toBeInstanceOf(Array);
  expect(read).toEqual(["frames"]);
});
