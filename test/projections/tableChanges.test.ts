import { expect, test } from "vitest";
import { BudgetRemoved, BudgetSet, budgetStream } from "#events/budget.ts";
import { ProviderRemoved, providerStream } from "#events/provider.ts";
import { watchTable } from "#projections/tableChanges.ts";
import { SOON } from "../soon.ts";
import { followingFixture, providerConfigured } from "./fixture.ts";

const subject = "organization";

test.each([
  [
    "budgets" as const,
    (organization: string) => budgetStream(organization, subject),
    [
      BudgetSet.of({ subject, limits: { tokens_per_day: 10 }, hard: true }),
      BudgetSet.of({ subject, limits: { tokens_per_day: 20 }, hard: true }),
      BudgetRemoved.of({ subject }),
    ],
  ],
  [
    "providers" as const,
    (organization: string) => providerStream(organization, "own"),
    [
      providerConfigured(null, null, "a"),
      providerConfigured(null, null, "b"),
      ProviderRemoved.of({ name: "own", ends_credential_id: null }),
    ],
  ],
])("PostgreSQL tells whether anybody has set, changed or removed any of the %s", async (table, streamOf, events) => {
  const f = await followingFixture();
  const changes = watchTable(f.db, table);
  /** Something that was read when the table's version was known. */
  async function readKnown(): Promise<object> {
    let value = {};
    await expect.poll(async () => changes.isUnchanged((value = await changes.read(async () => ({})))), SOON).toBe(true);
    return value;
  }
  for (const event of events) {
    const before = await readKnown();
    await f.append(streamOf(f.organization), [event]);
    await f.followed();
    await expect.poll(() => changes.isUnchanged(before), SOON).toBe(false);
  }
  // known again, so that was not because nothing is known
  await readKnown();
});
