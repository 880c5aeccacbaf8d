import { currentTime } from "#events/clock.ts";
import type { EventLog } from "#events/ports.ts";
import { PAGE_PRICE_NAME, priceAt, priceStream } from "#events/price.ts";
import { price } from "../deciders/price.ts";
import { findState } from "../states.ts";

/** The current price of reading a page; undefined if the organization has set none. */
export async function findPagePrice(
  log: Pick<EventLog, "heads" | "read">,
  organization: string,
): Promise<string | undefined> {
  const stream = priceStream(organization, PAGE_PRICE_NAME);
  const { prices } = await findState(log, stream, price);
  return priceAt(prices, currentTime())?.per_page;
}
