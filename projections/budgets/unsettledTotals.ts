import { NOTHING_UNSETTLED, type UnsettledAmounts } from "./status.ts";

/** What the sums lack of a subject's turns, and how many turns refer to this object. */
export interface UnsettledTotal extends UnsettledAmounts {
  turns: number;
}

/** Totals by subject, as long as a turn refers to them. */
export class UnsettledTotals {
  readonly #totals = new Map<string, UnsettledTotal>();

  of(subject: string): UnsettledAmounts {
    const { ended, reserved } = this.#totals.get(subject) ?? NOTHING_UNSETTLED;
    return { ended, reserved };
  }
  subjects(): Iterable<string> {
    return this.#totals.keys();
  }
  /** The totals of a turn's subjects, which it changes without looking them up again. */
  enter(subjects: string[]): UnsettledTotal[] {
    return subjects.map((subject) => {
      const known = this.#totals.get(subject);
      const total = known ?? { ended: 0n, reserved: 0n, turns: 0 };
      if (!known) this.#totals.set(subject, total);
      total.turns += 1;
      return total;
    });
  }
  /** `totals`: those that `enter` returned for these subjects. */
  leave(subjects: string[], totals: UnsettledTotal[]): void {
    for (let n = 0; n < totals.length; n++) {
      const total = totals[n]!;
      total.turns -= 1;
      if (total.turns === 0) this.#totals.delete(subjects[n]!);
    }
  }
}
