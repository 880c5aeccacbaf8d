import { toPicodollars } from "#events/money.ts";
import { createPause } from "#events/slices.ts";
import { addAmounts, NO_AMOUNTS, type Amounts, type Sums } from "./limits.ts";
import type { SpentRow } from "./query.ts";
import { subjectsOf } from "./subjects.ts";

const amountsOf = ({
  turns = 0,
  tokens = 0,
  cost,
  pages = 0,
  bytes = 0,
  documents = 0,
  runs = 0,
}: SpentRow): Amounts => ({
  requests: BigInt(turns),
  tokens: BigInt(tokens),
  cost: toPicodollars(cost ?? "0"),
  pages: BigInt(pages),
  bytes: BigInt(bytes),
  documents: BigInt(documents),
  runs: BigInt(runs),
});

/**
 * Sums by subject, once for all budgets, because an organization may have a thousand of them. Lets other work run in between: split by
 * user, there may be hundreds of thousands of rows.
 */
export async function sumInSlices(rows: SpentRow[]): Promise<Sums> {
  const sums = new Map<string, Amounts>();
  const pause = createPause();
  for (const row of rows) {
    const amounts = amountsOf(row);
    for (const subject of subjectsOf(row)) sums.set(subject, addAmounts(sums.get(subject) ?? NO_AMOUNTS, amounts));
    await pause();
  }
  return sums;
}

/** `sign`: -1n subtracts `more`. Lets other work run in between, as sumInSlices does. */
export async function addSums(some: Sums, more: Sums, sign = 1n): Promise<Sums> {
  if (more.size === 0) return some;
  const sums = new Map<string, Amounts>();
  const pause = createPause();
  for (const [subject, amounts] of some) {
    sums.set(subject, amounts);
    const turn = pause();
    if (turn) await turn;
  }
  for (const [subject, amounts] of more) {
    sums.set(subject, addAmounts(sums.get(subject) ?? NO_AMOUNTS, amounts, sign));
    const turn = pause();
    if (turn) await turn;
  }
  return sums;
}
