/* Estimates the clock of the service from its answers. A browser with a slow clock would otherwise omit the newest rows. */

/** The precision of the header Date. */
const SECOND = 1_000;

/** Lower and upper bound of the service clock's lead, in milliseconds. */
let least = Number.NEGATIVE_INFINITY;
let most = Number.POSITIVE_INFINITY;

/** Uses the Date header of an answer whose request was sent and answered at these browser times. */
export function updateServiceClock(date: string | null, sent: number, received: number): void {
  const time = Date.parse(date ?? "");
  if (Number.isNaN(time)) return;
  const [low, high] = [time - received, time + SECOND - sent];
  // one of the clocks was changed
  const isNew = low > most || high < least;
  least = isNew ? low : Math.max(least, low);
  most = isNew ? high : Math.min(most, high);
}

/** The current time: the browser's clock unless answers contradict it, else the latest possible time of the service. */
export const serviceNow = (): number => Date.now() + (least > 0 || most < 0 ? most : 0);
