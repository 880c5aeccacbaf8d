import { EndpointFailed } from "../searchEndpoints.ts";

/** Whose budgets count a document's vectors. */
export interface Payer {
  principal: string | null;
  /** The project of the run that pushed the document, else of the key that uploaded it. */
  project_id: string | null;
}

interface PayableSearch {
  /** Some documents without vectors, newest first, except those of these payers. */
  list(exceptPayers: Payer[]): Promise<(Payer & { id: string })[]>;
  /** Why the budgets of a payer have no room; undefined if they have. */
  findRefusal(payer: Payer): Promise<string | undefined>;
}

/**
 * Documents without vectors whose payer's budget has room, however many newer ones other payers have. Throws EndpointFailed if there
 * are only others.
 */
export async function findPayable({ list, findRefusal }: PayableSearch): Promise<string[]> {
  const refused = new Map<string, { payer: Payer; refusal: string }>();
  for (;;) {
    const pending = await list([...refused.values()].map(({ payer }) => payer));
    const ids: string[] = [];
    for (const { id, principal, project_id } of pending) {
      const [payer, key] = [{ principal, project_id }, `${principal} ${project_id}`];
      const refusal = refused.get(key)?.refusal ?? (await findRefusal(payer));
      if (refusal === undefined) ids.push(id);
      else refused.set(key, { payer, refusal });
    }
    if (ids.length > 0) return ids;
    if (pending.length > 0) continue;
    const [first] = refused.values();
    if (first) throw new EndpointFailed(first.refusal);
    return [];
  }
}
