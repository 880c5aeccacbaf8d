import { DocumentChanged, DocumentReplaced, DocumentUploaded } from "#events/document.ts";
import type { DocumentDetails } from "#events/documentDetails.ts";
import { dropOldest } from "#events/dropOldest.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import type { EventLog } from "#events/ports.ts";

/** The parts of a document that its events hold and its state does not. */
export interface DocumentDescription extends Required<DocumentDetails> {
  name: string;
  tags: string[];
  mime_type: string;
  created_at: Date;
}

const DESCRIBING_EVENTS = new Set<string>([DocumentUploaded.type, DocumentReplaced.type, DocumentChanged.type]);

/** A description as of a version of the document's stream; undefined: no event describes it yet. */
interface DescriptionAt {
  version: number;
  description: DocumentDescription | undefined;
}

const START: DescriptionAt = { version: 0, description: undefined };

function describe(before: DocumentDescription | undefined, event: RecordedEvent): DocumentDescription {
  const { name, tags, metadata, readers } = event.personal as Partial<DocumentDescription>;
  const { mime_type } = event.data as Partial<DocumentDescription>;
  return {
    name: name ?? before?.name ?? "",
    tags: tags ?? before?.tags ?? [],
    metadata: metadata ?? before?.metadata ?? {},
    readers: readers === undefined ? (before?.readers ?? null) : readers,
    mime_type: mime_type ?? before?.mime_type ?? "",
    created_at: before?.created_at ?? new Date(event.recorded_at),
  };
}

/** Folds events of a document into its description. Undefined if they were erased. */
function foldDescription({ version, description }: DescriptionAt, events: RecordedEvent[]): DescriptionAt | undefined {
  const describing = events.filter(({ type }) => DESCRIBING_EVENTS.has(type));
  if (describing.some(({ personal }) => !personal)) return undefined;
  return { version: events.at(-1)?.version ?? version, description: describing.reduce(describe, description) };
}

/** Folds all events of a document. Undefined if they were erased. */
export const describeDocument = (events: RecordedEvent[]): DocumentDescription | undefined =>
  foldDescription(START, events)?.description;

/** Reads on page by page, because a document may have been changed a hundred thousand times. Undefined if it was erased. */
async function readOn(
  log: Pick<EventLog, "pages">,
  stream: string,
  known: DescriptionAt,
): Promise<DescriptionAt | undefined> {
  let found: DescriptionAt | undefined = known;
  for await (const { events } of log.pages(stream, known.version + 1)) {
    found = foldDescription(found, events);
    if (!found) return undefined;
  }
  return found;
}

/** Reads the description of a document from its log. Undefined if it was erased. */
export const readDescription = async (
  log: Pick<EventLog, "pages">,
  stream: string,
): Promise<DocumentDescription | undefined> => (await readOn(log, stream, START))?.description;

/** Descriptions that are remembered, each up to 70 kB. */
const MAX_REMEMBERED = 200;

/** Reads descriptions of documents that change often: those that it remembers from the version on that it has seen. */
export function createDescriptionReader(log: Pick<EventLog, "pages">, maxRemembered = MAX_REMEMBERED) {
  const remembered = new Map<string, DescriptionAt>();
  return {
    async read(stream: string): Promise<DocumentDescription | undefined> {
      const found = await readOn(log, stream, remembered.get(stream) ?? START);
      remembered.delete(stream);
      if (!found?.description) return undefined;
      remembered.set(stream, found);
      dropOldest(remembered, maxRemembered);
      return found.description;
    },
    /** Call it for a document that was erased. */
    forget: (stream: string): void => void remembered.delete(stream),
  };
}

export type DescriptionReader = ReturnType<typeof createDescriptionReader>;
