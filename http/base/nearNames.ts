import { mapInSlices } from "#events/slices.ts";

/** Names that a refusal lists. */
const MAX_NAMES = 3;

/** Texts without what they begin and end with alike: names of one provider differ in a few letters. */
function differingParts(one: string, other: string): [string, string] {
  const shorter = Math.min(one.length, other.length);
  let from = 0;
  while (from < shorter && one[from] === other[from]) from++;
  let end = 0;
  while (end < shorter - from && one.at(-1 - end) === other.at(-1 - end)) end++;
  return [one.slice(from, one.length - end), other.slice(from, other.length - end)];
}

/** Edits that turn one text into the other, or `most` + 1 where there are more. */
function countEdits(first: string, second: string, most: number): number {
  if (Math.abs(first.length - second.length) > most) return most + 1;
  const [one, other] = differingParts(first, second);
  let before = Array.from({ length: other.length + 1 }, (_, n) => n);
  for (let at = 1; at <= one.length; at++) {
    const row = [at];
    for (let n = 1; n <= other.length; n++)
      row.push(Math.min(before[n]! + 1, row[n - 1]! + 1, before[n - 1]! + Number(one[at - 1] !== other[n - 1])));
    if (Math.min(...row) > most) return most + 1;
    before = row;
  }
  return before[other.length]!;
}

const modelPart = (id: string): string => id.slice(id.indexOf("/") + 1);

/** How far a known name of a model is from the wanted one; undefined if nobody would take one for the other. */
function distance(wanted: string, known: string): number | undefined {
  // another provider, or none, before the same model
  if (modelPart(known) === modelPart(wanted)) return 0;
  const most = Math.min(4, Math.max(1, Math.floor(wanted.length / 6)));
  const edits = countEdits(wanted, known.toLowerCase(), most);
  return edits <= most ? edits : undefined;
}

/** Up to three of the known `provider/model` names and aliases that somebody may have meant, the nearest first. */
export async function nearNames(wanted: string, known: Iterable<string>): Promise<string[]> {
  const name = wanted.toLowerCase();
  const measured = await mapInSlices([...new Set(known)], (id) => ({ id, edits: distance(name, id) }));
  return measured
    .filter(({ edits }) => edits !== undefined)
    .toSorted((a, b) => a.edits! - b.edits! || (a.id < b.id ? -1 : 1))
    .slice(0, MAX_NAMES)
    .map(({ id }) => id);
}
