import type { Sums } from "./limits.ts";
import { NOTHING_UNSETTLED, type EarlierSums, type UnsettledAmounts } from "./status.ts";
import { subjectsOf, type Spender } from "./subjects.ts";
import { UnsettledTotals, type UnsettledTotal } from "./unsettledTotals.ts";

/** A turn never began if it is missing from a read model that is this much further than its admission. */
const UNRECORDED_MS = 30_000;
/** How long ended turns are remembered, so that late news does not reopen them. */
const REMEMBERED_MS = 60_000;

/** What a turn reserves for its requests, and since which attempt. A parked turn reserves nothing from the next attempt on. */
export interface Reservation {
  attempt: number;
  reserved: bigint;
}

/** An unfinished turn in the read model. */
export interface OpenTurn extends Omit<Spender, "organization_id">, Reservation {
  turn_id: string;
  /** The cost of its rounds that the sums include, today's or of earlier days. */
  counted: bigint;
  /** The part of it that belongs to today. */
  counted_today: bigint;
}

/** An organization's spending and reservations, in one snapshot of the read model. Amounts are in picodollars. */
export interface Spending extends EarlierSums {
  /** When it was read; `today` is the day of this time. */
  at: number;
  /** The log position that the read model has reached. */
  position: number;
  /** The time up to which it contains all events. */
  followed_until: number;
  today: Sums;
  open: OpenTurn[];
  /** Those of the requested turns that have ended: the sums include them. */
  settled: string[];
}

/** A turn that the sums do not include, or only some rounds of. */
interface Entry extends Reservation {
  subjects: string[];
  totals: UnsettledTotal[];
  /** Its part of each of its totals. */
  added: UnsettledAmounts;
  at: number;
  counted: bigint;
  counted_today: bigint;
  /** The cost of its rounds as far as reported. The sums include them a moment later. */
  spent: bigint;
  /** Its total cost; undefined until it ends. */
  cost: bigint | undefined;
  /** Log position of the event that ended it: snapshots from there on include it. Undefined if no process announced it. */
  end_position: number | undefined;
  /** Whether a snapshot contained it as unfinished. If a later one does not, it has ended. */
  isRecorded: boolean;
}

export const NO_RESERVATION: Reservation = { attempt: 0, reserved: 0n };
const nonNegative = (amount: bigint): bigint => (amount > 0n ? amount : 0n);

export const maxBigInt = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/**
 * Merges reservations in any order, because news and snapshots may be old: a later attempt replaces earlier ones, and within an
 * attempt the reservation only grows.
 */
export function newestReservation(a: Reservation, b: Reservation): Reservation {
  const [older, newer] = a.attempt < b.attempt ? [a, b] : [b, a];
  const { attempt, reserved } = newer;
  return { attempt, reserved: older.attempt === attempt ? maxBigInt(older.reserved, reserved) : reserved };
}

/**
 * What the sums lack of a turn. While it runs, the reservation for its current or next request counts besides its spent rounds.
 * When it ends, its whole cost counts for today: until a snapshot includes that, its rounds of earlier days count twice in longer
 * periods, so that they are not missing today.
 */
const pendingOf = ({ cost, spent, counted, counted_today, reserved }: Entry): UnsettledAmounts =>
  cost === undefined
    ? { ended: nonNegative(spent - counted), reserved }
    : { ended: nonNegative(cost - counted_today), reserved: 0n };

/**
 * The money of an organization's turns that the read model's sums do not include. Each turn is either in the sums or here, never in
 * both: a snapshot says which turns it includes. News of a turn may come twice, late, or not at all.
 */
export class Reservations {
  readonly #entries = new Map<string, Entry>();
  readonly #totals = new UnsettledTotals();
  /** When turns were forgotten, in this order. */
  readonly #forgotten = new Map<string, number>();
  /** The newest snapshot. */
  #spending: Spending | undefined;

