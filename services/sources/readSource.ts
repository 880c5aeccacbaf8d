import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { DeleteDocument } from "#events/document.ts";
import { streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { DeleteSource, EndSourceRead, RecordListing, RecordPages, type PageChange } from "#events/source.ts";
import { source as sourceDecider, storedSource, type StoredSource } from "../deciders/source.ts";
import { wasCollectionDeleted } from "../knowledge/wasCollectionDeleted.ts";
import { UnreadableFile, type Reader } from "../reading/reader.ts";
import type { Send, CommandTarget } from "../send.ts";
import { findHead, findState, readState } from "../states.ts";
import { WebError } from "../turns/tools/web.ts";
import { listPages, type Listing } from "./listPages.ts";
import type { KnownPage, SourceAddress, SourceReadModel } from "./ports.ts";
import { createRecorder } from "./recorder.ts";
import { storePage, type StorePageDeps } from "./storePage.ts";
import type { SourceVisit, SourceWeb } from "./web.ts";

/** Poll interval until the read model has reached the beginning of the read. */
const POLL_MS = 100;

export interface ReadSourceDeps extends StorePageDeps {
  log: Pick<EventLog, "heads" | "read" | "pages">;
  web: SourceWeb;
  reader: Pick<Reader, "list">;
  model: SourceReadModel;
  send: Send;
}

/** One attempt at a read. It holds only ids, because it may have to wait. */
export interface SourceRead extends CommandTarget {
  source_id: string;
  read: number;
  attempt: number;
}

/** What a read needs. */
interface Reading {
  work: SourceRead;
  state: StoredSource;
  address: SourceAddress;
  /** The recorded pages of the source, by address. */
  known: Map<string, KnownPage>;
  visit: SourceVisit;
}

/** Receives the changes found by a read until `stopping` aborts. */
interface Progress {
  stopping: AbortSignal;
  add(page: PageChange): Promise<boolean>;
}

const pageName = (url: string): string => createHash("sha256").update(url).digest("hex").slice(0, 16);

/**
 * Reads the pages of a source that this read has not visited yet, and records each. Returns early, leaving the rest to others, if
 * the process stops, or if another process, a pause or a deletion has ended the attempt. Throws if the service itself fails; the
 * sweep then starts the next attempt.
 */
export async function readSource(deps: ReadSourceDeps, work: SourceRead, stopping: AbortSignal): Promise<void> {
  const reading = await openReading(deps, work, stopping);
  if (!reading) return;
  const { source_id, read, attempt } = work;
  const end = (error: string | null) => deps.send(work, EndSourceRead.type, { source_id, read, attempt, error });
  const recorder = createRecorder((pages) => recordPages(deps, work, pages));
  try {
    const listing = await list(deps, reading);
    const urls = chooseUrls(listing, reading);
    await deps.send(work, RecordListing.type, { source_id, read, attempt, listed: urls.length });
    const isThrough =
      (await visitAll(deps, reading, urls, { stopping, add: recorder.add })) &&
      (await recordGone(deps, reading, listing, recorder.add));
    if ((await recorder.flush()) && isThrough) await end(listing.gap);
  } catch (error) {
    if (stopping.aborted) return void (await recorder.flush());
    if (!(error instanceof WebError) && !(error instanceof UnreadableFile)) throw error;
    await end(error.message);
  }
}

/** Undefined if there is nothing to do. */
async function openReading(
  deps: ReadSourceDeps,
  work: SourceRead,
  stopping: AbortSignal,
): Promise<Reading | undefined> {
  while (!stopping.aborted) {
    const head = await findHead(deps.log, work.stream);
    const state = head && storedSource((await readState(deps.log, head, sourceDecider)).state);
    if (state?.reads !== work.read || state.reading?.attempt !== work.attempt) return undefined;
    if (await wasCollectionDeleted(deps.log, state.collection_id)) return void (await removeOrphan(deps, work));
    const found = await deps.model.find(work, head!.position);
    if (found) {
      const { source: address, pages } = found;
      const known = new Map(pages.map((page) => [page.url, page]));
      return address
        ? { work, state, address, known, visit: deps.web.open(work.organization_id, stopping) }
        : undefined;
    }
    await sleep(POLL_MS, undefined, { signal: stopping }).catch(() => {});
  }
  return undefined;
}

const removeOrphan = ({ send }: ReadSourceDeps, work: SourceRead) =>
  send(work, DeleteSource.type, { source_id: work.source_id, documents: true });

async function list({ reader }: ReadSourceDeps, { state, address, visit, work }: Reading): Promise<Listing> {
  if (state.kind === "url") return { urls: [address.url], gap: null };
  const listing = await listPages(visit, reader, { ...address, organization_id: work.organization_id });
  if (listing.urls.length === 0) throw new UnreadableFile("The sitemap lists no page that this source may read.");
  return listing;
}

/** The pages of this read. Those that have documents come first, so that the limit always selects the same pages. */
function chooseUrls({ urls }: Listing, { state, known }: Reading): string[] {
  const hasDocument = (url: string): number => ((known.get(url)?.document_id ?? null) === null ? 1 : 0);
  return urls.toSorted((a, b) => hasDocument(a) - hasDocument(b)).slice(0, state.max_pages);
}

/** Visits the pages that earlier attempts left. False if this worker has lost the read. */
async function visitAll(deps: ReadSourceDeps, reading: Reading, urls: string[], { stopping, add }: Progress) {
  for (const url of urls) {
    if (stopping.aborted) return false;
    if (reading.known.get(url)?.read === reading.work.read) continue;
    const page = await visitPage(deps, reading, url);
    if (!(await add(page))) return false;
  }
  return true;
}

const isGone = (status: number | undefined): boolean => status === 404 || status === 410;

async function visitPage(deps: ReadSourceDeps, reading: Reading, url: string): Promise<PageChange> {
  const { work, state, visit } = reading;
  const known = reading.known.get(url);
  const page = { page: pageName(url), ...(!known && { first: true as const, url }) };
  const hasContent = (known?.content_claim ?? null) !== null;
  const found = await visit.fetch(url, hasContent ? known : undefined);
  if ("unchanged" in found) return { ...page, result: "same" };
  if ("refusal" in found) {
    if (isGone(found.status) && known?.document_id) return leavePage(deps, reading, known);
    return { ...page, result: "failed", error: found.refusal };
  }
  const owner = { ...work, collection_id: state.collection_id };
  return { ...page, ...(await storePage(deps, owner, { url, known, found })) };
}

/** Deletes or keeps the document of a page that is gone. */
async function leavePage({ send }: ReadSourceDeps, { state, work }: Reading, known: KnownPage): Promise<PageChange> {
  const { page, document_id } = known;
  if (document_id !== null) {
    if (state.when_gone === "keep") return { page, result: "gone" };
    const target = { ...work, stream: streamName("document", document_id) };
    const { rejection } = await send(target, DeleteDocument.type, { document_id });
    // while a legal hold keeps the document, each read tries again
    if (rejection && rejection.code !== "not_found") {
      const error = `The page is gone, and its document is not deleted: ${rejection.message}`;
      return { page, result: "failed", error };
    }
  }
  return { page, result: "removed" };
}

/** Records the pages missing from a complete list. */
async function recordGone(deps: ReadSourceDeps, reading: Reading, { urls, gap }: Listing, add: Progress["add"]) {
  const listed = new Set(urls);
  const { known, work, state } = reading;
  if (gap !== null) return true;
  for (const page of known.values()) {
    // the documents of pages that were kept are deleted once `when_gone` has changed
    const isKept = page.result === "gone" && state.when_gone === "keep";
    if (listed.has(page.url) || isKept || page.read === work.read) continue;
    if (!(await add(await leavePage(deps, reading, page)))) return false;
  }
  return true;
}

/** Records pages. False if this worker has lost the read. If the source was deleted with its documents, also deletes what this read stored. */
async function recordPages(deps: ReadSourceDeps, work: SourceRead, pages: PageChange[]): Promise<boolean> {
  const { source_id, read, attempt } = work;
  const { position } = await deps.send(work, RecordPages.type, { source_id, read, attempt, pages });
  if (position > 0) return true;
  const state = await findState(deps.log, work.stream, sourceDecider);
  const isDeletedWithDocuments = state.status === "deleting" || (state.status === "deleted" && state.documents);
  if (!isDeletedWithDocuments) return false;
  for (const { result, document_id } of pages)
    if (result === "new" && document_id !== undefined)
      await deps.send({ ...work, stream: streamName("document", document_id) }, DeleteDocument.type, { document_id });
  return false;
}
