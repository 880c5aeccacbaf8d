import { EndpointFailed } from "../searchEndpoints.ts";

interface PayableSearch {
  /** Some documents without vectors, newest first, except those of these payers. */
  list(exceptPayers: string[]): Promise<{ id: string; principal: string | null }[]>;
  /** Why the budget of a payer has no room; undefined if it has. */
  findRefusal(payer: string): Promise<string | undefined>;
}

/**
 * Documents without vectors whose payer's budget has room, however many newer ones other payers have. Throws EndpointFailed if there
 * are only others.
 */
export async function findPayable({ list, findRefusal }: PayableSearch): Promise<string[]> {
  const refusals = new Map<string, string>();
  for (;;) {
    const pending = await list([...refusals.keys()]);
    const ids: string[] = [];
    for (const { id, principal } of pending) {
      const payer = principal ?? "";
      const refusal = refusals.get(payer) ?? (await findRefusal(payer));
      if (refusal === undefined) ids.push(id);
      else refusals.set(payer, refusal);
    }
    if (ids.length > 0) return ids;
    if (pending.length > 0) continue;
    const [refusal] = refusals.values();
    if (refusal !== undefined) throw new EndpointFailed(refusal);
    return [];
  }
}
