/** Names that a refusal lists. */
const MAX_NAMES = 3;

/** Edits that turn one text into the other, or `most` + 1 where there are more. */
function countEdits(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1;
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
export function nearNames(wanted: string, known: Iterable<string>): string[] {
  const name = wanted.toLowerCase();
  return [...new Set(known)]
    .map((id) => ({ id, edits: distance(name, id) }))
    .filter(({ edits }) => edits !== undefined)
    .toSorted((a, b) => a.edits! - b.edits! || (a.id < b.id ? -1 : 1))
    .slice(0, MAX_NAMES)
    .map(({ id }) => id);
}
