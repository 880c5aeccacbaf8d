import { mapInSlices } from "#events/slices.ts";

/** Maximum number of names in an error message. */
const MAX_NAMES = 3;

/** Removes the common prefix and suffix: model names of one provider differ in a few letters. */
function differingParts(one: string, other: string): [string, string] {
  const shorter = Math.min(one.length, other.length);
  let from = 0;
  while (from < shorter && one[from] === other[from]) from++;
  let end = 0;
  while (end < shorter - from && one.at(-1 - end) === other.at(-1 - end)) end++;
  return [one.slice(from, one.length - end), other.slice(from, other.length - end)];
}

/** Edit distance of two texts, or `most` + 1 if it is larger. */
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

/** Distance of a known model name from the wanted one. Undefined if they are not similar. */
function distance(wanted: string, known: string): number | undefined {
  // the same model under another provider, or without one
  if (modelPart(known) === modelPart(wanted)) return 0;
  const most = Math.min(4, Math.max(1, Math.floor(wanted.length / 6)));
  const edits = countEdits(wanted, known.toLowerCase(), most);
  return edits <= most ? edits : undefined;
}

/** Up to three of the known `provider/model` names and aliases that are similar, most similar first. */
export async function nearNames(wanted: string, known: Iterable<string>): Promise<string[]> {
  const name = wanted.toLowerCase();
  const measured = await mapInSlices([...new Set(known)], (id) => ({ id, edits: distance(name, id) }));
  return measured
    .filter(({ edits }) => edits !== undefined)
    .toSorted((a, b) => a.edits! - b.edits! || (a.id < b.id ? -1 : 1))
    .slice(0, MAX_NAMES)
    .map(({ id }) => id);
}
