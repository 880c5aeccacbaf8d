import { setTimeout as sleep } from "node:timers/promises";
import { streamName } from "#events/ids.ts";
import { document } from "../../deciders/document.ts";
import { storedDocument } from "../../deciders/documentState.ts";
import { createFairSemaphore } from "../../sharing/fairSemaphore.ts";
import { findState } from "../../states.ts";
import { UnreadablePassages } from "../indexing/loadPassages.ts";
import { EndpointFailed } from "../searchEndpoints.ts";
import { embedDocument, type EmbedDeps, type PricedEndpoint } from "./embedDocument.ts";

/**
 * Interval of looking for documents without vectors, and the pause after each look as a multiple of its duration, so that looking
 * takes at most a fiftieth of the time.
 */
const [POLL_MS, REST_FACTOR] = [1_000, 50];
/** Documents that are embedded at the same time, each of another organization. */
const MAX_AT_ONCE = 4;
/** Pauses of an organization whose endpoint fails: doubled each time, up to the maximum. */
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [1_000, 60_000];
const UNEXPECTED = "The vectors could not be made.";
const UNREADABLE = "The texts of some documents are damaged, so these have no vectors. Upload the documents again.";

export interface PassageEmbedder extends EmbedDeps {
  /** The organizations with an endpoint, and when each configured it last. */
  listOrganizations(): Promise<{ id: string; configured_at: Date }[]>;
  /** Undefined if the endpoint was removed. */
  findEndpoint(organization: string): Promise<PricedEndpoint | undefined>;
  /** Lists some other documents whose live generation lacks vectors of this space. Throws EndpointFailed when a budget is used up. */
  findPending(organization: string, space: string, except: string[]): Promise<string[]>;
  /** Records for people why vectors are missing; null: the endpoint works. */
  saveFault(organization: string, message: string | null): Promise<void>;
  onError(error: unknown, organization?: string): void;
}

interface Organization {
  id: string;
  isRunning: boolean;
  /** The time (performance.now()) of the next look. */
  nextAt: number;
  /** The last pause; 0 while its endpoint works. */
  pauseMs: number;
  /** When the endpoint was configured. A newer configuration ends a pause and requests that wait for the old endpoint. */
  configuredAt: number;
  stop(): void;
  /** Whether a fault recorded by an earlier process may still be shown. */
  mayShowFault: boolean;
  /** Documents that could not be read, and the times (performance.now()) at which they are tried again. */
  unreadable: Map<string, number>;
}

/**
 * Makes vectors for all organizations that have an endpoint, in one process of the deployment at a time. Missing vectors are found
 * in the read model, so nothing is lost when a process dies. A failing endpoint pauses only its own organization (ADR 60).
 */
export async function embedPassages(deps: PassageEmbedder, signal: AbortSignal): Promise<void> {
  const semaphore = createFairSemaphore({ total: MAX_AT_ONCE, perTenant: 1 });
  const known = new Map<string, Organization>();
  const running = new Set<Promise<void>>();
  const start = (one: Organization): void => {
    const replaced = new AbortController();
    Object.assign(one, { isRunning: true, stop: () => replaced.abort() });
    const either = AbortSignal.any([signal, replaced.signal]);
    const work = semaphore
      .run(one.id, () => embedSome(deps, one, either), either)
      .catch((error: unknown) => (either.aborted ? undefined : pause(deps, one, error)))
      .finally(() => {
        one.isRunning = false;
        running.delete(work);
      });
    running.add(work);
  };
  while (!signal.aborted) {
    try {
      for (const { id, configured_at } of await deps.listOrganizations()) {
        const one = lookUp(known, id, configured_at.getTime());
        if (!one.isRunning && performance.now() >= one.nextAt) start(one);
      }
    } catch (error) {
      deps.onError(error);
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
  await Promise.all(running);
}

function lookUp(known: Map<string, Organization>, id: string, configuredAt: number): Organization {
  const before = known.get(id);
  if (before?.configuredAt === configuredAt) return before;
  const fresh = { nextAt: 0, pauseMs: 0, configuredAt, mayShowFault: true, unreadable: new Map<string, number>() };
  before?.stop();
  const one = before ? Object.assign(before, fresh) : { id, isRunning: false, stop: () => {}, ...fresh };
  known.set(id, one);
  return one;
}

async function embedSome(deps: PassageEmbedder, one: Organization, signal: AbortSignal): Promise<void> {
  const endpoint = await deps.findEndpoint(one.id);
  if (!endpoint) return;
  const startedAt = performance.now();
  for (const [id, at] of one.unreadable) if (at <= startedAt) one.unreadable.delete(id);
  const pending = await deps.findPending(one.id, endpoint.space, [...one.unreadable.keys()]);
  one.nextAt = pending.length > 0 ? 0 : performance.now() + REST_FACTOR * (performance.now() - startedAt);
  for (const document_id of pending) {
    signal.throwIfAborted();
    const target = { stream: streamName("document", document_id), organization_id: one.id, document_id };
    try {
      await embedDocument(deps, target, endpoint, signal);
    } catch (error) {
      if (!(error instanceof UnreadablePassages)) throw error;
      // its blobs may be gone because it was deleted meanwhile
      if (!storedDocument(await findState(deps.log, target.stream, document))) continue;
      await postpone(deps, one, document_id, error);
    }
    await clearFault(deps, one);
  }
  if (pending.length === 0) await clearFault(deps, one);
}

/** Leaves a damaged document for later, so that the others get their vectors meanwhile. */
async function postpone(deps: PassageEmbedder, one: Organization, document_id: string, error: unknown): Promise<void> {
  one.unreadable.set(document_id, performance.now() + MAX_PAUSE_MS);
  one.mayShowFault = true;
  deps.onError(error, one.id);
  await deps.saveFault(one.id, UNREADABLE);
}

async function clearFault(deps: PassageEmbedder, one: Organization): Promise<void> {
  one.pauseMs = 0;
  if (!one.mayShowFault || one.unreadable.size > 0) return;
  await deps.saveFault(one.id, null);
  one.mayShowFault = false;
}

async function pause(deps: PassageEmbedder, one: Organization, error: unknown): Promise<void> {
  const requestedMs = error instanceof EndpointFailed ? (error.retry_after_ms ?? 0) : 0;
  one.pauseMs = Math.min(Math.max(2 * one.pauseMs, FIRST_PAUSE_MS, requestedMs), MAX_PAUSE_MS);
  one.nextAt = performance.now() + one.pauseMs;
  one.mayShowFault = true;
  deps.onError(error, one.id);
  const message = error instanceof EndpointFailed ? error.message : UNEXPECTED;
  await deps.saveFault(one.id, message).catch((failed: unknown) => deps.onError(failed, one.id));
}
