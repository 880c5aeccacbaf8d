export type Kind = "turn" | "search" | "upload" | "run";

/** The requests of one row. */
export interface Row {
  /** Milliseconds of each request, by kind. */
  times: Record<Kind, number[]>;
  /** What was not answered as it should be, with its status; 0 where the connection broke. */
  failures: string[];
}

/** Whether a request got what it asked for, and its status. */
export type Outcome = [isGood: boolean, status: number];

/**
 * Counts each request once, in the row in which it began: what an attack delays would otherwise count for the attack after it, or be
 * cut into parts of which none is long. `now`: milliseconds, monotonic.
 */
export function createRequestRows(now: () => number = () => performance.now()) {
  const underWay = new Set<Promise<void>>();
  let row = emptyRow();
  let ending: Promise<unknown> | undefined;

  async function time(kind: Kind, send: () => Promise<Outcome>): Promise<void> {
    const start = now();
    const [isGood, status] = await send();
    row.times[kind].push(now() - start);
    if (!isGood) row.failures.push(`${kind} ${status}`);
  }

  return {
    /** Sends a request, after the end of a row that is about to end. */
    async act(kind: Kind, send: () => Promise<Outcome>): Promise<void> {
      while (ending) await ending;
      const request = time(kind, send);
      underWay.add(request);
      await request.finally(() => underWay.delete(request));
    },
    /** Ends the row once its requests have ended, and begins the next one. Do not call it concurrently. */
    async end(): Promise<Row> {
      ending = Promise.all(underWay);
      await ending;
      ending = undefined;
      const ended = row;
      row = emptyRow();
      return ended;
    },
  };
}

const emptyRow = (): Row => ({ times: { turn: [], search: [], upload: [], run: [] }, failures: [] });
