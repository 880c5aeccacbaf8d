import { setTimeout as sleep } from "node:timers/promises";
import { streamName } from "#events/ids.ts";
import type { EventLog, Hints } from "#events/ports.ts";
import { HOUR_MS } from "#events/units.ts";
import { createSerializer } from "../../serialize.ts";
import { createDescriptionReader } from "../describeDocument.ts";
import type { IndexStatus, ServingIndex } from "../passageIndex.ts";
import { applyChanges, IndexLost, removeSurplus, reportResults, SurplusPassages } from "./applyChanges.ts";
import {
  buildIndex,
  IncompleteIndex,
  INDEX_VERSION,
  newIndexId,
  type BuildDeps,
  type BuildOptions,
} from "./buildIndex.ts";
import { createIndexContents, type IndexContents } from "./contents.ts";
import { createPacer } from "./pacer.ts";
import { createPendingChanges, type PendingChanges } from "./pendingChanges.ts";
import { planChanges, type IndexPlan, type SupersededGeneration } from "./planChanges.ts";
import { readChanges } from "./readChanges.ts";
import { createReconcile } from "./reconcile.ts";
import { createRefusedGenerations, type RefusedGenerations } from "./refusedGenerations.ts";

/** So that an organization that changes many documents does not delay those of others. */
const SHARE_OF_ROUND = 10_000;
const EXISTENCE_CHECK_MS = 1_000;
const CHECKPOINT_MS = 1_000;
const MAX_RETRY_MS = 2_000;
/** A search that has read the id of the serving index may still query that index after it was replaced. */
const DROP_AFTER_MS = 10_000;
const CLEAN_MS = HOUR_MS;
/** Pause before an index of a new version is built again, after one was incomplete. */
const UPGRADE_RETRY_MS = HOUR_MS;

export interface FollowDeps extends Omit<BuildDeps, "descriptions"> {
  log: BuildDeps["log"] & Pick<EventLog, "pages">;
  hints: Pick<Hints, "onCommitted">;
  /** Interval of comparing the index with the read model; 30 s by default. */
  reconcileMs?: number;
  /** Passages of an organization in one round, and events that are held in memory; 10,000 and 50,000 by default. */
  shareOfRound?: number;
  maxPending?: number;
}

interface Follower {
  deps: FollowDeps & BuildDeps;
  signal: AbortSignal;
  lock: BuildOptions["lock"];
  reconcile: ReturnType<typeof createReconcile>;
  contents: IndexContents;
  refusals: RefusedGenerations;
  /** The position up to which this process has read. The stored checkpoint stays behind it while `older` or `pending` is not empty. */
  position: number;
  /** Superseded generations. They stay until the read model shows their successors, because searches still need them. */
  older: SupersededGeneration[];
  pending: PendingChanges;
  /** Unless some are pending: the index includes all document events up to this position. */
  covered: number;
  /** The index whose dictionaries the search server has loaded; undefined if the server may have restarted since. */
  warmed: string | undefined;
  build: { index: string; done: Promise<void> } | undefined;
  /** Times of the next periodic tasks (performance.now()). */
  next: { existenceCheck: number; checkpoint: number; clean: number; upgrade: number };
}

/** `lost`: the index that must be built again. */
type StepResult = BatchResult | { lost: string };

interface BatchResult {
  /** Whether there are more events. */
  hasMore: boolean;
  /** How many generations the batch had. */
  documents: number;
}

/**
 * Follows the log into the passage index, in one process of the deployment at a time. It puts new texts, confirms them to their
 * documents once the server has them, and removes superseded and deleted ones. The checkpoint moves afterwards, so an
 * interrupted batch is repeated. If the index is lost, lacks passages, is outdated, or a build is requested, a new index is built
 * next to it (ADR 8).
 */
