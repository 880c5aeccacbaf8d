import leven from "leven";
import { mapInSlices } from "#events/slices.ts";

/** Maximum number of names in an error message. */
const MAX_NAMES = 3;

const modelPart = (id: string): string => id.slice(id.indexOf("/") + 1);

/** Distance of a known model name from the wanted one. Undefined if they are not similar. */
function distance(wanted: string, known: string): number | undefined {
  // the same model under another provider, or without one
  if (modelPart(known) === modelPart(wanted)) return 0;
  const most = Math.min(4, Math.max(1, Math.floor(wanted.length / 6)));
  const edits = leven(wanted, known.toLowerCase(), { maxDistance: most + 1 });
  return edits <= most ? edits : undefined;
}

/** Up to three of the known `provider/model` names and aliases that are similar, most similar first. */
export async function findSimilarNames(wanted: string, known: Iterable<string>): Promise<string[]> {
  const name = wanted.toLowerCase();
  const measured = await mapInSlices([...new Set(known)], (id) => ({ id, edits: distance(name, id) }));
  return measured
    .filter(({ edits }) => edits !== undefined)
    .toSorted((a, b) => a.edits! - b.edits! || (a.id < b.id ? -1 : 1))
    .slice(0, MAX_NAMES)
    .map(({ id }) => id);
}
