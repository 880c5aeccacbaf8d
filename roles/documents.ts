import { failpoint } from "#infra/failpoint.ts";
import { openPassageIndex } from "#infra/meilisearch/passageIndex.ts";
import { openIndexPlace } from "#infra/postgres/indexPlace.ts";
import { lead } from "#infra/postgres/leader.ts";
import { openReader } from "#infra/readers/openReader.ts";
import { partsOf } from "#events/ids.ts";
import { documentsIn } from "#projections/documents/query.ts";
import { hasPassed } from "#projections/passed.ts";
import type { Handle } from "#services/handle.ts";
import { createEmptying } from "#services/knowledge/emptying.ts";
import { IndexLost, Surplus } from "#services/knowledge/indexing/apply.ts";
import { Poorer } from "#services/knowledge/indexing/build.ts";
import { followPassages } from "#services/knowledge/indexing/follow.ts";
import { NotIndexed } from "#services/knowledge/indexing/refusals.ts";
import { readDocument } from "#services/knowledge/reading/readDocument.ts";
import { readExtraction } from "#services/knowledge/reading/readExtraction.ts";
import { createReadings } from "#services/knowledge/reading/readings.ts";
import { createSlots } from "#services/knowledge/reading/slots.ts";
import { sendTo } from "#services/send.ts";
import type { Opened } from "./open.ts";

/** While one file is read, texts of others are written: the log and the blobs wait for the disk, not for the processor. */
const RUNNING_PER_READER = 4;

/** What a services process does for documents: reads them, leads them into the index, empties deleted collections. */
export function createDocumentWork(
  { settings, logger, log, bus, worker, blobs, keyring, pool, db, addresses }: Opened,
  handle: Handle,
) {
  const send = sendTo(handle, worker);
  const reader = openReader({ processes: settings.READERS });
  const sealed = { blobs, keyring, dataKeys: log };
  const onError = (error: unknown) =>
    [IndexLost, NotIndexed, Poorer, Surplus].some((kind) => error instanceof kind)
      ? logger.error({ err: error }, "the passage index is not as it should be, it is brought back")
      : logger.warn({ err: error }, "the passage index could not follow, it is tried again");

  const deps = { ...sealed, log, reader, slots: createSlots(settings.READERS), send, worker, failpoint };
  const readings = createReadings({
    log,
    worker,
    atOnce: settings.READERS * RUNNING_PER_READER,
    send,
    run: (job) => (partsOf(job.stream).aggregate === "document" ? readDocument(deps, job) : readExtraction(deps, job)),
    onError: (error, { stream, attempt }) => logger.warn({ err: error, stream, attempt }, "a file could not be read"),
  });

  const emptying = createEmptying({
    documentsIn: async (collection, position) =>
      (await hasPassed(db, "documents", position)) ? documentsIn(db, collection) : undefined,
    send,
    onError: (error, stream) => logger.warn({ err: error, stream }, "a deleted collection could not be emptied"),
  });

  const index = openPassageIndex({
    url: addresses.meili_url,
    key: addresses.meili_master_key,
    prefix: settings.BUS_PREFIX,
  });
  const place = openIndexPlace(pool);
  const follow = (signal: AbortSignal) =>
    followPassages(
      { ...sealed, log, hints: bus.hints, index, place, prefix: settings.BUS_PREFIX, send, onError, failpoint },
      signal,
    );

  return {
    readings,
    attend: { document: readings.attend, extraction: readings.attend, collection: emptying.attend },
    /** Begins to lead the passage index, unless another process does. */
    startFollowing: () => lead(pool, "passages", follow, onError),
    /** Resolves when what runs now has ended. */
    async idle(): Promise<void> {
      await Promise.all([readings.stop(), emptying.stop()]);
    },
    async close(): Promise<void> {
      await Promise.all([reader.close(), index.close()]);
    },
  };
}