export async function followPassages(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const follower = createFollower(deps, signal);
  const pace = createPacer(deps.hints, signal);
  let wait = 0;
  while (!signal.aborted)
    try {
      const result = await follower.lock(() => step(follower));
      if ("lost" in result) await rebuild(follower, result.lost);
      else if (!result.hasMore) await pace(result.documents);
      wait = 0;
    } catch (error) {
      if (signal.aborted) break;
      deps.onError(error);
      follower.warmed = undefined;
      wait = Math.min(2 * wait + 100, MAX_RETRY_MS);
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
  await follower.build?.done.catch(() => {});
}

function createFollower(given: FollowDeps, signal: AbortSignal): Follower {
  const deps = { ...given, descriptions: createDescriptionReader(given.log) };
  const serialize = createSerializer();
  return {
    deps,
    signal,
    lock: (work) => serialize("index", work),
    reconcile: createReconcile(deps, deps.reconcileMs),
    contents: createIndexContents(),
    refusals: createRefusedGenerations(deps, deps.reconcileMs),
    position: 0,
    older: [],
    pending: createPendingChanges(deps.maxPending),
    covered: 0,
    warmed: undefined,
    build: undefined,
    next: { existenceCheck: 0, checkpoint: 0, clean: performance.now() + DROP_AFTER_MS, upgrade: 0 },
  };
}

async function step(follower: Follower): Promise<StepResult> {
  const { deps, next } = follower;
  const status = await deps.registry.status();
  const { serving } = status;
  if (!serving) return followBatch(follower, status);
  if (performance.now() > next.existenceCheck) {
    if (!(await deps.index.exists(serving.index))) {
      deps.onError(new IndexLost(`the index ${serving.index} is gone or was emptied`));
      return { lost: serving.index };
    }
    warm(follower, serving.index);
    next.existenceCheck = performance.now() + EXISTENCE_CHECK_MS;
  }
  const isOutdated = serving.version < INDEX_VERSION && performance.now() > next.upgrade;
  if (!follower.build && (status.build_requested || isOutdated))
    void rebuild(follower, serving.index).catch(deps.onError);
  if (performance.now() > next.clean) await dropUnused(follower, serving);
  try {
    const batch = await followBatch(follower, status);
    const isIdle = !batch.hasMore && !follower.build;
    // documents do not wait for the new index: it gets them as well
    if (isIdle && (await lacksPassages(follower, serving, status.projected)))
      void rebuild(follower, serving.index).catch(deps.onError);
    return batch;
  } catch (error) {
    if (error instanceof IndexLost) return { lost: serving.index };
    throw error;
  }
}

/** Builds a new index in place of one. */
function rebuild(follower: Follower, from: string): Promise<void> {
  if (follower.build) return follower.build.done;
  const { deps, lock, signal, next } = follower;
  const index = newIndexId(deps.prefix);
  const done = buildIndex(deps, { index, from, lock, signal })
    .then((built) => void Object.assign(follower, built))
    .catch((error: unknown) => {
      if (error instanceof IncompleteIndex) next.upgrade = performance.now() + UPGRADE_RETRY_MS;
      throw error;
    })
    .finally(() => {
      follower.build = undefined;
      next.clean = performance.now() + DROP_AFTER_MS;
    });
  follower.build = { index, done };
  return done;
}

/** Applies one batch of events. */
async function followBatch(follower: Follower, { serving, position, projected }: IndexStatus): Promise<BatchResult> {
  const { deps, contents, refusals, pending } = follower;
  const from = serving ? Math.max(follower.position, position) : follower.position;
  const { seen, hasMore } = await readChanges(deps.log, pending, from);
  follower.position = seen;
  const events = pending.next();
  const plan = await planChanges(deps.log, events, contents);
  for (const { document_id } of plan.deleted) deps.descriptions.forget(streamName("document", document_id));
  const older = Object.groupBy([...follower.older, ...plan.older], (one) =>
    one.position <= projected ? "due" : "later",
  );
  const { due = [], later = [] } = older;
  const superseded = [...plan.deleted, ...due];
  const index = serving?.index ?? (await createFirst(follower, plan));
  const wanted = [...plan.wanted, ...(await refusals.due(deps.log))];
  let waiting: ReadonlySet<string> = new Set();
  if (index && wanted.length + superseded.length > 0) {
    const changes = { wanted, superseded, limits: { share: deps.shareOfRound ?? SHARE_OF_ROUND } };
    const { refused, deferred: later } = await applyChanges(deps, index, changes, contents);
    refusals.note([...new Set(wanted).difference(later)], refused);
    waiting = new Set(plan.wanted.filter((one) => later.has(one)).map(({ stream }) => stream));
    deps.failpoint("after-passages-put");
    await reportResults(deps, plan.wanted, refused);
    deps.failpoint("after-indexed");
  }
  pending.settle(events, waiting);
  if (events.length > 0 || follower.covered === 0) follower.covered = seen;
  follower.older = later;
  await saveCheckpoint(follower, events.length + due.length > 0);
  return { hasMore: hasMore || pending.hasAny(), documents: plan.wanted.length };
}

/** Saves the checkpoint after document events, or at intervals: other events pass by the thousand. */
async function saveCheckpoint({ deps, position, older, pending, next }: Follower, isUrgent: boolean): Promise<void> {
  if (!isUrgent && performance.now() <= next.checkpoint) return;
  const last = Math.min(position, pending.firstPosition() - 1);
  await deps.registry.advance(older.reduce((least, one) => Math.min(least, one.position - 1), last));
  next.checkpoint = performance.now() + CHECKPOINT_MS;
}

/** Creates the index for the first document of this deployment. */
async function createFirst({ deps }: Follower, { wanted }: IndexPlan): Promise<string | undefined> {
  if (wanted.length === 0) return undefined;
  const index = newIndexId(deps.prefix);
  await deps.index.create(index);
  if (!(await deps.registry.startServing({ index, version: INDEX_VERSION })))
    throw new Error("another index serves already");
  return index;
}

async function dropUnused({ deps, build, next }: Follower, serving: ServingIndex): Promise<void> {
  for (const id of await deps.index.list()) if (id !== serving.index && id !== build?.index) await deps.index.drop(id);
  next.clean = performance.now() + CLEAN_MS;
}

/** Without this, the first Chinese query after a start of the server waits 3.9 s for its dictionary. */
function warm(follower: Follower, index: string): void {
  if (index === follower.warmed) return;
  follower.warmed = index;
  follower.deps.index.warm(index).catch((error: unknown) => {
    follower.warmed = undefined;
    follower.deps.onError(error);
  });
}

/** Removes surplus passages. Returns whether passages are missing. */
async function lacksPassages(follower: Follower, { index }: ServingIndex, projected: number): Promise<boolean> {
  const { deps, reconcile, covered, refusals } = follower;
  const found = await reconcile({ serving: index, covered, projected, except: refusals.documents() });
  if (!found) return false;
  const { surplus, short } = found;
  if (surplus.length > 0) {
    deps.onError(new SurplusPassages(`the index ${index} had ${surplus.length} deleted or superseded generations`));
    await removeSurplus(deps, index, surplus);
  }
  if (short) deps.onError(new IndexLost(`the index ${index} has ${short.indexed} of ${short.searchable} passages`));
  return short !== undefined;
}
