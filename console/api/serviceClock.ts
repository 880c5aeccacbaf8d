/* The clock of the service, as far as its answers tell it. A browser whose own is slow would leave the newest rows out. */

/** The precision of the header Date. */
const SECOND = 1_000;

/** How far the service's clock is ahead, in milliseconds: at least and at most. */
let least = Number.NEGATIVE_INFINITY;
let most = Number.POSITIVE_INFINITY;

/** Takes the header Date of an answer to a request that was sent and answered at these times of the browser. */
export function noteDate(date: string | null, sent: number, received: number): void {
  const time = Date.parse(date ?? "");
  if (Number.isNaN(time)) return;
  const [low, high] = [time - received, time + SECOND - sent];
  // one of the clocks was set
  const isNew = low > most || high < least;
  least = isNew ? low : Math.max(least, low);
  most = isNew ? high : Math.min(most, high);
}

/** Now: by the browser's clock unless answers contradict it, and otherwise the latest that it can be at the service. */
export const serviceNow = (): number => Date.now() + (least > 0 || most < 0 ? most : 0);
