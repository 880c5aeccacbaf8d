import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { EventLog } from "#events/ports.ts";
import type { IndexRegistry, PassageIndex, PassageRemoval } from "../passageIndex.ts";
import { applyChanges, IndexLost, type ApplyDeps } from "./applyChanges.ts";
import { createIndexContents, type IndexContents } from "./contents.ts";
import { FOLLOWED_EVENTS, planChanges } from "./planChanges.ts";
import { SCAN_BATCH } from "./readChanges.ts";
import { createRefusedGenerations, type RefusedGenerations } from "./refusedGenerations.ts";

/** Raise it when the indexed fields of a passage change. Then a new index is built next to the serving one. */
export const INDEX_VERSION = 3;
/** Passages that a build sends before it waits for them. New documents, which go to the serving index, queue behind them. */
const PASSAGES_OF_ROUND = 10_000;
const RETRY_MS = 1_000;
/** Checks of the read model before a new index serves, and their interval. It is normally some milliseconds behind. */
const [MAX_READ_MODEL_CHECKS, READ_MODEL_CHECK_MS] = [100, 20];

export interface BuildDeps extends ApplyDeps {
  log: Pick<EventLog, "scan" | "heads" | "read" | "event">;
  index: PassageIndex;
  registry: IndexRegistry;
  /** The prefix of the index ids of this deployment. */
  prefix: string;
  /** Passages that a build sends before it waits for them; 10,000 by default. */
  passagesOfRound?: number;
}

export interface BuildOptions {
  index: string;
  /** The serving index, which the new one replaces. */
  from: string;
  /** Runs work while the follower of the serving index waits. */
  lock: <T>(work: () => Promise<T>) => Promise<T>;
  signal: AbortSignal;
}

/** A new index lacks documents that the serving one has. */
export class IncompleteIndex extends Error {
  override name = "IncompleteIndex";
}

export const newIndexId = (prefix: string): string => `${prefix}-passages-${randomBytes(4).toString("hex")}`;

interface Build extends BuildOptions {
  deps: BuildDeps;
  contents: IndexContents;
  refusals: RefusedGenerations;
  position: number;
}

/**
 * Fills a new index from the start of the log, next to the serving one, and makes it serve. The last events are applied under
 * `lock`, so that the follower confirms no documents meanwhile. Throws IndexLost if the new index is lost as well, and
 * IncompleteIndex if it refused documents that the serving index has.
 */
export async function buildIndex(
  deps: BuildDeps,
  options: BuildOptions,
): Promise<{ contents: IndexContents; refusals: RefusedGenerations }> {
  const build: Build = {
    ...options,
    deps,
    contents: createIndexContents(),
    refusals: createRefusedGenerations(deps),
    position: 0,
  };
  await deps.index.create(options.index);
  await fill(build);
  await options.lock(async () => {
    await fill(build);
    await requireComplete(build);
    await waitForReadModel(build);
    await replaceServing(build);
  });
  return { contents: build.contents, refusals: build.refusals };
}

async function fill(build: Build): Promise<void> {
  for (let hasMore = true; hasMore; ) {
    build.signal.throwIfAborted();
    try {
      hasMore = await fillBatch(build);
    } catch (error) {
      if (error instanceof IndexLost) throw error;
      build.deps.onError(error);
      await sleep(RETRY_MS, undefined, { signal: build.signal });
    }
  }
}

/** Whether there are more events. */
async function fillBatch(build: Build): Promise<boolean> {
  const { deps, index, contents, refusals } = build;
  if (!(await deps.index.exists(index))) throw new IndexLost(`the index ${index} is gone`);
  const { events, seen } = await deps.log.scan(build.position, FOLLOWED_EVENTS, SCAN_BATCH);
  const { wanted, deleted, older } = await planChanges(deps.log, events, contents);
  const limits = { total: deps.passagesOfRound ?? PASSAGES_OF_ROUND };
  let superseded: PassageRemoval[] = [...deleted, ...older];
  for (let left = new Set(wanted); left.size > 0 || superseded.length > 0; superseded = []) {
    build.signal.throwIfAborted();
    const { refused, deferred } = await applyChanges(deps, index, { wanted: [...left], superseded, limits }, contents);
    refusals.note([...left.difference(deferred)], refused);
    left = deferred;
  }
  build.position = seen;
  const { head } = await deps.registry.status();
  await deps.registry.saveBuildProgress(seen, Math.max(seen, head));
  return events.length === SCAN_BATCH;
}

/** Search must not lose documents: an index that refused some that the serving one has does not serve. */
async function requireComplete({ deps, refusals, from }: Build): Promise<void> {
  if (refusals.documents().length === 0 || !(await deps.index.exists(from))) return;
  const indexed = await deps.index.generations(from);
  if (!indexed) throw new Error(`the contents of ${from} are unknown`);
  const lost = indexed.filter(refusals.has).length;
  if (lost === 0) return;
  await deps.registry.cancelBuild();
  throw new IncompleteIndex(`a new index refused ${lost} documents that ${from} has; ${from} continues to serve`);
}

async function waitForReadModel({ deps: { registry }, position, signal }: Build): Promise<void> {
  for (let n = 0; n < MAX_READ_MODEL_CHECKS && (await registry.status()).projected < position; n++)
    await sleep(READ_MODEL_CHECK_MS, undefined, { signal });
}

async function replaceServing({ deps, index, from, position }: Build): Promise<void> {
  if (!(await deps.registry.replaceServing(from, { index, version: INDEX_VERSION }, position)))
    throw new Error(`${index} is filled, but ${from} no longer serves`);
}
