import { DocumentChanged, DocumentReplaced, DocumentUploaded } from "#events/document.ts";
import type { Recorded } from "#events/envelope.ts";

/** What a document's events tell of it that its state may not keep. */
export interface Described {
  name: string;
  tags: string[];
}

const TELLING = new Set<string>([DocumentUploaded.type, DocumentReplaced.type, DocumentChanged.type]);

/** Folded from the document's events; undefined once they were erased. */
export function documentFrom(events: Recorded[]): Described | undefined {
  const telling = events.filter(({ type }) => TELLING.has(type));
  if (telling.length === 0 || telling.some(({ personal }) => !personal)) return undefined;
  const told = telling.map(({ personal }) => personal as Partial<Described>);
  return {
    name: told.findLast(({ name }) => name !== undefined)?.name ?? "",
    tags: told.findLast(({ tags }) => tags !== undefined)?.tags ?? [],
  };
}
