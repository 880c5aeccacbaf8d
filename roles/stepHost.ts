import type { Command } from "#events/envelope.ts";
import type { Answer } from "#events/envelope.ts";
import { download } from "#infra/web/download.ts";
import { guardedFetch } from "#infra/web/guardedFetch.ts";
import { getAgent } from "#projections/agents/query.ts";
import { resolveCollections } from "#projections/collections/query.ts";
import { createPassed } from "#projections/passed.ts";
import type { Tools } from "#services/turns/tools/index.ts";
import { createStepHosts } from "#services/workflows/host/index.ts";
import type { Opened } from "./open.ts";

/** A step waits for an address as long as it may take itself, which its signal says. */
const FETCH_MS = 3_600_000;
const PROJECTION_MS = 5_000;

interface StepHostParts {
  /** Of this process, or what sends to another one's. */
  handle(command: Command): Promise<Answer>;
  tools: Tools;
}

/** What steps of workflows may use of the platform. */
export function openStepHosts(opened: Opened, { handle, tools }: StepHostParts) {
  const { settings, db, log, keyring, blobs, bus, logger } = opened;
  const fetch = guardedFetch({ privateHosts: settings.PRIVATE_FETCH_HOSTS });
  const passed = createPassed({ hints: bus.hints, db });

  /** What is not there may have been made a moment ago: then the read models are waited for. */
  async function lookTwice<T>(projection: string, look: () => Promise<T>, isThere: (found: T) => boolean): Promise<T> {
    const found = await look();
    if (isThere(found)) return found;
    const [head] = await db.query<{ position: number }>("select position from log.head");
    await passed([projection], Number(head!.position), PROJECTION_MS);
    return look();
  }

  return createStepHosts({
    log,
    handle,
    keyring,
    blobs,
    frames: bus.frames,
    turn_ms: settings.TURN_SECONDS * 1_000,
    agents: {
      find: (organization, id) => lookTwice("agents", () => getAgent(db, organization, id), Boolean),
    },
    collections: {
      resolve: (organization, names) =>
        lookTwice(
          "collections",
          () => resolveCollections(db, organization, names),
          ({ unknown }) => unknown.length === 0,
        ),
    },
    tools: {
      find: (organization, names) =>
        lookTwice(
          "definitions",
          () => tools.find(organization, names),
          (found) => found.length === names.length,
        ),
    },
    async fetch(url, init, permit, signal) {
      const { status, headers, bytes } = await download(fetch, url.href, init, signal, { within_ms: FETCH_MS, permit });
      return { status, headers, text: bytes.toString("utf8") };
    },
    onSecret: ({ run_id, step_id, attempt }, name) =>
      logger.info({ run_id, step_id, attempt, secret: name }, "a step was told a secret"),
    onError: (error, { run_id, step_id, attempt }, what) =>
      logger.warn({ err: error, run_id, step_id, attempt, what }, "the platform failed a step"),
  });
}
