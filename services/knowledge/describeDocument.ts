import { DocumentChanged, DocumentReplaced, DocumentUploaded } from "#events/document.ts";
import type { RecordedEvent } from "#events/envelope.ts";

/** The personal fields of a document, which its state must not hold. */
export interface DocumentDescription {
  name: string;
  tags: string[];
}

const DESCRIBING_EVENTS = new Set<string>([DocumentUploaded.type, DocumentReplaced.type, DocumentChanged.type]);

/** Folds the events of a document. Undefined if they were erased. */
export function describeDocument(events: RecordedEvent[]): DocumentDescription | undefined {
  const describing = events.filter(({ type }) => DESCRIBING_EVENTS.has(type));
  if (describing.length === 0 || describing.some(({ personal }) => !personal)) return undefined;
  const descriptions = describing.map(({ personal }) => personal as Partial<DocumentDescription>);
  return {
    name: descriptions.findLast(({ name }) => name !== undefined)?.name ?? "",
    tags: descriptions.findLast(({ tags }) => tags !== undefined)?.tags ?? [],
  };
}
