import type { StreamHead } from "#events/ports.ts";
import { ApiError } from "#http/base/errors.ts";
import { hashInSteps } from "#http/base/hashInSteps.ts";
import { describeFile } from "#http/upload/readUpload.ts";
import { requireLogRoom, requireStorage } from "#http/base/storageLimits.ts";
import { fetchPage } from "#infra/web/fetchPage.ts";
import { guardedFetch } from "#infra/web/guardedFetch.ts";
import { hasProjected } from "#projections/progress.ts";
import { allSourcePages, listSourceDocuments } from "#projections/sources/pages.ts";
import { getSource } from "#projections/sources/query.ts";
import type { Handle } from "#services/handle.ts";
import type { Reader } from "#services/reading/reader.ts";
import type { BudgetWatch } from "#projections/budgets/watch.ts";
import { sendTo } from "#services/send.ts";
import { createSourceEmptier } from "#services/sources/emptySources.ts";
import type { PageFile, WebFile } from "#services/sources/ports.ts";
import { createSources } from "#services/sources/sources.ts";
import { createSourceWeb } from "#services/sources/web.ts";
import { openPageLimits } from "./budgets.ts";
import type { Resources } from "./resources.ts";
import { openStored, type ReadStored } from "./storedFiles.ts";

/** The result for a page that was skipped; the next read fetches it again. */
const NO_SPACE = "It was not fetched: a disk of the service is almost full.";

/** Describes a file from the web as an upload would be stored, or says why it cannot be. */
async function describe(
  needs: Pick<Resources, "settings" | "logLimits"> & { stored: ReadStored },
  organization_id: string,
  { bytes, filename, mimetype }: WebFile,
): Promise<PageFile | { refusal: string }> {
  try {
    requireLogRoom(needs, organization_id);
    const sha256 = await hashInSteps(bytes);
    const file = await describeFile({ bytes, filename, mimetype, sha256 }, { pictures: needs.settings.OCR });
    await requireStorage(needs, organization_id, { bytes: bytes.length, param: "The page", isRead: true });
    return file;
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return { refusal: error.message };
    throw error;
  }
}

/** A services process's work on sources: reads them, and deletes the documents of deleted ones. */
export function openSourceWork(
  resources: Resources,
  handle: Handle,
  { reader, budgets }: { reader: Pick<Reader, "list">; budgets: BudgetWatch },
) {
  const { db, log, blobs, vault, keyring, worker, logger, settings, freeSpace, logLimits } = resources;
  const stored = openStored(db);
  const send = sendTo(handle, worker);
  const pages = guardedFetch({ privateHosts: settings.PRIVATE_FETCH_HOSTS, webOnly: true });
  const name = settings.SERVICE_NAME;
  const sources = createSources({
    log,
    logLimits,
    blobs,
    vault,
    keyring,
    handle,
    send,
    worker,
    reader,
    web: createSourceWeb({
      fetch: async (url, signal, options) =>
        freeSpace.isRefused("documents") ? { refusal: NO_SPACE } : fetchPage(pages, url, signal, options),
      robot: { name, agent: `${name} (+${settings.BASE_URL})` },
      delay_ms: settings.SOURCE_DELAY_MS,
    }),
    model: {
      find: async ({ source_id, organization_id }, position) => {
        if (!(await hasProjected(db, ["sources"], position))) return undefined;
        const source = (await getSource(db, organization_id, source_id)) ?? null;
        return { source, pages: source ? await allSourcePages(db, source_id) : [] };
      },
    },
    describe: (organization_id, file) => describe({ settings, logLimits, stored }, organization_id, file),
    admit: openPageLimits(budgets),
    onError: (error, stream) => logger.warn({ err: error, stream }, "source not read, retrying"),
  });
  const emptier = createSourceEmptier({
    listDocuments: async (source_id, position) =>
      (await hasProjected(db, ["documents", "sources"], position)) ? listSourceDocuments(db, source_id) : undefined,
    send,
    onError: (error, stream) =>
      logger.warn({ err: error, stream }, "documents of a deleted source not deleted, retrying"),
  });
  return {
    hasRoom: sources.hasRoom,
    busy: sources.busy,
    afterCommit: sources.afterCommit,
    resumeWork: (head: StreamHead) => (head.status === "deleting" ? emptier : sources).resumeWork(head),
    async stop(): Promise<void> {
      await Promise.all([sources.stop(), emptier.stop()]);
    },
  };
}
