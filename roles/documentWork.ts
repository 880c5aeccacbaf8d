import { failpoint } from "#infra/failpoint.ts";
import { openPassageIndex } from "#infra/meilisearch/passageIndex.ts";
import { openIndexRegistry } from "#infra/postgres/indexRegistry.ts";
import { runAsLeader } from "#infra/postgres/leader.ts";
import { openPageBudget } from "#infra/postgres/pageBudget.ts";
import { SettingsError } from "#infra/config.ts";
import { installedLanguages, languagePackage, missingLanguages } from "#infra/readers/recognition/languages.ts";
import { openReader } from "#infra/readers/openReader.ts";
import { parseStreamName } from "#events/ids.ts";
import { listCollectionDocuments } from "#projections/documents/documentsLeft.ts";
import { findOcrLanguages } from "#projections/organizations/query.ts";
import { listSourceIds } from "#projections/sources/query.ts";
import type { Db } from "#projections/projection.ts";
import { hasProjected } from "#projections/progress.ts";
import type { Handle } from "#services/handle.ts";
import { createCollectionEmptier } from "#services/knowledge/emptyCollections.ts";
import { IndexLost, SurplusPassages } from "#services/knowledge/indexing/applyChanges.ts";
import { IncompleteIndex } from "#services/knowledge/indexing/buildIndex.ts";
import { followPassages } from "#services/knowledge/indexing/followPassages.ts";
import { DocumentNotIndexed } from "#services/knowledge/indexing/refusedGenerations.ts";
import { readDocument } from "#services/knowledge/reading/readDocument.ts";
import { readExtraction } from "#services/knowledge/reading/readExtraction.ts";
import { createReadings } from "#services/knowledge/reading/readings.ts";
import { sendTo } from "#services/send.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import type { BudgetWatch } from "#projections/budgets/watch.ts";
import { openEmbedding } from "./embeddingWork.ts";
import type { Resources } from "./resources.ts";
import { searchServer } from "./searchServer.ts";

/** Readings per reading process: while one uses the processor, others wait for the disk. */
const READINGS_PER_PROCESS = 4;

/** A lower priority than reading text, so that recognition does not delay it. */
const RECOGNITION_NICE = 10;

/**
 * The lane of text recognition (ADR 32): separate processes that start with the first scan and end when idle. Undefined if it is
 * off. Throws SettingsError for languages that are not installed.
 */
function openRecognition({ settings, db, bus }: Resources) {
  if (!settings.OCR) return undefined;
  const missing = missingLanguages(settings.OCR_LANGUAGES);
  if (missing.length > 0)
    throw new SettingsError(`OCR_LANGUAGES: install the packages ${missing.map(languagePackage).join(", ")}`);
  const lane = { total: settings.OCR_READERS + 1, perTenant: settings.OCR_READERS };
  const reader = openReader({
    processes: lane.total,
    perOwner: lane.perTenant,
    nice: RECOGNITION_NICE,
  });
  const installed = new Set(installedLanguages());
  return {
    reader,
    openFiles: createFairSemaphore(lane),
    budget: openPageBudget(db, settings.OCR_PAGES_PER_DAY),
    languages: {
      standard: settings.OCR_LANGUAGES,
      installed: (languages: readonly string[]) => languages.filter((language) => installed.has(language)),
      find: (organization_id: string) => findOcrLanguages(db, organization_id),
    },
    report: bus.readings.publish,
  };
}

/** The documents and sources that a deleted collection still has. */
async function listContent(db: Db, collection: string, position: number) {
  if (!(await hasProjected(db, ["documents", "sources"], position))) return undefined;
  return { documents: await listCollectionDocuments(db, collection), sources: await listSourceIds(db, collection) };
}

/** A services process's work on documents: reading, indexing, and emptying deleted collections. */
export function openDocumentWork(resources: Resources, handle: Handle, budgets: BudgetWatch) {
  const { settings, logger, log, bus, worker, blobs, vault, pool, db, clock } = resources;
  const send = sendTo(handle, worker);
  // One process more than an organization may use, so that a file of another organization can always be read at once.
  const readers = { total: settings.READERS + 1, perTenant: settings.READERS };
  const reader = openReader({ processes: readers.total, perOwner: readers.perTenant });
  const onError = (error: unknown) =>
    [IndexLost, DocumentNotIndexed, IncompleteIndex, SurplusPassages].some((kind) => error instanceof kind)
      ? logger.error({ err: error }, "passage index inconsistent, reconciling")
      : logger.warn({ err: error }, "passage index follower failed, retrying");

  const recognition = openRecognition(resources);
  const openFiles = createFairSemaphore(readers);
  const deps = { blobs, vault, log, reader, openFiles, recognition, send, worker, failpoint };
  const readings = createReadings({
    log,
    now: clock.now,
    worker,
    atOnce: readers.total * READINGS_PER_PROCESS,
    perOrganization: readers.perTenant * READINGS_PER_PROCESS,
    send,
    run: (job, slot) =>
      parseStreamName(job.stream).aggregate === "document"
        ? readDocument(deps, job, slot)
        : readExtraction(deps, job, slot),
    onError: (error, { stream, attempt }) => logger.warn({ err: error, stream, attempt }, "reading failed"),
  });

  const emptying = createCollectionEmptier({
    listContent: (collection, position) => listContent(db, collection, position),
    send,
    onError: (error, stream) => logger.warn({ err: error, stream }, "deleted collection not emptied"),
  });

  const index = openPassageIndex({ ...searchServer(resources, "index"), prefix: settings.BUS_PREFIX });
  const registry = openIndexRegistry(pool);
  const embed = openEmbedding(resources, handle, budgets);
  const follow = async (signal: AbortSignal): Promise<void> => {
    const { hints } = bus;
    const follower = { vault, log, hints, index, registry, prefix: settings.BUS_PREFIX, send, onError, failpoint };
    await Promise.all([followPassages(follower, signal), embed(signal)]);
  };

  return {
    readings,
    reader,
    resumeWork: { document: readings.resumeWork, extraction: readings.resumeWork, collection: emptying.resumeWork },
    /** Follows the log into the passage index, and makes the vectors of passages, in one process of the deployment. */
    startFollowing: () => runAsLeader(pool, "passages", follow, onError),
    /** Starts no more readings; resolves when the running ones have ended. */
    async idle(): Promise<void> {
      await Promise.all([readings.stop(), emptying.stop()]);
    },
    async close(): Promise<void> {
      await Promise.all([reader.close(), recognition?.reader.close(), index.close()]);
    },
  };
}
