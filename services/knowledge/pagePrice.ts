import { currentTime } from "#events/clock.ts";
import type { EventLog } from "#events/ports.ts";
import { PAGES, priceAt, priceStream } from "#events/price.ts";
import { price } from "../deciders/price.ts";
import { findState } from "../states.ts";

/** What reading a page costs the organization at this moment; undefined where it has set no price. */
export async function findPagePrice(
  log: Pick<EventLog, "heads" | "read">,
  organization: string,
): Promise<string | undefined> {
  const stream = priceStream(organization, PAGES);
  const { prices } = await findState(log, stream, price);
  return priceAt(prices, currentTime())?.per_page;
}
