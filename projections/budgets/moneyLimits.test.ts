import fc from "fast-check";
import { expect, test } from "vitest";
import { periodEnd } from "./limits.ts";
import { decideMoney, type MoneyLimit } from "./moneyLimits.ts";
import type { ProcessShare } from "./rates.ts";
import { NO_RATE_USAGE } from "./turnCounts.ts";

const NOW = Date.UTC(2026, 10, 25, 12);
const amount = fc.bigInt(0n, 10n);
const arbitraryLimit = fc.record({
  subject: fc.constant("organization"),
  counted: fc.constantFrom("organization", "key:k"),
  name: fc.constantFrom("cost_per_day", "cost_per_week", "cost_per_month", "cost_total"),
  hard: fc.boolean(),
  at_most: amount,
  spent: amount,
  reserved: amount,
});

const arbitraryCase = fc.record({
  limits: fc.array(arbitraryLimit, { maxLength: 4 }),
  cost: amount,
  processes: fc.integer({ min: 1, max: 3 }),
  own: amount,
});

/** Decides by the sentences of the comment, one after the other. */
function decideByHand(limits: MoneyLimit[], cost: bigint, { processes, reserved }: ProcessShare) {
  const endOf = ({ name }: MoneyLimit) => periodEnd(name, new Date(NOW))?.getTime() ?? Number.POSITIVE_INFINITY;
  const hard = limits.filter((limit) => limit.hard);
  const [longest] = hard
    .filter(({ spent, at_most }) => spent >= at_most)
    .toSorted((a, b) => (endOf(a) === endOf(b) ? 0 : endOf(b) - endOf(a)));
  if (longest) return { kind: "spent", by: longest };
  const left = ({ at_most, spent, reserved: others }: MoneyLimit) => at_most - spent - others;
  const held = hard.find((limit) => limit.reserved > 0n && left(limit) < cost);
  if (held) return { kind: "reserved", by: held };
  const isGivenOut = (limit: MoneyLimit) => {
    const own = reserved(limit.counted);
    return own > 0n && (own + cost) * BigInt(processes) > left(limit) + own;
  };
  return { kind: processes > 1 && hard.some(isGivenOut) ? "wait" : "admit" };
}

test("a turn is refused by the used-up limit that refuses longest, else by the first without room, else waits or begins", () => {
  fc.assert(
    fc.property(arbitraryCase, ({ limits, cost, processes, own }) => {
      const share = { processes, admitted: () => NO_RATE_USAGE, reserved: () => own };
      expect(decideMoney(limits, cost, share, NOW)).toEqual(decideByHand(limits, cost, share));
    }),
  );
});
