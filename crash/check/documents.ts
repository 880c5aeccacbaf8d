import type { Recorded } from "#events/envelope.ts";
import type { Operation, What } from "../journal.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, stuck, type Finding } from "./finding.ts";

/** A document or an extraction as the log tells it. */
export interface Told {
  stream: string;
  /** `given up`: as many workers as may lose it were killed. */
  status: "open" | "ready" | "failed" | "given up" | "gone";
  /** The generation that search sees; 0 before the first. */
  live: number;
  /** Passages by generation. */
  chunks: Map<number, number>;
  /** How often it was charged, and how often that could be. */
  charged: number;
  chargeable: number;
  readings: number[];
}

const LAST_ATTEMPT = 3;

const NEW: Omit<Told, "stream"> = {
  status: "open",
  live: 0,
  chunks: new Map(),
  charged: 0,
  chargeable: 1,
  readings: [],
};

function tell(told: Told, { type, data }: Recorded<any>): Told {
  switch (type) {
    case "DocumentReprocessed":
      return { ...told, status: "open", chargeable: told.chargeable + (data.reextract ? 1 : 0) };
    case "DocumentReplaced":
      return { ...told, status: "open", chargeable: told.chargeable + 1 };
    case "DocumentRead":
      return {
        ...told,
        chunks: new Map([...told.chunks, [data.generation, data.chunk_count]]),
        readings: [...told.readings, data.generation],
      };
    case "DocumentIndexed":
      return { ...told, status: "ready", live: data.generation, charged: told.charged + (data.units > 0 ? 1 : 0) };
    case "ExtractionCompleted":
      return { ...told, status: "ready", charged: told.charged + 1 };
    case "ReadingFailed":
    case "IndexingFailed":
    case "ExtractionFailed":
      return { ...told, status: data.attempt === LAST_ATTEMPT ? "given up" : "failed" };
    case "DocumentDeleted":
    case "ExtractionDeleted":
    case "ExtractionExpired":
      return { ...told, status: "gone" };
    default:
      return told;
  }
}

export const toldOf = (events: Recorded[]): Told[] =>
  [
    ...grouped(
      events.filter(({ stream }) => /^(document|extraction)-/.test(stream)),
      ({ stream }) => stream,
    ),
  ].map(([stream, its]) => its.reduce(tell, { stream, ...NEW }));

/** I8: each is ready, failed or gone. I13: each is paid for once, and read once a generation. */
export function checkDocuments({ events }: Pick<Evidence, "events">): Finding[] {
  return toldOf(events).flatMap(({ stream, status, charged, chargeable, readings }): Finding[] => [
    ...(status === "open" ? [stuck("I8", stream, "is neither ready nor failed")] : []),
    // what the harness sends can be read
    ...(status === "failed" ? [different("I8", stream, "could not be read")] : []),
    ...(charged > chargeable ? [doubled("I13", stream, `was charged ${charged} times`)] : []),
    ...(status === "ready" && charged === 0 ? [lost("I13", stream, "was never charged")] : []),
    ...(new Set(readings).size < readings.length ? [doubled("I5", stream, "was read twice in one generation")] : []),
  ]);
}

const about = ({ what, id }: Operation): string => `${what} ${id}`;
const isAbout = (document_id: string) => (operation: Operation) => operation.asked["document_id"] === document_id;

/** I7 and I16: search finds what was ready before it began, once, and nothing that was deleted before. */
export function checkSearches({ operations }: Pick<Evidence, "operations">): Finding[] {
  const of = (what: What) => operations.filter((operation) => operation.what === what && operation.outcome === "done");
  const deletions = operations.filter(({ what }) => what === "document.delete");
  const reads = of("document.read").filter(({ got }) => got["status"] === "ready");
  return of("document.search").flatMap((search): Finding[] => {
    const { document_id } = search.asked as { document_id: string };
    const hits = (search.got["found"] as { id: string; passages: number }[]).filter(({ id }) => id === document_id);
    const [deletion] = deletions.filter(isAbout(document_id));
    const passages = hits.reduce((sum, hit) => sum + hit.passages, 0);
    if (passages > 1) return [doubled("I7", about(search), `the word of ${document_id} was found ${passages} times`)];
    if (deletion?.outcome === "done" && deletion.end < search.start)
      return passages > 0 ? [different("I16", about(search), `${document_id} was found after it was deleted`)] : [];
    const wasReady = reads.some((read) => isAbout(document_id)(read) && read.end < search.start);
    if (wasReady && (!deletion || deletion.start > search.end) && passages === 0)
      return [lost("I7", about(search), `${document_id} was ready and is not found`)];
    return [];
  });
}

/** I12: the text of a document is its own, and what was ready stays readable. */
export const checkTexts = ({ operations }: Pick<Evidence, "operations">): Finding[] =>
  operations
    .filter(({ what, outcome, got }) => what === "document.text" && outcome === "done" && !got["holds"])
    .map((read) => different("I12", about(read), "the text is not the one that was uploaded"));
