import type { RecordedEvent } from "#events/envelope.ts";
import type { Operation, OperationKind } from "../journal.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, stuck, type Finding } from "./finding.ts";

/** A document or an extraction, from the log. */
export interface DocumentHistory {
  stream: string;
  /** `given up`: it lost the maximum number of workers. */
  status: "open" | "ready" | "failed" | "given up" | "gone";
  /** The generation that search returns; 0 before the first. */
  live: number;
  /** Passages by generation. */
  chunks: Map<number, number>;
  /** Number of charges, and the maximum number that is right. */
  charged: number;
  chargeable: number;
  readings: number[];
}

const LAST_ATTEMPT = 3;

const NEW: Omit<DocumentHistory, "stream"> = {
  status: "open",
  live: 0,
  chunks: new Map(),
  charged: 0,
  chargeable: 1,
  readings: [],
};

function addEvent(history: DocumentHistory, { type, data }: RecordedEvent<any>): DocumentHistory {
  switch (type) {
    case "DocumentReprocessed":
      return { ...history, status: "open", chargeable: history.chargeable + (data.reextract ? 1 : 0) };
    case "DocumentReplaced":
      return { ...history, status: "open", chargeable: history.chargeable + 1 };
    case "DocumentRead":
      return {
        ...history,
        chunks: new Map([...history.chunks, [data.generation, data.chunk_count]]),
        readings: [...history.readings, data.generation],
      };
    case "DocumentIndexed":
      return {
        ...history,
        status: "ready",
        live: data.generation,
        charged: history.charged + (data.units > 0 ? 1 : 0),
      };
    case "ExtractionCompleted":
      return { ...history, status: "ready", charged: history.charged + 1 };
    case "ReadingFailed":
    case "IndexingFailed":
    case "ExtractionFailed":
      return { ...history, status: data.attempt === LAST_ATTEMPT ? "given up" : "failed" };
    case "DocumentDeleted":
    case "ExtractionDeleted":
    case "ExtractionExpired":
      return { ...history, status: "gone" };
    default:
      return history;
  }
}

export const documentHistories = (events: RecordedEvent[]): DocumentHistory[] =>
  [
    ...grouped(
      events.filter(({ stream }) => /^(document|extraction)-/.test(stream)),
      ({ stream }) => stream,
    ),
  ].map(([stream, its]) => its.reduce(addEvent, { stream, ...NEW }));

/** I8: each is ready, failed or deleted. I13: each is charged once, and read once per generation. */
export function checkDocuments({ events }: Pick<Evidence, "events">): Finding[] {
  return documentHistories(events).flatMap(({ stream, status, charged, chargeable, readings }): Finding[] => [
    ...(status === "open" ? [stuck("I8", stream, "is neither ready nor failed")] : []),
    // the harness sends readable files only
    ...(status === "failed" ? [different("I8", stream, "could not be read")] : []),
    ...(charged > chargeable ? [doubled("I13", stream, `was charged ${charged} times`)] : []),
    ...(status === "ready" && charged === 0 ? [lost("I13", stream, "was never charged")] : []),
    ...(new Set(readings).size < readings.length ? [doubled("I5", stream, "was read twice in one generation")] : []),
  ]);
}

const isAbout = (document_id: string) => (operation: Operation) => operation.asked["document_id"] === document_id;

/** I7 and I16: search finds everything that was ready before it started, once, and nothing deleted before. */
export function checkSearches({ operations }: Pick<Evidence, "operations">): Finding[] {
  const of = (what: OperationKind) =>
    operations.filter((operation) => operation.what === what && operation.outcome === "done");
  const deletions = operations.filter(({ what }) => what === "document.delete");
  const reads = of("document.read").filter(({ got }) => got["status"] === "ready");
  return of("document.search").flatMap((search): Finding[] => {
    const { document_id } = search.asked as { document_id: string };
    const hits = (search.got["found"] as { id: string; passages: number }[]).filter(({ id }) => id === document_id);
    const [deletion] = deletions.filter(isAbout(document_id));
    const passages = hits.reduce((sum, hit) => sum + hit.passages, 0);
    if (passages > 1) return [doubled("I7", search, `the word of ${document_id} was found ${passages} times`)];
    if (deletion?.outcome === "done" && deletion.end < search.start)
      return passages > 0 ? [different("I16", search, `${document_id} was found after it was deleted`)] : [];
    const wasReady = reads.some((read) => isAbout(document_id)(read) && read.end < search.start);
    if (wasReady && (!deletion || deletion.start > search.end) && passages === 0)
      return [lost("I7", search, `${document_id} was ready and is not found`)];
    return [];
  });
}

/** I12: a document's text is its own, and a ready document stays readable. */
export const checkTexts = ({ operations }: Pick<Evidence, "operations">): Finding[] =>
  operations
    .filter(({ what, outcome, got }) => what === "document.text" && outcome === "done" && !got["holds"])
    .map((read) => different("I12", read, "the text is not the one that was uploaded"));