  get spending(): Spending | undefined {
    return this.#spending;
  }
  of(subject: string): UnsettledAmounts {
    return this.#totals.of(subject);
  }
  /** The subjects of its turns. */
  subjects(): Iterable<string> {
    return this.#totals.subjects();
  }
  /** Ids of turns that only a snapshot can settle, because no process announced their last log position. */
  turnsToLookUp(): string[] {
    return [...this.#entries].filter(([, { end_position }]) => end_position === undefined).map(([turn_id]) => turn_id);
  }
  has(turn_id: string): boolean {
    return this.#entries.has(turn_id);
  }
  /** Turns that a new process may not find in its snapshot. */
  unsettled(): (Pick<Entry, "subjects" | keyof Reservation | "spent" | "cost" | "end_position"> & {
    turn_id: string;
  })[] {
    return [...this.#entries].map(([turn_id, { subjects, attempt, reserved, spent, cost, end_position }]) => ({
      turn_id,
      subjects,
      attempt,
      reserved,
      spent,
      cost,
      end_position,
    }));
  }

  begin(turn_id: string, { subjects, reserved, at }: Pick<Entry, "subjects" | "reserved" | "at">): void {
    if (this.#entries.has(turn_id) || this.#forgotten.has(turn_id)) return;
    const nothing = { counted: 0n, counted_today: 0n, spent: 0n, cost: undefined, end_position: undefined };
    this.#put(turn_id, { subjects, attempt: 1, reserved, at, ...nothing, isRecorded: false });
  }
  /** Changes the reservation of a running turn: it needs more, has ended a round, or is parked and reserves nothing for its next attempt. */
  grow(turn_id: string, { spent, ...reservation }: Reservation & Pick<Entry, "spent">): void {
    const entry = this.#entries.get(turn_id);
    if (!entry || entry.cost !== undefined) return;
    const { attempt, reserved } = newestReservation(entry, reservation);
    entry.attempt = attempt;
    entry.reserved = reserved;
    entry.spent = maxBigInt(entry.spent, spent);
    this.#add(entry, pendingOf(entry));
  }
  /** Whether a running turn is known to reserve this much in this attempt, and to have spent this much. */
  includes(turn_id: string, { attempt, reserved, spent }: Reservation & Pick<Entry, "spent">): boolean {
    const entry = this.#entries.get(turn_id);
    if (!entry || entry.cost !== undefined) return false;
    return entry.attempt === attempt && entry.reserved >= reserved && entry.spent >= spent;
  }
  /** The reservation of a running turn; zero if unknown. */
  reservationOf(turn_id: string): Reservation {
    const entry = this.#entries.get(turn_id);
    return entry && entry.cost === undefined ? entry : NO_RESERVATION;
  }
  /** `position`: of the event that ended it, if known. */
  end(turn_id: string, { cost, position, at }: { cost: bigint; position?: number | undefined; at: number }): void {
    const entry = this.#entries.get(turn_id);
    if (!entry || entry.cost !== undefined) return;
    if (this.#contains(position)) {
      this.forget(turn_id, at);
      return;
    }
    entry.cost = cost;
    entry.end_position = position;
    this.#add(entry, pendingOf(entry));
  }
  /** Whether the newest snapshot includes this log position. */
  #contains(position: number | undefined): boolean {
    return position !== undefined && this.#spending !== undefined && this.#spending.position >= position;
  }
  /** Removes a turn that did not begin, or that the sums include. */
  forget(turn_id: string, at: number): void {
    this.#remove(turn_id);
    this.#forgotten.set(turn_id, at);
  }

  /** A forgotten turn may begin. */
  readmit(turn_id: string): void {
    this.#forgotten.delete(turn_id);
  }

  /** Applies a snapshot, unless a newer one was applied. */
  apply(spending: Spending, now: number): void {
    if (spending === this.#spending || (this.#spending && spending.position < this.#spending.position)) return;
    this.#spending = spending;
    for (const turn_id of spending.settled) this.forget(turn_id, now);
    const open = new Set<string>();
    for (const turn of spending.open) {
      open.add(turn.turn_id);
      this.#record(turn, now);
    }
    for (const [turn_id, entry] of this.#entries)
      if (!open.has(turn_id) && (entry.isRecorded || this.#isOver(entry, spending))) this.forget(turn_id, now);
    for (const [turn_id, at] of this.#forgotten) {
      if (now - at <= REMEMBERED_MS) break;
      this.#forgotten.delete(turn_id);
    }
  }
  /**
   * Whether a snapshot without the turn means that it has ended or never began. Elapsed time says nothing, because a read model may
   * be minutes behind. The turn's last log position decides, or otherwise how far the snapshot follows the log, which for an idle
   * log is until now.
   */
  #isOver({ end_position, at }: Entry, { followed_until }: Spending): boolean {
    return end_position === undefined ? followed_until - at > UNRECORDED_MS : this.#contains(end_position);
  }
  #record({ turn_id, attempt, reserved, counted, counted_today, ...spender }: OpenTurn, now: number): void {
    if (this.#forgotten.has(turn_id)) return;
    const known = this.#entries.get(turn_id);
    this.#remove(turn_id);
    const begun = { subjects: subjectsOf(spender), at: now, spent: 0n, cost: undefined, end_position: undefined };
    const { subjects, at, spent, cost, end_position } = known ?? begun;
    const held = { ...newestReservation({ attempt, reserved }, known ?? NO_RESERVATION), counted, counted_today };
    this.#put(turn_id, { subjects, at, spent, cost, end_position, ...held, isRecorded: true });
  }

  #put(turn_id: string, turn: Omit<Entry, "totals" | "added">): void {
    const entry: Entry = { ...turn, totals: this.#totals.enter(turn.subjects), added: NOTHING_UNSETTLED };
    this.#entries.set(turn_id, entry);
    this.#add(entry, pendingOf(entry));
  }
  #remove(turn_id: string): void {
    const entry = this.#entries.get(turn_id);
    if (!entry) return;
    this.#entries.delete(turn_id);
    this.#add(entry, NOTHING_UNSETTLED);
    this.#totals.leave(entry.subjects, entry.totals);
  }
  /** Makes these amounts the turn's part of its totals. Called three times for every turn: it leaves out what changes nothing. */
  #add(entry: Entry, amounts: UnsettledAmounts): void {
    const ended = amounts.ended - entry.added.ended;
    const reserved = amounts.reserved - entry.added.reserved;
    entry.added = amounts;
    if (ended === 0n && reserved === 0n) return;
    for (const total of entry.totals) {
      if (ended !== 0n) total.ended += ended;
      if (reserved !== 0n) total.reserved += reserved;
    }
  }
}
