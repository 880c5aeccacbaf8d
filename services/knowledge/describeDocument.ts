import { DocumentChanged, DocumentReplaced, DocumentUploaded } from "#events/document.ts";
import type { DocumentDetails } from "#events/documentDetails.ts";
import type { RecordedEvent } from "#events/envelope.ts";

/** The parts of a document that its events hold and its state does not. */
export interface DocumentDescription extends Required<DocumentDetails> {
  name: string;
  tags: string[];
  mime_type: string;
  created_at: Date;
}

const DESCRIBING_EVENTS = new Set<string>([DocumentUploaded.type, DocumentReplaced.type, DocumentChanged.type]);

/** Folds a document's events. Undefined if they were erased. */
export function describeDocument(events: RecordedEvent[]): DocumentDescription | undefined {
  const describing = events.filter(({ type }) => DESCRIBING_EVENTS.has(type));
  if (describing.length === 0 || describing.some(({ personal }) => !personal)) return undefined;
  const descriptions = describing.map(({ personal }) => personal as Partial<DocumentDescription>);
  const originals = describing.map(({ data }) => data as Partial<DocumentDescription>);
  return {
    name: descriptions.findLast(({ name }) => name !== undefined)?.name ?? "",
    tags: descriptions.findLast(({ tags }) => tags !== undefined)?.tags ?? [],
    metadata: descriptions.findLast(({ metadata }) => metadata !== undefined)?.metadata ?? {},
    readers: descriptions.findLast(({ readers }) => readers !== undefined)?.readers ?? null,
    mime_type: originals.findLast(({ mime_type }) => mime_type !== undefined)?.mime_type ?? "",
    created_at: new Date(describing[0]!.recorded_at),
  };
}
